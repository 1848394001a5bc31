#include "base/error.h"
#include <string_view>

namespace tessera {

std::string to_string(const Location &at) {
    if (!at.known()) return {};
    std::string_view file = at.file;
    return str(file.substr(file.find_last_of('/') + 1), ":", at.line);
}

CompileError::CompileError(const Location &at, const std::string &what)
    : Error(at.known() ? str(to_string(at), ": ", what) : what) {}

InternalError::InternalError(const std::string &what, std::source_location at)
    : Error(str("internal error at ", to_string(Location(at)), ": ", what,
                " (please report this)")) {}

}  // namespace tessera
