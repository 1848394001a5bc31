#include "ir/cpu_tensor.h"
#include "base/error.h"
#include "interpret/statement_run.h"
#include "ir/operators.h"
#include <array>
#include <cmath>

// Runs instructions of CPUs by their own meaning on what their operands address, and compares with
// the loops that they stand for.
namespace tessera::interpret {

using namespace ir;

namespace {

// Says where an operand lies: the element at a row and the number of one in it.
struct OperandInRows {
    MemoryRef memory;
    int64_t first = 0, stride = 0;
    int64_t index(const std::vector<int64_t> &place) const {
        return first + place[0] * stride + place[1];
    }
};

// Calls `visit` for each element of an operand, the first coordinate fastest.
template<typename F>
void visit_elements(const Layout &layout, F visit) {
    const int64_t first = layout.coordinates[0].extent;
    for (int64_t i = 0; i < layout.size(); i++) {
        const std::array<int64_t, 2> element = {i % first, i / first};
        visit(i, element);
    }
}

bool sums_agree(Type type, const Held &a, const Held &b) {
    if (a.poison || b.poison) return a.poison == b.poison;
    if (a.word == b.word) return true;
    if (!type.is_float()) return false;
    const double x = double_of_word(type, a.word), y = double_of_word(type, b.word);
    constexpr double rounding = 1e-4;  // the order of a sum may be another one
    return (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= rounding * (1 + std::abs(x));
}

double number_of_sum(Type type, Word word) {
    return type.is_float() ? double_of_word(type, word) : double(int32_t(word));
}

// The instructions of one operation.
class RunCpuTensor {
public:
    RunCpuTensor(SharedState &shared, int task, const Instruction &instruction)
        : shared(shared), task(task), instruction(instruction) {}

    // The memory of the sums is that of the Tile, or a copy.
    void multiply(std::vector<Held> &sums, const OperandInRows &a, const OperandInRows &b,
                  int64_t first_sum) {
        Frame own;
        own.task = task;
        const MemoryRef of_d = realize(own, "D"), of_a = realize(own, "A"),
                        of_b = realize(own, "B");
        const Layout &d = instruction.operand("D").layout;
        visit_elements(d, [&](int64_t n, const auto &element) {
            const Held &held = sums.at(size_t(first_sum + place_of(d, element)[1]));
            of_d->store(n, held.word, held.poison, by());
        });
        copy(instruction.operand("A").layout, a, of_a);
        copy(instruction.operand("B").layout, b, of_b);
        StatementRun(shared, std::move(own)).run(instruction.meaning);
        visit_elements(d, [&](int64_t n, const auto &element) {
            Held &held = sums.at(size_t(first_sum + place_of(d, element)[1]));
            held.word = of_d->load(n, held.poison, by());
        });
    }

private:
    MemoryRef realize(Frame &own, std::string_view name) {
        const InstructionOperand &o = instruction.operand(name);
        auto storage = std::make_shared<FuncStorage>();
        int64_t stride = 1;
        for (const LayoutCoordinate &c : o.layout.coordinates) {
            storage->add_dimension(0, c.extent, stride);
            stride *= c.extent;
        }
        auto memory = std::make_shared<Memory>(o.name.text(), o.type, stride, 0, task);
        storage->values.push_back(memory);
        own.realizations[o.name] = std::move(storage);
        return memory;
    }
    void copy(const Layout &layout, const OperandInRows &from, const MemoryRef &to) {
        visit_elements(layout, [&](int64_t n, const auto &element) {
            Held held;
            held.word = from.memory->load(from.index(place_of(layout, element)), held.poison, by());
            to->store(n, held.word, held.poison, by());
        });
    }
    Accessor by() const { return {&shared.tasks, task, false}; }

    SharedState &shared;
    const int task;
    const Instruction &instruction;
};

}  // namespace

void StatementRun::run_cpu_tensor(const MachineOp &s) {
    const auto t = CpuTensorOperation::of(s);
    const bool is_flat = t.step == CpuTensorStep::Multiply && placed_element(t.sums);
    if (!is_flat) return run(s.body);
    std::vector<Expr> all = {t.a_row, t.a_next, t.b_row, t.b_next};
    all.insert(all.end(), t.a.begin(), t.a.end());
    all.insert(all.end(), t.b.begin(), t.b.end());
    const Tape &places = run_tape(s, [&] { return all; });
    const auto element_of = [&](size_t i) {
        const Load &load = *placed_element(all[i]);
        const MemoryRef &m = frame.memories.at(load.buffer);
        const auto byte = int64_t(places.result(i).word() - Word(uintptr_t(m->address(0))));
        return ElementPlace{m, byte / load.type.element_of().bytes()};
    };
    const auto rows_at = [&](size_t i, size_t row) {
        const ElementPlace first = element_of(i);
        return OperandInRows{first.memory, first.index,
                             element_of(row + 1).index - element_of(row).index};
    };
    std::vector<OperandInRows> a, b;
    for (size_t i = 0; i < t.a.size(); i++) a.push_back(rows_at(4 + i, 0));
    for (size_t i = 0; i < t.b.size(); i++) b.push_back(rows_at(4 + t.a.size() + i, 2));

    const MemoryRef memory = frame.memories.at(placed_element(t.sums)->buffer);
    const auto take_sums = [&] {
        std::vector<Held> sums(size_t(t.rows * t.columns));
        for (size_t i = 0; i < sums.size(); i++)
            sums[i].word = memory->load(int64_t(i), sums[i].poison, accessor());
        return sums;
    };
    std::vector<Held> sums = take_sums();
    // Statements that have run are remembered by their nodes, which have to stay.
    const auto instruction = shared.cpu_instructions.try_emplace(t.instruction).first;
    if (instruction->second.operands.empty()) instruction->second = t.row().instruction();
    RunCpuTensor machine(shared, frame.task, instruction->second);
    for (int64_t k = 0; k < t.k_steps(); k++) {
        for (int64_t i = 0; i < t.row_steps(); i++) {
            for (int64_t j = 0; j < t.column_steps(); j++)
                machine.multiply(sums, a[size_t(k * t.row_steps() + i)],
                                 b[size_t(k * t.column_steps() + j)], t.first_sum(i, j));
        }
    }
    run(s.body);
    const std::vector<Held> by_loops = take_sums();
    const Type type = t.row().sum;
    const Layout layout = t.layout();
    visit_elements(layout, [&](int64_t, const auto &element) {
        const auto n = size_t(place_of(layout, element)[1]);
        if (sums_agree(type, by_loops[n], sums[n])) return;
        throw RuntimeError(str(t.instruction, " computes ", number_of_sum(type, sums[n].word),
                               " for row ", element[0], " and column ", element[1],
                               ", and the loops that it stands for compute ",
                               number_of_sum(type, by_loops[n].word)));
    });
}

}  // namespace tessera::interpret
