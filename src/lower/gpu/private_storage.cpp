#include "lower/gpu/private_storage.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/likely.h"
#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace tessera::lower {
namespace {

using namespace ir;

constexpr int64_t most_threads = 1024;
constexpr size_t most_elements = 4096;  // of a thread

// An index of an access: element `place` of what thread `owner` has, `owner` being an expression of
// the thread alone, and the elements of the other lanes of a vector after it.
struct Access {
    Expr owner, place;
    std::vector<int64_t> lanes;  // relative to the first one
};

// Walks what is in an allocation, and changes the indices of all accesses of it.
class AccessWalker : public Mutator {
public:
    AccessWalker(const Allocate &a, const ThreadsOfBlock &threads, const LetScope &lets)
        : Mutator(Mutator::Visits::PerUse), allocation(a), threads(threads), lets(lets) {}

protected:
    virtual Expr changed(const Expr &index, const Access &access) = 0;

    [[noreturn]] void refuse(const std::string &why) const {
        throw CompileError(
            allocation.facts.compute_written,
            str("store_in of ", allocation.buffer, ": MemoryType::", name_of(allocation.memory),
                " is private to each thread, and ", allocation.buffer,
                " is computed outside of the loops over threads, where ", why,
                "; compute it within a loop over threads, or store it in GPUShared"));
    }
    // The values of a place: those of the serial loops that it depends on are tried one by one.
    void for_each_value(const Expr &place, const std::function<void(int64_t)> &f) const {
        if (const auto known = as_const_int(place)) return f(*known);
        for (const auto &[name, range] : serial) {
            if (!uses_symbol(place, name)) continue;
            for (int64_t i = 0; i < range.second; i++) {
                const Expr at = make_const(Int(32), range.first + i);
                for_each_value(algebra::simplify(substitute(name, at, place)), f);
            }
            return;
        }
        refuse(str("not all that ", brief(place), ", in an index of it, depends on is known"));
    }

    const Allocate &allocation;
    const ThreadsOfBlock &threads;
    // The number of threads in each dimension that run what is visited: the first ones.
    std::array<Expr, thread_dimensions> running{Expr(1), Expr(1), Expr(1)};

private:
    Stmt visit(const LetStmt &let) override {
        const Expr value = (*this)(let.value);
        const Stmt body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::value, &LetStmt::body>(value, body);
    }
    Expr visit(const Let &let) override {
        const Expr value = (*this)(let.value);
        const Expr body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&Let::value, &Let::body>(value, body);
    }
    Stmt visit(const For &loop) override {
        if (is_over_threads(loop)) {
            const size_t d = thread_depth(loop.body);
            const Expr thread = Variable::make(Int(32), threads.names[d]);
            const Expr extent = lets.expand(loop.extent);
            const auto most = algebra::constant_upper_bound(extent, lets.known());
            const Expr outside =
                std::exchange(running[d], most ? Expr(int32_t(*most)) : threads.shape[d]);
            is_in_loop[d] = true;
            lets.push_let(loop.name, thread + lets.expand(loop.min));
            const Stmt body = (*this)(loop.body);
            lets.pop_let(loop.name);
            running[d] = outside;
            is_in_loop[d] = false;
            return loop.with<&For::body>(body);
        }
        const auto min = as_const_int(algebra::simplify(lets.expand(loop.min))),
                   extent = as_const_int(algebra::simplify(lets.expand(loop.extent)));
        if (min && extent && *extent <= int64_t(most_elements)) serial[loop.name] = {*min, *extent};
        const Stmt body = (*this)(loop.body);
        serial.erase(loop.name);
        return loop.with<&For::body>(body);
    }
    Expr visit(const Load &load) override {
        const Expr predicate = (*this)(load.predicate);
        if (load.buffer != allocation.buffer) {
            return load.with<&Load::index, &Load::predicate>((*this)(load.index), predicate);
        }
        return load.with<&Load::index, &Load::predicate, &Load::alignment>(
            changed(load.index, access_of(load.index)), predicate, Alignment());
    }
    Stmt visit(const Store &store) override {
        const Expr value = (*this)(store.value), predicate = (*this)(store.predicate);
        if (store.buffer != allocation.buffer) {
            return store.with<&Store::index, &Store::value, &Store::predicate>((*this)(store.index),
                                                                               value, predicate);
        }
        return store.with<&Store::index, &Store::value, &Store::predicate, &Store::alignment>(
            changed(store.index, access_of(store.index)), value, predicate, Alignment());
    }
    Expr visit(const IntrinsicCall &c) override {
        const auto *of = c.op == Intrinsic::address_of ? c.args[0].as<Load>() : nullptr;
        if (of && of->buffer == allocation.buffer) refuse("its address is taken");
        return Mutator::visit(c);
    }

