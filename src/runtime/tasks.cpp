#include "runtime/message.h"
#include "runtime/thread_pool.h"
#include <algorithm>
#include <memory>
#include <new>

using tessera::Job;
using tessera::Message;
using tessera::Semaphore;
using tessera::ThreadPool;

namespace {

constexpr uint64_t max_mutexes = 4096;

static_assert(sizeof(Semaphore) <= sizeof(tessera_semaphore_t));

Semaphore &open(tessera_semaphore_t *semaphore) {
    return *std::launder(reinterpret_cast<Semaphore *>(semaphore));
}

struct ParFor {
    tessera_task_t f;
    uint8_t *closure;
};

int default_do_task(void *user_context, tessera_task_t f, int index, uint8_t *closure) {
    return f(user_context, index, closure);
}

int default_do_par_for(void *user_context, tessera_task_t f, int min, int size, uint8_t *closure) {
    if (size <= 0) return 0;
    if (size == 1) return tessera_do_task(user_context, f, min, closure);
    const ParFor loop{f, closure};
    auto body = [](Job &job, int index) {
        const ParFor &loop = *static_cast<const ParFor *>(job.data);
        return tessera_do_task(job.user_context, loop.f, index, loop.closure);
    };
    Job job(user_context, body, &loop, min, int64_t(min) + size);
    return ThreadPool::instance().run(job);
}

struct TaskRun {
    const tessera_parallel_task_t &task;
    void *task_parent;

    int run(void *user_context) const {
        if (task.extent <= 0) return 0;
        if (task.num_semaphores == 0)
            return task.serial ? all(user_context) : par_for(user_context);
        return task.serial ? serial(user_context) : parallel(user_context);
    }

private:
    int all(void *user_context) const {
        return task.fn(user_context, task.min, task.extent, task.closure, task_parent);
    }

    int one(void *user_context, int index) const {
        return task.fn(user_context, index, 1, task.closure, task_parent);
    }

    int acquire(void *user_context) const {
        for (int i = 0; i < task.num_semaphores; i++) {
            const tessera_semaphore_acquire_t &s = task.semaphores[i];
            if (int error = tessera_semaphore_acquire(user_context, s.semaphore, s.count)) {
                return error;
            }
        }
        return 0;
    }

    int serial(void *user_context) const {
        for (int i = 0; i < task.extent; i++) {
            if (int error = acquire(user_context)) return error;
            if (int error = one(user_context, task.min + i)) return error;
        }
        return 0;
    }

    static int body(Job &job, int index) {
        return static_cast<const TaskRun *>(job.data)->one(job.user_context, index);
    }

    int par_for(void *user_context) const {
        Job job(user_context, body, this, task.min, int64_t(task.min) + task.extent);
        return ThreadPool::instance().run(job);
    }

    // This thread takes the semaphores, in order, and publishes an iteration when it has them.
    int parallel(void *user_context) const {
        ThreadPool &pool = ThreadPool::instance();
        Job job(user_context, body, this, task.min, task.min);
        pool.start(job);
        int error = 0;
        {
            ThreadPool::Inside inside(job);
            for (int i = 0; i < task.extent && !(error = acquire(user_context)); i++) {
                pool.publish(job);
            }
        }
        if (error) pool.fail(job, error);
        return pool.finish(job);
    }
};

struct TaskGroup {
    tessera_parallel_task_t *tasks;
    void *task_parent;
};

int default_do_parallel_tasks(void *user_context, int num_tasks, tessera_parallel_task_t *tasks,
                              void *task_parent) {
    const TaskGroup group{tasks, task_parent};
    auto body = [](Job &job, int index) {
        const TaskGroup &group = *static_cast<const TaskGroup *>(job.data);
        return TaskRun{group.tasks[index], group.task_parent}.run(job.user_context);
    };
    Job job(user_context, body, &group, 0, num_tasks);
    return ThreadPool::instance().run(job);
}

std::atomic<tessera_do_task_t> custom_do_task{default_do_task};
std::atomic<tessera_do_par_for_t> custom_do_par_for{default_do_par_for};
std::atomic<tessera_do_parallel_tasks_t> custom_do_parallel_tasks{default_do_parallel_tasks};

}  // namespace

