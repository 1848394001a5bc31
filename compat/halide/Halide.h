#pragma once
#define HALIDE_H 1
// Halide's public interface by its names, on top of Tessera. docs/coming_from_halide.md says what
// is the same, what is better and what is not there.

// Programs rely on what Halide's header includes for itself.
#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "HalideBuffer.h"
#include "HalideRuntime.h"
#include "tessera.h"

#include "halide_execute_generator.h"
#include "halide_generator.h"
#include "halide_internal.h"
#include "halide_later.h"
#include "halide_names.h"
#include "halide_parameter.h"

namespace Halide::Internal {
template<>
struct RuntimeType<tessera::float16_t> {
    static constexpr halide_type_t value() { return {halide_type_float, 16}; }
};
template<>
struct RuntimeType<tessera::bfloat16_t> {
    static constexpr halide_type_t value() { return {halide_type_bfloat, 16}; }
};
}  // namespace Halide::Internal
