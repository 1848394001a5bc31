#include "base/dialect.h"
#include "base/thread_dialect.h"
#include <atomic>

namespace tessera {
namespace {

std::atomic<Dialect> of_process{Dialect::Tessera};
thread_local std::optional<Dialect> of_thread;

}  // namespace

Dialect dialect() { return of_thread ? *of_thread : of_process.load(std::memory_order_relaxed); }
void set_dialect(Dialect d) { of_process.store(d, std::memory_order_relaxed); }

std::optional<Dialect> thread_dialect() { return of_thread; }
void set_thread_dialect(std::optional<Dialect> d) { of_thread = d; }

}  // namespace tessera
