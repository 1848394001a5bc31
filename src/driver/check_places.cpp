#include "base/dialect.h"
#include "base/small_array.h"
#include "base/warning.h"
#include "driver/run.h"
#include <numeric>

namespace tessera::driver {
namespace {

// Two elements of the buffer that are one place, in words; empty if none are found. Exact for two
// dimensions at a time.
std::string shared_place(const tessera_buffer_t &b) {
    const uint64_t elements = tessera_buffer_number_of_elements(&b);
    if (elements == 0 || elements > INT32_MAX) return {};  // the latter is refused as too large
    for (int i = 0; i < b.dimensions; i++) {
        const int64_t s = std::abs(int64_t(b.dim[i].stride)), n = b.dim[i].extent;
        if (n < 2) continue;
        if (s == 0) {
            return str("has the stride 0 in dimension ", i, ", so that its ", n,
                       " elements there are one place in memory");
        }
        for (int j = 0; j < i; j++) {
            const int64_t t = std::abs(int64_t(b.dim[j].stride)), m = b.dim[j].extent;
            if (m < 2 || t == 0) continue;
            const int64_t both = std::gcd(s, t);
            if (t / both >= n || s / both >= m) continue;
            return str("has the strides ", b.dim[j].stride, " and ", b.dim[i].stride,
                       " in dimensions ", j, " and ", i, ", so that elements of its ", m, " x ", n,
                       " are one place in memory");
        }
    }
    return {};
}

bool share_memory(const tessera_buffer_t &a, const tessera_buffer_t &b) {
    SmallArray<int32_t, 16> region(2 * size_t(b.dimensions));
    for (int d = 0; d < b.dimensions; d++) {
        region[2 * size_t(d)] = b.dim[d].min;
        region[2 * size_t(d) + 1] = b.dim[d].extent;
    }
    const auto address = [](const void *p) { return uint64_t(uintptr_t(p)); };
    return tessera_buffers_overlap(address(&a), address(&b), address(region.data())) != 0;
}

void refuse(const std::string &what, const Location &at) {
    const std::string message = str(what, "; give each element memory of its own, as "
                                          "Buffer<T>(width, height) does");
    if (dialect() != Dialect::Halide) throw RuntimeError(at, message);
    warn(at, message);
}

}  // namespace

void check_places(std::span<tessera_buffer_t *const> outputs, const Location &at) {
    for (size_t i = 0; i < outputs.size(); i++) {
        if (!outputs[i]->host) continue;
        const std::string shared = shared_place(*outputs[i]);
        if (!shared.empty()) refuse(str("the Buffer for output ", i, " ", shared), at);
        for (size_t j = 0; j < i; j++) {
            if (!outputs[j]->host || !share_memory(*outputs[j], *outputs[i])) continue;
            refuse(str("the Buffers for outputs ", j, " and ", i, " lie in the same memory"), at);
        }
    }
}

}  // namespace tessera::driver
