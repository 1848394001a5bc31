#include "random.h"
#include <chrono>
#include <cstdlib>

namespace tessera::test {
namespace {

double now() {
    auto t = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(t).count();
}

}  // namespace

Seeds::Seeds(double seconds, int most) : most(most) {
    if (const char *given = std::getenv("TESSERA_SECONDS")) seconds = std::atof(given);
    end = now() + seconds;
    if (const char *given = std::getenv("TESSERA_SEED")) {
        seed = std::strtoull(given, nullptr, 10);
        single = true;
        this->most = 1;
    }
}

std::optional<uint64_t> Seeds::next() {
    if (drawn == most || (!single && now() > end)) return std::nullopt;
    drawn++;
    return seed++;
}

}  // namespace tessera::test
