#include "Halide.h"

class Threshold : public Halide::Generator<Threshold> {
public:
    GeneratorParam<int> limit{"limit", 128, 0, 255};
    Input<Buffer<uint8_t, 1>> input{"input"};
    Output<Buffer<uint8_t, 1>> output{"output"};

    void generate() {
        Var x("x");
        output(x) = Halide::select(input(x) < limit, Halide::cast<uint8_t>(0), input(x));
        output.vectorize(x, natural_vector_size<uint8_t>(), TailStrategy::GuardWithIf);
    }
};
HALIDE_REGISTER_GENERATOR(Threshold, threshold)
