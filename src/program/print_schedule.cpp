#include "program/print_schedule.h"
#include "ir/visitor.h"
#include "program/apply.h"
#include "program/define.h"
#include "program/directive_words.h"
#include "program/expr_as_source.h"
#include "program/names.h"
#include <algorithm>
#include <map>
#include <set>

namespace tessera::program {
namespace {

// Words of the language as far as it is printed.
constexpr const char *not_for_variables =
    "main std tessera Func Var RVar Stage Expr ImageParam LoopLevel TailStrategy Partition "
    "MemoryType PrefetchBoundStrategy Int UInt Float BFloat Float8E4M3 Float8E5M2 Bool int64_t "
    "uint64_t HUGE_VAL min max "
    "select cast reinterpret";

constexpr const char *not_for_python_variables =
    "False None True and as assert async await break class continue def del elif else except "
    "finally for from global if import in is lambda nonlocal not or pass raise return try while "
    "with yield ts float";

constexpr std::string_view name_of_type(TailStrategy) { return "TailStrategy"; }
constexpr std::string_view name_of_type(Partition) { return "Partition"; }
constexpr std::string_view name_of_type(MemoryType) { return "MemoryType"; }
constexpr std::string_view name_of_type(PrefetchBoundStrategy) { return "PrefetchBoundStrategy"; }

// Prints the steps of a schedule. Declarations are collected on the way and come first.
class SchedulePrinter {
public:
    SchedulePrinter(const Algorithm &algorithm, const Schedule &schedule,
                    const ScheduledProgram &program, const std::string &pipeline, Language language,
                    Names &names, std::vector<Symbol> &special_names);
    std::string run();

private:
    using Path = std::vector<size_t>;
    void print(const FunctionContents &f, const StageStep &s);
    void print(const FunctionContents &f, const FuncStep &s);
    void print(const FunctionContents &f, const WrapStep &s);
    void find_reduction_names(const FunctionContents &f, int stage);
    Symbol special_name(Symbol f);
    void begin_statement(const std::string &object, const std::string &call);

    std::string func(Symbol f) { return names[f]; }
    std::string fetched(Symbol what) {
        return functions.count(what) ? func(what) : parameter(what);
    }
    std::string expr(const Expr &e) {
        return expr_as_source(e, [&](Symbol s) { return parameter(s); }, language);
    }
    // "Func f = g.in();\n"
    std::string declared(const char *type, const std::string &name,
                         const std::string &value) const {
        return is_python ? str(name, " = ", value, "\n")
                         : str(type, " ", name, " = ", value, ";\n");
    }
    std::string_view truth(bool value) const {
        if (is_python) return value ? "True" : "False";
        return value ? "true" : "false";
    }
    std::string list(const std::vector<std::string> &words) const {
        return is_python ? str("[", join(words), "]") : str("{", join(words), "}");
    }
    // Returns the name of a directive, which is another one where that is a word of the language.
    std::string call_name(const std::string &directive) const {
        return is_python && (directive == "async" || directive == "in") ? directive + "_"
                                                                        : directive;
    }
    void end_statement() {
        if (!open_object.empty()) statements += is_python ? "\n" : ";\n";
        open_object.clear();
    }
    std::string parameter(Symbol s);
    void find_parameters();
    std::string stage_object(const FunctionContents &f, int stage, const Path &path);
    std::string loop(const FunctionContents &f, int stage, Symbol var);
    std::string declare(Symbol var, bool is_rvar, const std::string &initial);
    std::string level(const LoopLevel &l);
    // The members of a directive in their order, which most directives have as arguments.
    template<typename D>
    std::string members(const FunctionContents &f, int stage, const D &d);
    template<typename T>
    std::string member_as_source(const FunctionContents &f, int stage, const T &member,
                                 Referred of);
    std::string arguments(const FunctionContents &f, int stage, const StageDirective &d);
    std::string arguments(const FunctionContents &f, const FuncDirective &d);
    bool is_reduction_name(const FunctionContents &f, int stage, Symbol var) const;

