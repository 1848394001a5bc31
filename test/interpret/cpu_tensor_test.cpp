#include "interpret/statement.h"
#include "ir/cpu_tensor.h"
#include "ir/equal.h"
#include "ir/parser.h"
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
    "  machine_op tensor(\"multiply\", \"sdot\", 2, 4, 4, 0, address_of(d[0]), "
    "address_of(a[0]), address_of(a[0]), address_of(b[0]), address_of(b[0]), "
    "address_of(a[0]), address_of(a[4]), address_of(b[0])):\n"
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
        found = fault_of_cpu_tensor(op);
        if (!found.empty()) return;
        const std::vector<Expr> all = CpuTensorOperation::of(op).operands();
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
              "a tensor operation of a CPU names one of its instructions");
        CHECK(fault(with(by_sdot, "2, 4, 4, 0", "2, 5, 4, 0")) ==
              "a tensor operation of 2 x 5 x 4, which sdot does not divide");
        CHECK(fault(with(by_sdot, "2, 4, 4, 0", "3, 4, 4, 0")) ==
              "a tensor operation with 14 operands of 15");
        CHECK(fault(with(by_sdot, ", address_of(b[0])):", ", address_of(d[0])):")) ==
              "operand 13 of a tensor operation is no place of int8");
    }
}
