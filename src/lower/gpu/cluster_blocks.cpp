#include "lower/gpu/cluster_blocks.h"
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/barrier_placer.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/let_scope.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_name.h"
#include <algorithm>
#include <map>
#include <set>

namespace tessera::lower {

using namespace ir;
using algebra::simplify;

namespace {

constexpr int64_t most_blocks = 8;  // that every device runs at once

bool is_block(const For &loop) { return loop.loop_kind == LoopKind::GPUBlock; }

// One lane of a vector of indices, or of conditions.
Expr lane_of(const Expr &e, int lane) {
    if (e.type().is_scalar()) return e;
    if (const auto *same = e.as<Broadcast>())
        return lane_of(same->value, lane % same->value.type().lanes());
    if (const auto *ramp = e.as<Ramp>()) {
        const int inner = ramp->base.type().lanes();
        const Expr stride = lane_of(ramp->stride, lane % inner);
        return lane_of(ramp->base, lane % inner) + stride * make_const(stride.type(), lane / inner);
    }
    return Shuffle::make({e}, {lane});
}

// Loops over blocks directly within one another, outermost first, and how many iterations each has
// at most.
struct BlockNest {
    struct Loop {
        const For *node;
        int64_t most;
    };
    std::vector<Loop> loops;

    int64_t blocks() const { return blocks_within(loops.size()); }
    // Returns the number of blocks that the first `depth` loops make.
    int64_t blocks_within(size_t depth) const {
        int64_t all = 1;
        for (size_t i = 0; i < depth; i++) all *= loops[i].most;
        return all;
    }
    // The iteration of a loop that a block runs.
    Expr iteration(const For &loop, const Expr &block) const {
        size_t i = 0;
        while (loops[i].node != &loop) i++;
        const int64_t inner = blocks() / blocks_within(i + 1);
        Expr at = inner == 1 ? block : block / int32_t(inner);
        return i == 0 ? at : at % int32_t(loops[i].most);
    }
};

class FindNest final : public Visitor {
public:
    FindNest(const For &outermost, const LetScope &lets) : lets(lets) {
        (*this)(Stmt(&outermost));
        if (nest.blocks() <= most_blocks) return;
        throw CompileError(outermost.origin.kind_written,
                           str("gpu_blocks: the loops over blocks of a cluster, of which the ",
                               loop_name(outermost), " is the outermost, have ", nest.blocks(),
                               " blocks, and a cluster has ", most_blocks,
                               " at most; split the loop, and make the outer one one over "
                               "clusters"));
    }
    BlockNest nest;

private:
    void visit(const For &loop) override {
        if (!is_block(loop)) return;
        const auto most = algebra::constant_upper_bound(lets.expand(loop.extent), lets.known());
        if (!most) {
            throw CompileError(
                loop.origin.kind_written,
                str("gpu_blocks: the ", loop_name(loop),
                    " is over the blocks of a cluster, whose number has to be known when the "
                    "pipeline is compiled; split the loop by a constant, and make the outer one "
                    "one over clusters, or say how long it is (bound, bound_extent)"));
        }
        nest.loops.push_back({&loop, std::max<int64_t>(*most, 1)});
        lets.within(loop, [&] { (*this)(loop.body); });
    }
    void visit(const LetStmt &let) override {
        lets.within(let, [&] { (*this)(let.body); });
    }
    LetScope lets;
};

// The elements of a buffer from the first to the last one.
struct ElementRange {
    int64_t first, last;
    void add(const ElementRange &more) {
        first = std::min(first, more.first);
        last = std::max(last, more.last);
    }
};

// Storage at the level of a cluster.
struct ClusterStorage {
    const Allocate *node;
    std::map<int64_t, ElementRange> written;  // by each block
    bool is_known = true;                     // what blocks write
    int64_t piece = 0;                        // the elements that each block has
};

// Finds what a cluster accesses of such storage.
class FindAccesses final : public Visitor {
public:
    FindAccesses(const Stmt &body, const LetScope &lets) : Visitor(Visits::PerUse), lets(lets) {
        (*this)(body);
        for (auto &[buffer, storage] : all) storage.piece = piece_of(storage);
        for (const auto &[load, reads] : loads) {
            const int64_t piece = all.at(load->buffer).piece;
            bool own = true;
            for (const Read &r : reads)
                own &= r.reach && r.reach->first >= r.block * piece &&
                       r.reach->last < (r.block + 1) * piece;
            if (own) own_loads.insert(load);
            if (!own && addresses.contains(load))
                refuse(all.at(load->buffer), "and its address is taken, which one block alone has; "
                                             "compute it at a loop over blocks");
        }
    }
    int64_t blocks = 1;  // of a cluster
    std::map<Symbol, ClusterStorage> all;
    std::set<const Load *> own_loads;  // of what the block has itself

private:
    struct Read {
        int64_t block;
        std::optional<ElementRange> reach;
    };

