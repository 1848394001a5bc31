// One of the programs with its data, and a check against plain loops.
#pragma once

#include "back_to_back/chains.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

namespace tessera::apps {

// Returns true if the name has all of these parts, the arguments of a program.
inline bool has_parts(const std::string &name, int count, char **arguments) {
    return std::all_of(arguments + 1, arguments + count,
                       [&](const char *part) { return name.find(part) != std::string::npos; });
}

// Returns sizes of two blocks or more, for the interpreter.
inline ChainSizes small_sizes(const ChainProgram &program) {
    ChainSizes sizes;
    sizes.rows = 2 * program.tiles.rows;
    sizes.sum = 3 * 64;
    sizes.images = program.capability == 90 ? 4 : 1;
    sizes.size = program.capability == 90 ? 8 : 16;
    return sizes;
}

template<typename Element> class ChainRun {
public:
    ChainRun(const ChainProgram &program, ChainSizes given) : sizes(given) {
        sizes.columns1 = program.is_in_memory ? 256 : program.tiles.columns1;
        const auto schedule = [&](auto &of) {
            if (program.capability == 90) return of.schedule_for_hopper(program.tiles);
            program.is_in_memory ? of.schedule_in_memory(program.tiles)
                                 : of.schedule_in_registers(program.tiles);
        };
        const Type type = type_of<Element>();
        if (program.is_convolution) {
            auto of = std::make_unique<BackToBackConvolution>(sizes, type);
            schedule(*of);
            set({sizes.channels, sizes.size, sizes.size, sizes.images},
                {sizes.channels, sizes.taps, sizes.taps, sizes.columns0},
                {sizes.columns1, sizes.size, sizes.size, sizes.images}, std::move(of));
        } else {
            auto of = std::make_unique<BackToBackGemm>(sizes, type);
            schedule(*of);
            set({sizes.sum, sizes.rows}, {sizes.sum, sizes.columns0}, {sizes.columns1, sizes.rows},
                std::move(of));
        }
    }
    void realize(const Target &target) { chain->d1.realize(d1, target); }

    // Returns how many elements of so many rows differ from plain loops: of all, or of some in
    // between.
    int64_t wrong(int64_t most_rows) {
        d1.copy_to_host();
        const int64_t rows = int64_t(d1.number_of_elements()) / sizes.columns1;
        const int64_t checked = std::min(rows, most_rows);
        int64_t count = 0;
        for (int64_t n = 0; n < checked; n++) {
            const int64_t row = n * rows / checked;
            const std::vector<Element> expected = expected_row(row);
            for (int x = 0; x < sizes.columns1; x++)
                count += float(d1.data()[row * sizes.columns1 + x]) != float(expected[size_t(x)]);
        }
        return count;
    }

    ChainSizes sizes;
    Buffer<Element> a0, b0, b1, c1, d1;
    std::unique_ptr<Chain> chain;

private:
    static constexpr float alpha0 = 0.125f, alpha1 = 0.0625f, beta1 = 1;

    void set(const std::vector<int> &of_a0, const std::vector<int> &of_b0,
             const std::vector<int> &of_d1, std::unique_ptr<Chain> of) {
        chain = std::move(of);
        a0 = filled(of_a0, 5);
        b0 = filled(of_b0, 3);
        b1 = filled({sizes.columns0, sizes.columns1}, 3);
        c1 = filled(of_d1, 9);
        d1 = Buffer<Element>(of_d1);
        chain->a0.set(a0);
        chain->b0.set(b0);
        chain->b1.set(b1);
        chain->c1.set(c1);
        chain->alpha0.set(alpha0);
        chain->alpha1.set(alpha1);
        chain->beta1.set(beta1);
    }
    // Small integers, whose sums are exact: -values / 2 to values / 2.
    Buffer<Element> filled(const std::vector<int> &extents, uint32_t values) {
        Buffer<Element> all(extents);
        Element *const data = all.data();
        for (size_t i = 0; i < all.number_of_elements(); i++) {
            seed = seed * 1664525 + 1013904223;
            data[i] = Element(float((seed >> 16) % values) - float(values / 2));
        }
        all.set_host_dirty();
        return all;
    }
    static Element rectified(float value) {
        const float positive = std::max(value, 0.0f);
        if (!std::is_integral_v<Element>) return Element(positive);
        return Element(std::min(std::nearbyint(positive), 127.0f));
    }
    float sum0(int64_t row, int column) const {
        float sum = 0;
        if (a0.dimensions() == 2) {
            for (int k = 0; k < sizes.sum; k++)
                sum += float(a0(k, int(row))) * float(b0(k, column));
            return sum;
        }
        const int size = sizes.size, x = int(row % size), y = int(row / size % size),
                  image = int(row / size / size), half = sizes.taps / 2;
        for (int r = std::max(0, half - y); r < std::min(sizes.taps, size + half - y); r++) {
            for (int s = std::max(0, half - x); s < std::min(sizes.taps, size + half - x); s++) {
                for (int c = 0; c < sizes.channels; c++)
                    sum += float(a0(c, x + s - half, y + r - half, image)) *
                           float(b0(c, s, r, column));
            }
        }
        return sum;
    }
    std::vector<Element> expected_row(int64_t row) const {
        std::vector<Element> d0, expected;
        for (int x = 0; x < sizes.columns0; x++) d0.push_back(rectified(alpha0 * sum0(row, x)));
        for (int x = 0; x < sizes.columns1; x++) {
            float sum = 0;
            for (int r = 0; r < sizes.columns0; r++) sum += float(d0[size_t(r)]) * float(b1(r, x));
            const float added = sizes.adds_c1 ? float(c1.data()[row * sizes.columns1 + x]) : 0;
            expected.push_back(rectified(alpha1 * sum + beta1 * added));
        }
        return expected;
    }
    uint32_t seed = 1;
};

}  // namespace tessera::apps
