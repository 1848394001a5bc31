#include "convert.h"
#include "base/error.h"
#include "files/number.h"
#include "tiff.h"
#include <algorithm>
#include <cmath>

namespace tessera::run {
namespace {

using files::Array;
using files::is_float;
using files::is_integer;
using files::name_of;
using files::number_at;

// The number that white is in a picture, or 1 of floats.
long double white_of(tessera_type_t type) { return is_float(type) ? 1 : files::highest_of(type); }

// In files and arguments of these types, pictures stand for the range from black to white.
bool has_range(tessera_type_t type) { return type.code == tessera_type_uint || is_float(type); }

long double rescaled(long double value, tessera_type_t from, tessera_type_t to) {
    value = value / white_of(from) * white_of(to);
    if (is_float(to)) return value;
    if (!(value > 0)) return 0;  // NaN, too
    return std::min(std::floor(value + 0.5L), files::highest_of(to));
}

// The value, if it is one of the type.
long double kept(const Array &from, size_t i, tessera_type_t to, long double value) {
    auto refuse = [&](const char *why) {
        throw RuntimeError(str("its element at ", place_text(from.extents, i), ", ",
                               files::number_text(from.type, value), ", ", why, " ", name_of(to)));
    };
    if (is_integer(to)) {
        bool fits = value == std::floor(value) && value >= files::lowest_of(to) &&
                    value <= files::highest_of(to);
        if (!fits) refuse("is no");
        return value;
    }
    if (files::is_too_large(to, value)) refuse("is too large for");
    return value;
}

std::string range_text(tessera_type_t type) {
    return is_float(type) ? "1" : files::number_text(type, files::highest_of(type));
}

// One plane of several.
struct Plane {
    const uint8_t *samples;
    size_t count;
};
Plane plane(const Array &picture, int channel) {
    size_t count = size_t(picture.extent(0)) * size_t(picture.extent(1));
    return {picture.bytes.data() + size_t(channel) * count * size_t(picture.type.bytes()), count};
}

void append(Array &to, Plane p) {
    to.bytes.insert(to.bytes.end(), p.samples, p.samples + p.count * size_t(to.type.bytes()));
}

Array brightness_of(const Array &picture) {
    Array grey(picture.type, {picture.extent(0), picture.extent(1)});
    grey.is_picture = true;
    grey.notes = picture.notes;
    size_t bytes = size_t(picture.type.bytes());
    bool colour = picture.extent(2) >= 3;
    for (size_t i = 0; i < grey.number_of_elements(); i++) {
        auto at = [&](int c) {
            return number_at(picture.type, plane(picture, c).samples + i * bytes);
        };
        long double value = colour ? 0.299L * at(0) + 0.587L * at(1) + 0.114L * at(2) : at(0);
        if (is_integer(grey.type)) value = std::floor(value + 0.5L);
        files::store_number(grey.type, grey.bytes.data() + i * bytes, value);
    }
    grey.notes.push_back(colour ? "its colours become their brightness, for the argument has two "
                                  "dimensions"
                                : "its alpha is left out, for the argument has two dimensions");
    return grey;
}

Array with_range(const Array &array, tessera_type_t type, bool rescale) {
    Array result(type, array.extents);
    result.is_picture = array.is_picture;
    result.notes = array.notes;
    size_t from = size_t(array.type.bytes()), to = size_t(type.bytes());
    for (size_t i = 0; i < array.number_of_elements(); i++) {
        long double value = number_at(array.type, array.bytes.data() + i * from);
        value = rescale ? rescaled(value, array.type, type) : kept(array, i, type, value);
        files::store_number(type, result.bytes.data() + i * to, value);
    }
    return result;
}

// The type of a file's samples for elements of a type.
tessera_type_t sample_type(tessera_type_t type, bool is_tiff) {
    if (type.bits == 1) return {tessera_type_uint, 8};
    if (is_tiff) {
        const bool has_samples =
            type.code != tessera_type_bfloat && !(files::is_float(type) && type.bits == 8);
        return has_samples ? type : tessera_type_t(tessera_type_float, 32);
    }
    bool as_is = type.code == tessera_type_uint && type.bits <= 16;
    return as_is ? type : tessera_type_t(tessera_type_uint, 16);
}

constexpr const char *tiff_endings[] = {".tif", ".tiff"};

bool begins_as_tiff(std::string_view head) {
    using namespace std::string_view_literals;
    for (std::string_view magic : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
        if (head.starts_with(magic)) return true;
    }
    return false;
}

}  // namespace

std::span<const files::Format> formats() {
    static const std::vector<files::Format> all = [] {
        std::vector<files::Format> list(files::all_formats().begin(), files::all_formats().end());
        list.push_back({"TIFF", tiff_endings, begins_as_tiff, read_tiff, write_tiff, true});
        return list;
    }();
    return all;
}

std::string extents_text(const std::vector<int> &extents) {
    return extents.empty() ? "1 element" : join(extents, "x");
}

std::string place_text(const std::vector<int> &extents, size_t element) {
    std::vector<size_t> place;
    for (int extent : extents) {
        place.push_back(element % size_t(extent));
        element /= size_t(extent);
    }
    return str("(", join(place), ")");
}

Array with_dimensions(Array array, int wanted) {
    size_t n = size_t(wanted);
    if (array.extents.size() == n) return array;
    if (array.is_picture && n == 2 && array.extents.size() == 3 && array.extent(2) > 1 &&
        array.extent(2) <= 4) {
        return brightness_of(array);
    }
    std::vector<int> extents = array.extents;
    while (extents.size() > n && extents.back() == 1) extents.pop_back();
    while (extents.size() > n && extents.front() == 1) extents.erase(extents.begin());
    while (extents.size() < n) extents.push_back(1);
    if (extents.size() != n) {
        throw RuntimeError(str("its array is ", extents_text(array.extents), ", of ",
                               array.extents.size(), " dimensions, but the argument has ", wanted));
    }
    array.notes.push_back(
        str("its ", extents_text(array.extents), " are taken as ", extents_text(extents)));
    array.extents = extents;
    return array;
}

Array with_channels(Array picture, int wanted) {
    int channels = picture.extent(2);
    bool has_alpha = channels == 2 || channels == 4;
    int colours = channels - has_alpha;
    if (!picture.is_picture || channels >= wanted || wanted > 4 || wanted < 3) return picture;
    Array result(picture.type, {picture.extent(0), picture.extent(1), wanted});
    result.bytes.clear();
    result.is_picture = true;
    result.notes = picture.notes;
    for (int c = 0; c < 3; c++) append(result, plane(picture, colours == 1 ? 0 : c));
    if (wanted == 4) {
        Array opaque(picture.type, {picture.extent(0), picture.extent(1)});
        size_t bytes = size_t(opaque.type.bytes());
        for (size_t i = 0; i < opaque.number_of_elements(); i++) {
            files::store_number(opaque.type, opaque.bytes.data() + i * bytes,
                                white_of(opaque.type));
        }
        append(result, has_alpha ? plane(picture, channels - 1) : plane(opaque, 0));
    }
    result.notes.push_back(
        str("its ", channels, channels == 1 ? " channel becomes " : " channels become ", wanted));
    return result;
}

Array with_type(Array array, tessera_type_t type) {
    if (array.type == type) return array;
    bool rescale = array.is_picture && has_range(array.type) && has_range(type);
    bool floats = is_float(array.type) && is_float(type);
    Array result = with_range(array, type, rescale && !floats);
    std::string how =
        rescale && !floats ? str("; ", range_text(array.type), " becomes ", range_text(type)) : "";
    result.notes.push_back(str("its ", name_of(array.type), " become ", name_of(type), how));
    return result;
}

Array writable(Array array, const files::Format &format) {
    if (!format.holds_pictures) return array;
    bool is_tiff = std::string_view(format.name) == "TIFF";
    tessera_type_t type = sample_type(array.type, is_tiff);
    while (array.extents.size() > 3 && array.extents.back() == 1) array.extents.pop_back();
    if (array.extents.size() > 3) {
        throw RuntimeError(str("a picture cannot have the ", array.extents.size(), " dimensions ",
                               extents_text(array.extents), "; write an .npy or .mat file"));
    }
    while (array.extents.size() < 2) array.extents.push_back(1);
    array.is_picture = true;
    return with_type(std::move(array), type);
}

}  // namespace tessera::run
