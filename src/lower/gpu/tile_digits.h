#pragma once
#include "ir/layout.h"
#include "lower/gpu/tile_nest.h"

namespace tessera::lower {

// A loop over the values of a digit of the registers' number, which is a digit of a row or column,
// too.
struct DigitLoop {
    Symbol name;
    int64_t extent, of_register, of_element;  // the last two: its weights
};

// Rows, columns or the sum, as a sum of what the thread's number makes of them and these loops.
struct Digits {
    ir::Expr of_thread;
    std::vector<DigitLoop> loops;  // outermost first

    // `coordinate`: an output of `elements`, which maps (thread, register) to it. `name`: of loops.
    Digits(std::string_view coordinate, const char *name, const ir::Layout &elements,
           const ir::Expr &lane);
    ir::Expr element() const;
};

// Return the number of the register, and the loops over its digits, outermost first.
std::vector<DigitLoop> loops_over_registers(const Digits &a, const Digits &b);
ir::Expr register_of(const Digits &a, const Digits &b);

// Returns the number of a row among those that a thread has.
ir::Expr row_of_thread(const Digits &rows);

// Says where the registers of the threads have the elements of a Tile of rows: those of each slot
// one after the other.
ir::Expr register_of_row(const std::vector<ir::Expr> &at, const Tile &tile, const Digits &rows);

}  // namespace tessera::lower
