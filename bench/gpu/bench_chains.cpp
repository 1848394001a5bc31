// Two products, or convolutions, in one kernel (apps/back_to_back): each is checked at full size
// and timed, the products beside two calls of cuBLAS, which have no relu. Arguments: parts of the
// names of those that are run.
#include "back_to_back/run.h"
#include "gpu/card.h"
#include "gpu/cublas.h"

#include <cstdio>

using namespace tessera;
using namespace tessera::apps;
using tessera::bench::Cublas;

namespace {

double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

// Two calls, of buffers of the same sizes.
std::function<void()> two_calls(Cublas &cublas, ChainRun<float16_t> &chain,
                                Buffer<float16_t> &between, Buffer<float16_t> &result) {
    const ChainSizes z = chain.sizes;
    const auto at = [](Buffer<float16_t> &b) { return b.raw_buffer()->device; };
    return [&cublas, &chain, &between, &result, z, at] {
        cublas.gemm_f16(z.rows, z.columns0, z.sum, at(chain.a0), at(chain.b0), true, at(between));
        cublas.gemm_f16(z.rows, z.columns1, z.columns0, at(between), at(chain.b1), true,
                        at(result));
    };
}

template<typename Element>
void row(const ChainProgram &program, const ChainSizes &sizes, Cublas &cublas,
         bench::EventClock &clock) {
    const Target target("host-jit-cuda-cuda_capability_" + std::to_string(program.capability));
    ChainRun<Element> chain(program, sizes);
    chain.realize(target);
    const int64_t wrong = chain.wrong(4000);
    const auto ours = [&] { chain.realize(target); };
    std::function<void()> theirs;
    Buffer<float16_t> between, result;
    if constexpr (std::is_same_v<Element, float16_t>) {
        if (!program.is_convolution && cublas.is_there()) {
            between = Buffer<float16_t>(chain.sizes.columns0, sizes.rows);
            result = Buffer<float16_t>(chain.sizes.columns1, sizes.rows);
            between.device_malloc();
            result.device_malloc();
            theirs = two_calls(cublas, chain, between, result);
        }
    }
    std::vector<double> times, vendor_times;
    for (int i = 0; i < 25; i++) {
        times.push_back(clock.microseconds(ours, 20));
        if (theirs) vendor_times.push_back(clock.microseconds(theirs, 20));
    }
    std::printf("%-40s %4d columns %8.1f us", program.name, chain.sizes.columns1, median(times));
    if (theirs)
        std::printf("   two calls of cuBLAS %8.1f us  ratio %.3f", median(vendor_times),
                    median(vendor_times) / median(times));
    std::printf("   %s\n", wrong == 0 ? "right" : "WRONG");
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
    Cublas cublas;
    for (const std::vector<ChainProgram> &programs : {chain_programs(), hopper_programs()}) {
        for (const ChainProgram &program : programs) {
            if (!has_parts(program.name, argc, argv)) continue;
            try {
                ChainSizes sizes;
                sizes.adds_c1 = program.capability < 90;
                program.bits == 16 ? row<float16_t>(program, sizes, cublas, clock)
                                   : row<int8_t>(program, sizes, cublas, clock);
            } catch (const std::exception &e) {
                std::printf("%-40s %s\n", program.name, e.what());
            }
        }
    }
    return 0;
}
