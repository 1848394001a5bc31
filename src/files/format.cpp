#include "files/format.h"
#include "base/error.h"
#include "files/formats.h"
#include "files/stream.h"
#include <algorithm>
#include <cctype>
#include <new>

namespace tessera::files {
namespace {

template<char text, char binary> bool is_pnm(std::string_view head) {
    return head.size() > 1 && head[0] == 'P' && (head[1] == text || head[1] == binary);
}

// Its version is behind the first 124 bytes, and tells the order of bytes.
bool is_mat(std::string_view head) {
    if (head.size() < 128) return false;
    std::string_view version = head.substr(124, 4);
    return version.substr(2) == "IM" || version.substr(2) == "MI";
}

constexpr const char *png[] = {".png"}, *pgm[] = {".pgm"}, *ppm[] = {".ppm"}, *npy[] = {".npy"},
                     *mat[] = {".mat"};
constexpr Format formats[] = {
    {"PNG", png, [](std::string_view head) { return head.starts_with("\x89P"); }, read_png,
     write_png, true},
    {"PGM", pgm, is_pnm<'2', '5'>, read_pnm, write_pgm, true},
    {"PPM", ppm, is_pnm<'3', '6'>, read_pnm, write_ppm, true},
    {"NPY", npy, [](std::string_view head) { return head.starts_with("\x93NUMPY"); }, read_npy,
     write_npy},
    {"MAT", mat, is_mat, read_mat, write_mat},
};
constexpr size_t num_pictures = 3;

// "a, b or c"
std::string alternatives(const std::vector<const char *> &words) {
    std::string all;
    for (size_t i = 0; i < words.size(); i++) {
        if (i > 0) all += i + 1 == words.size() ? " or " : ", ";
        all += words[i];
    }
    return all;
}

std::string head_of(const std::string &path) {
    Stream file = open_stream(path);
    std::string head(128, '\0');
    head.resize(std::fread(head.data(), 1, head.size(), file.get()));
    if (std::ferror(file.get())) throw RuntimeError("it cannot be read");
    if (head.size() < 2) throw RuntimeError("the file ends before the image does");
    return head;
}

}  // namespace

std::span<const Format> picture_formats() { return std::span(formats).first(num_pictures); }
std::span<const Format> all_formats() { return formats; }

Array read_file(const std::string &path, std::span<const Format> list, const std::string &name) {
    std::string head = head_of(path);
    for (const Format &f : list) {
        if (!f.begins(head)) continue;
        try {
            return f.read(path, name);
        } catch (const std::bad_alloc &) {
            throw RuntimeError("out of memory");
        }
    }
    std::vector<const char *> names;
    for (const Format &f : list) names.push_back(f.name);
    throw RuntimeError(str("it is no ", alternatives(names), " file"));
}

const Format &format_for(const std::string &path, std::span<const Format> list) {
    std::string lower = path;
    for (char &c : lower) c = char(std::tolower(static_cast<unsigned char>(c)));
    std::vector<const char *> endings;
    for (const Format &f : list) {
        for (const char *ending : f.endings) {
            if (lower.ends_with(ending)) return f;
            endings.push_back(ending);
        }
    }
    throw RuntimeError(str("the path must end in ", alternatives(endings)));
}

}  // namespace tessera::files
