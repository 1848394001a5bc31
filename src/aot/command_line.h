#pragma once
#include "aot/registry.h"
#include <iosfwd>
#include <span>
#include <string>

namespace tessera {

// Runs the executable of generators (--help describes it) and returns its exit status. Mistakes are
// reported in a sentence on `errors`, with status 1. Its generators are those of `source`.
int run_generator_command(std::span<const std::string> arguments, std::ostream &out,
                          std::ostream &errors, const GeneratorSource &source = GeneratorSource());
int generator_main(int argc, char **argv, const GeneratorSource &source = GeneratorSource());

// A command of executables of generators besides writing files: chosen by its word where that is
// the first argument, and given those behind it. Returns the exit status, and may throw what
// run_generator_command reports.
using GeneratorCommand = int (*)(std::span<const std::string> arguments, std::ostream &out,
                                 const GeneratorSource &source);
void add_generator_command(const std::string &word, const std::string &description,
                           GeneratorCommand command);
// Lines of --help, behind those of the options.
void add_generator_help(const std::string &text);

}  // namespace tessera
