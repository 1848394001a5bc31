#include "autoscheduler/by_hand.h"
#include "program/environment.h"
#include <algorithm>
#include <map>
#include <ranges>

namespace tessera::autoscheduler {

using namespace program;
using program::LoopLevel;

namespace {

// A directive that makes no sense without storage, wherever that is.
bool is_about_storage(const FuncDirective &d) {
    return std::holds_alternative<ReorderStorage>(d) || std::holds_alternative<AlignStorage>(d) ||
           std::holds_alternative<BoundStorage>(d) || std::holds_alternative<StoreIn>(d);
}

// A directive that says where, or when, the function is computed or stored.
bool is_about_place(const FuncDirective &d) {
    return std::holds_alternative<ComputeLevel>(d) || std::holds_alternative<StoreLevel>(d) ||
           std::holds_alternative<HoistStorageLevel>(d) || std::holds_alternative<FoldStorage>(d) ||
           std::holds_alternative<RingBuffer>(d) || std::holds_alternative<AsyncDirective>(d) ||
           std::holds_alternative<CopyToDevice>(d) || std::holds_alternative<CopyToHost>(d);
}

template<typename Predicate>
bool has_directive(const FunctionContents &f, Predicate predicate) {
    return std::ranges::any_of(f.schedule.directives,
                               [&](const auto &w) { return predicate(w.directive); });
}

bool is_touched(const FunctionContents &f) {
    return std::ranges::any_of(f.stages, [](const auto &stage) { return stage->schedule.touched; });
}

// The place of a loop in a stage, 0: innermost; -1: there is none.
int place_of_loop(const StageSchedule &s, Symbol var) {
    const auto at = std::ranges::find(s.loops, var, &Loop::var);
    return at == s.loops.end() ? -1 : int(at - s.loops.begin());
}

class Completion {
public:
    explicit Completion(const ScheduledProgram &scheduled) {
        Program program;
        program.outputs = scheduled.outputs();
        copy = copy_reachable(program);
        for (const auto &[name, f] : scheduled.functions()) names[f->name] = name;
        for (const FunctionRef &f : copy.environment.order) add(f);
        for (const FunctionRef &f : copy.program.outputs) functions.at(f->name).is_output = true;
    }

    ByHand operator()() {
        for (auto &[name, f] : functions) find_loops_in_use(f);
        for (const FunctionRef &f : copy.environment.order)
            find_loops_around(functions.at(f->name));
        // Consumers first: the loops of these have a place already.
        for (const FunctionRef &f : copy.environment.order | std::views::reverse)
            complete(functions.at(f->name));
        return std::move(result);
    }

private:
    struct Function {
        FunctionRef contents;
        bool is_output = false, is_scheduled = false;
        bool stays_inline = false;        // as the user says
        bool has_loops_in_use = false;    // others are computed or stored in them
        bool is_read_by_extern = false;   // from memory
        std::vector<LoopLevel> around{};  // the loops that it has to be computed in
        LoopLevel place = LoopLevel::inlined();

        bool has_no_place() const { return place.means_inlined() && !is_output; }
    };

    Function *find(Symbol name) {
        const auto found = functions.find(name);
        return found == functions.end() ? nullptr : &found->second;
    }

    void add(const FunctionRef &function) {
        const FunctionContents &contents = *function;
        Function &f = functions[contents.name];
        f.contents = function;
        f.place = contents.schedule.compute_level;
        f.stays_inline = f.place.means_inlined() && has_directive(contents, [](const auto &d) {
                             return std::holds_alternative<ComputeLevel>(d);
                         });
        f.is_scheduled = has_directive(contents, is_about_place) || is_touched(contents);
        if (has_directive(contents, is_about_storage)) result.stored.insert(contents.name);
        for (const DefinitionRef &stage : contents.stages) {
            for (const auto &p : stage->schedule.prefetches) result.stored.insert(p.directive.what);
            for (Symbol streamed : stage->schedule.stream_loads) result.stored.insert(streamed);
        }
        if (!contents.extern_definition) return;
        for (const ExternFuncArgument &a : contents.extern_definition->args) {
            if (Function *input = a.func ? find(a.func->name) : nullptr)
                input->is_read_by_extern = true;
        }
    }

