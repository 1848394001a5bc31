#include "runtime/thread_pool.h"
#include "runtime/message.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>
#include <utility>
#ifdef __linux__
#include <sched.h>
#endif
#include <pthread.h>
#include <unistd.h>

namespace tessera {

namespace {

constexpr int max_threads = 4096;
// Waking a thread takes 50 us and more: for so long one that has nothing to do looks for work
// first.
constexpr std::chrono::microseconds time_before_sleep{100};
// Each wakes others as soon as it is up, so that the first need not wake them all.
constexpr int most_wakes_at_once = 2;
// Between looks at the mutex, in instructions that do nothing.
constexpr int longest_rest = 64;

// The job whose iteration this thread executes.
thread_local Job *current_job = nullptr;
// Says whether this thread is among those that the pool counts as running.
thread_local bool counted = false;

using Clock = std::chrono::steady_clock;

void rest() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Returns true if `done` comes true in time.
template<class Condition>
bool spin_until(Clock::time_point end, Condition done) {
    constexpr int looks_at_once = 16;  // the clock is slower to read than what others write
    while (Clock::now() < end) {
        for (int i = 0; i < looks_at_once; i++) {
            if (done()) return true;
            rest();
        }
    }
    return done();
}

int machine_threads() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1, int(std::thread::hardware_concurrency()));
}

int current_processor() {
#ifdef __linux__
    return sched_getcpu();
#else
    return -1;
#endif
}

// Some systems wake a thread on the processor of the one that wakes it, and leave both there for
// milliseconds while other processors are idle.
void leave_processor(int processor) {
#ifdef __linux__
    constexpr std::chrono::milliseconds time_between_moves{10};
    thread_local Clock::time_point next_move;
    const Clock::time_point now = Clock::now();
    if (now < next_move) return;
    next_move = now + time_between_moves;
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof(mine), &mine) != 0) return;
    cpu_set_t others = mine;
    CPU_CLR(size_t(processor), &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof(others), &others) != 0) return;
    sched_setaffinity(0, sizeof(mine), &mine);
#else
    (void)processor;
#endif
}

int default_threads() {
    for (const char *name : {"TESSERA_NUM_THREADS", "HL_NUM_THREADS"}) {
        const char *text = std::getenv(name);
        if (!text || !*text) continue;
        char *end = nullptr;
        long n = std::strtol(text, &end, 10);
        if (n > 0 && !*end) return int(std::min<long>(n, max_threads));
        std::fprintf(stderr, "%s is \"%s\", which is no number of threads, and ignored\n", name,
                     text);
    }
    return std::min(machine_threads(), max_threads);
}

int error_of_ancestors(const Job *job) {
    for (; job; job = job->parent) {
        if (int error = job->error.load(std::memory_order_acquire)) return error;
    }
    return 0;
}

bool is_inside(const Job *job, const Job *ancestor) {
    while (job && job != ancestor) job = job->parent;
    return job == ancestor;
}

int64_t remaining(const Job &job) {
    if (error_of_ancestors(&job)) return 0;
    return std::max<int64_t>(0, job.limit.load() - job.next.load());
}

int execute(Job &job, int index) {
    try {
        return job.body(job, index);
    } catch (const std::exception &e) {
        return (Message() << "A task failed: " << e.what())
            .raise(job.user_context, tessera_error_code_generic);
    } catch (...) {
        return (Message() << "A task failed").raise(job.user_context, tessera_error_code_generic);
    }
}

}  // namespace

bool Semaphore::try_acquire(int n) {
    int now = count.load();
    while (now >= n) {
        if (count.compare_exchange_weak(now, now - n)) return true;
    }
    return false;
}

ThreadPool::Inside::Inside(Job &job) : outer(std::exchange(current_job, &job)) {}

ThreadPool::Inside::~Inside() { current_job = outer; }

// Never destroyed: its threads may outlive the static objects of the program.
ThreadPool &ThreadPool::instance() {
    static ThreadPool *const pool = new ThreadPool;
    return *pool;
}

// Threads must not return into code that is gone.
__attribute__((destructor)) static void leave_pool() { ThreadPool::instance().leave(); }

ThreadPool::ThreadPool()
    : processors(machine_threads()), thread_limit(default_threads()), process(getpid()) {
    // The mutex is held across a fork, so that the new process finds it in a state that it knows.
    pthread_atfork([] { instance().mutex.lock(); }, [] { instance().mutex.unlock(); },
                   [] {
                       instance().forget_other_threads();
                       instance().mutex.unlock();
                   });
}

