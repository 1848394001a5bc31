#pragma once

// The C interface of what compiled pipelines call, for programs that call them.
#include "runtime/tessera_runtime.h"
