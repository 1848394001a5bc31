#include "runtime/tessera_runtime.h"
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <fstream>
#include <initializer_list>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

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
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // No block is kept before or after.
    struct NothingKept {
        size_t limit = tessera_set_kept_memory(0);
        NothingKept() { tessera_set_kept_memory(limit); }
        ~NothingKept() { tessera_set_kept_memory(tessera_set_kept_memory(0)); }
    };
    void *new_block(size_t bytes) { return tessera_default_malloc(nullptr, bytes); }
    void give_back(void *block) { tessera_default_free(nullptr, block); }

    TEST_CASE("a large block that is freed is the next one of its size, and not of others") {
        const NothingKept nothing;
        void *first = new_block(1 << 20), *other = new_block(1 << 20);
        give_back(first);
        void *small = new_block(100 << 10), *large = new_block(3 << 20);
        CHECK(small != first);
        CHECK(large != first);
        void *again = new_block(900 << 10);
        CHECK(again == first);
        for (void *block : {other, small, large, again}) give_back(block);
    }
    TEST_CASE("a thread gets back what it had itself, or what another one had") {
        const NothingKept nothing;
        void *of_main = new_block(1 << 20);
        std::binary_semaphore given{0}, all_given{0};
        std::thread other([&] {
            void *own = new_block(1 << 20);
            give_back(own);
            given.release();
            all_given.acquire();
            CHECK(new_block(1 << 20) == own);
            CHECK(new_block(1 << 20) == of_main);
            give_back(own);
            give_back(of_main);
        });
        given.acquire();
        give_back(of_main);
        all_given.release();
        other.join();
    }
    TEST_CASE("no more is kept than the limit") {
        const NothingKept nothing;
        const size_t former = tessera_set_kept_memory(8 << 20);
        const auto in_use = [] {
            const auto m = mallinfo2();
            return m.uordblks + m.hblkhd;
        };
        const size_t before = in_use();
        std::vector<void *> blocks;
        for (int i = 0; i < 40; i++) blocks.push_back(new_block(1 << 20));
        CHECK(in_use() >= before + (40 << 20));
        for (void *block : blocks) give_back(block);
        CHECK(in_use() <= before + (9 << 20));
        CHECK(in_use() >= before + (7 << 20));
        CHECK(tessera_set_kept_memory(0) == 8 << 20);
        CHECK(in_use() <= before + (1 << 20));
        give_back(new_block(1 << 20));
        CHECK(in_use() <= before + (1 << 20));
        tessera_set_kept_memory(former);
    }
    TEST_CASE("threads that take and give at once never get the same block") {
        const NothingKept nothing;
        std::vector<std::thread> threads;
        std::atomic<int> clashes = 0;
        for (int t = 0; t < 4; t++) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 2000; i++) {
                    auto *block = static_cast<volatile int *>(new_block(20'000 + 100 * (i % 7)));
                    block[0] = t;
                    block[4000] = i;
                    if (block[0] != t || block[4000] != i) clashes++;
                    give_back(const_cast<int *>(block));
                }
            });
        }
        for (std::thread &t : threads) t.join();
        CHECK(clashes == 0);
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
