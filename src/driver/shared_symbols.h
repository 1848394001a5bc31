#pragma once
#include <set>
#include <string>

namespace tessera::driver {

// Says what a file of ELF is, or that it is an archive of them.
enum class LibraryKind { Shared, Object, Archive };

// Throws RuntimeError if the file cannot be read, is none of these, or is not for machines of 64
// bits.
LibraryKind library_kind(const std::string &path);
// Returns the names that a shared library defines for others. Throws RuntimeError if the file is
// damaged.
std::set<std::string> shared_symbols(const std::string &path);

}  // namespace tessera::driver
