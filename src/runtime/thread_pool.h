#pragma once
#include "runtime/tessera_runtime.h"
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tessera {

// A loop whose iterations are handed out to threads. Lives on the stack of its owner, the thread
// that wants it done; the pool knows it from start() to finish().
struct Job {
    using Body = int (*)(Job &job, int index);

    Job(void *user_context, Body body, const void *data, int64_t min, int64_t limit)
        : user_context(user_context), body(body), data(data), next(min), limit(limit) {}

    void *const user_context;
    const Body body;
    const void *const data;      // what the body needs
    Job *parent = nullptr;       // whose iteration started this one
    std::atomic<int64_t> next;   // the first iteration not yet handed out
    std::atomic<int64_t> limit;  // may grow while the job is known to the pool
    std::atomic<int> error{0};   // the first failure
    // Threads inside, the owner apart; with `owner_waits`, these leave under the pool's mutex.
    std::atomic<int> active{0};
    static constexpr int owner_waits = 1 << 30, helpers = owner_waits - 1;

    std::atomic<bool> is_open{false};  // counts among the pool's open jobs

    int processor = -1;  // that the owner was on when it started the job

    // Below: the pool's, under its mutex.
    std::thread::id owner;
    bool owner_sleeps = false;
    bool owner_called = false;   // woken to help, and not up yet
    bool owner_counted = false;  // as running, before it started this job
    std::condition_variable owner_wakes;
    Job *older = nullptr, *newer = nullptr;
};

struct Semaphore {
    std::atomic<int> count;
    std::atomic<int> waiters;

    bool try_acquire(int n);
};

// Counts the threads that execute iterations without waiting, and those that look for work a moment
// longer before they sleep. Each change is one step, so that no thread counts twice or not at all.
class ThreadCounts {
public:
    struct Both {
        int running, spinning;
    };
    Both get() const { return unpacked(counts); }
    int running() const { return get().running; }

    void begin() { counts += one_running; }
    void end() { counts -= one_running; }
    void spin() { counts += one_spinning; }
    void stop_spinning() { counts -= one_spinning; }
    void spin_again() { counts += one_spinning - one_running; }
    void forget_others(bool this_runs) { counts = this_runs ? one_running : 0; }
    // False if `limit` are running already.
    bool begin(int limit) { return begin(limit, one_running); }
    bool begin_instead_of_spinning(int limit) { return begin(limit, one_running - one_spinning); }

private:
    static constexpr int64_t one_spinning = 1, one_running = int64_t(1) << 32;
    bool begin(int limit, int64_t step) {
        int64_t now = counts;
        while (unpacked(now).running < limit) {
            if (counts.compare_exchange_weak(now, now + step)) return true;
        }
        return false;
    }
    static Both unpacked(int64_t counts) { return {int(counts >> 32), int(int32_t(counts))}; }

    std::atomic<int64_t> counts{0};
};

// See "Tasks" in tessera_runtime.h for what it promises. A thread is `running` if it executes
// iterations and does not wait. Whenever there is work and fewer than `thread_limit` are running,
// recruit() wakes or creates a thread; it is called at each of the moments at which that can become
// so: work was added, a running thread begins to wait or leaves, the limit grows.
class ThreadPool {
public:
    static ThreadPool &instance();

    // Does all iterations, with the help of others; returns the first error.
    int run(Job &job);
    // The same in steps, for a job whose `limit` grows in between (by publish()).
    void start(Job &job);
    void publish(Job &job);
    int finish(Job &job);
    void fail(Job &job, int error);

    // While it lives, this thread's waits are cancelled when the job fails, as inside an iteration.
    class Inside {
    public:
        explicit Inside(Job &job);
        ~Inside();
        Inside(const Inside &) = delete;
        Inside &operator=(const Inside &) = delete;

    private:
        Job *outer;
    };

    int release(Semaphore &semaphore, int n);
    int acquire(Semaphore &semaphore, int n);

    int set_num_threads(int n);
    int num_threads();
    void shut_down();
    // Is called when the library that holds this code is unloaded, or the process ends. The threads
    // end as well, unless they are at work (the process ends) or belong to the process that this
    // one was forked from.
    void leave();

private:
    using Lock = std::unique_lock<std::mutex>;

    // A thread that waits for a semaphore, on its stack.
    struct Waiter {
        const Semaphore *semaphore;
        std::condition_variable wakes;
    };

    ThreadPool();
    void forget_other_threads();
    void hold(Lock &lock);
    Lock hold();
    void worker();
    void work(Lock &lock);
    bool take(Job &job, int &index);
    void open(Job &job);
    void close(Job &job);
    void execute_all(Job &job);
    void help(Job &job, Lock &lock);
    bool help_newest();
    void execute_as_helper(Job &job);
    void leave(Job &job, const Lock &lock);
    bool is_left(const Job &job);
    void wait_until_left(Job &job, Lock &lock);
    void spin_until_left(Job &job, Lock &lock);
    bool may_spin();
    bool spin(Lock &lock);
    Job *find_work(const Job *ancestor);
    int64_t available();
    void recruit();
    bool call_waiting_owner(const Job &job);
    void sleep_until_called(Job &job, Lock &lock);
    bool spawn();
    void begin_waiting();
    void end_waiting();
    void give_up_if_starved();
    void mark_failed(Job &job, int error);
    void link(Job &job);
    void unlink(Job &job);

    const int processors;
    std::mutex mutex;
    std::condition_variable worker_wakes;
    std::vector<std::thread> threads;
    std::vector<Waiter *> waiters;
    int idle = 0;    // workers asleep that nobody has woken yet
    int tokens = 0;  // workers woken or created that are not up yet
    int called = 0;  // owners woken to help that are not up yet

    // These change under the mutex as well, and are read by threads that spin.
    std::atomic<Job *> newest{nullptr};
    std::atomic<uint64_t> pushes{0};  // grows whenever there may be work that was not there before
    std::atomic<int> thread_limit;
    std::atomic<bool> stopping{false};
    // And these without it.
    ThreadCounts threads_now;
    std::atomic<int> joining{0};    // threads in help_newest() that are about to help
    std::atomic<int> open_jobs{0};  // that have iterations to hand out: a hint for those who spin
    pid_t process;                  // that started the threads
};

}  // namespace tessera
