// libpng reports an error by longjmp. So each function that calls it keeps nothing that has a
// destructor on its own stack: it works on a plain struct that its caller owns.
#include "lang/png_io.h"
#include "base/error.h"
#include <cstring>
#include <memory>
#include <png.h>
#include <vector>

namespace tessera {

namespace {

// Deflate makes data less than so many times smaller.
constexpr uint64_t best_compression = 1100;

struct Png {
    png_structp png = nullptr;
    png_infop info = nullptr;
    bool writes = false;
    char reason[200] = "out of memory";
};

void close(Png *p) {
    if (p->writes) {
        png_destroy_write_struct(&p->png, &p->info);
    } else {
        png_destroy_read_struct(&p->png, &p->info, nullptr);
    }
}

using PngOwner = std::unique_ptr<Png, void (*)(Png *)>;

void on_error(png_structp png, png_const_charp message) {
    Png *p = static_cast<Png *>(png_get_error_ptr(png));
    std::strncpy(p->reason, message, sizeof(p->reason) - 1);
    png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

bool open_reader(Png *p, std::FILE *file) {
    p->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, p, on_error, on_warning);
    if (!p->png) return false;
    p->info = png_create_info_struct(p->png);
    if (!p->info) return false;
    if (setjmp(png_jmpbuf(p->png))) return false;
    png_init_io(p->png, file);
    png_read_info(p->png, p->info);
    png_set_expand(p->png);
    png_set_interlace_handling(p->png);
    png_read_update_info(p->png, p->info);
    return true;
}

bool read_rows(Png *p, png_bytepp rows) {
    if (setjmp(png_jmpbuf(p->png))) return false;
    png_read_image(p->png, rows);
    png_read_end(p->png, nullptr);
    return true;
}

int color_type(int channels) {
    const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                         PNG_COLOR_TYPE_RGB_ALPHA};
    return types[channels - 1];
}

bool write_rows(Png *p, std::FILE *file, int width, int height, int bits, int channels,
                png_bytepp rows) {
    p->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, p, on_error, on_warning);
    if (!p->png) return false;
    p->info = png_create_info_struct(p->png);
    if (!p->info) return false;
    if (setjmp(png_jmpbuf(p->png))) return false;
    png_init_io(p->png, file);
    png_set_IHDR(p->png, p->info, png_uint_32(width), png_uint_32(height), bits,
                 color_type(channels), PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(p->png, 3);
    png_write_info(p->png, p->info);
    png_write_image(p->png, rows);
    png_write_end(p->png, p->info);
    return true;
}

// Memory for all rows, and a pointer to each.
struct Rows {
    Rows(size_t height, size_t row_bytes) : bytes(height * row_bytes), rows(height) {
        for (size_t y = 0; y < height; y++) rows[y] = bytes.data() + y * row_bytes;
    }
    std::vector<uint8_t> bytes;
    std::vector<png_bytep> rows;
};

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

void check_file_holds(std::FILE *file, uint64_t bytes, uint64_t ratio) {
    long at = std::ftell(file);
    if (at < 0 || std::fseek(file, 0, SEEK_END) != 0) return;
    long end = std::ftell(file);
    std::fseek(file, at, SEEK_SET);
    if (uint64_t(end - at) < bytes / ratio) {
        throw RuntimeError("the file ends before the image does");
    }
}

void pack_row(const Buffer<> &image, int y, uint8_t *row) {
    image.type().bits() == 8 ? pack<uint8_t>(image, y, row) : pack<uint16_t>(image, y, row);
}

void unpack_row(const uint8_t *row, int y, const Buffer<> &image) {
    image.type().bits() == 8 ? unpack<uint8_t>(row, y, image) : unpack<uint16_t>(row, y, image);
}

Buffer<> read_png(std::FILE *file) {
    Png png;
    PngOwner owner(&png, close);
    if (!open_reader(&png, file)) throw RuntimeError(png.reason);
    int width = int(png_get_image_width(png.png, png.info));
    int height = int(png_get_image_height(png.png, png.info));
    int channels = png_get_channels(png.png, png.info);
    uint64_t row_bytes = png_get_rowbytes(png.png, png.info);
    check_file_holds(file, uint64_t(height) * row_bytes, best_compression);
    Rows rows{size_t(height), size_t(row_bytes)};
    if (!read_rows(&png, rows.rows.data())) throw RuntimeError(png.reason);
    Buffer<> image(UInt(png_get_bit_depth(png.png, png.info)), {width, height, channels});
    for (int y = 0; y < height; y++) unpack_row(rows.rows[size_t(y)], y, image);
    return channels == 1 ? image.sliced(2) : image;
}

void write_png(const Buffer<> &image, std::FILE *file) {
    Png png;
    png.writes = true;
    PngOwner owner(&png, close);
    int bits = image.type().bits();
    Rows rows(size_t(image.height()), size_t(image.width()) * size_t(image.channels() * bits / 8));
    for (int y = 0; y < image.height(); y++)
        pack_row(image, image.min(1) + y, rows.rows[size_t(y)]);
    if (!write_rows(&png, file, image.width(), image.height(), bits, image.channels(),
                    rows.rows.data())) {
        throw RuntimeError(png.reason);
    }
}

}  // namespace tessera
