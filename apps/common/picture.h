// Pictures of the apps: PNG files to plain memory and back, at the size and type an app wants.
// Nothing here needs the compiler, as programs that run what was compiled before have none.
#pragma once

#include "common/image.h"
#include "common/options.h"

#include <limits>
#include <type_traits>

namespace tessera::apps {

// `options.input` in [0, 1], resized to the size that the options ask for. If `channels` is 3, grey
// is repeated and alpha dropped; if 0, all are kept.
Image<float> load_floats(const Options &options, int channels);

// `picture` in [0, 1] written to `options.output` with 8 or 16 bits, if there is an output.
void save_as(const Image<float> &picture, int bits, const Options &options);

// The picture with bilinear samples at another size.
Image<float> resized(const Image<float> &picture, int width, int height);

// Its luminance, for apps that take one channel.
Image<float> grey(const Image<float> &picture);

// The largest value of a picture's type: what 1 is as a float.
template<typename T> constexpr float white() {
    return std::is_floating_point_v<T> ? 1.0f : float(std::numeric_limits<T>::max());
}

template<typename To, typename From> Image<To> converted(const Image<From> &image) {
    Image<To> result(image.width(), image.height(), image.channels(), image.count());
    const float scale = white<To>() / white<From>();
    const float round = std::is_floating_point_v<To> ? 0.0f : 0.5f;
    for (size_t i = 0; i < image.size(); i++) {
        float value = std::clamp(float(image.data()[i]) * scale, 0.0f, white<To>());
        result.data()[i] = To(value + (value < white<To>() ? round : 0.0f));
    }
    return result;
}

template<typename T> Image<T> load_picture(const Options &options, int channels = 0) {
    return converted<T>(load_floats(options, channels));
}

// Integers are written as they are, floats with 8 bits.
template<typename T> void save_picture(const Image<T> &picture, const Options &options) {
    save_as(converted<float>(picture), sizeof(T) == 2 ? 16 : 8, options);
}

}  // namespace tessera::apps