    // The index of the first lane, and where the others are.
    Expr first_lane(const Expr &index, std::vector<int64_t> &lanes) const {
        if (index.type().is_scalar()) {
            lanes = {0};
            return index;
        }
        const auto *ramp = index.as<Ramp>();
        const auto *same = index.as<Broadcast>();
        const auto stride = ramp ? as_const_int(ramp->stride) : std::optional<int64_t>(0);
        if ((!ramp && !same) || !stride) refuse(str("its index ", brief(index), " is no row"));
        std::vector<int64_t> inner;
        const Expr first = first_lane(ramp ? ramp->base : same->value, inner);
        const int count = ramp ? ramp->lanes : same->lanes;
        for (int i = 0; i < count; i++) {
            for (int64_t lane : inner) lanes.push_back(lane + i * *stride);
        }
        return first;
    }
    Access access_of(const Expr &index) const {
        const bool is_in_threads =
            std::ranges::any_of(is_in_loop, [](bool is_in) { return is_in; });
        if (!is_in_threads) refuse("it is accessed outside of them, too");
        Access access;
        const Expr first =
            first_lane(algebra::simplify(remove_likely(lets.expand(index))), access.lanes);
        access.owner = access.place = make_zero(first.type());
        add_terms(algebra::simplify(first), false, access);
        access.owner = algebra::simplify(access.owner);
        access.place = algebra::simplify(access.place);
        return access;
    }
    void add_terms(const Expr &e, bool minus, Access &access) const {
        if (const auto *sum = e.as<Add>()) {
            add_terms(sum->a, minus, access);
            add_terms(sum->b, minus, access);
        } else if (const auto *difference = e.as<Sub>()) {
            add_terms(difference->a, minus, access);
            add_terms(difference->b, !minus, access);
        } else {
            Expr &into = depends_on_thread(e) ? access.owner : access.place;
            into = minus ? into - e : into + e;
        }
    }
    bool depends_on_thread(const Expr &e) const {
        return std::ranges::any_of(threads.names,
                                   [&](Symbol s) { return s.defined() && uses_symbol(e, s); });
    }

