// The box blur by tiles of eight rows: Halide has no stores past the caches, which want more.
#include "blur/pipeline.h"

#include <tessera_generator.h>

namespace tessera::best {

namespace {

class BlurGenerator : public Generator<BlurGenerator> {
public:
    Input<Buffer<uint16_t, 2>> input{"input"};
    Output<Buffer<uint16_t, 2>> output{"output"};

    void generate() override {
        apps::Blur blur(input);
        output = blur.output;
        const int vector = get_target().natural_vector_size<uint16_t>();
        Var xi("xi"), yi("yi"), strip("strip");
        blur.output.tile(blur.x, blur.y, xi, yi, vector, 8)
            .vectorize(xi)
            .unroll(yi)
            .split(blur.y, strip, blur.y, 16, TailStrategy::GuardWithIf)
            .parallel(strip);
        blur.blur_x.compute_at(blur.output, blur.x).vectorize(blur.x).unroll(blur.y);
        input.set_estimates({{0, 6466}, {0, 4818}});
        output.set_estimates({{0, 6464}, {0, 4816}});
    }
};

}  // namespace

}  // namespace tessera::best

TESSERA_REGISTER_GENERATOR(tessera::best::BlurGenerator, blur_best)
