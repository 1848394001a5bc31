#include "interpret/foreign_call.h"
#include "base/error.h"
#include "runtime/symbols.h"
#include "runtime/tessera_runtime.h"
#include <bit>
#include <dlfcn.h>

namespace tessera::interpret {
namespace {

// The C calling conventions of x86-64 and AArch64 hand over the first whole numbers in one set of
// registers, the first floats in another, and the rest in order on the stack. So a call with all
// registers and enough of the stack filled passes any arguments.
#if defined(__aarch64__)
constexpr size_t whole_registers = 8, stack_words = 16;
#else
constexpr size_t whole_registers = 6, stack_words = 64;
#endif
constexpr size_t float_registers = 8;

struct Arguments {
    Word whole[8] = {};
    double floats[float_registers] = {};
    Word stack[stack_words] = {};
};

// Those of 16 bits are no floats to C: their bits are.
bool is_float_of_c(Type t) { return t.is_float() && t.bits() >= 32; }

Arguments place(std::span<const Type> types, std::span<const Word> words) {
    Arguments a;
    size_t whole = 0, floats = 0, stacked = 0;
    for (size_t i = 0; i < words.size(); i++) {
        if (is_float_of_c(types[i]) && floats < float_registers) {
            a.floats[floats++] = std::bit_cast<double>(words[i]);
        } else if (!is_float_of_c(types[i]) && whole < whole_registers) {
            a.whole[whole++] = words[i];
        } else if (stacked < stack_words) {
            a.stack[stacked++] = words[i];
        } else {
            throw RuntimeError("an extern function with more arguments than the interpreter can "
                               "pass");
        }
    }
    return a;
}

struct Stack {
    Word words[stack_words];
};

template<typename Result>
Result call_with(void *function, const Arguments &a) {
    Stack stack;
    std::copy(std::begin(a.stack), std::end(a.stack), stack.words);
    const Word *w = a.whole;
    const double *f = a.floats;
#if defined(__aarch64__)
    // A struct this large would be passed by reference: the words are spelt out instead.
    static_assert(sizeof(Stack) > 16);
    using Function =
        Result (*)(Word, Word, Word, Word, Word, Word, Word, Word, double, double, double, double,
                   double, double, double, double, Word, Word, Word, Word, Word, Word, Word, Word,
                   Word, Word, Word, Word, Word, Word, Word, Word);
    const Word *s = a.stack;
    return reinterpret_cast<Function>(function)(
        w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], f[0], f[1], f[2], f[3], f[4], f[5], f[6],
        f[7], s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12],
        s[13], s[14], s[15]);
#else
    using Function = Result (*)(Word, Word, Word, Word, Word, Word, double, double, double, double,
                                double, double, double, double, Stack);
    return reinterpret_cast<Function>(function)(w[0], w[1], w[2], w[3], w[4], w[5], f[0], f[1],
                                                f[2], f[3], f[4], f[5], f[6], f[7], stack);
#endif
}

Word narrowed(Type t, Word word) {
    if (t.is_float()) return word & (~Word(0) >> (64 - t.bits()));
    return word_of_int(t.is_bool() ? UInt(1) : t, int64_t(word));
}

template<typename F>
std::string formatted(F write) {
    std::string text(512, '\0');
    char *end = write(text.data(), text.data() + text.size());
    text.resize(size_t(end - text.data()));
    return text;
}

bool is_text(const ir::Expr &e) {
    const auto *call = e.as<ir::IntrinsicCall>();
    return e.as<ir::StringImm>() || (call && call->op == ir::Intrinsic::stringify);
}

std::string text_of(Type t, Word word) {
    return formatted([&](char *dst, char *end) {
        if (t.is_bool()) return tessera_string_to_string(dst, end, word ? "true" : "false");
        if (t.is_int()) return tessera_int64_to_string(dst, end, int64_t(word), 1);
        if (t.is_uint()) return tessera_uint64_to_string(dst, end, word, 1);
        if (t.is_float()) {
            return tessera_double_to_string(dst, end, double_of_word(t, word), t.bits() == 64);
        }
        return tessera_pointer_to_string(dst, end, reinterpret_cast<const void *>(word));
    });
}

}  // namespace

void *find_extern(const std::string &name, const ExternMap &externs) {
    auto found = externs.find(name);
    if (found != externs.end()) return found->second;
    for (const RuntimeSymbol &symbol : tessera_runtime_symbols()) {
        if (name == symbol.name) return symbol.address;
    }
    if (void *address = dlsym(RTLD_DEFAULT, name.c_str())) return address;
    throw RuntimeError(str("there is no extern function `", name, "`"));
}

Word call_foreign(void *function, Type result, std::span<const Type> types,
                  std::span<const Word> words) {
    Arguments a = place(types, words);
    if (!is_float_of_c(result)) return narrowed(result, call_with<Word>(function, a));
    return narrowed(result, std::bit_cast<Word>(call_with<double>(function, a)));
}

void call_extern(const ir::ExternCall &call, Operands operands, const ExternMap &externs,
                 Value &result) {
    void *function = find_extern(call.function, externs);
    std::vector<Type> types;
    for (const Value *operand : operands) types.push_back(operand->type.element_of());
    std::vector<Word> words(operands.size());
    for (size_t i = 0; i < result.lanes.size(); i++) {
        uint8_t poison = 0;
        for (size_t k = 0; k < operands.size(); k++) {
            size_t at = operands[k]->lanes.size() == 1 ? 0 : i;
            words[k] = operands[k]->lanes[at];
            poison = std::max(poison, operands[k]->poison[at]);
        }
        Type t = call.type.element_of();
        result.lanes[i] = poison ? 0 : call_foreign(function, t, types, words);
        result.poison[i] = poison;
    }
}

std::string stringify(const ir::IntrinsicCall &call, Operands operands) {
    std::string all;
    for (size_t k = 0; k < operands.size(); k++) {
        const Value &v = *operands[k];
        if (is_text(call.args[k])) {
            all += reinterpret_cast<const char *>(v.word());
            continue;
        }
        std::vector<std::string> lanes;
        for (Word word : v.lanes) lanes.push_back(text_of(v.type.element_of(), word));
        all += lanes.size() == 1 ? lanes[0] : str("<", join(lanes), ">");
    }
    return all;
}

}  // namespace tessera::interpret
