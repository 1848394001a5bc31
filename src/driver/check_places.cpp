#include "base/dialect.h"
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

// All bytes from the first to the last element are elements.
bool is_dense(const tessera_buffer_t &b) {
    return tessera_buffer_size_in_bytes(&b) ==
           tessera_buffer_number_of_elements(&b) * uint64_t(b.type.bytes());
}

bool share_memory(const tessera_buffer_t &a, const tessera_buffer_t &b) {
    if (tessera_buffer_number_of_elements(&a) == 0 || tessera_buffer_number_of_elements(&b) == 0) {
        return false;
    }
    if (a.host == b.host) return true;
    auto begin = [](const tessera_buffer_t &x) {
        int64_t lowest = 0;
        for (int d = 0; d < x.dimensions; d++) {
            if (x.dim[d].stride < 0) lowest += int64_t(x.dim[d].stride) * (x.dim[d].extent - 1);
        }
        return x.host + lowest * int64_t(x.type.bytes());
    };
    const uint8_t *first_a = begin(a), *first_b = begin(b);
    const bool apart = first_a + tessera_buffer_size_in_bytes(&a) <= first_b ||
                       first_b + tessera_buffer_size_in_bytes(&b) <= first_a;
    return !apart && is_dense(a) && is_dense(b);
}

void refuse(const std::string &what, const Location &at) {
    const std::string message = str(what, "; give each element memory of its own, as "
                                          "Buffer<T>(width, height) does");
    if (dialect() != Dialect::Halide) throw RuntimeError(at, message);
    warn(at, message);
}

}  // namespace

void check_places(const std::vector<tessera_buffer_t *> &outputs, const Location &at) {
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
