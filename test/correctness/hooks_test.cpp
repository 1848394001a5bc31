#include "harness.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include <chrono>
#include <fstream>
#include <thread>

using namespace tessera;
using namespace tessera::test;

namespace {

// Adds one to every value that is stored.
struct AddOne final : ir::Mutator {
    using Mutator::visit;
    ir::Stmt visit(const ir::Store &s) override {
        return ir::Store::make(s.buffer, s.value + 1, s.index);
    }
};

std::atomic<int> allocated{0}, freed{0};

std::string written(const std::string &path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    std::remove(path.c_str());
    return text.str();
}

Var x("x"), y("y");

}  // namespace

TEST_SUITE("hooks") {
    TEST_CASE("passes of the user's own run last, in their order, until they are cleared") {
        Func f("f");
        f(x) = x * 10;
        auto value = [&] {
            Buffer<int> b = f.realize({4});
            return b(3);
        };
        CHECK(value() == 30);
        f.add_custom_lowering_pass(new AddOne);
        CHECK(value() == 31);
        AddOne mine;
        static int deleted;
        deleted = 0;
        f.pipeline().add_custom_lowering_pass(&mine, [] { deleted++; });
        CHECK(value() == 32);
        f.clear_custom_lowering_passes();
        CHECK(deleted == 1);
        CHECK(value() == 30);
    }
    TEST_CASE("memory of buffers comes from the functions that are set") {
        Buffer<>::set_default_allocate_fn([](size_t n) {
            allocated++;
            return std::malloc(n);
        });
        Buffer<>::set_default_deallocate_fn([](void *p) {
            freed++;
            std::free(p);
        });
        allocated = freed = 0;
        {
            Buffer<int> a(100), b = a;
            CHECK(allocated == 1);
            CHECK(uintptr_t(a.data()) % 128 == 0);
            Func f("f");
            f(x) = x;
            f.realize({5});
            CHECK(allocated == 2);
            CHECK(freed == 1);
            Buffer<>::set_default_allocate_fn([](size_t) -> void * { return nullptr; });
            CHECK_THROWS_WITH_AS(Buffer<int>(100), doctest::Contains("out of memory"),
                                 RuntimeError);
            Buffer<>::set_default_allocate_fn(nullptr);
            Buffer<>::set_default_deallocate_fn(nullptr);
        }
        CHECK(freed == 2);
        Buffer<int> plain(100);
        CHECK(allocated == 2);
    }
    TEST_CASE("parallel loops and their tasks are run by the handlers of a call") {
        static std::atomic<int> loops, tasks;
        Func f("f");
        f(x, y) = x + 10 * y;
        f.parallel(y);
        JITUserContext context;
        context.handlers.custom_do_par_for = [](JITUserContext *c,
                                                int (*task)(JITUserContext *, int, uint8_t *),
                                                int min, int size, uint8_t *closure) {
            loops++;
            for (int i = min + size; i-- > min;) {
                if (int error = task(c, i, closure)) return error;
            }
            return 0;
        };
        loops = tasks = 0;
        Buffer<int> b = f.realize(&context, {4, 6});
        CHECK(loops == 1);
        CHECK(b(3, 5) == 53);
        JITUserContext other;
        other.handlers.custom_do_task = [](JITUserContext *c,
                                           int (*task)(JITUserContext *, int, uint8_t *), int i,
                                           uint8_t *closure) {
            tasks++;
            return task(c, i, closure);
        };
        Buffer<int> again = f.realize(&other, {4, 6});
        CHECK(tasks == 6);
        CHECK(again(3, 5) == 53);
    }
    TEST_CASE("what a handler throws leaves the call") {
        Func f("f");
        f(x, y) = print(x + 10 * y);
        f.parallel(y);
        struct Stopped {};
        auto stops = [&](JITHandlers handlers) {
            JITUserContext context;
            context.handlers = handlers;
            CHECK_THROWS_AS(f.realize(&context, {4, 3}), Stopped);
            context.handlers = {};
            context.handlers.custom_print = [](JITUserContext *, const char *) {};
            Buffer<int> b = f.realize(&context, {4, 3});
            CHECK(b(3, 2) == 23);
        };
        JITHandlers h;
        h.custom_print = [](JITUserContext *, const char *) { throw Stopped(); };
        stops(h);
        h = {};
        h.custom_do_par_for = [](auto...) -> int { throw Stopped(); };
        stops(h);
        h = {};
        h.custom_do_task = [](auto...) -> int { throw Stopped(); };
        stops(h);

        ImageParam im(Int(32), 1, "im");
        Func reads("reads");
        reads(x) = im(x);
        im.set(Buffer<int>(4));
        reads.jit_handlers().custom_error = [](JITUserContext *, const char *message) {
            throw std::logic_error(message);
        };
        CHECK_THROWS_WITH_AS(reads.realize({5}), doctest::Contains("im"), std::logic_error);
        CHECK_NOTHROW(reads.realize({4}));
    }
    TEST_CASE(
        "what a handler throws leaves the call it was called for, if others share its context") {
        static std::atomic<int> began;
        began = 0;
        struct Stopped {};
        JITUserContext context;
        context.handlers.custom_print = [](JITUserContext *, const char *text) {
            // Both are under way before the first line of the one throws.
            began++;
            for (int i = 0; i < 20000 && began < 2; i++) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            if (std::string(text).starts_with("-1")) throw Stopped();
        };
        Param<int> value("value");
        Func bad("bad"), good("good");
        bad() = print(Expr(-1) + value);
        good() = print(Expr(1) + value);
        value.set(0);
        bool thrown = false;
        std::thread other([&] {
            try {
                bad.realize(&context);
            } catch (const Stopped &) {
                thrown = true;
            }
        });
        try {
            good.realize(&context);
        } catch (const Stopped &) {
        }  // nobody knows for which of them it was called
        other.join();
        CHECK(thrown);
        began = 2;
        CHECK_NOTHROW(good.realize(&context));
    }
    TEST_CASE("the conceptual statement has regions and productions, the lowered one has not") {
        Func f("f"), g("g");
        f(x, y) = x + y;
        g(x, y) = f(x, y) + f(x, y + 1);
        f.store_root().compute_at(g, y);
        g.compile_to_conceptual_stmt("conceptual.stmt");
        g.compile_to_lowered_stmt("lowered.stmt");
        std::string conceptual = written("conceptual.stmt"), lowered = written("lowered.stmt");
        CHECK(conceptual.find("realize f: {int32} over") != std::string::npos);
        CHECK(conceptual.find("% 2") != std::string::npos);
        CHECK(lowered.find("realize") == std::string::npos);
        CHECK(lowered.find("allocate f") != std::string::npos);
        Pipeline(g).compile_to_conceptual_stmt("conceptual.stmt");
        CHECK(written("conceptual.stmt").find("realize f: {int32} over") != std::string::npos);
    }
}
