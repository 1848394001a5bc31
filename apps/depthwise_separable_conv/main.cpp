#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "common/scattered.h"
#include "depthwise_separable_conv/reference.h"

using namespace tessera::apps;

namespace {

constexpr int channels = depthwise_channels, outputs = 16, images = 4;

Image<float> scattered_image(Image<float> image, uint32_t seed) {
    for (size_t i = 0; i < image.size(); i++) {
        image.data()[i] = scattered(seed + uint32_t(i));
    }
    return image;
}

// The three colours of the picture first, then values without pattern.
Image<float> make_input(const Image<float> &picture) {
    Image<float> input =
        scattered_image(Image<float>(channels, picture.width(), picture.height(), images), 1);
    for (int n = 0; n < images; n++) {
        for_each_pixel(picture.width(), picture.height(), [&](int x, int y) {
            for (int c = 0; c < 3; c++) input(c, x, y, n) = picture(x, y, c);
        });
    }
    return input;
}

// The edges of the three colours in the first three channels, of each alone.
void find_edges(Image<float> &depthwise, Image<float> &pointwise) {
    for (int c = 0; c < 3; c++) {
        for_each_pixel(3, 3, [&](int i, int j) { depthwise(c, i, j) = -1; });
        depthwise(c, 1, 1) = 8;
        for (int d = 0; d < channels; d++) pointwise(c, d) = c == d ? 1.0f : 0.0f;
    }
}

void run(const Options &options) {
    Image<float> input = make_input(load_picture<float>(options, 3));
    Image<float> depthwise = scattered_image(Image<float>(channels, 3, 3), 1000);
    Image<float> pointwise = scattered_image(Image<float>(outputs, channels), 2000);
    Image<float> bias = scattered_image(Image<float>(outputs), 3000);
    find_edges(depthwise, pointwise);
    Image<float> result(outputs, options.width, options.height, images);

    Times times = run_timed({"depthwise_separable_conv"},
                            {as_buffer(input, 4), as_buffer(depthwise, 3), as_buffer(pointwise, 2),
                             as_buffer(bias, 1), as_buffer(result, 4)},
                            options);
    double work =
        2.0 * (9 * channels + channels * outputs) * options.width * options.height * images;
    std::printf("depthwise_separable_conv: %.1f GFLOP/s\n", work / times.best / 1e6);
    if (options.check) {
        check_close(result, depthwise_separable_conv_reference(input, depthwise, pointwise, bias),
                    {1e-4, 1e-5});
    }

    Image<float> edges(options.width, options.height, 3);
    for (int c = 0; c < 3; c++) {
        for_each_pixel(edges.width(), edges.height(),
                       [&](int x, int y) { edges(x, y, c) = result(c, x, y, 0); });
    }
    save_picture(edges, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "depthwise_separable_conv",
                    .description = "A 3x3 layer channel by channel, then one over all channels; "
                                   "writes the edges it finds",
                    .default_size = "112x112"},
                   argc, argv, run);
}
