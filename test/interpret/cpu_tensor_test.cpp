#include "interpret/statement.h"
#include "ir/equal.h"
#include "ir/parser.h"
#include "ir/tensor_operation.h"
#include "ir/visitor.h"
#include "runtime/tessera_runtime.h"
#include <array>
#include <doctest/doctest.h>
#include <numeric>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::interpret;

namespace {

// Two rows of four sums by sdot: d(j + 4*i) += a(k + 4*i) * b(k + 4*j).
const std::string by_sdot =
    "  allocate d: int32[8] in Stack\n"
    "  for i in [0, +8): d[i] = 100\n"
    "  machine_op tensor(\"sdot\", 2, 4, 4, \"rows of the host\", \"rows of the host\", "
    "address_of(d[0]), address_of(a[0]), address_of(a[0]), address_of(a[0]), address_of(a[4]), "
    "address_of(b[0]), address_of(b[0]), address_of(b[0])):\n"
    "    for i in [0, +2): for j in [0, +4): for k in [0, +4):\n"
    "      d[j + 4*i] = d[j + 4*i] + int32(a[k + 4*i]) * int32(b[k + 4*j])\n"
    "  for i in [0, +8): out[i] = d[i]\n";

std::string with(std::string text, const std::string &part, const std::string &other) {
    const size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.replace(at, part.size(), other);
}

Module parsed(const std::string &body) {
    return parse_module("module \"m\"\nfunc \"f\"(out: output int32[1], a: input int8[1], b: "
                        "input int8[1]):\n" +
                        body);
}

template<typename T> struct Array {
    explicit Array(size_t n) : data(n) {
        std::iota(data.begin(), data.end(), T(1));
        dim = {0, int32_t(n), 1, 0};
        buffer.host = reinterpret_cast<uint8_t *>(data.data());
        buffer.type = {tessera_type_int, uint8_t(8 * sizeof(T)), 1};
        buffer.dimensions = 1;
        buffer.dim = &dim;
    }
    std::vector<T> data;
    tessera_dimension_t dim = {};
    tessera_buffer_t buffer = {};
};

std::vector<int32_t> run(const std::string &body) {
    Array<int32_t> out(8);
    Array<int8_t> a(8), b(20);
    void *args[] = {&out.buffer, &a.buffer, &b.buffer};
    const Module m = parsed(body);
    const int code = run_statement(m.functions[0], args, {});
    REQUIRE(code == 0);
    return out.data;
}

bool is_seen(const std::string &body) {
    try {
        run(body);
    } catch (const RuntimeError &e) {
        return std::string(e.what()).find("the loops that it stands for compute") !=
               std::string::npos;
    }
    return false;
}

std::string fault(const std::string &body) {
    std::string found = "none is there";
    const Module m = parsed(body);
    for_each_node(m.functions[0].body, [&](const MachineOp &op) {
        found = fault_of(op);
        if (!found.empty()) return;
        const std::vector<Expr> all = TensorOperation::of(op).operands();
        CHECK(std::ranges::equal(all, op.operands,
                                 [](const Expr &x, const Expr &y) { return equal(x, y); }));
    });
    return found;
}

}  // namespace

TEST_SUITE("tensor operations of CPUs") {
    TEST_CASE("compute what the loops do that they stand for") {
        const std::vector<int32_t> out = run(by_sdot);
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 4; j++) {
                int sum = 100;
                for (int k = 0; k < 4; k++) sum += (1 + k + 4 * i) * (1 + k + 4 * j);
                CHECK(out[size_t(j + 4 * i)] == sum);
            }
        }
    }
    TEST_CASE("are seen to have wrong places, rows, or loops") {
        CHECK(is_seen(with(by_sdot, "address_of(a[4]", "address_of(a[0]")));
        CHECK(is_seen(with(by_sdot, ", address_of(b[0])):", ", address_of(b[1])):")));
        CHECK(is_seen(with(by_sdot, "b[k + 4*j]", "b[j + 4*k]")));
        CHECK(is_seen(with(by_sdot, "d[j + 4*i] + int32", "d[j + 4*i] - int32")));
    }
    TEST_CASE("are verified") {
        CHECK(fault(by_sdot).empty());
        CHECK(fault(with(by_sdot, "\"sdot\"", "\"xdot\"")) ==
              "a tensor operation has the name of an instruction, three extents and where its "
              "operands are before its places");
        CHECK(fault(with(by_sdot, "2, 4, 4,", "2, 5, 4,")) ==
              "a tensor operation of 2 x 5 x 4, which its instructions do not divide");
        CHECK(fault(with(by_sdot, "2, 4, 4,", "3, 4, 4,")) ==
              "a tensor operation with 14 operands of 15");
        CHECK(fault(with(by_sdot, "\"rows of the host\"", "\"registers\"")) ==
              "a tensor operation whose instructions sdot do not find their operands in registers "
              "and rows of the host");
        CHECK(fault(with(by_sdot, ", address_of(b[0])):", ", address_of(d[0])):")) ==
              "operand 13 of a tensor operation is no place of int8");
    }
    TEST_CASE("hold sums in registers and set them to zero, and configure tile registers") {
        const auto around = [&](const std::string &operands) {
            return fault("  allocate d: int32[256] in Stack\n"
                         "  machine_op tensor(" +
                         operands + "):\n    for i in [0, +256): d[i] = 0\n");
        };
        CHECK(around("\"tdpbssd\", 16, 16, 0, \"hold\", address_of(d[0])").empty());
        CHECK(around("\"tdpbssd\", 16, 16, 0, \"hold from zero\", address_of(d[0])").empty());
        CHECK(around("\"tdpbssd\", 16, 16, 0, \"zero\", address_of(d[0])").empty());
        CHECK(around("\"tdpbssd\", 0, 0, 0, \"configure\"").empty());
        CHECK(around("\"tdpbssd\", 16, 8, 0, \"hold\", address_of(d[0])") ==
              "a tensor operation of 16 x 8 x 0, which its instructions do not divide");
        CHECK(around("\"tdpbssd\", 16, 16, 0, \"zero\", address_of(a[0])") ==
              "operand 5 of a tensor operation is no place of int32");
        CHECK(around("\"tdpbssd\", 16, 16, 0, \"zero\"") ==
              "a tensor operation with 5 operands of 6");
        CHECK(around("\"mma.m16n8k16.f32.f16\", 16, 16, 0, \"configure\"") ==
              "a tensor operation configure of mma.m16n8k16.f32.f16, which is no instruction of a "
              "CPU");
    }
}
