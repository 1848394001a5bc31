#pragma once
#include "ir/instruction.h"
#include "ir/nodes.h"
#include "ir/substitute.h"
#include "lower/loops/let_scope.h"
#include <map>
#include <optional>
#include <unordered_map>

namespace tessera::lower {

// The storage of Funcs around a statement.
using Storages = std::unordered_map<Symbol, const ir::Realize *>;

// A loop that runs along a coordinate of an instruction, which does `step` iterations at a time.
// The loop is null if there is one iteration.
struct CoordinateLoop {
    const ir::For *loop = nullptr;
    int64_t step = 1, steps = 1;
};
using CoordinateLoops = std::map<std::string, CoordinateLoop, std::less<>>;

// Another order of the elements of a Func in memory: those along `k` come first, or else groups of
// so many of them, each for all of `own`.
struct Packing {
    size_t own = 0, k = 0;  // dimensions
    int64_t together = 0;
    bool operator==(const Packing &) const = default;
};

// Returns how many neighbours along k are together for each column of B in a row in memory; 0 if
// such a row is of one column, or of one row of A.
int64_t interleaved_along_k(const ir::InstructionOperand &operand);

// Reads how an operand of a product lies in memory, for an instruction that wants it in rows.
class OperandRows {
public:
    // `element` is read in each iteration of the loops, `within` are the lets inside of them.
    OperandRows(const ir::Call &element, const ir::InstructionOperand &operand,
                const CoordinateLoops &loops, const ir::Substitution &within,
                const Storages &storage, const LetScope &scope);

    // Returns true if the instruction can read it where it is.
    bool fits() const { return is_in_rows; }
    // Returns how it would have to lie; nothing if it is not the pipeline's own storage, or is
    // indexed in another way.
    std::optional<Packing> packing() const;
    // Returns the place of the element at these steps of its first and second coordinate, and
    // `rows` rows of the instruction further.
    ir::Expr place(int64_t first, int64_t second, int64_t rows) const;

private:
    // A digit of a coordinate, with a variable for it.
    struct Digit {
        Symbol variable;
        ir::LayoutDigit of;
        bool is_row;
    };
    void add_digits();
    bool find_rows();
    bool is_free(const ir::Expr &e) const;
    ir::Expr difference(const ir::Expr &coordinate, Symbol variable) const;
    std::optional<int64_t> stride(size_t dimension) const;
    std::optional<size_t> only_dimension_of(const ir::For *loop) const;
    const CoordinateLoop &loop_of(size_t coordinate) const {
        return loops.at(operand.layout.coordinates[coordinate].name);
    }

    const ir::Call &element;
    const ir::InstructionOperand &operand;
    const CoordinateLoops &loops;
    const Storages &storage;
    const LetScope &scope;
    std::vector<ir::Expr> args, expanded;
    std::vector<Digit> digits;
    std::vector<Symbol> blocks;  // the step along each coordinate
    algebra::Facts facts;
    bool is_in_rows = false;
};

// Rewrites the body of a Realize, and the Realize, so that it is stored in this order. Throws
// CompileError if something else has to know how it is stored.
ir::Stmt packed(const ir::Realize &realize, const Packing &packing);

}  // namespace tessera::lower
