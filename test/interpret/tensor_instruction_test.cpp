// Tensor operations in the oracle, which runs the instructions by their own meaning: whoever gives
// them other operands than the loops that they stand for use is told so.
#include "base/float16.h"
#include "interpret/statement.h"
#include "ir/equal.h"
#include "ir/gpu_instructions.h"
#include "ir/instruction.h"
#include "ir/parser.h"
#include "ir/tensor_operation.h"
#include "ir/tile_copy.h"
#include "ir/visitor.h"
#include "runtime/tessera_runtime.h"
#include <algorithm>
#include <doctest/doctest.h>
#include <set>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::interpret;

namespace {

// 16 x 16 sums of 16 products by a warp. Both operands lie along k.
constexpr const char *by_mma =
    "    gpu_block for n in [0, +1):\n"
    "        allocate sa: float16[256] in GPUShared\n"
    "        allocate sb: float16[256] in GPUShared\n"
    "        gpu_thread for t in [0, +32):\n"
    "            for i in [0, +8):\n"
    "                sa[t*8 + i] = a[t*8 + i]:float16\n"
    "                sb[t*8 + i] = b[t*8 + i]:float16\n"
    "            gpu_barrier():int32\n"
    "            allocate d: float32[8] in Tile\n"
    "            for q in [0, +8): d[q] = 0.0\n"
    "            machine_op tensor(\"mma.m16n8k16.f32.f16\", 16, 16, 16, \"rows along k\", "
    "\"rows along k\", address_of(d[0]), "
    "address_of(sa[(t/8%2*8 + t%8)*16 + t/16*8]), address_of(sb[(t/16*8 + t%8)*16 + t/8%2*8])):\n"
    "                for j in [0, +2): for h in [0, +2): for p in [0, +2): for k in [0, +16):\n"
    "                    d[j*4 + h*2 + p] = d[j*4 + h*2 + p] + float32(sa[(h*8 + t/4)*16 + k]) * "
    "float32(sb[(j*8 + t%4*2 + p)*16 + k])\n"
    "            for j in [0, +2): for h in [0, +2): for p in [0, +2):\n"
    "                out[(h*8 + t/4)*16 + j*8 + t%4*2 + p] = d[j*4 + h*2 + p]\n";

// 64 x 16 sums of 16 products by a warpgroup, in panels of 64 elements.
constexpr const char *by_wgmma =
    "    gpu_block for n in [0, +1):\n"
    "        allocate sa: float16[4096] in GPUShared swizzle 128\n"
    "        allocate sb: float16[1024] in GPUShared swizzle 128\n"
    "        gpu_thread for t in [0, +128):\n"
    "            for i in [0, +32): sa[t*32 + i] = a[t*32 + i]:float16\n"
    "            for i in [0, +8): sb[t*8 + i] = b[t*8 + i]:float16\n"
    "            async_wait(0):int32\n"
    "            gpu_barrier():int32\n"
    "            allocate d: float32[8] in Tile\n"
    "            for q in [0, +8): d[q] = 0.0\n"
    "            for s in [0, +2):\n"
    "                machine_op tensor(\"wgmma.m64n16k16.f32.f16\", 64, 16, 16, \"panels along "
    "k\", \"panels along k\", address_of(d[0]), "
    "address_of(sa[s*16]), address_of(sb[s*16])):\n"
    "                    for j in [0, +2): for h in [0, +2): for p in [0, +2): for k in [0, +16):\n"
    "                        d[j*4 + h*2 + p] = d[j*4 + h*2 + p] + "
    "float32(sa[(t/32*16 + h*8 + t%32/4)*64 + s*16 + k]) * "
    "float32(sb[(j*8 + t%4*2 + p)*64 + s*16 + k])\n"
    "            tensor_wait(0, address_of(d[0]))\n"
    "            for j in [0, +2): for h in [0, +2): for p in [0, +2):\n"
    "                out[(t/32*16 + h*8 + t%32/4)*16 + j*8 + t%4*2 + p] = d[j*4 + h*2 + p]\n";

// The same three times over, with the operands copied anew each time by a warp that does only that.
constexpr const char *by_roles =
    "    gpu_block for n in [0, +1):\n"
    "        allocate sa: float16[4096] in GPUShared swizzle 128\n"
    "        allocate sb: float16[1024] in GPUShared swizzle 128\n"
    "        allocate full: uint64[1] in GPUShared\n"
    "        allocate empty: uint64[1] in GPUShared\n"
    "        gpu_thread for t in [0, +160):\n"
    "            if t == 0: barrier_init(address_of(full[0]), 1)\n"
    "            if t == 0: barrier_init(address_of(empty[0]), 4)\n"
    "            gpu_barrier():int32\n"
    "            if t < 128:\n"
    "                allocate d: float32[8] in Tile\n"
    "                for q in [0, +8): d[q] = 0.0\n"
    "                for r in [0, +3):\n"
    "                    barrier_wait(address_of(full[0]), r % 2)\n"
    "                    for s in [0, +2):\n"
    "                        machine_op tensor(\"wgmma.m64n16k16.f32.f16\", 64, 16, 16, "
    "\"panels along k\", \"panels along k\", address_of(d[0]), address_of(sa[s*16]), "
    "address_of(sb[s*16])):\n"
    "                            for j in [0, +2): for h in [0, +2): for p in [0, +2): for k in "
    "[0, +16):\n"
    "                                d[j*4 + h*2 + p] = d[j*4 + h*2 + p] + "
    "float32(sa[(t/32*16 + h*8 + t%32/4)*64 + s*16 + k]) * "
    "float32(sb[(j*8 + t%4*2 + p)*64 + s*16 + k])\n"
    "                    tensor_wait(0, address_of(d[0]))\n"
    "                    barrier_arrive(address_of(empty[0]))\n"
    "                for j in [0, +2): for h in [0, +2): for p in [0, +2):\n"
    "                    out[(t/32*16 + h*8 + t%32/4)*16 + j*8 + t%4*2 + p] = d[j*4 + h*2 + p]\n"
    "            else if t == 128:\n"
    "                for r in [0, +3):\n"
    "                    barrier_wait(address_of(empty[0]), (r + 1) % 2)\n"
    "                    barrier_expect(address_of(full[0]), 10240)\n"
    "                    machine_op copy_tile(\"cp.async.bulk.tensor.2d.b16.64x64\", "
    "address_of(sa[0]), address_of(full[0]), "
    "tensor_map(address_of(a[0]), 2, 0, 2, 64, 64, 64, 64, 64, 1, 0, 128), 0, 0, 0):\n"
    "                        for i in [0, +64): for k in [0, +64): sa[i*64 + k] = a[i*64 + k]\n"
    "                    machine_op copy_tile(\"cp.async.bulk.tensor.2d.b16.64x16\", "
    "address_of(sb[0]), address_of(full[0]), "
    "tensor_map(address_of(b[0]), 2, 0, 2, 64, 64, 64, 64, 16, 1, 0, 128), 0, 0, 0):\n"
    "                        for i in [0, +16): for k in [0, +64): sb[i*64 + k] = b[i*64 + k]\n";

std::string with(std::string text, const std::string &before, const std::string &after) {
    const size_t at = text.find(before);
    REQUIRE_MESSAGE(at != std::string::npos, before);
    return text.replace(at, before.size(), after);
}

struct Matrices {
    std::vector<float16_t> a = std::vector<float16_t>(4096), b = a;
    std::vector<float> out = std::vector<float>(4096, -1.0f);

