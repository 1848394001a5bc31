#include "tiff.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "files/formats.h"
#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <tiffio.h>
#include <utility>

namespace tessera::run {
namespace {

using files::Array;

// No codec of libtiff makes pictures more than so many times smaller.
constexpr uint64_t best_compression = 20000;

int keep_first(TIFF *, void *reason, const char *, const char *format, va_list args) {
    char text[500];
    std::vsnprintf(text, sizeof(text), format, args);
    auto &kept = *static_cast<std::string *>(reason);
    if (kept.empty()) kept = text;
    return 1;
}

// An open file, and what libtiff says of it.
class TiffFile {
public:
    // Opens it to be read.
    explicit TiffFile(const std::string &path) : handle(nullptr, TIFFClose) {
        open([&](TIFFOpenOptions *options) { return TIFFOpenExt(path.c_str(), "r", options); });
    }
    TiffFile(const AtomicFile &written, const char *mode) : handle(nullptr, TIFFClose) {
        // libtiff closes what it is given.
        const int own = fcntl(fileno(written.stream()), F_DUPFD_CLOEXEC, 0);
        open([&](TIFFOpenOptions *options) { return TIFFFdOpenExt(own, "", mode, options); });
    }
    [[noreturn]] void fail() const {
        throw RuntimeError(reason.empty() ? "libtiff does not say why" : reason);
    }
    void require(bool worked) const {
        if (!worked) fail();
    }
    TIFF *get() const { return handle.get(); }
    // Returns the first warning since the last call. libtiff warns of every tag that it does not
    // know.
    std::string take_warning() { return std::exchange(warning, ""); }
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
    template<typename Open> void open(Open with) {
        TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
        TIFFOpenOptionsSetErrorHandlerExtR(options, keep_first, &reason);
        TIFFOpenOptionsSetWarningHandlerExtR(options, keep_first, &warning);
        handle.reset(with(options));
        TIFFOpenOptionsFree(options);
        if (!handle) fail();
    }

