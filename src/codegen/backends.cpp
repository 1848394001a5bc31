#include "base/error.h"
#include "codegen/aarch64/architecture.h"
#include "codegen/backend.h"
#include "codegen/c/c_source.h"
#include "codegen/nvptx/device_text.h"
#include "codegen/x86/architecture.h"
#include <algorithm>

namespace tessera::codegen {
namespace {

std::vector<char> bytes_of(const std::string &text) { return {text.begin(), text.end()}; }

constexpr CodeMaker with_llvm[] = {
    {CodeKind::LLVMAssembly, [](const ir::Module &m, const Target &t,
                                const Options &o) { return bytes_of(to_llvm_ir(m, t, o)); }},
    {CodeKind::Bitcode, to_bitcode},
    {CodeKind::Assembly,
     [](const ir::Module &m, const Target &t, const Options &o) {
         return bytes_of(to_assembly(m, t, o) + device_comment(m, t));
     }},
    {CodeKind::Object, to_object},
    {CodeKind::DeviceCode, [](const ir::Module &m, const Target &t,
                              const Options &) { return bytes_of(to_device_code(m, t)); }},
};

constexpr CodeMaker as_c[] = {
    {CodeKind::CSource, [](const ir::Module &m, const Target &t,
                           const Options &) { return bytes_of(to_c_source(m, t)); }},
};

bool is_machine(const Target &target, const char *plain_target) {
    const Target plain(plain_target);
    return target.arch == plain.arch && target.bits == plain.bits && target.os == plain.os;
}

constexpr Backend all[] = {
    {"x86-64-linux", [](const Target &t) { return is_machine(t, "x86-64-linux"); }, with_llvm,
     x86_architecture},
    {"arm-64-linux", [](const Target &t) { return is_machine(t, "arm-64-linux"); }, with_llvm,
     aarch64_architecture},
    {"C", [](const Target &) { return true; }, as_c},
};

}  // namespace

std::span<const Backend> backends() { return all; }

const CodeMaker *Backend::maker_of(CodeKind kind) const {
    auto found = std::ranges::find(makers, kind, &CodeMaker::kind);
    return found == makers.end() ? nullptr : &*found;
}

const Backend &backend_for(CodeKind kind, const Target &target) {
    std::vector<std::string> others;
    for (const Backend &backend : all) {
        if (!backend.maker_of(kind)) continue;
        if (backend.serves(target)) return backend;
        others.emplace_back(backend.name);
    }
    throw CompileError(str("no code can be made for the target ", target.to_string(),
                           "; what can be made is for ", join(others, " and ")));
}

std::vector<char> make_code(CodeKind kind, const ir::Module &module, const Target &target,
                            const Options &options) {
    return backend_for(kind, target).maker_of(kind)->make(module, target, options);
}

}  // namespace tessera::codegen
