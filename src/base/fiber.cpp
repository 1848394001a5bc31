#include "base/fiber.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace tessera {
namespace {

constexpr size_t largest_stack = size_t(256) << 20, smallest_stack = size_t(256) << 10;
constexpr size_t guard_bytes = size_t(64) << 10;  // a multiple of a page

// The exceptions that are being handled, which C++ keeps per thread (Itanium C++ ABI, 2.2.2).
using HandledExceptions = std::array<uintptr_t, 2>;

struct Stack {
    void *begin = nullptr;
    size_t bytes = 0;
};

// If the process may have only so many addresses, stacks are so small that a thousand fibers leave
// it most of them.
size_t usual_stack_bytes() {
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return largest_stack;
    const size_t part = size_t(limit.rlim_cur) / 4096;
    return std::clamp(std::bit_floor(std::max<size_t>(part, 1)), smallest_stack, largest_stack);
}

// Takes a smaller stack where there is no room. The guard keeps a stack that overflows from
// reaching another one's memory.
Stack make_stack() {
    for (size_t bytes = usual_stack_bytes(); bytes >= smallest_stack; bytes /= 2) {
        void *begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (begin == MAP_FAILED) continue;
        mprotect(begin, guard_bytes, PROT_NONE);
        return {begin, bytes};
    }
    throw std::bad_alloc();
}

Stack stack_of_thread() {
    Stack stack;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
    pthread_attr_getstack(&attributes, &stack.begin, &stack.bytes);
    pthread_attr_destroy(&attributes);
    return stack;
}

}  // namespace

struct Fiber::State {
    std::function<Fiber &()> function;  // none: the thread's own stack
    ucontext_t context = {};
    Stack stack;
    HandledExceptions exceptions = {};
    void *of_sanitizer = nullptr;  // its own notes of this stack

    explicit State(std::function<Fiber &()> f) : function(std::move(f)) {
        if (!function) {
            stack = stack_of_thread();
#if defined(__SANITIZE_THREAD__)
            of_sanitizer = __tsan_get_current_fiber();
#endif
            return;
        }
        stack = make_stack();
        getcontext(&context);
        context.uc_stack.ss_sp = stack.begin;
        context.uc_stack.ss_size = stack.bytes;
        // makecontext passes numbers of the size of int.
        const auto self = reinterpret_cast<uintptr_t>(this);
        makecontext(&context, reinterpret_cast<void (*)()>(enter), 2, uint32_t(self >> 32),
                    uint32_t(self));
#if defined(__SANITIZE_THREAD__)
        of_sanitizer = __tsan_create_fiber(0);
#endif
    }
    ~State() {
        if (!function) return;
#if defined(__SANITIZE_THREAD__)
        __tsan_destroy_fiber(of_sanitizer);
#endif
        munmap(stack.begin, stack.bytes);
    }
    State(const State &) = delete;

    static void enter(uint32_t high, uint32_t low) {
        auto *self = reinterpret_cast<State *>(uintptr_t(high) << 32 | low);
        self->arrive();
        State &next = *self->function().state;
        self->leave(next, true);
        setcontext(&next.context);
    }

    void switch_to(State &other) {
        leave(other, false);
        swapcontext(&context, &other.context);
        arrive();
    }

    // `for_good`: nobody will come back to this stack.
    void leave(State &other, [[maybe_unused]] bool for_good) {
        std::memcpy(exceptions.data(), abi::__cxa_get_globals(), sizeof(exceptions));
        std::memcpy(abi::__cxa_get_globals(), other.exceptions.data(), sizeof(exceptions));
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_start_switch_fiber(for_good ? nullptr : &of_sanitizer, other.stack.begin,
                                       other.stack.bytes);
#elif defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(other.of_sanitizer, 0);
#endif
    }
    void arrive() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(of_sanitizer, nullptr, nullptr);
#endif
    }
};

Fiber::Fiber() : state(std::make_unique<State>(nullptr)) {}
Fiber::Fiber(std::function<Fiber &()> f) : state(std::make_unique<State>(std::move(f))) {}
Fiber::~Fiber() = default;

void Fiber::switch_to(Fiber &other) { state->switch_to(*other.state); }

}  // namespace tessera
