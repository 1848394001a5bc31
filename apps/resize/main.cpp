#include "common/compare.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/run.h"
#include "resize/reference.h"

#include <string>

using namespace tessera::apps;

namespace {

constexpr float factors[] = {2.5f, 0.4f};

template<typename T>
Image<T> resized_by(Image<T> &picture, float by, ResizeKernel kernel, const std::string &type,
                    const Options &options) {
    Image<T> result(int(float(picture.width()) * by), int(float(picture.height()) * by), 3);
    const std::string params = "input.type=" + type + " kernel=" + name_of(kernel) +
                               " enlarge=" + (by > 1 ? "true" : "false");
    run_timed({"resize", params}, {as_buffer(picture, 3), by, as_buffer(result, 3)}, options);
    // An integer may be rounded either way.
    const double close = std::is_floating_point_v<T> ? 1e-5 : 1;
    if (options.check) check_close(result, resize_reference(picture, by, kernel), {close, 0});
    return result;
}

void paste(const Image<float> &from, int left, int width, Image<float> &to, int x, int y) {
    for (int c = 0; c < 3; c++) {
        for_each_pixel(width, from.height(),
                       [&](int i, int j) { to(x + i, y + j, c) = from(left + i, j, c); });
    }
}

// The enlarged picture, a quarter of it by each kernel; below, it made smaller by each.
class Overview {
public:
    Overview(int width, int height)
        : large_width(int(float(width) * factors[0])),
          large_height(int(float(height) * factors[0])),
          all(large_width, large_height + int(float(height) * factors[1]), 3) {}

    void add(const Image<float> &picture, int number) {
        const int quarter = large_width / 4;
        if (picture.width() == large_width) {
            const int width = number == 3 ? large_width - 3 * quarter : quarter;
            paste(picture, number * quarter, width, all, number * quarter, 0);
        } else {
            paste(picture, 0, std::min(picture.width(), quarter), all, number * quarter,
                  large_height);
        }
    }
    const Image<float> &picture() const { return all; }

private:
    int large_width, large_height;
    Image<float> all;
};

template<typename T> Image<float> run_type(const std::string &type, const Options &options) {
    Image<T> picture = load_picture<T>(options, 3);
    Overview overview(picture.width(), picture.height());
    for (ResizeKernel kernel : resize_kernels) {
        for (float factor : factors) {
            Options named = options;
            named.app = "resize " + type + " " + name_of(kernel);
            Image<T> result = resized_by(picture, factor, kernel, type, named);
            overview.add(converted<float>(result), int(kernel));
        }
    }
    return overview.picture();
}

void run(const Options &options) {
    run_type<uint8_t>("uint8", options);
    run_type<uint16_t>("uint16", options);
    save_picture(run_type<float>("float32", options), options);
}

}  // namespace

int main(int argc, char **argv) {
    return run_app(
        {.name = "resize", .description = "A picture 2.5 and 0.4 times as large, by four kernels"},
        argc, argv, run);
}
