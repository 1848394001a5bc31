#include "runtime/tessera_runtime.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace {

void default_print(void *, const char *message) {
    std::fputs(message, stderr);
    std::fflush(stderr);
}

std::atomic<tessera_print_t> custom_print{default_print};

char *append(char *dst, char *end, const char *text, size_t length) {
    if (!dst || dst >= end) return dst;
    size_t n = std::min(length, size_t(end - dst) - 1);
    std::memcpy(dst, text, n);
    dst[n] = 0;
    return dst + n;
}

char *append(char *dst, char *end, const char *text) {
    return append(dst, end, text, std::strlen(text));
}

char *append_int(char *dst, char *end, int64_t value) {
    return tessera_int64_to_string(dst, end, value, 1);
}

const char *code_name(uint8_t code) {
    static const char *const names[] = {"int", "uint", "float", "handle", "bfloat"};
    return code < std::size(names) ? names[code] : "unknown";
}

}  // namespace

extern "C" {

[[gnu::weak]] void tessera_print(void *user_context, const char *message) {
    custom_print.load(std::memory_order_relaxed)(user_context, message);
}

tessera_print_t tessera_set_custom_print(tessera_print_t f) {
    return custom_print.exchange(f ? f : default_print);
}

char *tessera_string_to_string(char *dst, char *end, const char *value) {
    return append(dst, end, value ? value : "<null>");
}

char *tessera_int64_to_string(char *dst, char *end, int64_t value, int32_t min_digits) {
    if (value >= 0) return tessera_uint64_to_string(dst, end, uint64_t(value), min_digits);
    dst = append(dst, end, "-");
    return tessera_uint64_to_string(dst, end, -uint64_t(value), min_digits);
}

char *tessera_uint64_to_string(char *dst, char *end, uint64_t value, int32_t min_digits) {
    char text[64];
    int digits = std::clamp(min_digits, int32_t(1), int32_t(sizeof(text) - 1));
    int length = std::snprintf(text, sizeof(text), "%0*llu", digits, (unsigned long long)value);
    return append(dst, end, text, size_t(length));
}

char *tessera_double_to_string(char *dst, char *end, double value, int32_t scientific) {
    if (std::isnan(value)) return append(dst, end, "nan");
    char text[384];
    int length = std::snprintf(text, sizeof(text), scientific ? "%e" : "%f", value);
    return append(dst, end, text, size_t(length));
}

char *tessera_pointer_to_string(char *dst, char *end, const void *value) {
    char text[32];
    std::snprintf(text, sizeof(text), "0x%llx", (unsigned long long)uintptr_t(value));
    return append(dst, end, text);
}

char *tessera_type_to_string(char *dst, char *end, const tessera_type_t *type) {
    if (type->code == tessera_type_uint && type->bits == 1) {
        dst = append(dst, end, "bool");
    } else {
        dst = append(dst, end, code_name(type->code));
        if (type->code != tessera_type_handle) dst = append_int(dst, end, type->bits);
    }
    if (type->lanes == 1) return dst;
    dst = append(dst, end, "x");
    return append_int(dst, end, type->lanes);
}

char *tessera_buffer_to_string(char *dst, char *end, const tessera_buffer_t *buffer) {
    if (!buffer) return append(dst, end, "<null>");
    dst = append(dst, end, "buffer(");
    dst = tessera_type_to_string(dst, end, &buffer->type);
    dst = append(dst, end, ", host ");
    dst = tessera_pointer_to_string(dst, end, buffer->host);
    if (buffer->device) {
        dst = append(dst, end, ", device ");
        dst = tessera_uint64_to_string(dst, end, buffer->device, 1);
    }
    if (buffer->flags & tessera_buffer_flag_host_dirty) dst = append(dst, end, ", host dirty");
    if (buffer->flags & tessera_buffer_flag_device_dirty) dst = append(dst, end, ", device dirty");
    for (int i = 0; i < buffer->dimensions; i++) {
        const tessera_dimension_t &d = buffer->dim[i];
        dst = append_int(append(dst, end, ", {"), end, d.min);
        dst = append_int(append(dst, end, ", "), end, d.extent);
        dst = append_int(append(dst, end, ", "), end, d.stride);
        dst = append(dst, end, "}");
    }
    return append(dst, end, ")");
}

void tessera_default_print(void *user_context, const char *message) {
    default_print(user_context, message);
}
}
