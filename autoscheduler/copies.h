#pragma once
#include "autoscheduler/graph.h"

namespace tessera::autoscheduler {

// The image that the function is by another name, as each ImageParam has one; -1: it is none.
int image_behind(const Graph &graph, int function);

// Returns true if a step of the structure has made the function as a copy of another, by in(), or
// of a Buffer, by copy_input().
bool is_copy(const Graph &graph, int function);

// The dimension of the function along which its readers go with that variable of theirs; -1: none.
int dimension_along(const Graph &graph, int function, size_t variable);

}  // namespace tessera::autoscheduler
