// MAT-files of level 5: https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf
//
// A file is a row of elements: a tag (type and size), then bytes up to a multiple of 8. An array is
// an element of elements: flags, dimensions, name, values. It may be compressed as a whole.
#include "base/atomic_file.h"
#include "base/error.h"
#include "files/formats.h"
#include "files/number.h"
#include "files/stream.h"
#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <optional>
#include <zlib.h>

namespace tessera::files {
namespace {

constexpr size_t header_bytes = 128;
// Deflate makes data less than so many times smaller.
constexpr uint64_t best_ratio_of_mat = 1100;

enum ElementKind : uint32_t { compressed = 15, matrix = 14 };
constexpr uint32_t logical_flag = 0x200, complex_flag = 0x800;

struct Numbers {
    uint32_t stored;  // the type of an element
    uint32_t kind;    // of an array: MATLAB's class
    tessera_type_t type;
};

constexpr Numbers number_types[] = {
    {1, 8, {tessera_type_int, 8}},    {2, 9, {tessera_type_uint, 8}},
    {3, 10, {tessera_type_int, 16}},  {4, 11, {tessera_type_uint, 16}},
    {5, 12, {tessera_type_int, 32}},  {6, 13, {tessera_type_uint, 32}},
    {7, 7, {tessera_type_float, 32}}, {9, 6, {tessera_type_float, 64}},
    {12, 14, {tessera_type_int, 64}}, {13, 15, {tessera_type_uint, 64}},
};

[[noreturn]] void damaged() { throw RuntimeError("the file is damaged"); }

struct Element {
    uint32_t kind = 0;
    const uint8_t *data = nullptr;
    size_t size = 0;
};

// Walks the elements in a row of bytes.
class Elements {
public:
    Elements(const uint8_t *begin, size_t size, bool swapped)
        : at(begin), left(size), swapped(swapped) {}

    bool more() const { return left >= 8; }
    Element next() {
        if (!more()) damaged();
        Element e{word(at), at + 8, word(at + 4)};
        size_t taken = 8;
        if (e.kind >> 16) {  // small: the size, the type and up to four bytes in one tag
            e = {e.kind & 0xffff, at + 4, e.kind >> 16};
            if (e.size > 4) damaged();
        } else {
            if (e.size > left - 8) throw RuntimeError("the file ends before the array does");
            size_t padded = e.kind == compressed ? e.size : (e.size + 7) / 8 * 8;
            taken += std::min(padded, left - 8);
        }
        at += taken;
        left -= taken;
        return e;
    }
    uint32_t word(const uint8_t *p) const {
        uint32_t value = 0;
        std::memcpy(&value, p, sizeof(value));
        return swapped ? __builtin_bswap32(value) : value;
    }

private:
    const uint8_t *at;
    size_t left;
    bool swapped;
};

std::vector<uint8_t> inflated(const Element &e, bool swapped) {
    z_stream z{};
    if (inflateInit(&z) != Z_OK) throw RuntimeError("out of memory");
    std::unique_ptr<z_stream, int (*)(z_stream *)> owner(&z, inflateEnd);
    z.next_in = const_cast<Bytef *>(e.data);
    z.avail_in = uInt(e.size);
    std::vector<uint8_t> bytes(8);
    auto fill = [&](size_t from) {
        z.next_out = bytes.data() + from;
        z.avail_out = uInt(bytes.size() - from);
        int result = inflate(&z, Z_SYNC_FLUSH);
        if ((result != Z_OK && result != Z_STREAM_END) || z.avail_out > 0) damaged();
    };
    fill(0);
    uint64_t size = Elements(bytes.data(), 8, swapped).word(bytes.data() + 4);
    if (size / best_ratio_of_mat > e.size) damaged();
    if (size == 0) return bytes;
    bytes.resize(8 + size);
    fill(8);
    return bytes;
}

struct Variable {
    std::string name;
    uint32_t kind = 0;
    uint32_t flags = 0;
    std::vector<int> extents;
    Element values;
    bool is_numeric = false;
    std::vector<uint8_t> owned;  // what was compressed
};

class MatReader {
public:
    MatReader(const std::vector<uint8_t> &bytes, bool swapped) : bytes(bytes), swapped(swapped) {}

