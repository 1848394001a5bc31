#include "program.h"
#include <cstring>

// Runs the programs named, or all; each has to end in an error that is its own fault and says so.
// With -v the errors are printed.
int main(int argc, char **argv) {
    int failed = 0, run = 0;
    const bool verbose = argc > 1 && !std::strcmp(argv[1], "-v");
    for (const auto &[name, program] : programs()) {
        bool wanted = argc == 1 + int(verbose);
        for (int i = 1; i < argc; i++) wanted |= name == argv[i];
        if (!wanted) continue;
        run++;
        std::string why = "ran";
        try {
            program();
        } catch (const Halide::InternalError &e) {
            why = e.what();
        } catch (const Halide::Error &e) {
            if (verbose) std::printf("%s: %s\n", name.c_str(), e.what());
            if (std::strstr(e.what(), messages().at(name).c_str())) continue;
            why = "for another reason: " + std::string(e.what());
        }
        failed++;
        std::printf("%s: NOT REFUSED: %s\n", name.c_str(), why.c_str());
    }
    std::printf("%d programs, %d not refused\n", run, failed);
    return failed != 0 || run == 0;
}
