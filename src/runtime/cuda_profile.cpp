#include "runtime/cuda_profile.h"
#include <algorithm>
#include <deque>
#include <map>

namespace tessera::cuda {

namespace {

constexpr unsigned event_with_time = 0;
// Limits the work that waits to be booked: if there is more, what came first is waited for.
constexpr size_t most_pending = 4096;

struct Pending {
    Context context;
    Event start, stop;
    std::shared_ptr<DeviceWork> booked_to;
    int64_t bytes;
};

struct Timings {
    std::mutex booking;  // held by who waits for events, and destroys them
    std::mutex mutex;    // of what follows
    std::deque<Pending> pending;
    std::map<Context, std::vector<Event>> unused;
};
Timings &timings() {
    static auto &all = *new Timings();
    return all;
}

Event take_event(const Scope &scope) {
    {
        std::lock_guard lock(timings().mutex);
        std::vector<Event> &unused = timings().unused[scope.state().context];
        if (!unused.empty()) {
            Event last = unused.back();
            unused.pop_back();
            return last;
        }
    }
    Event made = nullptr;
    return scope.driver().create_event(&made, event_with_time) ? nullptr : made;
}

void give_back(Context context, std::initializer_list<Event> events) {
    std::lock_guard lock(timings().mutex);
    std::vector<Event> &unused = timings().unused[context];
    unused.insert(unused.end(), events);
}

void book(const Driver &driver, const Pending &timed) {
    float milliseconds = 0;
    const Current current(driver, timed.context);
    if (current.result() || driver.wait(timed.stop)) return;
    if (!driver.elapsed(&milliseconds, timed.start, timed.stop))
        timed.booked_to->add(uint64_t(double(milliseconds) * 1e6), uint64_t(timed.bytes));
    give_back(timed.context, {timed.start, timed.stop});
}

// Takes the first ones that are wanted, at most so many.
template<typename F> std::vector<Pending> take(size_t most, F &&is_wanted) {
    std::lock_guard lock(timings().mutex);
    std::vector<Pending> taken;
    auto &all = timings().pending;
    for (auto i = all.begin(); i != all.end() && taken.size() < most;) {
        if (is_wanted(*i)) {
            taken.push_back(std::move(*i));
            i = all.erase(i);
        } else {
            ++i;
        }
    }
    return taken;
}

void book_first(size_t most) {
    const Driver *driver = driver_in_use();
    if (!driver) return;
    std::lock_guard lock(timings().booking);
    for (const Pending &p : take(most, [](const Pending &) { return true; })) book(*driver, p);
}

void book_all() { book_first(SIZE_MAX); }

}  // namespace

Timed::Timed(const Scope &scope, tessera_profiler_work_t work, int64_t bytes)
    : scope(scope), booked_to(profiled_work(work)), bytes(bytes) {
    if (!booked_to) return;
    set_device_finisher(book_all);
    start = take_event(scope);
    if (!start || scope.driver().record(start, scope.stream())) booked_to = nullptr;
}

Timed::~Timed() {
    if (!booked_to) return;
    Event stop = take_event(scope);
    if (!stop || scope.driver().record(stop, scope.stream())) return;
    size_t pending = 0;
    {
        std::lock_guard lock(timings().mutex);
        timings().pending.push_back(
            {scope.state().context, start, stop, std::move(booked_to), bytes});
        pending = timings().pending.size();
    }
    if (pending > most_pending) book_first(most_pending / 2);
}

void finish_timing(const Driver &driver, Context context) {
    std::lock_guard lock(timings().booking);
    for (const Pending &p :
         take(SIZE_MAX, [&](const Pending &each) { return each.context == context; })) {
        book(driver, p);
    }
    std::vector<Event> unused;
    {
        std::lock_guard list(timings().mutex);
        unused = std::move(timings().unused[context]);
        timings().unused.erase(context);
    }
    for (Event event : unused) driver.destroy_event(event);
}

}  // namespace tessera::cuda
