#include "tessera_run.h"
#include "describe.h"
#include "hooks.h"
#include "run_command.h"
#include "session.h"
#include <exception>
#include <iostream>

namespace tessera::run {

int run_functions(const std::vector<Function> &functions, const Options &options,
                  const FindSymbol &find) {
    if (options.describe && options.name.empty()) {
        for (const Function *f : whole_functions(functions)) describe(std::cout, *f);
        return 0;
    }
    const Function &f = choose(functions, options.name);
    if (options.describe) {
        describe(std::cout, f);
        return 0;
    }
    Hooks hooks(options.track_memory, find);
    return run_session(f, options);
}

int with_errors(const std::function<int()> &f) {
    try {
        return f();
    } catch (const std::bad_alloc &) {
        std::cerr << "error: out of memory\n";
    } catch (const std::exception &e) {
        std::cerr << "error: " << e.what() << "\n";
    }
    return 1;
}

}  // namespace tessera::run

int tessera_run_main(int argc, char **argv, const tessera_run_function_t *functions, int count) {
    using namespace tessera::run;
    return with_errors([&] {
        ParsedOptions parsed = parse_options(argc, argv, false);
        if (parsed.exit_code) return *parsed.exit_code;
        std::vector<Function> all;
        for (int i = 0; i < count; i++) {
            all.push_back({functions[i].argv, functions[i].metadata()});
        }
        return run_functions(all, parsed.options, nullptr);
    });
}
