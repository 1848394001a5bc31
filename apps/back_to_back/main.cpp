// Runs the sixteen programs and checks what they compute: at full size on a GPU, or small ones by
// the interpreter where there is none. Arguments: parts of the names of those that are run.
#include "back_to_back/run.h"

#include <cstdio>

using namespace tessera;
using namespace tessera::apps;

namespace {

template<typename Element> bool run(const ChainProgram &program, bool has_gpu) {
    const Target target("host-jit-cuda-cuda_capability_" + std::to_string(program.capability) +
                        (has_gpu ? "" : "-interpret"));
    ChainRun<Element> chain(program, has_gpu ? ChainSizes() : small_sizes(program));
    chain.realize(target);
    const int64_t wrong = chain.wrong(2000);
    std::printf("%-32s %s\n", program.name, wrong == 0 ? "right" : "WRONG");
    return wrong == 0;
}

}  // namespace

int main(int argc, char **argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const bool has_gpu = host_supports_target_device(Target("host-cuda"));
    bool all_right = true;
    for (const std::vector<ChainProgram> &programs : {chain_programs(), hopper_programs()}) {
        for (const ChainProgram &program : programs) {
            if (!has_parts(program.name, argc, argv)) continue;
            all_right &= program.bits == 16 ? run<float16_t>(program, has_gpu)
                                            : run<int8_t>(program, has_gpu);
        }
    }
    return all_right ? 0 : 1;
}
