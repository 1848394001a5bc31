// libpng reports an error by longjmp. So each function that calls it keeps nothing that has a
// destructor on its own stack: it works on a plain struct that its caller owns.
#include "base/atomic_file.h"
#include "base/error.h"
#include "files/formats.h"
#include "files/stream.h"
#include <cstring>
#include <memory>
#include <png.h>
#include <vector>

namespace tessera::files {
namespace {

// Deflate makes data less than so many times smaller.
constexpr uint64_t best_compression = 1100;

struct Png {
    png_structp png = nullptr;
    png_infop info = nullptr;
    bool writes = false;
    char reason[200] = "out of memory";
    std::string *written = nullptr;
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

// No exception may pass through libpng.
bool append(std::string &to, png_bytep from, size_t bytes) noexcept {
    try {
        to.append(reinterpret_cast<const char *>(from), bytes);
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

void write_data(png_structp png, png_bytep from, size_t bytes) {
    Png *p = static_cast<Png *>(png_get_io_ptr(png));
    if (!append(*p->written, from, bytes)) png_error(png, "out of memory");
}
void flush_data(png_structp) {}

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

bool write_rows(Png *p, int width, int height, int bits, int channels, png_bytepp rows) {
    p->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, p, on_error, on_warning);
    if (!p->png) return false;
    p->info = png_create_info_struct(p->png);
    if (!p->info) return false;
    if (setjmp(png_jmpbuf(p->png))) return false;
    png_set_write_fn(p->png, p, write_data, flush_data);
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

}  // namespace

Array read_png(const std::string &path, const std::string &) {
    Stream file = open_stream(path);
    Png png;
    PngOwner owner(&png, close);
    if (!open_reader(&png, file.get())) throw RuntimeError(png.reason);
    int width = int(png_get_image_width(png.png, png.info));
    int height = int(png_get_image_height(png.png, png.info));
    int channels = png_get_channels(png.png, png.info);
    uint64_t row_bytes = png_get_rowbytes(png.png, png.info);
    check_file_holds(file.get(), uint64_t(height) * row_bytes, best_compression, "image");
    Rows rows{size_t(height), size_t(row_bytes)};
    if (!read_rows(&png, rows.rows.data())) throw RuntimeError(png.reason);
    std::vector<int> extents = {width, height};
    if (channels > 1) extents.push_back(channels);
    Array image({tessera_type_uint, png_get_bit_depth(png.png, png.info)}, extents);
    image.is_picture = true;
    for (int y = 0; y < height; y++) unpack_row(rows.rows[size_t(y)], y, image);
    return image;
}

std::string to_png(const Array &image) {
    require_picture(image, ".png", 1, 4);
    std::string bytes;
    Png png;
    png.writes = true;
    png.written = &bytes;
    PngOwner owner(&png, close);
    int bits = image.type.bits, channels = image.extent(2);
    Rows rows(size_t(image.extent(1)), size_t(image.extent(0)) * size_t(channels * bits / 8));
    for (int y = 0; y < image.extent(1); y++) pack_row(image, y, rows.rows[size_t(y)]);
    if (!write_rows(&png, image.extent(0), image.extent(1), bits, channels, rows.rows.data())) {
        throw RuntimeError(png.reason);
    }
    return bytes;
}

void write_png(const Array &image, const std::string &path, const std::string &) {
    const std::string bytes = to_png(image);
    AtomicFile file(path);
    file.write(bytes.data(), bytes.size());
    file.commit();
}

}  // namespace tessera::files
