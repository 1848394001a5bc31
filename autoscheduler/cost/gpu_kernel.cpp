#include "autoscheduler/cost/gpu_kernel.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tessera::autoscheduler {

namespace {

// Instructions of a lane. Of those without a pipe for each lane, more.
double instructions(const Operations &o, const GpuRates &rates) {
    using enum OperationClass;
    const double per_lane = GpuRates::lanes_issued;
    const double integer = per_lane / rates.i32, product = per_lane / rates.multiply_add;
    const double conversion = per_lane / rates.conversions, special = per_lane / rates.special;
    const double of_float = per_lane / rates.f32;
    return (o.of(FloatAdd) + o.of(FloatMul) - o.fused_count) * of_float + o.of(FloatDiv) * 8 +
           o.of(FloatMath) * (special + 8) + o.of(IntAdd) + o.of(IntMul) * product +
           o.of(IntDiv) * 8 + (o.of(Choice) + o.of(Bits)) * integer / 2 + o.of(Cast) * conversion +
           o.of(Other);
}

// A load or store of a word by all lanes of a warp takes as long as so many instructions.
double cost_of_word(const GpuRates &rates) {
    return double(GpuRates::lanes_issued) * 4 / rates.l1_bytes;
}

// Says how many times as long a warp's access takes if its lanes touch other lines.
double scatter_of(const Growths &growths, size_t variable) {
    constexpr double of_data = 4, of_columns = 8;
    if (growths.empty()) return 1;
    for (size_t d = 1; d < growths.size(); d++) {
        const Growth &g = growths[d][variable];
        if (std::isnan(g.mean)) return of_data;
        if (std::abs(g.mean) >= 1) return of_columns;
    }
    const double stride = growths[0][variable].mean;
    if (std::isnan(stride)) return of_data;
    return std::clamp(std::abs(stride), 1.0, of_columns);
}

// Returns true if data say which element it is: no variable, quotient or rest does.
bool is_chosen_by_data(const Growths &growths) {
    return std::ranges::any_of(growths, [](const std::vector<Growth> &along) {
        return std::ranges::any_of(along, [](const Growth &g) {
            return std::isnan(g.mean) && !g.repeats && g.period == 1;
        });
    });
}

double volume(const Box &box) {
    double product = 1;
    for (const Span &s : box) product *= double(s.extent());
    return product;
}

void widen(Box &box, const Box &with) {
    if (box.empty()) {
        box = with;
        return;
    }
    for (size_t d = 0; d < box.size(); d++) box[d].unite(with[d]);
}

// The spans of a stage's variables for a box of its function.
std::vector<Span> spans_for(const StageNode &stage, const Box &box) {
    std::vector<Span> spans;
    for (size_t d : stage.dimensions) spans.push_back(box[d]);
    spans.insert(spans.end(), stage.domain.begin(), stage.domain.end());
    return spans;
}

Span middle(const Span &all, int64_t count) {
    count = std::clamp<int64_t>(count, 1, std::max<int64_t>(1, all.extent()));
    const int64_t rest = std::max<int64_t>(1, all.extent()) - count;
    const int64_t first = all.min + rest / 2 / count * count;
    return {first, first + count - 1};
}

double points_of(const StageNode &stage, std::span<const Span> spans) {
    double product = 1;
    for (size_t v = 0; v < stage.variables.size(); v++)
        product *= double(std::max<int64_t>(1, spans[v].extent()));
    return product;
}

// The variable along which the threads of a warp lie.
int variable_of_lanes(const GpuStagePlan &plan) {
    for (size_t v = 0; v < plan.axes.size(); v++) {
        if (plan.axes[v].threads > 1) return int(v);
    }
    return -1;
}

// A block has in each dimension the threads that the stage with most of them there asks for.
struct BlockShape {
    std::array<int64_t, 3> threads = {1, 1, 1};

    void add(const GpuStagePlan &plan) {
        std::array<int64_t, 3> own = {1, 1, 1};
        size_t dimension = 0;
        for (const GpuAxis &a : plan.axes) {
            if (a.threads > 1) own[std::min<size_t>(dimension++, 2)] *= a.threads;
        }
        for (size_t d = 0; d < own.size(); d++) threads[d] = std::max(threads[d], own[d]);
    }
    int all() const { return int(threads[0] * threads[1] * threads[2]); }
};

// Adds up what one kernel does.
class Counting {
public:
    Counting(GpuKernels &kernels, const GpuPlan &plan, const StageNode &owner)
        : kernels(kernels), graph(kernels.graph), plan(plan), owner(owner),
          word(cost_of_word(kernels.machine.rates)) {}

