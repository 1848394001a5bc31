#pragma once
#include "base/dialect.h"
#include <optional>

namespace tessera {

// The dialect of one thread, which comes before that of the process: two front ends with rules of
// their own, used side by side in one process, say at each call whose rules hold. What the thread
// compiles on others meanwhile follows it, too. None: the thread follows the process.
std::optional<Dialect> thread_dialect();
void set_thread_dialect(std::optional<Dialect> d);

// Lets the thread follow a dialect while this lives.
class ThreadDialect {
public:
    explicit ThreadDialect(std::optional<Dialect> d) : before(thread_dialect()) {
        set_thread_dialect(d);
    }
    ~ThreadDialect() { set_thread_dialect(before); }
    ThreadDialect(const ThreadDialect &) = delete;
    ThreadDialect &operator=(const ThreadDialect &) = delete;

private:
    std::optional<Dialect> before;
};

}  // namespace tessera
