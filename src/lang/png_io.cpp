#include "lang/png_io.h"

namespace tessera {

namespace {

template<typename T> void pack(const Buffer<> &image, int y, uint8_t *row) {
    Buffer<const T> from = image;
    for (int x : from.dim(0)) {
        for (int c : from.dim(2)) {
            T sample = *from.address_of(x, y, c);
            if constexpr (sizeof(T) == 2) *row++ = uint8_t(sample >> 8);
            *row++ = uint8_t(sample);
        }
    }
}

template<typename T> void unpack(const uint8_t *row, int y, const Buffer<> &image) {
    Buffer<T> to = image;
    for (int x : to.dim(0)) {
        for (int c : to.dim(2)) {
            T sample = *row++;
            if constexpr (sizeof(T) == 2) sample = T(sample << 8 | *row++);
            *to.address_of(x, y, c) = sample;
        }
    }
}

}  // namespace

void pack_row(const Buffer<> &image, int y, uint8_t *row) {
    image.type().bits() == 8 ? pack<uint8_t>(image, y, row) : pack<uint16_t>(image, y, row);
}

void unpack_row(const uint8_t *row, int y, const Buffer<> &image) {
    image.type().bits() == 8 ? unpack<uint8_t>(row, y, image) : unpack<uint16_t>(row, y, image);
}

Buffer<> read_png(std::FILE *file) {
    PngRows rows = read_png_rows(file);
    Buffer<> image(UInt(rows.bits), {rows.width, rows.height, rows.channels});
    for (int y = 0; y < rows.height; y++) unpack_row(rows.row(y), y, image);
    return rows.channels == 1 ? image.sliced(2) : image;
}

void write_png(const Buffer<> &image, std::FILE *file) {
    PngRows rows(image.width(), image.height(), image.channels(), image.type().bits());
    for (int y = 0; y < rows.height; y++) pack_row(image, image.min(1) + y, rows.row(y));
    write_png_rows(rows, file);
}

}  // namespace tessera