    // Returns the array of that name, or the only numeric one.
    Variable find(const std::string &name) {
        std::vector<std::string> names;
        std::optional<Variable> found;
        Elements elements(bytes.data() + header_bytes, bytes.size() - header_bytes, swapped);
        while (elements.more()) {
            std::optional<Variable> v = variable(elements.next());
            if (!v) continue;
            if (v->name == name) return std::move(*v);
            if (v->is_numeric) names.push_back(v->name);
            if (!found || (v->is_numeric && !found->is_numeric)) found = std::move(v);
        }
        if (names.size() > 1) {
            throw RuntimeError(str("of its arrays, ", join(names), ", none is called ",
                                   name.empty() ? "''" : name));
        }
        if (!found) throw RuntimeError("there is no array in it");
        return std::move(*found);
    }

    Array read(const Variable &v) const {
        if (!v.is_numeric) throw RuntimeError(str(v.name, " is no full array of numbers"));
        if (v.flags & complex_flag) throw RuntimeError(str(v.name, " has complex numbers"));
        tessera_type_t stored = stored_type(v.values.kind), type = type_of_kind(v.kind);
        if (is_float(stored) && is_integer(type)) damaged();
        size_t each = size_t(stored.bytes());
        if (product_of(v.extents) != v.values.size / each) damaged();
        std::vector<uint8_t> values(v.values.data, v.values.data + v.values.size);
        if (swapped) swap_bytes(values.data(), values.size() / each, each);
        Array array(v.flags & logical_flag ? tessera_type_t(tessera_type_uint, 1) : type,
                    v.extents);
        size_t size = size_t(array.type.bytes());
        for (size_t i = 0; i < array.number_of_elements(); i++) {
            long double value = number_at(stored, values.data() + i * each);
            if (v.flags & logical_flag) value = value != 0;
            if (is_integer(array.type) &&
                (value < lowest_of(array.type) || value > highest_of(array.type))) {
                damaged();
            }
            store_number(array.type, array.bytes.data() + i * size, value);
        }
        return array;
    }

private:
    static tessera_type_t stored_type(uint32_t kind) {
        for (const Numbers &n : number_types) {
            if (n.stored == kind) return n.type;
        }
        damaged();
    }
    static tessera_type_t type_of_kind(uint32_t kind) {
        for (const Numbers &n : number_types) {
            if (n.kind == kind) return n.type;
        }
        damaged();
    }
    static bool is_numeric(uint32_t kind) {
        return std::ranges::any_of(number_types, [&](const Numbers &n) { return n.kind == kind; });
    }
    // Nothing if the element is no array.
    std::optional<Variable> variable(const Element &e) const {
        if (e.kind == compressed) {
            std::vector<uint8_t> whole = inflated(e, swapped);
            Element inner = Elements(whole.data(), whole.size(), swapped).next();
            if (inner.kind == compressed) damaged();
            std::optional<Variable> v = variable(inner);
            if (v) v->owned = std::move(whole);
            return v;
        }
        if (e.kind != matrix || e.size == 0) return std::nullopt;
        Elements parts(e.data, e.size, swapped);
        Variable v;
        Element flags = parts.next();
        if (flags.size < 4) damaged();
        v.flags = parts.word(flags.data);
        v.kind = v.flags & 0xff;
        Element extents = parts.next();
        for (size_t i = 0; i + 4 <= extents.size; i += 4) {
            v.extents.push_back(int(parts.word(extents.data + i)));
            if (v.extents.back() < 0) damaged();
        }
        if (v.extents.size() < 2) damaged();
        Element name = parts.next();
        v.name.assign(reinterpret_cast<const char *>(name.data), name.size);
        v.is_numeric = is_numeric(v.kind);
        if (v.is_numeric) v.values = parts.next();
        return v;
    }