    void visit(const For &loop) override {
        const bool enters = is_block(loop) && !nest;
        if (enters) return each_block(loop);
        (*this)(loop.min);
        (*this)(loop.extent);
        if (is_block(loop)) {
            lets.push_let(loop.name, loop.min + nest->iteration(loop, int32_t(block)));
            (*this)(loop.body);
            lets.pop_let(loop.name);
            return;
        }
        lets.within(loop, [&] { (*this)(loop.body); });
    }
    void each_block(const For &loop) {
        const BlockNest found = FindNest(loop, lets).nest;
        blocks = std::max(blocks, found.blocks());
        if (all.empty()) return;
        nest = &found;
        for (block = 0; block < found.blocks(); block++) (*this)(Stmt(&loop));
        nest = nullptr;
        block = -1;
    }
    void visit(const LetStmt &let) override {
        (*this)(let.value);
        lets.within(let, [&] { (*this)(let.body); });
    }
    void visit(const Let &let) override {
        (*this)(let.value);
        lets.within(let, [&] { (*this)(let.body); });
    }
    void visit(const IfThenElse &branch) override {
        (*this)(branch.condition);
        conditions.push_back(remove_likely(branch.condition));
        (*this)(branch.then_case);
        conditions.pop_back();
        (*this)(branch.else_case);
    }
    void visit(const Allocate &a) override {
        if (!nest) all[a.buffer] = {&a, {}};
        Visitor::visit(a);
    }
    void visit(const Load &load) override {
        Visitor::visit(load);
        if (!all.contains(load.buffer)) return;
        loads[&load].push_back({block, reach_of(load.index)});
    }
    void visit(const Store &store) override {
        Visitor::visit(store);
        const auto found = all.find(store.buffer);
        if (found == all.end()) return;
        const auto reach = reach_of(store.index);
        found->second.is_known &= reach.has_value();
        if (!reach) return;
        const auto [of_block, is_new] = found->second.written.try_emplace(block, *reach);
        if (!is_new) of_block->second.add(*reach);
    }
    void visit(const IntrinsicCall &c) override {
        const auto *of = c.op == Intrinsic::address_of ? c.args[0].as<Load>() : nullptr;
        if (of && all.contains(of->buffer)) addresses.insert(of);
        Visitor::visit(c);
    }

    std::optional<ElementRange> reach_of(const Expr &index) const {
        std::optional<ElementRange> all_lanes;
        for (int i = 0; i < index.type().lanes(); i++) {
            const Expr e = simplify(lets.expand(remove_likely(lane_of(index, i))));
            const auto first = algebra::constant_lower_bound(e, lets.known()), last = last_of(e);
            if (!first || !last) return {};
            const ElementRange reach{*first, *last};
            if (all_lanes)
                all_lanes->add(reach);
            else
                all_lanes = reach;
        }
        return all_lanes;
    }

    // Tails of splits end by conditions.
    std::optional<int64_t> last_of(const Expr &e) const {
        auto least = algebra::constant_upper_bound(e, lets.known());
        for (const Expr &condition : conditions) {
            if (!condition.type().is_scalar() || !is_pure(condition)) continue;
            algebra::Facts known = lets.known();
            known.holds(lets.expand(condition));
            const auto bound = algebra::constant_upper_bound(e, known);
            if (bound && (!least || *bound < *least)) least = bound;
        }
        return least;
    }

