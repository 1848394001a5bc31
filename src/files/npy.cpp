// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "base/atomic_file.h"
#include "base/error.h"
#include "files/formats.h"
#include "files/stream.h"
#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>

namespace tessera::files {
namespace {

static_assert(std::endian::native == std::endian::little);

struct Header {
    std::string descr;
    bool fortran_order = false;
    std::vector<int> shape;
};

// The header is a dictionary as Python prints it, of three keys.
class HeaderParser {
public:
    explicit HeaderParser(const std::string &text) : text(text) {}

    Header parse() {
        Header header;
        bool has_descr = false, has_order = false, has_shape = false;
        expect('{');
        while (!accept('}')) {
            std::string key = quoted();
            expect(':');
            if (key == "descr") {
                if (accept('[')) throw RuntimeError("its elements are records");
                header.descr = quoted();
                has_descr = true;
            } else if (key == "fortran_order") {
                header.fortran_order = truth();
                has_order = true;
            } else if (key == "shape") {
                header.shape = shape();
                has_shape = true;
            } else {
                bad();
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (!has_descr || !has_order || !has_shape) bad();
        return header;
    }

private:
    [[noreturn]] static void bad() { throw RuntimeError("its header is damaged"); }
    void skip_spaces() {
        while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) at++;
    }
    bool accept(char c) {
        skip_spaces();
        if (at >= text.size() || text[at] != c) return false;
        at++;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) bad();
    }
    std::string quoted() {
        char quote = accept('\'') ? '\'' : '"';
        if (quote == '"') expect('"');
        size_t end = text.find(quote, at);
        if (end == std::string::npos) bad();
        std::string word = text.substr(at, end - at);
        at = end + 1;
        return word;
    }
    bool truth() {
        skip_spaces();
        for (const char *word : {"True", "False"}) {
            if (text.compare(at, std::strlen(word), word) != 0) continue;
            at += std::strlen(word);
            return word[0] == 'T';
        }
        bad();
    }
    std::vector<int> shape() {
        std::vector<int> extents;
        expect('(');
        while (!accept(')')) {
            skip_spaces();
            int extent = 0;
            auto [end, error] =
                std::from_chars(text.data() + at, text.data() + text.size(), extent);
            if (error == std::errc::result_out_of_range) {
                throw RuntimeError("a dimension of the array is longer than 2147483647");
            }
            if (error != std::errc() || extent < 0) bad();
            at = size_t(end - text.data());
            // Python 2 has numbers that end in L.
            if (at < text.size() && text[at] == 'L') at++;
            extents.push_back(extent);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return extents;
    }

    const std::string &text;
    size_t at = 0;
};

struct ElementType {
    const char *text;
    tessera_type_t type;
};

constexpr ElementType element_types[] = {
    {"b1", {tessera_type_uint, 1}},        {"i1", {tessera_type_int, 8}},
    {"i2", {tessera_type_int, 16}},        {"i4", {tessera_type_int, 32}},
    {"i8", {tessera_type_int, 64}},        {"u1", {tessera_type_uint, 8}},
    {"u2", {tessera_type_uint, 16}},       {"u4", {tessera_type_uint, 32}},
    {"u8", {tessera_type_uint, 64}},       {"f2", {tessera_type_float, 16}},
    {"f4", {tessera_type_float, 32}},      {"f8", {tessera_type_float, 64}},
    {"V2", {tessera_type_bfloat, 16}},     {"V1", {tessera_type_float8_e4m3, 8}},
    {"f1", {tessera_type_float8_e5m2, 8}},
};

tessera_type_t type_of_descr(const std::string &descr) {
    if (descr.size() > 1 && std::strchr("<>|=", descr[0])) {
        for (const ElementType &e : element_types) {
            if (descr.substr(1) == e.text) return e.type;
        }
    }
    throw RuntimeError(str("its elements are '", descr, "', which no argument can be"));
}

std::string read_header(std::FILE *file) {
    uint8_t head[8];  // "\x93NUMPY" and the version
    read_bytes(file, head, sizeof(head), "array");
    if (head[6] < 1 || head[6] > 3) {
        throw RuntimeError(str("it is of version ", int(head[6]), "; 1 to 3 are read"));
    }
    uint8_t size[4] = {};
    read_bytes(file, size, head[6] == 1 ? 2 : 4, "array");
    uint32_t length = 0;
    std::memcpy(&length, size, sizeof(length));
    check_file_holds(file, length, 1, "array");
    std::string text(length, '\0');
    read_bytes(file, text.data(), length, "array");
    return text;
}

// The elements of `from`, whose first dimension is innermost, with the dimensions in reverse.
void reverse_dimensions(const std::vector<uint8_t> &from, const std::vector<int> &extents,
                        Array &to) {
    size_t bytes = size_t(to.type.bytes()), dimensions = extents.size();
    std::vector<size_t> strides(dimensions, 1);
    for (size_t d = dimensions; d-- > 1;) strides[d - 1] = strides[d] * size_t(extents[d]);
    std::vector<int> index(dimensions, 0);
    size_t place = 0;
    for (size_t i = 0; i < to.number_of_elements(); i++) {
        std::memcpy(to.bytes.data() + place * bytes, from.data() + i * bytes, bytes);
        for (size_t d = 0; d < dimensions; d++) {
            place += strides[d];
            if (++index[d] < extents[d]) break;
            place -= strides[d] * size_t(extents[d]);
            index[d] = 0;
        }
    }
}

// A byte of another value than 0 and 1 is no bool that a pipeline may meet.
void make_truths(Array &array) {
    if (array.type.bits != 1) return;
    for (uint8_t &byte : array.bytes) byte = byte != 0;
}

std::string descr_of(tessera_type_t type) {
    for (const ElementType &e : element_types) {
        if (e.type == type) return str(type.bytes() == 1 ? "|" : "<", e.text);
    }
    throw RuntimeError(str("an .npy file cannot hold elements of ", name_of(type)));
}

}  // namespace

Array read_npy(const std::string &path, const std::string &) {
    Stream file = open_stream(path);
    std::string text = read_header(file.get());
    Header header = HeaderParser(text).parse();
    tessera_type_t type = type_of_descr(header.descr);
    uint64_t elements = product_of(header.shape);
    uint64_t bytes = elements;
    if (__builtin_mul_overflow(elements, uint64_t(type.bytes()), &bytes)) {
        bytes = std::numeric_limits<uint64_t>::max();
    }
    check_file_holds(file.get(), bytes, 1, "array");
    Array array(type, {header.shape.rbegin(), header.shape.rend()});
    read_bytes(file.get(), array.bytes.data(), array.bytes.size(), "array");
    if (header.descr[0] == '>') swap_bytes(array.bytes.data(), elements, size_t(type.bytes()));
    if (header.fortran_order && header.shape.size() > 1) {
        std::vector<uint8_t> stored = array.bytes;
        reverse_dimensions(stored, header.shape, array);
    }
    make_truths(array);
    return array;
}

void write_npy(const Array &array, const std::string &path, const std::string &) {
    std::string shape;
    for (size_t d = array.extents.size(); d-- > 0;) shape += str(array.extents[d], ", ");
    if (array.extents.size() > 1) shape.resize(shape.size() - 2);
    std::string header = str("{'descr': '", descr_of(array.type),
                             "', 'fortran_order': False, 'shape': (", shape, "), }");
    constexpr size_t before = 10, alignment = 64;
    header.resize((before + header.size() + alignment) / alignment * alignment - before, ' ');
    header.back() = '\n';
    AtomicFile file(path);
    file.write("\x93NUMPY\x01\x00", 8);
    uint16_t length = uint16_t(header.size());
    file.write(&length, sizeof(length));
    file.write(header.data(), header.size());
    file.write(array.bytes.data(), array.bytes.size());
    file.commit();
}

}  // namespace tessera::files
