#include "lang/image_io.h"
#include "base/error.h"
#include "base/str.h"
#include "files/format.h"
#include "files/formats.h"
#include <cstring>
#include <limits>
#include <new>

namespace tessera {

namespace {

// Converts the image to what the file will hold: 8 or 16 bits, three dimensions.
Buffer<> writable(const Buffer<> &given) {
    Buffer<> image = given;
    Type type = image.type();
    if (type.is_float()) image = convert_image(image, UInt(16));
    if (!type.is_float() && type != UInt(8) && type != UInt(16)) {
        throw RuntimeError(str("images of ", type,
                               " are not written; convert it to uint8, uint16 or ",
                               "float32 first"));
    }
    if (image.dimensions() == 2) return image.embedded(2);
    if (image.dimensions() == 3) return image;
    throw RuntimeError(
        str("an image has 2 or 3 dimensions, but the buffer has ", image.dimensions()));
}

Buffer<> read_image(const std::string &path) {
    files::Array image = files::read_file(path, files::picture_formats());
    Buffer<> result(UInt(image.type.bits), image.extents);
    std::memcpy(result.raw_buffer()->host, image.bytes.data(), image.bytes.size());
    return result;
}

// Returns the elements of an image that is in memory.
files::Array elements_of(const Buffer<> &given) {
    Buffer<> image = writable(given);
    if (image.number_of_elements() == 0) throw RuntimeError("the image has no pixels");
    if (image.is_bounds_query()) throw RuntimeError("the buffer has no memory");
    const tessera_buffer_t &raw = *image.raw_buffer();
    files::Array array(raw.type, {image.width(), image.height(), image.channels()});
    tessera_dimension_t dims[3];
    int64_t stride = 1;
    for (int d = 0; d < 3; d++) {
        dims[d] = {raw.dim[d].min, raw.dim[d].extent, int32_t(stride)};
        stride *= raw.dim[d].extent;
    }
    tessera_buffer_t dense = raw;
    dense.host = array.bytes.data();
    dense.dim = dims;
    if (tessera_buffer_copy(nullptr, &raw, &dense) != 0) {
        throw RuntimeError("the buffer is not in memory");
    }
    return array;
}

void write_image(const Buffer<> &image, const std::string &path) {
    const files::Format &format = files::format_for(path, files::picture_formats());
    format.write(elements_of(image), path, "");
}

// ---- Conversion ----

template<typename T> double to_unit(T v) {
    if constexpr (std::is_integral_v<T>) {
        return double(v) / double(std::numeric_limits<T>::max());
    } else {
        return double(v);
    }
}

template<typename T> T from_unit(double v) {
    if constexpr (std::is_integral_v<T>) {
        constexpr double full = double(std::numeric_limits<T>::max());
        if (!(v > 0)) return 0;  // NaN, too
        return v >= 1 ? std::numeric_limits<T>::max() : T(v * full + 0.5);
    } else {
        return T(v);
    }
}

// Calls f with a value of the C++ type that stands for `type`. False if there is none.
template<typename F> bool with_image_type(Type type, F f) {
    bool known = false;
    auto if_it_is = [&]<typename T>(T value) {
        if (type != type_of<T>()) return;
        known = true;
        f(value);
    };
    if_it_is(uint8_t()), if_it_is(uint16_t()), if_it_is(uint32_t());
    if_it_is(float16_t()), if_it_is(bfloat16_t()), if_it_is(float()), if_it_is(double());
    if_it_is(float8_e4m3_t()), if_it_is(float8_e5m2_t());
    return known;
}

void require_image_type(Type type, const Location &at) {
    if (with_image_type(type, [](auto) {})) return;
    throw RuntimeError(at, str("images of ", type,
                               " are not converted; their elements are uint8, uint16, uint32 or "
                               "floats"));
}

// Returns the image after copying its newest contents to the host's memory if a device has them.
Buffer<> on_host(Buffer<> image, const Location &at) {
    if (image.device_dirty()) image.copy_to_host(nullptr, at);
    return image;
}

}  // namespace

Buffer<> convert_image(const Buffer<> &given, Type type, Location at) {
    Buffer<> image = on_host(given, at);
    if (image.type() == type) return image;
    for (Type t : {type, image.type()}) require_image_type(t, at);
    Buffer<> result(make_contents(type, dense_shape_like(image.contents()), image.name()));
    with_image_type(type, [&](auto to) {
        with_image_type(image.type(), [&](auto from) {
            using To = decltype(to);
            using From = decltype(from);
            Buffer<To>(result).for_each_value(
                [](To &t, const From &f) { t = from_unit<To>(to_unit(f)); }, Buffer<From>(image));
        });
    });
    return result;
}

Buffer<> load_image(const std::string &path, Location at) {
    try {
        return read_image(path);
    } catch (const RuntimeError &e) {
        throw RuntimeError(at, str("cannot read the image ", path, ": ", e.what()));
    } catch (const std::bad_alloc &) {
        throw RuntimeError(at, str("cannot read the image ", path, ": out of memory"));
    }
}

void save_image(const Buffer<> &image, const std::string &path, Location at) {
    try {
        write_image(on_host(image, at), path);
    } catch (const RuntimeError &e) {
        throw RuntimeError(at, str("cannot write the image ", path, ": ", e.what()));
    } catch (const std::bad_alloc &) {
        throw RuntimeError(at, str("cannot write the image ", path, ": out of memory"));
    }
}

std::string to_png(const Buffer<> &image, Location at) {
    try {
        return files::to_png(elements_of(on_host(image, at)));
    } catch (const RuntimeError &e) {
        throw RuntimeError(at, str("cannot make a PNG of the image: ", e.what()));
    } catch (const std::bad_alloc &) {
        throw RuntimeError(at, "cannot make a PNG of the image: out of memory");
    }
}

void convert_and_save_image(const Buffer<> &image, const std::string &path, Location at) {
    bool as_is = image.type() == UInt(8) || image.type() == UInt(16);
    save_image(as_is ? image : convert_image(image, UInt(16), at), path, at);
}

}  // namespace tessera
