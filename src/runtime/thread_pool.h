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
    std::atomic<int> active{0};  // threads inside, the owner apart; changes under the pool's mutex

    // Below: the pool's, under its mutex.
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

// See "Tasks" in tessera_runtime.h for what it promises. How: a thread that executes iterations and
// does not wait is `running`. Whenever there is work and fewer than `thread_limit` are running,
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
    // When the library that holds this code is unloaded, or the process ends: the threads end as
    // well, unless they are at work (the process ends) or belong to the process that this one was
    // forked from.
    void leave();

private:
    using Lock = std::unique_lock<std::mutex>;

    // A thread that waits for a semaphore, on its stack.
    struct Waiter {
        const Semaphore *semaphore;
        std::condition_variable wakes;
    };

    ThreadPool();
    void worker();
    void execute_all(Job &job);
    void help(Job &job, Lock &lock);
    void wait_until_done(Job &job, Lock &lock);
    void spin_while_active(Job &job, Lock &lock);
    void spin_for_work(Lock &lock);
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

    std::mutex mutex;
    std::condition_variable worker_wakes;
    std::vector<std::thread> threads;
    std::vector<Waiter *> waiters;
    Job *newest = nullptr;
    std::atomic<uint64_t> pushes{0};  // grows with each job, for those who spin
    int thread_limit;
    int running = 0;   // see above
    int idle = 0;      // workers asleep that nobody has woken yet
    int tokens = 0;    // workers woken or created that are not up yet
    int called = 0;    // owners woken to help that are not up yet
    int spinning = 0;  // workers that look for work a moment longer before they sleep
    bool stopping = false;
    pid_t process;  // that started the threads
};

}  // namespace tessera
