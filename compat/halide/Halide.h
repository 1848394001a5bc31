#pragma once
// Halide's public interface by its names, on top of Tessera. docs/coming_from_halide.md says what is
// the same, what is better and what is not there.
#include "HalideBuffer.h"
#include "HalideRuntime.h"
#include "tessera.h"

#include "halide_internal.h"
#include "halide_later.h"
#include "halide_names.h"
#include "halide_operators.h"
