#include "runtime/tessera_runtime.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <fstream>
#include <initializer_list>
#include <string>

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
#ifdef __linux__
    TEST_CASE("large blocks ask for huge pages") {
        if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) {
            MESSAGE("this system has no huge pages");
            return;
        }
        // The flags of the mapping that holds the address.
        auto flags_at = [](const void *address) {
            std::ifstream maps("/proc/self/smaps");
            bool here = false;
            for (std::string line; std::getline(maps, line);) {
                unsigned long first = 0, end = 0;
                if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &end) == 2) {
                    here = first <= uintptr_t(address) && uintptr_t(address) < end;
                }
                if (here && line.rfind("VmFlags:", 0) == 0) return line + " ";
            }
            return std::string();
        };
        const size_t bytes = size_t(48) << 20;
        auto *block = static_cast<char *>(tessera_malloc(nullptr, bytes));
        REQUIRE(block);
        const std::string flags = flags_at(block + bytes / 2);
        INFO(flags);
        CHECK(flags.find(" hg ") != std::string::npos);
        tessera_free(nullptr, block);
    }
#endif
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
