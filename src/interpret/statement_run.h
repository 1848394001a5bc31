#pragma once
#include "interpret/buffers.h"
#include "interpret/coroutines.h"
#include "interpret/device_copies.h"
#include "interpret/memory.h"
#include "interpret/statement.h"
#include "interpret/tensor_instruction.h"
#include "interpret/tensor_map.h"
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <unordered_set>

namespace tessera::interpret {

// A lane's poison in lowered code: it comes from memory that was never written.
constexpr uint8_t never_written = 1;

// Storage of a function before it is flattened: a box of points.
struct FuncStorage {
    std::vector<int64_t> min, extent, stride;
    std::vector<MemoryRef> values;

    void add_dimension(int64_t min, int64_t extent, int64_t stride);
};

// Stores that an asynchronous copy will have done.
struct PendingStore {
    MemoryRef memory;
    int64_t index;
    Word word;
    uint8_t poison;
};
using PendingStores = std::vector<PendingStore>;

// Sums that an asynchronous tensor operation will have computed, of operands that it reads.
struct PendingSums {
    PendingStores stores;
    std::shared_ptr<MachineReads> reads;
};

// Copies that a barrier waits for: how many bytes it expects, and how many are on their way, which
// may be begun before, by another block of the cluster.
struct CopyPhase {
    std::optional<int64_t> expected = {};  // bytes, as the next one
    int64_t begun = 0;
    PendingStores stores = {};

    bool is_empty() const { return !expected && stores.empty(); }
    bool is_complete() const { return expected == begun; }
};

// A barrier that waits for arrivals, and for what copies.
struct CopyBarrier {
    int64_t arrivals = 1;        // of a phase: expectations, and whole warps
    int64_t arrived = 0;         // threads of warps, since the last phase has ended
    bool warps_arrive = false;   // and not only who expects copies
    bool blocks_arrive = false;  // others of the cluster
    int64_t phases = 0;          // that have ended
    CopyPhase copies;            // of the phase that goes on
};

// Threads of a kernel that meet at barriers.
struct ThreadTeam {
    int64_t threads = 0, waiting = 0;
    const ir::ExprNode *barrier = nullptr;  // that they wait at
    int meetings = 0;
    int phase = 0;  // a loop of the TaskTree: its tasks are what threads do between two barriers
    int task = TaskTree::root;  // of the team
    std::vector<Value> shown;   // in a shuffle, by lanes
};
// Holds the threads of a block. If lanes meet by themselves, the tasks of the block are those of
// its rows.
struct ThreadBlock {
    ThreadTeam all;
    bool has_rows = false;
    bool has_machine_readers = false;  // of what threads put into memory: wgmma
    std::vector<ThreadTeam> rows;
    std::map<int64_t, ThreadTeam> warps;  // of rows of several, by their numbers
    std::map<int64_t, ThreadTeam> roles;  // by the numbers of their barriers
    std::array<int64_t, 3> shape = {1, 1, 1};
    std::unordered_map<Word, CopyBarrier> barriers;  // by their places
    // Those at which not all threads have arrived yet, by the number of the warp or warpgroup.
    std::map<std::pair<const ir::MachineOp *, size_t>, std::shared_ptr<TensorMeeting>>
        tensor_meetings;
};

// The blocks of a cluster, which meet at barriers of their own, and read one another's memory. The
// tasks of its phases are those of its blocks.
struct BlockCluster {
    ThreadTeam all;
    std::vector<ThreadBlock *> running;  // blocks with threads
    struct Block {
        ThreadBlock *threads = nullptr;  // while they run
        std::unordered_map<Symbol, MemoryRef> memories;
        std::unordered_set<Symbol> read_by_others;  // since the blocks met
    };
    std::vector<Block> blocks;
};

// The names that one thread of control sees.
struct Frame {
    std::unordered_map<Symbol, Value> variables;
    std::unordered_map<Symbol, MemoryRef> memories;
    std::unordered_map<Symbol, std::shared_ptr<FuncStorage>> realizations;
    int task = TaskTree::root;
    bool atomic = false;
    bool in_kernel = false;
    ThreadBlock *block = nullptr;        // that this is a thread of
    BlockCluster *cluster = nullptr;     // that the block is one of
    size_t rank = 0;                     // of the block in it
    std::array<int64_t, 3> thread = {};  // which: x, y, z
    size_t row = 0;                      // of the threads that differ in x alone
    std::deque<PendingStores> copies;    // that it has begun, in groups; the last one is open
    PendingStores *recorded = nullptr;   // what stores go to, instead of memory
    // The copy of a box that is recorded is placed by this swizzle, where it is no map's.
    std::optional<int64_t> box_swizzle;
    // Asynchronous tensor operations that it has not waited for, oldest first.
    std::deque<PendingSums> sums;
    // The machine reads these of the tiles that it stores in a group; null: it is in none.
    std::shared_ptr<MachineReads> stored_tiles;
    // It has written these since its last fence, where the machine's units read the same memory.
    std::vector<std::pair<MemoryRef, int64_t>> unfenced;
};

// A buffer made of a part of another one begins with these.
struct Part {
    MemoryRef memory;   // on the host
    int64_t first = 0;  // element
    Word whole = 0;     // while it is on the device, too: the handle of the other
};

// A place that an operation of the machine accesses by itself, and what it demands of it.
struct PlacedAccess {
    size_t operand = 0;
    int64_t aligned_to = 1, bytes = 0;
    const char *what = "";
};

// The state that all threads of control share.
struct SharedState {
    const StatementOptions &options;
    std::unordered_map<Symbol, const tessera_buffer_t *> buffers;  // the arguments
    std::vector<std::pair<const tessera_buffer_t *, MemoryRef>> argument_memories;
    std::unordered_map<const ir::StmtNode *, std::unique_ptr<Tape>> tapes;
    // Products have plans; they are null for other steps.
    std::unordered_map<const ir::MachineOp *, std::unique_ptr<TensorPlan>> tensor_plans;
    std::unordered_map<const ir::MachineOp *, std::vector<PlacedAccess>> placed_accesses;
    std::unordered_map<const ir::StmtNode *, bool> have_machine_readers;  // loops over threads
    // The statements to run at the end of lets: lower/finish/runtime_calls.h.
    std::unordered_map<const ir::StmtNode *, ir::Stmt> ends;
    std::unordered_map<Word, int64_t> semaphores;
    uint64_t statements = 0;                      // that were run
    std::vector<std::weak_ptr<Memory>> memories;  // see remember()
    size_t memories_to_keep = 64;
    bool places_copies = false;  // where kernels have memory of their own
    DeviceCopies device;
    std::unordered_set<const Memory *> of_kernels;  // that kernels have allocated
    TaskTree tasks;
    Coroutines coroutines;
    std::deque<std::string> texts;
    std::deque<std::vector<uint8_t>> blocks;
    std::unordered_map<Word, std::unique_ptr<OwnedBuffer>> made_buffers;  // by their addresses
    std::unordered_map<Word, Part> parts;
    std::vector<TensorMap> tensor_maps;  // by their handles less 1

