// Tensor instructions of all types and shapes: rows of the table (ir/instruction.h) compute what
// loops do, by meaning without a GPU and on one where there is one, and ptxas takes their code.
#include "device_code.h"
#include "error/refusal.h"
#include "ir/gpu_instructions.h"
#include "ir/mutator.h"
#include "lang/module.h"
#include <doctest/doctest.h>
#include <functional>

using namespace tessera;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), wx("wx"), wy("wy");

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

struct Shape {
    int rows, columns, k;
    int warp_rows, warp_columns, k_step;
};

// out = a * b, with a by rows of k and b stored along k or along columns.
template<typename Sum, typename A, typename B>
struct TypedProduct {
    Buffer<A> a;
    Buffer<B> b;
    ImageParam of_a{type_of<A>(), 2, "a"}, of_b{type_of<B>(), 2, "b"};
    Func product{"product"}, out{"out"};
    RDom k;
    bool b_along_k;

    TypedProduct(const Shape &s, bool b_along_k)
        : a(s.k, s.rows), b(b_along_k ? s.k : s.columns, b_along_k ? s.columns : s.k), k(0, s.k),
          b_along_k(b_along_k) {
        a.for_each_element([&](int i, int j) { a(i, j) = A(float((i * 7 + j * 3) % 11) - 5.0f); });
        b.for_each_element([&](int i, int j) { b(i, j) = B(float((i * 5 + j * 2) % 9) - 4.0f); });
        of_a.set(a);
        of_b.set(b);
        const Expr of_column = b_along_k ? of_b(k, x) : of_b(x, k);
        product(x, y) += cast<Sum>(of_a(k, y)) * cast<Sum>(of_column);
        out(x, y) = product(x, y);
    }
    // Warps of one tile each, whose operands are read as they lie in memory, or staged.
    void schedule(const Shape &s, const TensorInstruction &instruction, bool is_of_group,
                  bool is_staged) {
        RVar ko("ko"), ki("ki");
        const auto warps = [&](auto &&f) {
            return is_of_group ? f.gpu_warpgroups(wy) : f.gpu_warps(wy);
        };
        out.tile(x, y, xi, yi, s.warp_columns, s.warp_rows).gpu_blocks(x, y);
        out.split(yi, wy, yi, s.warp_rows);
        warps(out);
        product.compute_at(out, x).store_in(MemoryType::Tile).split(y, wy, y, s.warp_rows);
        warps(product);
        Stage update = product.update();
        update.split(k, ko, ki, s.k_step).split(y, wy, y, s.warp_rows).reorder({ki, x, y, wy, ko});
        warps(update);
        update.tensorize(x, y, ki, instruction);
        if (!is_staged) return;
        for (Func staged : {of_a.in(), of_b.in()}) {
            staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
            staged.async().ring_buffer(2);
        }
    }
};

template<typename Sum, typename A, typename B>
void agrees(const Shape &s, const std::string &instruction, bool b_along_k,
            bool is_of_group = false, bool is_staged = false) {
    CAPTURE(instruction);
    CAPTURE(b_along_k);
    for (const Target &target : targets()) {
        TypedProduct<Sum, A, B> p(s, b_along_k);
        p.schedule(s, TensorInstruction(instruction), is_of_group, is_staged);
        CAPTURE(target.to_string());
        const Buffer<Sum> out = p.out.realize({s.columns, s.rows}, target);
        int wrong = 0;
        out.for_each_element([&](int i, int j) {
            Sum sum(0);
            for (int k = 0; k < s.k; k++)
                sum = Sum(sum + Sum(p.a(k, j)) * Sum(b_along_k ? p.b(k, i) : p.b(i, k)));
            wrong += out(i, j) != sum;
        });
        CHECK(wrong == 0);
    }
}

}  // namespace