    // Returns the number of elements that each block has, so that it has all that it writes.
    static int64_t piece_of(const ClusterStorage &s) {
        int64_t least = 1, most = INT64_MAX;
        if (!s.is_known)
            refuse(s, "and which of its elements each block writes is not known when the pipeline "
                      "is compiled; give the loops within constant extents, with bound_extent or "
                      "by splits");
        for (const auto &[block, reach] : s.written) {
            least = std::max(least, reach.last / (block + 1) + 1);
            if (block > 0) most = std::min(most, reach.first / block);
        }
        if (least <= most) return least;
        std::string text = "and its blocks write";
        for (const auto &[block, reach] : s.written)
            text += str(block ? ", " : " ", reach.first, " to ", reach.last);
        refuse(s, text + " of the elements as they lie in memory: no pieces of one size, one after "
                         "the other. Let the blocks go over the last dimension in memory "
                         "(reorder_storage), each over as many neighbours, with "
                         "TailStrategy::GuardWithIf or RoundUp");
    }
    [[noreturn]] static void refuse(const ClusterStorage &s, const std::string &why) {
        throw CompileError(s.node->facts.compute_written,
                           str(s.node->buffer,
                               " is computed at a loop over clusters, where each block has what it "
                               "writes, ",
                               why));
    }

    LetScope lets;
    std::vector<Expr> conditions;  // of what is visited
    const BlockNest *nest = nullptr;
    int64_t block = -1;  // that is tried; -1: what stands outside of loops over blocks
    std::map<const Load *, std::vector<Read>> loads;
    std::set<const Load *> addresses;  // those of which the place alone is asked
};

// Rewrites what the blocks of one cluster do, as one loop over them.
class ClusterBody {
public:
    ClusterBody(const Stmt &body, const LetScope &lets)
        : accesses(body, lets), lets(lets), rank(Symbol::fresh("rank")) {}

    Stmt operator()(const Stmt &body) {
        const Stmt s = at_cluster(body);
        LoopOrigin with_roles;
        for_each_node(body, [&](const For &loop) {
            if (is_block(loop) && loop.origin.roles.any()) with_roles = loop.origin;
        });
        return For::make(rank, 0, int32_t(accesses.blocks), LoopKind::GPUBlock, Partition::Never, s,
                         with_roles);
    }

private:
    Expr block() const { return Variable::make(Int(32), rank); }
    const ClusterStorage *storage(Symbol buffer) const {
        const auto found = accesses.all.find(buffer);
        return found == accesses.all.end() ? nullptr : &found->second;
    }

    // ---- What stands outside of loops over blocks ----

