#include "tessera_run.h"
#include <vector>

namespace {

std::vector<tessera_run_function_t> &registered() {
    static auto *all = new std::vector<tessera_run_function_t>;
    return *all;
}

}  // namespace

extern "C" void tessera_register_function(int (*argv)(void *const *args),
                                          const tessera_filter_metadata_t *(*metadata)(void)) {
    registered().push_back({argv, metadata});
}

int main(int argc, char **argv) {
    return tessera_run_main(argc, argv, registered().data(), int(registered().size()));
}
