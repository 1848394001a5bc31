#include "base/silence.h"
#include <atomic>

namespace tessera {
namespace {

std::atomic<bool> process_is_silent{false};
thread_local int silences = 0;

}  // namespace

Silence::Silence() { silences++; }
Silence::~Silence() { silences--; }

bool thread_is_silent() { return silences > 0; }
void set_thread_silent(bool silent) { silences = silent; }

void silence_process() { process_is_silent = true; }

bool is_silent() { return silences > 0 || process_is_silent; }

}  // namespace tessera
