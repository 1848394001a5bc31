#include "cpu/peer_libraries.h"

#include <cstdio>
#include <dlfcn.h>
#include <fstream>

namespace tessera::bench {

namespace {

// Stays loaded: its threads run on.
std::vector<const Peer *> load(const std::string &list) {
    std::vector<const Peer *> peers;
    std::ifstream paths(list);
    for (std::string path; std::getline(paths, path);) {
        void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        auto *get =
            library ? reinterpret_cast<const Peer *(*)()>(dlsym(library, "bench_peer")) : nullptr;
        if (get)
            peers.push_back(get());
        else
            std::fprintf(stderr, "left out: %s\n", dlerror());
    }
    return peers;
}

}  // namespace

const std::vector<const Peer *> &peers_of(const std::string &list) {
    static const std::vector<const Peer *> peers = load(list);
    return peers;
}

void for_each_peer_function(const std::string &list, const Problem &problem,
                            const std::function<void(const Peer &, const PeerFunction &)> &f) {
    for (const Peer *peer : peers_of(list)) {
        for (int i = 0; i < peer->count; i++) {
            const PeerFunction &function = peer->functions[i];
            if (function.generator == problem.generator && function.params == problem.params)
                f(*peer, function);
        }
    }
}

}  // namespace tessera::bench