    GpuKernel operator()() {
        kernel.name = graph.functions[size_t(owner.function)].name;
        kernel.stage = graph.functions[size_t(owner.function)].stages[size_t(owner.number)];
        const GpuStagePlan &loops =
            plan.functions[size_t(owner.function)].stages[size_t(owner.number)];
        const std::vector<Span> all = graph.spans_of(owner);
        for (size_t v = 0; v < owner.pure; v++) {
            const GpuAxis &a = loops.axes[v];
            const double extent = double(std::max<int64_t>(1, all[v].extent()));
            if (!a.in_thread) kernel.blocks *= std::ceil(extent / double(a.threads * a.points));
        }
        const std::vector<Span> tile = tile_of_block(graph, owner, loops);
        shape.add(loops);
        kernel.threads = shape.all();
        in_block = boxes_needed(graph, owner, tile, computed_by_block(graph, plan));
        double of_block = lanes_of_nest(owner, loops, points_of(owner, tile));
        for (size_t n = 0; n < graph.functions.size(); n++) {
            const GpuFunctionPlan &p = plan.functions[n];
            if (p.place != GpuPlace::Block || in_block.functions[n].empty()) continue;
            of_block += lanes_of_member(int(n));
        }
        kernel.lane_operations = of_block * kernel.blocks;
        kernel.of_thread = of_block / std::max(1, kernel.threads);
        count_bytes();
        return kernel;
    }

private:
    // A stage's loops with what its threads compute for it.
    double lanes_of_nest(const StageNode &stage, const GpuStagePlan &loops, double points) {
        const std::vector<Span> of_thread = tile_of_thread(graph, stage, loops);
        const double points_of_thread = points_of(stage, of_thread);
        const double threads = points / points_of_thread;
        const NeededBoxes boxes =
            boxes_needed(graph, stage, of_thread, computed_by_thread(graph, plan));
        std::map<std::pair<int, int>, Loads> loads;
        double held = 0;
        double all = work(stage, points_of_thread, variable_of_lanes(loops), loads);
        for (size_t n = 0; n < graph.functions.size(); n++) {
            if (plan.functions[n].place != GpuPlace::Thread || boxes.functions[n].empty()) continue;
            const FunctionNode &f = graph.functions[n];
            held += volume(boxes.functions[n]) * std::max(1, f.bytes / 4);
            for (int s : f.stages) {
                const StageNode &member = graph.stages[size_t(s)];
                const std::vector<Span> spans = spans_for(member, boxes.functions[n]);
                all += work(member, points_of(member, spans), -1, loads);
            }
        }
        kernel.held = std::max(kernel.held, held);
        for (const auto &[source, l] : loads) {
            const Source of = {source.first, source.second};
            // A value that a thread reads several times stays in a register.
            const double distinct = boxes.of(of).empty() ? l.count : volume(boxes.of(of));
            all += word * std::min(l.count, distinct) * l.scatter;
        }
        const double fixed = 25;  // indices of block and thread, bounds, addresses
        const double stored = points_of_thread / domain_of(stage);
        return threads * (all + fixed + word * stored);
    }
    static double domain_of(const StageNode &stage) {
        double product = 1;
        for (const Span &s : stage.domain) product *= double(std::max<int64_t>(1, s.extent()));
        return product;
    }

    struct Loads {
        double count = 0, scatter = 1;
    };
    double work(const StageNode &stage, double points, int lanes_along,
                std::map<std::pair<int, int>, Loads> &loads) {
        const PointWorkRef work = kernels.work_of(plan, stage);
        for (const Leaf &leaf : work->leaves) {
            const int f = leaf.source.function;
            if (f == stage.function) continue;
            if (f >= 0 && plan.functions[size_t(f)].place == GpuPlace::Thread) {
                kernel.has_addressed_values |= is_chosen_by_data(leaf.growths);
                continue;
            }
            Loads &l = loads[{f, leaf.source.image}];
            l.count += leaf.loads * points;
            const bool is_shared = f >= 0 && plan.functions[size_t(f)].place == GpuPlace::Block;
            if (lanes_along >= 0 && !is_shared)
                l.scatter = std::max(l.scatter, scatter_of(leaf.growths, size_t(lanes_along)));
        }
        return points * instructions(work->operations, kernels.machine.rates);
    }

