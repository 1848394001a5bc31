#pragma once

// The whole language: #include <tessera.h>; using namespace tessera;
#include "base/warning.h"
#include "ir/printer.h"
#include "lang/boundary_conditions.h"
#include "lang/buffer.h"
#include "lang/concise_casts.h"
#include "lang/device_interface.h"
#include "lang/extern.h"
#include "lang/func.h"
#include "lang/image_io.h"
#include "lang/image_param.h"
#include "lang/inline_reductions.h"
#include "lang/jit_shared_runtime.h"
#include "lang/lambda.h"
#include "lang/load_library.h"
#include "lang/module.h"
#include "lang/operators.h"
#include "lang/param.h"
#include "lang/pipeline.h"
#include "lang/rdom.h"
#include "lang/tuple.h"

namespace tessera {
using namespace ConciseCasts;
}