    Matrices() {
        for (size_t i = 0; i < a.size(); i++) {
            a[i] = float16_t(float((i * 7 + i / 16 * 3) % 11) - 5.0f);
            b[i] = float16_t(float((i * 5 + i / 16) % 13) - 6.0f);
        }
    }
    void run(const std::string &body) {
        void *const hosts[] = {out.data(), a.data(), b.data()};
        tessera_dimension_t dim{0, 4096, 1, 0};
        tessera_buffer_t buffers[3] = {};
        for (size_t i = 0; i < 3; i++) {
            buffers[i].host = static_cast<uint8_t *>(hosts[i]);
            buffers[i].type = {tessera_type_float, uint8_t(i ? 16 : 32), 1};
            buffers[i].dimensions = 1;
            buffers[i].dim = &dim;
        }
        const Module m = parse_module("module \"m\"\nfunc \"f\"(out: output float32[1], a: input "
                                      "float16[1], b: input float16[1]):\n" +
                                      body);
        void *args[] = {&buffers[0], &buffers[1], &buffers[2]};
        StatementOptions options;
        options.module = &m;
        options.outputs_have_values = true;
        const int code = run_statement(m.functions[0], args, options);
        CHECK(code == 0);
    }
    float sum(size_t row, size_t column, size_t pitch, size_t k_extent) const {
        float all = 0;
        for (size_t k = 0; k < k_extent; k++)
            all += float(a[row * pitch + k]) * float(b[column * pitch + k]);
        return all;
    }
};

std::string refused(const std::string &body) {
    try {
        Matrices().run(body);
    } catch (const Error &e) {
        return e.what();
    }
    return "";
}
bool is_seen(const std::string &body) {
    const std::string message = refused(body);
    return message.find("and the loops that it stands for compute") != std::string::npos ||
           message.find("out of bounds load") != std::string::npos;
}

bool equal_operands(const TensorOperation &t, const MachineOp &op) {
    const std::vector<Expr> all = t.operands();
    return std::ranges::equal(all, op.operands,
                              [](const Expr &a, const Expr &b) { return equal(a, b); });
}

}  // namespace

