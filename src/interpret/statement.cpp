#include "interpret/statement.h"
#include "base/large_stack.h"
#include "interpret/statement_run.h"
#include "ir/operators.h"
#include "ir/tile_copy.h"
#include "ir/visitor.h"
#include "lower/finish/runtime_calls.h"
#include "lower/gpu/kernel_loops.h"

namespace tessera::interpret {

using namespace ir;
using Expressions = std::vector<Expr>;

namespace {

// Limits one allocation: beyond this, the bytes that remember what was written fill the memory.
constexpr int64_t most_elements = int64_t(1) << 32;

// A value that decides something must not come from memory that nobody wrote.
void require_defined(const Value &v, const char *what) {
    if (v.any_poison()) {
        throw RuntimeError(str(what, " depends on memory that was never written"));
    }
}

void check_alignment(Symbol buffer, const Value &index, Alignment a) {
    if (a.modulus <= 1 || index.poison[0]) return;
    int64_t remainder = ((index.as_int() % a.modulus) + a.modulus) % a.modulus;
    if (remainder != a.remainder) {
        throw RuntimeError(str("an access of ", buffer, " at ", index.as_int(),
                               " is said to be at ", a.remainder, " modulo ", a.modulus));
    }
}

// Sets a symbol's entry for a scope.
template<typename Map, typename T>
class Bind {
public:
    Bind(Map &map, Symbol name, T value) : map(map), name(name) {
        auto [place, is_new] = map.try_emplace(name);
        if (!is_new) outer = std::move(place->second);
        was_bound = !is_new;
        place->second = std::move(value);
    }
    Bind(const Bind &) = delete;
    ~Bind() {
        if (was_bound) {
            map[name] = std::move(outer);
        } else {
            map.erase(name);
        }
    }

private:
    Map &map;
    Symbol name;
    T outer = {};
    bool was_bound = false;
};

}  // namespace

void FuncStorage::add_dimension(int64_t m, int64_t e, int64_t s) {
    min.push_back(m);
    extent.push_back(e);
    stride.push_back(s);
}

void StatementRun::run(const Stmt &s) {
    switch (s.kind()) {
    case NodeKind::LetStmt: return run_let(*s.as<LetStmt>());
    case NodeKind::AssertStmt: return run_assert(*s.as<AssertStmt>());
    case NodeKind::ProducerConsumer: return run(s.as<ProducerConsumer>()->body);
    case NodeKind::For: return run_for(*s.as<For>());
    case NodeKind::Acquire: return run_acquire(*s.as<Acquire>());
    case NodeKind::Store: return run_store(*s.as<Store>());
    case NodeKind::Provide: return run_provide(*s.as<Provide>());
    case NodeKind::Allocate: return run_allocate(*s.as<Allocate>());
    case NodeKind::Realize: return run_realize(*s.as<Realize>());
    case NodeKind::HoistedStorage: return run(s.as<HoistedStorage>()->body);
    case NodeKind::Block:
        for (const Stmt &each : s.as<Block>()->stmts) run(each);
        return;
    case NodeKind::Fork: return run_fork(*s.as<Fork>());
    case NodeKind::Invoke: return run_invoke(*s.as<Invoke>());
    case NodeKind::IfThenElse: return run_if(*s.as<IfThenElse>());
    case NodeKind::Evaluate:
        run_tape(*s.get(), [&] { return Expressions{s.as<Evaluate>()->value}; });
        return;
    case NodeKind::MachineOp: return run_machine_op(*s.as<MachineOp>());
    case NodeKind::Prefetch: return run(s.as<Prefetch>()->body);
    case NodeKind::Atomic: {
        bool outer = std::exchange(frame.atomic, true);
        run(s.as<Atomic>()->body);
        frame.atomic = outer;
        return;
    }
    default: throw InternalError("not a statement");
    }
}

void StatementRun::run_let(const LetStmt &first) {
    const LetStmt *let = &first;
    std::deque<Bind<decltype(frame.variables), Value>> bound;
    while (true) {
        Value value = run_tape(*let, [&] { return Expressions{let->value}; }).result();
        bound.emplace_back(frame.variables, let->name, std::move(value));
        auto [end, is_new] = shared.ends.try_emplace(let);
        if (is_new) {
            Expr last = lower::end_of_scope(*let);
            if (last.defined()) end->second = Evaluate::make(last);
        }
        if (end->second.defined()) return run_until_end(*let, end->second);
        const auto *next = let->body.as<LetStmt>();
        if (!next) return run(let->body);
        let = next;
    }
}

void StatementRun::run_until_end(const LetStmt &let, const Stmt &end) {
    try {
        run(let.body);
    } catch (...) {
        run(end);
        throw;
    }
    run(end);
}

void StatementRun::run_assert(const AssertStmt &s) {
    Tape &tape = run_tape(s, [&] {
        Expr code = IntrinsicCall::make(Int(32), Intrinsic::if_then_else,
                                        {s.condition, IntImm::make(Int(32), 0), s.message});
        return Expressions{s.condition, code};
    });
    require_defined(tape.result(0), "an assertion");
    if (!tape.result(0).as_bool()) throw PipelineFailed{int(tape.result(1).as_int())};
}

namespace {

bool has(Intrinsic op, const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const IntrinsicCall &c) { any |= c.op == op; });
    return any;
}
bool has_rows(const Stmt &s) {
    return has(Intrinsic::gpu_warp_barrier, s) || has(Intrinsic::shuffle_lanes, s);
}
bool meets_in_cluster(const Stmt &s) {
    return has(Intrinsic::gpu_cluster_barrier, s) || has(Intrinsic::cluster_load, s);
}
// Threads that run instructions together wait for one another.
bool has_tensor_operation(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const MachineOp &op) { any |= is_tensor_operation(op.op); });
    return any;
}
// Instructions that read operands in memory by themselves, not by loads of the threads.
bool has_machine_readers(const Stmt &s) {
    bool any = false;
    for_each_node(s, [&](const MachineOp &op) {
        any |= TileCopy::is_group(op);
        if (!is_tensor_operation(op.op)) return;
        const auto t = TensorOperation::of(op);
        any |= t.a.source == TensorOperation::Source::Panels ||
               t.b.source == TensorOperation::Source::Panels;
    });
    return any;
}
bool has_barrier(const Stmt &s) {
    return has_tensor_operation(s) || has(Intrinsic::gpu_barrier, s) || has_rows(s) ||
           has(Intrinsic::gpu_role_barrier, s) || has(Intrinsic::barrier_arrive, s) ||
           meets_in_cluster(s);
}

}  // namespace

