#include "lower/loops/promote_accumulators.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include <algorithm>
#include <optional>
#include <ranges>
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

bool mentions(const Expr &e, const std::unordered_set<Symbol> &symbols) {
    return e.defined() && uses_any(e, symbols);
}

bool calls(const Expr &e, Symbol func) {
    bool any = false;
    for_each_node(e, [&](const Call &c) { any |= c.callee == func; });
    return any;
}

// A nest that is nothing but loops, lets and guards around one definition: from a loop of a
// reduction inwards.
class Nest {
public:
    // Nothing if it has another form.
    static std::optional<Nest> of(const For &loop) {
        Nest nest;
        Stmt s(&loop);
        while (s.defined() && !s.as<Provide>()) s = nest.enter(s);
        if (!s.defined()) return std::nullopt;
        nest.provide = Ref<const Provide>(s.as<Provide>());
        if (!nest.adds_to_elements_of_its_own()) return std::nullopt;
        return nest;
    }

    int64_t bytes_of_elements() const {
        int64_t bytes = 0;
        for (const Expr &value : provide->values) bytes += elements * value.type().bytes();
        return bytes;
    }
    bool has_several_vectors() const {
        return std::ranges::any_of(beside_one_another, [](const For *l) {
            return l->loop_kind == LoopKind::Unrolled && !is_const(l->extent, 1);
        });
    }
    Symbol func() const { return provide->func; }

    Stmt promoted() const {
        const Symbol sums = Symbol::fresh(str(func(), ".sums"));
        std::vector<Expr> place;
        Region bounds;
        std::vector<Type> types;
        for (const For *l : in_order_of_storage()) {
            const Expr loop = Variable::make(l->min.type(), l->name);
            place.push_back(is_const(l->min, 0) ? loop : loop - l->min);
            bounds.emplace_back(0, l->extent);
        }
        StorageFacts storage;
        std::vector<Expr> stored, kept, values;
        for (size_t k = 0; k < provide->values.size(); k++) {
            const Type type = provide->values[k].type();
            types.push_back(type);
            if (provide->values.size() > 1)
                storage.buffers.push_back(Symbol::fresh(str(sums, ".", k)));
            stored.push_back(a_call->with<&Call::type, &Call::value_index>(type, int(k)));
            kept.push_back(Call::make(type, sums, CallKind::Func, int(k), place));
            values.push_back(from_sums(provide->values[k], sums, place));
        }
        const Stmt load = around(Provide::make(sums, stored, place), Copy::Elements, sums);
        const Stmt store = around(Provide::make(func(), kept, provide->args), Copy::Elements, sums);
        const Stmt reduce = around(Provide::make(sums, values, place), Copy::Whole, sums);
        return Realize::make(sums, types, MemoryType::Stack, bounds, {},
                             Block::make({load, reduce, store}), std::move(storage));
    }

private:
    // Returns what is in the statement; undefined if that is no part of such a nest.
    Stmt enter(const Stmt &s) {
        parts.push_back(s);
        if (const auto *loop = s.as<For>()) return enter(*loop);
        if (const auto *let = s.as<LetStmt>()) {
            if (mentions(let->value, of_reduction)) of_reduction.insert(let->name);
            return let->body;
        }
        if (const auto *guard = s.as<IfThenElse>()) {
            // If it holds in no iteration, the elements need not even be there.
            const bool may_stay = !mentions(guard->condition, of_reduction);
            return may_stay && !guard->else_case.defined() ? guard->then_case : Stmt();
        }
        const auto *atomic = s.as<Atomic>();
        return atomic && !atomic->mutexes.defined() ? atomic->body : Stmt();
    }
    Stmt enter(const For &loop) {
        const bool is_unrolled = traits_of(loop.loop_kind).needs_constant_extent;
        const bool is_serial = loop.loop_kind == LoopKind::Serial;
        if (!loop.origin.known() || mentions(loop.min, of_reduction)) return {};
        if (loop.origin.is_reduction && (is_serial || is_unrolled)) {
            of_reduction.insert(loop.name);
            return loop.body;
        }
        const std::optional<int64_t> extent = as_const_int(loop.extent);
        if (!is_unrolled || !extent) return {};
        elements *= *extent;
        beside_one_another.push_back(&loop);
        return loop.body;
    }

    // Elements are the same in each iteration of the reduction, and nothing else of the function is
    // read.
    bool adds_to_elements_of_its_own() {
        if (provide->predicate.defined()) return false;
        for (const Expr &arg : provide->args) {
            if (mentions(arg, of_reduction) || calls(arg, func())) return false;
        }
        for (const Stmt &part : parts) {
            const auto *let = part.as<LetStmt>();
            const auto *guard = part.as<IfThenElse>();
            if (let && calls(let->value, func())) return false;
            if (guard && calls(guard->condition, func())) return false;
        }
        bool others = false;
        for (const Expr &value : provide->values) {
            for_each_node(value, [&](const Call &c) {
                if (c.callee != func()) return;
                a_call = Ref<const Call>(&c);
                others |= !std::ranges::equal(c.args, provide->args,
                                              [](auto &a, auto &b) { return equal(a, b); });
            });
        }
        return a_call && !others;
    }

