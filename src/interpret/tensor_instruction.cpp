#include "interpret/tensor_instruction.h"
#include "base/error.h"
#include "interpret/statement_run.h"
#include "ir/operators.h"
#include <cmath>
#include <functional>

// Runs instructions of tensor cores by their own meaning on what their operands address, and
// compares with the loops that they stand for.
namespace tessera::interpret {

using namespace ir;

namespace {

using Place = std::vector<int64_t>;

// Loads and stores the elements of an operand, by places of its layout.
struct OperandAccess {
    std::function<Held(const Place &)> load;
    std::function<void(const Place &, const Held &)> store;  // of the first operand
};

// Registers of all threads that run an instruction.
using Registers = std::vector<std::vector<Held>>;

OperandAccess access_to(Registers &registers, int64_t first) {
    const auto at = [&registers, first](const Place &p) -> Held & {
        return registers.at(size_t(p[0])).at(size_t(p[1] + first));
    };
    return {at, [at](const Place &p, const Held &held) { at(p) = held; }};
}

void for_each_element(const Layout &layout, const std::function<void(const Place &)> &visit) {
    Place element(layout.coordinates.size(), 0);
    for (int64_t left = layout.size(); left > 0; left--) {
        visit(element);
        for (size_t i = 0; i < element.size(); i++) {
            if (++element[i] < layout.coordinates[i].extent) break;
            element[i] = 0;
        }
    }
}

bool same(const Held &a, const Held &b) {
    if (a.poison || b.poison) return a.poison == b.poison;
    return a.word == b.word || (std::isnan(double_of_word(Float(32), a.word)) &&
                                std::isnan(double_of_word(Float(32), b.word)));
}

}  // namespace

TensorPlan::TensorPlan(const MachineOp &op)
    : operation(TensorOperation::of(op)), product(operation.instruction()),
      accumulators(operation.accumulator_layout()) {
    if (operation.is_wgmma) return;
    load_a = ldmatrix_x4(operation.element, !operation.a_is_along_k);
    load_b = ldmatrix_x4(operation.element, !operation.b_is_along_k);
}

namespace {

// Runs the instructions of a tensor operation, when all threads are there.
class RunTensorPlan {
public:
    RunTensorPlan(SharedState &shared, int task, const TensorPlan &plan, TensorMeeting &meeting)
        : shared(shared), task(task), plan(plan), t(plan.operation), meeting(meeting) {
        for (const TensorThread &thread : meeting.threads)
            accumulators.push_back(thread.accumulators);
    }
    void run() {
        const InstructionOperand &d = plan.product.operand("D");
        const int64_t i_step = d.layout.coordinate("i")->extent,
                      j_step = d.layout.coordinate("j")->extent,
                      k_step = plan.product.operand("A").layout.coordinate("k")->extent;
        for (int64_t k = 0; k < t.k / k_step; k++) {
            for (int64_t i = 0; i < t.rows / i_step; i++) {
                for (int64_t j = 0; j < t.columns / j_step; j++) {
                    const Place first = {i * i_step, j * j_step};
                    const int64_t number = place_of(plan.accumulators, first)[1];
                    if (plan.load_a)
                        multiply_fragments(k, i, j, number);
                    else
                        multiply_matrices(size_t(k), size_t(i), number);
                }
            }
        }
        for (size_t n = 0; n < accumulators.size(); n++)
            meeting.threads[n].accumulators = accumulators[n];
        meeting.is_done = true;
    }

private:
    // Puts the operands into storage of their own, runs the meaning, and takes the result.
    void execute(const Instruction &instruction, const std::vector<OperandAccess> &accesses) {
        Frame own;
        own.task = task;
        for (size_t n = 0; n < accesses.size(); n++) {
            const InstructionOperand &o = instruction.operands[n];
            auto storage = std::make_shared<FuncStorage>();
            int64_t stride = 1;
            for (const LayoutCoordinate &c : o.layout.coordinates) {
                storage->add_dimension(0, c.extent, stride);
                stride *= c.extent;
            }
            auto memory = std::make_shared<Memory>(o.name.text(), o.type, stride, 0, task);
            if (accesses[n].load) {
                int64_t index = 0;
                for_each_element(o.layout, [&](const Place &element) {
                    const Held held = accesses[n].load(place_of(o.layout, element));
                    memory->store(index++, held.word, held.poison, by());
                });
            }
            storage->values.push_back(std::move(memory));
            own.realizations[o.name] = std::move(storage);
        }
        const InstructionOperand &result = instruction.operands[0];
        const MemoryRef memory = own.realizations[result.name]->values[0];
        StatementRun(shared, std::move(own)).run(instruction.meaning);
        int64_t index = 0;
        for_each_element(result.layout, [&](const Place &element) {
            Held held;
            held.word = memory->load(index++, held.poison, by());
            accesses[0].store(place_of(result.layout, element), held);
        });
    }
    Accessor by() const { return {&shared.tasks, task, false}; }
    // Loads by the place that a thread has given, which it swizzles as its memory is.
    Held load(const ElementPlace &first, int64_t element) const {
        return load_at(first, first.memory->place_of(first.index + element));
    }
    // Loads as the machine's units do, which swizzle by themselves.
    Held load_swizzled(const ElementPlace &first, int64_t element, int64_t swizzle) const {
        return load_at(first, first.memory->place_of(first.index + element, swizzle));
    }
    Held load_at(const ElementPlace &first, int64_t index) const {
        Held held;
        held.word = first.memory->load(index, held.poison, by());
        return held;
    }

