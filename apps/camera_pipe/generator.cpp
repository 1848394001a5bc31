#include "camera_pipe/pipeline.h"

#include <tessera_generator.h>

namespace tessera::apps {

namespace {

constexpr Camera usual;

class CameraPipeGenerator : public Generator<CameraPipeGenerator> {
public:
    Input<Buffer<uint16_t, 2>> input{"input"};
    Input<Buffer<float, 2>> matrix_warm{"matrix_warm"};
    Input<Buffer<float, 2>> matrix_cool{"matrix_cool"};
    Input<float> warm_kelvin{"warm_kelvin", usual.warm_kelvin};
    Input<float> cool_kelvin{"cool_kelvin", usual.cool_kelvin};
    Input<float> kelvin{"kelvin", usual.kelvin};
    Input<float> gamma{"gamma", usual.gamma};
    Input<float> contrast{"contrast", usual.contrast};
    Input<float> sharpen_strength{"sharpen_strength", usual.sharpen_strength};
    Input<int> black_level{"black_level", usual.black_level};
    Input<int> white_level{"white_level", usual.white_level};
    Output<Buffer<uint8_t, 3>> output{"output"};

    void generate() override {
        CameraPipe pipe(input, {matrix_warm, matrix_cool, warm_kelvin, cool_kelvin, kelvin, gamma,
                                contrast, sharpen_strength, black_level, white_level});
        output = pipe.output;
        if (!using_autoscheduler()) pipe.schedule(get_target());
        set_estimates();
    }

private:
    void set_estimates() {
        input.set_estimates({{0, 2592}, {0, 1968}});
        matrix_warm.set_estimates({{0, 4}, {0, 3}});
        matrix_cool.set_estimates({{0, 4}, {0, 3}});
        warm_kelvin.set_estimate(usual.warm_kelvin);
        cool_kelvin.set_estimate(usual.cool_kelvin);
        kelvin.set_estimate(usual.kelvin);
        gamma.set_estimate(usual.gamma);
        contrast.set_estimate(usual.contrast);
        sharpen_strength.set_estimate(usual.sharpen_strength);
        black_level.set_estimate(usual.black_level);
        white_level.set_estimate(usual.white_level);
        output.set_estimates(
            {{0, 2592 - 2 * Camera::border_x}, {0, 1968 - 2 * Camera::border_y}, {0, 3}});
    }
};

}  // namespace

}  // namespace tessera::apps

TESSERA_REGISTER_GENERATOR(tessera::apps::CameraPipeGenerator, camera_pipe)
