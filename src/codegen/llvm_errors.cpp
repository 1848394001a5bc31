#include "codegen/llvm_errors.h"
#include "base/error.h"
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>
#include <mutex>
#include <new>

namespace tessera::codegen {
namespace {

void throw_fatal_error(void *, const char *reason, bool) {
    std::string text = reason;
    while (text.ends_with('\n')) text.pop_back();
    throw InternalError(str("LLVM cannot go on: ", text));
}

void throw_bad_alloc(void *, const char *, bool) { throw std::bad_alloc(); }

struct KeptErrors final : llvm::DiagnosticHandler {
    bool handleDiagnostics(const llvm::DiagnosticInfo &diagnostic) override {
        if (diagnostic.getSeverity() != llvm::DS_Error) return false;
        llvm::raw_string_ostream out(text);
        llvm::DiagnosticPrinterRawOStream printer(out);
        diagnostic.print(printer);
        out << "\n";
        return true;
    }
    std::string text;
};

}  // namespace

void install_llvm_error_handlers() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::install_fatal_error_handler(throw_fatal_error);
        llvm::install_bad_alloc_error_handler(throw_bad_alloc);
    });
}

void keep_errors(llvm::LLVMContext &context) {
    context.setDiagnosticHandler(std::make_unique<KeptErrors>());
}

void throw_kept_errors(const llvm::LLVMContext &context) {
    const auto *kept = dynamic_cast<const KeptErrors *>(context.getDiagHandlerPtr());
    if (!kept || kept->text.empty()) return;
    std::string text = kept->text;
    while (text.ends_with('\n')) text.pop_back();
    throw InternalError(str("LLVM refuses the code: ", text));
}

}  // namespace tessera::codegen
