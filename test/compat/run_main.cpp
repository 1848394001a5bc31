#include "program.h"

// Runs the programs named, or all; each has to return 0.
int main(int argc, char **argv) {
    int failed = 0, run = 0;
    for (const auto &[name, program] : programs()) {
        bool wanted = argc == 1;
        for (int i = 1; i < argc; i++) wanted |= name == argv[i];
        if (!wanted) continue;
        run++;
        std::string why;
        try {
            if (program() != 0) why = "returned another value than 0";
        } catch (const Halide::Error &e) {
            why = e.what();
        } catch (const std::exception &e) {
            why = e.what();
        }
        if (why.empty()) continue;
        failed++;
        std::printf("%s: %s\n", name.c_str(), why.c_str());
    }
    std::printf("%d programs, %d failed\n", run, failed);
    return failed != 0 || run == 0;
}