// In a forked process only this thread and its jobs are left. The objects of the other threads must
// not be destroyed, which would wait for them; nor may the condition that they slept on be
// signalled.
void ThreadPool::forget_other_threads() {
    new std::vector<std::thread>(std::exchange(threads, {}));
    new (&worker_wakes) std::condition_variable;
    waiters.clear();
    idle = tokens = called = joining = open_jobs = 0;
    stopping = false;
    threads_now.forget_others(counted);
    Job *oldest = newest.exchange(nullptr);
    while (oldest && oldest->older) oldest = oldest->older;
    for (Job *job = oldest, *next; job; job = next) {
        next = job->newer;
        if (job->owner != std::this_thread::get_id()) continue;
        job->active = 0;
        job->is_open = false;
        job->newer = nullptr;
        link(*job);
    }
}

// The mutex is held for moments: who finds it taken tries again before it sleeps, which would take
// longer than what all others do meanwhile.
void ThreadPool::hold(Lock &lock) {
    for (int rests = 1; rests <= longest_rest; rests *= 2) {
        if (lock.try_lock()) return;
        for (int i = 0; i < rests; i++) rest();
    }
    lock.lock();
}

ThreadPool::Lock ThreadPool::hold() {
    Lock lock(mutex, std::defer_lock);
    hold(lock);
    return lock;
}

int ThreadPool::run(Job &job) {
    start(job);
    return finish(job);
}

void ThreadPool::start(Job &job) {
    job.parent = current_job;
    job.owner = std::this_thread::get_id();
    job.processor = current_processor();
    job.owner_counted = std::exchange(counted, true);
    Lock lock = hold();
    if (!job.owner_counted) threads_now.begin();
    link(job);
    recruit();
}

void ThreadPool::publish(Job &job) {
    Lock lock = hold();
    job.limit++;
    open(job);
    pushes++;
    recruit();
}

int ThreadPool::finish(Job &job) {
    execute_all(job);
    Lock lock = hold();
    unlink(job);
    wait_until_left(job, lock);
    counted = job.owner_counted;
    if (!counted) {
        threads_now.end();
        if (open_jobs > 0) pushes++;  // who spins may begin now
        recruit();
    }
    return error_of_ancestors(&job);
}

bool ThreadPool::take(Job &job, int &index) {
    if (error_of_ancestors(&job)) return false;
    int64_t i = job.next.load(std::memory_order_relaxed);
    while (i < job.limit.load(std::memory_order_acquire)) {
        if (job.next.compare_exchange_weak(i, i + 1)) {
            if (remaining(job) == 0) close(job);
            index = int(i);
            return true;
        }
    }
    return false;
}

void ThreadPool::open(Job &job) {
    if (!job.is_open.exchange(true)) open_jobs++;
}

void ThreadPool::close(Job &job) {
    if (job.is_open.exchange(false)) open_jobs--;
    // Somebody may have published in between.
    if (remaining(job) > 0) open(job);
}

void ThreadPool::execute_all(Job &job) {
    Inside inside(job);
    for (int index; take(job, index);) {
        if (int error = execute(job, index)) fail(job, error);
    }
}

// Works on the job as one of the threads that do not own it.
void ThreadPool::help(Job &job, Lock &lock) {
    if (!threads_now.begin(thread_limit)) return;
    job.active++;
    recruit();
    lock.unlock();
    execute_as_helper(job);
    hold(lock);
    threads_now.end();
    leave(job, lock);
}

void ThreadPool::execute_as_helper(Job &job) {
    const int processor = job.processor;
    if (processor >= 0 && processor == current_processor() && thread_limit <= processors) {
        leave_processor(processor);
    }
    bool was_counted = std::exchange(counted, true);
    execute_all(job);
    counted = was_counted;
}

void ThreadPool::leave(Job &job, const Lock &) {
    if ((--job.active & Job::helpers) == 0) job.owner_wakes.notify_one();
}

