#include "capture.h"
#include "runtime/thread_pool.h"
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <iterator>
#include <sched.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

// Runs a lambda through the C interface.
int par_for(int min, int size, const std::function<int(int)> &f) {
    auto call = [](void *, int i, uint8_t *closure) {
        return (*reinterpret_cast<const std::function<int(int)> *>(closure))(i);
    };
    return tessera_do_par_for(
        nullptr, call, min, size,
        reinterpret_cast<uint8_t *>(const_cast<std::function<int(int)> *>(&f)));
}

using Loop = std::function<int(int min, int extent)>;

int call_loop(void *, int min, int extent, uint8_t *closure, void *) {
    return (*reinterpret_cast<Loop *>(closure))(min, extent);
}

tessera_parallel_task_t task(Loop &f, int extent, bool serial = true,
                             std::vector<tessera_semaphore_acquire_t> *semaphores = nullptr) {
    return {call_loop,
            reinterpret_cast<uint8_t *>(&f),
            "task",
            semaphores ? semaphores->data() : nullptr,
            semaphores ? int(semaphores->size()) : 0,
            0,
            extent,
            1,
            serial};
}

int run(std::vector<tessera_parallel_task_t> tasks) {
    return tessera_do_parallel_tasks(nullptr, int(tasks.size()), tasks.data(), nullptr);
}

class NumThreads {
public:
    explicit NumThreads(int n) : before(tessera_set_num_threads(n)) {}
    ~NumThreads() { tessera_set_num_threads(before); }
    NumThreads(const NumThreads &) = delete;
    NumThreads &operator=(const NumThreads &) = delete;

private:
    int before;
};

// Items pass through a ring of `slots`, each side blocking in its own body.
void check_ring(int items, int slots) {
    tessera_semaphore_t full, empty;
    tessera_semaphore_init(&full, 0);
    tessera_semaphore_init(&empty, slots);
    std::vector<int> ring(static_cast<size_t>(slots)), received;
    Loop produce = [&](int, int) {
        for (int i = 0; i < items; i++) {
            if (int error = tessera_semaphore_acquire(nullptr, &empty, 1)) return error;
            ring[size_t(i % slots)] = i;
            tessera_semaphore_release(&full, 1);
        }
        return 0;
    };
    Loop consume = [&](int, int) {
        for (int i = 0; i < items; i++) {
            if (int error = tessera_semaphore_acquire(nullptr, &full, 1)) return error;
            received.push_back(ring[size_t(i % slots)]);
            tessera_semaphore_release(&empty, 1);
        }
        return 0;
    };
    // The consumer first: whoever starts it must not wait for it.
    CHECK(run({task(consume, 1), task(produce, 1)}) == 0);
    REQUIRE(received.size() == size_t(items));
    for (int i = 0; i < items; i++) CHECK(received[size_t(i)] == i);
}

}  // namespace