    // Lanes lie side by side.
    std::vector<const For *> in_order_of_storage() const {
        std::vector<const For *> loops;
        for (const bool is_in_lanes : {true, false}) {
            for (const For *l : std::views::reverse(beside_one_another)) {
                if (traits_of(l->loop_kind).is_in_lanes == is_in_lanes) loops.push_back(l);
            }
        }
        return loops;
    }

    Expr from_sums(const Expr &value, Symbol sums, const std::vector<Expr> &place) const {
        class Replace final : public Mutator {
        public:
            Replace(Symbol func, Symbol sums, const std::vector<Expr> &place)
                : func(func), sums(sums), place(place) {}

        private:
            Expr visit(const Call &c) override {
                if (c.callee != func) return Mutator::visit(c);
                return Call::make(c.type, sums, CallKind::Func, c.value_index, place);
            }
            const Symbol func, sums;
            const std::vector<Expr> &place;
        };
        return Replace(func(), sums, place)(value);
    }

    enum class Copy : uint8_t {
        Whole,
        Elements,  // without what the reduction has
    };
    // The parts of the nest around another definition.
    Stmt around(Stmt s, Copy copy, Symbol sums) const {
        for (const Stmt &part : std::views::reverse(parts)) {
            if (copy == Copy::Elements && is_of_reduction(part)) continue;
            if (const auto *loop = part.as<For>()) {
                s = loop->with<&For::body>(s);
            } else if (const auto *let = part.as<LetStmt>()) {
                s = let->with<&LetStmt::body>(s);
            } else if (const auto *guard = part.as<IfThenElse>()) {
                s = guard->with<&IfThenElse::then_case>(s);
            } else {
                s = part.as<Atomic>()->with<&Atomic::func, &Atomic::body>(sums, s);
            }
        }
        return s;
    }
    bool is_of_reduction(const Stmt &part) const {
        if (const auto *loop = part.as<For>()) return of_reduction.contains(loop->name);
        if (const auto *let = part.as<LetStmt>()) return of_reduction.contains(let->name);
        return part.as<Atomic>() != nullptr;  // the update is, and copies are not
    }

    std::vector<Stmt> parts;  // outermost first
    std::vector<const For *> beside_one_another;
    int64_t elements = 1;                     // that stand side by side in the code
    std::unordered_set<Symbol> of_reduction;  // loops, and lets whose values depend on them
    Ref<const Provide> provide;
    Ref<const Call> a_call;  // of the function itself
};

class PromoteAccumulators final : public Mutator {
public:
    explicit PromoteAccumulators(const Target &target)
        : bytes_of_registers(registers(target) * target.natural_vector_size(1, true)) {}

private:
    static int64_t registers(const Target &target) {
        return target.arch == Target::X86 && !target.has_feature(Target::AVX512) ? 16 : 32;
    }

    Stmt visit(const Realize &realize) override {
        int64_t bytes = 0;
        for (const Type &t : realize.types) bytes += t.bytes();
        for (const Range &r : realize.bounds) {
            const std::optional<int64_t> extent = as_const_int(r.extent);
            bytes =
                extent && bytes <= bytes_of_registers ? bytes * *extent : 2 * bytes_of_registers;
        }
        if (bytes > bytes_of_registers) return Mutator::visit(realize);
        in_registers.insert(realize.func);
        Stmt s = Mutator::visit(realize);
        in_registers.erase(realize.func);
        return s;
    }
    Stmt visit(const For &loop) override {
        if (traits_of(loop.loop_kind).gpu != GPULevel::None) return Stmt(&loop);
        const bool may_be = loop.origin.is_reduction && traits_of(loop.loop_kind).is_in_order;
        if (!may_be || in_registers.contains(loop.origin.func)) return Mutator::visit(loop);
        const std::optional<Nest> nest = Nest::of(loop);
        if (!nest || !nest->has_several_vectors() || nest->func() != loop.origin.func ||
            nest->bytes_of_elements() > bytes_of_registers) {
            return Mutator::visit(loop);
        }
        return nest->promoted();
    }

    const int64_t bytes_of_registers;
    std::unordered_set<Symbol> in_registers;
};

}  // namespace

Stmt promote_accumulators(const Stmt &s, const Context &context) {
    return PromoteAccumulators(context.target)(s);
}

}  // namespace tessera::lower
