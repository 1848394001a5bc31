#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace tessera::interpret {

// Runs functions as if at the same time: each on a thread of its own, but only one goes on at a
// time, until it has to wait. So everything happens in an order that is always the same.
class Coroutines {
public:
    // Runs all of them; returns when all have ended, or throws what the first to fail threw. May be
    // called by one of them.
    void run_all(std::vector<std::function<void()>> functions);
    // Lets others go on until `ready`. Throws if that cannot come about since all others wait, too
    // (`what` tells who this is), or if another one has failed.
    void wait_until(std::function<bool()> ready, const std::string &what);

private:
    struct Coroutine {
        std::function<bool()> ready;  // empty: can go on
        std::string waits_for;
        bool ended = false;
    };
    struct Cancelled {};

    bool can_go_on(const Coroutine &c) const { return !c.ended && (!c.ready || c.ready()); }
    void pass_on(std::unique_lock<std::mutex> &lock, bool stay);
    void start(size_t self, const std::function<void()> &f);
    std::string deadlock_message() const;

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Coroutine> all{Coroutine{}};  // the first is whoever called run_all at first
    size_t active = 0;
    std::exception_ptr failure;
};

}  // namespace tessera::interpret
