#include "autoscheduler/register.h"

// In each program that has the compiler within itself.
namespace {
const bool registered = [] {
    tessera::autoscheduler::register_autoschedulers();
    return true;
}();
}  // namespace
