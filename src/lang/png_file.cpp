// libpng reports an error by longjmp. So each function that calls it keeps nothing that has a
// destructor on its own stack: it works on a plain struct that its caller owns.
#include "lang/png_file.h"
#include "base/error.h"
#include <cstring>
#include <memory>
#include <png.h>

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

std::vector<png_bytep> starts_of_rows(PngRows &image) {
    std::vector<png_bytep> starts;
    for (int y = 0; y < image.height; y++) starts.push_back(image.row(y));
    return starts;
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

PngRows read_png_rows(std::FILE *file) {
    Png png;
    PngOwner owner(&png, close);
    if (!open_reader(&png, file)) throw RuntimeError(png.reason);
    const int height = int(png_get_image_height(png.png, png.info));
    check_file_holds(file, uint64_t(height) * png_get_rowbytes(png.png, png.info),
                     best_compression);
    PngRows image(int(png_get_image_width(png.png, png.info)), height,
                  png_get_channels(png.png, png.info), png_get_bit_depth(png.png, png.info));
    if (!read_rows(&png, starts_of_rows(image).data())) throw RuntimeError(png.reason);
    return image;
}

void write_png_rows(PngRows &image, std::FILE *file) {
    Png png;
    png.writes = true;
    PngOwner owner(&png, close);
    std::vector<png_bytep> rows = starts_of_rows(image);
    if (!write_rows(&png, file, image.width, image.height, image.bits, image.channels,
                    rows.data())) {
        throw RuntimeError(png.reason);
    }
}

}  // namespace tessera
