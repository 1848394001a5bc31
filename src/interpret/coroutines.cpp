#include "interpret/coroutines.h"
#include "base/error.h"
#include <thread>

namespace tessera::interpret {

std::string Coroutines::deadlock_message() const {
    std::vector<std::string> waiting;
    for (const Coroutine &c : all) {
        if (!c.ended && !c.waits_for.empty()) waiting.push_back(c.waits_for);
    }
    return str("deadlock: nobody can go on; waited for are ", join(waiting));
}

// Gives the turn to the next one that can go on; `stay`: and waits until it comes back.
void Coroutines::pass_on(std::unique_lock<std::mutex> &lock, bool stay) {
    size_t self = active, count = all.size();
    auto find_next = [&] {
        for (size_t i = 1; i <= count; i++) {
            if (can_go_on(all[(self + i) % count])) return (self + i) % count;
        }
        return count;
    };
    size_t next = find_next();
    if (next == count) {
        failure = std::make_exception_ptr(RuntimeError(deadlock_message()));
        next = find_next();
    }
    active = next;
    changed.notify_all();
    if (stay) changed.wait(lock, [&] { return active == self; });
}

void Coroutines::wait_until(std::function<bool()> ready, const std::string &what) {
    std::unique_lock lock(mutex);
    if (ready()) return;
    size_t self = active;
    all[self].ready = [this, ready = std::move(ready)] { return failure || ready(); };
    all[self].waits_for = what;
    pass_on(lock, true);
    all[self].ready = nullptr;
    all[self].waits_for.clear();
    if (failure) throw Cancelled();
}

void Coroutines::start(size_t self, const std::function<void()> &f) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return active == self; });
    bool skip = bool(failure);
    lock.unlock();
    std::exception_ptr thrown;
    try {
        if (!skip) f();
    } catch (const Cancelled &) {
        thrown = nullptr;  // another has failed, and says so itself
    } catch (...) {
        thrown = std::current_exception();
    }
    lock.lock();
    if (thrown && !failure) failure = thrown;
    all[self].ended = true;
    pass_on(lock, false);
}

void Coroutines::run_all(std::vector<std::function<void()>> functions) {
    std::vector<std::thread> threads;
    size_t first = 0;
    {
        std::unique_lock lock(mutex);
        first = all.size();
        all.resize(first + functions.size());
    }
    for (size_t i = 0; i < functions.size(); i++) {
        threads.emplace_back([this, i, first, &functions] { start(first + i, functions[i]); });
    }
    {
        std::unique_lock lock(mutex);
        size_t self = active;
        all[self].ready = [this, first, count = functions.size()] {
            for (size_t i = 0; i < count; i++) {
                if (!all[first + i].ended) return false;
            }
            return true;
        };
        pass_on(lock, true);
        all[self].ready = nullptr;
    }
    for (std::thread &t : threads) t.join();
    if (all.size() == first + functions.size()) all.resize(first);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera::interpret
