#pragma once
#include "program/function.h"

namespace tessera::program {

// Returns true if iterations of the update's loop over `var` (a reduction variable, or made from
// some) may run in any order or at once: no iteration writes an element that another reads or
// writes. Proven from the arguments: one is linear in each variable behind the loop, by itself, and
// every read of the function's own values is at the same place, or where no iteration writes, as a
// constant, a remainder or a range says.
bool is_free_of_races(const FunctionContents &f, const Definition &d, Symbol var);

// Returns true if all iterations that write an element write the same value to it, and none reads
// what is written: then they may run in any order.
//
//     marks(r * r % 16, y) = 7 * y
bool stores_one_value(const FunctionContents &f, const Definition &d);

}  // namespace tessera::program
