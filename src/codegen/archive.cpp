#include "codegen/archive.h"
#include "base/error.h"
#include <llvm/Object/Archive.h>
#include <llvm/Object/ArchiveWriter.h>

namespace tessera::codegen {

// LLVM's own function for files ends the process where the disk is full.
std::string make_archive(const std::vector<ArchiveMember> &members, const std::string &more) {
    std::vector<llvm::NewArchiveMember> all;
    for (const ArchiveMember &m : members) {
        llvm::StringRef bytes(m.object.data(), m.object.size());
        all.emplace_back(llvm::MemoryBufferRef(bytes, m.name));
    }
    std::unique_ptr<llvm::object::Archive> other;
    if (!more.empty()) {
        llvm::Error failed = llvm::Error::success();
        other =
            std::make_unique<llvm::object::Archive>(llvm::MemoryBufferRef(more, "more"), failed);
        if (failed) throw InternalError(llvm::toString(std::move(failed)));
        for (const auto &child : other->children(failed)) {
            auto member = llvm::NewArchiveMember::getOldMember(child, true);
            if (!member) throw InternalError(llvm::toString(member.takeError()));
            all.push_back(std::move(*member));
        }
        if (failed) throw InternalError(llvm::toString(std::move(failed)));
    }
    auto archive = llvm::writeArchiveToBuffer(all, llvm::SymtabWritingMode::NormalSymtab,
                                              llvm::object::Archive::K_GNU,
                                              /*Deterministic=*/true, /*Thin=*/false);
    if (!archive) throw InternalError(llvm::toString(archive.takeError()));
    return (*archive)->getBuffer().str();
}

}  // namespace tessera::codegen
