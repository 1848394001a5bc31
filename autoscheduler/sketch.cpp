#include "autoscheduler/sketch.h"
#include "autoscheduler/copies.h"
#include "autoscheduler/mutate.h"
#include "autoscheduler/vector_reductions.h"
#include "program/associativity.h"
#include <algorithm>
#include <map>
#include <set>

namespace tessera::autoscheduler {

using namespace program;

namespace {

// Makes the steps that factor one reduction.
class ReductionFactoring {
public:
    ReductionFactoring(const Graph &graph, const StageNode &stage, const Machine &machine)
        : graph(graph), stage(stage), machine(machine),
          function(*graph.functions[size_t(stage.function)].function) {}

    std::vector<Variant> operator()() const {
        std::vector<Variant> variants;
        if (!has_few_results() || !is_sum()) return variants;
        const std::string name = name_of_stage();
        const Symbol first = stage.variables.name(stage.pure);
        if (const auto lanes = in_lanes(stage.number, function.name, first, extent(stage.pure))) {
            variants.push_back({str(name, ": partial results in lanes"), *lanes});
        }
        const auto on_cores = machine.cores > 1 ? in_tasks() : std::nullopt;
        if (!on_cores) return variants;
        variants.push_back({str(name, ": partial results on cores"), *on_cores});
        const bool is_one = stage.variables.size() == stage.pure + 1;  // the one that was split
        const auto both_in_lanes = is_one
                                       ? in_lanes(1, of_tasks(), name_of(first, "ti"), per_task())
                                       : in_lanes(1, of_tasks(), first, extent(stage.pure));
        if (auto both = both_in_lanes) {
            both->insert(both->begin(), on_cores->begin(), on_cores->end());
            variants.push_back({str(name, ": partial results on cores and in lanes"), *both});
        }
        return variants;
    }

    // With many results, vectors of these would read rows lane by lane.
    std::optional<std::vector<Step>> of_rows() const {
        if (stage.number == 0 || !stage.is_reduction() || results() < 2 ||
            points_each() < many_each || !reads_along_reduction(stage) || !is_sum())
            return std::nullopt;
        return in_lanes(stage.number, function.name, stage.variables.name(stage.pure),
                        extent(stage.pure));
    }

    // With results enough, loops over them are for vectors and cores.
    bool has_few_results() const {
        return results() <= few && points_each() >= std::max(many_each, results());
    }

    // The chunks are of the last variable, whose loop is the outermost.
    std::vector<Variant> in_tiles() const {
        constexpr double points_of_chunk = 512;
        const bool is_output = graph.functions[size_t(stage.function)].is_output;
        if (!is_output || stage.pure < 2 || results() <= few || points_each() < many_each)
            return {};
        if (writes_by_data() || !is_sum()) return {};
        const size_t last = stage.variables.size() - 1;
        const double others = points_each() / double(extent(last));
        int64_t chunk = extent(last);
        while (chunk > 1 && (others * double(chunk) > points_of_chunk || extent(last) % chunk != 0))
            chunk--;
        return {
            {str(name_of_stage(), ": sums of tiles"),
             factored(stage.number, function.name, stage.variables.name(last), chunk, "s", false)}};
    }

private:
    static constexpr double few = 4096, many_each = 64;

    double results() const {
        double product = 1;
        for (const Span &s : graph.functions[size_t(stage.function)].required)
            product *= double(std::max<int64_t>(1, s.extent()));
        return product;
    }
    double points_each() const {
        double product = 1;
        for (size_t v = stage.pure; v < stage.variables.size(); v++) product *= double(extent(v));
        return product;
    }
    bool is_sum() const {
        if (stage.number == 0 || !stage.is_reduction()) return false;
        const auto update = prove_associativity(function, *stage.definition);
        return update && update->commutative && update->has_identities();
    }
    std::string name_of_stage() const {
        return str(function.name, ".update(", stage.number - 1, ")");
    }

    int64_t extent(size_t v) const {
        return std::max<int64_t>(1, stage.domain[v - stage.pure].extent());
    }

    // The first variable of the reduction goes along the rows of what is read.
    std::optional<std::vector<Step>> in_lanes(int number, Symbol of, Symbol r, int64_t of_r) const {
        const int64_t widest = std::max(1, graph.functions[size_t(stage.function)].widest);
        int64_t lanes =
            4 * int64_t(machine.vector_bytes) / widest;  // as many sums as hide their latency
        while (lanes > 4 && of_r % lanes != 0) lanes /= 2;
        if (lanes < 4 || of_r < 2 * lanes || writes_by_data()) return std::nullopt;
        return factored(number, of, r, lanes, "l", true);
    }
    bool writes_by_data() const {
        return std::ranges::any_of(stage.writes, &IndexProgram::reads_data);
    }

    Symbol of_tasks() const {
        return Symbol::interned(str(function.name, "_", stage.number, "_t"));
    }
    std::optional<std::vector<Step>> in_tasks() const {
        const size_t v = stage.variables.size() - 1;
        if (per_task() < 2) return std::nullopt;
        return factored(stage.number, function.name, stage.variables.name(v), per_task(), "t",
                        false);
    }
    int64_t per_task() const {
        const int64_t all = extent(stage.variables.size() - 1), tasks = machine.least_tasks();
        return (all + tasks - 1) / tasks;
    }
    static Symbol name_of(Symbol r, const char *suffix) {
        return Symbol::interned(str(r, "_", suffix));
    }

