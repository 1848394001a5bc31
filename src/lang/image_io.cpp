#include "lang/image_io.h"
#include "base/error.h"
#include "base/str.h"
#include "lang/png_io.h"
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

namespace tessera {

namespace {

struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File open(const std::string &path, const char *mode) {
    File file(std::fopen(path.c_str(), mode));
    if (!file) throw RuntimeError(std::strerror(errno));
    return file;
}

// ---- PGM and PPM ----

constexpr const char *truncated = "the file ends before the image does";

// The next number of the header, or of a sample written as text.
int read_number(std::FILE *file) {
    int c = std::fgetc(file);
    while (c == '#' || std::isspace(c)) {
        if (c == '#') {
            while (c != '\n' && c != EOF) c = std::fgetc(file);
        } else {
            c = std::fgetc(file);
        }
    }
    if (c == EOF) throw RuntimeError(truncated);
    int64_t number = 0;
    if (!std::isdigit(c)) throw RuntimeError("a number is missing in the file");
    for (; std::isdigit(c); c = std::fgetc(file)) {
        number = number * 10 + (c - '0');
        if (number > std::numeric_limits<int>::max()) throw RuntimeError("a number is too large");
    }
    return int(number);
}

void read_binary_row(std::FILE *file, std::vector<uint8_t> &row) {
    if (std::fread(row.data(), 1, row.size(), file) != row.size()) throw RuntimeError(truncated);
}

void read_text_row(std::FILE *file, int maximum, std::vector<uint8_t> &row) {
    for (size_t i = 0; i < row.size();) {
        int sample = read_number(file);
        if (sample > maximum) throw RuntimeError("a sample is above the maximum of the file");
        if (maximum > 255) row[i++] = uint8_t(sample >> 8);
        row[i++] = uint8_t(sample);
    }
}

// Spreads samples from 0 to `maximum` over the whole range of the type.
template<typename T> void spread(const Buffer<> &image, int maximum) {
    constexpr int64_t full = std::numeric_limits<T>::max();
    Buffer<T>(image).for_each_value(
        [&](T &v) { v = T((std::min<int64_t>(v, maximum) * full + maximum / 2) / maximum); });
}

Buffer<> read_pnm(std::FILE *file) {
    std::fgetc(file);
    int kind = std::fgetc(file) - '0';
    bool text = kind < 5;
    int channels = kind == 2 || kind == 5 ? 1 : 3;
    int width = read_number(file), height = read_number(file), maximum = read_number(file);
    if (width < 1 || height < 1) throw RuntimeError("the image has no pixels");
    if (maximum < 1 || maximum > 65535) throw RuntimeError("the maximum is not within 1 and 65535");
    int bits = maximum > 255 ? 16 : 8;
    check_file_holds(file, uint64_t(width) * uint64_t(height) * uint64_t(channels), 1);
    Buffer<> image(UInt(bits), {width, height, channels});
    std::vector<uint8_t> row(size_t(width) * size_t(channels * bits / 8));
    for (int y = 0; y < height; y++) {
        text ? read_text_row(file, maximum, row) : read_binary_row(file, row);
        unpack_row(row.data(), y, image);
    }
    if (maximum != 255 && bits == 8) spread<uint8_t>(image, maximum);
    if (maximum != 65535 && bits == 16) spread<uint16_t>(image, maximum);
    return channels == 1 ? image.sliced(2) : image;
}

void write_pnm(const Buffer<> &image, std::FILE *file) {
    int bits = image.type().bits();
    std::fprintf(file, "P%d\n%d %d\n%d\n", image.channels() == 1 ? 5 : 6, image.width(),
                 image.height(), (1 << bits) - 1);
    std::vector<uint8_t> row(size_t(image.width()) * size_t(image.channels() * bits / 8));
    for (int y : image.dim(1)) {
        pack_row(image, y, row.data());
        if (std::fwrite(row.data(), 1, row.size(), file) != row.size()) {
            throw RuntimeError(std::strerror(errno));
        }
    }
}

// ---- Formats ----

struct Format {
    const char *ending;
    int min_channels, max_channels;
    void (*write)(const Buffer<> &image, std::FILE *file);
};

constexpr Format formats[] = {
    {".png", 1, 4, write_png},
    {".pgm", 1, 1, write_pnm},
    {".ppm", 3, 3, write_pnm},
};

const Format &format_of(const std::string &path) {
    size_t dot = path.rfind('.');
    std::string ending = dot == std::string::npos ? "" : path.substr(dot);
    for (char &c : ending) c = char(std::tolower(static_cast<unsigned char>(c)));
    for (const Format &f : formats) {
        if (ending == f.ending) return f;
    }
    throw RuntimeError("the path must end in .png, .pgm or .ppm");
}

Buffer<> read_file(const std::string &path) {
    File file = open(path, "rb");
    unsigned char head[2] = {};
    bool whole =
        std::fread(head, 1, 2, file.get()) == 2 && std::fseek(file.get(), 0, SEEK_SET) == 0;
    if (!whole) throw RuntimeError(truncated);
    if (head[0] == 0x89 && head[1] == 'P') return read_png(file.get());
    bool is_pnm = head[0] == 'P' && std::strchr("2356", head[1]);
    if (is_pnm && head[1] != 0) return read_pnm(file.get());
    throw RuntimeError("it is no PNG, PGM or PPM file");
}

// What the file will hold: 8 or 16 bits, three dimensions.
Buffer<> writable(const Buffer<> &given) {
    Buffer<> image = given;
    Type type = image.type();
    if (type.is_any_float()) image = convert_image(image, UInt(16));
    if (!type.is_any_float() && type != UInt(8) && type != UInt(16)) {
        throw RuntimeError(str("images of ", type,
                               " are not written; convert it to uint8, uint16 or ",
                               "float32 first"));
    }
    if (image.dimensions() == 2) return image.embedded(2);
    if (image.dimensions() == 3) return image;
    throw RuntimeError(
        str("an image has 2 or 3 dimensions, but the buffer has ", image.dimensions()));
}

void write_file(const Buffer<> &given, const std::string &path) {
    const Format &format = format_of(path);
    Buffer<> image = writable(given);
    if (image.number_of_elements() == 0) throw RuntimeError("the image has no pixels");
    if (image.is_bounds_query()) throw RuntimeError("the buffer has no memory");
    int channels = image.channels();
    if (channels < format.min_channels || channels > format.max_channels) {
        throw RuntimeError(str("a ", format.ending, " file cannot have ", channels, " channels"));
    }
    File file = open(path, "wb");
    format.write(image, file.get());
    if (std::fclose(file.release()) != 0) throw RuntimeError(std::strerror(errno));
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

// Calls f with a value of the C++ type that stands for `type`.
template<typename F> void with_image_type(Type type, F f) {
    if (type == UInt(8)) return f(uint8_t());
    if (type == UInt(16)) return f(uint16_t());
    if (type == UInt(32)) return f(uint32_t());
    if (type == Float(16)) return f(float16_t());
    if (type == Float(32)) return f(float());
    if (type == Float(64)) return f(double());
    if (type == BFloat(16)) return f(bfloat16_t());
    throw RuntimeError(str("images of ", type, " are not converted"));
}

}  // namespace

Buffer<> convert_image(const Buffer<> &image, Type type) {
    if (image.type() == type) return image;
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

Buffer<> load_image(const std::string &path) {
    try {
        return read_file(path);
    } catch (const RuntimeError &e) {
        throw RuntimeError(str("cannot read the image ", path, ": ", e.what()));
    } catch (const std::bad_alloc &) {
        throw RuntimeError(str("cannot read the image ", path, ": out of memory"));
    }
}

void save_image(const Buffer<> &image, const std::string &path) {
    try {
        write_file(image, path);
    } catch (const RuntimeError &e) {
        throw RuntimeError(str("cannot write the image ", path, ": ", e.what()));
    } catch (const std::bad_alloc &) {
        throw RuntimeError(str("cannot write the image ", path, ": out of memory"));
    }
}

void convert_and_save_image(const Buffer<> &image, const std::string &path) {
    bool as_is = image.type() == UInt(8) || image.type() == UInt(16);
    save_image(as_is ? image : convert_image(image, UInt(16)), path);
}

}  // namespace tessera