    const Algorithm &algorithm;
    const Schedule &schedule;
    std::string pipeline;
    const Language language;
    const bool is_python;
    const std::string_view prefix;
    Names &names;
    const Functions &functions;  // with the schedule
    // The variables of the algorithm, and how to get at them.
    struct Origin {
        bool is_rvar;
        std::string text;
    };
    std::unordered_map<Symbol, Origin> origins;
    std::map<std::pair<Symbol, bool>, std::string> variables;
    // Hold the algorithm's parameters, and the buffers of its outputs as one gets at them.
    std::unordered_map<Symbol, ParameterRef> parameters;
    std::unordered_map<Symbol, std::string> outputs;
    std::set<Symbol> declared_parameters;
    // Specializations have a symbol each, the same in every run.
    std::vector<Symbol> &special_names;
    size_t specials_so_far = 0;
    std::string declarations, statements, open_object;
    std::map<std::tuple<Symbol, int, Path>, std::string> stages;
    std::map<std::tuple<Symbol, int, Path>, size_t> specializations;  // how many there are so far
    std::map<std::pair<Symbol, int>, std::set<Symbol>> reduction_names;
};

SchedulePrinter::SchedulePrinter(const Algorithm &algorithm, const Schedule &schedule,
                                 const ScheduledProgram &program, const std::string &pipeline,
                                 Language language, Names &names,
                                 std::vector<Symbol> &special_names)
    : algorithm(algorithm), schedule(schedule), pipeline(pipeline), language(language),
      is_python(language == Language::Python), prefix(prefix_in(language)), names(names),
      functions(program.functions()), special_names(special_names) {
    find_parameters();
    for (const FunctionRef &f : algorithm.functions()) {
        for (size_t i = 0; i < f->args.size(); i++) {
            origins.emplace(f->args[i], Origin{false, str(func(f->name), ".args()[", i, "]")});
        }
        for (size_t s = 1; s < f->stages.size(); s++) {
            const auto &rvars = f->stages[s]->reduction;
            for (size_t i = 0; i < rvars.size(); i++) {
                origins.emplace(rvars[i].var,
                                Origin{true, str(func(f->name), ".rvars(", s - 1, ")[", i, "]")});
            }
        }
    }
}

Symbol SchedulePrinter::special_name(Symbol f) {
    const size_t i = specials_so_far++;
    if (i == special_names.size()) special_names.push_back(Symbol::fresh(str(f, "_special", i)));
    return special_names[i];
}

// Finds what the definitions refer to; not what the schedule alone does.
void SchedulePrinter::find_parameters() {
    auto add = [&](ir::Referent *referent) {
        auto *p = dynamic_cast<Parameter *>(referent);
        if (p) parameters[p->name] = ParameterRef(p);
    };
    auto search = [&](const Expr &e) {
        if (!e.defined()) return;
        ir::for_each_node(e, [&](const ir::Variable &v) { add(v.referent.get()); });
        ir::for_each_node(e, [&](const ir::BufferProperty &p) { add(p.referent.get()); });
        ir::for_each_node(e, [&](const ir::Call &c) { add(c.referent.get()); });
    };
    for (const FunctionRef &f : algorithm.functions()) {
        for (const DefinitionRef &d : f->stages) {
            for (const Expr &e : d->args) search(e);
            for (const Expr &e : d->values) search(e);
            for (const ReductionVariable &v : d->reduction) {
                search(v.min);
                search(v.extent);
            }
            search(d->predicate);
        }
        if (f->extern_definition) {
            for (const ExternFuncArgument &arg : f->extern_definition->args) {
                if (arg.buffer) add(arg.buffer.get());
                search(arg.scalar);
            }
        }
        for (size_t i = 0; i < f->output_buffers.size(); i++) {
            outputs[f->output_buffers[i]->name] = str(func(f->name), ".output_buffers()[", i, "]");
        }
    }
}

// Returns the name of a parameter; declared the first time, if it is one of the algorithm.
std::string SchedulePrinter::parameter(Symbol s) {
    if (auto output = outputs.find(s); output != outputs.end()) return output->second;
    auto found = parameters.find(s);
    bool is_new = declared_parameters.insert(s).second;
    if (found == parameters.end()) {
        if (is_new) {
            declarations += str(is_python ? "# " : "// ", names[s], ": the parameter ",
                                quoted(s.text()), ", which only the schedule has\n");
        }
        return names[s];
    }
    if (is_new && found->second->is_buffer) {
        declarations += declared("ImageParam", names[s],
                                 str(pipeline, ".get_image_param(", quoted(s.text()), ")"));
    } else if (is_new) {
        declarations +=
            declared("Expr", names[s], str(pipeline, ".get_param(", quoted(s.text()), ")"));
    }
    return names[s];
}

void SchedulePrinter::begin_statement(const std::string &object, const std::string &call) {
    if (object == open_object && !is_python) {
        statements += "\n    ." + call;
        return;
    }
    end_statement();
    statements += object + "." + call;
    open_object = object;
}

std::string SchedulePrinter::declare(Symbol var, bool is_rvar, const std::string &initial) {
    auto [found, is_new] = variables.emplace(std::pair(var, is_rvar), "");
    if (!is_new) return found->second;
    bool other = variables.count({var, !is_rvar}) > 0;
    std::string name = other ? str(names[var], is_rvar ? "_rvar" : "_var") : names[var];
    found->second = name;
    const char *type = is_rvar ? "RVar" : "Var";
    if (!initial.empty()) {
        declarations += declared(type, name, initial);
    } else {
        const std::string &text = var.is_interned() ? var.text() : names[var];
        declarations += is_python ? str(name, " = ts.", type, "(", quoted(text), ")\n")
                                  : str(type, " ", name, "(", quoted(text), ");\n");
    }
    return name;
}

// The variable of a loop, declared the first time: from the function where it is one of its own.
std::string SchedulePrinter::loop(const FunctionContents &f, int stage, Symbol var) {
    if (var == outermost_loop()) return is_python ? "ts.Var.outermost()" : "Var::outermost()";
    auto origin = origins.find(var);
    if (origin != origins.end()) {
        bool by_name = var.is_interned() && !origin->second.is_rvar;
        return declare(var, origin->second.is_rvar, by_name ? "" : origin->second.text);
    }
    return declare(var, is_reduction_name(f, stage, var), "");
}

// Returns true if a loop of that name comes from reduction loops, as far as has been printed.
bool SchedulePrinter::is_reduction_name(const FunctionContents &f, int stage, Symbol var) const {
    for (const auto &[key, set] : reduction_names) {
        if (key.first == f.name && (stage < 0 || key.second == stage) && set.count(var))
            return true;
    }
    return false;
}

std::string SchedulePrinter::stage_object(const FunctionContents &f, int stage, const Path &path) {
    if (!path.empty()) return stages.at({f.name, stage, path});
    return stage == 0 ? func(f.name) : str(func(f.name), ".update(", stage - 1, ")");
}

template<typename D>
std::string SchedulePrinter::members(const FunctionContents &f, int stage, const D &d) {
    std::vector<std::string> words;
    for_each_member(d, [&](const auto &member, const MemberWord &word) {
        std::string text = member_as_source(f, stage, member, word.of);
        if (!text.empty()) words.push_back(std::move(text));
    });
    return join(words);
}

template<typename T>
std::string SchedulePrinter::member_as_source(const FunctionContents &f, int stage, const T &member,
                                              Referred of) {
    if constexpr (std::is_same_v<T, Symbol>) {
        if (of == Referred::Made) return "";  // not an argument: the call returns it
        return of == Referred::Loop ? loop(f, stage, member) : fetched(member);
    } else if constexpr (std::is_same_v<T, Expr>) {
        return member.defined() ? expr(member) : "";
    } else if constexpr (std::is_same_v<T, LoopLevel>) {
        return level(member);
    } else if constexpr (std::is_enum_v<T>) {
        return str(prefix, name_of_type(member), is_python ? "." : "::", name_of(member));
    } else if constexpr (std::is_same_v<T, bool>) {
        return std::string(truth(member));
    } else if constexpr (std::is_same_v<T, std::string>) {
        return quoted(member);
    } else if constexpr (std::is_same_v<T, Preserved>) {
        std::string rvar = loop(f, stage, member.rvar);
        const std::string pair = str(rvar, ", ", declare(member.var, false, ""));
        return is_python ? str("(", pair, ")") : str("{", pair, "}");
    } else {
        std::vector<std::string> words;
        for (const auto &part : member) words.push_back(member_as_source(f, stage, part, of));
        return list(words);
    }
}

std::string SchedulePrinter::arguments(const FunctionContents &f, int stage,
                                       const StageDirective &d) {
    using S = std::string;
    return std::visit(
        overloaded{
            [&](const SetLoopKind &s) -> S { return loop(f, stage, s.var); },
            [&](const Tensorize &t) -> S {
                const S written = t.instruction == "mma"     ? S(is_python ? ".MMA" : "::MMA")
                                  : t.instruction == "wgmma" ? S(is_python ? ".WGMMA" : "::WGMMA")
                                                             : "(" + quoted(t.instruction) + ")";
                return str(loop(f, stage, t.var), is_python ? ", instruction=" : ", ", prefix,
                           "TensorInstruction", written);
            },
            [&](const GroupBlocks &s) -> S { return str(prefix, "grouped(", expr(s.rows), ")"); },
            [&](const AtomicDirective &s) -> S {
                return s.override_associativity_test ? S(truth(true)) : S();
            },
            [&](const StreamLoads &s) -> S {
                if (s.what.empty()) return "";
                const S list = members(f, stage, s);
                return is_python ? list.substr(1, list.size() - 2) : list;
            },
            [&](const auto &s) -> S { return members(f, stage, s); },
        },
        d);
}

// Finds which names of a stage are those of reduction loops: what is left of them at the end, and
// what they were made from.
void SchedulePrinter::find_reduction_names(const FunctionContents &f, int stage) {
    std::set<Symbol> &reduction = reduction_names[{f.name, stage}];
    if (stage == 0 || !reduction.empty()) return;
    auto add_loops = [&](const StageSchedule &schedule) {
        for (const Loop &l : schedule.loops) {
            if (l.is_reduction) reduction.insert(l.var);
        }
    };
    const StageSchedule &schedule = f.stages[size_t(stage)]->schedule;
    add_loops(schedule);
    for (const auto &w : schedule.directives) {
        const auto *r = std::get_if<Rfactor>(&w.directive);
        if (!r) continue;
        for (const Preserved &p : r->preserved) reduction.insert(p.rvar);
        add_loops(functions.at(r->intermediate)->stages.back()->schedule);
    }
    for (auto w = schedule.directives.rbegin(); w != schedule.directives.rend(); ++w) {
        if (const auto *split = std::get_if<Split>(&w->directive)) {
            if (reduction.count(split->outer) || reduction.count(split->inner)) {
                reduction.insert({split->old, split->outer, split->inner});
            }
        } else if (const auto *rename = std::get_if<Rename>(&w->directive)) {
            if (reduction.count(rename->new_name)) reduction.insert(rename->old);
        }
    }
    // A loop that is fused again is none of those that are left.
    for (const ReductionVariable &v : f.stages[size_t(stage)]->reduction) reduction.insert(v.var);
    for (const auto &w : schedule.directives) {
        if (const auto *split = std::get_if<Split>(&w.directive)) {
            if (reduction.count(split->old)) reduction.insert({split->outer, split->inner});
        } else if (const auto *fuse = std::get_if<Fuse>(&w.directive)) {
            if (reduction.count(fuse->inner) || reduction.count(fuse->outer))
                reduction.insert(fuse->fused);
        } else if (const auto *rename = std::get_if<Rename>(&w.directive)) {
            if (reduction.count(rename->old)) reduction.insert(rename->new_name);
        }
    }
}

void SchedulePrinter::print(const FunctionContents &f, const StageStep &s) {
    find_reduction_names(f, s.stage);
    std::string object = stage_object(f, s.stage, s.path);
    std::string name = call_name(directive_name(s.written.directive));
    std::string args = arguments(f, s.stage, s.written.directive);
    std::string call = str(name, "(", args, ")");
    bool specialize = std::holds_alternative<SpecializeDirective>(s.written.directive);
    const Symbol made = made_by(s.written.directive);
    bool fail = std::holds_alternative<SpecializeFail>(s.written.directive);
    bool unscheduled = std::holds_alternative<Unscheduled>(s.written.directive);
    bool returns_nothing = fail || unscheduled;
    if (!specialize && !made.defined() && !returns_nothing) return begin_statement(object, call);
    end_statement();
    if (fail) specializations[{f.name, s.stage, s.path}]++;
    if (returns_nothing) {
        statements += str(object, ".", call, is_python ? "\n" : ";\n");
    } else if (made.defined()) {
        statements += declared("Func", func(made), str(object, ".", call));
    } else {
        Path inner = s.path;
        Symbol special = special_name(f.name);
        inner.push_back(specializations[{f.name, s.stage, s.path}]++);
        std::string variable = names[special];
        stages[{f.name, s.stage, inner}] = variable;
        statements += declared("Stage", variable, str(object, ".", call));
    }
}

std::string SchedulePrinter::level(const LoopLevel &l) {
    if (!l.defined()) return str(prefix, "LoopLevel()");
    if (!l.is_at()) return "";
    auto found = functions.find(l.func());
    if (found == functions.end() && is_python) return "ts.LoopLevel()";
    if (found == functions.end()) return str("LoopLevel() /* ", l, ": a Func that is not there */");
    std::string place = func(l.func());
    place += ", " + loop(*found->second, l.stage(), l.var());
    return l.stage() < 0 ? place : str(prefix, "LoopLevel(", place, ", ", l.stage(), ")");
}

std::string SchedulePrinter::arguments(const FunctionContents &f, const FuncDirective &d) {
    using S = std::string;
    return std::visit(overloaded{
                          [&](const FoldStorage &s) -> S {
                              const S args = str(loop(f, 0, s.var), ", ", expr(s.extent));
                              return s.fold_forward ? args : str(args, ", ", truth(false));
                          },
                          [](const Trace &s) -> S {
                              return s.loads || s.stores || s.realizations ? "" : quoted(s.tag);
                          },
                          [&](const auto &s) -> S { return members(f, 0, s); },
                      },
                      d);
}

void SchedulePrinter::print(const FunctionContents &f, const FuncStep &s) {
    std::string args = arguments(f, s.written.directive);
    const std::string name = call_name(directive_name(s.written.directive));
    begin_statement(func(f.name), str(name, "(", args, ")"));
}

void SchedulePrinter::print(const FunctionContents &f, const WrapStep &s) {
    end_statement();
    std::vector<std::string> words;
    for (Symbol c : s.consumers) words.push_back(func(c));
    const std::string args = words.empty() ? "" : list(words),
                      name = call_name(s.is_clone ? "clone_in" : "in");
    statements += declared("Func", func(s.made), str(func(f.name), ".", name, "(", args, ")"));
}

std::string SchedulePrinter::run() {
    for (const Step &step : schedule.steps) {
        const FunctionContents &f = *functions.at(step.function);
        std::visit([&](const auto &s) { print(f, s); }, step.what);
    }
    end_statement();
    std::string funcs = is_python ? "import tessera as ts\n" : "";
    const auto &all = algorithm.functions();
    for (size_t i = 0; i < all.size(); i++) {
        funcs += declared("Func", func(all[i]->name), str(pipeline, ".get_func(", i, ")"));
    }
    return funcs + declarations + statements;
}

}  // namespace

std::string print_schedule(const Algorithm &algorithm, const Schedule &schedule,
                           const std::string &pipeline, Language language) {
    const bool is_python = language == Language::Python;
    std::vector<std::string> reserved = is_python ? std::vector<std::string>() : cpp_keywords();
    reserved.push_back(pipeline);
    std::istringstream words(is_python ? not_for_python_variables : not_for_variables);
    for (std::string word; words >> word;) reserved.push_back(word);
    Names names(Names::Style::Identifiers, reserved);
    for (const FunctionRef &f : algorithm.functions()) names[f->name];
    const ScheduledProgram program = apply(algorithm, schedule);
    const Schedule written = without_unknown_fetches(algorithm, schedule);
    std::vector<Symbol> specials;
    SchedulePrinter(algorithm, written, program, pipeline, language, names, specials).run();
    names.assign_words();
    return SchedulePrinter(algorithm, written, program, pipeline, language, names, specials).run();
}

std::string print_schedule_block(const Algorithm &algorithm, const Schedule &schedule) {
    std::string block = str("// The schedule of ", algorithm.outputs()[0]->name,
                            ", for a Pipeline `pipeline` of the same algorithm.\n{\n");
    std::istringstream lines(print_schedule(algorithm, schedule));
    for (std::string line; std::getline(lines, line);) block += str("    ", line, "\n");
    return block + "}\n";
}

}  // namespace tessera::program
