#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

// Files that later processes find again, such as machine code: in $TESSERA_CACHE_DIR, or in the
// folder tessera of $XDG_CACHE_HOME or ~/.cache; with TESSERA_CACHE_DIR="" nothing is kept.
// Processes may use them at once: a file takes its place when all of it has been written.

// Returns the folder, which need not be there; "" if nothing is kept.
std::string kept_folder();
// Returns what has been kept under this name, which is then the one used last.
std::optional<std::string> find_kept(const std::string &name);
// What cannot be kept is made again: failures are not reported. A name ends in one of the endings
// below. Now and then those files go that were not used for longest, if there are more than
// 512 MiB.
void keep(const std::string &name, std::string_view bytes);
// Removes what was not used for longest, until no more than so many bytes are left. Files of the
// folder with other endings are somebody else's.
void limit_kept(uint64_t bytes);

constexpr const char *kept_kernels = ".cubin", *kept_pipeline = ".pipeline";

}  // namespace tessera
