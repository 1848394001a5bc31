#include "resize/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

std::map<std::string, ResizeKernel> kernels_by_name() {
    std::map<std::string, ResizeKernel> kernels;
    for (ResizeKernel kernel : resize_kernels) kernels[name_of(kernel)] = kernel;
    return kernels;
}

class ResizeGenerator : public Generator<ResizeGenerator> {
public:
    GeneratorParam<ResizeKernel> kernel{"kernel", ResizeKernel::Cubic, kernels_by_name()};
    GeneratorParam<bool> enlarge{"enlarge", true};
    Input<Buffer<void, 3>> input{"input"};  // of the type that input.type= says
    Input<float> factor{"factor", 2.5f};
    Output<Buffer<void, 3>> output{"output"};

    void generate() override {
        Resize resize(input, input.width(), input.height(), factor, kernel, enlarge);
        output = resize.output;
        if (!using_autoscheduler()) resize.schedule(get_target());
        add_requirement(enlarge ? factor >= 1.0f : factor > 0.0f && factor <= 1.0f,
                        "the factor is not one that enlarge=", enlarge ? "true" : "false",
                        " is for");
        const int width = enlarge ? 3840 : 614, height = enlarge ? 6400 : 1024;
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        factor.set_estimate(enlarge ? 2.5f : 0.4f);
        output.set_estimates({{0, width}, {0, height}, {0, 3}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::ResizeGenerator, resize)
