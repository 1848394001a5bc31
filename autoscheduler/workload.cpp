#include "autoscheduler/workload.h"
#include "autoscheduler/processes.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "lower/lower.h"
#include "program/environment.h"
#include <algorithm>
#include <cstring>
#include <limits>

namespace tessera::autoscheduler {

using program::Parameter;

namespace {

// Puts the sizes of a buffer, as they are estimated, into the constraints on its strides.
class WithSizes final : public ir::Mutator {
public:
    WithSizes(const Parameter &p, const Box &box) : p(p), box(box) {}

private:
    using Mutator::visit;
    ir::Expr visit(const ir::BufferProperty &b) override {
        const bool is_extent = b.field == BufferField::Extent, is_min = b.field == BufferField::Min;
        if (b.buffer != p.name || !(is_extent || is_min)) return ir::Expr(&b);
        const Span &span = box.at(size_t(b.dim));
        return ir::make_const(b.type, is_min ? span.min : span.extent());
    }
    const Parameter &p;
    const Box &box;
};

// Chooses strides: those that the program asks for, and for each other dimension the least one
// with which no two values are in one place.
class Strides {
public:
    Strides(const Box &box, const Parameter *p, const Estimates &estimates) : box(box) {
        for (size_t d = 0; d < box.size(); d++) {
            std::optional<int64_t> wanted;
            if (p && d < p->constraints.size() && p->constraints[d].stride.defined())
                wanted = estimates.number(WithSizes(*p, box)(p->constraints[d].stride));
            strides.push_back(wanted);
        }
        for (size_t d = 0; d < box.size(); d++) {
            if (!strides[d]) strides[d] = least(d);
        }
    }
    // Each has been found when the constructor returns.
    int64_t operator[](size_t d) const { return strides[d].value_or(1); }

private:
    // Returns the least stride for a dimension with which no two values are in one place, beside
    // the dimensions that have a stride already.
    int64_t least(size_t d) const {
        std::vector<int64_t> candidates = {1};
        for (size_t other = 0; other < box.size(); other++) {
            if (const std::optional<int64_t> stride = strides[other])
                candidates.push_back(std::abs(*stride) * box[other].extent());
        }
        std::ranges::sort(candidates);
        for (int64_t stride : candidates) {
            if (stride > 0 && fits(d, stride)) return stride;
        }
        int64_t behind_all = 1;
        for (size_t other = 0; other < box.size(); other++) behind_all += reach(other);
        return behind_all;
    }
    // Returns how far the last value of a dimension is from the first one.
    int64_t reach(size_t d) const {
        const int64_t steps = std::max<int64_t>(0, box[d].extent() - 1);
        return std::abs(strides[d].value_or(0)) * steps;
    }
    // Returns true if what is within one step of a dimension is less than that step.
    bool fits(size_t d, int64_t stride) const {
        const int64_t own = stride * std::max<int64_t>(0, box[d].extent() - 1);
        if (reach_below(stride + 1) >= stride) return false;
        return std::ranges::all_of(strides, [&](const std::optional<int64_t> &outer) {
            return !outer || std::abs(*outer) <= stride ||
                   own + reach_below(std::abs(*outer)) < std::abs(*outer);
        });
    }
    // Returns how far the dimensions with smaller strides go.
    int64_t reach_below(int64_t stride) const {
        int64_t sum = 0;
        for (size_t d = 0; d < box.size(); d++) {
            if (std::abs(strides[d].value_or(stride)) < stride) sum += reach(d);
        }
        return sum;
    }

