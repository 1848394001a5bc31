#include "interpret/coroutines.h"
#include "base/error.h"
#include <algorithm>

namespace tessera::interpret {

std::string Coroutines::deadlock_message() const {
    std::vector<std::string> waiting;
    for (const Coroutine &c : all) {
        if (!c.ended && !c.waits_for.empty()) waiting.push_back(c.waits_for);
    }
    return str("deadlock: nobody can go on; waited for are ", join(waiting));
}

// Gives the turn to the next one that can go on.
size_t Coroutines::take_next() {
    const size_t self = active, count = all.size();
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
    return active = next;
}

void Coroutines::let_others_go_on(const std::function<bool()> &ready, const std::string &what) {
    Coroutine &self = all[active];
    self.ready = ready;
    self.waits_for = what;
    Coroutine &next = all[take_next()];
    if (&next != &self) self.fiber->switch_to(*next.fiber);
    self.ready = nullptr;
    self.waits_for.clear();
}

void Coroutines::wait_until(const std::function<bool()> &ready, const std::string &what) {
    if (ready()) return;
    let_others_go_on([&] { return failure || ready(); }, what);
    if (!failure) return;
    if (active == 0) std::rethrow_exception(failure);
    throw Cancelled();
}

// All of a coroutine; returns who goes on after it.
Fiber &Coroutines::run(const std::function<void()> &f) {
    std::exception_ptr thrown;
    try {
        if (!failure) f();
    } catch (const Cancelled &) {
        thrown = nullptr;  // another has failed, and says so itself
    } catch (...) {
        thrown = std::current_exception();
    }
    if (thrown && !failure) failure = thrown;
    all[active].ended = true;
    return *all[take_next()].fiber;
}

void Coroutines::run_all(const std::vector<std::function<void()>> &functions) {
    if (!all[active].fiber) all[active].fiber = std::make_unique<Fiber>();
    const size_t first = all.size();
    for (const std::function<void()> &f : functions) {
        all.push_back(
            {std::make_unique<Fiber>([this, &f]() -> Fiber & { return run(f); }), {}, {}, false});
    }
    const size_t end = all.size();
    auto have_ended = [&] {
        return std::all_of(all.begin() + long(first), all.begin() + long(end),
                           [](const Coroutine &c) { return c.ended; });
    };
    let_others_go_on(have_ended, "");
    for (size_t i = first; i < end; i++) all[i].fiber = nullptr;
    // Behind them stand those of others, if these have called this meanwhile.
    if (all.size() == end) all.erase(all.begin() + long(first), all.end());
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera::interpret
