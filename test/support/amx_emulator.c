/* Runs the instructions of AMX on an x86-64 machine that has none of them, where they are illegal:
 * "Intel Architecture Instruction Set Extensions Programming Reference", chapter 3. A program that
 * uses tiles before it has asked for them, or configured them, ends. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { rows = 16, row_bytes = 64, tiles = 8 };

static _Thread_local uint8_t tile[tiles][rows][row_bytes];
static _Thread_local int is_configured;

static void refuse(const char *what) {
    fprintf(stderr, "AMX: %s\n", what);
    _Exit(99);
}

/* One instruction with a VEX prefix of three bytes, as far as it is taken apart. */
struct instruction {
    int prefix, opcode, reg, rm, vvvv, is_register;
    uint64_t base, stride; /* of memory */
    const uint8_t *end;
};

static uint64_t register_of(const ucontext_t *context, int number) {
    static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                   REG_R12, REG_R13, REG_R14, REG_R15};
    return (uint64_t)context->uc_mcontext.gregs[places[number]];
}

static struct instruction decode(const ucontext_t *context) {
    const uint8_t *at = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];
    struct instruction i;
    memset(&i, 0, sizeof(i));
    if (at[0] != 0xc4 || (at[1] & 31) != 2) refuse("an illegal instruction of another kind");
    const int x = at[1] & 64 ? 0 : 8, b = at[1] & 32 ? 0 : 8, mod = at[4] >> 6;
    i.prefix = at[2] & 3;
    i.vvvv = ~(at[2] >> 3) & 15;
    i.opcode = at[3];
    i.reg = at[4] >> 3 & 7;
    i.rm = at[4] & 7;
    i.is_register = mod == 3;
    at += 5;
    if (!i.is_register) {
        const int is_relative = mod == 0 && i.rm == 5;
        int base = i.rm + b, has_base = !is_relative;
        if (i.rm == 4) {
            const int scale = at[0] >> 6, index = (at[0] >> 3 & 7) + x;
            base = (at[0] & 7) + b;
            has_base = !(mod == 0 && (at[0] & 7) == 5);
            if (index != 4) i.stride = register_of(context, index) << scale;
            at++;
        }
        if (has_base) i.base = register_of(context, base);
        if (mod == 1) i.base += (uint64_t)(int64_t)(int8_t)*at++;
        if (mod == 2 || !has_base) {
            int32_t displacement;
            memcpy(&displacement, at, 4);
            at += 4;
            i.base += (uint64_t)(int64_t)displacement;
        }
        if (is_relative) i.base += (uint64_t)at;
    }
    i.end = at;
    return i;
}

static void move(const struct instruction *i, int to_memory) {
    for (int r = 0; r < rows; r++) {
        uint8_t *place = (uint8_t *)(i->base + (uint64_t)r * i->stride);
        if (to_memory)
            memcpy(place, tile[i->reg][r], row_bytes);
        else
            memcpy(tile[i->reg][r], place, row_bytes);
    }
}

static int32_t byte_of(uint8_t byte, int is_signed) { return is_signed ? (int8_t)byte : byte; }

static void multiply_bytes(const struct instruction *i) {
    /* No prefix: both are unsigned; 66: B is signed; F3: A is; F2: both are. */
    const int a_signed = i->prefix >= 2, b_signed = i->prefix == 1 || i->prefix == 3;
    for (int m = 0; m < rows; m++) {
        for (int n = 0; n < 16; n++) {
            int32_t sum;
            memcpy(&sum, &tile[i->reg][m][4 * n], 4);
            for (int k = 0; k < 64; k++) {
                const int32_t a = byte_of(tile[i->rm][m][k], a_signed),
                              b = byte_of(tile[i->vvvv][k / 4][4 * n + k % 4], b_signed);
                sum = (int32_t)((uint32_t)sum + (uint32_t)(a * b));
            }
            memcpy(&tile[i->reg][m][4 * n], &sum, 4);
        }
    }
}

static float bfloat(const uint8_t *bytes) {
    float f;
    const uint8_t word[4] = {0, 0, bytes[0], bytes[1]};
    memcpy(&f, word, 4);
    return f;
}

static void multiply_bfloats(const struct instruction *i) {
    for (int m = 0; m < rows; m++) {
        for (int n = 0; n < 16; n++) {
            float sum;
            memcpy(&sum, &tile[i->reg][m][4 * n], 4);
            for (int k = 0; k < 32; k++)
                sum += bfloat(&tile[i->rm][m][2 * k]) *
                       bfloat(&tile[i->vvvv][k / 2][4 * n + k % 2 * 2]);
            memcpy(&tile[i->reg][m][4 * n], &sum, 4);
        }
    }
}

static void configure(const struct instruction *i) {
    const uint8_t *wanted = (const uint8_t *)i->base;
    if (wanted[0] != 1) refuse("another palette than 1");
    for (int t = 0; t < tiles; t++) {
        if (wanted[16 + 2 * t] != row_bytes || wanted[48 + t] != rows)
            refuse("tiles that are not 16 rows of 64 bytes");
    }
    memset(tile, 0, sizeof(tile));
    is_configured = 1;
}

static void run(int signal, siginfo_t *info, void *where) {
    (void)signal;
    (void)info;
    ucontext_t *context = where;
    const struct instruction i = decode(context);
    const int is_of_memory = !i.is_register;
    if (i.opcode == 0x49 && i.prefix == 0 && is_of_memory) {
        configure(&i);
    } else if (!is_configured) {
        refuse("tiles are used that nobody has configured");
    } else if (i.opcode == 0x49 && i.prefix == 0) {
        is_configured = 0;
    } else if (i.opcode == 0x49 && i.prefix == 3) {
        memset(tile[i.reg], 0, sizeof(tile[0]));
    } else if (i.opcode == 0x4b && is_of_memory && i.prefix >= 2) {
        move(&i, i.prefix == 2);
    } else if (i.opcode == 0x5e) {
        multiply_bytes(&i);
    } else if (i.opcode == 0x5c && i.prefix == 2) {
        multiply_bfloats(&i);
    } else {
        refuse("an illegal instruction of another kind");
    }
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)i.end;
}

int tessera_request_amx(void *user_context);
int tessera_request_amx(void *user_context) {
    (void)user_context;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = run;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    return sigaction(SIGILL, &action, NULL);
}
