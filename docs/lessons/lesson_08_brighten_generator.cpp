// Lesson 8, first part: ahead of time, the generator.
//
// A generator is a pipeline with parameters, inputs and outputs. This program compiles it to a
// library and a header, which programs without a compiler use: lesson_08_ahead_of_time.cpp.
#include <tessera_generator.h>

using namespace tessera;

class Brighten : public Generator<Brighten> {
public:
    GeneratorParam<int> vector_size{"vector_size", 16, 1, 64};
    Input<Buffer<uint8_t, 2>> input{"input"};
    Input<float> factor{"factor", 1.0f, 0.0f, 8.0f};
    Output<Buffer<uint8_t, 2>> output{"output"};

    void generate() override { output(x, y) = u8_sat(input(x, y) * factor); }
    void schedule() override { output.vectorize(x, vector_size).parallel(y, 8); }

private:
    Var x{"x"}, y{"y"};
};
TESSERA_REGISTER_GENERATOR(Brighten, brighten)