    const std::vector<uint8_t> &bytes;
    bool swapped;
};

// ---- Writing ----

class MatWriter {
public:
    void element(uint32_t kind, const void *data, size_t size) {
        word(kind);
        word(uint32_t(size));
        const auto *from = static_cast<const uint8_t *>(data);
        bytes.insert(bytes.end(), from, from + size);
        bytes.resize((bytes.size() + 7) / 8 * 8);
    }
    void word(uint32_t value) {
        const auto *from = reinterpret_cast<const uint8_t *>(&value);
        bytes.insert(bytes.end(), from, from + sizeof(value));
    }
    std::vector<uint8_t> bytes;
};

// A name that MATLAB takes.
std::string matlab_name(const std::string &name) {
    std::string text;
    for (char c : name) text += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (text.empty() || !std::isalpha(static_cast<unsigned char>(text[0]))) text = "x" + text;
    return text.substr(0, 63);
}

// Converts the array to a type that MATLAB has.
Array storable(const Array &array) {
    tessera_type_t type = array.type;
    if (type.bits == 1) type.bits = 8;
    if (is_float(type) && type.bits <= 16) type = {tessera_type_float, 32};
    if (type.bytes() == array.type.bytes()) {
        Array same = array;
        same.type = type;
        return same;
    }
    Array wider(type, array.extents);
    for (size_t i = 0; i < array.number_of_elements(); i++) {
        store_number(type, wider.bytes.data() + 4 * i,
                     number_at(array.type, array.bytes.data() + size_t(array.type.bytes()) * i));
    }
    return wider;
}

}  // namespace

Array read_mat(const std::string &path, const std::string &name) {
    Stream file = open_stream(path);
    uint64_t size = bytes_left(file.get());
    if (size == std::numeric_limits<uint64_t>::max()) throw RuntimeError("it is no plain file");
    std::vector<uint8_t> bytes(size);
    read_bytes(file.get(), bytes.data(), bytes.size(), "array");
    if (bytes.size() < header_bytes) throw RuntimeError("the file ends before the array does");
    bool swapped = bytes[126] == 'M';
    uint8_t version = swapped ? bytes[124] : bytes[125];
    if (version != 1) {
        throw RuntimeError(str("it is a MAT-file of level ", int(version),
                               version == 2 ? " (-v7.3, in HDF5)" : "",
                               "; those of level 5 are read (-v7 and -v6)"));
    }
    MatReader reader(bytes, swapped);
    return reader.read(reader.find(name));
}

void write_mat(const Array &array, const std::string &path, const std::string &name) {
    Array values = storable(array);
    auto type =
        std::ranges::find_if(number_types, [&](const Numbers &n) { return n.type == values.type; });
    if (type == std::end(number_types)) {
        throw RuntimeError(str("a .mat file cannot hold elements of ", name_of(array.type)));
    }
    constexpr uint64_t most = std::numeric_limits<uint32_t>::max() - 1024;
    if (values.bytes.size() > most) throw RuntimeError("a .mat file holds at most 4 GiB");
    std::vector<int> extents = values.extents;
    while (extents.size() < 2) extents.push_back(1);
    uint32_t flags[2] = {type->kind | (array.type.bits == 1 ? logical_flag : 0), 0};
    std::string label = matlab_name(name);
    MatWriter inner;
    inner.element(6, flags, sizeof(flags));
    inner.element(5, extents.data(), extents.size() * sizeof(int));
    inner.element(1, label.data(), label.size());
    inner.element(type->stored, values.bytes.data(), values.bytes.size());
    MatWriter outer;
    std::string header = "MATLAB 5.0 MAT-file, written by Tessera";
    header.resize(header_bytes, ' ');
    std::memset(header.data() + 116, 0, 8);
    std::memcpy(header.data() + 124, "\x00\x01IM", 4);
    outer.bytes.assign(header.begin(), header.end());
    outer.word(matrix);
    outer.word(uint32_t(inner.bytes.size()));
    AtomicFile file(path);
    file.write(outer.bytes.data(), outer.bytes.size());
    file.write(inner.bytes.data(), inner.bytes.size());
    file.commit();
}

}  // namespace tessera::files
