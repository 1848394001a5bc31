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

// What a case may take; a sanitized compiler is about ten times as slow.
#ifdef TESSERA_SANITIZED
constexpr int case_seconds = 300;
#else
constexpr int case_seconds = 90;
#endif

// The same ones each time, and no more than `most` unless TESSERA_FUZZ_SECONDS says how long: new
// ones are for the fuzzer. TESSERA_SEED says where to begin instead.
void check_random_plans(uint64_t seconds, uint64_t most, uint64_t from = 0) {
    if (std::getenv("TESSERA_FUZZ_SECONDS")) most = UINT64_MAX;
    uint64_t first = from + number_from("TESSERA_SEED", 1), seed = first;
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    MESSAGE("TESSERA_SEED=" << first);
    int cases = 0, refused = 0, failures = 0;
    check_many(
        2, case_seconds,
        [&](uint64_t &next) {
            next = seed++;
            return failures == 0 && seed - first <= most && std::chrono::steady_clock::now() < end;
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
    CHECK(refused * 10 <= cases * 3 + 10);
}

}  // namespace

TEST_SUITE("fuzz") {
    TEST_CASE("the same seed draws the same plan") {
        for (uint64_t seed = 0; seed < 50; seed++) {
            CHECK(to_cpp(draw_plan(seed)) == to_cpp(draw_plan(seed)));
        }
    }
    // TESSERA_FUZZ_SECONDS says how long.
    TEST_CASE("random pipelines compute under random schedules what their definitions say") {
        check_random_plans(number_from("TESSERA_FUZZ_SECONDS", 60), 120);
    }
    TEST_CASE("and so they do under schedules of the autoscheduler") {
        check_auto_schedules(true);
        check_random_plans(number_from("TESSERA_FUZZ_SECONDS", 60) / 2, 60);
        check_auto_schedules(false);
    }
    TEST_CASE("and so they do with kernels, which the oracle runs") {
        check_random_plans(number_from("TESSERA_FUZZ_SECONDS", 60), 150, first_gpu_seed);
    }
    // The last one: what it asks for holds from then on.
    TEST_CASE("and so they do as C source") {
        check_c_source();
        check_random_plans(number_from("TESSERA_FUZZ_SECONDS", 60) / 3, 40);
    }
}
