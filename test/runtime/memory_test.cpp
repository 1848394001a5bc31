#include "runtime/tessera_runtime.h"
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <initializer_list>

TEST_SUITE("runtime memory") {
    TEST_CASE("memory is aligned to 128 bytes and can be written") {
        for (size_t bytes : {size_t(0), size_t(1), size_t(127), size_t(128), size_t(100000)}) {
            void *p = tessera_malloc(nullptr, bytes);
            REQUIRE(p);
            CHECK(uintptr_t(p) % 128 == 0);
            std::memset(p, 1, bytes);
            tessera_free(nullptr, p);
            tessera_free(nullptr, nullptr);  // does nothing
        }
    }
    TEST_CASE("an impossible size gives null, even where rounding up would overflow") {
        CHECK(tessera_malloc(nullptr, SIZE_MAX) == nullptr);
        CHECK(tessera_malloc(nullptr, SIZE_MAX - 100) == nullptr);
        CHECK(tessera_malloc(nullptr, SIZE_MAX / 2) == nullptr);
    }
    TEST_CASE("the allocator can be replaced and restored") {
        static int allocated, freed;
        allocated = freed = 0;
        auto old_malloc = tessera_set_custom_malloc([](void *context, size_t bytes) {
            ++*static_cast<int *>(context);
            allocated++;
            return std::malloc(bytes);
        });
        auto old_free = tessera_set_custom_free([](void *, void *p) {
            freed++;
            std::free(p);
        });
        int context = 0;
        tessera_free(&context, tessera_malloc(&context, 10));
        CHECK(context == 1);
        CHECK(allocated == 1);
        CHECK(freed == 1);
        tessera_set_custom_malloc(nullptr);
        tessera_set_custom_free(nullptr);
        CHECK((tessera_set_custom_malloc(nullptr) == old_malloc));
        CHECK((tessera_set_custom_free(nullptr) == old_free));
        tessera_free(nullptr, tessera_malloc(nullptr, 10));
        CHECK(allocated == 1);
    }
}
