// Makes the calls that a test has written to a file, and writes down what became of them: the other
// half of program.cpp, compiled for the machine that the calls are made on.
#include "runtime/tessera_runtime.h"
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

// Code that needs no runtime is linked without it.
#pragma weak tessera_set_error_handler
#pragma weak tessera_shutdown_thread_pool

extern "C" int (*const called_functions[])(void *const *argv);

namespace {

constexpr size_t guard = 256;  // bytes around a buffer that nobody may write to
std::string message;

void on_error(void *, const char *text) { message += text; }

FILE *must_open(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (!file) exit(100);
    return file;
}

template<typename T> T get(FILE *file) {
    T value;
    if (fread(&value, sizeof(T), 1, file) != 1) exit(101);
    return value;
}

void put(FILE *file, const void *bytes, size_t count) {
    if (count && fwrite(bytes, 1, count, file) != count) exit(102);
}

struct Value {
    bool is_buffer = false;
    uint64_t scalar = 0;
    tessera_buffer_t buffer{};
    std::vector<tessera_dimension_t> dims;
    std::vector<uint8_t> memory;  // guard, contents, guard
    bool is_intact() const {
        for (size_t i = 0; i < guard && !memory.empty(); i++) {
            if (memory[i] != 0xa5 || memory[memory.size() - 1 - i] != 0xa5) return false;
        }
        return true;
    }
};

Value read_value(FILE *in) {
    Value v;
    v.is_buffer = get<uint32_t>(in) != 0;
    v.scalar = get<uint64_t>(in);
    if (!v.is_buffer) return v;
    v.buffer.type.code = get<uint8_t>(in);
    v.buffer.type.bits = get<uint8_t>(in);
    v.buffer.type.lanes = 1;
    v.buffer.dimensions = get<int32_t>(in);
    for (int i = 0; i < v.buffer.dimensions; i++) v.dims.push_back(get<tessera_dimension_t>(in));
    auto size = get<uint64_t>(in), first = get<uint64_t>(in);
    if (size == 0) return v;  // a bounds query
    v.memory.assign(size + 2 * guard, 0xa5);
    if (fread(v.memory.data() + guard, 1, size, in) != size) exit(103);
    v.buffer.host = v.memory.data() + guard + first;
    return v;
}

void write_value(FILE *out, const Value &v) {
    if (!v.is_buffer) return;
    put(out, v.dims.data(), v.dims.size() * sizeof(tessera_dimension_t));
    if (!v.memory.empty()) put(out, v.memory.data() + guard, v.memory.size() - 2 * guard);
}

}  // namespace

int main() {
    FILE *in = must_open("calls", "rb"), *out = must_open("results", "wb");
    FILE *at = must_open("at", "w");  // for whoever looks where it crashed
    if (tessera_set_error_handler) tessera_set_error_handler(on_error);
    for (auto calls = get<uint32_t>(in); calls > 0; calls--) {
        auto function = get<uint32_t>(in), count = get<uint32_t>(in);
        std::vector<Value> values;
        for (uint32_t i = 0; i < count; i++) values.push_back(read_value(in));
        std::vector<void *> argv;
        for (Value &v : values) {
            v.buffer.dim = v.dims.data();
            argv.push_back(v.is_buffer ? static_cast<void *>(&v.buffer) : &v.scalar);
        }
        rewind(at);
        fprintf(at, "in function %u\n", function);
        fflush(at);
        message.clear();
        int32_t code = called_functions[function](argv.data());
        for (const Value &v : values) {
            if (!v.is_intact()) message += "wrote outside of a buffer";
        }
        auto length = uint32_t(message.size());
        put(out, &code, sizeof code);
        put(out, &length, sizeof length);
        put(out, message.data(), length);
        for (const Value &v : values) write_value(out, v);
    }
    if (tessera_shutdown_thread_pool) tessera_shutdown_thread_pool();
    return fclose(at) | fclose(out);
}
