// Attention with an online softmax, whose maximum and total are scans in the loop over the keys: by
// machine code, by the interpreter of kernels, as PTX, and on a GPU where there is one.
#include "attention/online.h"
#include "device_code.h"
#include <cmath>
#include <doctest/doctest.h>

using namespace tessera;
using apps::OnlineAttention;

namespace {

Buffer<float> random_values(const std::vector<int> &sizes, unsigned seed) {
    Buffer<float> values(sizes);
    values.for_each_value([&](float &v) {
        seed = seed * 1664525U + 1013904223U;
        v = float(int(seed >> 8) % 2001 - 1000) / 500;
    });
    return values;
}

struct Problem {
    OnlineAttention::Shape shape;
    int queries, heads;
    Buffer<float> query = random_values({shape.size, queries, heads}, 1),
                  key = random_values({shape.size, queries, heads / shape.group}, 2),
                  value = random_values({shape.size, queries, heads / shape.group}, 3);

    // The weights of the keys for one query, in double precision.
    std::vector<double> weights(int q, int h) const {
        std::vector<double> all(size_t(shape.causal ? q + 1 : queries));
        double largest = -INFINITY, total = 0;
        for (size_t k = 0; k < all.size(); k++) {
            for (int d = 0; d < shape.size; d++)
                all[k] += double(query(d, q, h)) * double(key(d, int(k), h / shape.group));
            all[k] /= std::sqrt(double(shape.size));
            largest = std::max(largest, all[k]);
        }
        for (double &w : all) total += w = std::exp(w - largest);
        for (double &w : all) w /= total;
        return all;
    }

    double error_of(const Buffer<float> &out) const {
        double worst = 0;
        for (int h = 0; h < heads; h++) {
            for (int q = 0; q < queries; q++) {
                const std::vector<double> w = weights(q, h);
                for (int d = 0; d < shape.size; d++) {
                    double mean = 0;
                    for (size_t k = 0; k < w.size(); k++)
                        mean += w[k] * double(value(d, int(k), h / shape.group));
                    worst = std::max(worst, std::fabs(mean - double(out(d, q, h))));
                }
            }
        }
        return worst;
    }

    // Returns the text after storage has been folded, or the error of a run.
    void check(const Target &target) const {
        CAPTURE(target.to_string());
        CAPTURE(shape.size);
        CAPTURE(shape.causal);
        ImageParam a(Float(32), 3, "a"), b(Float(32), 3, "b"), c(Float(32), 3, "c");
        a.set(query), b.set(key), c.set(value);
        OnlineAttention attention(a, b, c, shape, b.dim(1).extent());
        attention.schedule(target);
        Buffer<float> out(shape.size, queries, heads);
        attention.output.realize(out, target);
        out.copy_to_host();
        CHECK(error_of(out) < 1e-5);
    }
};

}  // namespace

TEST_SUITE("attention with an online softmax") {
    TEST_CASE("agrees with double precision, causal and not, with grouped queries") {
        for (bool causal : {false, true}) {
            Problem{{64, 1, causal, 64}, 130, 2}.check(get_host_target());
            Problem{{128, 4, causal, 32}, 100, 4}.check(get_host_target());
        }
    }
    TEST_CASE("so do its kernels") {
        std::vector<Target> targets = {Target("host-jit-cuda-cuda_capability_90-interpret")};
        const Target gpu("host-jit-cuda");
        if (host_supports_target_device(gpu)) targets.push_back(gpu);
        for (const Target &target : targets) {
            for (bool causal : {false, true}) {
                Problem{{16, 1, causal, 16}, 40, 2}.check(target);
                Problem{{32, 2, causal, 32}, 70, 2}.check(target);
            }
        }
    }
    TEST_CASE("ptxas takes the kernels") {
        ImageParam a(Float(32), 3, "a"), b(Float(32), 3, "b"), c(Float(32), 3, "c");
        OnlineAttention attention(a, b, c, {64, 1, true, 64}, b.dim(1).extent());
        attention.schedule(Target("x86-64-linux-cuda-cuda_capability_90"));
        test::check_assembled(test::ptx_of(attention.output, 90), 90);
    }
}
