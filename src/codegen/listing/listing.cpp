#include "codegen/listing/listing.h"
#include "ir/printer.h"

namespace tessera::codegen {

std::vector<char> to_listing(const ir::Module &module, const Target &, const Options &) {
    const std::string text = ir::to_string(module);
    return {text.begin(), text.end()};
}

}  // namespace tessera::codegen
