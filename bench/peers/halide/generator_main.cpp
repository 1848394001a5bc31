// Halide's program of generators, but that the target `host` is what this processor can do.
#include "host_target.h"

#include <iostream>
#include <string>
#include <vector>

int main(int argc, char **argv) {
    const std::string host = "target=host";
    std::vector<std::string> words(argv, argv + argc);
    std::vector<char *> pointers;
    for (std::string &word : words) {
        if (word.rfind(host, 0) == 0)
            word.replace(0, host.size(), "target=" + host_target().to_string());
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
#ifdef HALIDE_VERSION_MAJOR
    return Halide::Internal::generate_filter_main(argc, pointers.data());
#else
    return Halide::Internal::generate_filter_main(argc, pointers.data(), std::cerr);
#endif
}
