#include "lower/gpu/device_copies.h"
#include "ir/allocation.h"
#include "ir/lets.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/checks/constraints.h"
#include "lower/checks/errors.h"
#include "lower/gpu/buffer_sides.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

namespace {

// Buffers whose copies are still to be placed, within the statement that is visited.
using Open = std::vector<Symbol>;

class DeviceCopies {
public:
    DeviceCopies(const LoweredFunction &pipeline, const Context &context)
        : pipeline(pipeline), context(context), sides(pipeline) {}

    Stmt body() {
        Open arguments;
        for (const Argument &a : pipeline.args) {
            if (a.is_buffer()) arguments.push_back(a.name);
        }
        return below_checks(pipeline.body, arguments);
    }

private:
    // Nothing is copied before the pipeline's checks of its arguments, nor for a bounds query.
    Stmt below_checks(const Stmt &s, const Open &open) {
        if (const auto *let = s.as<LetStmt>(); let && (has_query(s) || sides.own(s).empty())) {
            note_part(*let);
            return let->with<&LetStmt::body>(below_checks(let->body, open));
        }
        if (const auto *block = s.as<Block>()) return below_checks(*block, open);
        const auto *branch = s.as<IfThenElse>();
        if (branch && branch->else_case.defined() && has_query(branch->then_case))
            return branch->with<&IfThenElse::else_case>(below_checks(branch->else_case, open));
        return place(s, open);
    }
    Stmt below_checks(const Block &block, const Open &open) {
        const bool is_around_query = has_query(Stmt(&block));
        std::vector<Stmt> all, rest;
        for (const Stmt &each : block.stmts) {
            if (is_around_query) {
                all.push_back(has_query(each) ? below_checks(each, open) : each);
                continue;
            }
            const bool is_check = rest.empty() && each.as<AssertStmt>();
            (is_check ? all : rest).push_back(each);
        }
        if (rest.size() == 1) all.push_back(below_checks(rest[0], open));
        if (rest.size() > 1) all.push_back(place(Block::make(std::move(rest)), open));
        return Block::make(std::move(all));
    }
    // Returns true if the answer to a bounds query is in it.
    bool has_query(const Stmt &s) {
        const auto [found, is_new] = with_query.try_emplace(s.get(), false);
        if (!is_new) return found->second;
        bool any = false;
        if (const auto *e = s.as<Evaluate>()) {
            const auto *c = e->value.as<IntrinsicCall>();
            any = c && c->op == Intrinsic::set_buffer_field;
        }
        for (const Stmt &inner : statements_within(s)) any |= has_query(inner);
        return with_query[s.get()] = any;
    }

    // ---- Where copies stand ----

    Stmt place(const Stmt &s, const Open &open) {
        std::vector<Stmt> before, after;
        Open within;
        const BufferSides::PerBuffer own = sides.own(s);
        for (Symbol b : open) {
            const Sides uses = sides.of(s, b);
            if (uses.changes_sides() && !is_kernel(s) && !is_told(s)) {
                within.push_back(b);
                const auto found = own.find(b);
                if (found != own.end() && found->second.host_reads) before.push_back(to_host(b));
            } else {
                surround(b, uses, before, after);
            }
        }
        before.push_back(place_within(s, within));
        before.insert(before.end(), after.begin(), after.end());
        return Block::make(std::move(before));
    }

    // A statement that uses it on one side, or changes nothing.
    void surround(Symbol b, const Sides &uses, std::vector<Stmt> &before,
                  std::vector<Stmt> &after) {
        if (uses.on_host()) before.push_back(to_host(b));
        if (uses.on_device()) before.push_back(to_device(b));
        if (uses.frees) return;
        if (uses.host_writes) after.push_back(mark(b, Intrinsic::mark_host_dirty));
        if (uses.device_writes) after.push_back(mark(b, Intrinsic::mark_device_dirty));
    }

    Stmt place_within(const Stmt &s, const Open &open) {
        if (is_kernel(s)) return s;
        switch (s.kind()) {
        case NodeKind::Block: return in_block(*s.as<Block>(), open);
        case NodeKind::LetStmt: return below_let(*s.as<LetStmt>(), open);
        case NodeKind::Allocate: return allocated(*s.as<Allocate>(), open);
        case NodeKind::Evaluate: return evaluated(*s.as<Evaluate>());
        case NodeKind::For: {
            const auto &loop = *s.as<For>();
            if (traits_of(loop.loop_kind).is_on_threads) refuse_at_the_same_time(open);
            return loop.with<&For::body>(place(loop.body, open));
        }
        case NodeKind::Fork: return in_tasks(*s.as<Fork>(), open);
        case NodeKind::IfThenElse: {
            const auto &branch = *s.as<IfThenElse>();
            Stmt otherwise;
            if (branch.else_case.defined()) otherwise = place(branch.else_case, open);
            return IfThenElse::make(branch.condition, place(branch.then_case, open), otherwise);
        }
        case NodeKind::Acquire: {
            const auto &acquire = *s.as<Acquire>();
            return acquire.with<&Acquire::body>(place(acquire.body, open));
        }
        case NodeKind::Atomic: {
            const auto &atomic = *s.as<Atomic>();
            return atomic.with<&Atomic::body>(place(atomic.body, open));
        }
        case NodeKind::ProducerConsumer: {
            const auto &node = *s.as<ProducerConsumer>();
            return node.with<&ProducerConsumer::body>(place(node.body, open));
        }
        default: return s;
        }
    }

