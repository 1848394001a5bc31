#include "driver/shared_symbols.h"
#include "base/error.h"
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <vector>

namespace tessera::driver {
namespace {

std::string contents_of(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in.is_open() || in.bad()) throw RuntimeError(str("cannot read the library ", path));
    return bytes;
}

// The parts of a file, none of which may end behind it.
class ElfFile {
public:
    explicit ElfFile(const std::string &path) : path(path), bytes(contents_of(path)) {}

    template<typename T> T at(uint64_t offset) const {
        require(offset <= bytes.size() && sizeof(T) <= bytes.size() - offset);
        T value;
        std::memcpy(&value, bytes.data() + offset, sizeof(T));
        return value;
    }
    std::string text_at(uint64_t offset) const {
        require(offset < bytes.size());
        const size_t end = bytes.find('\0', offset);
        require(end != std::string::npos);
        return bytes.substr(offset, end - offset);
    }
    void require(bool is_sound) const {
        if (!is_sound) throw RuntimeError(str("the library ", path, " is damaged"));
    }

private:
    const std::string &path;
    std::string bytes;
};

}  // namespace

LibraryKind library_kind(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw RuntimeError(str("cannot read the library ", path));
    char head[EI_NIDENT + 2] = {};
    in.read(head, sizeof(head));
    if (std::string_view(head, 8) == "!<arch>\n") return LibraryKind::Archive;
    const int type = uint8_t(head[EI_NIDENT]);
    if (std::string_view(head, SELFMAG) != ELFMAG || (type != ET_REL && type != ET_DYN))
        throw RuntimeError(str(path, " is no library"));
    if (head[EI_CLASS] != ELFCLASS64)
        throw RuntimeError(str("the library ", path, " is not for a machine of 64 bits"));
    return type == ET_DYN ? LibraryKind::Shared : LibraryKind::Object;
}

std::set<std::string> shared_symbols(const std::string &path) {
    const ElfFile file(path);
    const auto header = file.at<Elf64_Ehdr>(0);
    std::vector<Elf64_Shdr> sections;
    for (uint64_t i = 0; i < header.e_shnum; i++)
        sections.push_back(file.at<Elf64_Shdr>(header.e_shoff + i * header.e_shentsize));
    std::set<std::string> names;
    for (const Elf64_Shdr &section : sections) {
        if (section.sh_type != SHT_DYNSYM) continue;
        file.require(section.sh_link < sections.size());
        const uint64_t texts = sections[section.sh_link].sh_offset;
        for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = file.at<Elf64_Sym>(section.sh_offset + at);
            if (symbol.st_shndx != SHN_UNDEF) names.insert(file.text_at(texts + symbol.st_name));
        }
    }
    return names;
}

}  // namespace tessera::driver
