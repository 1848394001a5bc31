#pragma once
#include "codegen/compile.h"
#include <span>

// A backend makes code of modules. To add a machine: a folder, and a row in backends.cpp.
namespace tessera::codegen {

class Architecture;

// The kinds of code that can be made of a module.
enum class CodeKind : uint8_t { LLVMAssembly, Bitcode, Assembly, Object, CSource, DeviceCode };

struct CodeMaker {
    CodeKind kind;
    std::vector<char> (*make)(const ir::Module &module, const Target &target,
                              const Options &options);
};

struct Backend {
    const char *name;
    bool (*serves)(const Target &target);
    std::span<const CodeMaker> makers;
    const Architecture &(*architecture)() = nullptr;  // if LLVM makes the code

    // Null if it makes no code of that kind.
    const CodeMaker *maker_of(CodeKind kind) const;
};

std::span<const Backend> backends();
// The one that makes such code for the target. CompileError if there is none.
const Backend &backend_for(CodeKind kind, const Target &target);

// Throws CompileError if no back end makes such code for the target, or of this module.
std::vector<char> make_code(CodeKind kind, const ir::Module &module, const Target &target,
                            const Options &options = {});

}  // namespace tessera::codegen
