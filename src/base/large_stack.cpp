#include "base/large_stack.h"
#include "base/error.h"
#include "base/thread_context.h"
#include <condition_variable>
#include <exception>
#include <mutex>
#include <pthread.h>

namespace tessera {
namespace {

constexpr size_t large_stack_bytes = size_t(1) << 30, least_stack_bytes = size_t(16) << 20;

// Runs a function on a thread with a large stack, which asks things of the thread that waits for
// it.
class Job {
public:
    explicit Job(const std::function<void()> &f) : f(f) {}

    void run();
    // Calls a function on the thread that waits.
    void ask(const std::function<void()> &question);
    // Waits for the end, and answers what is asked until then.
    void wait();
    void rethrow() const {
        if (error) std::rethrow_exception(error);
    }

private:
    const std::function<void()> &f;
    const ThreadContext context;
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false;
    const std::function<void()> *asked = nullptr;
    std::exception_ptr error, error_of_answer;
};

thread_local Job *job_of_thread = nullptr;  // of a large stack

std::exception_ptr error_of(const std::function<void()> &f) {
    try {
        f();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

void Job::run() {
    job_of_thread = this;
    context.take_over();
    error = error_of(f);
    const std::lock_guard lock(mutex);
    is_done = true;
    changed.notify_all();
}

void Job::ask(const std::function<void()> &question) {
    std::unique_lock lock(mutex);
    asked = &question;
    changed.notify_all();
    changed.wait(lock, [&] { return !asked; });
    if (error_of_answer) std::rethrow_exception(std::exchange(error_of_answer, nullptr));
}

void Job::wait() {
    std::unique_lock lock(mutex);
    while (true) {
        changed.wait(lock, [&] { return is_done || asked; });
        if (!asked) return;
        lock.unlock();
        std::exception_ptr failed = error_of(*asked);
        lock.lock();
        error_of_answer = std::move(failed);
        asked = nullptr;
        changed.notify_all();
    }
}

void *run(void *job) {
    static_cast<Job *>(job)->run();
    return nullptr;
}

}  // namespace

void run_on_large_stack(const std::function<void()> &f) {
    if (job_of_thread) return f();
    Job job(f);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_t thread;
    int failed = 1;
    // A smaller one where there is no room.
    for (size_t bytes = large_stack_bytes; failed && bytes >= least_stack_bytes; bytes /= 4) {
        pthread_attr_setstacksize(&attributes, bytes);
        failed = pthread_create(&thread, &attributes, run, &job);
    }
    pthread_attr_destroy(&attributes);
    if (failed) return f();  // no room for any: the ordinary one may do
    job.wait();
    pthread_join(thread, nullptr);
    job.rethrow();
}

void call_on_waiting_thread(const std::function<void()> &f) {
    if (!job_of_thread) return f();
    job_of_thread->ask(f);
}

}  // namespace tessera