TEST_SUITE("tensor types") {
    TEST_CASE("mma: floats of 16 bits, sums of 32 and of 16") {
        for (const bool along_k : {true, false}) {
            agrees<float, float16_t, float16_t>({32, 24, 48, 16, 8, 16}, "mma", along_k);
            agrees<float, bfloat16_t, bfloat16_t>({32, 24, 24, 32, 8, 8}, "mma", along_k);
            agrees<float16_t, float16_t, float16_t>({16, 16, 32, 16, 16, 16},
                                                    "mma.m16n8k16.f16.f16", along_k);
            agrees<float16_t, float16_t, float16_t>({16, 16, 32, 16, 16, 16}, "mma.m16n8k8.f16.f16",
                                                    along_k);
        }
    }
    TEST_CASE("mma: bytes, with signs or without, and both") {
        for (const bool along_k : {true, false}) {
            agrees<int32_t, int8_t, int8_t>({32, 16, 64, 16, 16, 32}, "mma", along_k);
            agrees<int32_t, int8_t, int8_t>({16, 8, 16, 16, 8, 16}, "mma", along_k);
            agrees<int32_t, uint8_t, uint8_t>({16, 8, 32, 16, 8, 32}, "mma", along_k);
            agrees<int32_t, uint8_t, int8_t>({16, 24, 32, 16, 24, 32}, "mma", along_k);
            agrees<int32_t, int8_t, uint8_t>({32, 8, 64, 32, 8, 32}, "any", along_k);
        }
    }
    TEST_CASE("mma: floats of 8 bits, of one type and of both") {
        for (const bool along_k : {true, false}) {
            agrees<float, float8_e4m3_t, float8_e4m3_t>({32, 16, 64, 16, 16, 32}, "mma", along_k);
            agrees<float, float8_e5m2_t, float8_e5m2_t>({16, 8, 32, 16, 8, 32}, "mma", along_k);
            agrees<float, float8_e4m3_t, float8_e5m2_t>({16, 24, 32, 16, 24, 32}, "mma", along_k);
            agrees<float, float8_e5m2_t, float8_e4m3_t>({32, 8, 64, 32, 8, 32}, "any", along_k);
        }
    }
    TEST_CASE("wgmma: floats of 8 bits and bytes, which lie along what is summed") {
        const Shape s{64, 40, 256, 64, 40, 128}, of_bytes{64, 32, 256, 64, 32, 128};
        agrees<float, float8_e4m3_t, float8_e4m3_t>(s, "wgmma", true, true, true);
        agrees<float, float8_e5m2_t, float8_e5m2_t>(s, "wgmma", true, true, true);
        agrees<float, float8_e4m3_t, float8_e5m2_t>(s, "wgmma", true, true, true);
        agrees<int32_t, int8_t, uint8_t>(of_bytes, "wgmma", true, true, true);
        TypedProduct<float, float8_e5m2_t, float8_e4m3_t> p(s, true);
        p.schedule(s, TensorInstruction::WGMMA, true, true);
        const std::string ptx = test::ptx_of(p.out, 90);
        CAPTURE(ptx);
        CHECK(test::count_of(ptx, "wgmma.mma_async.sync.aligned.m64n40k32.f32.e5m2.e4m3") == 4);
        test::check_assembled(ptx, 90, true);
        TypedProduct<float, float8_e4m3_t, float8_e4m3_t> across(s, false);
        across.schedule(s, TensorInstruction::WGMMA, true, true);
        const std::string why =
            refusal([&] { across.out.compile_to_module({}, "f", targets()[0]); });
        CAPTURE(why);
        CHECK(why.find("is stored along what is summed if its elements have no 16 bits") !=
              std::string::npos);
    }
    TEST_CASE("wmma: its three shapes, by two instructions whose registers are known") {
        struct Row {
            const char *shape;
            Shape of;
        };
        for (const auto &[shape, s] :
             {Row{"m16n16k16", {32, 32, 32, 16, 16, 16}}, Row{"m32n8k16", {64, 16, 32, 32, 16, 16}},
              Row{"m8n32k16", {16, 64, 32, 16, 32, 16}}}) {
            const std::string name = std::string("wmma.") + shape;
            for (const bool along_k : {true, false}) {
                agrees<float, float16_t, float16_t>(s, name + ".f32.f16", along_k);
                agrees<float, bfloat16_t, bfloat16_t>(s, name + ".f32.bf16", along_k);
                agrees<float16_t, float16_t, float16_t>(s, name + ".f16.f16", along_k);
            }
            for (const char *types : {".f32.f16", ".f16.f16"}) {
                const auto check = [&](auto product) {
                    product.schedule(s, TensorInstruction(name + types), false, true);
                    const std::string ptx = test::ptx_of(product.out, 80);
                    CAPTURE(ptx);
                    const size_t count = test::count_of(ptx, "mma.sync.aligned.m16n8k16");
                    CHECK(count > 0);
                    CHECK(count % 2 == 0);
                    test::check_assembled(ptx, 80);
                };
                if (types[2] == '3')
                    check(TypedProduct<float, float16_t, float16_t>(s, true));
                else
                    check(TypedProduct<float16_t, float16_t, float16_t>(s, true));
            }
        }
        agrees<float, float16_t, float16_t>({16, 16, 16, 16, 16, 16}, "wmma", true);
    }
    TEST_CASE("an instruction may take the larger of its operands in place of their sum") {
        ir::Instruction row = ir::mma_m16n8(8, Float(32), Float(16), Float(16));
        row.name = row.family = "largest product";
        row.assembly = "";
        ir::Stmt meaning = row.meaning;
        class TakeLarger final : public ir::Mutator {
            Expr visit(const ir::Add &sum) override { return ir::Max::make(sum.a, sum.b); }
        };
        row.meaning = TakeLarger()(meaning);
        ir::register_instruction(row);
        const Shape s{32, 16, 24, 16, 8, 8};
        TypedProduct<float, float16_t, float16_t> p(s, true);
        Func largest("largest");
        largest(x, y) = -100.0f;
        largest(x, y) =
            max(cast<float>(p.of_a(p.k, y)) * cast<float>(p.of_b(p.k, x)), largest(x, y));
        p.product = largest;
        p.out = Func("out_of_largest");
        p.out(x, y) = largest(x, y);
        p.schedule(s, TensorInstruction("largest product"), false, false);
        const Buffer<float> out = p.out.realize({s.columns, s.rows}, targets()[0]);
        int wrong = 0;
        out.for_each_element([&](int i, int j) {
            float most = -100;
            for (int k = 0; k < s.k; k++)
                most = std::max(most, float(p.a(k, j)) * float(p.b(k, i)));
            wrong += out(i, j) != most;
        });
        CHECK(wrong == 0);
        const std::string why = [&] {
            TypedProduct<float, float16_t, float16_t> sums(s, true);
            sums.schedule(s, TensorInstruction("largest product"), false, false);
            return refusal([&] { sums.out.compile_to_module({}, "f", targets()[0]); });
        }();
        CAPTURE(why);
        CHECK(why.find("largest product") != std::string::npos);
    }
    TEST_CASE("floats of 8 bits need a GPU of 8.9, whose assembler takes them") {
        const Shape s{32, 16, 64, 16, 16, 32};
        const auto code = [&](int capability) {
            TypedProduct<float, float8_e4m3_t, float8_e5m2_t> p(s, true);
            p.schedule(s, TensorInstruction::MMA, false, true);
            return test::ptx_of(p.out, capability);
        };
        for (const int capability : {89, 90, 100}) {
            const std::string ptx = code(capability);
            CAPTURE(ptx);
            CHECK(test::count_of(ptx, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32") > 0);
            test::check_assembled(ptx, capability);
        }
        const std::string why = refusal([&] { code(86); });
        CAPTURE(why);
        CHECK(why.find("mma.m16n8k32.f32.e4m3.e5m2, which GPUs of compute capability 8.6 do not "
                       "have; give the target the feature cuda_capability_89") !=
              std::string::npos);
    }
    TEST_CASE("mma: tf32, which is asked for by its name") {
        for (const bool along_k : {true, false}) {
            agrees<float, float, float>({32, 16, 16, 16, 8, 8}, "mma.tf32", along_k);
            agrees<float, float, float>({16, 8, 12, 16, 8, 4}, "mma.m16n8k4.f32.tf32", along_k);
        }
    }
    TEST_CASE("operands of all types that are staged ahead") {
        for (const bool along_k : {true, false}) {
            const auto staged = [&](auto sum, auto a, auto b, const Shape &s, const char *name) {
                agrees<decltype(sum), decltype(a), decltype(b)>(s, name, along_k, false, true);
            };
            staged(0.0f, bfloat16_t(), bfloat16_t(), {32, 24, 48, 32, 8, 16}, "mma");
            staged(float16_t(), float16_t(), float16_t(), {16, 16, 64, 16, 16, 32}, "mma");
            staged(0, int8_t(), int8_t(), {32, 16, 96, 16, 16, 32}, "mma");
            staged(0, uint8_t(), int8_t(), {16, 32, 64, 16, 32, 32}, "mma");
            staged(0.0f, 0.0f, 0.0f, {32, 16, 32, 16, 16, 16}, "mma.tf32");
        }
        const Shape groups{64, 64, 256, 64, 64, 128};
        agrees<int32_t, int8_t, uint8_t>(groups, "wgmma", true, true, true);
        agrees<float, float, float>({64, 24, 64, 64, 24, 32}, "wgmma.tf32", true, true, true);
        agrees<float16_t, float16_t, float16_t>(groups, "wgmma", true, true, true);
    }
    TEST_CASE("an instruction of the user's own is a description and a line of PTX") {
        TensorInstructionDescription d{
            .name = "m16n8k8 of mine",
            .capability = 75,
            .d = {Float(32), "i:16 j:8 -> thread(i%8*4 + j/2) register(i/8*2 + j%2)"},
            .a = {Float(16), "i:16 k:8 -> thread(i%8*4 + k/2) register(i/8*2 + k%2)"},
            .b = {Float(16), "k:8 j:8 -> thread(j*4 + k/2) register(k%2)"},
            .ptx = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 $D, $A, $B, $D;"};
        const TensorInstruction mine = TensorInstruction::define(d);
        agrees<float, float16_t, float16_t>({32, 16, 16, 16, 8, 8}, mine.name(), true);
        d.a.layout = "i:16 k:8 -> thread(i%8*4 + k/2) register(i/8 + k%2)";
        const std::string why = refusal([&] { TensorInstruction::define(d); });
        CAPTURE(why);
        CHECK(why.find("tensor_types_test.cpp:") == 0);
        CHECK(why.find("A has two elements in one place") != std::string::npos);
        d.a.layout = "i:16 k:16 -> thread(i%8*4 + k/4) register(i/8*4 + k%4)";
        const std::string extents = refusal([&] { TensorInstruction::define(d); });
        CAPTURE(extents);
        CHECK(extents.find("B has another extent of k") != std::string::npos);
        CHECK(extents.find("internal error") == std::string::npos);
    }
    TEST_CASE("names that no instruction has, and types that none multiplies, are refused") {
        const Shape s{16, 8, 16, 16, 8, 16};
        const auto refused = [&](auto product, const char *name) {
            product.schedule(s, TensorInstruction(name), false, false);
            return refusal([&] { product.out.compile_to_module({}, "f", targets()[0]); });
        };
        const std::string no_name =
            refused(TypedProduct<float, float16_t, float16_t>(s, true), "mna");
        CAPTURE(no_name);
        CHECK(no_name.find("there is no instruction mna; the families are") != std::string::npos);
        const std::string floats = refused(TypedProduct<float, float, float>(s, true), "mma");
        CAPTURE(floats);
        CHECK(floats.find("is no product that mma computes") != std::string::npos);
        CHECK(floats.find("float32 += float16 * float16") != std::string::npos);
    }
}
