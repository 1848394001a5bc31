#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "common/scattered.h"
#include "conv_layer/reference.h"

using namespace tessera::apps;

namespace {

constexpr int channels = conv_layer_channels, images = 5;

// The three colours of the picture in turn, for each image from one more pixel to the right.
Image<float> make_input(const Image<float> &picture) {
    Image<float> input(channels, picture.width(), picture.height(), images);
    for (int n = 0; n < images; n++) {
        for_each_pixel(picture.width(), picture.height(), [&](int x, int y) {
            for (int ci = 0; ci < channels; ci++) {
                input(ci, x, y, n) = picture.clamped(x + n, y, ci % 3);
            }
        });
    }
    return input;
}

// Small weights of either sign; the first three channels find the edges of one colour each.
Image<float> make_filter() {
    Image<float> filter(channels, channels, 9);
    for (size_t i = 0; i < filter.size(); i++) {
        filter.data()[i] = 0.05f * scattered(uint32_t(i));
    }
    for (int colour = 0; colour < 3; colour++) {
        for (int ci = 0; ci < channels; ci++) {
            for (int tap = 0; tap < 9; tap++) {
                filter(colour, ci, tap) = ci != colour ? 0.0f : tap == 4 ? 8.0f : -1.0f;
            }
        }
    }
    return filter;
}

void run(const Options &options) {
    Options with_border = options;
    with_border.width += 2;
    with_border.height += 2;
    Image<float> input = make_input(load_picture<float>(with_border, 3));
    Image<float> filter = make_filter(), bias(channels);
    for (int co = 3; co < channels; co++) bias(co) = scattered(uint32_t(co));
    Image<float> result(channels, options.width, options.height, images);

    Image<float> taps(channels, channels, 3, 3);  // the same filter, as the pipeline takes it
    std::copy_n(filter.data(), filter.size(), taps.data());
    Times times = run_timed(
        {"conv_layer"},
        {as_buffer(input, 4), as_buffer(taps, 4), as_buffer(bias, 1), as_buffer(result, 4)},
        options);
    double work = 2.0 * 9 * channels * double(result.size());
    std::printf("conv_layer: %.1f GFLOP/s\n", work / times.best / 1e6);
    if (options.check) check_close(result, conv_layer_reference(input, filter, bias), {1e-3, 1e-4});

    Image<float> edges(options.width, options.height, 3);
    for (int c = 0; c < 3; c++) {
        for_each_pixel(edges.width(), edges.height(),
                       [&](int x, int y) { edges(x, y, c) = result(c, x, y, 0); });
    }
    save_picture(edges, options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app({.name = "conv_layer",
                    .description = "A layer of 128 to 128 channels; writes the edges it finds",
                    .default_size = "100x80"},
                   argc, argv, run);
}