// Replaces help() for a thread that spins: it takes no lock, for which all that spin would wait one
// after another.
bool ThreadPool::help_newest() {
    if (open_jobs == 0) return false;
    // finish() lets no job go while a thread is between these two lines.
    joining++;
    Job *job = newest.load();
    const bool helps = job && threads_now.begin_instead_of_spinning(thread_limit);
    if (helps) job->active++;
    joining--;
    if (!helps) return false;
    execute_as_helper(*job);
    // With the last one, the owner takes the job away, unless it sleeps until it is told.
    int active = job->active;
    while (!(active & Job::owner_waits)) {
        if (!job->active.compare_exchange_weak(active, active - 1)) continue;
        threads_now.spin_again();
        return true;
    }
    Lock lock = hold();
    threads_now.spin_again();
    leave(*job, lock);
    return true;
}

// None helps with a job that is unlinked, nor can one begin to.
bool ThreadPool::is_left(const Job &job) {
    return joining == 0 && (job.active & Job::helpers) == 0;
}

// Helping only with what is inside the job keeps this wait from depending on anything that it did
// not depend on before.
void ThreadPool::wait_until_left(Job &job, Lock &lock) {
    // It counts as running until it sleeps: else another would be called to its processor.
    if (!is_left(job)) spin_until_left(job, lock);
    if (is_left(job)) return;
    begin_waiting();
    while (!is_left(job)) {
        if (Job *inner = find_work(&job)) {
            help(*inner, lock);
            continue;
        }
        recruit();
        give_up_if_starved();
        sleep_until_called(job, lock);
    }
    end_waiting();
}

void ThreadPool::sleep_until_called(Job &job, Lock &lock) {
    job.owner_sleeps = true;
    // Whoever leaves from now on takes the lock first.
    if (job.active.fetch_or(Job::owner_waits) & Job::helpers) {
        job.owner_wakes.wait(lock);
    } else {
        lock.unlock();
        std::this_thread::yield();  // to one that looks which job there is
        hold(lock);
    }
    job.active.fetch_and(~Job::owner_waits);
    job.owner_sleeps = false;
    if (std::exchange(job.owner_called, false)) called--;
}

void ThreadPool::spin_until_left(Job &job, Lock &lock) {
    lock.unlock();
    spin_until(Clock::now() + time_before_sleep, [&] { return is_left(job); });
    hold(lock);
}

// No more threads than processors: who spins gives way to nobody.
bool ThreadPool::may_spin() {
    const auto [running, spinning] = threads_now.get();
    return running + spinning < thread_limit;
}

// Spins until nothing has come for a while (false), or there may be work that takes the lock to
// find.
bool ThreadPool::spin(Lock &lock) {
    uint64_t seen = pushes;
    threads_now.spin();
    lock.unlock();
    bool looks = false;
    while (!looks && spin_until(Clock::now() + time_before_sleep, [&] { return pushes != seen; })) {
        seen = pushes;
        help_newest();
        looks = open_jobs > 0 || stopping;
    }
    hold(lock);
    threads_now.stop_spinning();
    return looks;
}

// Each time for a token, of which there is one for each that is woken or created; it may be
// another's.
void ThreadPool::worker() {
    Lock lock = hold();
    while (true) {
        worker_wakes.wait(lock, [&] { return tokens > 0 || stopping; });
        if (stopping) return;
        tokens--;
        work(lock);
        idle++;
    }
}

// Works until there is no work, and none has come for a while.
void ThreadPool::work(Lock &lock) {
    while (!stopping) {
        if (Job *job = find_work(nullptr)) {
            help(*job, lock);
        } else if (!may_spin() || !spin(lock)) {
            // Work that came since the last look may count on this thread.
            if (!find_work(nullptr)) return;
        }
    }
}

// The newest, so that what is nested inside is done before more of the outside is begun.
Job *ThreadPool::find_work(const Job *ancestor) {
    if (threads_now.running() >= thread_limit) return nullptr;
    for (Job *job = newest; job; job = job->older) {
        if (remaining(*job) > 0 && (!ancestor || is_inside(job, ancestor))) return job;
    }
    return nullptr;
}

int64_t ThreadPool::available() {
    int64_t total = 0;
    for (const Job *job = newest; job; job = job->older) total += remaining(*job);
    return total;
}

void ThreadPool::recruit() {
    const auto [running, spinning] = threads_now.get();
    if (running >= thread_limit) return;
    int64_t wanted = std::min<int64_t>(thread_limit - running, available());
    wanted -= tokens + called + spinning;
    for (Job *job = newest; job && wanted > 0; job = job->older) {
        if (remaining(*job) > 0 && call_waiting_owner(*job)) wanted--;
    }
    for (int wakes = 0; wanted > 0 && wakes < most_wakes_at_once; wanted--, wakes++) {
        if (idle == 0) {
            if (!spawn()) return;
            continue;
        }
        idle--;
        tokens++;
        worker_wakes.notify_one();
    }
}

