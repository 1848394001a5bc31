#include "base/atomic_file.h"
#include "base/error.h"
#include "files/formats.h"
#include "files/stream.h"
#include <algorithm>
#include <cctype>
#include <limits>

namespace tessera::files {
namespace {

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
    if (c == EOF) throw RuntimeError("the file ends before the image does");
    int64_t number = 0;
    if (!std::isdigit(c)) throw RuntimeError("a number is missing in the file");
    for (; std::isdigit(c); c = std::fgetc(file)) {
        number = number * 10 + (c - '0');
        if (number > std::numeric_limits<int>::max()) throw RuntimeError("a number is too large");
    }
    return int(number);
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
template<typename T> void spread(Array &image, int maximum) {
    constexpr int64_t full = std::numeric_limits<T>::max();
    if (maximum == full) return;
    T *samples = reinterpret_cast<T *>(image.bytes.data());
    for (size_t i = 0; i < image.number_of_elements(); i++) {
        int64_t sample = std::min<int64_t>(samples[i], maximum);
        samples[i] = T((sample * full + maximum / 2) / maximum);
    }
}

void write_pnm(const Array &image, const std::string &path, char kind) {
    AtomicFile file(path);
    int bits = image.type.bits;
    std::fprintf(file.stream(), "P%c\n%d %d\n%d\n", kind, image.extent(0), image.extent(1),
                 (1 << bits) - 1);
    std::vector<uint8_t> row(size_t(image.extent(0)) * size_t(image.extent(2) * bits / 8));
    for (int y = 0; y < image.extent(1); y++) {
        pack_row(image, y, row.data());
        file.write(row.data(), row.size());
    }
    file.commit();
}

}  // namespace

Array read_pnm(const std::string &path, const std::string &) {
    Stream stream = open_stream(path);
    std::FILE *file = stream.get();
    std::fgetc(file);
    int kind = std::fgetc(file) - '0';
    bool text = kind < 5;
    int channels = kind == 2 || kind == 5 ? 1 : 3;
    int width = read_number(file), height = read_number(file), maximum = read_number(file);
    if (width < 1 || height < 1) throw RuntimeError("the image has no pixels");
    if (maximum < 1 || maximum > 65535) throw RuntimeError("the maximum is not within 1 and 65535");
    std::vector<int> extents = {width, height};
    if (channels > 1) extents.push_back(channels);
    check_file_holds(file, product_of(extents), 1, "image");
    int bits = maximum > 255 ? 16 : 8;
    Array image({tessera_type_uint, bits}, extents);
    image.is_picture = true;
    std::vector<uint8_t> row(size_t(width) * size_t(channels * bits / 8));
    for (int y = 0; y < height; y++) {
        text ? read_text_row(file, maximum, row)
             : read_bytes(file, row.data(), row.size(), "image");
        unpack_row(row.data(), y, image);
    }
    bits == 8 ? spread<uint8_t>(image, maximum) : spread<uint16_t>(image, maximum);
    return image;
}

void write_pgm(const Array &image, const std::string &path, const std::string &) {
    require_picture(image, ".pgm", 1, 1);
    write_pnm(image, path, '5');
}

void write_ppm(const Array &image, const std::string &path, const std::string &) {
    require_picture(image, ".ppm", 3, 3);
    write_pnm(image, path, '6');
}

}  // namespace tessera::files
