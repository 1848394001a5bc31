#include "lower/finish/lower_prefetch.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

class LowerPrefetch final : public Mutator {
public:
    explicit LowerPrefetch(const lower::Context &context) : context(context) {}

private:
    Stmt visit(const Realize &realize) override {
        realized.insert(realize.func);
        Stmt s = Mutator::visit(realize);
        realized.erase(realize.func);
        return s;
    }
    Stmt visit(const Provide &provide) override { return Stmt(&provide); }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const Prefetch &prefetch) override {
        Stmt body = (*this)(prefetch.body);
        bool func = context.function(prefetch.name) != nullptr;
        bool stored = realized.count(prefetch.name) || context.is_output(prefetch.name);
        if (func && !stored) return body;
        std::vector<Stmt> calls;
        for (size_t k = 0; k < prefetch.types.size(); k++) {
            calls.push_back(Evaluate::make(prefetch_of(prefetch, int(k), func || stored)));
        }
        Stmt all = Block::make(std::move(calls));
        if (!is_true(prefetch.condition)) all = IfThenElse::make(prefetch.condition, all);
        return Block::make(all, body);
    }
    Expr prefetch_of(const Prefetch &prefetch, int k, bool func) const {
        Type t = prefetch.types[size_t(k)];
        std::vector<Expr> first;
        for (const Range &r : prefetch.bounds) first.push_back(r.min);
        Ref<const Referent> referent;
        if (const ir::Argument *image = context.argument(prefetch.name)) referent = image->referent;
        CallKind kind = func ? CallKind::Func : CallKind::Image;
        Expr element = Call::make(t, prefetch.name, kind, k, first, referent);
        std::vector<Expr> args = {call(Handle(), Intrinsic::address_of, {element})};
        Symbol buffer = func ? context.buffer_of(prefetch.name, k) : prefetch.name;
        for (int d = 0; d < int(prefetch.bounds.size()); d++) {
            args.push_back(prefetch.bounds[size_t(d)].extent);
            Expr stride = BufferProperty::make(buffer, BufferField::Stride, d,
                                               func ? Ref<const Referent>() : referent);
            args.push_back(stride * t.bytes());
        }
        return call(Int(32), Intrinsic::prefetch, std::move(args));
    }

    const lower::Context &context;
    std::unordered_set<Symbol> realized;
};

}  // namespace

Stmt lower_prefetch(const Stmt &s, const Context &context) { return LowerPrefetch(context)(s); }

}  // namespace tessera::lower
