#pragma once

namespace tessera::autoscheduler {

// Is thrown where a stop of a search has been requested: no failure, and nobody's mistake.
struct Stopped {};

}  // namespace tessera::autoscheduler
