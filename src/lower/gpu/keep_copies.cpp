#include "lower/gpu/keep_copies.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/pipeline_copies.h"
#include "lower/gpu/pipeline_loop.h"
#include <algorithm>
#include <ranges>

namespace tessera::lower {

using namespace ir;

namespace {

// The names of loops, lets and storage that a statement binds.
std::unordered_set<Symbol> bound_in(const Stmt &s) {
    std::unordered_set<Symbol> names;
    for_each_node(s, [&](const For &loop) { names.insert(loop.name); });
    for_each_node(s, [&](const LetStmt &let) { names.insert(let.name); });
    for_each_node(s, [&](const Let &let) { names.insert(let.name); });
    for_each_node(s, [&](const Realize &r) { names.insert(r.func); });
    return names;
}

// Takes what all iterations of a loop copy alike out of its body.
class TakeAlikeOut final : public Mutator {
public:
    explicit TakeAlikeOut(const For &loop) : names(bound_in(Stmt(&loop))) {}

    struct Copy {
        Ref<const Realize> ring;
        Stmt stmt;
    };
    std::vector<Copy> taken;  // outermost first

private:
    Stmt visit(const Realize &r) override {
        if (!is_ring(r)) return Mutator::visit(r);
        LoopParts parts = split_copies(r.body, {{r.func, &r}});
        if (parts.copies.size() != 1 || !is_alike(r, parts.copies[0].stmt))
            return Mutator::visit(r);
        taken.push_back({Ref<const Realize>(&r), parts.copies[0].stmt});
        return (*this)(parts.rest);
    }
    Stmt visit(const For &loop) override { return Stmt(&loop); }
    Stmt visit(const IfThenElse &branch) override { return Stmt(&branch); }

    bool is_alike(const Realize &ring, const Stmt &copy) const {
        const std::unordered_set<Symbol> own = bound_in(copy);
        const auto is_outside = [&](Symbol used) {
            return used == ring.func || own.contains(used) || !names.contains(used);
        };
        const auto is_free = [&](const auto &part) {
            return std::ranges::all_of(symbols_in(part), is_outside);
        };
        return is_free(copy) && std::ranges::all_of(ring.bounds, [&](const Range &b) {
                   return is_free(b.min) && is_free(b.extent);
               });
    }
    const std::unordered_set<Symbol> names;  // of the loop
};

class KeepCopies final : public Mutator {
    Stmt visit(const For &loop) override {
        const Stmt s = Mutator::visit(loop);
        const auto &inner = *s.as<For>();
        if (loop.loop_kind != LoopKind::Serial) return s;
        TakeAlikeOut take_out(inner);
        Stmt all = inner.with<&For::body>(take_out(inner.body));
        if (take_out.taken.empty()) return s;
        for (const TakeAlikeOut::Copy &c : std::views::reverse(take_out.taken))
            all = c.ring->with<&Realize::body>(Block::make(c.stmt, all));
        return all;
    }
};

}  // namespace

Stmt keep_copies(const Stmt &kernel) { return KeepCopies()(kernel); }

}  // namespace tessera::lower
