// Attention on tensor cores (apps/attention/tensor.h), checked against double precision and timed
// by events: batch 4, 16 heads, 4096 queries and keys, of 128 and 64 components, causal and not.
// Numbers as arguments: other counts of queries and keys.
#include "attention/tensor.h"
#include "gpu/card.h"
#include "tessera.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tessera;
using apps::TensorAttention;

namespace {

Buffer<float16_t> random_values(const std::vector<int> &sizes, unsigned seed) {
    Buffer<float16_t> values(sizes);
    for (size_t i = 0; i < values.number_of_elements(); i++) {
        seed = seed * 1664525U + 1013904223U;
        values.data()[i] = float16_t(float(int(seed >> 8)) / float(1 << 23) - 1);
    }
    values.set_host_dirty();
    values.copy_to_device();
    return values;
}

struct Inputs {
    Buffer<float16_t> query, key, value;
    bool causal;

    // The largest error of some rows of the result.
    double error_of(Buffer<float16_t> &out) const {
        out.copy_to_host();
        const int size = query.dim(0).extent(), count = query.dim(1).extent(),
                  heads = query.dim(2).extent();
        double worst = 0;
        for (int i = 0; i < 40; i++) {
            const int q = int(int64_t(i) * 7919 % count), h = int(int64_t(i) * 104729 % heads);
            std::vector<double> weights(size_t(causal ? q + 1 : count));
            double total = 0;
            for (size_t k = 0; k < weights.size(); k++) {
                double product = 0;
                for (int d = 0; d < size; d++)
                    product += double(float(query(d, q, h))) * double(float(key(d, int(k), h)));
                total += weights[k] = std::exp(product / std::sqrt(double(size)));
            }
            for (int d = 0; d < size; d++) {
                double mean = 0;
                for (size_t k = 0; k < weights.size(); k++)
                    mean += weights[k] / total * double(float(value(d, int(k), h)));
                worst = std::max(worst, std::abs(mean - double(float(out(d, q, h)))));
            }
        }
        return worst;
    }
};

void row(const TensorAttention::Shape &shape, int count, int heads, bench::EventClock &clock) {
    Inputs inputs{random_values({shape.size, count, heads}, 1),
                  random_values({shape.size, count, heads}, 2),
                  random_values({shape.size, count, heads}, 3), shape.causal};
    ImageParam query(Float(16), 3, "query"), key(Float(16), 3, "key"), value(Float(16), 3, "value");
    query.set(inputs.query), key.set(inputs.key), value.set(inputs.value);
    TensorAttention attention(query, key, value, shape, count);
    attention.schedule();
    Buffer<float16_t> out(shape.size, count, heads);
    const Target target("host-cuda");
    attention.output.realize(out, target);
    const double error = inputs.error_of(out);
    const auto run = [&] { attention.output.realize(out, target); };
    const int calls = std::max(2, int(50000 / clock.microseconds(run, 2)));
    std::vector<double> times;
    for (int i = 0; i < 11; i++) times.push_back(clock.microseconds(run, calls));
    std::sort(times.begin(), times.end());
    const double work = (shape.causal ? 2.0 : 4.0) * heads * double(count) * count * shape.size;
    std::printf(
        "mma, %3d queries, %2d of a warp, %3d keys: %3d heads of %5d x %3d%s  %9.1f us %6.0f "
        "TFLOP/s  error %.1e%s\n",
        shape.queries, shape.rows, shape.keys, heads, count, shape.size,
        shape.causal ? ", causal" : "        ", times[5], work / times[5] / 1e6, error,
        error < 2e-3 ? "" : "  WRONG");
}

// Blocks of queries and keys.
struct Plan {
    int queries, rows, keys;
};
constexpr Plan plans[] = {{128, 32, 64}, {64, 16, 64}, {256, 32, 64}};

}  // namespace

int main(int argc, char **argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (!host_supports_target_device(Target("host-cuda"))) {
        std::printf("this machine has no GPU that pipelines can run on\n");
        return 1;
    }
    std::printf("%s\n", bench::name_of_card().c_str());
    bench::EventClock clock;
    std::vector<int> counts = {4096};
    if (argc > 1) counts.clear();
    for (int i = 1; i < argc; i++) counts.push_back(int(std::strtol(argv[i], nullptr, 10)));
    for (int count : counts) {
        for (int size : {128, 64}) {
            for (bool causal : {false, true}) {
                for (const Plan &p : plans) {
                    try {
                        row({.size = size,
                             .causal = causal,
                             .keys = p.keys,
                             .queries = p.queries,
                             .rows = p.rows},
                            count, 64, clock);
                    } catch (const std::exception &e) {
                        std::printf("attention %d %d: %s\n", count, size, e.what());
                    }
                }
            }
        }
    }
    return 0;
}
