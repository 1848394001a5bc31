#include "autoscheduler/background.h"
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace tessera::autoscheduler {
namespace {

struct Background {
    std::mutex mutex;
    std::condition_variable ended;
    int running = 0;
    const pid_t process = getpid();  // a copy of it has none of the threads
    // Before the destructors of what was made earlier.
    Background() { std::atexit(wait_for_background); }
};

Background &background() {
    static auto *b = new Background;
    return *b;
}

}  // namespace

void run_in_background(std::function<void()> f) {
    Background &b = background();
    {
        const std::lock_guard lock(b.mutex);
        b.running++;
    }
    std::thread([f = std::move(f), &b]() mutable {
        f();
        f = nullptr;  // and what it holds, before anybody is told that it has ended
        const std::lock_guard lock(b.mutex);
        b.running--;
        b.ended.notify_all();
    }).detach();
}

void wait_for_background() {
    Background &b = background();
    if (getpid() != b.process) return;
    std::unique_lock lock(b.mutex);
    b.ended.wait(lock, [&] { return b.running == 0; });
}

}  // namespace tessera::autoscheduler