    // The loops that the levels of this function name, and which of these are around others.
    void find_loops_in_use(const Function &f) {
        const FuncSchedule &s = f.contents->schedule;
        const LoopLevel *inner = nullptr;
        for (const LoopLevel *level : {&s.compute_level, &s.store_level, &s.hoist_level}) {
            if (!level->is_at()) continue;
            if (Function *owner = find(level->func())) owner->has_loops_in_use = true;
            Function *computed_in = inner ? find(inner->func()) : nullptr;
            if (computed_in) add_around(*computed_in, *level);
            if (!inner) inner = level;
        }
    }

    static void add_around(Function &f, const LoopLevel &level) {
        if (level.func() != f.contents->name && !std::ranges::count(f.around, level))
            f.around.push_back(level);
    }

    // Whoever reads what is computed in a loop, itself or by what it has inlined, is within it.
    void find_loops_around(Function &f) {
        for (const FunctionRef &callee : direct_callees(f.contents)) {
            const Function &read = functions.at(callee->name);
            if (read.place.is_at()) add_around(f, read.place);
            if (!read.has_no_place()) continue;
            for (const LoopLevel &level : read.around) add_around(f, level);
        }
        // With the loops that it is computed in.
        Function *owner = f.place.is_at() ? find(f.place.func()) : nullptr;
        if (!owner) return;
        for (const LoopLevel &level : f.around) add_around(*owner, level);
    }

    void complete(Function &f) {
        const Symbol name = f.contents->name;
        const bool has_no_place = f.has_no_place();
        const bool is_bound = has_no_place && !f.around.empty();
        const bool is_pure = f.contents->stages.size() == 1 && !f.contents->extern_definition;
        const bool needs_loops =
            f.has_loops_in_use || f.is_scheduled ||
            (is_bound && (!is_pure || f.is_read_by_extern || result.stored.contains(name)));
        if (has_no_place && needs_loops && !f.stays_inline) {
            f.place = innermost(f.around);
            result.places.push_back({names.at(name), FuncStep{{ComputeLevel{f.place}, {}}}});
        }
        if (f.is_scheduled || f.has_loops_in_use || is_bound) result.fixed.insert(name);
    }

    LoopLevel innermost(const std::vector<LoopLevel> &levels) {
        for (const LoopLevel &inner : levels) {
            const auto encloses = [&](const LoopLevel &outer) { return is_within(inner, outer); };
            if (std::ranges::all_of(levels, encloses)) return inner;
        }
        return levels.empty() ? LoopLevel::root() : levels[0];
    }
    bool is_within(LoopLevel inner, const LoopLevel &outer) {
        // No further than there are functions: levels that name one another are refused later.
        for (size_t i = 0; i < functions.size() && inner.is_at(); i++) {
            const Function *f = find(inner.func());
            if (!f) return false;
            if (inner.func() == outer.func()) return is_within(*f->contents, inner, outer);
            inner = f->is_output ? LoopLevel::root() : f->place;
        }
        return false;
    }
    static bool is_within(const FunctionContents &f, const LoopLevel &inner,
                          const LoopLevel &outer) {
        return std::ranges::any_of(f.stages, [&](const DefinitionRef &stage) {
            const int place = place_of_loop(stage->schedule, inner.var());
            return place >= 0 && place <= place_of_loop(stage->schedule, outer.var());
        });
    }

    ProgramCopy copy;
    std::map<Symbol, Symbol> names;  // that steps have for functions
    std::map<Symbol, Function> functions;
    ByHand result;
};

}  // namespace

ByHand complete_by_hand(const ScheduledProgram &scheduled) { return Completion(scheduled)(); }

}  // namespace tessera::autoscheduler