    // Loads by the rows whose places the threads give.
    Registers load_fragment(const Instruction &instruction,
                            std::vector<ElementPlace> TensorThread::*operand, size_t number) {
        Registers fragment(
            meeting.threads.size(),
            std::vector<Held>(size_t(instruction.operands[0].layout.outputs[1].extent())));
        OperandAccess rows;
        rows.load = [&](const Place &p) {
            return load((meeting.threads.at(size_t(p[0])).*operand)[number], p[1]);
        };
        OperandAccess registers = access_to(fragment, 0);
        registers.load = nullptr;
        execute(instruction, {registers, rows});
        return fragment;
    }
    // An ldmatrix.x4 brings B for the columns of two instructions.
    void multiply_fragments(int64_t k, int64_t i, int64_t j, int64_t number) {
        const int64_t of_b = plan.product.operand("B").layout.output("register")->extent();
        Registers a = load_fragment(*plan.load_a, &TensorThread::a, size_t(k * (t.rows / 16) + i));
        Registers b =
            load_fragment(*plan.load_b, &TensorThread::b, size_t(k * (t.columns / 16) + j / 2));
        execute(plan.product,
                {access_to(accumulators, number), access_to(a, 0), access_to(b, j % 2 * of_b)});
    }
    void multiply_matrices(size_t k, size_t i, int64_t number) {
        const auto of_all = [&](std::vector<ElementPlace> TensorThread::*operand, size_t n) {
            const ElementPlace &first = (meeting.threads[0].*operand)[n];
            for (const TensorThread &thread : meeting.threads) {
                if ((thread.*operand)[n] != first)
                    throw RuntimeError(str("the threads that run ", plan.product.name,
                                           " give it other places of an operand"));
            }
            OperandAccess access;
            access.load = [this, first](const Place &p) {
                return load_swizzled(first, p[0], most_swizzle);
            };
            return access;
        };
        execute(plan.product, {access_to(accumulators, number),
                               of_all(&TensorThread::a, k * size_t(t.rows / 64) + i),
                               of_all(&TensorThread::b, k)});
    }