    // Says what a block computes for its tile.
    double lanes_of_member(int n) {
        constexpr double barrier = 30;
        const FunctionNode &f = graph.functions[size_t(n)];
        const Box &box = in_block.functions[size_t(n)];
        kernel.shared_bytes += volume(box) * f.bytes;
        double all = 0;
        for (size_t s = 0; s < f.stages.size(); s++) {
            const StageNode &stage = graph.stages[size_t(f.stages[s])];
            const GpuStagePlan &loops = plan.functions[size_t(n)].stages[s];
            shape.add(loops);
            kernel.threads = shape.all();
            kernel.parts++;
            // Turns are whole.
            double points = 1;
            for (size_t v = 0; v < stage.pure; v++) {
                const double extent = double(box[stage.dimensions[v]].extent());
                const double threads = double(loops.axes[v].threads);
                points *= std::ceil(extent / threads) * threads;
            }
            all += lanes_of_nest(stage, loops, points * domain_of(stage)) +
                   barrier * double(kernel.threads);
        }
        return all;
    }

    // What was written before stays in the last cache, if there is room.
    void count_bytes() {
        const double may_stay = 0.4e6 * kernels.machine.card.l2_megabytes;
        const auto add = [&](double bytes, bool is_made_here) {
            (is_made_here && bytes < may_stay ? kernel.bytes_from_cache
                                              : kernel.bytes_from_memory) += bytes;
        };
        for (size_t n = 0; n < graph.functions.size(); n++) {
            const bool is_stored = plan.functions[n].place == GpuPlace::Root || graph.is_fixed[n];
            if (!is_stored || in_block.functions[n].empty() || int(n) == owner.function) continue;
            add(part_read(in_block.functions[n], graph.functions[n].required) *
                    graph.functions[n].bytes,
                true);
        }
        for (size_t i = 0; i < graph.images.size(); i++) {
            if (in_block.images[i].empty()) continue;
            add(part_read(in_block.images[i], graph.images[i].box) * graph.images[i].bytes, false);
        }
        const FunctionNode &f = graph.functions[size_t(owner.function)];
        double written = f.bytes;
        for (size_t v = 0; v < owner.pure; v++)
            written *= double(std::max<int64_t>(1, f.required[owner.dimensions[v]].extent()));
        add(owner.number == 0 ? written : 2 * written, !f.is_output);
    }
    double part_read(const Box &of_block, const Box &all) const {
        return std::min(volume(of_block) * kernel.blocks, volume(all));
    }

    GpuKernels &kernels;
    const Graph &graph;
    const GpuPlan &plan;
    const StageNode &owner;
    const double word;
    GpuKernel kernel;
    BlockShape shape;
    NeededBoxes in_block;
};

}  // namespace

std::vector<Span> tile_of_block(const Graph &graph, const StageNode &stage,
                                const GpuStagePlan &loops) {
    std::vector<Span> spans = graph.spans_of(stage);
    for (size_t v = 0; v < stage.pure; v++) {
        const GpuAxis &a = loops.axes[v];
        if (!a.in_thread) spans[v] = middle(spans[v], a.threads * a.points);
    }
    return spans;
}

std::vector<Span> tile_of_thread(const Graph &graph, const StageNode &stage,
                                 const GpuStagePlan &loops) {
    std::vector<Span> spans = graph.spans_of(stage);
    for (size_t v = 0; v < stage.pure; v++) {
        if (!loops.axes[v].in_thread) spans[v] = middle(spans[v], loops.axes[v].points);
    }
    return spans;
}

std::function<bool(int)> computed_by_block(const Graph &graph, const GpuPlan &plan) {
    return [&](int f) {
        return !graph.is_fixed[size_t(f)] && plan.functions[size_t(f)].place != GpuPlace::Root;
    };
}

std::function<bool(int)> computed_by_thread(const Graph &graph, const GpuPlan &plan) {
    return [&](int f) {
        const GpuPlace place = plan.functions[size_t(f)].place;
        return !graph.is_fixed[size_t(f)] &&
               (place == GpuPlace::Inline || place == GpuPlace::Thread);
    };
}

NeededBoxes boxes_needed(const Graph &graph, const StageNode &stage, std::span<const Span> spans,
                         const std::function<bool(int)> &passes) {
    NeededBoxes boxes = {std::vector<Box>(graph.functions.size()),
                         std::vector<Box>(graph.images.size())};
    const auto add = [&](const StageNode &reader, std::span<const Span> values) {
        for (const Access &a : reader.accesses) {
            if (a.source.function == reader.function) continue;
            Box read;
            for (const IndexProgram &index : a.index) read.push_back(index.run(values));
            Box &box = a.source.function >= 0 ? boxes.functions[size_t(a.source.function)]
                                              : boxes.images[size_t(a.source.image)];
            widen(box, read);
        }
    };
    add(stage, spans);
    for (int n = stage.function; n-- > 0;) {
        Box &box = boxes.functions[size_t(n)];
        if (box.empty()) continue;
        const FunctionNode &f = graph.functions[size_t(n)];
        for (size_t d = 0; d < box.size(); d++) {
            // What data decide is no more than all that is there.
            if (!f.required[d].is_empty()) box[d].intersect(f.required[d]);
            if (box[d].is_empty()) box[d] = {f.required[d].min, f.required[d].min};
        }
        if (!passes(n)) continue;
        for (int s : f.stages) {
            const StageNode &member = graph.stages[size_t(s)];
            add(member, spans_for(member, box));
        }
    }
    return boxes;
}

