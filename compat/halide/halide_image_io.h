#pragma once
#include "HalideBuffer.h"
#include "lang/image_io.h"
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

// Images in files: PNG, PGM and PPM by Tessera's own functions, arrays in .npy files.
namespace Halide::Tools {

namespace Internal {

// By the ending of the path. Throw RuntimeError.
tessera::Buffer<> read_image(const std::string &path);
void write_image(const tessera::Buffer<> &image, const std::string &path);

template<typename B>
constexpr bool is_language_buffer = requires(const B &b) { b.shared_contents(); };

// The same elements as another kind of Buffer.
template<typename To>
To image_as(const tessera::Buffer<> &image) {
    if constexpr (is_language_buffer<To>) {
        return To(image);
    } else {
        if (!To().can_convert_from(Runtime::Buffer<>(*image.raw_buffer()))) {
            throw tessera::RuntimeError("the image in the file has another type or number of "
                                        "dimensions than the Buffer for it");
        }
        return To(Runtime::Buffer<>(*image.raw_buffer()).copy());
    }
}
template<typename From>
tessera::Buffer<> image_of(From &image) {
    if constexpr (is_language_buffer<std::remove_const_t<From>>) {
        return tessera::Buffer<>(image);
    } else {
        return tessera::Buffer<>(*image.raw_buffer());
    }
}
template<typename To>
constexpr tessera::Type element_of_image() {
    return tessera::type_of<std::remove_const_t<typename To::ElemType>>();
}

}  // namespace Internal

struct FormatInfo {
    halide_type_t type;
    int dimensions;
    bool operator<(const FormatInfo &o) const {
        return type < o.type || (type == o.type && dimensions < o.dimensions);
    }
};

// Return false, or end the program, where a file cannot be read or written.
template<typename ImageType>
bool load(const std::string &path, ImageType *image) {
    try {
        *image = Internal::image_as<ImageType>(Internal::read_image(path));
        return true;
    } catch (const tessera::Error &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return false;
    }
}
template<typename ImageType>
bool save(ImageType &image, const std::string &path) {
    try {
        Internal::write_image(Internal::image_of(image), path);
        return true;
    } catch (const tessera::Error &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return false;
    }
}

// Buffer<uint8_t> image = load_image("photo.png");
class load_image {
public:
    explicit load_image(const std::string &path) : path(path) {}
    template<typename ImageType>
    operator ImageType() const {
        return Internal::image_as<ImageType>(Internal::read_image(path));
    }

private:
    const std::string path;
};
// With the elements converted to those of the Buffer.
class load_and_convert_image {
public:
    explicit load_and_convert_image(const std::string &path) : path(path) {}
    template<typename ImageType>
    operator ImageType() const {
        return Internal::image_as<ImageType>(tessera::convert_image(
            Internal::read_image(path), Internal::element_of_image<ImageType>()));
    }

private:
    const std::string path;
};
template<typename ImageType>
void save_image(ImageType &image, const std::string &path) {
    Internal::write_image(Internal::image_of(image), path);
}
template<typename ImageType>
void convert_and_save_image(ImageType &image, const std::string &path) {
    tessera::convert_and_save_image(Internal::image_of(image), path);
}

}  // namespace Halide::Tools