    SharedState &shared;
    const int task;
    const TensorPlan &plan;
    const TensorOperation &t;
    TensorMeeting &meeting;
    Registers accumulators;
};

}  // namespace

// Each thread does its part of the loops, and gives the instruction what it had before; the last
// one to come runs the instruction for all.
void StatementRun::run_tensor_operation(const MachineOp &s, const Tape &places) {
    auto &plan = shared.tensor_plans[&s];
    if (!plan) plan = std::make_unique<TensorPlan>(s);
    const Load *first = placed_element(plan->operation.accumulators);
    if (!first || !frame.block) return run(s.body);  // storage is not flat yet

    const auto threads = size_t(plan->product.threads);
    const int64_t number = frame.thread[0] + frame.block->shape[0] * int64_t(frame.row);
    const size_t team = size_t(number) / threads, lane = size_t(number) % threads;
    std::shared_ptr<TensorMeeting> &open = frame.block->tensor_meetings[{&s, team}];
    if (!open) open = std::make_shared<TensorMeeting>(threads);
    const std::shared_ptr<TensorMeeting> meeting = open;
    TensorThread &own = meeting->threads[lane];
    take_operands(s, *plan, places, own);

    const MemoryRef d_memory = frame.memories.at(first->buffer);
    Memory &d = *d_memory;
    go_on_with_sums(d);
    const auto accumulators = [&] {
        std::vector<Held> all(size_t(plan->accumulators.output("register")->extent()));
        for (size_t i = 0; i < all.size(); i++)
            all[i].word = d.load(int64_t(i), all[i].poison, accessor());
        return all;
    };
    own.accumulators = accumulators();
    run(s.body);
    const std::vector<Held> by_loops = accumulators();

    if (++meeting->arrived == threads) {
        frame.block->tensor_meetings.erase({&s, team});
        RunTensorPlan(shared, frame.task, *plan, *meeting).run();
    } else {
        shared.coroutines.wait_until([&] { return meeting->is_done; },
                                     str("threads that run ", plan->product.name, " together"));
    }
    for (size_t i = 0; i < by_loops.size(); i++) {
        if (same(by_loops[i], own.accumulators[i])) continue;
        const Layout elements = inverse(plan->accumulators);
        const Place e = place_of(elements, Place{int64_t(lane), int64_t(i)});
        throw RuntimeError(str(plan->product.name, " computes ",
                               double_of_word(Float(32), own.accumulators[i].word), " for row ",
                               e[0], " and column ", e[1], " of ", first->buffer,
                               ", and the loops that it stands for compute ",
                               double_of_word(Float(32), by_loops[i].word)));
    }
    if (plan->operation.is_wgmma) begin_sums(d_memory, own.accumulators);
}

// The sums of an asynchronous operation are nobody's until the thread has waited for them.
void StatementRun::begin_sums(const MemoryRef &accumulators, const std::vector<Held> &results) {
    PendingStores &group = frame.sums.emplace_back();
    for (size_t i = 0; i < results.size(); i++) {
        accumulators->begin_copy(int64_t(i), accessor());
        group.push_back({accumulators, int64_t(i), results[i].word, results[i].poison});
    }
}

// The next operation on the same accumulators goes on with them without a wait.
void StatementRun::go_on_with_sums(const Memory &accumulators) {
    for (PendingStores &group : frame.sums) {
        for (const PendingStore &s : group) {
            if (s.memory.get() == &accumulators) s.memory->end_copy(s.index, s.word, s.poison);
        }
        std::erase_if(group,
                      [&](const PendingStore &s) { return s.memory.get() == &accumulators; });
    }
}

void StatementRun::wait_for_sums(size_t but) {
    while (frame.sums.size() > but) {
        for (const PendingStore &s : frame.sums.front())
            s.memory->end_copy(s.index, s.word, s.poison);
        frame.sums.pop_front();
    }
}

void StatementRun::take_operands(const MachineOp &s, const TensorPlan &plan, const Tape &places,
                                 TensorThread &own) {
    const size_t of_a = plan.operation.a.size(), count = of_a + plan.operation.b.size();
    for (size_t i = 0; i < count; i++) {
        const Load &element = *placed_element(s.operands[TensorOperation::first_place + i]);
        const MemoryRef &m = frame.memories.at(element.buffer);
        const auto byte = int64_t(places.result(i).word() - Word(uintptr_t(m->address(0))));
        (i < of_a ? own.a : own.b).push_back({m, byte / element.type.element_of().bytes()});
    }
}

}  // namespace tessera::interpret