    std::string reason, warning;
    std::unique_ptr<TIFF, void (*)(TIFF *)> handle;
};

struct Layout {
    int width, height, channels, bits;
    uint16_t sample_format, photometric, orientation;
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
            file.field<uint16_t>(TIFFTAG_ORIENTATION),
            file.field<uint16_t>(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE};
}

// Returns true if samples are elements of a type as they are.
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

uint64_t bytes_of_strip(const TiffFile &file, const Layout &l, uint32_t strip) {
    const auto rows = std::min(file.field<uint32_t>(TIFFTAG_ROWSPERSTRIP), uint32_t(l.height));
    const uint32_t strips_of_plane = (uint32_t(l.height) + rows - 1) / rows;
    const uint32_t first_row = strip % strips_of_plane * rows;
    return TIFFVStripSize64(file.get(), std::min(rows, uint32_t(l.height) - first_row));
}

// Refuses a strip or tile whose samples, as they are, would reach into the next one, or into the
// directory: libtiff believes the numbers of rows more than the numbers of bytes.
void require_whole_strips(const TiffFile &file, const Layout &l) {
    if (file.field<uint16_t>(TIFFTAG_COMPRESSION) != COMPRESSION_NONE) return;
    if (file.field<uint32_t>(TIFFTAG_ROWSPERSTRIP) == 0) throw RuntimeError("the file is damaged");
    const bool tiled = TIFFIsTiled(file.get()) != 0;
    const uint32_t count = tiled ? TIFFNumberOfTiles(file.get()) : TIFFNumberOfStrips(file.get());
    std::vector<uint64_t> begins = {TIFFCurrentDirOffset(file.get())};
    for (uint32_t i = 0; i < count; i++) begins.push_back(TIFFGetStrileOffset(file.get(), i));
    std::vector<uint64_t> sorted = begins;
    std::sort(sorted.begin(), sorted.end());
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t begin = begins[i + 1];
        const uint64_t bytes = tiled ? TIFFTileSize64(file.get()) : bytes_of_strip(file, l, i);
        const auto next = std::upper_bound(sorted.begin(), sorted.end(), begin);
        if (next == sorted.end() || *next - begin >= bytes) continue;
        throw RuntimeError(str(tiled ? "tile " : "strip ", i, " ends before its ",
                               tiled ? "samples" : "rows", " do"));
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

// Reads the file by libtiff's own conversion to RGBA of 8 bits.
Array read_converted(const TiffFile &file, const Layout &l) {
    char reason[1024] = "";
    if (!TIFFRGBAImageOK(file.get(), reason)) throw RuntimeError(reason);
    bool grey =
        (l.photometric == PHOTOMETRIC_MINISBLACK || l.photometric == PHOTOMETRIC_MINISWHITE) &&
        l.channels == 1;
    Array image({tessera_type_uint, 8}, extents_of(l.width, l.height, grey ? 1 : 3));
    std::vector<uint32_t> pixels(size_t(l.width) * size_t(l.height));
    // The samples stay as they lie: libtiff would only do half of the orientations.
    file.require(TIFFReadRGBAImageOriented(file.get(), uint32_t(l.width), uint32_t(l.height),
                                           pixels.data(), l.orientation, 1) == 1);
    for (size_t c = 0; c < size_t(image.extent(2)); c++) {
        for (size_t i = 0; i < pixels.size(); i++) {
            image.bytes[c * pixels.size() + i] = uint8_t(pixels[i] >> (8 * c));
        }
    }
    image.notes.emplace_back("its samples are converted to 8 bits of grey or RGB");
    return image;
}

// The picture as it is to be seen: the tag says where its first row and its first column are.
Array upright(const Array &stored, uint16_t orientation) {
    const bool from_right =
        orientation == ORIENTATION_TOPRIGHT || orientation == ORIENTATION_BOTRIGHT ||
        orientation == ORIENTATION_RIGHTTOP || orientation == ORIENTATION_RIGHTBOT;
    const bool from_below =
        orientation == ORIENTATION_BOTRIGHT || orientation == ORIENTATION_BOTLEFT ||
        orientation == ORIENTATION_RIGHTBOT || orientation == ORIENTATION_LEFTBOT;
    const bool on_its_side =
        orientation >= ORIENTATION_LEFTTOP && orientation <= ORIENTATION_LEFTBOT;
    if (!from_right && !from_below && !on_its_side) return stored;
    const size_t bytes = size_t(stored.type.bytes()), columns = size_t(stored.extent(0)),
                 rows = size_t(stored.extent(1));
    const size_t width = on_its_side ? rows : columns, height = on_its_side ? columns : rows;
    Array image(stored.type, extents_of(int(width), int(height), stored.extent(2)));
    image.notes = stored.notes;
    uint8_t *to = image.bytes.data();
    for (size_t c = 0; c < size_t(stored.extent(2)); c++) {
        for (size_t y = 0; y < height; y++) {
            for (size_t x = 0; x < width; x++) {
                const size_t across = from_right ? width - 1 - x : x,
                             down = from_below ? height - 1 - y : y;
                const size_t column = on_its_side ? down : across,
                             row = on_its_side ? across : down;
                const size_t from = (c * rows + row) * columns + column;
                std::memcpy(to, stored.bytes.data() + from * bytes, bytes);
                to += bytes;
            }
        }
    }
    return image;
}

}  // namespace

Array read_tiff(const std::string &path, const std::string &) {
    TiffFile file(path);
    Layout l = layout_of(file);
    check_size(path, l);
    require_whole_strips(file, l);
    file.take_warning();
    Array image;
    if (is_plain(l)) {
        image = Array(type_of(l), extents_of(l.width, l.height, l.channels));
        TIFFIsTiled(file.get()) ? read_tiles(file, l, image) : read_rows(file, l, image);
    } else {
        image = read_converted(file, l);
    }
    const std::string warning = file.take_warning();
    if (!warning.empty()) image.notes.push_back("libtiff warns: " + warning);
    image = upright(image, l.orientation);
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
    AtomicFile whole(path);
    TiffFile file(whole, files::product_of(image.extents) * bytes > 4000000000U ? "w8" : "w");
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
    whole.commit();
}

}  // namespace tessera::run
