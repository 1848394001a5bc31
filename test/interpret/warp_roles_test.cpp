// Kernels whose warps have roles in the oracle: what each fault that they can have is told as.
#include "interpret/statement.h"
#include "ir/parser.h"
#include "runtime/tessera_runtime.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::interpret;

namespace {

// One warp copies eight numbers at a time into two slots, and another one reverses them.
constexpr const char *roles =
    "    gpu_block for b in [0, +1):\n"
    "        allocate f: int32[64] in GPUSharedAsync\n"
    "        allocate full: uint64[2] in GPUSharedAsync\n"
    "        allocate empty: uint64[2] in GPUSharedAsync\n"
    "        gpu_thread for t in [0, +64):\n"
    "            if t == 0:\n"
    "                for s in [0, +2): barrier_init(address_of(full[s]), 1)\n"
    "                for s in [0, +2): barrier_init(address_of(empty[s]), 1)\n"
    "            gpu_barrier():int32\n"
    "            if t < 32:\n"
    "                for k in [0, +4):\n"
    "                    barrier_wait(address_of(full[k % 2]), k / 2 % 2)\n"
    "                    if t < 8: out[k*8 + t] = f[k % 2*32 + 7 - t]\n"
    "                    barrier_arrive(address_of(empty[k % 2]))\n"
    "            else if t == 32:\n"
    "                for k in [0, +4):\n"
    "                    barrier_wait(address_of(empty[k % 2]), (k / 2 + 1) % 2)\n"
    "                    barrier_expect(address_of(full[k % 2]), 32)\n"
    "                    machine_op copy_tile(\"cp.async.bulk.tensor.1d.b32.8\", "
    "address_of(f[k % 2*32]), address_of(full[k % 2]), "
    "tensor_map(address_of(src[0]), 4, 0, 1, 32, 8, 1, 0, 0), 0, k*8):\n"
    "                        for i in [0, +8): f[k % 2*32 + i] = src[k*8 + i]\n";

// Two warps of consumers exchange numbers, while a third one has ended.
constexpr const char *exchange = "    gpu_block for b in [0, +1):\n"
                                 "        allocate f: int32[64] in GPUShared\n"
                                 "        gpu_thread for t in [0, +96):\n"
                                 "            if t < 64:\n"
                                 "                f[t] = t\n"
                                 "                gpu_role_barrier(1, 64):int32\n"
                                 "                if t < 32: out[t] = f[63 - t]\n";

std::string with(std::string text, const std::string &before, const std::string &after) {
    const size_t at = text.find(before);
    REQUIRE(at != std::string::npos);
    return text.replace(at, before.size(), after);
}

// RuntimeError if a rule is broken.
std::vector<int32_t> run(const std::string &body) {
    std::vector<int32_t> in(32), out(32, -1);
    for (int i = 0; i < 32; i++) in[size_t(i)] = i;
    tessera_dimension_t dim{0, 32, 1, 0};
    tessera_buffer_t buffers[2] = {};
    for (int i = 0; i < 2; i++) {
        buffers[i].host = reinterpret_cast<uint8_t *>(i ? in.data() : out.data());
        buffers[i].type = {tessera_type_int, 32, 1};
        buffers[i].dimensions = 1;
        buffers[i].dim = &dim;
    }
    const Module m = parse_module(
        "module \"m\"\nfunc \"f\"(out: output int32[1], src: input int32[1]):\n" + body);
    void *args[] = {&buffers[0], &buffers[1]};
    StatementOptions options;
    options.module = &m;
    const int code = run_statement(m.functions[0], args, options);
    CHECK(code == 0);
    return out;
}

}  // namespace

TEST_SUITE("roles of warps in the statement interpreter") {
    TEST_CASE("one warp copies, and another one computes") {
        const std::vector<int32_t> out = run(roles);
        for (int i = 0; i < 32; i++) CHECK(out[size_t(i)] == i / 8 * 8 + 7 - i % 8);
    }
    TEST_CASE("arrivals that are missing, too early, or too many to come") {
        const std::string arrive = "                    barrier_arrive(address_of(empty[k % 2]))\n",
                          read =
                              "                    if t < 8: out[k*8 + t] = f[k % 2*32 + 7 - t]\n";
        CHECK_THROWS_WITH_AS(run(with(roles, arrive, "")), doctest::Contains("do not arrive"),
                             RuntimeError);
        CHECK_THROWS_WITH_AS(run(with(roles, arrive,
                                      with(arrive, "barrier",
                                           "if t > 0: "
                                           "barrier"))),
                             doctest::Contains("do not arrive"), RuntimeError);
        CHECK_THROWS_AS(run(with(roles, read + arrive, arrive + read)), RuntimeError);
        CHECK_THROWS_WITH_AS(run(with(roles, "empty[s]), 1)", "empty[s]), 2)")),
                             doctest::Contains("do not arrive"), RuntimeError);
    }
    TEST_CASE("waits for another phase, or for none") {
        CHECK_THROWS_AS(run(with(roles, "k / 2 % 2)", "(k / 2 + 1) % 2)")), RuntimeError);
        CHECK_THROWS_AS(run(with(roles, "(k / 2 + 1) % 2)", "k / 2 % 2)")), RuntimeError);
        CHECK_THROWS_WITH_AS(
            run(with(roles, "barrier_wait(address_of(empty[k % 2]), (k / 2 + 1) % 2)", "no_op")),
            doctest::Contains("those before have not been waited for"), RuntimeError);
        CHECK_THROWS_AS(
            run(with(roles, "barrier_wait(address_of(full[k % 2]), k / 2 % 2)", "no_op")),
            RuntimeError);
    }
    TEST_CASE("the threads of a role meet without the others") {
        const std::vector<int32_t> out = run(exchange);
        for (int i = 0; i < 32; i++) CHECK(out[size_t(i)] == 63 - i);
        CHECK_THROWS_AS(run(with(exchange, "                gpu_role_barrier(1, 64):int32\n", "")),
                        RuntimeError);
        CHECK_THROWS_WITH_AS(run(with(exchange, "(1, 64)", "(1, 96)")),
                             doctest::Contains("a barrier of the threads of a role"), RuntimeError);
    }
}
