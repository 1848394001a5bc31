#include "symbol_names.h"
#include "base/error.h"
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>

namespace tessera::run {
namespace {

class ElfFile {
public:
    explicit ElfFile(const std::string &path) {
        std::ifstream file(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
    }

    std::vector<std::string> names() const {
        auto head = at<Elf64_Ehdr>(0);
        std::vector<std::string> found;
        for (size_t i = 0; i < head.e_shnum; i++) {
            auto section = this->section(head, i);
            if (section.sh_type != SHT_DYNSYM) continue;
            auto strings = this->section(head, section.sh_link);
            for (size_t s = 0; s < section.sh_size / sizeof(Elf64_Sym); s++) {
                auto symbol = at<Elf64_Sym>(section.sh_offset + s * sizeof(Elf64_Sym));
                if (symbol.st_shndx == SHN_UNDEF) continue;
                found.push_back(text(strings.sh_offset + symbol.st_name));
            }
        }
        return found;
    }

private:
    template<typename T> T at(size_t offset) const {
        if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) {
            throw RuntimeError("it is damaged");
        }
        T value;
        std::memcpy(&value, bytes.data() + offset, sizeof(value));
        return value;
    }
    Elf64_Shdr section(const Elf64_Ehdr &head, size_t i) const {
        return at<Elf64_Shdr>(head.e_shoff + i * sizeof(Elf64_Shdr));
    }
    std::string text(size_t offset) const {
        size_t end = bytes.find('\0', offset);
        if (end == std::string::npos) throw RuntimeError("it is damaged");
        return bytes.substr(offset, end - offset);
    }

    std::string bytes;
};

}  // namespace

std::vector<std::string> symbol_names(const std::string &path) { return ElfFile(path).names(); }

}  // namespace tessera::run
