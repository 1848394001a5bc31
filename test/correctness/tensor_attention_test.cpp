// Attention on tensor cores: by the interpreter of kernels, as PTX, and on a GPU where there is
// one.
#include "attention/tensor.h"
#include "device_code.h"
#include <cmath>
#include <doctest/doctest.h>

using namespace tessera;
using apps::TensorAttention;
using test::check_assembled, test::ptx_of;

namespace {

Buffer<float16_t> small_values(const std::vector<int> &sizes, unsigned seed) {
    Buffer<float16_t> values(sizes);
    values.for_each_value([&](float16_t &v) {
        seed = seed * 1664525U + 1013904223U;
        v = float16_t(float(int(seed >> 8) % 2001 - 1000) / 700);
    });
    return values;
}

struct Problem {
    TensorAttention::Shape shape;
    int queries, heads;
    Buffer<float16_t> query = small_values({shape.size, queries, heads}, 1),
                      key = small_values({shape.size, queries, heads / shape.group}, 2),
                      value = small_values({shape.size, queries, heads / shape.group}, 3);
    ImageParam a{Float(16), 3, "query"}, b{Float(16), 3, "key"}, c{Float(16), 3, "value"};

    // `slots`: of blocks of keys and values, by wgmma; 0: by mma. `is_known`: the number of keys is
    // when it is compiled.
    Func output(int slots = 0, bool is_known = false) {
        a.set(query), b.set(key), c.set(value);
        TensorAttention attention(a, b, c, shape, is_known ? Expr(queries) : b.dim(1).extent());
        if (slots > 0)
            attention.schedule_for_hopper(slots);
        else
            attention.schedule();
        return attention.output;
    }

    // The weights of the keys for one query, in double precision.
    std::vector<double> weights(int q, int h) const {
        std::vector<double> all(size_t(shape.causal ? q + 1 : queries));
        double largest = -INFINITY, total = 0;
        for (size_t k = 0; k < all.size(); k++) {
            for (int d = 0; d < shape.size; d++)
                all[k] +=
                    double(float(query(d, q, h))) * double(float(key(d, int(k), h / shape.group)));
            all[k] /= std::sqrt(double(shape.size));
            largest = std::max(largest, all[k]);
        }
        for (double &w : all) total += w = std::exp(w - largest);
        for (double &w : all) w /= total;
        return all;
    }

    double error_of(const Buffer<float16_t> &out) const {
        double worst = 0;
        for (int h = 0; h < heads; h++) {
            for (int q = 0; q < queries; q++) {
                const std::vector<double> w = weights(q, h);
                for (int d = 0; d < shape.size; d++) {
                    double mean = 0;
                    for (size_t k = 0; k < w.size(); k++)
                        mean += w[k] * double(float(value(d, int(k), h / shape.group)));
                    worst = std::max(worst, std::fabs(mean - double(float(out(d, q, h)))));
                }
            }
        }
        return worst;
    }

    // Runs it, and compares with double precision.
    void check(const Target &target, int slots = 0, bool is_known = false) {
        CAPTURE(target.to_string());
        CAPTURE(shape.size);
        CAPTURE(shape.causal);
        Buffer<float16_t> out(shape.size, queries, heads);
        output(slots, is_known).realize(out, target);
        out.copy_to_host();
        CHECK(error_of(out) < 2e-3);
    }
};

std::vector<Target> targets(int capability = 80) {
    std::vector<Target> all = {
        Target(str("host-jit-cuda-cuda_capability_", capability, "-interpret"))};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

}  // namespace

TEST_SUITE("attention on tensor cores") {
    TEST_CASE("agrees with double precision, causal and not, with grouped queries") {
        for (const Target &target : targets()) {
            Problem{{.size = 64, .keys = 32, .queries = 32, .rows = 16}, 64, 1}.check(target);
            Problem{{.size = 64, .causal = true, .keys = 32, .queries = 64, .rows = 32}, 64, 1}
                .check(target);
            Problem{{.size = 128, .group = 2, .keys = 16, .queries = 32, .rows = 16}, 32, 2}.check(
                target);
        }
    }
    TEST_CASE("sums of products are added to the mean in place, and ptxas takes the kernels") {
        for (const int size : {64, 128}) {
            for (const int capability : {80, 90}) {
                Problem problem{{.size = size, .causal = size == 64}, 128, 1};
                const std::string ptx = ptx_of(problem.output(), capability);
                CHECK(ptx.find("mma.sync") != std::string::npos);
                CHECK(ptx.find("shfl.sync") != std::string::npos);
                CHECK(ptx.find("ld.local") == std::string::npos);
                check_assembled(ptx, capability);
            }
        }
    }
    TEST_CASE("by wgmma it agrees, with blocks of keys that are copied ahead") {
        for (const Target &target : targets(90)) {
            Problem{{.size = 64, .keys = 64, .queries = 128, .rows = 64}, 256, 1}.check(target, 2);
            Problem{{.size = 64, .causal = true, .keys = 64, .queries = 128, .rows = 64}, 256, 1}
                .check(target, 3, true);
            Problem{{.size = 64, .keys = 64, .queries = 64, .rows = 64}, 64, 1}.check(target, 2);
            Problem{
                {.size = 128, .group = 2, .causal = true, .keys = 128, .queries = 128, .rows = 64},
                128,
                2}
                .check(target, 2);
        }
    }
    TEST_CASE("by wgmma nothing waits but for its own sums, and nothing is spilled") {
        for (const int size : {64, 128}) {
            for (const bool causal : {false, true}) {
                Problem problem{
                    {.size = size, .causal = causal, .keys = 128, .queries = 128, .rows = 64},
                    256,
                    1};
                const std::string ptx = ptx_of(problem.output(2), 90);
                CHECK(ptx.find("wgmma.mma_async") != std::string::npos);
                CHECK(ptx.find("setmaxnreg.inc") != std::string::npos);
                CHECK(ptx.find("ld.local") == std::string::npos);
                test::check_fast(ptx);
            }
        }
    }
    TEST_CASE("a warp that has not all keys of its queries is refused") {
        Problem problem{{.size = 64, .keys = 32, .queries = 32, .rows = 16}, 64, 1};
        problem.a.set(problem.query), problem.b.set(problem.key), problem.c.set(problem.value);
        TensorAttention attention(problem.a, problem.b, problem.c, problem.shape, 64);
        attention.schedule();
        RVar outer("outer"), inner("inner");
        Stage update = attention.block_largest.update();
        update.split(attention.rk, outer, inner, 16).atomic().gpu_warps(outer);
        std::string why;
        try {
            ptx_of(attention.output, 80);
        } catch (const CompileError &e) {
            why = e.what();
        }
        CAPTURE(why);
        CHECK(why.find("a warp has all columns of its rows") != std::string::npos);
    }
}
