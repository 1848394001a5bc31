#include "tiff.h"
#include "base/error.h"
#include "files/formats.h"
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <memory>
#include <tiffio.h>

namespace tessera::run {
namespace {

using files::Array;

// No codec of libtiff makes pictures more than so many times smaller.
constexpr uint64_t best_compression = 20000;

int keep_reason(TIFF *, void *reason, const char *, const char *format, va_list args) {
    char text[500];
    std::vsnprintf(text, sizeof(text), format, args);
    auto &kept = *static_cast<std::string *>(reason);
    if (kept.empty()) kept = text;
    return 1;
}
int ignore_warning(TIFF *, void *, const char *, const char *, va_list) { return 1; }

// An open file, and what libtiff says of it.
class TiffFile {
public:
    TiffFile(const std::string &path, const char *mode) : handle(nullptr, TIFFClose) {
        TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
        TIFFOpenOptionsSetErrorHandlerExtR(options, keep_reason, &reason);
        TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, nullptr);
        handle.reset(TIFFOpenExt(path.c_str(), mode, options));
        TIFFOpenOptionsFree(options);
        if (!handle) fail();
    }
    [[noreturn]] void fail() const {
        throw RuntimeError(reason.empty() ? "libtiff does not say why" : reason);
    }
    void require(bool worked) const {
        if (!worked) fail();
    }
    TIFF *get() const { return handle.get(); }
    template<typename T> T field(uint32_t tag) const {
        T value{};
        TIFFGetFieldDefaulted(get(), tag, &value);
        return value;
    }
    template<typename T> void set(uint32_t tag, T value) const {
        require(TIFFSetField(get(), tag, value) == 1);
    }
    // Closes a file that was written, and sees that it is complete.
    void finish() {
        require(TIFFFlush(get()) == 1);
        handle.reset();
        require(reason.empty());
    }

private:
    std::string reason;
    std::unique_ptr<TIFF, void (*)(TIFF *)> handle;
};

struct Layout {
    int width, height, channels, bits;
    uint16_t sample_format, photometric;
    bool planar;
};

Layout layout_of(const TiffFile &file) {
    auto width = file.field<uint32_t>(TIFFTAG_IMAGEWIDTH);
    auto height = file.field<uint32_t>(TIFFTAG_IMAGELENGTH);
    if (width == 0 || height == 0) throw RuntimeError("the image has no pixels");
    if (width > INT32_MAX || height > INT32_MAX) throw RuntimeError("the image is too large");
    uint16_t photometric = PHOTOMETRIC_MINISBLACK;
    TIFFGetField(file.get(), TIFFTAG_PHOTOMETRIC, &photometric);
    return {int(width),
            int(height),
            int(file.field<uint16_t>(TIFFTAG_SAMPLESPERPIXEL)),
            int(file.field<uint16_t>(TIFFTAG_BITSPERSAMPLE)),
            file.field<uint16_t>(TIFFTAG_SAMPLEFORMAT),
            photometric,
            file.field<uint16_t>(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE};
}

// Whether samples are elements of a type as they are.
bool is_plain(const Layout &l) {
    bool whole_bytes = l.bits == 8 || l.bits == 16 || l.bits == 32 || l.bits == 64;
    bool known = l.sample_format == SAMPLEFORMAT_UINT || l.sample_format == SAMPLEFORMAT_INT ||
                 (l.sample_format == SAMPLEFORMAT_IEEEFP && l.bits > 8);
    return whole_bytes && known && l.channels >= 1 &&
           (l.photometric == PHOTOMETRIC_MINISBLACK || l.photometric == PHOTOMETRIC_RGB);
}

tessera_type_t type_of(const Layout &l) {
    if (l.sample_format == SAMPLEFORMAT_IEEEFP) return {tessera_type_float, l.bits};
    return {l.sample_format == SAMPLEFORMAT_INT ? tessera_type_int : tessera_type_uint, l.bits};
}

std::vector<int> extents_of(int width, int height, int channels) {
    if (channels == 1) return {width, height};
    return {width, height, channels};
}

// A damaged header must not make us ask for absurd memory.
void check_size(const std::string &path, const Layout &l) {
    std::error_code error;
    uint64_t size = std::filesystem::file_size(path, error);
    uint64_t samples = files::product_of({l.width, l.height, l.channels});
    if (!error && samples / best_compression > size) {
        throw RuntimeError("the file ends before the image does");
    }
}

// Moves a block of `columns` x `rows` pixels, as the file has them, into the planes of the image.
struct Block {
    const uint8_t *samples;
    int x, y, columns, rows, row_pixels;
    int channel;  // -1: all, pixel after pixel
};

void place(const Block &b, Array &image) {
    size_t bytes = size_t(image.type.bytes());
    size_t width = size_t(image.extent(0)), height = size_t(image.extent(1));
    int channels = b.channel < 0 ? image.extent(2) : 1;
    for (int y = 0; y < b.rows && b.y + y < image.extent(1); y++) {
        for (int x = 0; x < b.columns && b.x + x < image.extent(0); x++) {
            for (int c = 0; c < channels; c++) {
                size_t from =
                    (size_t(y) * size_t(b.row_pixels) + size_t(x)) * size_t(channels) + size_t(c);
                size_t plane = size_t(b.channel < 0 ? c : b.channel);
                size_t to = (plane * height + size_t(b.y + y)) * width + size_t(b.x + x);
                std::memcpy(image.bytes.data() + to * bytes, b.samples + from * bytes, bytes);
            }
        }
    }
}

void read_rows(const TiffFile &file, const Layout &l, Array &image) {
    std::vector<uint8_t> row(size_t(TIFFScanlineSize64(file.get())));
    size_t wanted = size_t(l.width) * size_t(l.planar ? 1 : l.channels) * size_t(l.bits / 8);
    if (row.size() < wanted) throw RuntimeError("the file is damaged");
    for (int c = 0; c < (l.planar ? l.channels : 1); c++) {
        for (int y = 0; y < l.height; y++) {
            file.require(TIFFReadScanline(file.get(), row.data(), uint32_t(y), uint16_t(c)) == 1);
            place({row.data(), 0, y, l.width, 1, l.width, l.planar ? c : -1}, image);
        }
    }
}

void read_tiles(const TiffFile &file, const Layout &l, Array &image) {
    auto columns = file.field<uint32_t>(TIFFTAG_TILEWIDTH);
    auto rows = file.field<uint32_t>(TIFFTAG_TILELENGTH);
    uint64_t size = uint64_t(TIFFTileSize64(file.get()));
    uint64_t wanted =
        uint64_t(columns) * rows * uint64_t(l.planar ? 1 : l.channels) * uint64_t(l.bits / 8);
    constexpr uint64_t most = 1 << 28;
    if (columns == 0 || rows == 0 || columns > most || rows > most || size < wanted ||
        size > most) {
        throw RuntimeError("the file is damaged");
    }
    std::vector<uint8_t> tile(size);
    for (int c = 0; c < (l.planar ? l.channels : 1); c++) {
        for (uint32_t y = 0; y < uint32_t(l.height); y += rows) {
            for (uint32_t x = 0; x < uint32_t(l.width); x += columns) {
                file.require(TIFFReadTile(file.get(), tile.data(), x, y, 0, uint16_t(c)) >= 0);
                place({tile.data(), int(x), int(y), int(columns), int(rows), int(columns),
                       l.planar ? c : -1},
                      image);
            }
        }
    }
}

// By libtiff's own conversion to RGBA of 8 bits.
Array read_converted(const TiffFile &file, const Layout &l) {
    char reason[1024] = "";
    if (!TIFFRGBAImageOK(file.get(), reason)) throw RuntimeError(reason);
    bool grey =
        (l.photometric == PHOTOMETRIC_MINISBLACK || l.photometric == PHOTOMETRIC_MINISWHITE) &&
        l.channels == 1;
    Array image({tessera_type_uint, 8}, extents_of(l.width, l.height, grey ? 1 : 3));
    std::vector<uint32_t> pixels(size_t(l.width) * size_t(l.height));
    file.require(TIFFReadRGBAImageOriented(file.get(), uint32_t(l.width), uint32_t(l.height),
                                           pixels.data(), ORIENTATION_TOPLEFT, 1) == 1);
    for (size_t c = 0; c < size_t(image.extent(2)); c++) {
        for (size_t i = 0; i < pixels.size(); i++) {
            image.bytes[c * pixels.size() + i] = uint8_t(pixels[i] >> (8 * c));
        }
    }
    image.notes.emplace_back("its samples are converted to 8 bits of grey or RGB");
    return image;
}

}  // namespace

Array read_tiff(const std::string &path, const std::string &) {
    TiffFile file(path, "r");
    Layout l = layout_of(file);
    check_size(path, l);
    Array image;
    if (is_plain(l)) {
        image = Array(type_of(l), extents_of(l.width, l.height, l.channels));
        TIFFIsTiled(file.get()) ? read_tiles(file, l, image) : read_rows(file, l, image);
    } else {
        image = read_converted(file, l);
    }
    image.is_picture = true;
    if (!TIFFLastDirectory(file.get())) {
        image.notes.emplace_back("only the first picture of the file is read");
    }
    return image;
}

void write_tiff(const Array &image, const std::string &path, const std::string &) {
    if (image.bytes.empty()) throw RuntimeError("the image has no pixels");
    int width = image.extent(0), height = image.extent(1), channels = image.extent(2);
    size_t bytes = size_t(image.type.bytes());
    TiffFile file(path, files::product_of(image.extents) * bytes > 4000000000U ? "w8" : "w");
    bool colour = channels == 3 || channels == 4;
    file.set(TIFFTAG_IMAGEWIDTH, width);
    file.set(TIFFTAG_IMAGELENGTH, height);
    file.set(TIFFTAG_SAMPLESPERPIXEL, channels);
    file.set(TIFFTAG_BITSPERSAMPLE, int(image.type.bits));
    file.set(TIFFTAG_SAMPLEFORMAT, image.type.code == tessera_type_float ? SAMPLEFORMAT_IEEEFP
                                   : image.type.code == tessera_type_int ? SAMPLEFORMAT_INT
                                                                         : SAMPLEFORMAT_UINT);
    file.set(TIFFTAG_PHOTOMETRIC, colour ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    file.set(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    file.set(TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    file.set(TIFFTAG_ROWSPERSTRIP, int(TIFFDefaultStripSize(file.get(), 0)));
    int extra = channels - (colour ? 3 : 1);
    if (extra > 0) {
        std::vector<uint16_t> kinds(size_t(extra), EXTRASAMPLE_UNSPECIFIED);
        if (channels == 4 || channels == 2) kinds.back() = EXTRASAMPLE_UNASSALPHA;
        file.require(TIFFSetField(file.get(), TIFFTAG_EXTRASAMPLES, extra, kinds.data()) == 1);
    }
    std::vector<uint8_t> row(size_t(width) * size_t(channels) * bytes);
    size_t plane = size_t(width) * size_t(height);
    for (int y = 0; y < height; y++) {
        for (size_t i = 0; i < size_t(width) * size_t(channels); i++) {
            size_t x = i / size_t(channels), c = i % size_t(channels);
            size_t from = c * plane + size_t(y) * size_t(width) + x;
            std::memcpy(row.data() + i * bytes, image.bytes.data() + from * bytes, bytes);
        }
        file.require(TIFFWriteScanline(file.get(), row.data(), uint32_t(y), 0) == 1);
    }
    file.finish();
}

}  // namespace tessera::run
