#pragma once
#include "codegen/compile.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "runtime/tessera_runtime.h"
#include <cstring>
#include <doctest/doctest.h>
#include <random>

// Compiles IR, given as text or built, and runs it.
namespace tessera::test {

using namespace tessera::ir;

// A one-dimensional buffer with its tessera_buffer_t.
template<typename T> class TestBuffer {
public:
    explicit TestBuffer(size_t size, T value = T()) : TestBuffer(std::vector<T>(size, value)) {}
    explicit TestBuffer(const std::vector<T> &values) : bytes(values.size() * sizeof(T) + 256) {
        // Aligned as the element is, and no better.
        uintptr_t aligned = (reinterpret_cast<uintptr_t>(bytes.data()) + 127) / 128 * 128;
        first = reinterpret_cast<T *>(aligned + sizeof(T));
        std::copy(values.begin(), values.end(), first);
        dim = {0, int32_t(values.size()), 1, 0};
        raw.host = reinterpret_cast<uint8_t *>(first);
        raw.type = {uint8_t(type_of<T>().code()), uint8_t(type_of<T>().bits()), 1};
        raw.dimensions = 1;
        raw.dim = &dim;
    }
    TestBuffer(const TestBuffer &) = delete;
    T &operator[](size_t i) { return first[i]; }
    std::vector<T> values() const { return std::vector<T>(first, first + dim.extent); }
    operator tessera_buffer_t *() { return &raw; }

private:
    std::vector<char> bytes;
    T *first;
    tessera_dimension_t dim{};
    tessera_buffer_t raw{};
};

inline codegen::Options checked() {
    codegen::Options options;
    options.verify = true;
    return options;
}

// The first of the arguments of compiled code in this process.
inline void *no_context = nullptr;

inline codegen::JitModule compile(const std::string &text, const Target &target = get_host_target(),
                                  const codegen::ExternSymbols &symbols = {}) {
    return codegen::JitModule(parse_module(text), target, symbols, checked());
}

// Compiles the module's function "f" and calls it: buffers as TestBuffer, scalars by value.
template<typename... Args> int run(const std::string &text, Args &&...args) {
    codegen::JitModule module = compile(text);
    auto pass = [](auto &&arg) {
        using T = std::decay_t<decltype(arg)>;
        if constexpr (std::is_convertible_v<T &, tessera_buffer_t *>) {
            return static_cast<tessera_buffer_t *>(arg);
        } else {
            return arg;
        }
    };
    using F = int (*)(void *, decltype(pass(args))...);
    return reinterpret_cast<F>(module.address("f"))(nullptr, pass(args)...);
}

// The lines of a function's assembly, without its frame.
inline std::string assembly(const std::string &text, const std::string &target) {
    return codegen::to_assembly(parse_module(text), Target(target), checked());
}

}  // namespace tessera::test
