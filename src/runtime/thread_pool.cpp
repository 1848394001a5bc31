#include "runtime/thread_pool.h"
#include "runtime/message.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <utility>
#ifdef __linux__
#include <sched.h>
#endif
#include <unistd.h>

namespace tessera {

namespace {

constexpr int max_threads = 4096;
constexpr int spins_before_sleep = 40;

// The job whose iteration this thread executes.
thread_local Job *current_job = nullptr;
// Whether this thread is among those that the pool counts as running.
thread_local bool counted = false;

int machine_threads() {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1, int(std::thread::hardware_concurrency()));
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

bool take(Job &job, int &index) {
    if (error_of_ancestors(&job)) return false;
    int64_t i = job.next.load(std::memory_order_relaxed);
    while (i < job.limit.load(std::memory_order_acquire)) {
        if (job.next.compare_exchange_weak(i, i + 1, std::memory_order_relaxed)) {
            index = int(i);
            return true;
        }
    }
    return false;
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

ThreadPool::ThreadPool() : thread_limit(default_threads()), process(getpid()) {}

int ThreadPool::run(Job &job) {
    start(job);
    return finish(job);
}

void ThreadPool::start(Job &job) {
    job.parent = current_job;
    job.owner_counted = std::exchange(counted, true);
    Lock lock(mutex);
    if (!job.owner_counted) running++;
    link(job);
    recruit();
}

void ThreadPool::publish(Job &job) {
    Lock lock(mutex);
    job.limit.fetch_add(1, std::memory_order_release);
    pushes.fetch_add(1, std::memory_order_relaxed);
    recruit();
}

int ThreadPool::finish(Job &job) {
    execute_all(job);
    Lock lock(mutex);
    unlink(job);
    wait_until_done(job, lock);
    counted = job.owner_counted;
    if (!counted) {
        running--;
        recruit();
    }
    return error_of_ancestors(&job);
}

void ThreadPool::execute_all(Job &job) {
    Inside inside(job);
    for (int index; take(job, index);) {
        if (int error = execute(job, index)) fail(job, error);
    }
}

// As one of the threads that are not the job's owner.
void ThreadPool::help(Job &job, Lock &lock) {
    running++;
    job.active++;
    bool was_counted = std::exchange(counted, true);
    recruit();
    lock.unlock();
    execute_all(job);
    lock.lock();
    counted = was_counted;
    running--;
    if (--job.active == 0 && job.owner_sleeps) job.owner_wakes.notify_one();
}

// Helping only with what is inside the job keeps this wait from depending on anything that it did
// not depend on before.
void ThreadPool::wait_until_done(Job &job, Lock &lock) {
    if (job.active == 0) return;
    begin_waiting();
    spin_while_active(job, lock);
    while (job.active > 0) {
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
    job.owner_wakes.wait(lock);
    job.owner_sleeps = false;
    if (std::exchange(job.owner_called, false)) called--;
}

void ThreadPool::spin_while_active(Job &job, Lock &lock) {
    lock.unlock();
    for (int i = 0; i < spins_before_sleep && job.active > 0; i++) std::this_thread::yield();
    lock.lock();
}

void ThreadPool::spin_for_work(Lock &lock) {
    uint64_t seen = pushes.load(std::memory_order_relaxed);
    spinning++;
    lock.unlock();
    for (int i = 0; i < spins_before_sleep && pushes.load(std::memory_order_relaxed) == seen; i++) {
        std::this_thread::yield();
    }
    lock.lock();
    spinning--;
}

void ThreadPool::worker() {
    Lock lock(mutex);
    tokens--;
    bool has_spun = false;
    while (!stopping) {
        if (Job *job = find_work(nullptr)) {
            help(*job, lock);
            has_spun = false;
            continue;
        }
        if (!has_spun && running < thread_limit) {
            spin_for_work(lock);
            has_spun = true;
            continue;
        }
        idle++;
        worker_wakes.wait(lock, [&] { return tokens > 0 || stopping; });
        if (stopping) return;
        tokens--;
        has_spun = false;
    }
}

// The newest, so that what is nested inside is done before more of the outside is begun.
Job *ThreadPool::find_work(const Job *ancestor) {
    if (running >= thread_limit) return nullptr;
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
    if (running >= thread_limit) return;
    int64_t wanted = std::min<int64_t>(thread_limit - running, available());
    wanted -= tokens + called + spinning;
    for (Job *job = newest; job && wanted > 0; job = job->older) {
        if (remaining(*job) > 0 && call_waiting_owner(*job)) wanted--;
    }
    while (wanted-- > 0) {
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
    if (counted) running--;
}

void ThreadPool::end_waiting() {
    if (counted) running++;
}

// When all wait, there is work, and the system gives us no thread to do it: fail instead of
// hanging.
void ThreadPool::give_up_if_starved() {
    if (running + idle + tokens + called + spinning > 0) return;
    for (Job *job = newest; job; job = job->older) {
        if (remaining(*job) > 0) mark_failed(*job, tessera_error_code_out_of_threads);
    }
}

void ThreadPool::fail(Job &job, int error) {
    Lock lock(mutex);
    mark_failed(job, error);
}

void ThreadPool::mark_failed(Job &job, int error) {
    int none = 0;
    if (!job.error.compare_exchange_strong(none, error)) return;
    for (Waiter *waiter : waiters) waiter->wakes.notify_one();
}

void ThreadPool::link(Job &job) {
    job.older = newest;
    if (newest) newest->newer = &job;
    newest = &job;
    pushes.fetch_add(1, std::memory_order_relaxed);
}

void ThreadPool::unlink(Job &job) {
    if (job.older) job.older->newer = job.newer;
    (job.newer ? job.newer->older : newest) = job.older;
}

int ThreadPool::release(Semaphore &semaphore, int n) {
    int count = semaphore.count.fetch_add(n) + n;
    if (semaphore.waiters.load() == 0) return count;
    Lock lock(mutex);
    for (Waiter *waiter : waiters) {
        if (waiter->semaphore == &semaphore) waiter->wakes.notify_one();
    }
    return count;
}

int ThreadPool::acquire(Semaphore &semaphore, int n) {
    if (int error = error_of_ancestors(current_job)) return error;
    if (semaphore.try_acquire(n)) return 0;
    Lock lock(mutex);
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
    Lock lock(mutex);
    int before = thread_limit;
    thread_limit = n == 0 ? default_threads() : std::min(n, max_threads);
    recruit();
    return before;
}

int ThreadPool::num_threads() {
    Lock lock(mutex);
    return thread_limit;
}

void ThreadPool::shut_down() {
    std::vector<std::thread> leaving;
    {
        Lock lock(mutex);
        stopping = true;
        leaving.swap(threads);
        worker_wakes.notify_all();
    }
    for (std::thread &thread : leaving) thread.join();
    Lock lock(mutex);
    stopping = false;
    idle = tokens = 0;
}

void ThreadPool::leave() {
    if (process != getpid()) return;
    // A thread that falls asleep or wakes holds the mutex for moments. Who ends the process from
    // within (a signal handler, say) may hold it for ever: that is not waited for.
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
