#include "interpret/tensor_instruction.h"
#include "base/error.h"
#include "interpret/statement_run.h"
#include "ir/layout_elements.h"
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
    std::function<Held(const Place &)> load = nullptr;
    std::function<void(const Place &, const Held &)> store = nullptr;  // of the first operand
    const Layout *layout = nullptr;                                    // null: the instruction's
};

// Registers of all threads that run an instruction.
using Registers = std::vector<std::vector<Held>>;

OperandAccess access_to(Registers &registers, int64_t first) {
    const auto at = [&registers, first](const Place &p) -> Held & {
        return registers.at(size_t(p[0])).at(size_t(p[1] + first));
    };
    return {at, [at](const Place &p, const Held &held) { at(p) = held; }, nullptr};
}

double number_of(Type type, Word word) {
    if (type.is_float()) return double_of_word(type, word);
    return type.is_int() ? double(int64_t(word)) : double(word);
}

bool same(Type type, const Held &a, const Held &b) {
    if (a.poison || b.poison) return a.poison == b.poison;
    if (a.word == b.word) return true;
    return type.is_float() && std::isnan(double_of_word(type, a.word)) &&
           std::isnan(double_of_word(type, b.word));
}

TensorPlan::Operand plan_of(const TensorOperation &t, const char *name,
                            const TensorOperation::Operand &given) {
    using enum TensorOperation::Source;
    const InstructionOperand &own = t.instruction.operand(name);
    TensorPlan::Operand planned{given, own, std::nullopt, own.layout};
    if (given.source == Registers) planned.layout = t.registers_of(name);
    if (given.source == Rows) planned.load = TensorOperation::load_of(given, own.type);
    if (given.source == Panels)
        planned.layout =
            wgmma_layout(t.instruction, name, {given.is_along_k, given.panel, given.swizzle});
    return planned;
}

}  // namespace

TensorPlan::TensorPlan(const MachineOp &op)
    : operation(TensorOperation::of(op)), accumulators(operation.registers_of("D")),
      a(plan_of(operation, "A", operation.a)), b(plan_of(operation, "B", operation.b)) {}

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
        for (int64_t k = 0; k < t.steps("k"); k++) {
            for (int64_t i = 0; i < t.steps("i"); i++) {
                for (int64_t j = 0; j < t.steps("j"); j++) multiply(k, i, j);
            }
        }
        for (size_t n = 0; n < accumulators.size(); n++)
            meeting.threads[n].accumulators = accumulators[n];
        meeting.is_done = true;
    }

