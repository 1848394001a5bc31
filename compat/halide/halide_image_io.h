#pragma once
#include "HalideBuffer.h"
#include "lang/image_io.h"
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

// Images in files: PNG, PGM and PPM by Tessera's own functions; arrays in .npy, .mat and .tmp files.
namespace Halide::Tools {

namespace Internal {

// The ending of the path decides on the format. Both throw RuntimeError.
tessera::Buffer<> read_image(const std::string &path);
void write_image(const tessera::Buffer<> &image, const std::string &path);

// The type and number of dimensions of what a file of this ending holds.
std::set<std::pair<tessera::Type, int>> forms_of_image(const std::string &path);

// Says what is done where something fails, as a parameter of the functions below: tell by the
// result, or throw RuntimeError.
using CheckFunc = bool (*)(bool condition, const char *message);
inline bool CheckFail(bool condition, const char *message) {
    if (!condition) throw tessera::RuntimeError(message);
    return true;
}
inline bool CheckReturn(bool condition, const char *) { return condition; }
// Returns true if `operation` succeeds.
template<CheckFunc check, typename Operation>
bool checked(Operation operation) {
    try {
        operation();
        return true;
    } catch (const tessera::Error &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return check(false, e.what());
    }
}

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
// Copies the image's newest contents to the host's memory if a device has them.
template<typename From>
tessera::Buffer<> image_of(From &image) {
    if constexpr (!std::is_const_v<From>) image.copy_to_host();
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

// Return false where a file cannot be read or written.
template<typename ImageType, Internal::CheckFunc check = Internal::CheckReturn>
bool load(const std::string &path, ImageType *image) {
    return Internal::checked<check>(
        [&] { *image = Internal::image_as<ImageType>(Internal::read_image(path)); });
}
template<typename ImageType, Internal::CheckFunc check = Internal::CheckReturn>
bool save(ImageType &image, const std::string &path) {
    return Internal::checked<check>(
        [&] { Internal::write_image(Internal::image_of(image), path); });
}
// Says what can be saved in a file of this ending.
template<typename ImageType, Internal::CheckFunc check = Internal::CheckReturn>
bool save_query(const std::string &path, std::set<FormatInfo> *info) {
    return Internal::checked<check>([&] {
        info->clear();
        for (const auto &[type, dimensions] : Internal::forms_of_image(path)) {
            info->insert({halide_type_t(type), dimensions});
        }
    });
}

// Images with elements of another type: integers by the share of their largest value, floats as the
// share itself.
struct ImageTypeConversion {
    template<typename ImageType>
    static auto convert_image(ImageType &src, const halide_type_t &type) {
        tessera::Buffer<> made = tessera::convert_image(Internal::image_of(src), type);
        if constexpr (Internal::is_language_buffer<std::remove_const_t<ImageType>>) {
            return made;
        } else {
            return Runtime::Buffer<>(*made.raw_buffer()).copy();
        }
    }
    template<typename Element, typename ImageType>
    static auto convert_image(ImageType &src) {
        return convert_image(src, halide_type_of<Element>()).template as<Element>();
    }
};

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
// Converts the elements to those of the Buffer.
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
