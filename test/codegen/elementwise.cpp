#include "codegen/elementwise.h"
#include "support/program.h"
#include <fstream>

namespace tessera::test {
namespace {

constexpr size_t element_count = 384;  // a multiple of all numbers of lanes that are tried

// A buffer of any element type.
struct RawBuffer {
    explicit RawBuffer(Type t) : bytes(element_count * size_t(t.bytes()) + 8) {
        dim = {0, int32_t(element_count), 1, 0};
        raw.host = reinterpret_cast<uint8_t *>(bytes.data());
        raw.type = {uint8_t(t.code()), uint8_t(t.bits()), 1};
        raw.dimensions = 1;
        raw.dim = &dim;
    }
    std::vector<char> bytes;
    tessera_dimension_t dim{};
    tessera_buffer_t raw{};
};

LoweredFunction make_function(const ElementCase &c, int lanes, const std::string &name) {
    LoweredFunction f;
    f.name = name;
    Symbol i = Symbol::fresh("i");
    Expr index = Variable::make(Int(32), i) * lanes;
    if (lanes > 1) index = Ramp::make(index, 1, lanes);
    std::vector<Expr> loads;
    for (Type t : c.operands) {
        Symbol in = Symbol::fresh("in");
        f.args.push_back({in, ArgumentKind::InputBuffer, t, 1, {}});
        loads.push_back(Load::make(t.with_lanes(lanes), in, index));
    }
    Symbol out = Symbol::fresh("out");
    f.args.push_back({out, ArgumentKind::OutputBuffer, c.result, 1, {}});
    Expr value = c.build(loads);
    REQUIRE(value.type() == c.result.with_lanes(lanes));
    f.body = For::make(i, 0, int(element_count) / lanes, LoopKind::Serial, Partition::Auto,
                       Store::make(out, value, index));
    return f;
}

std::string operand_text(const std::vector<Wide> &operands) {
    std::string text;
    for (Wide v : operands) text += " " + to_text(v);
    return text;
}

// The operands of a case and the buffers that hold them; the result is the last one.
struct CaseData {
    explicit CaseData(const ElementCase &c) : buffers(c.operands.begin(), c.operands.end()) {
        buffers.emplace_back(c.result);
        for (RawBuffer &buffer : buffers) {
            buffer.raw.host = reinterpret_cast<uint8_t *>(buffer.bytes.data());
            buffer.raw.dim = &buffer.dim;
        }
        for (size_t k = 0; k < c.operands.size(); k++) {
            Type t = c.operands[k];
            values.push_back(sample_values(t, element_count, 17 * k + 1));
            for (size_t i = 0; i < element_count; i++) {
                write_element(t, buffers[k].bytes.data() + i * size_t(t.bytes()), values[k][i]);
            }
        }
    }
    CaseData(const CaseData &) = delete;
    CaseData(CaseData &&) = default;
    std::vector<RawBuffer> buffers;
    std::vector<std::vector<Wide>> values;
};

void compare(const ElementCase &c, const CaseData &data) {
    for (size_t i = 0; i < element_count; i++) {
        std::vector<Wide> operands;
        for (auto &v : data.values) operands.push_back(v[i]);
        std::optional<Wide> exact = c.expected(operands);
        if (!exact) continue;
        Wide got =
            read_element(c.result, data.buffers.back().bytes.data() + i * size_t(c.result.bytes()));
        Wide wanted = wrap(c.result, *exact);
        if (got == wanted) continue;
        FAIL(c.name, " of", operand_text(operands), " gave ", to_text(got), ", not ",
             to_text(wanted));
    }
}

Module module_of(const std::vector<ElementCase> &cases, int lanes, const std::string &prefix) {
    Module module;
    module.name = "cases";
    for (size_t i = 0; i < cases.size(); i++) {
        module.functions.push_back(make_function(cases[i], lanes, str(prefix, i)));
    }
    return module;
}

void check_here(const std::vector<ElementCase> &cases, const Target &target, int lanes) {
    codegen::JitModule jit(module_of(cases, lanes, "case_"), target, {}, checked());
    for (size_t i = 0; i < cases.size(); i++) {
        INFO(target.to_string(), ", ", lanes, " lanes");
        CaseData data(cases[i]);
        std::vector<void *> argv = {&no_context};
        for (RawBuffer &b : data.buffers) argv.push_back(&b.raw);
        REQUIRE(jit.argv_function(str("case_", i))(argv.data()) == 0);
        compare(cases[i], data);
    }
}

void check_elsewhere(const std::vector<ElementCase> &cases, const Target &target,
                     const std::vector<int> &lane_counts) {
    Program program(aarch64_machine("cortex-a57"));
    std::vector<CaseData> all;
    for (int lanes : lane_counts) {
        std::string prefix = str("case_", lanes, '_');
        std::vector<char> object =
            codegen::to_object(module_of(cases, lanes, prefix), target, checked());
        std::ofstream(program.path(prefix + ".o"), std::ios::binary)
            .write(object.data(), std::streamsize(object.size()));
        for (size_t i = 0; i < cases.size(); i++) {
            CaseData &data = all.emplace_back(cases[i]);
            std::vector<Passed> arguments;
            for (RawBuffer &b : data.buffers) arguments.emplace_back(&b.raw);
            program.call(str(prefix, i), arguments);
        }
    }
    program.run();
    for (size_t i = 0; i < all.size(); i++) {
        INFO(target.to_string(), ", ", lane_counts[i / cases.size()], " lanes");
        REQUIRE(program.result(i).code == 0);
        CHECK(program.result(i).message.empty());
        compare(cases[i % cases.size()], all[i]);
    }
}

}  // namespace

Wide wrap(Type t, Wide value) {
    if (t.is_bool()) return value != 0;
    if (t.bits() == 64) return t.is_int() ? Wide(int64_t(value)) : Wide(uint64_t(value));
    Wide low = value & ((Wide(1) << t.bits()) - 1);
    bool negative = t.is_int() && (low >> (t.bits() - 1));
    return negative ? low - (Wide(1) << t.bits()) : low;
}

bool fits(Type t, Wide value) { return wrap(t, value) == value; }

Wide read_element(Type t, const char *at) {
    uint64_t bits = 0;
    std::memcpy(&bits, at, size_t(t.bytes()));
    return wrap(t, Wide(bits));
}

void write_element(Type t, char *at, Wide value) {
    uint64_t bits = uint64_t(value);
    std::memcpy(at, &bits, size_t(t.bytes()));
}

std::string to_text(Wide value) {
    if (value < 0) return "-" + to_text(-value);
    std::string digits;
    do {
        digits.insert(digits.begin(), char('0' + int(value % 10)));
        value /= 10;
    } while (value);
    return digits;
}

std::vector<Wide> sample_values(Type t, size_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Wide> extremes = {0, 1, 2, 3, 5, 7, 8, 15, 31, -1, -2, -7};
    for (Wide edge : {Wide(t.min_int()), Wide(t.max_uint())}) {
        for (int d = -2; d <= 2; d++) extremes.push_back(edge + d);
    }
    std::vector<Wide> values(count);
    for (Wide &v : values) {
        uint64_t r = random();
        if (r % 2) {
            v = extremes[(r >> 8) % extremes.size()];
        } else {
            v = Wide(int64_t(random()) >> (r >> 8) % 64);
        }
        v = wrap(t, v);
    }
    return values;
}

void check_cases(const std::vector<ElementCase> &cases, const Target &target,
                 const std::vector<int> &lane_counts) {
    if (target.arch != get_host_target().arch) return check_elsewhere(cases, target, lane_counts);
    for (int lanes : lane_counts) check_here(cases, target, lanes);
}

}  // namespace tessera::test
