// Measures the candidates of a bundle, on a machine that has no compiler:
//
//     generators --tune -g blur --export bundle --trials 64     where the compiler is
//     tessera-measure bundle --log tuning.jsonl                 where the pipeline will run
//     generators --tune -g blur --log tuning.jsonl              where the compiler is
#include "autoscheduler/bundle/run_bundle.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <unistd.h>

namespace {

constexpr const char *usage =
    R"(usage: tessera-measure FOLDER [--log file] [--seconds n] [--end-with-input]
Measures the candidates of a bundle that `generators --tune --export FOLDER` has written.
  --log file   where records are appended; FOLDER/measured.jsonl without it. What it has is not
               measured again. "-": records are printed
  --seconds n  that one candidate may take; as the bundle says without it
  --end-with-input
               ends when its input does, as when the program that has started it is killed
)";

// Ends this process when whoever holds the other end of its input is gone; processes that measure
// for it end with it.
void end_with_input() {
    std::thread([] {
        char c = 0;
        while (read(STDIN_FILENO, &c, 1) > 0 || errno == EINTR) {
        }
        _exit(1);
    }).detach();
}

int refuse(const std::string &why) {
    std::cerr << "error: " << why << "\n" << usage;
    return 1;
}

}  // namespace

int main(int argc, char **argv) try {
    tessera::autoscheduler::BundleOptions options;
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        if (word == "--help" || word == "-h") {
            std::cout << usage;
            return 0;
        }
        if (!word.starts_with("-")) {
            if (!options.folder.empty()) return refuse("there are two folders");
            options.folder = word;
            continue;
        }
        if (word == "--end-with-input") {
            end_with_input();
            continue;
        }
        if (word != "--log" && word != "--seconds") return refuse(word + " is no option");
        if (++i == argc) return refuse(word + " wants a value after it");
        if (word == "--log")
            options.log = argv[i];
        else
            options.seconds = std::strtod(argv[i], nullptr);
        if (word == "--seconds" && !(options.seconds > 0))
            return refuse("--seconds wants a number above 0");
    }
    if (options.folder.empty()) return refuse("there is no folder of a bundle");
    if (options.log.empty()) options.log = options.folder + "/measured.jsonl";
    tessera::autoscheduler::run_bundle(options, std::cout);
    return 0;
} catch (const std::exception &e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
}
