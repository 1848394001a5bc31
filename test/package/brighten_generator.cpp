#include <tessera_generator.h>
using namespace tessera;

class Brighten : public Generator<Brighten> {
public:
    GeneratorParam<int> vector_size{"vector_size", 16, 1, 64};
    Input<Buffer<uint8_t, 2>> input{"input"};
    Input<float> factor{"factor", 1.0f, 0.0f, 8.0f};
    Output<Buffer<uint8_t, 2>> output{"output"};

    void generate() override { output(x, y) = u8_sat(input(x, y) * factor); }
    void schedule() override {
        if (!using_autoscheduler()) output.vectorize(x, vector_size).parallel(y, 8);
    }

private:
    Var x{"x"}, y{"y"};
};
TESSERA_REGISTER_GENERATOR(Brighten, brighten)