    explicit SharedState(const StatementOptions &options) : options(options) {}
    // For foreign code that writes to it. Those that are gone are forgotten now and then.
    void remember(const MemoryRef &m) {
        if (memories.size() >= memories_to_keep) {
            std::erase_if(memories, [](const auto &weak) { return weak.expired(); });
            memories_to_keep = 2 * memories.size() + 64;
        }
        memories.push_back(m);
    }
};

// The pipeline has failed in a way that compiled code reports, too.
struct PipelineFailed {
    int code;
};

// Returns the element whose place the operand is; null where storage is not flat yet.
const ir::Load *placed_element(const ir::Expr &place);

// Runs statements in one frame.
class StatementRun final : public OperandSource {
public:
    StatementRun(SharedState &shared, Frame frame) : shared(shared), frame(std::move(frame)) {}
    void run(const ir::Stmt &s);

private:
    const Value *variable(const ir::Variable &v) override;
    void evaluate(const ir::ExprNode &node, Operands operands, Value &result) override;

    void run_let(const ir::LetStmt &let);
    void run_until_end(const ir::LetStmt &let, const ir::Stmt &end);
    void run_assert(const ir::AssertStmt &s);
    void run_for(const ir::For &loop);
    void run_cluster(const ir::For &blocks);
    void run_threads(const ir::For &outermost);
    void run_of_thread(const ir::For &loop);
    void meet(const ir::IntrinsicCall &barrier);
    void shuffle(const ir::IntrinsicCall &node, Operands operands, Value &result);
    void wait_for(ThreadTeam &team, const ir::IntrinsicCall &barrier, const char *what);
    void cluster_load(const ir::IntrinsicCall &node, Operands operands, Value &result);
    ThreadTeam &own_block();
    ThreadTeam &own_row();
    ThreadTeam &own_warp();
    void meet_in_role(const ir::IntrinsicCall &barrier, int64_t number, int64_t threads);
    void arrive(const std::vector<CopyBarrier *> &barriers);
    void expect_copies(CopyBarrier &barrier, int64_t bytes);
    static void add_copies(CopyBarrier &barrier, const PendingStores &stores);
    static void check_bytes(const CopyPhase &copies);
    std::vector<size_t> blocks_of(Word bits) const;
    CopyBarrier &barrier_of(size_t rank, const ir::Expr &place, Word here);
    int new_phase_of_thread();
    void begin_task();
    void run_acquire(const ir::Acquire &s);
    void run_store(const ir::Store &s);
    void run_provide(const ir::Provide &s);
    MemoryRef own_memory(Symbol name, Type type, int64_t size, int padding, int swizzle = 0);
    [[noreturn]] static void refuse_size(Symbol name);
    void run_allocate(const ir::Allocate &s);
    void give_up(Symbol buffer);
    void run_realize(const ir::Realize &s);
    void run_fork(const ir::Fork &s);
    void run_invoke(const ir::Invoke &s);
    void run_machine_op(const ir::MachineOp &s);
    void run_tensor_operation(const ir::MachineOp &s, const Tape &places);
    void begin_sums(const MemoryRef &accumulators, const std::vector<Held> &results,
                    std::shared_ptr<MachineReads> reads);
    void go_on_with_sums(const Memory &accumulators);
    void wait_for_sums(size_t but);
    void take_operands(const TensorPlan &plan, const Tape &places, TensorThread &own);
    Tape &places_of(const ir::MachineOp &s);
    void run_if(const ir::IfThenElse &s);