std::string GpuKernel::why_illegal(const GpuMachine &machine) const {
    if (threads > GpuLimits::threads_of_block)
        return str("a block has ", threads, " threads, and ", GpuLimits::threads_of_block,
                   " are the most");
    if (shared_bytes > machine.limits.shared_of_block())
        return str("a block shares ", shared_bytes, " bytes, and the GPU has ",
                   machine.limits.shared_of_block());
    if (has_addressed_values) return "data choose among the values that a thread keeps";
    if (held > most_held)
        return str("a thread keeps ", held, " values, and ", most_held, " fit its registers");
    return "";
}

int GpuKernel::registers() const { return int(std::clamp(held + 30, 32.0, 255.0)); }

double GpuKernel::occupancy(const GpuMachine &machine) const {
    return autoscheduler::occupancy(machine.limits, {threads, registers(), int(shared_bytes)});
}

GpuKernel::Times GpuKernel::times(const GpuMachine &machine) const {
    constexpr double efficiency = 0.6, waits = 4, start = 800;
    const int resident =
        std::max(1, resident_blocks(machine.limits, {threads, registers(), int(shared_bytes)}));
    const double at_once = double(machine.card.multiprocessors) * resident;
    const double waves = std::ceil(blocks / at_once);
    const double cycles = 1e-3 / machine.card.gigahertz;  // in microseconds
    const double spread = std::min(1.0, blocks / machine.card.multiprocessors);
    const double in_flight =
        std::min(1.0, blocks * threads / (machine.card.multiprocessors * 512.0));
    Times t;
    t.launch = machine.card.launch_microseconds;
    t.instructions = lane_operations / (machine.lanes_in_microsecond() * efficiency * spread);
    // Each instruction of a thread alone waits for the one before.
    t.one_thread = waves * (of_thread * waits + start) * cycles;
    t.memory = (bytes_from_memory / (machine.card.dram_terabytes * 1e6) +
                bytes_from_cache / (machine.card.l2_terabytes * 1e6)) /
               in_flight;
    return t;
}

std::string_view GpuKernel::Times::bound() const {
    if (all() < 2 * launch) return "launch";
    if (memory >= std::max(instructions, one_thread)) return "memory";
    return instructions >= one_thread ? "instructions" : "latency";
}

PointWorkRef GpuKernels::work_of(const GpuPlan &plan, const StageNode &stage) {
    std::vector<bool> is_inlined(graph.functions.size());
    // Only those before it matter.
    for (int n = 0; n < stage.function; n++)
        is_inlined[size_t(n)] =
            plan.functions[size_t(n)].place == GpuPlace::Inline && !graph.is_fixed[size_t(n)];
    const int number = graph.functions[size_t(stage.function)].stages[size_t(stage.number)];
    PointWorkRef &work = works[{number, is_inlined}];
    if (!work) work = std::make_shared<PointWork>(graph, stage, is_inlined);
    return work;
}

GpuKernel GpuKernels::kernel_of(const GpuPlan &plan, const StageNode &stage) {
    return Counting(*this, plan, stage)();
}

std::vector<GpuKernel> GpuKernels::kernels_of(const GpuPlan &plan) {
    std::vector<GpuKernel> all;
    for (size_t n = 0; n < graph.functions.size(); n++) {
        const FunctionNode &f = graph.functions[n];
        if (plan.functions[n].place != GpuPlace::Root || graph.is_fixed[n] || f.is_extern) continue;
        for (int s : f.stages) {
            const StageNode &stage = graph.stages[size_t(s)];
            if (stage.stores_nothing) continue;
            all.push_back(kernel_of(plan, stage));
        }
    }
    return all;
}

double GpuKernels::microseconds(const GpuPlan &plan) {
    double all = 0;
    for (const GpuKernel &kernel : kernels_of(plan)) {
        if (!kernel.why_illegal(machine).empty()) return std::numeric_limits<double>::infinity();
        all += kernel.microseconds(machine);
    }
    return all;
}

}  // namespace tessera::autoscheduler
