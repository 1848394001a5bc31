// Describes what a camera knows of itself, shared by the pipeline, its reference and the sampler.
#pragma once

namespace tessera::apps {

struct Camera {
    // Camera colours to display colours: three rows of three factors and an offset, for warm and
    // for cool light. White stays white: each row takes its own gain and the black level's share.
    float matrix_warm[3][4] = {{1.70f, -0.36f, -0.14f, -5.0f},
                               {-0.30f, 1.62f, -0.32f, 0.0f},
                               {-0.10f, -0.86f, 2.86f, -22.5f}};
    float matrix_cool[3][4] = {{2.38f, -0.54f, -0.09f, -18.75f},
                               {-0.26f, 1.50f, -0.24f, 0.0f},
                               {-0.04f, -0.44f, 1.68f, -5.0f}};
    float warm_kelvin = 3200, cool_kelvin = 7000;

    float kelvin = 3700;  // of the light in which the picture was taken
    float gamma = 2.0f;
    float contrast = 50.0f;
    float sharpen_strength = 1.0f;
    int black_level = 25;    // raw value of no light
    int white_level = 1023;  // raw value of a full sensor

    static constexpr int border_x = 16, border_y = 12;  // raw pixels lost on each side
};

}  // namespace tessera::apps