TEST_SUITE("tensor instructions") {
    TEST_CASE("are rows that do not contradict themselves") {
        for (const Type element :
             {Float(16), BFloat(16), Int(8), UInt(8), Float(32), Float8E4M3(), Float8E5M2()}) {
            verify(ldmatrix_x4(element, false));
            if (element.bits() != 16) continue;
            verify(ldmatrix_x4(element, true));
            verify(stmatrix_x4(element));
        }
        for (const char *copy :
             {"cp.async.bulk.tensor.2d.b16.64x128",
              "cp.async.bulk.tensor.5d.multicast.b8.32x1x2x2x4",
              "cp.async.bulk.tensor.4d.im2col.b16.64x96",
              "cp.async.bulk.tensor.3d.store.b32.32x8x1", "cp.async.b16.8", "cp.async.b32.1"}) {
            const auto row = find_instruction(copy);
            REQUIRE_MESSAGE(row.has_value(), copy);
            CHECK(row->name == copy);
            verify(*row);
        }
        for (const char *none : {"cp.async.bulk.tensor.6d.b16.64", "cp.async.bulk.tensor.2d.b16.64",
                                 "cp.async.bulk.tensor.4d.im2col.b16.64x6x6x1", "cp.async.b16.3",
                                 "cp.async.bulk.tensor.2d.store.multicast.b16.64x8"})
            CHECK_MESSAGE(!find_copy(none), none);
        for (int64_t columns = 8; columns <= 256; columns += 8) {
            std::set<std::string> names;
            for (Instruction row : instructions_named("any", columns)) {
                CHECK_MESSAGE(names.insert(row.name).second, row.name);
                CHECK(find_instruction(row.name)->name == row.name);
                verify(row);
                if (columns % 64 != 0 || row.operands[2].type.bits() != 16) continue;
                for (const char *name : {"A", "B"}) {
                    if (row.operand(name).place != OperandPlace::Memory) continue;
                    Layout &layout = row.operands[*name == 'A' ? 1 : 2].layout;
                    layout = wgmma_layout(row, name, {false, 1024});
                }
                verify(row);
            }
        }
        Instruction wrong = mma_m16n8(16, Float(32), Float(16), Float(16));
        wrong.operands[1].layout = parse_layout("i:16 k:8 -> thread(i) register(k)");
        CHECK_THROWS_WITH_AS(verify(wrong), doctest::Contains("A has another extent of k"),
                             InternalError);
        wrong.operands[1].layout = parse_layout("i:16 k:16 -> thread(i/2) register(k)");
        CHECK_THROWS_WITH_AS(verify(wrong), doctest::Contains("two elements in one place"),
                             InternalError);
        wrong.operands[1].layout = parse_layout("i:16 k:16 -> thread(i*4 + k%4) register(k/4)");
        CHECK_THROWS_WITH_AS(verify(wrong), doctest::Contains("more than 32 threads"),
                             InternalError);
        wrong.operands[1].layout = parse_layout("k:16 i:16 -> thread(i) register(k)");
        CHECK_THROWS_WITH_AS(verify(wrong), doctest::Contains("other coordinates in its meaning"),
                             InternalError);
        wrong.operands[1].layout = parse_layout("i:16 k:16 -> element(i*16 + k)");
        CHECK_THROWS_WITH_AS(verify(wrong), doctest::Contains("another kind of place"),
                             InternalError);
    }
    TEST_CASE("are operations whose operands are named, and verified") {
        const auto fault = [](const std::string &body) {
            const Module m = parse_module("module \"m\"\nfunc \"f\"(out: output float32[1], a: "
                                          "input float16[1], b: input float16[1]):\n" +
                                          body);
            std::string found;
            for_each_node(m.functions[0].body, [&](const MachineOp &op) {
                found = fault_of(op);
                if (found.empty()) CHECK(equal_operands(TensorOperation::of(op), op));
            });
            return found;
        };
        CHECK(fault(by_mma).empty());
        CHECK(fault(by_wgmma).empty());
        CHECK(fault(with(by_mma, "16, 16, 16", "16, 20, 16")) ==
              "a tensor operation of 16 x 20 x 16, which its instructions do not divide");
        CHECK(fault(with(by_mma, "16, 16, 16", "16, 32, 16")) ==
              "a tensor operation with 9 operands of 10");
        for (const auto &[before, after] :
             {std::pair("f16\", 16", "f16\", t"), std::pair("m16n8k16", "m16n8k17"),
              std::pair("rows along k", "rows of k")})
            CHECK(fault(with(by_mma, before, after)) ==
                  "a tensor operation has the name of an instruction, three extents and where its "
                  "operands are before its places");
        CHECK(fault(with(by_mma, ".f32.f16", ".f32.bf16")) ==
              "operand 7 of a tensor operation is no place of bfloat16");
        CHECK(fault(with(by_mma, "rows along k", "panels along k")) ==
              "a tensor operation whose instructions mma.m16n8k16.f32.f16 do not find their "
              "operands in panels along k and rows along k");
    }
    TEST_CASE("compute what the loops do that they stand for") {
        Matrices mma;
        mma.run(by_mma);
        for (size_t i = 0; i < 16; i++) {
            for (size_t j = 0; j < 16; j++) CHECK(mma.out[i * 16 + j] == mma.sum(i, j, 16, 16));
        }
        Matrices wgmma;
        wgmma.run(by_wgmma);
        for (size_t i = 0; i < 64; i++) {
            for (size_t j = 0; j < 16; j++) CHECK(wgmma.out[i * 16 + j] == wgmma.sum(i, j, 64, 32));
        }
    }
    TEST_CASE("of mma are seen to have wrong rows, orders, types or operands") {
        const char *const a = "sa[(t/8%2*8 + t%8)*16 + t/16*8]",
                          *const b = "sb[(t/16*8 + t%8)*16 + t/8%2*8]";
        CHECK(is_seen(with(by_mma, a, "sa[(t/16*8 + t%8)*16 + t/8%2*8]")));  // quarters exchanged
        CHECK(is_seen(with(by_mma, a, "sa[(t/8%2*8 + (7 - t%8))*16 + t/16*8]")));
        CHECK(is_seen(with(by_mma, a, "sa[0]")));
        CHECK(is_seen(with(by_mma, b, "sb[(t/8%2*8 + t%8)*16 + t/16*8]")));
        CHECK(is_seen(with(with(by_mma, a, "sb[(t/8%2*8 + t%8)*16 + t/16*8]"), b,
                           "sa[(t/16*8 + t%8)*16 + t/8%2*8]")));
        CHECK(is_seen(with(by_mma, "16, \"rows along k", "16, \"rows across")));
        CHECK(is_seen(
            with(by_mma, "\"rows along k\", address_of(d", "\"rows across\", address_of(d")));
        CHECK(is_seen(with(by_mma, "* float32(sb", "* 2.0 * float32(sb")));
        CHECK(is_seen(with(by_mma, "float32(sa[(h*8 + t/4)*16", "float32(sa[(h*8 + t/8)*16")));
        CHECK_THROWS_AS(Matrices().run(with(by_mma, str(", address_of(", b, ")").c_str(), "")),
                        InternalError);
        CHECK(refused(with(by_mma, a, "sa[t]")).find("misaligned access: ldmatrix loads a row") !=
              std::string::npos);
        CHECK(refused(with(by_mma, a, "sa[t/8*64 + t%8*32]"))
                  .find("out of bounds: ldmatrix loads a row") != std::string::npos);
    }
    TEST_CASE("of mma wait for all threads of the warp") {
        CHECK(refused(with(by_mma, "            machine_op", "            if t < 31: machine_op"))
                  .find("threads that run mma.m16n8k16.f32.f16 together") != std::string::npos);
        CHECK_FALSE(refused(with(by_mma, "            gpu_barrier():int32\n", "")).empty());
    }
    TEST_CASE("of wgmma are seen to have wrong places, orders, types or operands") {
        CHECK(is_seen(with(by_wgmma, "address_of(sa[s*16])", "address_of(sa[s*8])")));
        CHECK(is_seen(with(by_wgmma, "address_of(sb[s*16])", "address_of(sb[64 + s*16])")));
        CHECK(is_seen(with(with(by_wgmma, "address_of(sa[", "address_of(sb["),
                           ", address_of(sb[s*16]))", ", address_of(sa[s*16]))")));
        CHECK(is_seen(with(by_wgmma, "16, \"panels along k", "16, \"panels across 4096")));
        CHECK(is_seen(with(by_wgmma, "\"panels along k\", address_of(d",
                           "\"panels across 1024\", address_of(d")));
        CHECK(refused(with(by_wgmma, "address_of(sa[s*16])", "address_of(sa[t%2*8])"))
                  .find("give it other places of an operand") != std::string::npos);
        // The instruction swizzles rows of 128 bytes.
        for (const char *other : {"", " swizzle 32", " swizzle 64"}) {
            CHECK(is_seen(with(by_wgmma, "[4096] in GPUShared swizzle 128",
                               str("[4096] in GPUShared", other))));
            CHECK(is_seen(with(by_wgmma, "[1024] in GPUShared swizzle 128",
                               str("[1024] in GPUShared", other))));
        }
    }
    TEST_CASE("of wgmma read what threads have written after a fence of these threads") {
        CHECK(refused(with(by_wgmma, "            async_wait(0):int32\n", ""))
                  .find("without a fence between") != std::string::npos);
        // A fence of other threads, or one that comes before.
        CHECK(refused(with(by_wgmma, "            async_wait", "            if t < 64: async_wait"))
                  .find("without a fence between") != std::string::npos);
        const std::string first = "            for i in [0, +32): sa",
                          fence = "            async_wait(0):int32\n";
        CHECK(refused(with(with(by_wgmma, fence, ""), first, fence + first))
                  .find("without a fence between") != std::string::npos);
    }
    TEST_CASE("of wgmma read their operands until they have been waited for") {
        const std::string wait = "            tensor_wait(0, address_of(d[0]))\n",
                          overwrite = "            gpu_barrier():int32\n"
                                      "            if t == 5: sa[t + 16] = sb[t]\n";
        CHECK(refused(with(by_wgmma, wait, wait + overwrite)).empty());
        for (const std::string &early :
             {overwrite + wait, with(wait, "(0", "(1") + overwrite + wait})
            CHECK(
                refused(with(by_wgmma, wait, early)).find("which an instruction may still read") !=
                std::string::npos);
    }
    TEST_CASE("of wgmma whose operands another warp copies") {
        Matrices m;
        m.run(by_roles);
        for (size_t i = 0; i < 64; i++) {
            for (size_t j = 0; j < 16; j++) CHECK(m.out[i * 16 + j] == 3 * m.sum(i, j, 64, 32));
        }
        const auto seen = [&](const std::string &text, const char *why) {
            const std::string message = refused(text);
            CAPTURE(text);
            CHECK_FALSE(message.empty());
            CHECK_MESSAGE(message.find(why) != std::string::npos, message);
        };
        const std::string wait = "                    tensor_wait(0, address_of(d[0]))\n",
                          arrive = "                    barrier_arrive(address_of(empty[0]))\n";
        seen(with(by_roles, wait + arrive, arrive + wait), "which an instruction may still read");
        seen(with(by_roles, wait, with(wait, "(0", "(1")), "which an instruction may still read");
        seen(with(by_roles, "(full[0]), r % 2)", "(full[0]), (r + 1) % 2)"), "");
        seen(with(by_roles, "10240", "10250"), "bytes that a barrier expects and no copy brings");
        seen(with(by_roles, "(empty[0]), 4)", "(empty[0]), 5)"), "do not arrive");
        seen(with(by_roles, "64, 16, 1, 0, 128), 0, 0, 0)", "64, 16, 1, 0, 64), 0, 0, 0)"), "");
        seen(with(by_roles, "64, 16, 1, 0, 128), 0, 0, 0)", "64, 16, 1, 0, 128), 0, 0, 1)"),
             "brings other elements");
    }
    TEST_CASE("of wgmma give their sums to those who have waited") {
        CHECK_FALSE(
            refused(with(by_wgmma, "            tensor_wait(0, address_of(d[0]))\n", "")).empty());
        CHECK_FALSE(refused(with(by_wgmma, "tensor_wait(0", "tensor_wait(1")).empty());
    }
}
