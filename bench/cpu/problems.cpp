#include "cpu/problems.h"
#include "cpu/product_problems.h"
#include "cpu/row_problems.h"

namespace tessera::bench {

namespace {

const Type f32 = Float(32), u16 = UInt(16), u8 = UInt(8);

Problem convolution() {
    const int channels = 128, width = 100, height = 80, count = 5;
    return {.name = "conv 3x3",
            .size = "N5 128->128 100x80",
            .generator = "conv_layer",
            .inputs = {{"input", f32, {channels, width + 2, height + 2, count}},
                       {"filter", f32, {channels, channels, 3, 3}},
                       {"bias", f32, {channels}}},
            .output = {"output", f32, {channels, width, height, count}},
            .operations = 2.0 * 9 * channels * channels * width * height * count,
            .tolerance = 1e-5,
            .bar = 0.98};
}

Problem depthwise_separable() {
    const int channels = 32, out = 16, size = 112, count = 4;
    return {.name = "depthwise + pointwise",
            .size = "N4 32->16 112x112",
            .generator = "depthwise_separable_conv",
            .inputs = {{"input", f32, {channels, size, size, count}},
                       {"depthwise_filter", f32, {channels, 3, 3}},
                       {"pointwise_filter", f32, {out, channels}},
                       {"bias", f32, {out}}},
            .output = {"output", f32, {out, size, size, count}},
            .operations = 2.0 * size * size * count * channels * (9 + out),
            .tolerance = 1e-5,
            .bar = 1.15};
}

// A picture to a picture of the same type.
Problem picture(const char *name, const char *generator, Type type, std::vector<int> size,
                double bar) {
    std::string sizes;
    for (int s : size) sizes += (sizes.empty() ? "" : "x") + std::to_string(s);
    return {.name = name,
            .size = sizes,
            .generator = generator,
            .inputs = {{"input", type, size}},
            .output = {"output", type, size},
            .tolerance = type.is_float() ? 1e-4 : 1,
            .bar = bar};
}

Problem blur(const char *name, const char *generator, Type type, int width, int height) {
    Problem p = picture(name, generator, type, {width, height}, 1.1);
    p.inputs[0].extents = {width + 2, height + 2};
    return p;
}

Problem with_scalars(Problem p, std::map<std::string, double> scalars) {
    p.scalars = std::move(scalars);
    return p;
}

Problem slow(Problem p) {
    p.quick = false;
    return p;
}

Problem harris() {
    Problem p = picture("harris", "harris", f32, {1536, 2560, 3}, 1.2);
    p.output = {"output", f32, {1530, 2554}, {3, 3}};
    p.tolerance = 1e-3;
    return p;
}

Problem camera_pipe() {
    return {.name = "camera_pipe",
            .size = "2592x1968",
            .generator = "camera_pipe",
            .inputs = {{"input", u16, {2592, 1968}},
                       {"matrix_warm", f32, {4, 3}},
                       {"matrix_cool", f32, {4, 3}}},
            .scalars = {{"warm_kelvin", 3200},
                        {"cool_kelvin", 7000},
                        {"kelvin", 3700},
                        {"gamma", 2},
                        {"contrast", 50},
                        {"sharpen_strength", 1},
                        {"black_level", 25},
                        {"white_level", 1023}},
            .output = {"output", u8, {2592 - 32, 1968 - 24, 3}},
            .tolerance = 2,
            .bar = 1.1};
}

Problem interpolate() {
    Problem p = picture("interpolate", "interpolate", f32, {1536, 2560, 4}, 1.1);
    p.output.extents = {1536, 2560, 3};
    return p;
}

// A pixel whose brightness rounds the other way takes another detail from the table, which is 256
// steps between two levels long.
Problem local_laplacian(const std::vector<int> &photo) {
    const double alpha = 1.0 / 7;
    Problem p = with_scalars(picture("local_laplacian", "local_laplacian", u16, photo, 1.3),
                             {{"levels", 8}, {"alpha", alpha}, {"beta", 1}});
    p.tolerance = 4 * alpha * 65535 / 256;
    return p;
}

Problem resize() {
    Problem p = picture("resize", "resize", f32, {1536, 2560, 3}, 1.1);
    p.params = "kernel=cubic enlarge=true input.type=float32";
    p.scalars = {{"factor", 2.5}};
    p.output.extents = {3840, 6400, 3};
    return p;
}

}  // namespace

std::vector<Problem> problems() {
    const std::vector<int> photo = {1536, 2560, 3};
    std::vector<Problem> all = product_problems();
    for (Problem &p : std::vector<Problem>{
             convolution(),
             depthwise_separable(),
             blur("blur u16", "blur", u16, 6464, 4816),
             blur("blur f32", "blur_f32", f32, 1536, 2560),
             picture("unsharp", "unsharp", f32, photo, 1.2),
             harris(),
             with_scalars(picture("bilateral_grid", "bilateral_grid", f32, {1536, 2560}, 1.3),
                          {{"range", 0.1}}),
             local_laplacian(photo),
             camera_pipe(),
             slow(
                 with_scalars(picture("nl_means", "nl_means", f32, photo, 1.1), {{"sigma", 0.12}})),
             interpolate(),
             picture("stencil_chain", "stencil_chain", u16, {1536, 2560}, 1.1),
             picture("hist", "hist", u8, photo, 1.1),
             with_scalars(picture("iir_blur", "iir_blur", f32, photo, 1.1), {{"alpha", 0.1}}),
             picture("max_filter", "max_filter", f32, photo, 1.1),
             resize(),
         }) {
        all.push_back(std::move(p));
    }
    for (Problem &p : row_problems()) all.push_back(std::move(p));
    return all;
}

}  // namespace tessera::bench
