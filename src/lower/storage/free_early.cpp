#include "lower/storage/free_early.h"
#include "ir/allocation.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <algorithm>

namespace tessera::lower {
namespace {

using namespace ir;

// Walks statements from the last one to the first, so that the first use met is the last.
class FreeEarly final : public Mutator {
private:
    struct Open {
        const Allocate *allocate;
        int followers;  // how many statements come after its scope
        size_t order;   // outer scopes first
        bool used = false;
    };
    // Buffers whose scope is open, and that were allocated by the run of this body: not by a loop
    // around it, which may come to use them again.
    std::unordered_map<Symbol, Open> open;
    // Lets: of which buffers they hold addresses.
    std::unordered_map<Symbol, std::unordered_set<Symbol>> addresses;
    int followers = 0;  // statements that come after this one

    Stmt visit(const Block &block) override {
        std::vector<Stmt> stmts = block.stmts;
        int outer = followers;
        for (size_t i = stmts.size(); i-- > 0; followers++) stmts[i] = (*this)(stmts[i]);
        followers = outer;
        return Block::make(std::move(stmts));
    }
    Stmt visit(const Allocate &a) override {
        if (is_freed(a)) open[a.buffer] = {&a, followers, open.size()};
        Stmt body = (*this)(a.body);
        open.erase(a.buffer);
        std::unordered_set<Symbol> used = symbols_in(a.condition);
        for (const Expr &e : a.extents) used.merge(symbols_in(e));
        return a.with<&Allocate::body>(Block::make(frees_after(used, true), body));
    }
    // The memory of a block is not freed at all, and small storage on the stack becomes registers.
    static bool is_freed(const Allocate &a) {
        constexpr int64_t small = 256;
        if (!traits_of(a.memory).is_on_cpu) return false;
        return place_of(a) != Place::Stack || constant_bytes(a).value() > small;
    }
    Stmt visit(const LetStmt &let) override {
        std::unordered_set<Symbol> used = buffers_of(symbols_in(let.value));
        bool is_address = let.value.type().is_handle();
        if (is_address) addresses[let.name] = used;
        Stmt body = (*this)(let.body);
        if (is_address) addresses.erase(let.name);
        return let.with<&LetStmt::body>(Block::make(frees_after(used, true), body));
    }
    std::unordered_set<Symbol> buffers_of(const std::unordered_set<Symbol> &symbols) const {
        std::unordered_set<Symbol> buffers;
        for (Symbol s : symbols) {
            auto found = addresses.find(s);
            if (found != addresses.end())
                buffers.insert(found->second.begin(), found->second.end());
            buffers.insert(s);
        }
        return buffers;
    }

    Stmt visit(const For &node) override {
        const bool is_kernel = node.loop_kind == LoopKind::GPUBlock;
        return after(node, is_kernel ? Stmt(&node) : region(node));
    }
    Stmt visit(const IfThenElse &node) override { return after(node, region(node)); }
    Stmt visit(const Fork &node) override { return after(node, region(node)); }
    // The machine uses the operands in place of the body, or after it.
    Stmt visit(const MachineOp &node) override { return after(node, region(node)); }
    Stmt visit(const Atomic &node) override { return after(node, Stmt(&node)); }
    Stmt visit(const Acquire &node) override { return after(node, region(node)); }
    Stmt visit(const AssertStmt &node) override { return after(node, Stmt(&node)); }
    Stmt visit(const Store &node) override { return after(node, Stmt(&node)); }
    Stmt visit(const Evaluate &node) override { return after(node, Stmt(&node)); }

    // A region may run many times, or never: it can free only what it allocates.
    template<typename T>
    Stmt region(const T &node) {
        std::unordered_map<Symbol, Open> outer;
        outer.swap(open);
        Stmt s = Mutator::visit(node);
        open.swap(outer);
        return s;
    }
    template<typename T>
    Stmt after(const T &node, const Stmt &s) {
        if (open.empty()) return s;
        return Block::make(s, frees_after(symbols_in(Stmt(&node)), false));
    }
    // Frees what is used here for the last time. `more`: what follows does not count as following.
    Stmt frees_after(const std::unordered_set<Symbol> &symbols, bool more) {
        std::vector<const Open *> last;
        for (Symbol s : buffers_of(symbols)) {
            auto found = open.find(s);
            if (found == open.end() || found->second.used) continue;
            found->second.used = true;
            // A buffer whose scope ends here is freed anyway.
            if (more || followers > found->second.followers) last.push_back(&found->second);
        }
        std::sort(last.begin(), last.end(),
                  [](const Open *a, const Open *b) { return a->order < b->order; });
        std::vector<Stmt> frees;
        for (const Open *o : last) frees.push_back(free(*o->allocate));
        return frees.empty() ? Stmt() : Block::make(std::move(frees));
    }
    static Stmt free(const Allocate &a) {
        Expr first = Load::make(a.type, a.buffer, make_zero(Int(32)));
        return Evaluate::make(
            call(Int(32), Intrinsic::free, {call(Handle(), Intrinsic::address_of, {first})}));
    }
};

}  // namespace

Stmt free_early(const Stmt &s, const Context &) { return FreeEarly()(s); }

}  // namespace tessera::lower