    // Statements in a row that use a buffer on one side are taken together.
    Stmt in_block(const Block &block, const Open &open) {
        const size_t count = block.stmts.size();
        std::vector<std::vector<Stmt>> before(count), after(count);
        std::vector<Open> within(count);
        for (Symbol b : open) {
            for (size_t i = 0; i < count;) {
                const size_t first = i;
                const Sides uses = sides.of(block.stmts[i++], b);
                if (!uses.any()) continue;
                if ((uses.on_host() && uses.on_device()) || uses.changes_sides()) {
                    within[first].push_back(b);
                    continue;
                }
                Sides run = uses;
                size_t last = first;
                for (; i < count; i++) {
                    const Sides next = sides.of(block.stmts[i], b);
                    if (uses.on_host() ? next.on_device() : next.on_host()) break;
                    if (next.told && run.writes()) break;
                    if (next.any()) last = i;
                    run.add(next);
                }
                surround(b, run, before[first], after[last]);
            }
        }
        std::vector<Stmt> all;
        for (size_t i = 0; i < count; i++) {
            all.insert(all.end(), before[i].begin(), before[i].end());
            all.push_back(place(block.stmts[i], within[i]));
            all.insert(all.end(), after[i].begin(), after[i].end());
        }
        return Block::make(std::move(all));
    }

    // A buffer changes sides within the only task that uses it.
    Stmt in_tasks(const Fork &fork, const Open &open) {
        std::vector<Open> own(fork.stmts.size());
        Open shared;
        for (Symbol b : open) {
            std::vector<size_t> users;
            for (size_t i = 0; i < own.size(); i++) {
                if (sides.of(fork.stmts[i], b).any()) users.push_back(i);
            }
            (users.size() == 1 ? own[users[0]] : shared).push_back(b);
        }
        refuse_at_the_same_time(shared);
        std::vector<Stmt> tasks;
        for (size_t i = 0; i < own.size(); i++) tasks.push_back(place(fork.stmts[i], own[i]));
        return Fork::make(std::move(tasks));
    }

    // Keeps the part of the let that is met last: copies of a statement bind the same symbols.
    void note_part(const LetStmt &let) {
        const auto *made = let.value.as<IntrinsicCall>();
        const bool is_part =
            made && made->op == Intrinsic::make_buffer && made->args[0].as<IntrinsicCall>();
        if (is_part) parts[let.name] = &address_taken(made->args[0]);
    }

    // Buffers that the value's calls write are marked before anybody can use them.
    Stmt below_let(const LetStmt &let, const Open &open) {
        note_part(let);
        std::vector<Stmt> body;
        const BufferSides::PerBuffer own = sides.own(Stmt(&let));
        for (Symbol b : open) {
            const auto found = own.find(b);
            if (found == own.end() || !found->second.host_writes) continue;
            body.push_back(mark(b, Intrinsic::mark_host_dirty));
        }
        body.push_back(place(let.body, open));
        return with_parts_shared(let.with<&LetStmt::body>(Block::make(std::move(body))));
    }

    // While a call runs that uses parts of buffers on either side, they have memory on the device
    // where the whole has.
    Stmt with_parts_shared(const Stmt &s) {
        if (!is_told(s)) return s;
        const IntrinsicCall *c = intrinsic_behind_lets(s.as<LetStmt>()->value);
        const bool is_copy = c->op == Intrinsic::device_buffer_copy;
        Stmt all = s;
        for (const Expr &arg : is_copy ? c->args : c->args[0].as<ExternCall>()->args) {
            const auto *handle = arg.as<Variable>();
            const auto part = handle ? parts.find(handle->name) : parts.end();
            if (part == parts.end()) continue;
            const Load &first = *part->second;
            if (!find_argument(pipeline.args, first.buffer) && !allocations.contains(first.buffer))
                continue;
            const Expr whole = Variable::make(Handle(), first.buffer);
            all = checked(
                call(Int(32), Intrinsic::device_part, {whole, cast(Int(64), first.index), arg}),
                all);
        }
        return all;
    }

