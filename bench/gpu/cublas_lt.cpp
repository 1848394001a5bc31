#include "gpu/cublas_lt.h"
#include "tessera_runtime_cuda.h"

#include <dlfcn.h>
#include <memory>
#include <stdexcept>

namespace tessera::bench {

namespace {

// These are constants of library_types.h, cublas_api.h and cublasLt.h.
constexpr int compute_32f = 68, compute_32i = 72, compute_tf32 = 77;
constexpr int type_f32 = 0, type_s32 = 10;
constexpr int desc_transa = 3, desc_transb = 4, desc_epilogue = 7, desc_bias = 8,
              desc_bias_type = 26, desc_a_scale = 17, desc_b_scale = 18, desc_fast_sums = 25;
constexpr int layout_batch = 5, layout_stride = 6, preference_workspace = 1;
constexpr uint32_t epilogue_relu = 2, epilogue_gelu_bias = 32 | 4;
constexpr size_t workspace_bytes = size_t(64) << 20;

int type_of(MatrixType t) {
    switch (t) {
    case MatrixType::F32: return type_f32;
    case MatrixType::F16: return 2;
    case MatrixType::BF16: return 14;
    case MatrixType::S8: return 3;
    case MatrixType::S32: return type_s32;
    case MatrixType::E4M3: return 28;
    }
    return -1;
}

struct Algorithm {
    uint64_t data[8];
};
struct Choice {
    Algorithm algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

void check(int failed, const char *what) {
    if (failed) throw std::runtime_error(std::string(what) + " returns " + std::to_string(failed));
}

}  // namespace

struct CublasLt::Functions {
    int (*create)(void **);
    int (*desc_create)(void **, int, int);
    int (*desc_set)(void *, int, const void *, size_t);
    int (*layout_create)(void **, int, uint64_t, uint64_t, int64_t);
    int (*layout_set)(void *, int, const void *, size_t);
    int (*preference_create)(void **);
    int (*preference_set)(void *, int, const void *, size_t);
    int (*choose)(void *, void *, void *, void *, void *, void *, void *, int, Choice *, int *);
    int (*matmul)(void *, void *, const void *, const void *, void *, const void *, void *,
                  const void *, const void *, void *, void *, void *, const Algorithm *, void *,
                  size_t, void *);
};

CublasLt::CublasLt() {
    void *library = nullptr;
    for (const char *name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
        if (!library) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    }
    if (!library) return;
    static Functions all;
    const auto find = [&](auto &function, const char *name) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
        return function != nullptr;
    };
    if (!find(all.create, "cublasLtCreate") || !find(all.desc_create, "cublasLtMatmulDescCreate") ||
        !find(all.desc_set, "cublasLtMatmulDescSetAttribute") ||
        !find(all.layout_create, "cublasLtMatrixLayoutCreate") ||
        !find(all.layout_set, "cublasLtMatrixLayoutSetAttribute") ||
        !find(all.preference_create, "cublasLtMatmulPreferenceCreate") ||
        !find(all.preference_set, "cublasLtMatmulPreferenceSetAttribute") ||
        !find(all.choose, "cublasLtMatmulAlgoGetHeuristic") || !find(all.matmul, "cublasLtMatmul"))
        return;
    const auto allocate = reinterpret_cast<int (*)(uint64_t *, size_t)>(
        tessera_cuda_get_symbol(nullptr, "cuMemAlloc_v2"));
    if (!allocate || allocate(&workspace, workspace_bytes) || all.create(&handle)) handle = nullptr;
    functions = &all;
}

// The library's matrices are stored column by column: out^T = b^T * a^T.
CublasLt::Call CublasLt::prepare(const MatrixProduct &p) {
    const Functions &f = *functions;
    const bool of_bytes = p.operand == MatrixType::S8;
    const int compute = of_bytes                       ? compute_32i
                        : p.operand == MatrixType::F32 ? compute_tf32
                                                       : compute_32f;
    const bool whole = of_bytes && p.result == MatrixType::S32;
    void *desc = nullptr, *first = nullptr, *second = nullptr, *result = nullptr;
    check(f.desc_create(&desc, compute, whole ? type_s32 : type_f32), "cublasLtMatmulDescCreate");
    const auto set = [&](int attribute, auto value) {
        check(f.desc_set(desc, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
    };
    set(desc_transa, int32_t(p.b_by_columns));
    set(desc_transb, int32_t(p.a_by_columns));
    if (p.bias_gelu) {
        set(desc_epilogue, epilogue_gelu_bias);
        set(desc_bias_type, int32_t(type_of(p.result)));
        set(desc_bias, workspace);  // some address, as aligned as that of a call
    } else if (p.relu) {
        set(desc_epilogue, epilogue_relu);
    }
    if (p.operand == MatrixType::E4M3) set(desc_fast_sums, int8_t(1));
    const auto layout = [&](void *&l, MatrixType type, int rows, int columns) {
        check(f.layout_create(&l, type_of(type), uint64_t(rows), uint64_t(columns), rows),
              "cublasLtMatrixLayoutCreate");
        const int32_t batch = p.batch;
        const int64_t stride = int64_t(rows) * columns;
        check(f.layout_set(l, layout_batch, &batch, sizeof batch), "the batch");
        check(f.layout_set(l, layout_stride, &stride, sizeof stride), "the stride of a batch");
    };
    layout(first, p.operand, p.b_by_columns ? p.k : p.n, p.b_by_columns ? p.n : p.k);
    layout(second, p.operand, p.a_by_columns ? p.m : p.k, p.a_by_columns ? p.k : p.m);
    layout(result, p.result, p.n, p.m);
    void *preference = nullptr;
    check(f.preference_create(&preference), "cublasLtMatmulPreferenceCreate");
    check(f.preference_set(preference, preference_workspace, &workspace_bytes,
                           sizeof workspace_bytes),
          "cublasLtMatmulPreferenceSetAttribute");
    Choice choice{};
    int found = 0;
    check(f.choose(handle, desc, first, second, result, result, preference, 1, &choice, &found),
          "cublasLtMatmulAlgoGetHeuristic");
    if (found < 1) throw std::runtime_error("cuBLASLt has no algorithm");
    return [=, this](uint64_t a, uint64_t b, uint64_t bias, uint64_t out, void *stream) {
        const float one = 1, zero = 0;
        const int32_t whole_one = 1, whole_zero = 0;
        const auto pointer = [](uint64_t v) { return reinterpret_cast<void *>(v); };
        if (p.bias_gelu)
            check(functions->desc_set(desc, desc_bias, &bias, sizeof bias), "the bias");
        check(functions->matmul(handle, desc, whole ? (const void *)&whole_one : &one, pointer(b),
                                first, pointer(a), second,
                                whole ? (const void *)&whole_zero : &zero, pointer(out), result,
                                pointer(out), result, &choice.algorithm, pointer(workspace),
                                workspace_bytes, stream),
              "cublasLtMatmul");
    };
}

}  // namespace tessera::bench
