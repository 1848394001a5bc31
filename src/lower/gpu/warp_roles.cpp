#include "lower/gpu/warp_roles.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"

namespace tessera::lower {

using namespace ir;

namespace {

Expr is_producer() { return call(Bool(), Intrinsic::gpu_is_producer, {}); }

// Leaves what is the producer's; undefined where nothing is.
class KeepProducer {
public:
    Stmt operator()(const Stmt &s) const {
        using Kept = Stmt;
        if (!s.defined()) return {};
        return match(
            s, [&](const IfThenElse &branch) -> Kept { return of_branch(branch); },
            [&](const Block &block) -> Kept { return of_block(block); },
            [&](const LetStmt &let) -> Kept { return around(let, (*this)(let.body)); },
            [&](const For &loop) -> Kept { return around(loop, (*this)(loop.body)); },
            [&](const ProducerConsumer &p) -> Kept { return (*this)(p.body); },
            [&](const Realize &r) -> Kept { return (*this)(r.body); },
            [&](const HoistedStorage &h) -> Kept { return (*this)(h.body); }, otherwise(Kept()));
    }

private:
    Stmt of_branch(const IfThenElse &branch) const {
        if (is_choice_of_role(branch)) return branch.then_case;
        const Stmt then_case = (*this)(branch.then_case), else_case = (*this)(branch.else_case);
        if (!then_case.defined() && !else_case.defined()) return {};
        return IfThenElse::make(branch.condition,
                                then_case.defined() ? then_case : Evaluate::make(0), else_case);
    }
    Stmt of_block(const Block &block) const {
        std::vector<Stmt> kept;
        for (const Stmt &s : block.stmts) {
            if (Stmt part = (*this)(s); part.defined()) kept.push_back(part);
        }
        return kept.empty() ? Stmt() : Block::make(kept);
    }
    template<typename Node>
    static Stmt around(const Node &node, const Stmt &body) {
        return body.defined() ? node.template with<&Node::body>(body) : Stmt();
    }
};

class DropProducer final : public Mutator {
    Stmt visit(const IfThenElse &branch) override {
        if (!is_choice_of_role(branch)) return Mutator::visit(branch);
        return branch.else_case.defined() ? branch.else_case : Evaluate::make(0);
    }
};

}  // namespace

Stmt of_producer(const Stmt &s) { return IfThenElse::make(is_producer(), s); }

bool is_choice_of_role(const IfThenElse &branch) {
    const auto *c = branch.condition.as<IntrinsicCall>();
    return c && c->op == Intrinsic::gpu_is_producer;
}

Stmt without_producer(const Stmt &body) { return DropProducer()(body); }

Stmt split_roles(const Stmt &body) {
    const Stmt produce = KeepProducer()(body);
    if (!produce.defined()) return body;
    return IfThenElse::make(is_producer(), produce, without_producer(body));
}

}  // namespace tessera::lower
