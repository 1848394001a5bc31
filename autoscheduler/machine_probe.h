#pragma once
#include "autoscheduler/machine.h"
#include <stop_token>

namespace tessera::autoscheduler {

// Measures what Machine::usual() only knows of usual machines: how many bytes a cycle come from
// each cache and from memory, for one core and for all, and what a parallel loop, a task and fresh
// memory cost. Takes about a second. `target` is of this machine. Throws Stopped within some ten
// milliseconds when a stop is requested.
Machine measure_machine(const Target &target, int cores, const std::stop_token &stop = {});

// Returns what was measured of this machine before, from a file; else what is usual. The file is
// that which the environment variable TESSERA_MACHINE_FILE names, or tessera/machine.json in the
// user's folder of caches.
Machine known_machine(const Target &target, int cores = 0);
// The same, but what is not known yet is measured, and written to the file if that is possible.
// Throws Stopped when a stop is requested meanwhile.
Machine this_machine(const Target &target, int cores = 0, const std::stop_token &stop = {});

std::string to_json(const Machine &m);
// Nothing if the text is damaged.
std::optional<Machine> machine_from_json(const std::string &text, const Target &target);

}  // namespace tessera::autoscheduler
