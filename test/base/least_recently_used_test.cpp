#include "base/least_recently_used.h"
#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace tessera;

namespace {

using Cache = LeastRecentlyUsed<std::string, int>;

// Whether the value is made, and not found; all keys have one hash.
bool is_made(Cache &cache, const std::string &key) {
    auto found = cache.find_or_make(1, key, [&] { return int(key.size()); });
    CHECK(found.value == int(key.size()));
    return found.is_new;
}

}  // namespace

TEST_SUITE("least recently used") {
    TEST_CASE("what was asked for last is kept") {
        Cache cache(2);
        CHECK(is_made(cache, "a"));
        CHECK(is_made(cache, "bb"));
        CHECK_FALSE(is_made(cache, "a"));
        CHECK(is_made(cache, "ccc"));  // in the place of bb
        CHECK_FALSE(is_made(cache, "a"));
        CHECK(is_made(cache, "bb"));
        CHECK(is_made(cache, "ccc"));
        CHECK(cache.size() == 2);
        cache.set_limits(1, 100);
        CHECK(cache.size() == 1);
        CHECK_FALSE(is_made(cache, "ccc"));
        cache.clear();
        CHECK(is_made(cache, "ccc"));
    }
    TEST_CASE("no more is kept than the weight allows, but for the last one") {
        Cache cache(100, 10, [](int length) { return size_t(length); });
        CHECK(is_made(cache, "aaaa"));
        CHECK(is_made(cache, "bbbb"));
        CHECK_FALSE(is_made(cache, "aaaa"));
        CHECK(is_made(cache, "cccc"));  // in the place of b
        CHECK(cache.total_weight() == 8);
        CHECK_FALSE(is_made(cache, "aaaa"));
        CHECK(cache.size() == 2);
        CHECK(is_made(cache, "a long one indeed"));
        CHECK_FALSE(is_made(cache, "a long one indeed"));
        CHECK(cache.size() == 1);
        cache.clear();
        CHECK(cache.total_weight() == 0);
        CHECK(is_made(cache, "aaaa"));
        CHECK(is_made(cache, "bbbb"));
        CHECK(cache.size() == 2);
        cache.set_limits(100, 4);
        CHECK(cache.size() == 1);
        CHECK_FALSE(is_made(cache, "bbbb"));
    }
    TEST_CASE("what could not be made is tried again") {
        Cache cache(2);
        auto fails = []() -> int { throw std::runtime_error("no"); };
        CHECK_THROWS(cache.find_or_make(1, "a", fails));
        CHECK(is_made(cache, "a"));
    }
    TEST_CASE("threads that ask for one key wait for the one that makes it") {
        Cache cache(4);
        std::atomic<int> made = 0;
        {
            std::vector<std::jthread> threads;
            for (int t = 0; t < 8; t++) {
                threads.emplace_back([&] {
                    for (const char *key : {"a", "b", "c"}) {
                        cache.find_or_make(7, key, [&] {
                            std::this_thread::sleep_for(std::chrono::milliseconds(5));
                            return ++made;
                        });
                    }
                });
            }
        }
        CHECK(made == 3);
    }
}
