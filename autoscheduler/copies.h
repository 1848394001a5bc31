#pragma once
#include "autoscheduler/graph.h"

namespace tessera::autoscheduler {

// The image that the function is by another name, as each ImageParam has one; -1: it is none.
int image_behind(const Graph &graph, int function);

// Returns true if a step of the structure has made the function as a copy of another, by in().
bool is_copy(const Graph &graph, int function);

}  // namespace tessera::autoscheduler
