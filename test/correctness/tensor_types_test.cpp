// Tensor instructions of all types and shapes: rows of the table (ir/instruction.h) compute what
// loops do, by meaning without a GPU and on one where there is one, and ptxas takes their code.
#include "error/refusal.h"
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
    Func of_a{a}, of_b{b}, product{"product"}, out{"out"};
    RDom k;
    bool b_along_k;

    TypedProduct(const Shape &s, bool b_along_k)
        : a(s.k, s.rows), b(b_along_k ? s.k : s.columns, b_along_k ? s.columns : s.k), k(0, s.k),
          b_along_k(b_along_k) {
        a.for_each_element([&](int i, int j) { a(i, j) = A(float((i * 7 + j * 3) % 11) - 5.0f); });
        b.for_each_element([&](int i, int j) { b(i, j) = B(float((i * 5 + j * 2) % 9) - 4.0f); });
        const Expr factor = b_along_k ? of_b(k, x) : of_b(x, k);
        product(x, y) += cast<Sum>(of_a(k, y)) * cast<Sum>(factor);
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
        for (Func staged : {of_a.in(product), of_b.in(product)}) {
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
