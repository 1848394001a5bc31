#include "harness.h"
#include <atomic>
#include <cstdlib>
#include <functional>
#include <thread>

using namespace tessera;
using namespace tessera::test;

// Pipelines with many threads, where memory runs out or a task fails: each call ends with its
// error, frees what it took, and the next one is right.
namespace {

const int width = 40, height = 24;
const Var x("x"), y("y"), xo("xo"), xi("xi");

// A call's memory: the n-th allocation fails, if that is asked for.
struct Memory : JITUserContext {
    std::atomic<int> asked{0}, live{0};
    int failing = 0;  // which allocation; 0: none

    Memory() {
        handlers.custom_malloc = [](JITUserContext *c, size_t bytes) -> void * {
            auto *self = static_cast<Memory *>(c);
            if (++self->asked == self->failing) return nullptr;
            self->live++;
            return std::aligned_alloc(128, (bytes + 127) / 128 * 128);
        };
        handlers.custom_free = [](JITUserContext *c, void *p) {
            if (!p) return;
            static_cast<Memory *>(c)->live--;
            std::free(p);
        };
    }
};

class ManyThreads {
public:
    ManyThreads() : before(tessera_set_num_threads(64)) {}
    ~ManyThreads() { tessera_set_num_threads(before); }
    ManyThreads(const ManyThreads &) = delete;
    ManyThreads &operator=(const ManyThreads &) = delete;

private:
    int before;
};

// What is computed of x and y in each of the pipelines: g(x, y) = f(x, y) + f(x, y + 1), where f
// is x * 3 + y. `bad`: the row of f that cannot be computed; -1: none.
struct Case {
    const char *name;
    std::function<void(Func &f, Func &g)> schedule;
};

const std::vector<Case> cases{
    {"rows in parallel",
     [](Func &f, Func &g) {
         f.compute_root().parallel(y);
         g.parallel(y);
     }},
    {"loops nest",
     [](Func &f, Func &g) {
         f.compute_at(g, xo).store_in(MemoryType::Heap).parallel(x).parallel(y);
         g.split(x, xo, xi, 8, TailStrategy::GuardWithIf).parallel(xo).parallel(y);
     }},
    {"storage for each row",
     [](Func &f, Func &g) {
         f.compute_at(g, y).store_in(MemoryType::Heap).vectorize(x, 8);
         g.parallel(y);
     }},
    {"a producer of its own thread",
     [](Func &f, Func &g) {
         f.store_root().compute_at(g, y).fold_storage(y, 4).store_in(MemoryType::Heap).async();
         g.vectorize(x, 4);
     }},
    {"a producer of its own thread in each task",
     [](Func &f, Func &g) {
         f.store_at(g, xo).compute_at(g, y).store_in(MemoryType::Heap).async().parallel(x);
         g.split(x, xo, xi, 8, TailStrategy::GuardWithIf).reorder(xi, y, xo).parallel(xo);
     }},
    {"a ring of buffers",
     [](Func &f, Func &g) {
         f.compute_at(g, y).hoist_storage_root().ring_buffer(3).store_in(MemoryType::Heap).async();
     }},
};

struct Work {
    Param<int> bad{"bad", -1};
    Func f{"f"}, g{"g"};

    explicit Work(const Case &c) {
        f(x, y) = require(y != bad, x * 3 + y, "row", y, "is bad");
        g(x, y) = f(x, y) + f(x, y + 1);
        c.schedule(f, g);
    }
    void is_right(JITUserContext *context = nullptr) {
        Buffer<int> b = context ? g.realize(context, {width, height}) : g.realize({width, height});
        int wrong = 0;
        b.for_each_element([&](int i, int j) { wrong += b(i, j) != i * 6 + j * 2 + 1; });
        CHECK(wrong == 0);
    }
};

}  // namespace

TEST_SUITE("stress") {
    TEST_CASE("many threads, several callers, nested loops and asynchronous producers") {
        ManyThreads many;
        for (const Case &c : cases) {
            INFO(c.name);
            Work work(c);
            work.g.compile_jit();
            const Callable call = work.g.compile_to_callable({work.bad});
            std::atomic<int> wrong{0};
            std::vector<std::thread> callers;
            for (int t = 0; t < 4; t++) {
                callers.emplace_back([&] {
                    for (int i = 0; i < 8; i++) {
                        Buffer<int> b(width, height);
                        if (call(-1, b) != 0) wrong++;
                        b.for_each_element(
                            [&](int i, int j) { wrong += b(i, j) != i * 6 + j * 2 + 1; });
                    }
                });
            }
            for (std::thread &t : callers) t.join();
            CHECK(wrong == 0);
        }
    }
    TEST_CASE("each allocation fails in turn") {
        ManyThreads many;
        for (const Case &c : cases) {
            INFO(c.name);
            Work work(c);
            Memory all;
            work.is_right(&all);
            CHECK(all.live == 0);
            REQUIRE(all.asked > 0);
            int failures = 0;
            for (int n = 1; n <= all.asked; n++) {
                INFO("allocation ", n);
                Memory memory;
                memory.failing = n;
                try {
                    work.g.realize(&memory, {width, height});
                } catch (const RuntimeError &e) {
                    failures++;
                    CHECK(std::string(e.what()).find("ut of memory") != std::string::npos);
                }
                CHECK(memory.live == 0);
            }
            CHECK(failures == all.asked);
            work.is_right();
        }
    }
    TEST_CASE("a task that fails ends the others, and frees what they took") {
        ManyThreads many;
        for (const Case &c : cases) {
            INFO(c.name);
            Work work(c);
            for (int bad : {0, height / 2, height}) {
                INFO("row ", bad);
                work.bad.set(bad);
                Memory memory;
                CHECK_THROWS_WITH_AS(work.g.realize(&memory, {width, height}),
                                     doctest::Contains("is bad"), RuntimeError);
                CHECK(memory.asked > 0);
                CHECK(memory.live == 0);
            }
            work.bad.set(-1);
            work.is_right();
        }
    }
}
