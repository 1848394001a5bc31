#include "runtime/tessera_runtime.h"
#include <doctest/doctest.h>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

// A buffer somewhere in memory that nobody touches.
struct Somewhere {
    std::vector<tessera_dimension_t> dims;
    tessera_buffer_t buffer{};

    Somewhere(uint64_t address, int bits, std::vector<tessera_dimension_t> dimensions)
        : dims(std::move(dimensions)) {
        buffer.host = reinterpret_cast<uint8_t *>(uintptr_t(address));
        buffer.type = {tessera_type_int, uint8_t(bits), 1};
        buffer.dimensions = int32_t(dims.size());
        buffer.dim = dims.data();
    }
    std::vector<int32_t> whole() const {
        std::vector<int32_t> region;
        for (const tessera_dimension_t &d : dims) {
            region.push_back(d.min);
            region.push_back(d.extent);
        }
        return region;
    }
    // The address of each byte of its elements within a region.
    std::set<uint64_t> bytes(const std::vector<int32_t> &region) const {
        const int64_t size = buffer.type.bytes();
        std::set<int64_t> all{int64_t(uintptr_t(buffer.host))};
        for (size_t d = 0; d < dims.size(); d++) {
            std::set<int64_t> next;
            for (int64_t first : all) {
                for (int i = 0; i < region[2 * d + 1]; i++) {
                    const int64_t at = region[2 * d] + i - dims[d].min;
                    next.insert(first + at * dims[d].stride * size);
                }
            }
            all = next;
        }
        std::set<uint64_t> result;
        for (int64_t first : all) {
            for (int64_t i = 0; i < size; i++) result.insert(uint64_t(first + i));
        }
        return result;
    }
};

int overlap(const Somewhere &a, const Somewhere &b, const std::vector<int32_t> &read) {
    const auto address = [](const void *p) { return uint64_t(uintptr_t(p)); };
    return tessera_buffers_overlap(address(&a.buffer), address(&b.buffer), address(read.data()));
}
int overlap(const Somewhere &a, const Somewhere &b) { return overlap(a, b, b.whole()); }

constexpr uint64_t base = 1 << 20;

Somewhere random_buffer(std::mt19937 &rng) {
    const auto within = [&](int low, int high) {
        return std::uniform_int_distribution<>(low, high)(rng);
    };
    std::vector<tessera_dimension_t> dims;
    for (int d = within(0, 3); d > 0; d--) {
        dims.push_back({within(-3, 3), within(0, 9) == 0 ? 0 : within(1, 4), within(-12, 12), 0});
    }
    const int bytes = 1 << within(0, 2);
    return {base + uint64_t(within(0, 60)), 8 * bytes, dims};
}

}  // namespace

TEST_SUITE("buffers that overlap") {
    TEST_CASE("crops of one image share what they have in common") {
        const Somewhere left(base, 32, {{0, 10, 1, 0}, {0, 8, 20, 0}}),
            right(base + 40, 32, {{10, 10, 1, 0}, {0, 8, 20, 0}}),
            middle(base + 36, 32, {{9, 2, 1, 0}, {0, 8, 20, 0}}),
            shifted(base + 36, 32, {{0, 2, 1, 0}, {0, 8, 20, 0}});
        CHECK(overlap(left, right) == 0);
        CHECK(overlap(left, middle) == 2);
        CHECK(overlap(right, middle) == 2);
        CHECK(overlap(left, shifted) == 1);
        CHECK(overlap(left, left) == 2);
    }
    TEST_CASE("planes of an interleaved image are apart") {
        const Somewhere red(base, 8, {{0, 640, 3, 0}, {0, 480, 1920, 0}}),
            green(base + 1, 8, {{0, 640, 3, 0}, {0, 480, 1920, 0}}),
            mirrored(base + 3 * 639 + 1, 8, {{0, 640, -3, 0}, {0, 480, 1920, 0}});
        CHECK(overlap(red, green) == 0);
        CHECK(overlap(red, mirrored) == 0);
        CHECK(overlap(green, mirrored) == 1);
    }
    TEST_CASE("only the region that is read counts") {
        const Somewhere out(base, 32, {{0, 16, 1, 0}}), in(base, 32, {{0, 64, 1, 0}});
        CHECK(overlap(out, in, {16, 48}) == 0);
        CHECK(overlap(out, in, {15, 2}) == 2);
        CHECK(overlap(out, in, {3, 0}) == 0);
    }
    TEST_CASE("memory on a device counts where there is no other") {
        Somewhere a(0, 32, {{0, 16, 1, 0}}), b(0, 32, {{0, 16, 1, 0}});
        CHECK(overlap(a, b) == 0);
        a.buffer.device = base, b.buffer.device = base + 8;
        CHECK(overlap(a, b) == 1);
        b.buffer.device = base + 64;
        CHECK(overlap(a, b) == 0);
        b.buffer.host = reinterpret_cast<uint8_t *>(uintptr_t(base));
        CHECK(overlap(a, b) == 0);
    }
    TEST_CASE("strides of any size, against the addresses of all bytes") {
        for (unsigned seed = 0; seed < 4000; seed++) {
            CAPTURE(seed);
            std::mt19937 rng(seed);
            const Somewhere a = random_buffer(rng), b = random_buffer(rng);
            const std::set<uint64_t> of_a = a.bytes(a.whole()), of_b = b.bytes(b.whole());
            bool any = false;
            for (uint64_t place : of_a) any |= of_b.contains(place);
            CHECK((overlap(a, b) != 0) == any);
        }
    }
    TEST_CASE("one call looks at all outputs, and names the first that may not be there") {
        const Somewhere in(base, 32, {{0, 16, 1, 0}}), apart(base + 64, 32, {{0, 16, 1, 0}}),
            shifted(base + 4, 32, {{0, 16, 1, 0}});
        const auto place = [](const Somewhere &s, const char *name, bool may_be_in_place) {
            return tessera_output_place_t{uint64_t(uintptr_t(&s.buffer)), name, " (why)",
                                          may_be_in_place};
        };
        std::string said;
        const auto old = tessera_set_error_handler([](void *user_context, const char *message) {
            *static_cast<std::string *>(user_context) += message;
        });
        const auto check = [&](std::vector<tessera_output_place_t> outputs) {
            said.clear();
            const auto address = [](const void *p) { return uint64_t(uintptr_t(p)); };
            return tessera_check_overlaps(&said, "in", address(&in.buffer),
                                          address(in.whole().data()), address(outputs.data()),
                                          int32_t(outputs.size()));
        };
        CHECK(check({}) == 0);
        CHECK(check({place(apart, "a", false), place(in, "b", true)}) == 0);
        CHECK(said.empty());
        CHECK(check({place(apart, "a", false), place(in, "b", false)}) ==
              tessera_error_code_output_overlaps_input);
        CHECK(said.find("Output b shares memory with input in") != std::string::npos);
        CHECK(check({place(shifted, "a", true), place(in, "b", false)}) ==
              tessera_error_code_output_overlaps_input);
        CHECK(said.find("Output a shares memory with input in") != std::string::npos);
        tessera_set_error_handler(old);
    }
    TEST_CASE("what would take too long to find out counts as an overlap") {
        std::vector<tessera_dimension_t> dims;
        for (int d = 0; d < 12; d++) dims.push_back({0, 1000, 1001 + 2 * d, 0});
        const Somewhere a(base, 16, dims), b(base + 1, 16, dims);
        CHECK(overlap(a, b) != 0);
    }
}