// Each block of a cluster on a stack of its own.
void StatementRun::run_cluster(const For &blocks) {
    Tape &tape = run_tape(blocks, [&] { return Expressions{blocks.min, blocks.extent}; });
    require_defined(tape.result(1), "the number of blocks of a cluster");
    const int64_t min = tape.result(0).as_int();
    BlockCluster cluster;
    cluster.blocks.resize(size_t(std::max<int64_t>(0, tape.result(1).as_int())));
    cluster.all.task = frame.task;
    cluster.all.phase = shared.tasks.new_loop();
    std::vector<std::function<void()>> all;
    for (size_t i = 0; i < cluster.blocks.size(); i++) {
        all.push_back([&, i] {
            run_on_large_stack([&] {
                Frame own = frame;
                own.in_kernel = true;
                own.cluster = &cluster;
                own.rank = i;
                StatementRun run(shared, std::move(own));
                run.begin_task();
                Bind bound(run.frame.variables, blocks.name,
                           Value::of_int(blocks.min.type(), min + int64_t(i)));
                run.run(blocks.body);
            });
        });
    }
    shared.coroutines.run_all(all);
}

// Runs each thread on a stack of its own; one goes on until it comes to a barrier. Accesses of two
// threads between the same two barriers must not be in conflict.
void StatementRun::run_threads(const For &outermost) {
    std::array<int64_t, 3> shape = {1, 1, 1};
    for_each_node(Stmt(&outermost), [&](const For &loop) {
        if (loop.loop_kind != LoopKind::GPUThread) return;
        Tape &tape = run_tape(loop, [&] { return Expressions{loop.min, loop.extent}; });
        require_defined(tape.result(1), "the number of threads");
        shape.at(lower::dimension_of(loop)) = tape.result(1).as_int();
    });
    ThreadBlock block;
    block.all.threads = shape[0] * shape[1] * shape[2];
    constexpr int64_t most_threads = 1024;
    if (block.all.threads > most_threads)
        throw RuntimeError(str("cannot launch the kernel: ", shape[0], " x ", shape[1], " x ",
                               shape[2], " threads per block are asked for, and there can be ",
                               most_threads));
    block.all.task = frame.task;
    block.all.phase = shared.tasks.new_loop();
    if (frame.cluster) frame.cluster->running.push_back(&block);
    if (frame.cluster) frame.cluster->blocks[frame.rank].threads = &block;
    block.shape = shape;
    block.has_rows = has_rows(Stmt(&outermost));
    const auto [known, is_new] = shared.have_machine_readers.try_emplace(&outermost);
    if (is_new) known->second = has_machine_readers(Stmt(&outermost));
    block.has_machine_readers = known->second;
    block.rows.resize(size_t(block.has_rows ? shape[1] * shape[2] : 0));
    for (ThreadTeam &row : block.rows) row.threads = shape[0];
    std::vector<std::function<void()>> threads;
    for (int64_t t = 0; t < block.all.threads; t++) {
        threads.push_back([&, t] {
            run_on_large_stack([&] {
                Frame own = frame;
                own.block = &block;
                own.row = size_t(t / shape[0]);
                own.thread = {t % shape[0], t / shape[0] % shape[1], t / shape[0] / shape[1]};
                StatementRun run(shared, std::move(own));
                run.begin_task();
                run.run_of_thread(outermost);
            });
        });
    }
    shared.coroutines.run_all(threads);
    if (frame.cluster) std::erase(frame.cluster->running, &block);
    if (frame.cluster) frame.cluster->blocks[frame.rank].threads = nullptr;
}

