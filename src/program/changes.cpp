#include "program/changes.h"
#include <atomic>

namespace tessera::program {
namespace {

std::atomic<uint64_t> changes{0};

}  // namespace

uint64_t count_of_changes() { return changes.load(std::memory_order_acquire); }
void note_change() { changes.fetch_add(1, std::memory_order_acq_rel); }

}  // namespace tessera::program
