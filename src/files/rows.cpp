// This file has what pictures of all formats share.
#include "base/error.h"
#include "files/formats.h"

namespace tessera::files {
namespace {

// Calls f(sample within the row, element of the image) for each sample of row y, in the row's
// order.
template<typename F> void for_samples(const Array &image, int y, F f) {
    size_t width = size_t(image.extent(0)), height = size_t(image.extent(1));
    size_t channels = size_t(image.extent(2));
    for (size_t c = 0; c < channels; c++) {
        size_t first = (c * height + size_t(y)) * width;
        for (size_t x = 0; x < width; x++) f(x * channels + c, first + x);
    }
}

}  // namespace

void require_picture(const Array &image, const char *ending, int min_channels, int max_channels) {
    bool known =
        image.type.code == tessera_type_uint && (image.type.bits == 8 || image.type.bits == 16);
    if (!known) {
        throw RuntimeError(
            str("a ", ending, " file cannot hold elements of ", name_of(image.type)));
    }
    if (image.extents.size() != 2 && image.extents.size() != 3) {
        throw RuntimeError(
            str("an image has 2 or 3 dimensions, but the buffer has ", image.extents.size()));
    }
    if (image.bytes.empty()) throw RuntimeError("the image has no pixels");
    int channels = image.extent(2);
    if (channels < min_channels || channels > max_channels) {
        throw RuntimeError(str("a ", ending, " file cannot have ", channels, " channels"));
    }
}

void pack_row(const Array &image, int y, uint8_t *row) {
    const uint8_t *narrow = image.bytes.data();
    const auto *wide = reinterpret_cast<const uint16_t *>(narrow);
    if (image.type.bits == 8) {
        for_samples(image, y, [&](size_t i, size_t element) { row[i] = narrow[element]; });
        return;
    }
    for_samples(image, y, [&](size_t i, size_t element) {
        row[2 * i] = uint8_t(wide[element] >> 8);
        row[2 * i + 1] = uint8_t(wide[element]);
    });
}

void unpack_row(const uint8_t *row, int y, Array &image) {
    uint8_t *narrow = image.bytes.data();
    auto *wide = reinterpret_cast<uint16_t *>(narrow);
    if (image.type.bits == 8) {
        for_samples(image, y, [&](size_t i, size_t element) { narrow[element] = row[i]; });
        return;
    }
    for_samples(image, y, [&](size_t i, size_t element) {
        wide[element] = uint16_t(row[2 * i] << 8 | row[2 * i + 1]);
    });
}

}  // namespace tessera::files