// The iteration of a loop over threads that is this thread's.
void StatementRun::run_of_thread(const For &loop) {
    const int64_t min =
        run_tape(loop, [&] { return Expressions{loop.min, loop.extent}; }).result(0).as_int();
    const int64_t index = frame.thread.at(lower::dimension_of(loop));
    Bind bound(frame.variables, loop.name, Value::of_int(loop.min.type(), min + index));
    run(loop.body);
}

// Begins the task of what this thread does up to its next barrier.
void StatementRun::begin_task() {
    if (!frame.block) {  // a block of a cluster without threads, or before they begin
        frame.task = shared.tasks.new_task(frame.cluster->all.task, frame.cluster->all.phase);
        return;
    }
    ThreadTeam &block = own_block();
    if (!frame.block->has_rows) {
        frame.task = shared.tasks.new_task(block.task, block.phase);
        return;
    }
    ThreadTeam &row = own_row();
    frame.task = shared.tasks.new_task(row.task, row.phase);
}

// The team of the threads of this one's block; its task is one of the cluster's phase.
ThreadTeam &StatementRun::own_block() {
    ThreadTeam &block = frame.block->all;
    if (block.task == TaskTree::root && frame.cluster) {
        block.task = shared.tasks.new_task(frame.cluster->all.task, frame.cluster->all.phase);
        block.phase = shared.tasks.new_loop();
    }
    return block;
}

// The team of the lanes that are in a row with this one; its task is one of the block's phase.
ThreadTeam &StatementRun::own_row() {
    ThreadTeam &block = own_block(), &row = frame.block->rows.at(frame.row);
    if (row.task == TaskTree::root) {
        row.task = shared.tasks.new_task(block.task, block.phase);
        row.phase = shared.tasks.new_loop();
    }
    return row;
}

