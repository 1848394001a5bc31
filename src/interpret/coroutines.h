#pragma once
#include "base/fiber.h"
#include <deque>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace tessera::interpret {

// Runs functions as if at the same time: each on a stack of its own, within one thread, where one
// goes on until it has to wait. So everything happens in an order that is always the same, and
// waiting costs no more than a few calls: a thousand may wait at a barrier.
class Coroutines {
public:
    // Runs all of them; returns when all have ended, or throws what the first to fail threw. May be
    // called by one of them.
    void run_all(const std::vector<std::function<void()>> &functions);
    // Lets others go on until `ready`. Throws if that cannot come about since all others wait, too
    // (`what` tells who this is), or if another one has failed.
    void wait_until(const std::function<bool()> &ready, const std::string &what);

private:
    struct Coroutine {
        std::unique_ptr<Fiber> fiber;
        std::function<bool()> ready;  // empty: can go on
        std::string waits_for;
        bool ended = false;
    };
    struct Cancelled {};

    bool can_go_on(const Coroutine &c) const { return !c.ended && (!c.ready || c.ready()); }
    void let_others_go_on(const std::function<bool()> &ready, const std::string &what);
    size_t take_next();
    Fiber &run(const std::function<void()> &f);
    std::string deadlock_message() const;

    std::deque<Coroutine> all{1};  // the first is whoever uses this at first
    size_t active = 0;
    std::exception_ptr failure;
};

}  // namespace tessera::interpret