    // Splits the variable r, and keeps the inner part (or the outer one) as a dimension of the
    // partial results.
    std::vector<Step> factored(int number, Symbol of, Symbol r, int64_t factor, const char *suffix,
                               bool keeps_inner) const {
        const std::string prefix = suffix;
        const Symbol outer = name_of(r, (prefix + "o").c_str()),
                     inner = name_of(r, (prefix + "i").c_str()), kept = name_of(r, suffix);
        const Symbol partial = Symbol::interned(str(function.name, "_", stage.number, "_", suffix));
        auto step = [&](auto directive) {
            return Step{of, StageStep{number, {}, {std::move(directive), {}}}};
        };
        return {step(Split{r, outer, inner, Expr(int32_t(factor)), TailStrategy::Auto}),
                step(Rfactor{{{keeps_inner ? inner : outer, kept}}, partial})};
    }

    const Graph &graph;
    const StageNode &stage;
    const Machine &machine;
    const FunctionContents &function;
};

std::vector<SketchRule> &rules() {
    static std::vector<SketchRule> all = {sum_rows_in_lanes, factor_reductions,
                                          sum_in_tiles,      cache_operands,
                                          copy_constants,    store_for_one_reader};
    return all;
}

// Returns true if the stage reads much of the source, and each value many times.
bool is_read_often(const Graph &graph, const StageNode &stage, const Source &source) {
    constexpr double many_times = 8, much = 32e3;
    const bool is_image = source.image >= 0;
    const double values = points_in(is_image ? graph.images[size_t(source.image)].box
                                             : graph.functions[size_t(source.function)].required);
    const int bytes = is_image ? graph.images[size_t(source.image)].bytes
                               : graph.functions[size_t(source.function)].bytes;
    double reads = 0;
    for (const Access &a : stage.accesses) {
        if (a.source == source) reads += points_in(graph.spans_of(stage));
    }
    return values * bytes > much && reads > many_times * values;
}

bool may_be_copied(const Graph &graph, int function) {
    return !graph.functions[size_t(function)].is_extern && !is_copy(graph, function);
}

// Schedules name images by their texts.
bool has_a_name_of_its_own(const Graph &graph, const ImageNode &image) {
    return std::ranges::count(graph.images, image.name, &ImageNode::name) == 1;
}

// The image that a function is by another name (ImageParam), or the function.
std::string name_of(const Graph &graph, int function) {
    const FunctionNode &f = graph.functions[size_t(function)];
    const int image = image_behind(graph, function);
    return image < 0 ? f.name : graph.images[size_t(image)].name;
}

// The one reader that takes several values of the function for a point, where all others take one;
// none, if there are several such readers or no others.
std::optional<int> reader_of_many_points(const Graph &graph, int function) {
    std::map<int, int> reads;
    for (int c : graph.functions[size_t(function)].consumers) {
        const StageNode &stage = graph.stages[size_t(c)];
        int &most = reads[stage.function];
        most = std::max(most, int(std::ranges::count(stage.accesses, Source{.function = function},
                                                     &Access::source)));
    }
    std::optional<int> found;
    for (const auto &[reader, count] : reads) {
        if (count < 2) continue;
        if (found) return std::nullopt;
        found = reader;
    }
    return reads.size() > 1 ? found : std::nullopt;
}

}  // namespace

std::vector<Variant> factor_reductions(const Graph &graph, const Machine &machine) {
    std::vector<Variant> all;
    for (const StageNode &stage : graph.stages) {
        if (graph.is_fixed[size_t(stage.function)]) continue;
        for (Variant &v : ReductionFactoring(graph, stage, machine)()) all.push_back(std::move(v));
    }
    return all;
}

std::vector<Variant> sum_rows_in_lanes(const Graph &graph, const Machine &machine) {
    Variant all;
    int stages = 0, with_few_results = 0;
    for (const StageNode &stage : graph.stages) {
        if (graph.is_fixed[size_t(stage.function)]) continue;
        // Blocks of sums in registers are better where values are read often.
        const bool is_of_rows = std::ranges::none_of(stage.accesses, [&](const Access &a) {
            const bool is_of_row = !a.index.empty() && stage.is_reduction() &&
                                   a.source.function != stage.function &&
                                   a.index[0].slope(stage.pure) != 0;
            return is_of_row && is_read_often(graph, stage, a.source);
        });
        if (!is_of_rows) continue;
        const ReductionFactoring factoring(graph, stage, machine);
        const auto steps = factoring.of_rows();
        if (!steps) continue;
        stages++;
        if (factoring.has_few_results()) with_few_results++;
        const Symbol name = graph.functions[size_t(stage.function)].function->name;
        all.name += str(all.name.empty() ? "rows in lanes: " : ", ", name);
        all.steps.insert(all.steps.end(), steps->begin(), steps->end());
    }
    // One stage that has few results is left to factor_reductions().
    if (stages == with_few_results && stages < 2) return {};
    return {std::move(all)};
}

std::vector<Variant> sum_in_tiles(const Graph &graph, const Machine &machine) {
    std::vector<Variant> all;
    for (const StageNode &stage : graph.stages) {
        if (graph.is_fixed[size_t(stage.function)]) continue;
        for (Variant &v : ReductionFactoring(graph, stage, machine).in_tiles())
            all.push_back(std::move(v));
    }
    return all;
}

std::vector<Variant> cache_operands(const Graph &graph, const Machine &) {
    std::vector<Variant> all;
    for (const StageNode &stage : graph.stages) {
        if (!stage.is_reduction() || graph.is_fixed[size_t(stage.function)]) continue;
        const FunctionContents &consumer = *graph.functions[size_t(stage.function)].function;
        std::set<int> read;
        Variant both;
        for (const Access &a : stage.accesses) {
            const int g = a.source.function;
            if (g < 0 || g == stage.function || !read.insert(g).second) continue;
            if (!may_be_copied(graph, g) || !is_read_often(graph, stage, {.function = g})) continue;
            const FunctionNode &node = graph.functions[size_t(g)];
            const Symbol made = Symbol::interned(str(node.name, "_for_", consumer.name));
            const Step copy = {node.function->name, WrapStep{{consumer.name}, made, false, {}}};
            all.push_back({str(consumer.name, ": a copy of ", name_of(graph, g)), {copy}});
            both.name += str(both.steps.empty() ? str(consumer.name, ": copies of ") : " and ",
                             name_of(graph, g));
            both.steps.push_back(copy);
        }
        if (both.steps.size() > 1) all.push_back(std::move(both));
    }
    return all;
}

std::vector<Variant> copy_constants(const Graph &graph, const Machine &) {
    std::vector<Variant> all;
    for (const StageNode &stage : graph.stages) {
        if (!stage.is_reduction() || graph.is_fixed[size_t(stage.function)]) continue;
        const Symbol consumer = graph.functions[size_t(stage.function)].function->name;
        std::set<int> read;
        for (const Access &a : stage.accesses) {
            const int i = a.source.image;
            if (i < 0 || !read.insert(i).second) continue;
            const ImageNode &image = graph.images[size_t(i)];
            if (!image.is_constant || !has_a_name_of_its_own(graph, image)) continue;
            if (!is_read_often(graph, stage, a.source)) continue;
            const Symbol made = Symbol::interned(str(image.name, "_for_", consumer));
            const StageDirective copy = CopyInput{image.symbol, made};
            all.push_back({str(consumer, ": a copy of ", image.name),
                           {{consumer, StageStep{stage.number, {}, {copy, {}}}}}});
        }
    }
    return all;
}

std::vector<Variant> store_for_one_reader(const Graph &graph, const Machine &) {
    constexpr double cheap = 3;  // operations that are computed wherever they are asked for
    Variant best;
    double most_work = 0;
    for (int f = 0; f < int(graph.functions.size()); f++) {
        const FunctionNode &node = graph.functions[size_t(f)];
        if (graph.is_fixed[size_t(f)] || node.is_output || !may_be_inlined(graph, f) ||
            !may_be_copied(graph, f) || image_behind(graph, f) >= 0)
            continue;
        const double operations = graph.stages[size_t(node.stages[0])].operations.total();
        const double work = operations * node.points();
        const std::optional<int> reader = reader_of_many_points(graph, f);
        if (operations <= cheap || work <= most_work || !reader) continue;
        const Symbol consumer = graph.functions[size_t(*reader)].function->name;
        const Symbol made = Symbol::interned(str(node.name, "_for_", consumer));
        most_work = work;
        best = {str(consumer, ": ", node.name, " is stored for it alone"),
                {{node.function->name, WrapStep{{consumer}, made, false, {}}}}};
    }
    if (best.steps.empty()) return {};
    return {std::move(best)};
}

void add_sketch_rule(SketchRule rule) { rules().push_back(std::move(rule)); }

std::vector<Sketch> make_sketches(const Algorithm &algorithm, const Schedule &by_hand,
                                  const Machine &machine, size_t most) {
    const auto plain = std::make_shared<const Graph>(algorithm, by_hand);
    std::vector<Sketch> sketches = {{"the functions as they are", plain}};
    for (const SketchRule &rule : rules()) {
        // Each rule goes on with what those before have made.
        const size_t before = sketches.size();
        for (size_t i = 0; i < before; i++) {
            const Graph &graph = *sketches[i].graph;
            for (const Variant &v : rule(graph, machine)) {
                if (sketches.size() >= most) return sketches;
                std::vector<Step> steps = graph.structure;
                steps.insert(steps.end(), v.steps.begin(), v.steps.end());
                try {
                    sketches.push_back(
                        {v.name, std::make_shared<const Graph>(algorithm, by_hand, steps)});
                } catch (const CompileError &) {
                    continue;  // the compiler does not agree that it can be done
                }
            }
        }
    }
    return sketches;
}

}  // namespace tessera::autoscheduler
