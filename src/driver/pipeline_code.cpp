#include "driver/pipeline_code.h"
#include "base/kept_files.h"
#include "base/str.h"
#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <link.h>
#include <span>

namespace tessera::driver {
namespace {

namespace fs = std::filesystem;

// ---- This build of the compiler ----

struct Build {
    uintptr_t address;  // of a function of the library or program that is looked for
    std::string id;     // what its linker has made of its contents
};

std::string id_in_notes(const char *notes, size_t bytes) {
    constexpr size_t alignment = 4;
    const auto aligned = [](size_t n) { return (n + alignment - 1) / alignment * alignment; };
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes + at, sizeof(note));
        const size_t name = at + sizeof(note), contents = name + aligned(note.n_namesz);
        at = contents + aligned(note.n_descsz);
        if (at > bytes) break;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU))
            return {notes + contents, note.n_descsz};
    }
    return "";
}

int look_for_id(dl_phdr_info *info, size_t, void *wanted) {
    auto &build = *static_cast<Build *>(wanted);
    const std::span<const ElfW(Phdr)> parts(info->dlpi_phdr, info->dlpi_phnum);
    const auto holds_address = [&](const ElfW(Phdr) & part) {
        return part.p_type == PT_LOAD &&
               build.address - (info->dlpi_addr + part.p_vaddr) < part.p_memsz;
    };
    if (std::ranges::none_of(parts, holds_address)) return 0;
    for (const ElfW(Phdr) &part : parts) {
        if (part.p_type != PT_NOTE || !build.id.empty()) continue;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the linker says where
        const auto *notes = reinterpret_cast<const char *>(info->dlpi_addr + part.p_vaddr);
        build.id = id_in_notes(notes, part.p_memsz);
    }
    return 1;
}

// Where the linker has given the library no id, its file stands for it.
std::string file_of(uintptr_t address) {
    Dl_info info{};
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    if (!dladdr(reinterpret_cast<void *>(address), &info) || !info.dli_fname) return "";
    std::error_code failed;
    const fs::path path = fs::absolute(info.dli_fname, failed);
    const auto bytes = failed ? 0 : fs::file_size(path, failed);
    const auto written = failed ? fs::file_time_type() : fs::last_write_time(path, failed);
    if (failed) return "";
    return str(path.string(), " ", bytes, " ", written.time_since_epoch().count());
}

// Returns what tells the code of this compiler from others; "" if nothing does.
const std::string &build_id() {
    static const std::string id = [] {
        Build build{reinterpret_cast<uintptr_t>(&look_for_id), ""};
        dl_iterate_phdr(look_for_id, &build);
        return build.id.empty() ? file_of(build.address) : build.id;
    }();
    return id;
}

// ---- The bytes of a file ----

// FNV-1a: the same in every process.
uint64_t hash_of_text(std::string_view text) {
    uint64_t h = 0xCBF29CE484222325ull;
    for (const char c : text) h = (h ^ uint8_t(c)) * 0x100000001B3ull;
    return h;
}

constexpr std::string_view magic = "tessera pipeline 1\n";

class ByteWriter {
public:
    std::string bytes;
    void put(uint64_t n) { bytes.append(reinterpret_cast<const char *>(&n), sizeof(n)); }
    void put(const std::string &s) {
        put(s.size());
        bytes += s;
    }
    template<typename T>
    void put(const std::vector<T> &all) {
        put(all.size());
        for (const T &one : all) put(one);
    }
};

// Whatever is not there is 0 or empty.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : bytes(bytes) {}
    bool is_at_end() const { return !failed && bytes.empty(); }
    void take(uint64_t &n) {
        const std::string_view digits = cut(sizeof(n));
        std::memcpy(&n, digits.data(), digits.size());
    }
    void take(std::string &s) {
        uint64_t size = 0;
        take(size);
        s = cut(size);
    }
    template<typename T>
    void take(std::vector<T> &all) {
        uint64_t size = 0;
        take(size);
        for (uint64_t i = 0; i < size && !failed; i++) take(all.emplace_back());
    }

private:
    std::string_view cut(uint64_t count) {
        failed |= count > bytes.size();
        if (failed) return "";
        const std::string_view taken = bytes.substr(0, count);
        bytes.remove_prefix(count);
        return taken;
    }
    std::string_view bytes;
    bool failed = false;
};

std::string file_name(const std::string &key) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string name;
    for (uint64_t hash = hash_of_text(key); name.size() < 16; hash >>= 4) name += digits[hash & 15];
    return name + kept_pipeline;
}

}  // namespace

std::optional<PipelineCode> find_kept_code(const std::string &key) {
    if (build_id().empty()) return std::nullopt;
    const std::string whole = build_id() + key;
    const std::optional<std::string> bytes = find_kept(file_name(whole));
    if (!bytes || !bytes->starts_with(magic)) return std::nullopt;
    const std::string_view rest = std::string_view(*bytes).substr(magic.size());
    ByteReader reader(rest);
    uint64_t hash = 0, have_kernels = 0;
    std::string its_key;
    PipelineCode code;
    reader.take(hash);
    reader.take(its_key);
    reader.take(code.objects.files);
    reader.take(code.objects.functions);
    reader.take(have_kernels);
    reader.take(code.sources);
    reader.take(code.wanted);
    code.objects.have_kernels = have_kernels != 0;
    // A file may be damaged, and two keys may have one name.
    const bool is_whole = reader.is_at_end() && hash == hash_of_text(rest.substr(sizeof(hash)));
    if (!is_whole || its_key != whole) return std::nullopt;
    return code;
}

void keep_code(const std::string &key, const PipelineCode &code) {
    if (build_id().empty()) return;
    const std::string whole = build_id() + key;
    ByteWriter rest;
    rest.put(whole);
    rest.put(code.objects.files);
    rest.put(code.objects.functions);
    rest.put(uint64_t(code.objects.have_kernels));
    rest.put(code.sources);
    rest.put(code.wanted);
    ByteWriter all;
    all.bytes = magic;
    all.put(hash_of_text(rest.bytes));
    keep(file_name(whole), all.bytes + rest.bytes);
}

}  // namespace tessera::driver