constexpr int64_t threads_of_warp = 32;

// The team of the threads of this one's warp, in a row of several warps.
ThreadTeam &StatementRun::own_warp() {
    const int64_t warps_of_row = frame.block->shape[0] / threads_of_warp;
    ThreadTeam &warp =
        frame.block->warps[int64_t(frame.row) * warps_of_row + frame.thread[0] / threads_of_warp];
    warp.threads = threads_of_warp;
    return warp;
}

static void begin_phase(ThreadBlock &block) {
    for (ThreadTeam &row : block.rows) row.task = TaskTree::root;
}

void StatementRun::wait_for(ThreadTeam &team, const IntrinsicCall &barrier, const char *what) {
    const int meeting = team.meetings;
    if (team.waiting > 0 && team.barrier != &barrier) {
        throw RuntimeError(str("some threads wait at one barrier, and others at another one: each "
                               "is ",
                               what));
    }
    team.barrier = &barrier;
    if (++team.waiting == team.threads) {
        team.waiting = 0;
        team.meetings++;
        team.phase = shared.tasks.new_loop();
        if (frame.block && &team == &frame.block->all) begin_phase(*frame.block);
        if (frame.cluster && &team == &frame.cluster->all) {
            for (ThreadBlock *block : frame.cluster->running) {
                block->all.task = TaskTree::root;
                begin_phase(*block);
            }
            for (BlockCluster::Block &b : frame.cluster->blocks) b.read_by_others.clear();
        }
    }
    shared.coroutines.wait_until([&] { return team.meetings > meeting; }, what);
    begin_task();
}

// Waits for all other threads of the block, or of the cluster, or for the other lanes of the row.
void StatementRun::meet(const IntrinsicCall &barrier) {
    if (barrier.op == Intrinsic::gpu_cluster_barrier) {
        if (!frame.cluster) throw RuntimeError("a barrier of a cluster outside of its blocks");
        ThreadTeam &all = frame.cluster->all;
        all.threads = int64_t(frame.cluster->blocks.size());
        if (frame.block) all.threads *= frame.block->all.threads;
        return wait_for(all, barrier, "a barrier of a cluster of blocks");
    }
    if (!frame.block) throw RuntimeError("a barrier outside of the threads of a block");
    if (barrier.op == Intrinsic::gpu_barrier)
        wait_for(frame.block->all, barrier, "a barrier of a block of threads");
    else if (barrier.op == Intrinsic::gpu_warp_barrier)
        wait_for(own_row(), barrier, "a barrier of a row of lanes");
    else
        wait_for(own_row(), barrier, "a shuffle of a row of lanes");
}

// Waits for all other threads that have a role.
void StatementRun::meet_in_role(const IntrinsicCall &barrier, int64_t number, int64_t threads) {
    if (!frame.block) throw RuntimeError("a barrier outside of the threads of a block");
    ThreadTeam &role = frame.block->roles[number];
    role.threads = threads;
    if (role.waiting == 0 && role.meetings == 0) role.task = own_block().task;
    wait_for(role, barrier, "a barrier of the threads of a role");
    frame.task = shared.tasks.new_task(role.task, role.phase);
}

