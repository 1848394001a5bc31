#include "lower/gpu/bank_conflicts.h"
#include <algorithm>
#include <array>
#include <set>

namespace tessera::lower {

namespace {

constexpr int banks = 32;

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

int degree_of(const std::set<int64_t> &words) {
    std::array<int, banks> wanted = {};
    for (int64_t word : words) wanted.at(size_t(((word % banks) + banks) % banks))++;
    return *std::ranges::max_element(wanted);
}

}  // namespace

BankConflicts bank_conflicts(const WarpAccess &access, const std::vector<int64_t> &strides,
                             int element_bytes) {
    const int at_once = warp_threads / std::max(1, access.bytes / word_bytes);
    std::vector<std::set<int64_t>> words(size_t(warp_threads / at_once));  // by turns
    for (const WarpAccess::Thread &thread : access.threads) {
        int64_t first = 0;
        for (size_t d = 0; d < strides.size(); d++) first += thread.coordinates[d] * strides[d];
        first *= element_bytes;
        const int64_t last = floor_div(first + access.bytes - 1, word_bytes);
        for (int64_t word = floor_div(first, word_bytes); word <= last; word++)
            words.at(size_t(thread.lane / at_once)).insert(word);
    }
    BankConflicts all;
    for (const std::set<int64_t> &turn : words) {
        const int degree = degree_of(turn);
        all.requests += degree;
        all.degree = std::max(all.degree, degree);
    }
    return all;
}

}  // namespace tessera::lower
