#include "autoscheduler/workload.h"
#include "autoscheduler/processes.h"
#include "program/environment.h"
#include <algorithm>
#include <cstring>

namespace tessera::autoscheduler {

using interpret::OwnedBuffer;
using program::Parameter;

namespace {

// Dense; the dimension that has to have a stride of 1 is innermost.
std::vector<tessera_dimension_t> shape_of(const Box &box, const Parameter *p,
                                          const Estimates &estimates) {
    std::vector<size_t> order;
    for (size_t d = 0; d < box.size(); d++) order.push_back(d);
    auto stride = [&](size_t d) -> std::optional<int64_t> {
        return p && d < p->constraints.size() ? estimates.number(p->constraints[d].stride)
                                              : std::nullopt;
    };
    std::ranges::stable_sort(order, {}, [&](size_t d) { return stride(d) == 1 ? 0 : 1; });
    std::vector<tessera_dimension_t> dims(box.size());
    int64_t next = 1;
    for (size_t d : order) {
        dims[d] = {int32_t(box[d].min), int32_t(box[d].extent()), int32_t(next), 0};
        next *= std::max<int64_t>(1, box[d].extent());
    }
    return dims;
}

}  // namespace

Workload::Workload(const program::Program &program, const program::Algorithm &algorithm,
                   const Graph &graph, const Target &target, driver::Externs externs)
    : whole(program), of_program(algorithm), of_algorithm(graph), machine(target),
      functions(std::move(externs)) {
    const program::Environment all = program::find_transitive_calls(program.outputs);
    for (const auto &p : program::find_parameters(program, all)) {
        add_input(*p);
        by_name[p->name] = pointers.back();
    }
}

std::vector<void *> Workload::inputs_of(const program::Program &scheduled) const {
    const program::ProgramCopy copy = program::copy_reachable(scheduled);
    std::vector<void *> inputs;
    for (const auto &p : program::find_parameters(copy.program, copy.environment)) {
        const auto found = by_name.find(p->name);
        if (found == by_name.end())
            throw CompileError(str("the algorithm has no parameter named ", p->name));
        inputs.push_back(found->second);
    }
    return inputs;
}

void Workload::add_input(const Parameter &p) {
    if (!p.is_buffer) {
        uint64_t bits = p.scalar_bits;
        const Estimates &estimates = of_algorithm.estimates;
        if (!p.scalar_is_set) {
            const double value = estimates.real(p).value_or(1);
            if (p.type == Float(32)) {
                const float v = float(value);
                std::memcpy(&bits, &v, sizeof(v));
            } else if (p.type == Float(64)) {
                std::memcpy(&bits, &value, sizeof(value));
            } else {
                bits = uint64_t(int64_t(value));
            }
        }
        scalars.push_back(bits);
        pointers.push_back(&scalars.back());
        return;
    }
    if (p.embedded) {
        pointers.push_back(p.buffer);
        return;
    }
    const auto image = std::ranges::find(of_algorithm.images, p.name.text(), &ImageNode::name);
    const Box box =
        image == of_algorithm.images.end() ? Box(size_t(p.dimensions), Span{0, 0}) : image->box;
    OwnedBuffer &b = buffers.emplace_back(p.type, shape_of(box, &p, of_algorithm.estimates));
    b.allocate();
    fill_with_random_values(b.data.data(), b.data.size(), b.buffer.type, uint32_t(buffers.size()));
    pointers.push_back(&b.buffer);
}

std::deque<OwnedBuffer> Workload::new_outputs() const {
    std::deque<OwnedBuffer> outputs;
    for (const program::FunctionRef &f : of_program.outputs()) {
        const FunctionNode &node = of_algorithm.functions[size_t(of_algorithm.find(f->name))];
        for (size_t k = 0; k < f->types.size(); k++) {
            const Parameter *p =
                k < f->output_buffers.size() ? f->output_buffers[k].get() : nullptr;
            outputs.emplace_back(f->types[k], shape_of(node.estimated, p, of_algorithm.estimates));
            outputs.back().allocate();
        }
    }
    return outputs;
}

program::Program Workload::with(const program::ScheduledProgram &scheduled) const {
    program::Program p = whole;
    p.outputs = scheduled.outputs();
    return p;
}

}  // namespace tessera::autoscheduler
