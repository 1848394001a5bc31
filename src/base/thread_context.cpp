#include "base/thread_context.h"
#include "base/silence.h"
#include "base/thread_dialect.h"

namespace tessera {

ThreadContext::ThreadContext()
    : dialect(thread_dialect()), handlers(thread_handlers()), is_silent(thread_is_silent()) {}

void ThreadContext::take_over() const {
    set_thread_dialect(dialect);
    set_thread_handlers(handlers);
    set_thread_silent(is_silent);
}

}  // namespace tessera
