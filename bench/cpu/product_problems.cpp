#include "cpu/product_problems.h"

namespace tessera::bench {

namespace {

std::string text(std::initializer_list<int> sizes) {
    std::string all;
    for (int size : sizes) all += (all.empty() ? "" : "x") + std::to_string(size);
    return all;
}

// Row by row: c (m x n) is a (m x k) times b (k x n).
Problem gemm(const char *name, int m, int n, int k, double bar) {
    return {.name = name,
            .size = text({m, n, k}),
            .generator = "gemm",
            .inputs = {{"a", Float(32), {k, m}}, {"b", Float(32), {n, k}}},
            .output = {"output", Float(32), {n, m}},
            .operations = 2.0 * m * n * k,
            .tolerance = 1e-5,
            .quick = double(m) * n * k <= 1.1e9,
            .bar = bar};
}

// The same of matrices that are stored column by column.
Problem transposed(bool a, bool b, int m, int n, int k) {
    const std::string name = std::string("sgemm, ") + (a ? "A^T" : "A") + (b ? " B^T" : " B");
    Problem p = gemm(name.c_str(), m, n, k, 1);
    if (a) std::swap(p.inputs[0].extents[0], p.inputs[0].extents[1]);
    if (b) std::swap(p.inputs[1].extents[0], p.inputs[1].extents[1]);
    p.params = std::string("transpose_a=") + (a ? "true" : "false") +
               " transpose_b=" + (b ? "true" : "false");
    return p;
}

Problem of_bytes(int size) {
    Problem p = gemm("gemm u8 s8 s32", size, size, size, 0.95);
    p.generator = "widening_gemm";
    p.params = "a.type=uint8 b.type=int8";
    p.inputs[0].type = UInt(8);
    p.inputs[1].type = Int(8);
    p.output.type = Int(32);
    p.arithmetic = Arithmetic::Int8;
    p.tolerance = 0;
    return p;
}

// Sums of the same products in another order: each addition may round by 2^-24 of a sum that is at
// most the result, for the inputs are in [0, 1).
Problem of_bfloat16s(int size) {
    Problem p = gemm("gemm bf16 bf16 f32", size, size, size, 0.95);
    p.generator = "widening_gemm";
    p.params = "a.type=bfloat16 b.type=bfloat16";
    for (Shape &input : p.inputs) input.type = BFloat(16);
    p.arithmetic = Arithmetic::BFloat16;
    return p;
}

}  // namespace

std::vector<Problem> product_problems() {
    return {
        gemm("sgemm", 512, 512, 512, 0.98),
        gemm("sgemm", 1024, 1024, 1024, 0.98),
        gemm("sgemm", 2048, 2048, 2048, 0.98),
        gemm("sgemm, odd", 1000, 777, 333, 1),
        gemm("sgemm, tall", 4096, 64, 512, 1),
        gemm("sgemm, flat", 64, 4096, 512, 1),
        transposed(true, false, 512, 512, 512),
        transposed(false, true, 512, 512, 512),
        transposed(true, true, 512, 512, 512),
        transposed(true, true, 1000, 777, 333),
        gemm("sgemm, small", 16, 16, 16, 1),
        gemm("sgemm, small", 32, 32, 32, 1),
        gemm("sgemm, small", 64, 64, 64, 1),
        gemm("sgemm, small", 128, 128, 128, 1),
        of_bytes(1024),
        of_bytes(2048),
        of_bfloat16s(1024),
        of_bfloat16s(2048),
    };
}

}  // namespace tessera::bench
