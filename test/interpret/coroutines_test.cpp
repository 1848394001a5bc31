#include "base/error.h"
#include "base/large_stack.h"
#include "interpret/coroutines.h"
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::interpret;

namespace {

long context_switches() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

// How deep the stack may be gone into.
int descend(int depth) {
    volatile char room[1024] = {};
    return depth == 0 ? room[0] : descend(depth - 1) + room[1] + 1;
}

// Returns what the function does in a process of its own that may have so many addresses; false if
// it does not come back.
[[maybe_unused]] bool in_limited_addresses(size_t bytes, const std::function<bool()> &f) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit = {bytes, bytes};
        setrlimit(RLIMIT_AS, &limit);
        try {
            _exit(f() ? 0 : 1);
        } catch (...) {
            _exit(2);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_SUITE("coroutines") {
    TEST_CASE("they take turns, in the order in which they were given") {
        Coroutines c;
        std::string told;
        int step = 0;
        c.run_all({[&] {
                       told += "a";
                       c.wait_until([&] { return step == 1; }, "step 1");
                       told += "c";
                       step = 2;
                   },
                   [&] {
                       told += "b";
                       step = 1;
                       c.wait_until([&] { return step == 2; }, "step 2");
                       told += "d";
                   }});
        CHECK(told == "abcd");
    }
    TEST_CASE("256 of them meet at ten barriers without the operating system") {
        Coroutines c;
        constexpr int threads = 256, barriers = 10;
        int arrived = 0, early = 0;
        std::vector<std::function<void()>> all;
        for (int i = 0; i < threads; i++) {
            all.push_back([&] {
                for (int b = 1; b <= barriers; b++) {
                    arrived++;
                    c.wait_until([&, b] { return arrived >= b * threads; }, "a barrier");
                    early += arrived < b * threads;
                }
            });
        }
        const long before = context_switches();
        c.run_all(all);
        CHECK(context_switches() - before < threads);
        CHECK(arrived == threads * barriers);
        CHECK(early == 0);
    }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    TEST_CASE("a thousand of them find room where addresses are limited") {
        CHECK(in_limited_addresses(size_t(4) << 30, [] {
            Coroutines c;
            int arrived = 0;
            const std::function<void()> meet = [&] {
                arrived += descend(100) >= 0;
                c.wait_until([&] { return arrived == 1024; }, "all");
            };
            c.run_all(std::vector(1024, meet));
            return arrived == 1024;
        }));
    }
    TEST_CASE("a large stack is smaller where addresses are limited") {
        CHECK(in_limited_addresses(size_t(700) << 20, [] {
            return with_large_stack([] { return descend(50'000); }) >= 0;
        }));
    }
#endif
    TEST_CASE("one may run others, and waits for them") {
        Coroutines c;
        std::string told;
        bool go = false;
        c.run_all({[&] {
                       c.run_all({[&] {
                                      c.wait_until([&] { return go; }, "go");
                                      told += "inner ";
                                  },
                                  [&] {
                                      told += "first ";
                                      go = true;
                                  }});
                       told += "outer ";
                   },
                   [&] { told += "other "; }});
        CHECK(told == "other first inner outer ");
        c.run_all({[&] { told += "again"; }});
        CHECK(told == "other first inner outer again");
    }
    TEST_CASE("what one throws ends all, and unwinds those that wait") {
        Coroutines c;
        int unwound = 0;
        struct Guard {
            int &count;
            ~Guard() { count++; }
        };
        CHECK_THROWS_WITH_AS(
            c.run_all({[&] {
                           Guard guard{unwound};
                           c.wait_until([] { return false; }, "never");
                       },
                       [&] { throw RuntimeError("no more"); }, [&] { unwound += 100; }}),
            "no more", RuntimeError);
        CHECK(unwound == 1);
    }
    TEST_CASE("where all wait, it is said for what") {
        Coroutines c;
        auto wait = [&](const char *what) {
            return [&c, what] { c.wait_until([] { return false; }, what); };
        };
        CHECK_THROWS_WITH_AS(c.run_all({wait("red"), wait("blue")}),
                             "deadlock: nobody can go on; waited for are red, blue", RuntimeError);
        Coroutines alone;
        CHECK_THROWS_WITH_AS(alone.wait_until([] { return false; }, "green"),
                             "deadlock: nobody can go on; waited for are green", RuntimeError);
    }
    TEST_CASE("an exception that one handles while another runs stays its own") {
        Coroutines c;
        std::string told;
        bool go = false;
        c.run_all({[&] {
                       try {
                           throw RuntimeError("mine");
                       } catch (const RuntimeError &) {
                           c.wait_until([&] { return go; }, "go");
                           try {
                               throw;
                           } catch (const RuntimeError &e) {
                               told += e.what();
                           }
                       }
                   },
                   [&] {
                       try {
                           throw RuntimeError("other");
                       } catch (const RuntimeError &) {
                           go = true;
                           c.wait_until([&] { return !told.empty(); }, "the first");
                           try {
                               throw;
                           } catch (const RuntimeError &e) {
                               told += str(" ", e.what());
                           }
                       }
                   }});
        CHECK(told == "mine other");
    }
    TEST_CASE("each has room for deep recursion") {
        Coroutines c;
        int depth = 0;
        c.run_all({[&] { depth = descend(50'000); }});
        CHECK(depth == 50'000);
    }
}
