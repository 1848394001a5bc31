// Measures the candidates of a bundle, on a machine that has no compiler:
//
//     generators --tune -g blur --export bundle --trials 64     where the compiler is
//     tessera-measure bundle --log tuning.jsonl                 where the pipeline will run
//     generators --tune -g blur --log tuning.jsonl              where the compiler is
#include "autoscheduler/bundle/run_bundle.h"
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

constexpr const char *usage =
    R"(usage: tessera-measure FOLDER [--log file] [--seconds n]
Measures the candidates of a bundle that `generators --tune --export FOLDER` has written.
  --log file   where records are appended; FOLDER/measured.jsonl without it. What it has is not
               measured again
  --seconds n  that one candidate may take; 20 without it
)";

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
        if (word != "--log" && word != "--seconds") return refuse(word + " is no option");
        if (++i == argc) return refuse(word + " wants a value after it");
        if (word == "--log")
            options.log = argv[i];
        else
            options.seconds = std::strtod(argv[i], nullptr);
        if (!(options.seconds > 0)) return refuse("--seconds wants a number above 0");
    }
    if (options.folder.empty()) return refuse("there is no folder of a bundle");
    if (options.log.empty()) options.log = options.folder + "/measured.jsonl";
    tessera::autoscheduler::run_bundle(options, std::cout);
    return 0;
} catch (const std::exception &e) {
    std::cerr << "error: " << e.what() << "\n";
    return 1;
}