bool ThreadPool::call_waiting_owner(const Job &job) {
    for (Job *outer = job.parent; outer; outer = outer->parent) {
        if (!outer->owner_sleeps) continue;
        outer->owner_sleeps = false;
        outer->owner_called = true;
        called++;
        outer->owner_wakes.notify_one();
        return true;
    }
    return false;
}

bool ThreadPool::spawn() {
    try {
        threads.emplace_back([this] { worker(); });
        process = getpid();
    } catch (const std::system_error &) {
        return false;
    }
    tokens++;
    return true;
}

void ThreadPool::begin_waiting() {
    if (!counted) return;
    threads_now.end();
    if (open_jobs > 0) pushes++;  // who spins may begin now
}

void ThreadPool::end_waiting() {
    if (counted) threads_now.begin();
}

// Fails instead of hanging when all threads wait, there is work, and the system gives us no thread
// to do it.
void ThreadPool::give_up_if_starved() {
    const auto [running, spinning] = threads_now.get();
    if (running + idle + tokens + called + spinning > 0) return;
    for (Job *job = newest; job; job = job->older) {
        if (remaining(*job) > 0) mark_failed(*job, tessera_error_code_out_of_threads);
    }
}

void ThreadPool::fail(Job &job, int error) {
    Lock lock = hold();
    mark_failed(job, error);
}

void ThreadPool::mark_failed(Job &job, int error) {
    int none = 0;
    if (!job.error.compare_exchange_strong(none, error)) return;
    for (Waiter *waiter : waiters) waiter->wakes.notify_one();
}

void ThreadPool::link(Job &job) {
    job.older = newest;
    if (job.older) job.older->newer = &job;
    newest = &job;
    if (remaining(job) > 0) open(job);
    pushes++;
}

void ThreadPool::unlink(Job &job) {
    if (job.older) job.older->newer = job.newer;
    if (job.newer)
        job.newer->older = job.older;
    else
        newest = job.older;
    if (job.is_open.exchange(false)) open_jobs--;
}

int ThreadPool::release(Semaphore &semaphore, int n) {
    int count = semaphore.count.fetch_add(n) + n;
    if (semaphore.waiters.load() == 0) return count;
    Lock lock = hold();
    for (Waiter *waiter : waiters) {
        if (waiter->semaphore == &semaphore) waiter->wakes.notify_one();
    }
    return count;
}

int ThreadPool::acquire(Semaphore &semaphore, int n) {
    if (int error = error_of_ancestors(current_job)) return error;
    if (semaphore.try_acquire(n)) return 0;
    Lock lock = hold();
    Waiter waiter{&semaphore, {}};
    waiters.push_back(&waiter);
    semaphore.waiters++;
    begin_waiting();
    recruit();
    int error = 0;
    while (!(error = error_of_ancestors(current_job)) && !semaphore.try_acquire(n)) {
        give_up_if_starved();
        if (error_of_ancestors(current_job)) continue;
        waiter.wakes.wait(lock);
    }
    end_waiting();
    semaphore.waiters--;
    waiters.erase(std::find(waiters.begin(), waiters.end(), &waiter));
    return error;
}

int ThreadPool::set_num_threads(int n) {
    Lock lock = hold();
    int before = thread_limit;
    thread_limit = n == 0 ? default_threads() : std::min(n, max_threads);
    recruit();
    return before;
}

int ThreadPool::num_threads() {
    Lock lock = hold();
    return thread_limit;
}

void ThreadPool::shut_down() {
    std::vector<std::thread> leaving;
    {
        Lock lock = hold();
        stopping = true;
        leaving.swap(threads);
        worker_wakes.notify_all();
    }
    for (std::thread &thread : leaving) thread.join();
    Lock lock = hold();
    stopping = false;
    idle = tokens = 0;
}

void ThreadPool::leave() {
    if (process != getpid()) return;
    // A thread that falls asleep or wakes holds the mutex for moments. A thread that ends the
    // process from within (a signal handler, say) may hold it for ever, so we do not wait for that.
    Lock lock(mutex, std::try_to_lock);
    for (int i = 0; !lock && i < 1000; i++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        lock = Lock(mutex, std::try_to_lock);
    }
    if (!lock || newest || threads.empty()) return;
    lock.unlock();
    shut_down();
}

}  // namespace tessera
