#include "halide_image_io.h"
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

// Arrays in .npy files, version 1: a line of text that describes them, and the elements.
namespace Halide::Tools::Internal {
namespace {

using tessera::Buffer;
using tessera::RuntimeError;
using tessera::Type;
using tessera::TypeCode;

const char magic[] = "\x93NUMPY";

[[noreturn]] void fail(const std::string &path, const std::string &why) {
    throw RuntimeError(path + ": " + why);
}

std::string type_text(const std::string &path, Type t) {
    const char *code = t.is_int() ? "i" : t.is_uint() ? "u" : t.is_float() ? "f" : nullptr;
    if (t.is_bool()) return "|b1";
    if (!code) fail(path, "elements of this type have no form in a .npy file");
    return std::string(t.bytes() == 1 ? "|" : "<") + code + std::to_string(t.bytes());
}

Type type_from(const std::string &path, const std::string &text) {
    if (text == "|b1") return tessera::Bool();
    int bits = text.size() == 3 ? (text[2] - '0') * 8 : 0;
    bool known = bits == 8 || bits == 16 || bits == 32 || bits == 64;
    if (!known || (text[0] != '<' && text[0] != '|')) {
        fail(path, "elements are of a type that is not supported");
    }
    if (text[1] == 'i') return Type(TypeCode::Int, bits);
    if (text[1] == 'u') return Type(TypeCode::UInt, bits);
    if (text[1] == 'f' && bits > 8) return Type(TypeCode::Float, bits);
    fail(path, "elements are of a type that is not supported");
}

// The text after 'key': in the description.
std::string value_of(const std::string &path, const std::string &description,
                     const std::string &key) {
    size_t at = description.find("'" + key + "':");
    if (at == std::string::npos) fail(path, "the description lacks '" + key + "'");
    return description.substr(description.find_first_not_of(' ', at + key.size() + 3));
}

void write_npy(const Buffer<> &image, const std::string &path) {
    Buffer<> dense = image.copy_to_planar();
    std::ostringstream description;
    description << "{'descr': '" << type_text(path, image.type())
                << "', 'fortran_order': True, 'shape': (";
    for (int d = 0; d < dense.dimensions(); d++) description << dense.extent(d) << ",";
    description << "), }";
    std::string text = description.str();
    const size_t before = 10;
    text.append((64 - (before + text.size() + 1) % 64) % 64, ' ');
    text += '\n';
    std::ofstream out(path, std::ios::binary);
    out.write(magic, 6).put(1).put(0);
    out.put(char(text.size() & 0xff)).put(char(text.size() >> 8)) << text;
    out.write(static_cast<const char *>(dense.data()), std::streamsize(dense.size_in_bytes()));
    if (!out.flush()) fail(path, "cannot write the file");
}

Buffer<> read_npy(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::string all{std::istreambuf_iterator<char>(in), {}};
    if (!in && all.empty()) fail(path, "cannot read the file");
    if (all.size() < 10 || all.compare(0, 6, magic) != 0 || all[6] != 1) {
        fail(path, "this is no .npy file of version 1");
    }
    size_t length = uint8_t(all[8]) | size_t(uint8_t(all[9])) << 8;
    std::string text = all.substr(10, length);
    std::string type = value_of(path, text, "descr");
    Type t = type_from(path, type.substr(1, type.find('\'', 1) - 1));
    bool first_fastest = value_of(path, text, "fortran_order").compare(0, 4, "True") == 0;
    std::string shape = value_of(path, text, "shape");
    std::istringstream numbers(shape.substr(1, shape.find(')') - 1));
    std::vector<int> sizes, order;
    for (int n; numbers >> n; numbers.ignore()) sizes.push_back(n);
    for (int d = 0; d < int(sizes.size()); d++) {
        order.push_back(first_fastest ? d : int(sizes.size()) - 1 - d);
    }
    Buffer<> image(t, sizes, order);
    if (all.size() != 10 + length + image.size_in_bytes()) fail(path, "the file is damaged");
    std::memcpy(image.data(), all.data() + 10 + length, image.size_in_bytes());
    return image;
}

// Five numbers of 32 bits (four extents and the type), and the elements.
const Type tmp_types[] = {tessera::Float(32), tessera::Float(64), tessera::UInt(8),
                          tessera::Int(8),    tessera::UInt(16),  tessera::Int(16),
                          tessera::UInt(32),  tessera::Int(32),   tessera::UInt(64),
                          tessera::Int(64)};

void write_tmp(const Buffer<> &image, const std::string &path) {
    const Type *type = std::find(std::begin(tmp_types), std::end(tmp_types), image.type());
    if (type == std::end(tmp_types)) fail(path, "a .tmp file cannot hold elements of this type");
    if (image.dimensions() > 4) fail(path, "a .tmp file has at most four dimensions");
    Buffer<> dense = image.copy_to_planar();
    int32_t header[5] = {1, 1, 1, 1, int32_t(type - tmp_types)};
    for (int d = 0; d < dense.dimensions(); d++) header[d] = dense.extent(d);
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char *>(header), sizeof(header));
    out.write(static_cast<const char *>(dense.data()), std::streamsize(dense.size_in_bytes()));
    if (!out.flush()) fail(path, "cannot write the file");
}

Buffer<> read_tmp(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    int32_t header[5];
    if (!in.read(reinterpret_cast<char *>(header), sizeof(header))) {
        fail(path, "cannot read the file");
    }
    bool sane = header[4] >= 0 && header[4] < int(std::size(tmp_types));
    for (int d = 0; d < 4; d++) sane = sane && header[d] > 0;
    if (!sane) fail(path, "this is no .tmp file");
    std::vector<int> sizes(header, header + 4);
    while (sizes.size() > 1 && sizes.back() == 1) sizes.pop_back();
    Buffer<> image(tmp_types[header[4]], sizes);
    in.read(static_cast<char *>(image.data()), std::streamsize(image.size_in_bytes()));
    if (!in) fail(path, "the file is damaged");
    return image;
}

bool is_npy(const std::string &path) { return path.ends_with(".npy"); }
bool is_tmp(const std::string &path) { return path.ends_with(".tmp"); }

}  // namespace

std::set<std::pair<Type, int>> forms_of_image(const std::string &path) {
    std::set<std::pair<Type, int>> forms;
    auto add = [&](std::initializer_list<Type> types, int least, int most) {
        for (Type t : types) {
            for (int d = least; d <= most; d++) forms.emplace(t, d);
        }
    };
    auto whole = {tessera::UInt(8), tessera::UInt(16)};
    if (path.ends_with(".pgm")) add(whole, 2, 2);
    if (path.ends_with(".ppm")) add(whole, 3, 3);
    if (path.ends_with(".png")) add(whole, 2, 3);
    if (is_npy(path) || is_tmp(path)) {
        for (Type t : tmp_types) add({t}, 1, 4);
    }
    if (forms.empty()) fail(path, "files of this ending cannot be written");
    return forms;
}

Buffer<> read_image(const std::string &path) {
    if (is_tmp(path)) return read_tmp(path);
    return is_npy(path) ? read_npy(path) : tessera::load_image(path);
}

void write_image(const Buffer<> &image, const std::string &path) {
    if (is_tmp(path)) return write_tmp(image, path);
    if (is_npy(path)) return write_npy(image, path);
    tessera::save_image(image, path);
}

}  // namespace Halide::Tools::Internal