    Stmt at_cluster(const Stmt &s) {
        switch (s.kind()) {
        case NodeKind::Block: {
            std::vector<Stmt> all;
            for (const Stmt &one : s.as<Block>()->stmts) all.push_back(at_cluster(one));
            return Block::make(std::move(all));
        }
        case NodeKind::LetStmt: {
            const auto &let = *s.as<LetStmt>();
            const Stmt before = barriers.before(accesses_of(let.value).of_all());
            const Stmt body = lets.within(let, [&] { return at_cluster(let.body); });
            return Block::make(
                {before, let.with<&LetStmt::value, &LetStmt::body>(rewritten(let.value), body)});
        }
        case NodeKind::IfThenElse: return branch(*s.as<IfThenElse>());
        case NodeKind::ProducerConsumer: {
            const auto &node = *s.as<ProducerConsumer>();
            return node.with<&ProducerConsumer::body>(at_cluster(node.body));
        }
        case NodeKind::Allocate: return allocated(*s.as<Allocate>());
        case NodeKind::For:
            if (is_block(*s.as<For>())) return over_blocks(*s.as<For>());
            return repeated(*s.as<For>());
        default: break;
        }
        const Stmt before = barriers.before(accesses_of(s).of_all());
        return Block::make({before, rewritten(s)});
    }
    // All blocks of a cluster run it.
    Stmt repeated(const For &loop) {
        const Stmt before = barriers.before(accesses_of(loop.min + loop.extent).of_all());
        const BarrierPlacer::Loop placed = barriers.repeated(
            [&] { return lets.within(loop, [&] { return at_cluster(loop.body); }); });
        return Block::make({before, placed.before,
                            loop.with<&For::min, &For::extent, &For::body>(
                                rewritten(loop.min), rewritten(loop.extent), placed.body)});
    }
    // All blocks of a cluster go the same way.
    Stmt branch(const IfThenElse &branch) {
        const Stmt before = barriers.before(accesses_of(branch.condition).of_all());
        BarrierPlacer::Statement otherwise;
        if (branch.else_case.defined()) otherwise = [&] { return at_cluster(branch.else_case); };
        const auto made = barriers.either([&] { return at_cluster(branch.then_case); }, otherwise);
        return Block::make({before, IfThenElse::make(rewritten(branch.condition), made.then_case,
                                                     made.else_case)});
    }
    // Nobody may read it any more when a block gives it up, as if it wrote there.
    Stmt allocated(const Allocate &a) {
        Stmt body = at_cluster(a.body);
        const Accesses given_up{{a.buffer}, {}};
        body = Block::make({body, barriers.before(given_up.of_all())});
        barriers.forget(a.buffer);
        return a.with<&Allocate::memory, &Allocate::extents, &Allocate::body>(
            MemoryType::GPUShared, {Expr(int32_t(storage(a.buffer)->piece))}, body);
    }
    Stmt over_blocks(const For &outermost) {
        const Accesses own = accesses_of(Stmt(&outermost));
        for (Symbol b : own.written) {
            if (own.read.contains(b)) refuse_exchange(outermost, b);
        }
        const BlockNest nest = FindNest(outermost, lets).nest;
        const Stmt before = barriers.before(own.of_all());
        Stmt s = Leaf(*this, &nest)(Stmt(&outermost));
        if (nest.blocks() < accesses.blocks)
            s = IfThenElse::make(block() < int32_t(nest.blocks()), s);
        return Block::make({before, s});
    }
    [[noreturn]] static void refuse_exchange(const For &loop, Symbol buffer) {
        throw CompileError(loop.origin.kind_written,
                           str("gpu_blocks: in the ", loop_name(loop),
                               ", over the blocks of a cluster, blocks "
                               "write ",
                               buffer,
                               " and read what other ones may write there: they meet only "
                               "between two stages"));
    }

    // ---- What one block does ----

    class Leaf final : public Mutator {
    public:
        Leaf(const ClusterBody &cluster, const BlockNest *nest)
            : Mutator(Visits::PerUse), cluster(cluster), nest(nest) {}

    private:
        Stmt visit(const For &loop) override {
            if (!is_block(loop)) return Mutator::visit(loop);
            const Expr iteration = nest->iteration(loop, cluster.block());
            Stmt s = LetStmt::make(loop.name, simplify((*this)(loop.min) + iteration),
                                   (*this)(loop.body));
            const auto known = as_const_int(loop.extent);
            if (known && *known >= 1) return s;
            return IfThenElse::make(iteration < (*this)(loop.extent), s);
        }
        Stmt visit(const Store &store) override {
            const Expr value = (*this)(store.value), predicate = (*this)(store.predicate),
                       index = (*this)(store.index);
            const ClusterStorage *s = cluster.storage(store.buffer);
            if (!s) {
                return store.with<&Store::value, &Store::index, &Store::predicate>(value, index,
                                                                                   predicate);
            }
            return store.with<&Store::value, &Store::index, &Store::predicate, &Store::alignment>(
                value, cluster.own(*s, index), predicate, Alignment());
        }
        Expr visit(const Load &load) override {
            const Expr predicate = (*this)(load.predicate), index = (*this)(load.index);
            const ClusterStorage *s = cluster.storage(load.buffer);
            if (!s) return load.with<&Load::index, &Load::predicate>(index, predicate);
            if (cluster.accesses.own_loads.contains(&load)) {
                return load.with<&Load::index, &Load::predicate, &Load::alignment>(
                    cluster.own(*s, index), predicate, Alignment());
            }
            std::vector<Expr> lanes;
            for (int i = 0; i < load.type.lanes(); i++) {
                Expr one = cluster.of_other(*s, lane_of(index, i));
                if (predicate.defined() && !is_one(predicate)) {
                    one = call(one.type(), Intrinsic::if_then_else,
                               {lane_of(predicate, i), one, make_zero(one.type())});
                }
                lanes.push_back(one);
            }
            if (lanes.size() == 1) return lanes[0];
            std::vector<int> order;
            for (size_t i = 0; i < lanes.size(); i++) order.push_back(int(i));
            return Shuffle::make(std::move(lanes), std::move(order));
        }
        const ClusterBody &cluster;
        const BlockNest *nest;
    };

