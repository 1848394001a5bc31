#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace tessera::test {

// The seeds of a random test: 1, 2, ..., at most `most`, for as long as there is time
// (TESSERA_SECONDS, if that is set, goes before `seconds`); or that of TESSERA_SEED alone. So what
// fails fails again: new seeds are for the fuzzer.
class Seeds {
public:
    explicit Seeds(double seconds = 1.0, int most = 1000000);
    // The next seed; none when time is up.
    std::optional<uint64_t> next();
    // How many were given.
    int count() const { return drawn; }

private:
    double end = 0;
    uint64_t seed = 1;
    int drawn = 0, most;
    bool single = false;
};

class Random {
public:
    explicit Random(uint64_t seed) : engine(seed * 0x9E3779B97F4A7C15ull + 1) {}
    int64_t between(int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(engine);
    }
    bool chance(int percent) { return between(1, 100) <= percent; }
    template<typename T>
    const T &pick(const std::vector<T> &list) {
        return list[size_t(between(0, int64_t(list.size()) - 1))];
    }

private:
    std::mt19937_64 engine;
};

}  // namespace tessera::test
