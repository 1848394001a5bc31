// Several GPU schedules of one app: the generators that are registered as <app>_<schedule>.
#pragma once

#include "cpu/problem.h"

#include <string>
#include <vector>

namespace tessera::bench {

// The app's own schedule first, then the others by name. Names are those of the generators.
std::vector<std::string> schedules_of(const Problem &problem, const std::vector<Problem> &all);

// The same problem, computed by another generator.
Problem with_schedule(Problem problem, const std::string &generator);

// The same on an input of this size, for an interpreter; as it is if its input is no larger.
Problem made_small(Problem problem, int width, int height);

}  // namespace tessera::bench
