#include "Halide.h"
#include "mix.stub.h"
#include "negative.stub.h"
#include "sharpen.stub.h"

// A generator that calls another one by its stub.
using namespace Halide;

namespace {

class StubUser : public Generator<StubUser> {
public:
    GeneratorParam<int> radius{"radius", 3};
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<uint8_t, 2>> output{"output"};
    Output<Func> sharpened{"sharpened", Float(32), 2};

    void generate() {
        photo::stubs::sharpen_stub::Inputs inputs;
        inputs.input = BoundaryConditions::repeat_edge(input);
        inputs.amount = 2.0f;
        photo::stubs::sharpen_stub::GeneratorParams params;
        params.radius = radius;
        params.blur_at = level;
        auto sharp = photo::stubs::sharpen_stub::generate(context(), inputs, params);
        Func bytes("bytes");
        bytes(x, y) = saturating_cast<uint8_t>(sharp.output(x, y));
        Func opposite = negative::generate(context(), {bytes.in()});
        output(x, y) = opposite(x, y);
        sharpened = sharp.output;
    }
    void schedule() { level.set(LoopLevel::root()); }

private:
    Var x{"x"}, y{"y"};
    LoopLevel level;
};

}  // namespace

HALIDE_REGISTER_GENERATOR(StubUser, stub_user)