    template<typename T> T rewritten(const T &node) const { return Leaf(*this, nullptr)(node); }

    // Returns the index of an element in the block's own piece.
    Expr own(const ClusterStorage &s, const Expr &index) const {
        const Type t = index.type();
        Expr first = cast(t.element_of(), block()) * make_const(t.element_of(), s.piece);
        if (!t.is_scalar()) first = Broadcast::make(first, t.lanes());
        return simplify(index - first);
    }
    Expr of_other(const ClusterStorage &s, const Expr &index) const {
        const Expr piece = make_const(index.type(), s.piece);
        Expr owner = simplify(cast(Int(32), index / piece));
        // Elements that may be read beyond the last one are in the last block.
        if (s.node->padding > 0) owner = min(owner, int32_t(accesses.blocks - 1));
        const Type t = s.node->type;
        const Expr place = call(Handle(), Intrinsic::address_of,
                                {Load::make(t, s.node->buffer, simplify(index % piece))});
        return call(t, Intrinsic::cluster_load, {place, owner});
    }

    // ---- Barriers ----

    static Stmt barrier() {
        return Evaluate::make(call(Int(32), Intrinsic::gpu_cluster_barrier, {}));
    }
    // Holds what blocks write of their own, and what of others they may read.
    struct Accesses {
        std::set<Symbol> written, read;

        // No two blocks write one element.
        BlockAccesses of_all() const {
            BlockAccesses all;
            for (Symbol b : read) all.add_read(b);
            for (Symbol b : written) all.add_write_of_own(b);
            return all;
        }
    };
    template<typename T> Accesses accesses_of(const T &node) const {
        Accesses found;
        for_each_node(node, [&](const Load &load) {
            if (storage(load.buffer) && !accesses.own_loads.contains(&load))
                found.read.insert(load.buffer);
        });
        for_each_node(node, [&](const Store &store) {
            if (storage(store.buffer)) found.written.insert(store.buffer);
        });
        return found;
    }

    FindAccesses accesses;
    LetScope lets;
    const Symbol rank;
    BarrierPlacer barriers{barrier};
};

class ClusterBlocks final : public Mutator {
public:
    ClusterBlocks() : Mutator(Visits::PerUse) {}

private:
    Stmt visit(const For &loop) override {
        bool is_cluster = loop.loop_kind == LoopKind::GPUCluster;
        for_each_node(loop.body,
                      [&](const For &f) { is_cluster &= f.loop_kind != LoopKind::GPUCluster; });
        const Stmt body = lets.within(loop, [&] {
            return is_cluster ? ClusterBody(loop.body, lets)(loop.body) : (*this)(loop.body);
        });
        return loop.with<&For::body>(body);
    }
    Stmt visit(const LetStmt &let) override {
        const Stmt body = lets.within(let, [&] { return (*this)(let.body); });
        return let.with<&LetStmt::body>(body);
    }
    LetScope lets;
};

}  // namespace

Stmt cluster_blocks(const Stmt &s, const lower::Context &) {
    bool any = false;
    for_each_node(s, [&](const For &loop) { any |= loop.loop_kind == LoopKind::GPUCluster; });
    return any ? ClusterBlocks()(s) : s;
}

}  // namespace tessera::lower