    const Box &box;
    std::vector<std::optional<int64_t>> strides;
};

ArrayLayout layout(const std::string &name, Type type, const Box &box, const Parameter *p,
                   const Estimates &estimates) {
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    ArrayLayout a;
    a.name = name;
    a.type = {uint8_t(type.code()), uint8_t(type.bits()), 1};
    a.alignment = p ? size_t(p->host_alignment) : 1;
    for (size_t d = 0; d < box.size(); d++) {
        if (box[d].extent() <= most && box[d].min >= -most && box[d].max <= most) continue;
        throw RuntimeError(str("the dimension ", d, " of ", name, " would have to go from ",
                               box[d].min, " to ", box[d].max,
                               ", as estimated: call set_estimate for it"));
    }
    const Strides strides(box, p, estimates);
    for (size_t d = 0; d < box.size(); d++) {
        if (std::abs(strides[d]) > most)
            throw RuntimeError(str("no buffer can be as large as ", name,
                                   " is estimated to be: the stride of its dimension ", d,
                                   " would be ", strides[d]));
        a.dims.push_back({int32_t(box[d].min), int32_t(box[d].extent()), int32_t(strides[d]), 0});
    }
    return a;
}

}  // namespace

Workload::Workload(const program::Program &program, const program::Algorithm &algorithm,
                   const Graph &graph, const Target &target, driver::Externs externs)
    : whole(program), of_program(algorithm), of_algorithm(graph), machine(target),
      functions(std::move(externs)) {
    const program::Environment all = program::find_transitive_calls(program.outputs);
    all_parameters = program::find_parameters(program, all);
}

uint64_t Workload::scalar_bits(const Parameter &p) const {
    if (p.scalar_is_set) return p.scalar_bits;
    const double value = of_algorithm.estimates.real(p).value_or(1);
    uint64_t bits = 0;
    if (p.type == Float(32)) {
        const float v = float(value);
        std::memcpy(&bits, &v, sizeof(v));
    } else if (p.type == Float(64)) {
        std::memcpy(&bits, &value, sizeof(value));
    } else {
        bits = uint64_t(int64_t(value));
    }
    return bits;
}

Box Workload::box_of(const Parameter &p) const {
    const auto image = std::ranges::find(of_algorithm.images, p.name.text(), &ImageNode::name);
    return image == of_algorithm.images.end() ? Box(size_t(p.dimensions), Span{0, 0}) : image->box;
}

ArrayLayout Workload::layout_of(const Parameter &p, const Box &box) const {
    return layout(str("the input ", p.name), p.type, box, &p, of_algorithm.estimates);
}

std::vector<ArrayLayout> Workload::layouts_of_outputs() const {
    std::vector<ArrayLayout> all;
    for (const program::FunctionRef &f : of_program.outputs()) {
        const FunctionNode &node = of_algorithm.functions[size_t(of_algorithm.find(f->name))];
        for (size_t k = 0; k < f->types.size(); k++) {
            const Parameter *p =
                k < f->output_buffers.size() ? f->output_buffers[k].get() : nullptr;
            all.push_back(layout(str("the output ", f->name), f->types[k], node.estimated, p,
                                 of_algorithm.estimates));
        }
    }
    return all;
}

program::Program Workload::with(const program::ScheduledProgram &scheduled) const {
    program::Program p = whole;
    p.outputs = scheduled.outputs();
    return p;
}

std::string Workload::why_refused(const program::Schedule &schedule) const {
    try {
        const program::ScheduledProgram scheduled = program::apply(of_program, schedule);
        lower::lower(with(scheduled), driver::file_target(machine));
        return "";
    } catch (const Error &e) {
        return e.what();
    }
}

Inputs::Inputs(const Workload &workload, const std::map<Symbol, Box> &sizes) {
    for (const auto &p : workload.parameters()) {
        void *value = p->buffer;
        if (!p->is_buffer) {
            value = &scalars.emplace_back(workload.scalar_bits(*p));
        } else if (!p->embedded) {
            const auto size = sizes.find(p->name);
            const Box box = size == sizes.end() ? workload.box_of(*p) : size->second;
            Array &a = arrays.emplace_back(workload.layout_of(*p, box), arrays.size());
            fill_with_random_values(a.data(), a.bytes(), a.buffer.type, uint32_t(arrays.size()));
            value = &a.buffer;
        }
        by_name[p->name] = value;
    }
}

std::vector<void *> Inputs::of(const program::Program &scheduled) const {
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

void Inputs::place(int placement) {
    for (Array &a : arrays) a.place(placement);
}

}  // namespace tessera::autoscheduler
