#include "lower/prepare/validate_schedules.h"
#include "ir/instruction.h"
#include "lower/nest/insertion_points.h"
#include "lower/nest/stage.h"
#include "lower/prepare/validate_effects.h"
#include "lower/prepare/validate_tails.h"
#include "lower/storage/hoist_storage.h"
#include "program/apply.h"
#include "program/define.h"
#include <algorithm>
#include <set>

namespace tessera::lower {

using program::FunctionContents;
using program::Loop;
using program::LoopLevel;
using program::StageSchedule;

namespace {

// The place of a loop in a stage, 0: innermost; -1: there is none.
int loop_index(const StageSchedule &s, Symbol var) {
    for (size_t i = 0; i < s.loops.size(); i++) {
        if (s.loops[i].var == var) return int(i);
    }
    return -1;
}

class Validator {
public:
    explicit Validator(const ProgramContext &context) : context(context) {
        for (const program::FunctionRef &f : context.order) {
            for (size_t s = 0; s < f->stages.size(); s++) {
                for (const StageCall &c : calls_of(*f->stages[s])) {
                    if (c.callee != f->name) consumers[c.callee].insert({f->name, int(s)});
                }
            }
            if (!f->has_extern_definition()) continue;
            for (const program::ExternFuncArgument &a : f->extern_definition->args) {
                if (a.func) consumers[a.func->name].insert({f->name, 0});
            }
        }
    }

    void check(const FunctionContents &f) const;

private:
    void check_level(const FunctionContents &f, const LoopLevel &level, const char *directive,
                     const Location &at) const;
    void check_encloses(const FunctionContents &f, const LoopLevel &outer, const char *outer_name,
                        const LoopLevel &inner, const char *inner_name, const Location &at) const;
    void check_uses(const FunctionContents &f) const;
    void check_extern_inputs(const FunctionContents &f) const;
    static void check_calls(const FunctionContents &f, const program::Definition &version);
    void check_no_race(const FunctionContents &f) const;
    static void check_no_race(const FunctionContents &f, const FunctionContents &g,
                              const StageSchedule &schedule, const LoopLevel &computed,
                              const LoopLevel &stored);
    void check_ring_buffer(const FunctionContents &f) const;
    void check_memory(const FunctionContents &f) const;
    bool stage_is_inside(Symbol func, int stage, const LoopLevel &level) const;
    bool is_read_within(Symbol func, const FunctionContents &g, int stage) const;
    bool is_read_within(Symbol func, Symbol other, int stage, std::set<Symbol> &seen) const;
    bool place_is_inside(Symbol func, const LoopLevel &place, const LoopLevel &level) const;
    std::string loops_of(const FunctionContents &f, int stage) const;

