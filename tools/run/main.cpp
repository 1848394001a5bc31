// tessera-run: loads a library that a generator wrote, and runs a function of it.
#include "library.h"
#include "run_command.h"
#include "runtime/symbols.h"

int main(int argc, char **argv) {
    using namespace tessera::run;
    return with_errors([&] {
        ParsedOptions parsed = parse_options(argc, argv, true);
        if (parsed.exit_code) return *parsed.exit_code;
        // All of the runtime is in this program, for libraries that are without.
        if (tessera::tessera_runtime_symbols().empty()) return 1;
        Library library(parsed.options.library);
        return run_functions(library.functions(), parsed.options,
                             [&](const std::string &name) { return library.symbol(name); });
    });
}