    LetScope lets;
    std::array<bool, thread_dimensions> is_in_loop{};      // over threads, in each dimension
    std::map<Symbol, std::pair<int64_t, int64_t>> serial;  // loops: minimum and extent
};

// Finds which elements a thread has, and that nobody else has them.
class Ownership final : public AccessWalker {
public:
    Ownership(const Allocate &a, const ThreadsOfBlock &threads, const LetScope &lets)
        : AccessWalker(a, threads, lets) {
        (*this)(a.body);
        check_that_all_differ();
    }
    std::set<int64_t> places;
    bool are_constant = true;

private:
    Expr changed(const Expr &index, const Access &access) override {
        std::array<int64_t, thread_dimensions> count{};
        for (size_t d = 0; d < thread_dimensions; d++)
            count[d] = as_const_int(running[d]).value_or(-1);
        if (noted[access.owner].insert(count).second)
            note_owners(access, access.owner, thread_dimensions, 0);
        are_constant &= is_const(access.place);
        for_each_value(access.place, [&](int64_t place) {
            for (int64_t lane : access.lanes) places.insert(place + lane);
            if (places.size() > most_elements) refuse("a thread would have too many elements");
        });
        return index;
    }
    // Notes, for each thread that runs the access, what it adds to the places.
    void note_owners(const Access &access, const Expr &owner, size_t d, int64_t thread) {
        if (d == 0) {
            const auto known = as_const_int(owner);
            if (!known)
                refuse(
                    str("not all that ", brief(owner), ", in an index of it, depends on is known"));
            const auto [found, is_new] = owners.emplace(thread, *known);
            if (!is_new && found->second != *known) {
                refuse(str("one access is of other elements of a thread than another: ",
                           brief(access.owner + access.place)));
            }
            return;
        }
        d--;
        if (!threads.names[d].defined()) return note_owners(access, owner, d, thread);
        const auto count = as_const_int(running[d]);
        if (!count || *count > most_threads)
            refuse(str("the number of threads, ", brief(running[d]), ", is not known"));
        for (int64_t i = 0; i < *count; i++) {
            const Expr at = make_const(Int(32), i);
            note_owners(access, algebra::simplify(substitute(threads.names[d], at, owner)), d,
                        thread * (most_threads + 1) + i);
        }
    }
    void check_that_all_differ() const {
        std::unordered_map<int64_t, int64_t> owner_of_element;
        for (const auto &[thread, owner] : owners) {
            for (int64_t place : places) {
                if (!owner_of_element.emplace(owner + place, thread).second)
                    refuse("one thread accesses what is another one's");
            }
        }
    }

    std::unordered_map<int64_t, int64_t> owners;  // by the number of the thread
    // Remembers what was noted before.
    std::unordered_map<Expr, std::set<std::array<int64_t, thread_dimensions>>, ExprHash, ExprEqual>
        noted;
};

// Elements that a thread has follow upon one another where all indices are constants; else they
// have the distances that they had.
class MoveToThread final : public AccessWalker {
public:
    MoveToThread(const Allocate &a, const ThreadsOfBlock &threads, const LetScope &lets,
                 const Ownership &ownership)
        : AccessWalker(a, threads, lets), is_dense(ownership.are_constant) {
        int64_t next = 0;
        const int64_t least = ownership.places.empty() ? 0 : *ownership.places.begin();
        for (int64_t place : ownership.places) {
            slots[place] = is_dense ? next++ : place - least;
            size = slots[place] + 1;
        }
    }
    int64_t size = 1;

private:
    Expr changed(const Expr &, const Access &access) override {
        const Type type = access.place.type();
        if (!is_dense) {
            const int64_t least = slots.begin()->first;
            return with_lanes(access.place - make_const(type, least), access.lanes);
        }
        std::vector<int64_t> lanes;
        const int64_t first = as_const_int(access.place).value_or(0);  // dense: it is one
        for (int64_t lane : access.lanes) lanes.push_back(slots.at(first + lane) - slots.at(first));
        return with_lanes(make_const(type, slots.at(first)), lanes);
    }
    Expr with_lanes(const Expr &first, const std::vector<int64_t> &lanes) const {
        if (lanes.size() == 1) return first;
        const int64_t stride = lanes[1];
        for (size_t i = 0; i < lanes.size(); i++) {
            if (lanes[i] != int64_t(i) * stride) refuse("the lanes of a vector are no row of it");
        }
        const int count = int(lanes.size());
        if (stride == 0) return Broadcast::make(first, count);
        return Ramp::make(first, make_const(first.type(), stride), count);
    }

    std::map<int64_t, int64_t> slots;
    const bool is_dense;
};

}  // namespace

Stmt private_to_threads(const Allocate &a, const ThreadsOfBlock &threads, const LetScope &lets) {
    const Ownership ownership(a, threads, lets);
    MoveToThread move(a, threads, lets, ownership);
    const Stmt body = move(a.body);
    return a.with<&Allocate::extents, &Allocate::padding, &Allocate::body>(
        {Expr(int32_t(move.size))}, 0, body);
}

std::optional<Stmt> private_to_threads_if_possible(const Allocate &a, const ThreadsOfBlock &threads,
                                                   const LetScope &lets) {
    try {
        return private_to_threads(a, threads, lets);
    } catch (const CompileError &) {
        return std::nullopt;
    }
}

}  // namespace tessera::lower