// The lanes of a row show one another their values. Others run the same instructions meanwhile:
// what the operands are is kept here.
void StatementRun::shuffle(const IntrinsicCall &node, Operands operands, Value &result) {
    const Value shown = *operands[0];
    require_defined(*operands[1], "the lane of a shuffle");
    const int64_t lane = operands[1]->as_int();
    if (!frame.block) throw RuntimeError("a shuffle outside of the threads of a block");
    std::vector<Value> &values = frame.block->rows.at(frame.row).shown;
    values.resize(size_t(own_row().threads));
    // A row of a block whose threads run instructions together is of several warps, which may have
    // roles.
    const int64_t lanes = operands[2]->as_int(), in_row = int64_t(values.size());
    if (lanes != in_row && (lanes != threads_of_warp || in_row % threads_of_warp != 0))
        throw RuntimeError(str("a shuffle of ", lanes, " lanes in a row of ", in_row));
    if (lane < 0 || lane >= lanes)
        throw RuntimeError(str("a shuffle reads lane ", lane, " of ", lanes));
    const auto all_have = [&] {
        if (lanes == in_row) return meet(node);
        wait_for(own_warp(), node, "a shuffle of a warp");
        frame.task = shared.tasks.new_task(own_row().task, own_warp().phase);
    };
    values.at(size_t(frame.thread[0])) = shown;
    all_have();
    const Value found = values.at(size_t(frame.thread[0] / lanes * lanes + lane));
    all_have();
    result = found;
}

// Loads what another block of the cluster has in memory.
void StatementRun::cluster_load(const IntrinsicCall &node, Operands operands, Value &result) {
    const Load &load = address_taken(node.args[0]);
    require_defined(*operands[1], "the block whose memory is read");
    const int64_t rank = operands[1]->as_int();
    if (!frame.cluster) throw RuntimeError("the memory of another block is read in no cluster");
    auto &blocks = frame.cluster->blocks;
    if (rank < 0 || rank >= int64_t(blocks.size()))
        throw RuntimeError(
            str("the memory of block ", rank, " is read in a cluster of ", blocks.size()));
    BlockCluster::Block &other = blocks.at(size_t(rank));
    if (size_t(rank) != frame.rank) other.read_by_others.insert(load.buffer);
    const auto there = other.memories.find(load.buffer);
    if (there == other.memories.end())
        throw RuntimeError(str("block ", rank, " of a cluster has no memory for ", load.buffer,
                               " yet, or none any more, where another one reads it"));
    const Memory &here = memory(load.buffer);
    const auto bytes = int64_t(operands[0]->word() - Word(uintptr_t(here.address(0))));
    const int64_t at = there->second->place_of(bytes / load.type.bytes());
    result.lanes[0] = there->second->load(at, result.poison[0], accessor());
}

void StatementRun::run_for(const For &loop) {
    const bool is_of_cluster = loop.loop_kind == LoopKind::GPUBlock && !frame.cluster;
    if (is_of_cluster && meets_in_cluster(loop.body)) return run_cluster(loop);
    if (loop.loop_kind == LoopKind::GPUThread && frame.block) return run_of_thread(loop);
    if (loop.loop_kind == LoopKind::GPUThread && has_barrier(loop.body)) return run_threads(loop);
    Tape &tape = run_tape(loop, [&] { return Expressions{loop.min, loop.extent}; });
    require_defined(tape.result(0), "the minimum of a loop");
    require_defined(tape.result(1), "the extent of a loop");
    int64_t min = tape.result(0).as_int(), extent = tape.result(1).as_int();
    const bool parallel = traits_of(loop.loop_kind).is_on_threads;
    const bool was_in_kernel = frame.in_kernel;
    frame.in_kernel |= lower::is_over_blocks(loop);
    int id = parallel ? shared.tasks.new_loop() : 0, outer = frame.task;
    for (int64_t i = min; i < min + extent; i++) {
        if (parallel) frame.task = shared.tasks.new_task(outer, id);
        Bind bound(frame.variables, loop.name, Value::of_int(loop.min.type(), i));
        run(loop.body);
    }
    frame.in_kernel = was_in_kernel;
    if (parallel) frame.task = outer;  // else the body may have gone on to another phase
}

void StatementRun::run_acquire(const Acquire &s) {
    Tape &tape = run_tape(s, [&] { return Expressions{s.semaphore, s.count}; });
    require_defined(tape.result(1), "a semaphore's count");
    int64_t &count = shared.semaphores[tape.result(0).word()];
    int64_t wanted = tape.result(1).as_int();
    const auto *name = s.semaphore.as<Variable>();
    shared.coroutines.wait_until([&] { return count >= wanted; },
                                 name ? name->name.text() : "a semaphore");
    count -= wanted;
    run(s.body);
}

