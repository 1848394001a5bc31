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

// Blocks of queries and keys; by wgmma: the slots of a ring buffer of keys and values.
struct Plan {
    int queries, rows, keys, slots = 0;
};
constexpr Plan plans[] = {{128, 32, 64},     {64, 16, 64},     {128, 64, 64, 2}, {128, 64, 64, 4},
                          {128, 64, 128, 2}, {192, 64, 64, 2}, {192, 64, 64, 4}, {192, 64, 128, 2}};

void row(const Plan &plan, const Inputs &inputs, bench::EventClock &clock) {
    const int size = inputs.query.dim(0).extent(), count = inputs.query.dim(1).extent(),
              heads = inputs.query.dim(2).extent();
    ImageParam query(Float(16), 3, "query"), key(Float(16), 3, "key"), value(Float(16), 3, "value");
    query.set(inputs.query), key.set(inputs.key), value.set(inputs.value);
    TensorAttention attention(query, key, value,
                              {.size = size,
                               .causal = inputs.causal,
                               .keys = plan.keys,
                               .queries = plan.queries,
                               .rows = plan.rows},
                              count);
    if (plan.slots > 0)
        attention.schedule_for_hopper(plan.slots);
    else
        attention.schedule();
    Buffer<float16_t> out(size, count, heads);
    const Target target("host-cuda");
    attention.output.realize(out, target);
    const double error = inputs.error_of(out);
    const auto run = [&] { attention.output.realize(out, target); };
    const int calls = std::max(2, int(30000 / clock.microseconds(run, 2)));
    std::vector<double> times;
    for (int i = 0; i < 9; i++) times.push_back(clock.microseconds(run, calls));
    std::sort(times.begin(), times.end());
    const double work = (inputs.causal ? 2.0 : 4.0) * heads * double(count) * count * size;
    std::printf("%5s, %3d queries, %2d of a warp, %3d keys, %d slots: %3d heads of %5d x %3d%s  "
                "%9.1f us %6.0f TFLOP/s  error %.1e%s\n",
                plan.slots > 0 ? "wgmma" : "mma", plan.queries, plan.rows, plan.keys, plan.slots,
                heads, count, size, inputs.causal ? ", causal" : "        ", times[4],
                work / times[4] / 1e6, error, error < 2e-3 ? "" : "  WRONG");
}

void rows(int count, int size, bench::EventClock &clock) {
    constexpr int heads = 64;
    Inputs inputs{random_values({size, count, heads}, 1), random_values({size, count, heads}, 2),
                  random_values({size, count, heads}, 3), false};
    for (const bool causal : {false, true}) {
        inputs.causal = causal;
        for (const Plan &p : plans) {
            if (count % p.queries != 0 || count % p.keys != 0) continue;
            try {
                row(p, inputs, clock);
            } catch (const std::exception &e) {
                std::printf("attention %d %d: %s\n", count, size, e.what());
            }
        }
    }
}

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
        for (int size : {128, 64}) rows(count, size, clock);
    }
    return 0;
}
