#include "base/large_stack.h"
#include "base/thread_dialect.h"
#include <doctest/doctest.h>
#include <thread>

using namespace tessera;

TEST_SUITE("dialect") {
    TEST_CASE("a thread's own dialect comes before that of the process, and others keep theirs") {
        const ThreadDialect here(Dialect::Halide);
        CHECK(dialect() == Dialect::Halide);
        Dialect elsewhere = Dialect::Halide;
        std::thread([&] { elsewhere = dialect(); }).join();
        CHECK(elsewhere == Dialect::Tessera);
        {
            const ThreadDialect within(Dialect::Tessera);
            CHECK(dialect() == Dialect::Tessera);
        }
        CHECK(dialect() == Dialect::Halide);
    }
    TEST_CASE("without one a thread follows the process") {
        CHECK_FALSE(thread_dialect());
        set_dialect(Dialect::Halide);
        CHECK(dialect() == Dialect::Halide);
        set_dialect(Dialect::Tessera);
        CHECK(dialect() == Dialect::Tessera);
    }
    TEST_CASE("what runs on a large stack follows the thread that waits for it") {
        const ThreadDialect here(Dialect::Halide);
        const std::thread::id waiting = std::this_thread::get_id();
        Dialect there = Dialect::Tessera;
        bool is_another = false;
        run_on_large_stack([&] {
            there = dialect();
            is_another = std::this_thread::get_id() != waiting;
        });
        CHECK(is_another);
        CHECK(there == Dialect::Halide);
    }
}