void StatementRun::run_store(const Store &s) {
    Tape &tape = run_tape(s, [&] {
        Expressions all = {s.index, s.value};
        if (s.predicate.defined()) all.push_back(s.predicate);
        return all;
    });
    const Value &index = tape.result(0), &value = tape.result(1);
    const Value *predicate = s.predicate.defined() ? &tape.result(2) : nullptr;
    if (predicate) require_defined(*predicate, "the predicate of a store");
    if (!predicate || predicate->as_bool()) check_alignment(s.buffer, index, s.alignment);
    Memory &m = memory(s.buffer);
    if (m.type != value.type.element_of()) {
        throw RuntimeError(str("store of ", value.type, " to ", s.buffer, " of ", m.type));
    }
    for (size_t i = 0; i < index.lanes.size(); i++) {
        if (predicate && !predicate->lanes[i]) continue;
        if (index.poison[i])
            throw RuntimeError(str("where to store in ", s.buffer,
                                   " depends on "
                                   "memory that was never written"));
        const auto at = int64_t(index.lanes[i]);
        if (frame.recorded) {
            record(frame.memories.at(s.buffer), at, value.lanes[i], value.poison[i]);
        } else {
            const int64_t place = m.place_of(at);
            m.store(place, value.lanes[i], value.poison[i], accessor());
            if (m.is_of_block) note_write(frame.memories.at(s.buffer), place);
        }
    }
}

void StatementRun::run_provide(const Provide &s) {
    Tape &tape = run_tape(s, [&] {
        Expressions all = s.args;
        all.insert(all.end(), s.values.begin(), s.values.end());
        if (s.predicate.defined()) all.push_back(s.predicate);
        return all;
    });
    size_t dims = s.args.size(), count = s.values.size();
    std::vector<const Value *> args;
    for (size_t d = 0; d < dims; d++) args.push_back(&tape.result(d));
    const Value *predicate = s.predicate.defined() ? &tape.result(dims + count) : nullptr;
    if (predicate) require_defined(*predicate, "the predicate of a store");
    FuncStorage &r = realization(s.func, count);
    for (size_t k = 0; k < count; k++) {
        const Value &value = tape.result(dims + k);
        for (size_t i = 0; i < value.lanes.size(); i++) {
            if (predicate && !predicate->lanes[predicate->lanes.size() == 1 ? 0 : i]) continue;
            for (const Value *arg : args) require_defined(*arg, "where to store");
            r.values[k]->store(offset_of(r, s.func, args, i), value.lanes[i], value.poison[i],
                               accessor());
        }
    }
}

// The bytes that remember what was written need memory, too.
MemoryRef StatementRun::own_memory(Symbol name, Type type, int64_t size, int padding, int swizzle) {
    try {
        return std::make_shared<Memory>(name.text(), type, size, padding, frame.task, swizzle);
    } catch (const std::bad_alloc &) {
        refuse_size(name);
    }
}

void StatementRun::refuse_size(Symbol name) {
    throw RuntimeError(str("allocation of ", name, " is too large to interpret"));
}

// Others may not read what a block of a cluster had.
void StatementRun::give_up(Symbol buffer) {
    BlockCluster::Block &own = frame.cluster->blocks[frame.rank];
    if (own.read_by_others.contains(buffer))
        throw RuntimeError(str("block ", frame.rank, " of a cluster gives up the memory of ",
                               buffer, " while others may still read it"));
    own.memories.erase(buffer);
}

