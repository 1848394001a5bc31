#include "base/dialect.h"
#include <atomic>

namespace tessera {
namespace {

std::atomic<Dialect> current{Dialect::Tessera};

}  // namespace

Dialect dialect() { return current.load(std::memory_order_relaxed); }
void set_dialect(Dialect d) { current.store(d, std::memory_order_relaxed); }

}  // namespace tessera
