#pragma once

// Schedules with choices that are measured: templates (docs/autoscheduler.md).
#include "autoscheduler/tune_template.h"
#include <tessera.h>
