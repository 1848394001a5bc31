#include "lower/gpu/thread_elements.h"
#include "algebra/linear.h"
#include "algebra/simplify.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/likely.h"
#include <cstdlib>
#include <numeric>
#include <set>

namespace tessera::lower {
namespace {

using namespace ir;

class ThreadElements final : public Visitor {
public:
    ThreadElements(const Allocate &a, const ThreadsOfBlock &threads, const LetScope &lets)
        : Visitor(Visits::PerUse), allocation(a), threads(threads), lets(lets) {
        (*this)(a.body);
    }

    bool are_of_one_thread_each() const {
        return is_known && !rests.empty() && are_far_apart(thread_dimensions, 0, true);
    }

private:
    void visit(const LetStmt &let) override {
        (*this)(let.value);
        lets.within(let, [&] { (*this)(let.body); });
    }
    void visit(const Let &let) override {
        (*this)(let.value);
        lets.within(let, [&] { (*this)(let.body); });
    }
    void visit(const For &loop) override {
        (*this)(loop.min);
        (*this)(loop.extent);
        if (!is_over_threads(loop)) return (*this)(loop.body);
        const size_t d = thread_depth(loop.body);
        is_in_loop[d] = true;
        lets.push_let(loop.name, Variable::make(Int(32), threads.names[d]) + lets.expand(loop.min));
        (*this)(loop.body);
        lets.pop_let(loop.name);
        is_in_loop[d] = false;
    }
    void visit(const Load &load) override {
        Visitor::visit(load);
        if (load.buffer == allocation.buffer) note(load.index);
    }
    void visit(const Store &store) override {
        Visitor::visit(store);
        if (store.buffer == allocation.buffer) note(store.index);
    }
    void visit(const IntrinsicCall &c) override {
        const auto *of = c.op == Intrinsic::address_of ? c.args[0].as<Load>() : nullptr;
        is_known &= !(of && of->buffer == allocation.buffer);
        Visitor::visit(c);
    }

    void note(const Expr &index) {
        for (size_t d = 0; d < thread_dimensions; d++)
            is_known &= !threads.names[d].defined() || is_in_loop[d];
        if (is_known) add(index, 0);
    }
    // `distance`: of a lane of a vector from the first one.
    void add(const Expr &index, int64_t distance) {
        if (const auto *same = index.as<Broadcast>()) return add(same->value, distance);
        const auto *ramp = index.as<Ramp>();
        if (!ramp) return index.type().is_scalar() ? add_element(index, distance) : give_up();
        const auto stride = as_const_int(ramp->stride);
        if (!stride) return give_up();
        for (int i = 0; i < ramp->lanes; i++) add(ramp->base, distance + i * *stride);
    }
    void add_element(const Expr &index, int64_t distance) {
        const Type type = index.type();
        algebra::LinearForm rest =
            algebra::linear_form(algebra::simplify(remove_likely(lets.expand(index))));
        std::array<int64_t, thread_dimensions> of_threads{};
        std::erase_if(rest.terms, [&](const algebra::LinearTerm &t) {
            for (size_t d = 0; d < thread_dimensions; d++) {
                if (!threads.names[d].defined() || !uses_symbol(t.atom, threads.names[d])) continue;
                is_known &= t.atom.as<Variable>() != nullptr;
                of_threads[d] = t.coefficient;
                return true;
            }
            return false;
        });
        const Expr place = algebra::to_expr(rest, type);
        if (!place.defined()) return give_up();
        const Alignment aligned = algebra::alignment_of(place, lets.known());
        if (rests.empty()) coefficients = of_threads;
        is_known &= coefficients == of_threads;
        modulus = std::gcd(modulus, aligned.modulus);
        rests.insert(aligned.remainder + distance);
        constexpr size_t most = 256;
        if (rests.size() > most) give_up();
    }
    void give_up() { is_known = false; }

    // Tries all distances of two threads that differ, from dimension `d` down.
    bool are_far_apart(size_t d, int64_t distance, bool is_same_thread) const {
        if (d == 0) return is_same_thread || !may_meet(distance);
        d--;
        if (!threads.names[d].defined()) return are_far_apart(d, distance, is_same_thread);
        constexpr int64_t most_threads = 1024;
        const auto count = as_const_int(threads.shape[d]);
        if (!count || *count > most_threads) return false;
        for (int64_t i = 1 - *count; i < *count; i++) {
            const bool is_same = is_same_thread && i == 0;
            if (!are_far_apart(d, distance + i * coefficients[d], is_same)) return false;
        }
        return true;
    }
    // Returns true if two rests may be so far apart.
    bool may_meet(int64_t distance) const {
        for (int64_t a : rests) {
            for (int64_t b : rests) {
                const int64_t apart = distance + a - b;
                if (modulus == 0 ? apart == 0 : apart % modulus == 0) return true;
            }
        }
        return false;
    }

    const Allocate &allocation;
    const ThreadsOfBlock &threads;
    LetScope lets;
    std::array<bool, thread_dimensions> is_in_loop{};
    bool is_known = true;
    std::array<int64_t, thread_dimensions> coefficients{};
    std::set<int64_t> rests;  // of all indices, of all lanes of vectors
    int64_t modulus = 0;      // a multiple of it may come to each; 0: none does
};

}  // namespace

bool are_elements_of_one_thread_each(const Allocate &a, const ThreadsOfBlock &threads,
                                     const LetScope &lets) {
    return ThreadElements(a, threads, lets).are_of_one_thread_each();
}

}  // namespace tessera::lower
