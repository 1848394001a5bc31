#pragma once
#include "autoscheduler/graph.h"
#include "autoscheduler/machine/gpu.h"
#include "autoscheduler/space/gpu_structure.h"
#include <optional>

namespace tessera::autoscheduler {

// A sum reads an operand again and again for the values of a block's tile.
struct GpuOperand {
    Source source;                      // a function, or an image that is read without one
    std::vector<int> readers;           // stages: what reads it, from the sum on: the last one does
    bool is_of_columns = false;         // it differs from column to column
    std::optional<size_t> along_depth;  // its dimension that the depth goes along, alone
    std::vector<bool> is_along_rows;  // per dimension: it differs along the first variable of rows
};

// A sum of products over plain functions:
//
//     product(x, y) += a(k, y) * b(x, k)          columns x, rows y, depth k
//     conv(c, x, y) += filter(c, i, r) * in(i, x + r, y)     columns c, rows x and y, depth i
//
// Values along the columns share one operand, and those along the rows another.
struct GpuProduct {
    int function = -1;
    int update = -1;            // its stage of the graph
    size_t column = 0;          // a variable of the update, whose values are neighbours in memory
    std::vector<size_t> rows;   // others, innermost first
    size_t depth = 0;           // the variable of the sum that is taken in steps
    std::vector<size_t> taps;   // those of few values, which a step has all of
    std::vector<size_t> outer;  // all others
    std::vector<GpuOperand> operands;
};

// Returns what the function is a product of; nothing if it is none, or one of few values.
std::optional<GpuProduct> product_of(const Graph &graph, int function);

// The stage that computes something of each value of a function, and of no other one; with the
// functions in between, which are inlined.
struct GpuReader {
    int stage = -1;
    std::vector<int> between;
};
std::optional<GpuReader> reader_of_values(const Graph &graph, int function);

// Adds a copy of an operand, which is computed in a step of the sum, in the memory of a block,
// ahead if there are several stages. Returns its name.
Symbol stage_operand(const Graph &graph, const GpuProduct &product, const GpuOperand &operand,
                     const program::LoopLevel &step, int stages, GpuStructure &structure);
// The copy's arguments.
std::vector<Symbol> args_of_copy(const Graph &graph, const GpuOperand &operand);

// Computes the reader's function at the root, and shares out the points of its stages beside the
// one that reads; the functions between are inlined.
void place_reader(const Graph &graph, const GpuReader &reader, GpuStructure &structure);
// The loops over what an update of the reader adds up: parts, of which there is one.
std::vector<Symbol> sums_of(const StageNode &reader);

// Products that no stage reads value by value get one that does: a copy, or, of an output, another
// update.
GpuStructure readers_of_products(const Graph &graph, const GpuMachine &machine);

// A block has a tile of a product, and a thread a tile of that in its registers; what a step of the
// sum reads is in the memory of the block. What is computed of each sum is computed by its thread.
GpuStructure products_in_blocks(const Graph &graph, const GpuMachine &machine);

}  // namespace tessera::autoscheduler
