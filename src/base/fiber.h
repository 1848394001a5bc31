#pragma once
#include <functional>
#include <memory>

namespace tessera {

// A function on a stack of its own, within one thread, which runs until it switches to another
// fiber, and goes on where it was when another switches to it. The stack has 256 MiB, touched only
// as far as they are used; where the addresses of the process are limited (`ulimit -v`), as much as
// a thousand fibers find room for.
class Fiber {
public:
    // The fiber that runs already: the thread on its own stack.
    Fiber();
    // `f` begins when somebody switches to it, throws nothing, and returns the fiber that goes on
    // when it has ended. std::bad_alloc if there is no room for a stack.
    explicit Fiber(std::function<Fiber &()> f);
    // It must not be the one that runs, and its function must have ended or not begun: what is on
    // the stack is not destroyed.
    ~Fiber();
    Fiber(const Fiber &) = delete;

    // To be called by the fiber that runs, on itself. Returns when another switches back to it.
    void switch_to(Fiber &other);

private:
    struct State;
    std::unique_ptr<State> state;
};

}  // namespace tessera
