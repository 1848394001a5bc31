#pragma once

namespace tessera::autoscheduler {

// Adds the autoschedulers of Tessera by their names: "tessera", the default, and "simple".
void register_autoschedulers();

}  // namespace tessera::autoscheduler
