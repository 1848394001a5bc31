#include "lower/loops/likely.h"
#include "ir/mutator.h"
#include "ir/visitor.h"

namespace tessera::lower {

using namespace ir;

namespace {

bool is_marker(const IntrinsicCall &c, bool innermost) {
    return c.op == Intrinsic::likely || (innermost && c.op == Intrinsic::likely_if_innermost);
}

// Goes down through what passes a marker on, and nowhere else.
class LikelyFinder final : public Visitor {
public:
    explicit LikelyFinder(bool innermost) : innermost(innermost) {}
    bool found = false;

private:
    void visit(const IntrinsicCall &c) override {
        if (is_marker(c, innermost)) {
            found = true;
            return;
        }
        bool hint = c.op == Intrinsic::promise_clamped || c.op == Intrinsic::unsafe_promise_clamped;
        if (hint) (*this)(c.args[0]);
    }
    void visit(const Load &) override {}
    void visit(const Call &) override {}
    void visit(const ExternCall &) override {}
    void visit(const Select &s) override {
        (*this)(s.true_value);
        (*this)(s.false_value);
    }
    bool innermost;
};

class RemoveLikely final : public Mutator {
    Expr visit(const IntrinsicCall &c) override {
        if (is_marker(c, true)) return (*this)(c.args[0]);
        return Mutator::visit(c);
    }
};

template<typename T>
bool any_marker(const T &root, bool innermost) {
    bool found = false;
    for_each_node(root, [&](const IntrinsicCall &c) { found |= is_marker(c, innermost); });
    return found;
}

}  // namespace

const IntrinsicCall *likely_marker(const Expr &e, bool innermost) {
    const auto *c = e.as<IntrinsicCall>();
    return c && is_marker(*c, innermost) ? c : nullptr;
}

bool is_likely(const Expr &e, bool innermost) {
    LikelyFinder finder(innermost);
    finder(e);
    return finder.found;
}

bool has_likely(const Expr &e) { return any_marker(e, true); }
bool has_likely(const Stmt &s, bool innermost) { return any_marker(s, innermost); }
Stmt remove_likely(const Stmt &s) { return RemoveLikely()(s); }
Expr remove_likely(const Expr &e) { return RemoveLikely()(e); }
Stmt remove_likely(const Stmt &s, const Context &) { return remove_likely(s); }

}  // namespace tessera::lower