void StatementRun::run_allocate(const Allocate &s) {
    Tape &tape = run_tape(s, [&] {
        Expressions all = s.extents;
        if (s.condition.defined()) all.push_back(s.condition);
        return all;
    });
    int64_t size = 1;
    for (size_t d = 0; d < s.extents.size(); d++) {
        require_defined(tape.result(d), "the size of an allocation");
        size *= std::max<int64_t>(tape.result(d).as_int(), 0);
        if (size > most_elements) {
            refuse_size(s.buffer);
        }
    }
    bool wanted = !s.condition.defined() || tape.result(s.extents.size()).as_bool();
    MemoryRef m =
        own_memory(s.buffer, s.type, wanted ? size : 0, wanted ? s.padding : 0, s.facts.swizzle);
    m->is_of_block = traits_of(s.memory).space == AddressSpace::Shared;
    shared.remember(m);
    const Memory *made = m.get();
    if (frame.in_kernel) shared.of_kernels.insert(made);
    const bool is_of_block = frame.cluster && !frame.block;
    if (is_of_block) frame.cluster->blocks[frame.rank].memories[s.buffer] = m;
    Bind bound(frame.memories, s.buffer, std::move(m));
    run(s.body);
    if (is_of_block) give_up(s.buffer);
    shared.of_kernels.erase(made);
}

void StatementRun::run_realize(const Realize &s) {
    Tape &tape = run_tape(s, [&] {
        Expressions all;
        for (const Range &range : s.bounds) {
            all.push_back(range.min);
            all.push_back(range.extent);
        }
        return all;
    });
    auto r = std::make_shared<FuncStorage>();
    int64_t size = 1;
    for (size_t d = 0; d < s.bounds.size(); d++) {
        require_defined(tape.result(2 * d), "the minimum of a realization");
        require_defined(tape.result(2 * d + 1), "the extent of a realization");
        int64_t extent = std::max<int64_t>(tape.result(2 * d + 1).as_int(), 0);
        r->add_dimension(tape.result(2 * d).as_int(), extent, size);
        size *= extent;
    }
    for (Type t : s.types) {
        r->values.push_back(own_memory(s.func, t, size, 0));
    }
    Bind bound(frame.realizations, s.func, std::move(r));
    run(s.body);
}

void StatementRun::run_fork(const Fork &s) {
    std::vector<std::function<void()>> branches;
    for (const Stmt &branch : s.stmts) {
        branches.push_back([this, &branch] {
            // A frame of its own: what the branches bind is nobody else's.
            run_on_large_stack([&] { StatementRun(shared, frame).run(branch); });
        });
    }
    shared.coroutines.run_all(branches);
}

// In a frame that has nothing but the arguments.
void StatementRun::run_invoke(const Invoke &s) {
    if (!shared.options.module)
        throw InternalError("a function is invoked, and there is no module");
    const LoweredFunction &f = shared.options.module->function(s.function);
    Frame callee;
    callee.task = frame.task;
    callee.atomic = frame.atomic;
    callee.block = frame.block;
    callee.cluster = frame.cluster;
    callee.rank = frame.rank;
    Tape &tape = run_tape(s, [&] {
        Expressions scalars;
        for (size_t i = 0; i < s.args.size(); i++) {
            if (f.args[i].is_scalar()) scalars.push_back(s.args[i]);
        }
        return scalars;
    });
    size_t next = 0;
    for (size_t i = 0; i < s.args.size(); i++) {
        const Symbol name = f.args[i].name;
        if (f.args[i].is_scalar()) {
            callee.variables.emplace(name, tape.result(next++));
            continue;
        }
        if (const auto *c = s.args[i].as<IntrinsicCall>(); c->op == Intrinsic::device_address) {
            const Value &handle = frame.variables.at(c->args[0].as<Variable>()->name);
            callee.memories.emplace(name, shared.device.on_host(handle.word()));
            continue;
        }
        auto found = frame.memories.find(address_taken(s.args[i]).buffer);
        if (found != frame.memories.end()) callee.memories.emplace(name, found->second);
    }
    StatementRun(shared, std::move(callee)).run(f.body);
}

void StatementRun::run_if(const IfThenElse &s) {
    const Value &condition = run_tape(s, [&] { return Expressions{s.condition}; }).result();
    require_defined(condition, "a branch");
    if (condition.lanes.size() != 1) throw RuntimeError("a branch on a vector");
    if (condition.as_bool()) {
        run(s.then_case);
    } else if (s.else_case.defined()) {
        run(s.else_case);
    }
}

