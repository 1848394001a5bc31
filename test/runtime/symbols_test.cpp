#include "runtime/symbols.h"
#include "runtime/tessera_runtime.h"
#include <doctest/doctest.h>
#include <set>
#include <string>

using tessera::tessera_runtime_symbols;

TEST_SUITE("runtime symbols") {
    TEST_CASE("the table has the runtime's functions, each once") {
        std::set<std::string> names;
        for (const tessera::RuntimeSymbol &s : tessera_runtime_symbols()) {
            CHECK(s.address != nullptr);
            CHECK(names.insert(s.name).second);
            if (std::string(s.name) == "tessera_malloc") {
                CHECK(s.address == reinterpret_cast<void *>(tessera_malloc));
            }
        }
        for (const char *name : {"tessera_malloc", "tessera_do_par_for", "tessera_error_bad_type",
                                 "tessera_profiler_instance_start", "__truncsfhf2"}) {
            CHECK(names.count(name) == 1);
        }
    }
    TEST_CASE("no feature is always there, and an unknown one never") {
        uint64_t none[] = {0, 0}, unknown[] = {0, 1};
        CHECK(tessera_can_use_target_features(2, none) == 1);
        CHECK(tessera_can_use_target_features(2, unknown) == 0);
    }
    TEST_CASE("the test for features can be replaced") {
        auto old =
            tessera_set_custom_can_use_target_features([](int, const uint64_t *) { return 7; });
        uint64_t none = 0;
        CHECK(tessera_can_use_target_features(1, &none) == 7);
        tessera_set_custom_can_use_target_features(old);
        CHECK(tessera_can_use_target_features(1, &none) == 1);
    }
#ifdef __x86_64__
    TEST_CASE("a CPU with AVX2 has AVX as well") {
        uint64_t avx2 = 1 << tessera_cpu_avx2, both = avx2 | 1 << tessera_cpu_avx;
        CHECK(tessera_can_use_target_features(1, &avx2) ==
              tessera_can_use_target_features(1, &both));
    }
#endif
}