    Stmt allocated(const Allocate &a, Open open) {
        if (!sides.used_on_device().contains(a.buffer))
            return a.with<&Allocate::body>(place(a.body, open));
        const bool is_on_host = sides.of(a.body, a.buffer).on_host();
        allocations[a.buffer] = {&a, is_on_host};
        open.push_back(a.buffer);
        const Stmt body = LetStmt::make(a.buffer, device_buffer(a), place(a.body, open));
        if (is_on_host) return a.with<&Allocate::body>(body);
        return a.with<&Allocate::condition, &Allocate::body>(make_zero(Bool()), body);
    }

    // A buffer that is freed early is freed on both sides.
    Stmt evaluated(const Evaluate &node) {
        const auto *c = node.value.as<IntrinsicCall>();
        if (!c || c->op != Intrinsic::free) return Stmt(&node);
        const auto found = allocations.find(address_taken(c->args[0]).buffer);
        if (found == allocations.end()) return Stmt(&node);
        const Stmt there = Evaluate::make(on(found->first, Intrinsic::device_free));
        return found->second.is_on_host ? Block::make(there, Stmt(&node)) : there;
    }

    void refuse_at_the_same_time(const Open &open) const {
        for (Symbol b : open) {
            const auto found = allocations.find(b);
            const Location at =
                found == allocations.end() ? Location() : found->second.node->facts.compute_written;
            throw CompileError(at, str(b, " is used by the CPU and by a GPU in iterations of a "
                                          "parallel loop, or in tasks, that run at the same time; "
                                          "compute it within the loop, or make the loop serial"));
        }
    }

    // ---- Copies ----

    Expr on(Symbol b, Intrinsic op) const {
        return call(Int(32), op, {Variable::make(Handle(), b)});
    }
    Stmt mark(Symbol b, Intrinsic op) const { return Evaluate::make(on(b, op)); }

    static Stmt checked(const Expr &operation, const Stmt &then = {}) {
        const Symbol code = Symbol::fresh("error_code");
        const Expr result = Variable::make(Int(32), code);
        const Stmt check = AssertStmt::make(result == 0, result);
        return LetStmt::make(code, operation, then.defined() ? Block::make(check, then) : check);
    }

    Stmt to_host(Symbol b) const {
        Stmt copy = checked(on(b, Intrinsic::copy_to_host));
        const bool is_argument = find_argument(pipeline.args, b) != nullptr;
        if (!is_argument || context.target.has_feature(Target::NoAsserts)) return copy;
        const Expr host = BufferProperty::make(b, BufferField::Host, 0);
        return Block::make(
            AssertStmt::make(!is_null(host), error_call("host_is_null", {Expr(b.text())})), copy);
    }

    // An input that is not on the device is new there, whatever its flags say.
    Stmt to_device(Symbol b) const {
        Stmt copy = checked(on(b, Intrinsic::copy_to_device));
        const Argument *a = find_argument(pipeline.args, b);
        if (!a || !a->is_input()) return copy;
        const Expr device = BufferProperty::make(b, BufferField::Device, 0);
        return Block::make(
            IfThenElse::make(device == make_zero(UInt(64)), mark(b, Intrinsic::mark_host_dirty)),
            copy);
    }

    Expr device_buffer(const Allocate &a) const {
        std::vector<Expr> extents = a.extents;
        if (a.padding > 0) {
            Expr all = 1;
            for (const Expr &e : a.extents) all = all * max(cast(Int(32), e), 0);
            extents = {all + a.padding};
        }
        const Expr first = Load::make(a.type, a.buffer, make_zero(context.index_type()));
        std::vector<Expr> args = {call(Handle(), Intrinsic::address_of, {first}),
                                  int(a.type.code()), a.type.bits(), int(extents.size())};
        Expr stride = 1;
        for (const Expr &e : extents) {
            const Expr extent = max(cast(Int(32), e), 0);
            args.insert(args.end(), {Expr(0), extent, stride});
            stride = stride * extent;
        }
        return call(Handle(), Intrinsic::device_buffer, std::move(args));
    }

    const LoweredFunction &pipeline;
    const Context &context;
    BufferSides sides;
    std::unordered_map<const StmtNode *, bool> with_query;
    std::unordered_map<Symbol, const Load *> parts;  // of each buffer of a part, the first element
    struct Allocation {
        const Allocate *node;
        bool is_on_host;
    };
    std::unordered_map<Symbol, Allocation> allocations;  // that are on the device, too
};

}  // namespace

Stmt place_device_copies(const LoweredFunction &pipeline, const Context &context) {
    if (!context.target.has_gpu_feature()) return pipeline.body;
    return DeviceCopies(pipeline, context).body();
}

}  // namespace tessera::lower
