#include "base/atomic_file.h"
#include "base/error.h"
#include "base/str.h"
#include "files/format.h"
#include "halide_image_io.h"
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace Halide::Tools::Internal {
namespace {

namespace files = tessera::files;
using tessera::Buffer;
using tessera::RuntimeError;
using tessera::Type;

[[noreturn]] void fail(const std::string &path, const std::string &why) {
    throw RuntimeError(path + ": " + why);
}

// Five numbers of 32 bits (four extents and the type), and the elements.
const Type tmp_types[] = {
    tessera::Float(32), tessera::Float(64), tessera::UInt(8), tessera::Int(8),   tessera::UInt(16),
    tessera::Int(16),   tessera::UInt(32),  tessera::Int(32), tessera::UInt(64), tessera::Int(64)};

void write_tmp(const Buffer<> &image, const std::string &path) {
    const Type *type = std::find(std::begin(tmp_types), std::end(tmp_types), image.type());
    if (type == std::end(tmp_types)) fail(path, "a .tmp file cannot hold elements of this type");
    if (image.dimensions() > 4) fail(path, "a .tmp file has at most four dimensions");
    Buffer<> dense = image.copy_to_planar();
    int32_t header[5] = {1, 1, 1, 1, int32_t(type - tmp_types)};
    for (int d = 0; d < dense.dimensions(); d++) header[d] = dense.extent(d);
    try {
        tessera::AtomicFile out(path);
        out.write(header, sizeof(header));
        out.write(dense.data(), dense.size_in_bytes());
        out.commit();
    } catch (const tessera::RuntimeError &e) {
        fail(path, tessera::str("cannot write the file: ", e.what()));
    }
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

bool is_tmp(const std::string &path) { return path.ends_with(".tmp"); }

const files::Format &format_of(const std::string &path) {
    try {
        return files::format_for(path, files::all_formats());
    } catch (const RuntimeError &e) {
        fail(path, e.what());
    }
}

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
    if (is_tmp(path) || (forms.empty() && !format_of(path).holds_pictures)) {
        for (Type t : tmp_types) add({t}, 1, 4);
    }
    if (forms.empty()) fail(path, "files of this ending cannot be written");
    return forms;
}

Buffer<> read_image(const std::string &path) {
    if (is_tmp(path)) return read_tmp(path);
    try {
        files::Array array = files::read_file(path, files::all_formats());
        Buffer<> image(Type(array.type), array.extents);
        std::memcpy(image.data(), array.bytes.data(), array.bytes.size());
        return image;
    } catch (const RuntimeError &e) {
        fail(path, e.what());
    }
}

void write_image(const Buffer<> &image, const std::string &path) {
    if (is_tmp(path)) return write_tmp(image, path);
    const files::Format &format = format_of(path);
    if (format.holds_pictures) return tessera::save_image(image, path);
    Buffer<> dense = image.copy_to_planar();
    std::vector<int> extents;
    for (int d = 0; d < dense.dimensions(); d++) extents.push_back(dense.extent(d));
    files::Array array(dense.type(), extents);
    std::memcpy(array.bytes.data(), dense.data(), array.bytes.size());
    try {
        format.write(array, path, "");
    } catch (const RuntimeError &e) {
        fail(path, e.what());
    }
}

}  // namespace Halide::Tools::Internal
