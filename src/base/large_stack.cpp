#include "base/large_stack.h"
#include "base/error.h"
#include "base/thread_dialect.h"
#include <exception>
#include <pthread.h>

namespace tessera {
namespace {

constexpr size_t large_stack_bytes = size_t(1) << 30, least_stack_bytes = size_t(16) << 20;
thread_local bool on_large_stack = false;

struct Job {
    const std::function<void()> &f;
    std::optional<Dialect> dialect;  // of the thread that waits
    std::exception_ptr error;
};

void *run(void *argument) {
    Job &job = *static_cast<Job *>(argument);
    on_large_stack = true;
    set_thread_dialect(job.dialect);
    try {
        job.f();
    } catch (...) {
        job.error = std::current_exception();
    }
    return nullptr;
}

}  // namespace

void run_on_large_stack(const std::function<void()> &f) {
    if (on_large_stack) return f();
    Job job{f, thread_dialect(), nullptr};
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
    pthread_join(thread, nullptr);
    if (job.error) std::rethrow_exception(job.error);
}

}  // namespace tessera
