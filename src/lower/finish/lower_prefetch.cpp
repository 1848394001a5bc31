#include "lower/finish/lower_prefetch.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include <unordered_map>

namespace tessera::lower {
namespace {

using namespace ir;

class LowerPrefetch final : public Mutator {
public:
    explicit LowerPrefetch(const LoweredFunction &pipeline) : pipeline(pipeline) {}

private:
    Stmt visit(const Realize &realize) override {
        realized[realize.func] = &realize;
        Stmt s = Mutator::visit(realize);
        realized.erase(realize.func);
        return s;
    }
    Stmt visit(const Provide &provide) override { return Stmt(&provide); }
    Stmt visit(const Evaluate &evaluate) override { return Stmt(&evaluate); }
    Stmt visit(const Prefetch &prefetch) override {
        Stmt body = (*this)(prefetch.body);
        std::vector<Stmt> calls;
        for (size_t k = 0; k < prefetch.types.size(); k++) {
            const Symbol buffer = buffer_of(prefetch, int(k));
            if (!buffer.defined()) return body;
            calls.push_back(Evaluate::make(prefetch_of(prefetch, int(k), buffer)));
        }
        Stmt all = Block::make(std::move(calls));
        if (!is_true(prefetch.condition)) all = IfThenElse::make(prefetch.condition, all);
        return Block::make(all, body);
    }
    // None where the function has no storage.
    Symbol buffer_of(const Prefetch &prefetch, int k) const {
        if (prefetch.call_kind == CallKind::Image) return prefetch.name;
        auto found = realized.find(prefetch.name);
        if (found != realized.end()) return lower::buffer_of(*found->second, k);
        const ir::Argument *output = find_output(pipeline.args, prefetch.name, k);
        return output ? output->name : Symbol();
    }
    static Expr prefetch_of(const Prefetch &prefetch, int k, Symbol buffer) {
        Type t = prefetch.types[size_t(k)];
        std::vector<Expr> first;
        for (const Range &r : prefetch.bounds) first.push_back(r.min);
        Expr element =
            Call::make(t, prefetch.name, prefetch.call_kind, k, first, prefetch.referent);
        std::vector<Expr> args = {call(Handle(), Intrinsic::address_of, {element})};
        for (int d = 0; d < int(prefetch.bounds.size()); d++) {
            args.push_back(prefetch.bounds[size_t(d)].extent);
            Expr stride = BufferProperty::make(buffer, BufferField::Stride, d, prefetch.referent);
            args.push_back(stride * t.bytes());
        }
        return call(Int(32), Intrinsic::prefetch, std::move(args));
    }

    const LoweredFunction &pipeline;
    std::unordered_map<Symbol, const Realize *> realized;
};

}  // namespace

Stmt lower_prefetch(const LoweredFunction &pipeline, const Context &) {
    return LowerPrefetch(pipeline)(pipeline.body);
}

}  // namespace tessera::lower
