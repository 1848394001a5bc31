// The shared libraries of peers, loaded when they are first asked for.
#pragma once

#include "cpu/peer.h"
#include "cpu/problem.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera::bench {

// Those of the libraries that `list` names: a file with a path in each line. None without such a
// file.
const std::vector<const Peer *> &peers_of(const std::string &list);

// Calls `f` with each function of theirs that computes the problem.
void for_each_peer_function(const std::string &list, const Problem &problem,
                            const std::function<void(const Peer &, const PeerFunction &)> &f);

}  // namespace tessera::bench