// Elements share mutexes when there are very many: a pipeline holds one at a time.
struct tessera_mutex_array_t {
    uint64_t count;
    std::unique_ptr<std::mutex[]> mutexes;
};

extern "C" {

[[gnu::weak]] int tessera_do_par_for(void *user_context, tessera_task_t f, int min, int size,
                                     uint8_t *closure) {
    return custom_do_par_for.load(std::memory_order_relaxed)(user_context, f, min, size, closure);
}

[[gnu::weak]] int tessera_do_task(void *user_context, tessera_task_t f, int index,
                                  uint8_t *closure) {
    return custom_do_task.load(std::memory_order_relaxed)(user_context, f, index, closure);
}

tessera_do_par_for_t tessera_set_custom_do_par_for(tessera_do_par_for_t f) {
    return custom_do_par_for.exchange(f ? f : default_do_par_for);
}

tessera_do_task_t tessera_set_custom_do_task(tessera_do_task_t f) {
    return custom_do_task.exchange(f ? f : default_do_task);
}

[[gnu::weak]] int tessera_do_parallel_tasks(void *user_context, int num_tasks,
                                            tessera_parallel_task_t *tasks, void *task_parent) {
    return custom_do_parallel_tasks.load(std::memory_order_relaxed)(user_context, num_tasks, tasks,
                                                                    task_parent);
}

tessera_do_parallel_tasks_t tessera_set_custom_do_parallel_tasks(tessera_do_parallel_tasks_t f) {
    return custom_do_parallel_tasks.exchange(f ? f : default_do_parallel_tasks);
}

int tessera_semaphore_init(tessera_semaphore_t *semaphore, int n) {
    new (semaphore) Semaphore{n, 0};
    return n;
}

int tessera_semaphore_release(tessera_semaphore_t *semaphore, int n) {
    return ThreadPool::instance().release(open(semaphore), n);
}

bool tessera_semaphore_try_acquire(tessera_semaphore_t *semaphore, int n) {
    return open(semaphore).try_acquire(n);
}

int tessera_semaphore_acquire(void *, tessera_semaphore_t *semaphore, int n) {
    return ThreadPool::instance().acquire(open(semaphore), n);
}

int tessera_set_num_threads(int n) {
    if (n < 0) {
        return (Message() << "The number of threads cannot be " << n)
            .raise(nullptr, tessera_error_code_bad_argument);
    }
    return ThreadPool::instance().set_num_threads(n);
}

int tessera_get_num_threads(void) { return ThreadPool::instance().num_threads(); }

void tessera_shutdown_thread_pool(void) { ThreadPool::instance().shut_down(); }

tessera_mutex_array_t *tessera_mutex_array_create(void *user_context, uint64_t n) {
    uint64_t count = std::clamp<uint64_t>(n, 1, max_mutexes);
    auto *array = new (std::nothrow) tessera_mutex_array_t{count, {}};
    if (array) array->mutexes.reset(new (std::nothrow) std::mutex[count]);
    if (array && array->mutexes) return array;
    delete array;
    tessera_error_out_of_memory(user_context, "the mutexes of an atomic update",
                                count * sizeof(std::mutex));
    return nullptr;
}

void tessera_mutex_array_destroy(void *, tessera_mutex_array_t *array) { delete array; }

int tessera_mutex_array_lock(tessera_mutex_array_t *array, uint64_t index) {
    array->mutexes[index % array->count].lock();
    return 0;
}

int tessera_mutex_array_unlock(tessera_mutex_array_t *array, uint64_t index) {
    array->mutexes[index % array->count].unlock();
    return 0;
}

int tessera_default_do_par_for(void *user_context, tessera_task_t f, int min, int size,
                               uint8_t *closure) {
    return default_do_par_for(user_context, f, min, size, closure);
}
int tessera_default_do_task(void *user_context, tessera_task_t f, int index, uint8_t *closure) {
    return default_do_task(user_context, f, index, closure);
}
}
