#pragma once

// Pipelines on NVIDIA's GPUs: wrapping device pointers, a program's own contexts and streams.
#include "runtime/tessera_runtime_cuda.h"
