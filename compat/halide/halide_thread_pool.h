#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

// Threads that call functions, as Halide::Tools has them.
namespace Halide::Tools {

// T: what the functions return. All that was given to async() is done before the pool is gone.
template<typename T>
class ThreadPool {
public:
    static size_t num_processors_online() {
        return std::max(size_t(1), size_t(std::thread::hardware_concurrency()));
    }

    explicit ThreadPool(size_t desired_num_threads = num_processors_online()) {
        for (size_t i = 0; i < std::max(size_t(1), desired_num_threads); i++) {
            threads.emplace_back([this] { work(); });
        }
    }
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;
    ~ThreadPool() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            finishing = true;
        }
        changed.notify_all();
        for (std::thread &t : threads) t.join();
    }

    // Calls f(args...) on one of the threads; the future has what it returns or throws.
    template<typename F, typename... Args>
    std::future<T> async(F f, Args... args) {
        std::packaged_task<T()> task([f = std::move(f), ... args = std::move(args)]() mutable -> T {
            return f(std::move(args)...);
        });
        std::future<T> result = task.get_future();
        {
            std::lock_guard<std::mutex> lock(mutex);
            waiting.push_back(std::move(task));
        }
        changed.notify_one();
        return result;
    }

private:
    void work() {
        for (;;) {
            std::unique_lock<std::mutex> lock(mutex);
            changed.wait(lock, [this] { return finishing || !waiting.empty(); });
            if (waiting.empty()) return;
            std::packaged_task<T()> task = std::move(waiting.front());
            waiting.pop_front();
            lock.unlock();
            task();
        }
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::packaged_task<T()>> waiting;
    bool finishing = false;
    std::vector<std::thread> threads;
};

}  // namespace Halide::Tools