    const ProgramContext &context;
    std::map<Symbol, std::set<std::pair<Symbol, int>>> consumers;
};

std::string Validator::loops_of(const FunctionContents &f, int stage) const {
    std::vector<std::string> names;
    for (size_t s = 0; s < f.stages.size(); s++) {
        if (stage >= 0 && int(s) != stage) continue;
        for (const Loop &l : f.stages[s]->schedule.loops) {
            if (l.var != program::outermost_loop()) names.push_back(l.var.text());
        }
    }
    return names.empty() ? "none" : join(names);
}

void Validator::check_level(const FunctionContents &f, const LoopLevel &level,
                            const char *directive, const Location &at) const {
    if (!level.defined()) {
        throw CompileError(at, str(directive, " of ", f.name,
                                   ": the LoopLevel was never set; call set() on it before "
                                   "compiling"));
    }
    if (!level.is_at()) return;
    const FunctionContents *g = context.function(level.func());
    if (!g) {
        throw CompileError(at, str(directive, " of ", f.name, ": ", level.func(),
                                   " has no loops in this pipeline: it is computed inline, or "
                                   "nothing uses it; schedule ",
                                   level.func(), " first"));
    }
    for (size_t s = 0; s < g->stages.size(); s++) {
        if (level.stage() >= 0 && level.stage() != int(s)) continue;
        for (const program::Definition *version : versions_of(*g->stages[s])) {
            if (loop_index(version->schedule, level.var()) >= 0) return;
        }
    }
    throw CompileError(at, str(directive, " of ", f.name, ": ", level.func(), " has no loop ",
                               level.var(), "; its loops are ", loops_of(*g, level.stage())));
}

// Returns true if this stage of another function reads the function, itself or by what is computed
// within its loops.
bool Validator::is_read_within(Symbol func, const FunctionContents &g, int stage) const {
    std::set<Symbol> seen;
    return g.stages.size() == 1 || is_read_within(func, g.name, stage, seen);
}

bool Validator::is_read_within(Symbol func, Symbol other, int stage, std::set<Symbol> &seen) const {
    auto found = consumers.find(func);
    if (found == consumers.end() || !seen.insert(func).second) return false;
    return std::ranges::any_of(found->second, [&](const auto &user) {
        if (user.first == other) return user.second == stage;
        const LoopLevel &level = context.function(user.first)->schedule.compute_level;
        if (context.is_output(user.first) || level.means_root()) return false;
        const bool elsewhere =
            level.is_at() && level.func() == other && level.stage() >= 0 && level.stage() != stage;
        return !elsewhere && is_read_within(user.first, other, stage, seen);
    });
}

// Returns true if the function, computed at `place`, is computed within the loop of `level`.
bool Validator::place_is_inside(Symbol func, const LoopLevel &place, const LoopLevel &level) const {
    if (level.means_root()) return true;
    if (!place.is_at()) return false;
    const FunctionContents *g = context.function(place.func());
    if (!g) return false;
    if (place.func() != level.func()) {
        return place_is_inside(g->name, g->schedule.compute_level, level);
    }
    bool found = false;
    for (size_t s = 0; s < g->stages.size(); s++) {
        if (place.stage() >= 0 && place.stage() != int(s)) continue;
        if (!is_read_within(func, *g, int(s))) continue;
        for (const program::Definition *version : versions_of(*g->stages[s])) {
            int at = loop_index(version->schedule, place.var());
            if (at < 0) continue;
            if (level.stage() >= 0 && level.stage() != int(s)) return false;
            if (loop_index(version->schedule, level.var()) < at) return false;
            found = true;
        }
    }
    return found;
}

bool Validator::stage_is_inside(Symbol func, int stage, const LoopLevel &level) const {
    if (level.means_root()) return true;
    const FunctionContents &c = *context.function(func);
    if (func == level.func()) {
        bool in_all = level.stage() < 0 || level.stage() == stage;
        for (const program::Definition *version : versions_of(*c.stages[size_t(stage)])) {
            in_all &= loop_index(version->schedule, level.var()) >= 0;
        }
        if (in_all) return true;
    }
    if (context.is_output(func)) return false;
    if (!c.schedule.compute_level.means_inlined()) {
        return place_is_inside(func, c.schedule.compute_level, level);
    }
    auto found = consumers.find(func);
    return found != consumers.end() &&
           std::all_of(found->second.begin(), found->second.end(), [&](const auto &user) {
               return stage_is_inside(user.first, user.second, level);
           });
}

void Validator::check_encloses(const FunctionContents &f, const LoopLevel &outer,
                               const char *outer_name, const LoopLevel &inner,
                               const char *inner_name, const Location &at) const {
    if (outer.means_root() || outer.matches(inner) || place_is_inside(f.name, inner, outer)) {
        return;
    }
    throw CompileError(at, str(outer_name, "(", outer, ") of ", f.name, " is not outside of ",
                               inner_name, "(", inner, "); storage must enclose what uses it"));
}

void Validator::check_uses(const FunctionContents &f) const {
    const program::FuncSchedule &s = f.schedule;
    if (s.compute_level.means_root()) return;
    auto found = consumers.find(f.name);
    if (found == consumers.end()) return;
    for (const auto &[user, stage] : found->second) {
        if (stage_is_inside(user, stage, s.compute_level)) continue;
        // A copy is for all stages of a Func: it is of use where another one reads the original.
        bool has_others = std::ranges::any_of(
            found->second, [&](const auto &other) { return other.first != user; });
        throw CompileError(
            s.compute_written,
            str("compute_at(", s.compute_level, ") of ", f.name, ": ", user,
                stage ? str(".update(", stage - 1, ")") : "", " uses ", f.name,
                " too, and is not computed inside of that loop; compute ", f.name,
                " further out (compute_root() always works)",
                has_others ? str(", or give ", user, " a copy of its own with clone_in()") : ""));
    }
}

void Validator::check_no_race(const FunctionContents &f, const FunctionContents &g,
                              const StageSchedule &schedule, const LoopLevel &computed,
                              const LoopLevel &stored) {
    int inner = loop_index(schedule, computed.var());
    int outer = stored.is_at() && stored.func() == g.name ? loop_index(schedule, stored.var())
                                                          : int(schedule.loops.size());
    for (int i = inner; i >= 0 && i < outer; i++) {
        const Loop &loop = schedule.loops[size_t(i)];
        // The lanes of a vector all write the same where nothing is updated.
        const LoopTraits traits = traits_of(loop.kind);
        const bool races = !traits.is_in_order && (traits.is_on_threads || f.stages.size() > 1);
        if (!races) continue;
        throw CompileError(
            f.schedule.store_written,
            str(f.name, " is stored outside of the ", name_of(loop.kind), " loop ", loop.var,
                " of ", g.name,
                " and computed inside of it, so its iterations would overwrite each other's "
                "values; store it inside of that loop, too"));
    }
}

// Between where it is stored and where it is computed, no loop may run in parallel.
void Validator::check_no_race(const FunctionContents &f) const {
    const program::FuncSchedule &s = f.schedule;
    const LoopLevel &store = store_level(s);
    LoopLevel at = s.compute_level;
    while (at.is_at() && !at.matches(store)) {
        const FunctionContents *g = context.function(at.func());
        if (!g) return;  // whoever is computed there is refused for it
        for (size_t s = 0; s < g->stages.size(); s++) {
            if (!is_read_within(f.name, *g, int(s))) continue;
            for (const program::Definition *version : versions_of(*g->stages[s])) {
                check_no_race(f, *g, version->schedule, at, store);
            }
        }
        if (store.is_at() && store.func() == g->name) break;
        at = context.is_output(g->name) ? LoopLevel::root() : g->schedule.compute_level;
    }
}

void Validator::check_ring_buffer(const FunctionContents &f) const {
    const program::FuncSchedule &s = f.schedule;
    if (!s.ring_buffer.defined()) return;
    if (context.is_read_by_extern(f.name)) {
        throw CompileError(ring_buffer_written(s),
                           str("ring_buffer of ", f.name,
                               ": an extern stage reads it, which would see all copies as one "
                               "buffer; leave ring_buffer out, or let the stage read a Func that "
                               "copies ",
                               f.name));
    }
    if (s.hoist_level_set && !hoist_level(s).matches(store_level(s))) return;
    // In a kernel it is allocated further out without being told (pass "hoist rings").
    if (s.async && context.target.has_gpu_feature()) return;
    refuse_idle_ring(f.name, ring_buffer_written(s));
}

// An extern stage reads its inputs from memory.
void Validator::check_extern_inputs(const FunctionContents &f) const {
    if (!f.has_extern_definition()) return;
    for (const program::ExternFuncArgument &a : f.extern_definition->args) {
        const FunctionContents *input = a.func ? context.function(a.func->name) : nullptr;
        if (!a.func || (input && !input->schedule.compute_level.means_inlined())) continue;
        if (input && context.is_output(input->name)) continue;
        const bool is_copy = f.extern_definition->copy != program::CopySide::None;
        throw CompileError(f.extern_definition->written,
                           str(is_copy ? "the copy " : "extern stage ", f.name, " reads ",
                               a.func->name,
                               ", which is "
                               "computed inline and so has no memory; schedule ",
                               a.func->name, " with compute_root() or compute_at()"));
    }
}

// Returns the line where the loops of a version were last put in an order, or made loops around
// calls.
Location order_written(const FunctionContents &f, const program::Definition &version) {
    const program::Definition &general = *f.stages[0];
    for (const program::Definition *d : {&version, &general}) {
        const auto &all = d->schedule.directives;
        for (auto written = all.rbegin(); written != all.rend(); ++written) {
            const program::StageDirective &s = written->directive;
            if (std::holds_alternative<program::SetLoopKind>(s) ||
                std::holds_alternative<program::Tensorize>(s) ||
                std::holds_alternative<program::Split>(s) ||
                std::holds_alternative<program::Fuse>(s) ||
                std::holds_alternative<program::Reorder>(s)) {
                return written->at;
            }
        }
    }
    return f.written;
}

// One call of an extern function runs the innermost loops.
void Validator::check_calls(const FunctionContents &f, const program::Definition &version) {
    const Loop *inner = nullptr;
    for (const Loop &l : version.schedule.loops) {
        if (!l.in_call && !inner) inner = &l;
        if (!l.in_call || !inner) continue;
        throw CompileError(
            order_written(f, version),
            str("the loops of ", f.name, ": the extern function ", f.extern_definition->function,
                " is called in each iteration of ", inner->var, ", which is within ", l.var,
                ", a loop that one call runs; make ", l.var, " serial() or parallel(), too, or ",
                "reorder() it to be within ", inner->var));
    }
}

// Returns true if an instruction of a CPU updates what is stored in a Tile.
static bool is_tensorized_on_cpu(const FunctionContents &f, const Target &target) {
    for (const program::DefinitionRef &stage : f.stages) {
        for (const program::Definition *version : versions_of(*stage)) {
            for (const Loop &l : version->schedule.loops) {
                if (ir::is_name_of_cpu(l.instruction, target)) return true;
            }
        }
    }
    return false;
}

void Validator::check_memory(const FunctionContents &f) const {
    for (const auto &[directive, at, order] : f.schedule.directives) {
        const auto *in = std::get_if<program::StoreIn>(&directive);
        if (!in || traits_of(in->memory).is_on_cpu) continue;
        if (in->memory == MemoryType::Tile && is_tensorized_on_cpu(f, context.target)) continue;
        const bool is_of_kernels =
            traits_of(in->memory).space == AddressSpace::Shared || in->memory == MemoryType::Tile;
        if (is_of_kernels && context.target.has_gpu_feature()) continue;  // see check_gpu_loops
        throw CompileError(at, str("store_in of ", f.name, ": ", name_of(in->memory),
                                   " is no memory of a CPU, which ", f.name,
                                   " is computed on; it "
                                   "has Heap, Stack and Register, and Auto chooses"));
    }
}

void Validator::check(const FunctionContents &f) const {
    check_memory(f);
    validate_tails(f);
    for (const program::DefinitionRef &stage : f.stages) {
        for (const program::Definition *version : versions_of(*stage)) check_calls(f, *version);
    }
    check_extern_inputs(f);
    validate_streams(f, context);
    if (context.is_output(f.name)) return validate_output(f);
    const program::FuncSchedule &s = f.schedule;
    check_level(f, s.compute_level, "compute_at", s.compute_written);
    if (s.compute_level.means_inlined()) return validate_inline(f);
    check_level(f, store_level(s), "store_at", s.store_written);
    check_level(f, hoist_level(s), "hoist_storage", s.hoist_written);
    check_encloses(f, store_level(s), "store_at", s.compute_level, "compute_at", s.store_written);
    check_encloses(f, hoist_level(s), "hoist_storage", store_level(s), "store_at", s.hoist_written);
    check_uses(f);
    check_no_race(f);
    check_ring_buffer(f);
}

}  // namespace

void validate_schedules(const ProgramContext &context) {
    Validator validator(context);
    for (const program::FunctionRef &f : context.order) validator.check(*f);
}

}  // namespace tessera::lower