namespace {

// The roles of one buffer among the arguments of a pipeline.
struct PassedAs {
    bool input = false, output = false;
};

// Returns the memory of an argument; two arguments that are one buffer share it.
MemoryRef memory_of_argument(SharedState &shared, const Argument &arg, tessera_buffer_t *b,
                             const PassedAs &passed) {
    for (const auto &[buffer, memory] : shared.argument_memories) {
        if (buffer == b) return memory;
    }
    const bool written = passed.input || shared.options.outputs_have_values;
    auto m = std::make_shared<Memory>(arg.name.text(), *b, passed.output, written);
    shared.remember(m);
    // The pipeline itself takes an input that is on no device to be new on the host.
    const bool is_new_here = passed.input ? b->device != 0 : written || b->host_dirty();
    shared.device.add_argument(Word(uintptr_t(b)), m, is_new_here);
    return m;
}

void bind_buffer(SharedState &shared, Frame &frame, const Argument &arg, tessera_buffer_t *b,
                 const PassedAs &passed) {
    frame.variables.emplace(arg.name, Value::of_int(Handle(), int64_t(uintptr_t(b))));
    shared.buffers[arg.name] = b;
    if (!b || !b->host) return;
    MemoryRef m = memory_of_argument(shared, arg, b, passed);
    shared.argument_memories.push_back({b, m});
    frame.memories.emplace(arg.name, std::move(m));
}

Frame first_frame(SharedState &shared, const LoweredFunction &f, std::span<void *const> args) {
    if (args.size() != f.args.size()) {
        throw RuntimeError(str(f.name, " takes ", f.args.size(), " arguments, not ", args.size()));
    }
    Frame frame;
    std::unordered_map<const void *, PassedAs> buffers;
    for (size_t i = 0; i < args.size(); i++) {
        const ArgumentKind kind = f.args[i].kind;
        if (kind == ArgumentKind::InputBuffer) buffers[args[i]].input = true;
        if (kind == ArgumentKind::OutputBuffer) buffers[args[i]].output = true;
    }
    for (size_t i = 0; i < args.size(); i++) {
        const Argument &arg = f.args[i];
        if (arg.kind != ArgumentKind::Scalar) {
            bind_buffer(shared, frame, arg, static_cast<tessera_buffer_t *>(args[i]),
                        buffers[args[i]]);
            continue;
        }
        Value v(arg.type);
        v.assign(load_word(arg.type, args[i]));
        frame.variables.emplace(arg.name, std::move(v));
    }
    return frame;
}

}  // namespace

namespace {

bool places_device_copies(const LoweredFunction &f, const Module *module) {
    bool any = false;
    const auto look = [&](const IntrinsicCall &c) {
        any |= c.op == Intrinsic::copy_to_device || c.op == Intrinsic::mark_device_dirty;
    };
    for_each_node(f.body, look);
    if (!module) return any;
    for (const LoweredFunction &invoked : module->functions) for_each_node(invoked.body, look);
    return any;
}

}  // namespace

int run_statement(const LoweredFunction &f, std::span<void *const> args,
                  const StatementOptions &options) {
    int code = 0;
    run_on_large_stack([&] {
        SharedState shared(options);
        shared.places_copies = places_device_copies(f, options.module);
        Frame frame = first_frame(shared, f, args);
        try {
            StatementRun(shared, frame).run(f.body);
        } catch (const PipelineFailed &failure) {
            code = failure.code;
            shared.device.check_all_freed();
            return;
        }
        shared.device.check_all_freed();
        bool is_query = shared.argument_memories.size() < shared.buffers.size();
        for (auto &[buffer, memory] : shared.argument_memories) {
            if (is_query) continue;
            shared.device.copy_to_host(Word(uintptr_t(buffer)));  // as the caller does
            memory->check_all_written();
        }
    });
    return code;
}

}  // namespace tessera::interpret
