#pragma once

// Generators: pipelines that become libraries for other programs.
#include "aot/command_line.h"
#include "aot/function_generator.h"
#include "aot/generator.h"
#include "aot/registry.h"
#include "aot/stub.h"
#include <tessera.h>
