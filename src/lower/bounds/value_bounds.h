#pragma once
#include "algebra/bounds.h"
#include "lower/program_context.h"

namespace tessera::lower {

// The bounds of the values of functions, whatever the arguments: for indices that depend on data.
class ValueBounds {
public:
    explicit ValueBounds(const ProgramContext &context);

    // The bounds of value k of a function, or of an element of an image; everything() where nothing
    // is known.
    algebra::Interval of(const ir::Call &call) const;
    // Answers IntervalScope::call_bounds.
    std::function<algebra::Interval(const ir::Call &)> as_callback() const;

private:
    using Values = std::vector<algebra::Interval>;
    Values bounds_of(const program::FunctionContents &f);
    Values bounds_of_stage(const program::FunctionContents &f, const program::Definition &def);

    std::unordered_map<Symbol, Values> values;
};

// Returns true if an index has bounds only because of the values that the functions in it have:
// what lies in their storage before they are computed may lead anywhere.
bool is_bounded_by_values(const ir::Expr &index);

}  // namespace tessera::lower
