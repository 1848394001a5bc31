#pragma once
#include <iosfwd>
#include <span>
#include <string>

namespace tessera {

// What the executable of generators does (--help says it): returns its exit status. Mistakes are
// told in a sentence on `errors`, with status 1.
int run_generator_command(std::span<const std::string> arguments, std::ostream &out,
                          std::ostream &errors);
int generator_main(int argc, char **argv);

}  // namespace tessera
