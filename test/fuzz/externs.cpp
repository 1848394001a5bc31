#include "build.h"
#include <algorithm>
#include <base/str.h>
#include <cmath>
#include <interpret/memory.h>

// These functions are what extern stages call.
namespace tessera::fuzz {
namespace {

using Buffers = std::vector<tessera_buffer_t *>;

// Returns where a buffer is read along dimension d for a place of the outputs; step: 0 or 1.
int place(int at, int d, int step, int limit) {
    int moved = at + (d == 0 ? step : 0);
    return limit > 0 ? std::clamp(moved, 0, limit) : moved;
}

void ask_for(tessera_buffer_t &in, const tessera_buffer_t &out, int limit) {
    for (int d = 0; d < in.dimensions; d++) {
        int first = d < out.dimensions ? out.dim[d].min : 0;
        int last = d < out.dimensions ? first + out.dim[d].extent - 1 : 0;
        in.dim[d].min = place(first, d, 0, limit);
        in.dim[d].extent = place(last, d, 1, limit) - in.dim[d].min + 1;
    }
}

// Null if the buffer does not have it.
const uint8_t *element(const tessera_buffer_t &in, const std::vector<int> &at, int step,
                       int limit) {
    int64_t offset = 0;
    for (int d = 0; d < in.dimensions; d++) {
        int from = place(size_t(d) < at.size() ? at[size_t(d)] : 0, d, step, limit);
        int64_t beyond = int64_t(from) - in.dim[d].min;
        if (beyond < 0 || beyond >= in.dim[d].extent) return nullptr;
        offset += beyond * in.dim[d].stride;
    }
    return in.host + offset * ((in.type.bits + 7) / 8);
}

Type type_of_buffer(const tessera_buffer_t &b) { return {TypeCode(b.type.code), b.type.bits, 1}; }

struct Sum {
    uint64_t whole = 0;
    double fraction = 0;
};

bool add(Sum &sum, const tessera_buffer_t &in, const std::vector<int> &at, int limit) {
    Type t = type_of_buffer(in);
    for (int step : {0, 1}) {
        const uint8_t *from = element(in, at, step, limit);
        if (!from) return false;
        interpret::Word w = interpret::load_word(t, from);
        if (t.is_float()) {
            sum.fraction += interpret::double_of_word(t, w);
        } else {
            sum.whole += w;
        }
    }
    return true;
}

// Integers become one of few floats, so that nothing is rounded. Floats become integers exactly.
interpret::Word result(Type t, const Sum &sum, size_t which) {
    uint64_t whole = sum.whole + which;
    if (t.is_float()) {
        return interpret::word_of_double(t, sum.fraction / 16 + double(whole % 1009));
    }
    whole += std::isnan(sum.fraction) ? 3 : uint64_t(int64_t(sum.fraction));
    bool may_be_anything = t.is_uint() || t.bits() < 32;
    if (!may_be_anything) whole = uint64_t(int64_t(whole) % 1'000'003);
    return interpret::word_of_int(t, int64_t(whole));
}

int add_neighbours(int limit, const Buffers &ins, const Buffers &outs) {
    bool query = false;
    for (tessera_buffer_t *in : ins) {
        query |= !in->host;
        if (!in->host) ask_for(*in, *outs[0], limit);
    }
    const tessera_buffer_t &out = *outs[0];
    if (query || !out.host) return 0;
    std::vector<int> at;
    for (int d = 0; d < out.dimensions; d++) {
        if (out.dim[d].extent <= 0) return 0;
        at.push_back(out.dim[d].min);
    }
    size_t d = 0;
    do {
        Sum sum;
        for (const tessera_buffer_t *in : ins) {
            if (!add(sum, *in, at, limit)) return 77;
        }
        for (size_t k = 0; k < outs.size(); k++) {
            int64_t offset = 0;
            for (size_t i = 0; i < at.size(); i++) {
                offset += int64_t(at[i] - outs[k]->dim[i].min) * outs[k]->dim[i].stride;
            }
            Type t = type_of_buffer(*outs[k]);
            interpret::store_word(t, outs[k]->host + offset * t.bytes(), result(t, sum, k));
        }
        for (d = 0; d < at.size(); d++) {
            if (++at[d] < out.dim[d].min + out.dim[d].extent) break;
            at[d] = out.dim[d].min;
        }
    } while (d < at.size());
    return 0;
}

using B = tessera_buffer_t *;

}  // namespace

// The names say how many buffers are read and written.
extern "C" {
int fuzz_1_to_1(int n, B a, B o) { return add_neighbours(n, {a}, {o}); }
int fuzz_2_to_1(int n, B a, B b, B o) { return add_neighbours(n, {a, b}, {o}); }
int fuzz_3_to_1(int n, B a, B b, B c, B o) { return add_neighbours(n, {a, b, c}, {o}); }
int fuzz_4_to_1(int n, B a, B b, B c, B d, B o) { return add_neighbours(n, {a, b, c, d}, {o}); }
int fuzz_1_to_2(int n, B a, B o, B p) { return add_neighbours(n, {a}, {o, p}); }
int fuzz_2_to_2(int n, B a, B b, B o, B p) { return add_neighbours(n, {a, b}, {o, p}); }
int fuzz_3_to_2(int n, B a, B b, B c, B o, B p) { return add_neighbours(n, {a, b, c}, {o, p}); }
int fuzz_4_to_2(int n, B a, B b, B c, B d, B o, B p) {
    return add_neighbours(n, {a, b, c, d}, {o, p});
}
}

const std::map<std::string, void *> &extern_functions() {
    auto address = [](auto *function) { return reinterpret_cast<void *>(function); };
    static const std::map<std::string, void *> all = {
        {"fuzz_1_to_1", address(fuzz_1_to_1)}, {"fuzz_2_to_1", address(fuzz_2_to_1)},
        {"fuzz_3_to_1", address(fuzz_3_to_1)}, {"fuzz_4_to_1", address(fuzz_4_to_1)},
        {"fuzz_1_to_2", address(fuzz_1_to_2)}, {"fuzz_2_to_2", address(fuzz_2_to_2)},
        {"fuzz_3_to_2", address(fuzz_3_to_2)}, {"fuzz_4_to_2", address(fuzz_4_to_2)}};
    return all;
}

std::string extern_name(const Plan &plan, const FuncPlan &func) {
    size_t buffers = 0;
    for (const ExternSource &s : func.reads) {
        buffers += s.is_input ? 1 : plan.funcs[size_t(s.index)].values.size();
    }
    return str("fuzz_", buffers, "_to_", func.values.size());
}

}  // namespace tessera::fuzz
