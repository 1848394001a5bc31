#include "program/scatter.h"
#include "base/error.h"
#include "ir/mutator.h"
#include "ir/visitor.h"

namespace tessera::program {
namespace {

using namespace ir;

bool is_several(const IntrinsicCall &c) {
    return c.op == Intrinsic::gather || c.op == Intrinsic::scatter;
}

class PickOperand final : public Mutator {
public:
    explicit PickOperand(size_t n) : n(n) {}

private:
    using Mutator::visit;
    Expr visit(const IntrinsicCall &call) override {
        return is_several(call) ? (*this)(call.args.at(n)) : Mutator::visit(call);
    }
    size_t n;
};

}  // namespace

size_t count_of_elements(const std::vector<Expr> &args, const std::vector<Expr> &values) {
    size_t count = 1;
    auto include = [&](const IntrinsicCall &c) {
        if (!is_several(c)) return;
        if (count > 1 && c.args.size() != count) {
            throw CompileError(str("scatter and gather of ", count, " and of ", c.args.size(),
                                   " values in one definition; all of them have the same number"));
        }
        count = c.args.size();
    };
    for (const auto *list : {&args, &values}) {
        for (const Expr &e : *list) for_each_node(e, include);
    }
    return count;
}

Expr element(const Expr &e, size_t n) { return PickOperand(n)(e); }

}  // namespace tessera::program