private:
    using ThreadOperand = TensorThreadOperand TensorThread::*;

    void multiply(int64_t k, int64_t i, int64_t j) {
        const int64_t first_i = i * t.instruction.extent("i"),
                      first_j = j * t.instruction.extent("j"),
                      first_k = k * t.instruction.extent("k");
        const int64_t sums = place_of(plan.accumulators, Place{first_i, first_j})[1];
        Registers a, b;  // that are loaded
        const OperandAccess of_a = access_to_operand(plan.a, &TensorThread::a, {first_i, first_k},
                                                     {k, i, t.rows}, a),
                            of_b = access_to_operand(plan.b, &TensorThread::b, {first_k, first_j},
                                                     {k, j, t.columns}, b);
        execute(t.instruction, {access_to(accumulators, sums), of_a, of_b});
    }

    // The instruction's number along k and along the operand's rows, or columns, and how many of
    // these the tile has.
    struct Step {
        int64_t k, own, extent;
        size_t number(int64_t of_instruction) const {
            return size_t(k * (extent / of_instruction) + own);
        }
    };
    OperandAccess access_to_operand(const TensorPlan::Operand &o, ThreadOperand of_thread,
                                    const Place &first, const Step &step, Registers &loaded) {
        const int64_t of_instruction =
            t.instruction.extent(of_thread == &TensorThread::a ? "i" : "j");
        switch (o.given.source) {
        case TensorOperation::Source::Registers:
            return registers_of_threads(of_thread, place_of(o.layout, first)[1]);
        case TensorOperation::Source::Panels:
            return panels(o, of_thread, step.number(of_instruction));
        case TensorOperation::Source::HostRows:
            return host_rows(meeting.threads[0].*of_thread, step.number(of_instruction));
        case TensorOperation::Source::Rows: {
            // One load brings the operand for all instructions that share its rows (or columns).
            const int64_t of_load = TensorOperation::rows_of_load(t.instruction,
                                                                  o.of_instruction.name.text()),
                          shared_by = of_load / of_instruction,
                          registers = o.of_instruction.layout.output("register")->extent();
            const size_t number = size_t(step.k * (step.extent / of_load) + step.own / shared_by);
            loaded = load_fragment(*o.load, of_thread, number);
            return access_to(loaded, step.own % shared_by * registers);
        }
        }
        return {};
    }
    OperandAccess registers_of_threads(ThreadOperand of_thread, int64_t first) {
        OperandAccess access;
        access.load = [this, of_thread, first](const Place &p) {
            return (meeting.threads.at(size_t(p[0])).*of_thread).registers.at(size_t(p[1] + first));
        };
        return access;
    }

    // Puts the operands into storage of their own, runs the meaning, and takes the result.
    void execute(const Instruction &instruction, const std::vector<OperandAccess> &accesses) {
        Frame own;
        own.task = task;
        for (size_t n = 0; n < accesses.size(); n++) {
            const InstructionOperand &o = instruction.operands[n];
            auto storage = std::make_shared<FuncStorage>();
            int64_t stride = o.layout.size();
            for (const LayoutCoordinate &c : o.layout.coordinates)
                storage->add_dimension(0, c.extent, stride /= c.extent);
            auto memory = std::make_shared<Memory>(o.name.text(), o.type, o.layout.size(), 0, task);
            if (accesses[n].load) {
                int64_t index = 0;
                for_each_element(o.layout, [&](auto element) {
                    const Layout &layout = accesses[n].layout ? *accesses[n].layout : o.layout;
                    const Held held = accesses[n].load(place_of(layout, element));
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
        for_each_element(result.layout, [&](auto element) {
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
    Held load_at(const ElementPlace &first, int64_t index) const {
        Held held;
        held.word = first.memory->load(index, held.poison, by());
        return held;
    }

    // Loads by the rows whose places the threads give.
    Registers load_fragment(const Instruction &instruction, ThreadOperand of_thread,
                            size_t number) {
        Registers fragment(
            meeting.threads.size(),
            std::vector<Held>(size_t(instruction.operands[0].layout.outputs[1].extent())));
        OperandAccess rows;
        rows.load = [&](const Place &p) {
            return load((meeting.threads.at(size_t(p[0])).*of_thread).places.at(number), p[1]);
        };
        OperandAccess registers = access_to(fragment, 0);
        registers.load = nullptr;
        execute(instruction, {registers, rows});
        return fragment;
    }
    OperandAccess host_rows(const TensorThreadOperand &operand, size_t number) const {
        OperandAccess access;
        access.load = [this, &operand, number](const Place &p) {
            return load(operand.places.at(number), p[0] * operand.row_stride + p[1]);
        };
        return access;
    }
    OperandAccess panels(const TensorPlan::Operand &o, ThreadOperand of_thread, size_t number) {
        const ElementPlace &first = (meeting.threads[0].*of_thread).places.at(number);
        for (const TensorThread &thread : meeting.threads) {
            if ((thread.*of_thread).places.at(number) != first)
                throw RuntimeError(str("the threads that run ", t.instruction.name,
                                       " give it other places of an operand"));
        }
        OperandAccess access;
        access.layout = &o.layout;
        access.load = [this, first, swizzle = o.given.swizzle](const Place &p) {
            const int64_t index = first.memory->place_of(first.index + p[0], swizzle);
            meeting.reads->begin({first.memory, index});
            return load_at(first, index);
        };
        return access;
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
    const auto [known, is_new] = shared.tensor_plans.try_emplace(&s);
    if (is_new && TensorOperation::of(s).step == TensorOperation::Step::Multiply)
        known->second = std::make_unique<TensorPlan>(s);
    const TensorPlan *plan = known->second.get();
    if (!plan) return run(s.body);
    const Load *first = placed_element(plan->operation.accumulators);
    const auto threads = size_t(plan->operation.instruction.threads);
    if (!first || (!frame.block && threads > 1)) return run(s.body);  // storage is not flat yet

    const int64_t number =
        frame.block ? frame.thread[0] + frame.block->shape[0] * int64_t(frame.row) : 0;
    const size_t team = size_t(number) / threads, lane = size_t(number) % threads;
    std::shared_ptr<TensorMeeting> meeting;
    if (threads > 1) meeting = frame.block->tensor_meetings[{&s, team}];
    if (!meeting) meeting = std::make_shared<TensorMeeting>(threads);
    if (threads > 1) frame.block->tensor_meetings[{&s, team}] = meeting;
    TensorThread &own = meeting->threads[lane];
    take_operands(*plan, places, own);

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
        if (threads > 1) frame.block->tensor_meetings.erase({&s, team});
        RunTensorPlan(shared, frame.task, *plan, *meeting).run();
    } else {
        shared.coroutines.wait_until(
            [&] { return meeting->is_done; },
            str("threads that run ", plan->operation.instruction.name, " together"));
    }
    const Type type = first->type.element_of();
    const bool is_compared = !plan->operation.a.is_of_tile && !plan->operation.b.is_of_tile;
    for (size_t i = 0; i < by_loops.size(); i++) {
        const Held &result = own.accumulators[i];
        if (!is_compared) d.store(int64_t(i), result.word, result.poison, accessor());
        if (same(type, by_loops[i], result) || !is_compared) continue;
        const Layout elements = inverse(plan->accumulators);
        const Place e = place_of(elements, Place{int64_t(lane), int64_t(i)});
        throw RuntimeError(str(plan->operation.instruction.name, " computes ",
                               number_of(type, own.accumulators[i].word), " for row ", e[0],
                               " and column ", e[1], " of ", first->buffer,
                               ", and the loops that it stands for compute ",
                               number_of(type, by_loops[i].word)));
    }
    if (plan->operation.instruction.is_asynchronous)
        begin_sums(d_memory, own.accumulators, meeting->reads);
}

// The sums of an asynchronous operation are nobody's until the thread has waited for them.
void StatementRun::begin_sums(const MemoryRef &accumulators, const std::vector<Held> &results,
                              std::shared_ptr<MachineReads> reads) {
    PendingStores &group = frame.sums.emplace_back(PendingSums{{}, std::move(reads)}).stores;
    for (size_t i = 0; i < results.size(); i++) {
        accumulators->begin_copy(int64_t(i), accessor());
        group.push_back({accumulators, int64_t(i), results[i].word, results[i].poison});
    }
}

// The next operation on the same accumulators goes on with them without a wait.
void StatementRun::go_on_with_sums(const Memory &accumulators) {
    for (auto &[stores, reads] : frame.sums) {
        PendingStores &group = stores;
        for (const PendingStore &s : group) {
            if (s.memory.get() == &accumulators) s.memory->end_copy(s.index, s.word, s.poison);
        }
        std::erase_if(group,
                      [&](const PendingStore &s) { return s.memory.get() == &accumulators; });
    }
}

void StatementRun::wait_for_sums(size_t but) {
    while (frame.sums.size() > but) {
        for (const PendingStore &s : frame.sums.front().stores)
            s.memory->end_copy(s.index, s.word, s.poison);
        frame.sums.pop_front();
    }
}

void StatementRun::take_operands(const TensorPlan &plan, const Tape &places, TensorThread &own) {
    size_t next = 0;
    const auto take_place = [&](const Expr &place) {
        const Load &element = *placed_element(place);
        const MemoryRef &m = frame.memories.at(element.buffer);
        const auto byte = int64_t(places.result(next++).word() - Word(uintptr_t(m->address(0))));
        return ElementPlace{m, byte / element.type.element_of().bytes()};
    };
    const auto take = [&](const TensorPlan::Operand &planned, TensorThreadOperand &to) {
        if (planned.given.source == TensorOperation::Source::HostRows) {
            const int64_t row = take_place(planned.given.row).index;
            to.row_stride = take_place(planned.given.next_row).index - row;
        }
        for (const Expr &place : planned.given.places) to.places.push_back(take_place(place));
        if (planned.given.source != TensorOperation::Source::Registers) return;
        const ElementPlace first = to.places.at(0);
        to.registers.resize(size_t(planned.layout.output("register")->extent()));
        for (size_t i = 0; i < to.registers.size(); i++)
            to.registers[i].word =
                first.memory->load(first.index + int64_t(i), to.registers[i].poison, accessor());
    };
    take(plan.a, own.a);
    take(plan.b, own.b);
}

}  // namespace tessera::interpret
