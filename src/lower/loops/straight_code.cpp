#include "lower/loops/straight_code.h"
#include "ir/visitor.h"
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

class Collector final : public Visitor {
public:
    std::vector<Expr> loads;
    bool straight = true;

private:
    void visit(const Load &load) override {
        Visitor::visit(load);
        loads.emplace_back(&load);
    }
    void visit(const IntrinsicCall &call) override {
        if (call.op == Intrinsic::if_then_else) straight = false;
        Visitor::visit(call);
    }
    void bind(Symbol name) {
        if (!bound.insert(name).second) straight = false;
    }
    void visit(const Let &let) override {
        bind(let.name);
        Visitor::visit(let);
    }
    void visit(const LetStmt &let) override {
        bind(let.name);
        if (straight) Visitor::visit(let);
    }
    void visit(const Block &block) override {
        for (const Stmt &part : block.stmts) {
            if (straight) (*this)(part);
        }
    }
    void visit(const For &) override { straight = false; }
    void visit(const IfThenElse &) override { straight = false; }
    void visit(const Allocate &) override { straight = false; }
    void visit(const Fork &) override { straight = false; }
    void visit(const Acquire &) override { straight = false; }

    std::unordered_set<Symbol> bound;
};

}  // namespace

std::optional<std::vector<Expr>> loads_of_straight_code(const Stmt &s) {
    Collector collector;
    collector(s);
    if (!collector.straight) return {};
    return std::move(collector.loads);
}

template<typename T> Stmt StraightCodeMutator::within(const T &node) {
    Stmt s(&node);
    auto loads = loads_of_straight_code(s);
    return loads ? rewrite(s, *loads) : Mutator::visit(node);
}

Stmt StraightCodeMutator::visit(const Block &s) { return within(s); }
Stmt StraightCodeMutator::visit(const LetStmt &s) { return within(s); }
Stmt StraightCodeMutator::visit(const Store &s) { return within(s); }

}  // namespace tessera::lower