    void load(const ir::Load &node, Operands operands, Value &result);
    void call(const ir::Call &node, Operands operands, Value &result);
    void intrinsic(const ir::IntrinsicCall &node, Operands operands, Value &result);
    void extern_call(const ir::ExternCall &node, Operands operands, Value &result);
    void runtime_call(const ir::IntrinsicCall &node, Operands operands, Value &result);
    void make_struct(Operands operands, Value &result);
    void make_buffer(Operands operands, Value &result);
    bool asynchronous_intrinsic(const ir::IntrinsicCall &node, Operands operands, Value &result);
    CopyBarrier &copy_barrier(Word place);
    Word tensor_map(const ir::IntrinsicCall &node, Operands operands);
    const TensorMap &map_of(Word handle) const;
    PendingStores load_box(const TensorMap &map, const std::vector<int64_t> &at,
                           const std::vector<int64_t> &offsets, const ElementPlace &to);
    PendingStores read_box(const TensorMap &map, const std::vector<int64_t> &at,
                           const ElementPlace &from);
    static void check_box(const PendingStores &by_machine, const PendingStores &by_loops,
                          const std::string &what);
    void run_copy_tile(const ir::MachineOp &s, const Tape &places);
    void run_stores(const ir::MachineOp &group);
    void store_box(const TensorMap &map, const std::vector<int64_t> &at, const ElementPlace &from,
                   const PendingStores &by_loops);
    void note_write(const MemoryRef &memory, int64_t index);
    void fence();
    void record(const MemoryRef &memory, int64_t index, Word word, uint8_t poison);
    void wait_for_copies(size_t but);
    void wait_for_phase(CopyBarrier &barrier, bool is_odd);
    void note_part(const ir::Expr &first, Word handle);
    void share_part(Operands operands);
    void release_part(Word handle);
    void copy_parts(Operands operands);
    bool use_part(Word handle, const tessera_buffer_t &part);
    bool device_intrinsic(const ir::IntrinsicCall &node, Operands operands, Value &result);
    void mark_what_foreign_code_wrote(const tessera_buffer_t &b);
    const tessera_buffer_t &buffer(Symbol name);

    // The instructions of a statement's expressions, made at its first execution, and run.
    template<typename F>
    Tape &run_tape(const ir::StmtNode &node, F expressions) {
        auto &tape = shared.tapes[&node];
        if (!tape) tape = std::make_unique<Tape>(expressions());
        if (shared.statements++ == shared.options.max_statements) {
            throw OutOfSteps(str("not done after ", shared.options.max_statements, " statements"));
        }
        tape->run(*this);
        return *tape;
    }
    FuncStorage &realization(Symbol f, size_t values);
    Memory &memory(Symbol name);
    int64_t offset_of(const FuncStorage &r, Symbol f, const std::vector<const Value *> &args,
                      size_t lane) const;
    Accessor accessor() const { return {&shared.tasks, frame.task, frame.atomic}; }

    SharedState &shared;
    Frame frame;
};

}  // namespace tessera::interpret
