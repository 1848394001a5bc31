#include "program/steps.h"
#include "ir/equal.h"
#include "ir/stable_hash.h"
#include "program/apply.h"
#include "program/copy_input.h"
#include "program/define.h"
#include "program/environment.h"
#include "program/key_builder.h"
#include "program/reach.h"
#include "program/rfactor.h"
#include "program/wrappers.h"
#include <optional>
#include <set>

namespace tessera::program {
namespace {

const FunctionRef &function(const Symbol &name, const Functions &functions) {
    const auto found = functions.find(name);
    if (found != functions.end()) return found->second;
    throw CompileError(str("there is no function named ", name, " at that point"));
}

StageRef stage_of(const Step &step, const StageStep &s, const Functions &functions) {
    const FunctionRef &f = function(step.function, functions);
    if (s.stage < 0 || size_t(s.stage) >= f->stages.size()) {
        throw CompileError(str(f->name, " has no stage ", s.stage, "; its stages are 0 to ",
                               f->stages.size() - 1));
    }
    StageRef ref = stage_of(f, s.stage);
    for (size_t i : s.path) {
        const auto &all = ref.definition().specializations;
        if (i >= all.size() || !all[i].definition) {
            throw CompileError(
                str(ref.name, " has no specialization ", i, "; it has ", all.size(), " so far"));
        }
        ref.path.push_back(i);
        ref.name += ".specialize(...)";
    }
    return ref;
}

// Returns what becomes the function that a step makes of `of`: its relative of that name which
// `earlier` has, without its definition, or a new one.
FunctionRef undefined_function(Symbol name, const FunctionRef &of, const Functions &earlier) {
    const auto found = earlier.find(name);
    if (found == earlier.end() || !found->second.is_relative_of(of)) return of.make_relative(name);
    const FunctionContents nothing;
    FunctionContents &f = *found->second;
    copy_into(f, nothing);
    f.extern_definition.reset();
    f.wrappers.clear();
    f.made_by = MadeBy::Definition;
    f.wrapped = Symbol();
    return found->second;
}

void perform(const Step &step, const StageStep &s, Functions &functions, const Functions &earlier) {
    const StageRef stage = stage_of(step, s, functions);
    const Location &at = s.written.at;
    const auto made = [&](Symbol name) {
        return undefined_function(name, stage.function, earlier);
    };
    if (const auto *r = std::get_if<Rfactor>(&s.written.directive)) {
        functions[r->intermediate] = rfactor(stage, r->preserved, at, made(r->intermediate));
    } else if (const auto *copy = std::get_if<CopyInput>(&s.written.directive)) {
        functions[copy->made] = copy_input(stage, copy->image, at, made(copy->made));
    } else if (const auto *c = std::get_if<SpecializeDirective>(&s.written.directive)) {
        specialize(stage, c->condition, at);
    } else {
        apply(stage, s.written.directive, at);
    }
}

// Levels name functions as steps do, which may be called otherwise (a wrapper that was there): then
// returns the directive with the function's own name.
std::optional<FuncDirective> renamed(const FuncDirective &directive, const Functions &functions) {
    const auto rename = [&](const auto &d) -> std::optional<FuncDirective> {
        if constexpr (requires { d.level; }) {
            const LoopLevel &l = d.level;
            const auto f = l.is_at() ? functions.find(l.func()) : functions.end();
            if (f == functions.end() || f->second->name == l.func()) return std::nullopt;
            auto own = d;
            own.level = LoopLevel::at(f->second->name, l.var(), l.stage(), l.written());
            return own;
        }
        return std::nullopt;
    };
    return std::visit(rename, directive);
}

void perform(const Step &step, const FuncStep &s, Functions &functions, const Functions &) {
    const std::optional<FuncDirective> own = renamed(s.written.directive, functions);
    apply(*function(step.function, functions), own ? *own : s.written.directive, s.written.at,
          s.late);
}

void perform(const Step &step, const WrapStep &s, Functions &functions, const Functions &earlier) {
    std::vector<FunctionRef> consumers;
    for (Symbol c : s.consumers) consumers.push_back(function(c, functions));
    const FunctionRef &f = function(step.function, functions);
    const FunctionRef made = undefined_function(s.made, f, earlier);
    functions[s.made] =
        s.is_clone ? clone(f, consumers, s.at, made) : wrap(f, consumers, s.at, made);
}

// The key of the steps, by which they are compared.
Expr key_of(const std::vector<Step> &steps) {
    KeyBuilder key(false);
    key.add(steps);
    return key.as_expr();
}

void add(KeyBuilder &key, const FunctionContents &f) {
    key.add(f.name);
    key.add(f.args);
    key.add(f.types);
    for (const DefinitionRef &d : f.stages) {
        key.group([&](KeyBuilder &stage) {
            stage.add(d->args);
            stage.add(d->values);
            stage.add(d->reduction);
            stage.add(d->predicate);
        });
    }
    for (const ParameterRef &p : f.output_buffers) key.add(*p);
    if (!f.extern_definition) return;
    key.add(f.extern_definition->function);
    key.add(f.extern_definition->on_device);
    for (const ExternFuncArgument &arg : f.extern_definition->args) {
        key.add(arg.func ? arg.func->name : Symbol());
        key.add(arg.buffer ? arg.buffer->name : Symbol());
        key.add(arg.scalar);
    }
}

void add(KeyBuilder &key, const Algorithm &algorithm) {
    for (const FunctionRef &f : algorithm.functions()) {
        key.group([&](KeyBuilder &inner) { add(inner, *f); });
    }
    for (const FunctionRef &f : algorithm.outputs()) key.add(f->name);
}

// Returns what a stage can fetch or stream, by the names that steps have for it.
std::set<Symbol> fetchable(const Algorithm &algorithm, const Schedule &schedule) {
    std::set<Symbol> found;
    for (const FunctionRef &f : algorithm.functions()) found.insert(f->name);
    for (const Step &step : schedule.steps) found.insert(made_by(step));
    Program program;
    program.outputs = algorithm.outputs();
    for (const auto &p : find_parameters(program, {algorithm.functions(), {}})) {
        found.insert(p->name);
    }
    return found;
}

// Leaves of what the step says to fetch or stream only what is known; false if that is nothing.
bool keep_known(Step &step, const std::set<Symbol> &known) {
    auto *s = std::get_if<StageStep>(&step.what);
    if (!s) return true;
    if (const auto *prefetch = std::get_if<PrefetchDirective>(&s->written.directive)) {
        return known.contains(prefetch->what);
    }
    auto *stream = std::get_if<StreamLoads>(&s->written.directive);
    if (!stream || stream->what.empty()) return true;
    std::erase_if(stream->what, [&](Symbol what) { return !known.contains(what); });
    return !stream->what.empty();
}

}  // namespace

Symbol made_by(const Step &step) {
    if (const auto *wrap = std::get_if<WrapStep>(&step.what)) return wrap->made;
    const auto *s = std::get_if<StageStep>(&step.what);
    return s ? made_by(s->written.directive) : Symbol();
}

Schedule without_unknown_fetches(const Algorithm &algorithm, const Schedule &schedule) {
    const std::set<Symbol> known = fetchable(algorithm, schedule);
    Schedule kept = schedule;
    std::erase_if(kept.steps, [&](Step &step) { return !keep_known(step, known); });
    return kept;
}

bool operator==(const Step &a, const Step &b) { return ir::equal(key_of({a}), key_of({b})); }

bool operator==(const Schedule &a, const Schedule &b) {
    return ir::equal(key_of(a.steps), key_of(b.steps));
}

uint64_t Algorithm::hash() const {
    KeyBuilder key(false);
    add(key, *this);
    return ir::stable_hash(key.as_expr());
}

// After the algorithm, so that its symbols are those that steps name.
uint64_t Schedule::hash(const Algorithm &algorithm) const {
    KeyBuilder key(false);
    add(key, algorithm);
    key.add(steps);
    return ir::stable_hash(key.as_expr());
}

static void perform(const Step &step, Functions &functions, const Functions &earlier) {
    std::visit([&](const auto &s) { perform(step, s, functions, earlier); }, step.what);
}

void perform(const Step &step, Functions &functions) { perform(step, functions, {}); }

static Functions perform_anew(const std::vector<FunctionRef> &outputs, const Schedule &schedule) {
    const Functions earlier = functions_of(outputs);
    Functions functions;
    for (const FunctionRef &f : reach(outputs).algorithm) {
        begin_schedule(*f);
        f->wrappers.clear();
        functions[f->name] = f;
    }
    for (const Step &step : schedule.steps) perform(step, functions, earlier);
    return functions;
}

// Drops of the family of `f` what the former schedule has made and what no handle, step or member
// that stays needs.
static void drop_unused_relatives(const FunctionRef &f, const Functions &functions) {
    const Ref<FunctionFamily> family = f.own_family();
    std::vector<FunctionRef> used;
    std::set<Symbol> known;
    const auto use = [&](const FunctionRef &member) {
        if (known.insert(member->name).second) used.push_back(member);
    };
    for (const auto &[name, member] : family->all()) {
        if (functions.contains(name) || member->use_count() > 1) use(FunctionRef(family, member));
    }
    for (size_t i = 0; i < used.size(); i++) {
        for (const FunctionRef &callee : direct_callees(FunctionRef(used[i]))) {
            if (callee.is_relative_of(f)) use(callee);
        }
    }
    std::vector<Symbol> unused;
    for (const auto &[name, member] : family->all()) {
        if (!known.contains(name)) unused.push_back(name);
    }
    for (Symbol name : unused) family->remove(name);
}

void replace_schedule(const std::vector<FunctionRef> &outputs, const Schedule &schedule) {
    const Functions functions = perform_anew(outputs, schedule);
    for (const auto &[name, f] : functions) {
        if (f.own_family()->all().size() > 1) drop_unused_relatives(f, functions);
    }
}

Functions functions_of(const std::vector<FunctionRef> &outputs) {
    Functions functions;
    for (const FunctionRef &f : reach(outputs).all) functions[f->name] = f;
    return functions;
}

ScheduledProgram::ScheduledProgram(const Algorithm &algorithm)
    : contents(std::make_shared<Contents>()) {
    const auto family = make_ref<FunctionFamily>(FunctionFamily::Kind::Program);
    for (const FunctionRef &f : algorithm.functions()) {
        const Ref<FunctionContents> own = copy(*f);
        family->add(own);
        contents->functions.emplace_hint(contents->functions.end(), f->name,
                                         FunctionRef(family, own));
        if (!own->extern_definition) continue;
        for (ExternFuncArgument &a : own->extern_definition->args) {
            if (a.func) a.func = contents->functions.at(a.func->name).without_family();
        }
    }
    for (const FunctionRef &f : algorithm.outputs()) {
        contents->outputs.push_back(contents->functions.at(f->name));
    }
}

void ScheduledProgram::perform(const Step &step) { program::perform(step, contents->functions); }

ScheduledProgram apply(const Algorithm &algorithm, const Schedule &schedule) {
    ScheduledProgram program(algorithm);
    for (const Step &step : schedule.steps) program.perform(step);
    return program;
}

}  // namespace tessera::program
