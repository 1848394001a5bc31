#pragma once
#include "algebra/interval.h"
#include "lower/program_context.h"
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace tessera::lower {

// The answers to bounds queries: of each buffer what the pipeline needs, dense, but for what the
// user fixed. A constraint may name what it constrains (an extent that is a multiple of 8), and
// fields of other buffers: where the same call queries those, it means their answers.
class QueryAnswers {
public:
    // `needed` gives the coordinates of a dimension that the pipeline touches.
    using Needed = std::function<algebra::Interval(const ir::Argument &buffer, int dimension)>;
    QueryAnswers(const ProgramContext &context, Needed needed)
        : context(context), needed(std::move(needed)) {}

    // `f`: Min, Extent or Stride.
    ir::Expr of(const ir::Argument &buffer, BufferField f, int dimension);
    // True if a constraint of a buffer depends on another one that depends on it: that one's field
    // means what it was before, so whoever asks has to ask until nothing changes.
    bool in_circles() const { return met_circle; }

private:
    using Question = std::tuple<Symbol, BufferField, int>;
    class AnswerFields;
    ir::Expr unconstrained(const ir::Argument &buffer, BufferField f, int dimension);

    const ProgramContext &context;
    Needed needed;
    std::map<Question, ir::Expr> answers;
    std::set<Question> in_progress;
    bool met_circle = false;
};

}  // namespace tessera::lower
