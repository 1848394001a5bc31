#include "autoscheduler/bundle/object_file.h"
#include "base/error.h"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace tessera::autoscheduler {
namespace {

// A jump to where the slot behind it says: jmp *2(%rip).
constexpr uint8_t jump[] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x90, 0x90};
constexpr size_t slot_bytes = sizeof(jump) + sizeof(uint64_t);

class Object {
public:
    explicit Object(const std::string &path) : path(path) {
        std::ifstream file(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
        require(bytes.size() >= sizeof(Elf64_Ehdr) &&
                std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0);
        const auto &header = at<Elf64_Ehdr>(0);
        require(header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_REL &&
                header.e_machine == EM_X86_64);
        for (size_t i = 0; i < header.e_shnum; i++)
            sections.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
        for (const Elf64_Shdr &s : sections) {
            if (s.sh_type != SHT_SYMTAB) continue;
            names = &section(s.sh_link);
            for (size_t i = 0; i < s.sh_size / sizeof(Elf64_Sym); i++)
                symbols.push_back(at<Elf64_Sym>(s.sh_offset + i * sizeof(Elf64_Sym)));
        }
        require(names != nullptr);
    }

    void *load(const std::string &function) {
        lay_out();
        find_symbols();
        for (const Elf64_Shdr &s : sections) {
            if (s.sh_type == SHT_RELA && is_loaded(section(s.sh_info))) relocate(s);
        }
        if (mprotect(memory, bytes_of_code, PROT_READ | PROT_EXEC) != 0)
            throw RuntimeError("this machine does not let code be loaded: mprotect fails");
        for (size_t i = 0; i < sections.size(); i++) {
            if (sections[i].sh_type != SHT_INIT_ARRAY) continue;
            auto *all = reinterpret_cast<void (**)()>(places[i]);
            for (size_t k = 0; k < sections[i].sh_size / sizeof(*all); k++) all[k]();
        }
        for (size_t i = 0; i < symbols.size(); i++) {
            if (symbols[i].st_shndx != SHN_UNDEF && name_of(symbols[i]) == function)
                return reinterpret_cast<void *>(addresses[i]);
        }
        throw RuntimeError(str(path, " has no function ", function));
    }

private:
    void require(bool condition) const {
        if (!condition) throw RuntimeError(str(path, " is no object of this machine"));
    }
    template<typename T> const T &at(uint64_t offset) const {
        require(offset <= bytes.size() && sizeof(T) <= bytes.size() - offset);
        return *reinterpret_cast<const T *>(bytes.data() + offset);
    }
    const Elf64_Shdr &section(size_t i) const {
        require(i < sections.size());
        return sections[i];
    }
    static bool is_loaded(const Elf64_Shdr &s) { return (s.sh_flags & SHF_ALLOC) != 0; }
    std::string name_of(const Elf64_Sym &s) const {
        require(s.st_name < names->sh_size && names->sh_offset + names->sh_size <= bytes.size());
        return bytes.data() + names->sh_offset + s.st_name;
    }

    // Code first, with a slot for each symbol; then data, from the next page on.
    void lay_out() {
        const auto page = uint64_t(sysconf(_SC_PAGESIZE));
        const auto aligned = [](uint64_t v, uint64_t n) { return n > 1 ? (v + n - 1) / n * n : v; };
        std::vector<uint64_t> offsets(sections.size(), 0);
        uint64_t end = symbols.size() * slot_bytes;
        for (const bool is_code : {true, false}) {
            for (size_t i = 0; i < sections.size(); i++) {
                const Elf64_Shdr &s = sections[i];
                if (!is_loaded(s) || ((s.sh_flags & SHF_EXECINSTR) != 0) != is_code) continue;
                require((s.sh_flags & SHF_TLS) == 0 && s.sh_addralign <= page);
                offsets[i] = aligned(end, s.sh_addralign);
                end = offsets[i] + s.sh_size;
            }
            if (is_code) bytes_of_code = end = aligned(end, page);
        }
        void *p = mmap(nullptr, std::max(end, page), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) throw RuntimeError(str("there is no memory for ", path));
        memory = static_cast<uint8_t *>(p);
        for (size_t i = 0; i < sections.size(); i++) {
            const Elf64_Shdr &s = sections[i];
            places.push_back(memory + offsets[i]);
            if (!is_loaded(s) || s.sh_type == SHT_NOBITS) continue;
            require(s.sh_offset <= bytes.size() && s.sh_size <= bytes.size() - s.sh_offset);
            std::memcpy(places[i], bytes.data() + s.sh_offset, s.sh_size);
        }
    }

    void find_symbols() {
        for (size_t i = 0; i < symbols.size(); i++) {
            const Elf64_Sym &s = symbols[i];
            uint64_t address = s.st_value;
            if (s.st_shndx == SHN_UNDEF && i > 0) {
                const std::string name = name_of(s);
                address = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, name.c_str()));
                // No relocation of those below refers to the name of the table itself.
                const bool is_table = name == "_GLOBAL_OFFSET_TABLE_";
                if (address == 0 && !is_table && ELF64_ST_BIND(s.st_info) != STB_WEAK)
                    throw RuntimeError(str(path, " calls ", name, ", which is not there"));
            } else if (s.st_shndx < SHN_LORESERVE && i > 0) {
                require(s.st_shndx < places.size());
                address += reinterpret_cast<uint64_t>(places[s.st_shndx]);
            } else {
                require(i == 0 || s.st_shndx == SHN_ABS);
            }
            addresses.push_back(address);
            std::memcpy(slot(i), jump, sizeof(jump));
            std::memcpy(slot(i) + sizeof(jump), &address, sizeof(address));
        }
    }
    uint8_t *slot(size_t symbol) const { return memory + symbol * slot_bytes; }

    void relocate(const Elf64_Shdr &table) {
        const Elf64_Shdr &to = section(table.sh_info);
        for (uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Rela); i++) {
            const auto &r = at<Elf64_Rela>(table.sh_offset + i * sizeof(Elf64_Rela));
            require(r.r_offset < to.sh_size && ELF64_R_SYM(r.r_info) < symbols.size());
            apply(r, places[table.sh_info] + r.r_offset);
        }
    }
    void apply(const Elf64_Rela &r, uint8_t *place) const {
        const size_t symbol = ELF64_R_SYM(r.r_info);
        const bool is_elsewhere = symbols[symbol].st_shndx == SHN_UNDEF;
        const uint64_t here = reinterpret_cast<uint64_t>(place), addend = uint64_t(r.r_addend);
        switch (ELF64_R_TYPE(r.r_info)) {
        case R_X86_64_64: return put(place, addresses[symbol] + addend);
        case R_X86_64_PC64: return put(place, addresses[symbol] + addend - here);
        case R_X86_64_PC32:
        case R_X86_64_PLT32: {
            // What is elsewhere may be too far away.
            const uint64_t target =
                is_elsewhere ? reinterpret_cast<uint64_t>(slot(symbol)) : addresses[symbol];
            return put_short(place, target + addend - here);
        }
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX:
            return put_short(place, reinterpret_cast<uint64_t>(slot(symbol)) + sizeof(jump) +
                                        addend - here);
        default:
            throw RuntimeError(
                str(path, " has a relocation of the unknown type ", ELF64_R_TYPE(r.r_info)));
        }
    }
    static void put(uint8_t *place, uint64_t value) { std::memcpy(place, &value, sizeof(value)); }
    void put_short(uint8_t *place, uint64_t value) const {
        const auto distance = int64_t(value);
        const auto stored = int32_t(distance);
        if (stored != distance) throw RuntimeError(str(path, " is too large to be loaded"));
        std::memcpy(place, &stored, sizeof(stored));
    }

    const std::string path;
    std::vector<char> bytes;
    std::vector<Elf64_Shdr> sections;
    std::vector<Elf64_Sym> symbols;
    const Elf64_Shdr *names = nullptr;
    uint8_t *memory = nullptr;
    uint64_t bytes_of_code = 0;
    std::vector<uint8_t *> places;    // of the sections
    std::vector<uint64_t> addresses;  // of the symbols
};

}  // namespace

void *load_object(const std::string &path, const std::string &function) {
    return Object(path).load(function);
}

}  // namespace tessera::autoscheduler
