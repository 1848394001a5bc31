#include "lower/checks/query_answers.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "lower/checks/constraints.h"

namespace tessera::lower {

using namespace ir;
using algebra::Interval;
using algebra::simplify;

// In a constraint: fields of buffers in a query by their answers.
class QueryAnswers::AnswerFields final : public Mutator {
public:
    AnswerFields(QueryAnswers &answers, const ir::Argument &constrained)
        : answers(answers), constrained(constrained) {}

private:
    Expr visit(const BufferProperty &p) override {
        const ir::Argument *a = answers.context.argument(p.buffer);
        bool is_shape = p.field == BufferField::Min || p.field == BufferField::Extent ||
                        p.field == BufferField::Stride;
        if (!a || !is_shape) return Expr(&p);
        bool circle =
            a->name != constrained.name && answers.in_progress.count({p.buffer, p.field, p.dim});
        if (circle) {
            answers.met_circle = true;
            return Expr(&p);
        }
        Expr answer = answers.of(*a, p.field, p.dim);
        if (a->name == constrained.name) return answer;
        return select(is_query(a->name), answer, Expr(&p));
    }
    QueryAnswers &answers;
    const ir::Argument &constrained;
};

// A constraint that names its own field starts from what the pipeline needs.
Expr QueryAnswers::of(const ir::Argument &b, BufferField f, int d) {
    Question question{b.name, f, d};
    if (auto found = answers.find(question); found != answers.end()) return found->second;
    Expr fixed = constraint_of(constraint_of(b, d), f);
    if (!in_progress.insert(question).second) return unconstrained(b, f, d);
    Expr answer =
        fixed.defined() ? cast(Int(32), AnswerFields(*this, b)(fixed)) : unconstrained(b, f, d);
    in_progress.erase(question);
    // A query on the way to another answer depends on where that began.
    if (in_progress.empty()) answers[question] = answer;
    return answer;
}

Expr QueryAnswers::unconstrained(const ir::Argument &b, BufferField f, int d) {
    Interval i = needed(b, d);
    if (f == BufferField::Min) return i.min;
    if (f == BufferField::Extent) {
        // Nothing is needed where a condition leaves nothing of what is read.
        return simplify(max(i.max - of(b, BufferField::Min, d) + 1, 0));
    }
    if (d == 0) return 1;
    return simplify(of(b, BufferField::Stride, d - 1) * of(b, BufferField::Extent, d - 1));
}

}  // namespace tessera::lower
