#include "check.h"
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>

using namespace tessera::fuzz;

namespace {

uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// A sanitized compiler is about ten times as slow: it gets more time, and checks a part of the
// plans.
#ifdef TESSERA_SANITIZED
constexpr int case_seconds = 300, one_of = 8;
#else
constexpr int case_seconds = 90, one_of = 1;
#endif

// So many, the same ones each time: new ones are for the fuzzer. TESSERA_FUZZ_SECONDS says for how
// long plans are drawn instead, and TESSERA_SEED where to begin.
void check_random_plans(uint64_t count, uint64_t from = 0) {
    using Clock = std::chrono::steady_clock;
    const uint64_t seconds = number_from("TESSERA_FUZZ_SECONDS", 0);
    const uint64_t first = from + number_from("TESSERA_SEED", 1);
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    uint64_t seed = first;
    const auto is_over = [&] {
        return seconds ? Clock::now() >= end : seed - first >= count / one_of;
    };
    MESSAGE("TESSERA_SEED=" << first);
    int cases = 0, refused = 0, failures = 0;
    check_many(
        2, case_seconds,
        [&](uint64_t &next) {
            if (failures > 0 || is_over()) return false;
            next = seed++;
            return true;
        },
        [&](uint64_t failing, const Report &r) {
            cases++;
            refused += r.outcome == Outcome::Refused;
            if (r.outcome != Outcome::Fails || failures++) return;
            Plan small = shrink(draw_plan(failing), r.kind, 30);
            FAIL_CHECK("seed " << failing << ": " << r.kind << "\n"
                               << r.message << "\n"
                               << to_cpp(small));
        });
    MESSAGE(cases << " pipelines, " << refused << " schedules refused");
    CHECK(refused * 10 <= cases * 2 + 10);
}

}  // namespace

TEST_SUITE("fuzz") {
    TEST_CASE("the same seed draws the same plan") {
        for (uint64_t seed = 0; seed < 50; seed++) {
            CHECK(to_cpp(draw_plan(seed)) == to_cpp(draw_plan(seed)));
        }
    }
    TEST_CASE("random pipelines compute under random schedules what their definitions say") {
        check_random_plans(60);
    }
    TEST_CASE("and so they do under schedules of the autoscheduler") {
        check_auto_schedules(true);
        check_random_plans(25);
        check_auto_schedules(false);
    }
    TEST_CASE("and so they do with kernels by the autoscheduler's rules") {
        check_auto_schedules(true);
        check_random_plans(25, first_gpu_seed);
        check_auto_schedules(false);
    }
    TEST_CASE("and so they do with kernels, which the oracle runs") {
        check_random_plans(40, first_gpu_seed);
    }
    TEST_CASE("and so they do by tensor instructions: products, convolutions, chains, mappings") {
        check_random_plans(11, first_tensor_seed);
    }
    // The last one: what it asks for holds from then on.
    TEST_CASE("and so they do as C source") {
        check_c_source();
        check_random_plans(12);
    }
}
