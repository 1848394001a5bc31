#pragma once
#include <cstdint>
#include <initializer_list>
#include <random>

namespace tessera::autoscheduler::training {

// Random choices, the same for the same seed with every standard library.
class Random {
public:
    explicit Random(uint64_t seed) : engine(seed) {}

    int below(int n) { return int(engine() % uint64_t(n)); }
    int between(int least, int most) { return least + below(most - least + 1); }
    bool one_in(int n) { return below(n) == 0; }
    float weight() { return float(between(1, 32)) / 32; }
    template<typename T> T any_of(std::initializer_list<T> all) {
        return *(all.begin() + below(int(all.size())));
    }

private:
    std::mt19937_64 engine;
};

}  // namespace tessera::autoscheduler::training