TEST_SUITE("runtime tasks") {
    TEST_CASE("every iteration runs once") {
        for (int threads : {1, 2, 3, 64}) {
            NumThreads guard(threads);
            std::vector<std::atomic<int>> hits(1000);
            CHECK(par_for(-500, 1000, [&](int i) {
                      hits[size_t(i + 500)]++;
                      return 0;
                  }) == 0);
            for (auto &h : hits) CHECK(h == 1);
        }
    }
    TEST_CASE("empty and single loops, and the highest index") {
        int sum = 0;
        CHECK(par_for(0, 0, [&](int) { return ++sum; }) == 0);
        CHECK(par_for(0, -3, [&](int) { return ++sum; }) == 0);
        CHECK(sum == 0);
        CHECK(par_for(7, 1, [&](int i) { return sum = i; }) == 7);
        std::atomic<int64_t> total{0};
        CHECK(par_for(INT32_MAX - 2, 3, [&](int i) {
                  total += i;
                  return 0;
              }) == 0);
        CHECK(total == int64_t(INT32_MAX) * 3 - 3);
    }
    TEST_CASE("loops nest") {
        for (int threads : {1, 2, 64}) {
            NumThreads guard(threads);
            std::atomic<int> count{0};
            int error = par_for(0, 8, [&](int) {
                return par_for(0, 8, [&](int) {
                    return par_for(0, 8, [&](int) {
                        count++;
                        return 0;
                    });
                });
            });
            CHECK(error == 0);
            CHECK(count == 512);
        }
    }
    TEST_CASE("not more threads run at once than were asked for") {
        for (int threads : {1, 3}) {
            NumThreads guard(threads);
            std::atomic<int> running{0}, most{0};
            int error = par_for(0, 300, [&](int) {
                int now = ++running;
                int seen = most;
                while (seen < now && !most.compare_exchange_weak(seen, now)) continue;
                std::this_thread::yield();
                running--;
                return 0;
            });
            CHECK(error == 0);
            CHECK(most <= threads);
        }
    }
    TEST_CASE("threads really run at the same time") {
        // Threads that have just been started, that still look for work, that fall asleep or sleep.
        for (int pause = 0; pause < 200; pause++) {
            if (pause % 20 == 0) tessera_shutdown_thread_pool();
            NumThreads guard(2 + pause % 5);
            std::atomic<int> here{0};
            const int all = tessera_get_num_threads();
            CHECK(par_for(0, all, [&](int) {
                      here++;
                      while (here < all) std::this_thread::yield();
                      return 0;
                  }) == 0);
            std::this_thread::sleep_for(std::chrono::microseconds(pause));
        }
    }
    TEST_CASE(
        "threads that were moved to another processor may run on all that they might before") {
        cpu_set_t all;
        REQUIRE(sched_getaffinity(0, sizeof(all), &all) == 0);
        NumThreads threads(CPU_COUNT(&all));
        // Loops as short as these are where threads are found on one processor.
        for (int i = 0; i < 300; i++) {
            CHECK(par_for(0, 16, [&](int) {
                      const auto end =
                          std::chrono::steady_clock::now() + std::chrono::microseconds(20);
                      while (std::chrono::steady_clock::now() < end) {
                      }
                      cpu_set_t mine;
                      if (sched_getaffinity(0, sizeof(mine), &mine) != 0) return 1;
                      return CPU_EQUAL(&mine, &all) ? 0 : 2;
                  }) == 0);
            if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    TEST_CASE("several programs' threads may call at once") {
        NumThreads guard(3);
        std::atomic<int> count{0};
        std::vector<std::thread> callers;
        for (int i = 0; i < 8; i++) {
            callers.emplace_back([&] {
                for (int k = 0; k < 20; k++) {
                    par_for(0, 20, [&](int) {
                        count++;
                        return 0;
                    });
                }
            });
        }
        for (std::thread &t : callers) t.join();
        CHECK(count == 8 * 20 * 20);
    }
    TEST_CASE(
        "short loops, one right after another, from several threads, nested and with errors") {
        NumThreads limit(4);
        std::atomic<int> running{0}, most{0}, wrong{0};
        auto program = [&](int seed) {
            for (int round = 0; round < 2000; round++) {
                // Lives no longer than the loop: a thread that comes late must not touch it.
                std::vector<std::atomic<int>> counts(size_t(1 + (seed + round) % 9));
                const int fails = round % 50 == 0 ? 3 : 0;
                const int error = par_for(0, int(counts.size()), [&](int i) {
                    const int now = ++running;
                    for (int before = most;
                         now > before && !most.compare_exchange_weak(before, now);) {
                    }
                    counts[size_t(i)]++;
                    running--;
                    if (round % 7 == 0) {
                        return par_for(0, 3, [&](int) {
                            counts[size_t(i)]++;
                            return fails;
                        });
                    }
                    return fails;
                });
                if (error != fails) wrong++;
                for (const std::atomic<int> &count : counts) {
                    if (!fails && count != (round % 7 == 0 ? 4 : 1)) wrong++;
                }
            }
        };
        std::vector<std::thread> programs;
        for (int seed = 0; seed < 3; seed++) programs.emplace_back(program, seed);
        for (std::thread &thread : programs) thread.join();
        CHECK(wrong == 0);
        // Each program's own thread may run beside those of the pool.
        CHECK(most <= 4 + 2);
    }

    TEST_CASE("the first error stops the loop and is returned") {
        for (int threads : {1, 4}) {
            NumThreads guard(threads);
            std::atomic<int> count{0};
            CHECK(par_for(0, 1000000, [&](int i) {
                      count++;
                      return i == 3 ? -77 : 0;
                  }) == -77);
            CHECK(count < 1000000);
        }
    }
    TEST_CASE("an error inside a nested loop stops all of it") {
        NumThreads guard(4);
        std::atomic<int> count{0};
        CHECK(par_for(0, 1000, [&](int i) {
                  return par_for(0, 1000, [&](int j) {
                      count++;
                      return i == 2 && j == 5 ? 42 : 0;
                  });
              }) == 42);
        CHECK(count < 1000000);
    }
    TEST_CASE("what a task throws becomes an error") {
        Capture capture;
        NumThreads guard(2);
        CHECK(par_for(0, 4, [](int) -> int { throw std::runtime_error("bang"); }) ==
              tessera_error_code_generic);
        CHECK(capture.has("A task failed: bang"));
    }
    TEST_CASE("the pool can be shut down and starts again") {
        NumThreads guard(4);
        for (int i = 0; i < 3; i++) {
            std::atomic<int> count{0};
            par_for(0, 100, [&](int) {
                count++;
                return 0;
            });
            CHECK(count == 100);
            tessera_shutdown_thread_pool();
        }
    }
#ifndef __SANITIZE_THREAD__
    TEST_CASE("a process that is forked while threads look for work has threads of its own") {
        NumThreads limit(8);
        auto sum_of_loop = [] {
            std::atomic<int> sum{0};
            par_for(0, 64, [&](int i) {
                sum += i;
                return 0;
            });
            return sum.load();
        };
        for (int pause = 0; pause < 200; pause += 2) {
            REQUIRE(sum_of_loop() == 64 * 63 / 2);
            std::this_thread::sleep_for(std::chrono::microseconds(pause));
            const pid_t child = fork();
            if (child == 0) _exit(sum_of_loop() == 64 * 63 / 2 ? 0 : 1);
            int status = 1;
            REQUIRE(waitpid(child, &status, 0) == child);
            CHECK(status == 0);
        }
    }
#endif
    TEST_CASE("the number of threads is set, told, and restored to its default") {
        Capture capture;
        int before = tessera_set_num_threads(5);
        CHECK(tessera_get_num_threads() == 5);
        CHECK(tessera_set_num_threads(-1) == tessera_error_code_bad_argument);
        CHECK(capture.has("cannot be -1"));
        CHECK(tessera_get_num_threads() == 5);
        setenv("HL_NUM_THREADS", "7", 1);
        tessera_set_num_threads(0);
        CHECK(tessera_get_num_threads() == 7);
        setenv("TESSERA_NUM_THREADS", "9", 1);
        tessera_set_num_threads(0);
        CHECK(tessera_get_num_threads() == 9);
        for (const char *none : {"many", "8 of them", "-3", "0"}) {
            setenv("TESSERA_NUM_THREADS", none, 1);
            std::string told = stderr_of([] { tessera_set_num_threads(0); });
            CHECK(told == "TESSERA_NUM_THREADS is \"" + std::string(none) +
                              "\", which is no number of threads, and ignored\n");
            CHECK(tessera_get_num_threads() == 7);
        }
        unsetenv("HL_NUM_THREADS");
        setenv("TESSERA_NUM_THREADS", "", 1);
        CHECK(stderr_of([] { tessera_set_num_threads(0); }).empty());
        unsetenv("TESSERA_NUM_THREADS");
        tessera_set_num_threads(0);
        CHECK(tessera_get_num_threads() >= 1);
        tessera_set_num_threads(before);
    }
    TEST_CASE("the loop and the task can be replaced") {
        static int loops, tasks;
        loops = tasks = 0;
        auto old_loop = tessera_set_custom_do_par_for(
            [](void *context, tessera_task_t f, int min, int size, uint8_t *closure) {
                loops++;
                for (int i = 0; i < size; i++) {
                    if (int error = tessera_do_task(context, f, min + i, closure)) return error;
                }
                return 0;
            });
        auto old_task = tessera_set_custom_do_task(
            [](void *context, tessera_task_t f, int i, uint8_t *closure) {
                tasks++;
                return f(context, i, closure);
            });
        CHECK(par_for(0, 5, [](int) { return 0; }) == 0);
        tessera_set_custom_do_par_for(old_loop);
        tessera_set_custom_do_task(old_task);
        CHECK(loops == 1);
        CHECK(tasks == 5);
    }
}

TEST_SUITE("runtime semaphores") {
    TEST_CASE("a semaphore counts") {
        tessera_semaphore_t s;
        CHECK(tessera_semaphore_init(&s, 2) == 2);
        CHECK(tessera_semaphore_try_acquire(&s, 1));
        CHECK_FALSE(tessera_semaphore_try_acquire(&s, 2));
        CHECK(tessera_semaphore_release(&s, 3) == 4);
        CHECK(tessera_semaphore_try_acquire(&s, 4));
        CHECK_FALSE(tessera_semaphore_try_acquire(&s, 1));
        CHECK(tessera_semaphore_try_acquire(&s, 0));
    }
    TEST_CASE("a producer and a consumer pass items through a ring, with any number of threads") {
        for (int threads : {1, 2, 64}) {
            NumThreads guard(threads);
            check_ring(500, 1);
            check_ring(500, 7);
        }
    }
    TEST_CASE("producers and consumers inside parallel loops do not deadlock") {
        for (int threads : {1, 2, 64}) {
            NumThreads guard(threads);
            CHECK(par_for(0, 16, [](int) {
                      check_ring(40, 2);
                      return 0;
                  }) == 0);
        }
    }
    TEST_CASE("a chain of stages, each waiting for the one before, in the worst order") {
        for (int threads : {1, 2}) {
            NumThreads guard(threads);
            constexpr int stages = 20;
            std::vector<tessera_semaphore_t> ready(stages + 1);
            for (auto &s : ready) tessera_semaphore_init(&s, 0);
            std::vector<Loop> bodies;
            for (int s = 0; s < stages; s++) {
                bodies.push_back([&ready, s](int, int) {
                    for (int i = 0; i < 10; i++) {
                        int error =
                            s ? tessera_semaphore_acquire(nullptr, &ready[size_t(s)], 1) : 0;
                        if (error) return error;
                        tessera_semaphore_release(&ready[size_t(s + 1)], 1);
                    }
                    return 0;
                });
            }
            std::vector<tessera_parallel_task_t> tasks;
            for (int s = stages; s-- > 0;) tasks.push_back(task(bodies[size_t(s)], 1));
            CHECK(run(tasks) == 0);
            CHECK(tessera_semaphore_try_acquire(&ready[stages], 10));
        }
    }
    TEST_CASE("semaphores of a task are taken before each iteration") {
        for (int threads : {1, 4}) {
            for (bool serial : {true, false}) {
                NumThreads guard(threads);
                tessera_semaphore_t full;
                tessera_semaphore_init(&full, 0);
                std::vector<tessera_semaphore_acquire_t> needs{{&full, 2}};
                std::atomic<int> produced{0}, consumed{0}, too_early{0};
                Loop produce = [&](int min, int extent) {
                    for (int i = min; i < min + extent; i++) {
                        produced++;
                        tessera_semaphore_release(&full, 2);
                    }
                    return 0;
                };
                Loop consume = [&](int, int extent) {
                    int number = consumed += extent;
                    if (number > produced) too_early++;
                    return 0;
                };
                CHECK(run({task(consume, 200, serial, &needs), task(produce, 200)}) == 0);
                CHECK(consumed == 200);
                CHECK(too_early == 0);
                CHECK_FALSE(tessera_semaphore_try_acquire(&full, 1));
            }
        }
    }
    TEST_CASE("a task without semaphores gets its range at once if serial, else in pieces") {
        NumThreads guard(2);
        std::atomic<int> calls{0}, sum{0};
        Loop count = [&](int min, int extent) {
            calls++;
            for (int i = min; i < min + extent; i++) sum += i;
            return 0;
        };
        CHECK(run({task(count, 10)}) == 0);
        CHECK(calls == 1);
        CHECK(sum == 45);
        CHECK(run({task(count, 10, false)}) == 0);
        CHECK(calls == 11);
        CHECK(sum == 90);
        CHECK(run({task(count, 0)}) == 0);
        CHECK(run({}) == 0);
        CHECK(calls == 11);
    }
    TEST_CASE("when a producer fails, a consumer that waits for it is cancelled") {
        for (int threads : {1, 4}) {
            for (bool blocks_in_body : {true, false}) {
                NumThreads guard(threads);
                tessera_semaphore_t full;
                tessera_semaphore_init(&full, 0);
                std::vector<tessera_semaphore_acquire_t> needs{{&full, 1}};
                Loop consume = [&](int, int) {
                    return blocks_in_body ? tessera_semaphore_acquire(nullptr, &full, 1) : 0;
                };
                Loop produce = [](int, int) { return -99; };
                auto consumer = blocks_in_body ? task(consume, 1) : task(consume, 3, false, &needs);
                CHECK(run({consumer, task(produce, 1)}) == -99);
            }
        }
    }
    TEST_CASE("a consumer that waits for a nested loop does not keep that loop from running") {
        for (int threads : {1, 2, 8}) {
            NumThreads guard(threads);
            tessera_semaphore_t full;
            tessera_semaphore_init(&full, 0);
            std::atomic<int> sum{0};
            Loop consume = [&](int, int) {
                for (int i = 0; i < 10; i++) {
                    if (int error = tessera_semaphore_acquire(nullptr, &full, 4)) return error;
                    sum += 4;
                }
                return 0;
            };
            Loop produce = [&](int, int) {
                for (int i = 0; i < 10; i++) {
                    par_for(0, 4, [&](int) {
                        tessera_semaphore_release(&full, 1);
                        return 0;
                    });
                }
                return 0;
            };
            CHECK(run({task(consume, 1), task(produce, 1)}) == 0);
            CHECK(sum == 40);
        }
    }
    TEST_CASE("parallel tasks can be replaced") {
        static int groups;
        groups = 0;
        auto old = tessera_set_custom_do_parallel_tasks(
            [](void *, int n, tessera_parallel_task_t *, void *) { return groups += n; });
        Loop nothing = [](int, int) { return 0; };
        CHECK(run({task(nothing, 1), task(nothing, 1)}) == 2);
        tessera_set_custom_do_parallel_tasks(old);
        CHECK(run({task(nothing, 1)}) == 0);
    }
}

TEST_SUITE("runtime mutexes") {
    TEST_CASE("an element's mutex keeps others out") {
        NumThreads guard(8);
        for (uint64_t n : {uint64_t(0), uint64_t(1), uint64_t(10), uint64_t(1) << 40}) {
            tessera_mutex_array_t *array = tessera_mutex_array_create(nullptr, n);
            REQUIRE(array);
            int64_t count = 0;
            CHECK(par_for(0, 64, [&](int) {
                      for (int i = 0; i < 50; i++) {
                          tessera_mutex_array_lock(array, 5);
                          count++;
                          tessera_mutex_array_unlock(array, 5);
                      }
                      return 0;
                  }) == 0);
            CHECK(count == 64 * 50);
            tessera_mutex_array_destroy(nullptr, array);
        }
        tessera_mutex_array_destroy(nullptr, nullptr);
    }

#ifdef __linux__
    // Code that is unloaded takes its threads along, though one of them may just hold the mutex.
    TEST_CASE("the threads end when they have to, whoever else asks the pool something") {
        auto threads = [] {
            return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
        };
        tessera::ThreadPool &pool = tessera::ThreadPool::instance();
        pool.shut_down();
        std::atomic<bool> over = false;
        std::thread asking([&] {
            while (!over) pool.num_threads();
        });
        const auto before = threads();
        long begun = 0, left = 0;
        for (int i = 0; i < 50; i++) {
            par_for(0, 64, [](int) { return 0; });
            begun += threads() - before;
            pool.leave();
            // The system may list a thread that has been joined for a moment longer.
            for (int wait = 0; wait < 1000 && threads() > before; wait++) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            left += threads() - before;
        }
        over = true;
        asking.join();
        CHECK(begun > 0);
        CHECK(left == 0);
    }
#endif
}
