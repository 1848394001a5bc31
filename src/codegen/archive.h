#pragma once
#include <string>
#include <vector>

namespace tessera::codegen {

// A member of a static library.
struct ArchiveMember {
    std::string name;  // of the object file
    std::vector<char> object;
};

// Returns a static library in the format of the GNU tools, with an index of symbols. `more`:
// another static library (its bytes), whose members come behind; may be empty. The result has no
// dates in it.
std::string make_archive(const std::vector<ArchiveMember> &members, const std::string &more = "");

}  // namespace tessera::codegen
