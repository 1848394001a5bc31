// Finds schedules for the generators of an executable:
//
//     tessera-tune ./generators -g blur -g harris --trials 400 -o schedules
//
// The same as ./generators --tune -g blur ..., which has the compiler within itself.
#include "autoscheduler/tune/usage.h"
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

int main(int argc, char **argv) {
    if (argc < 2 || argv[1][0] == '-') {
        std::fprintf(argc < 2 ? stderr : stdout, "usage: tessera-tune GENERATORS%s%s",
                     tessera::autoscheduler::tune_options,
                     "GENERATORS is an executable of generators.\n");
        return argc < 2;
    }
    std::string tune = "--tune", path = argv[1];
    if (path.find('/') == std::string::npos) path.insert(0, "./");
    std::vector<char *> arguments = {path.data(), tune.data()};
    arguments.insert(arguments.end(), argv + 2, argv + argc + 1);  // with the null behind them
    execv(path.c_str(), arguments.data());
    std::fprintf(stderr, "tessera-tune: %s cannot be run: %s\n", path.c_str(),
                 std::strerror(errno));
    return 1;
}
