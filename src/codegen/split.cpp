#include "codegen/split.h"
#include <algorithm>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <unordered_map>

namespace tessera::codegen {
namespace {

// Splitting costs more than it gains where a part would have fewer instructions.
constexpr size_t least_instructions = 2000;

struct Sized {
    llvm::Function *function;
    size_t instructions;
};

std::vector<Sized> functions_by_size(llvm::Module &module) {
    std::vector<Sized> all;
    for (llvm::Function &f : module) {
        if (!f.isDeclaration()) all.push_back({&f, f.getInstructionCount()});
    }
    std::stable_sort(all.begin(), all.end(), [](const Sized &a, const Sized &b) {
        return a.instructions > b.instructions;
    });
    return all;
}

std::string bitcode_of(const llvm::Module &module) {
    std::string bytes;
    llvm::raw_string_ostream out(bytes);
    llvm::WriteBitcodeToFile(module, out);
    return bytes;
}

}  // namespace

std::vector<std::string> split_into_bitcode(llvm::Module &module, int parts) {
    std::vector<Sized> functions = functions_by_size(module);
    size_t total = 0;
    for (const Sized &f : functions) total += f.instructions;
    size_t count =
        std::min({size_t(std::max(1, parts)), functions.size(), total / least_instructions});
    if (count < 2) return {};
    // The largest first, each to the part that is the smallest so far.
    std::vector<size_t> sizes(count);
    std::unordered_map<const llvm::GlobalValue *, size_t> part_of;
    for (const Sized &f : functions) {
        size_t part = size_t(std::min_element(sizes.begin(), sizes.end()) - sizes.begin());
        sizes[part] += f.instructions;
        part_of[f.function] = part;
        // The parts may come to lie anywhere in memory: what one knows of another, it finds by a
        // table of addresses, and not by its distance.
        if (f.function->hasLocalLinkage()) {
            f.function->setLinkage(llvm::GlobalValue::ExternalLinkage);
        }
        f.function->setDSOLocal(false);
    }
    // Globals that callers find by their names are defined once.
    for (const llvm::GlobalVariable &v : module.globals()) {
        if (v.hasExternalLinkage() && !v.isDeclaration()) part_of[&v] = 0;
    }
    std::vector<std::string> result;
    for (size_t part = 0; part < count; part++) {
        llvm::ValueToValueMapTy map;
        auto cloned = llvm::CloneModule(module, map, [&](const llvm::GlobalValue *v) {
            auto found = part_of.find(v);
            return found == part_of.end() || found->second == part;
        });
        result.push_back(bitcode_of(*cloned));
    }
    return result;
}

}  // namespace tessera::codegen
