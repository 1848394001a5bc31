#pragma once
#include "codegen/harness.h"
#include <functional>
#include <optional>

// Runs expressions over many operands, as vectors of some lanes, and compares with what the test
// says they are, computed in 128 bits.
namespace tessera::test {

using Wide = __int128;

struct ElementCase {
    std::string name;
    std::vector<Type> operands;
    Type result;
    std::function<Expr(const std::vector<Expr> &)> build;
    // The exact result, before it is wrapped into the result's type; nothing: it has no meaning.
    std::function<std::optional<Wide>(const std::vector<Wide> &)> expected;
};

// The value of an element in memory, and the reverse (low bits).
Wide read_element(Type t, const char *at);
void write_element(Type t, char *at, Wide value);
Wide wrap(Type t, Wide value);
bool fits(Type t, Wide value);
std::string to_text(Wide value);

// Small, extreme and random values of the type.
std::vector<Wide> sample_values(Type t, size_t count, uint64_t seed);

// Every case at each number of lanes; failures are named. Code for AArch64 is run by qemu.
void check_cases(const std::vector<ElementCase> &cases, const Target &target,
                 const std::vector<int> &lane_counts);

}  // namespace tessera::test
