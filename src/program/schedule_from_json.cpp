#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "program/directive_words.h"
#include "program/environment.h"
#include "program/json_object.h"
#include "program/names.h"
#include "program/schedule_json.h"
#include <algorithm>
#include <set>

namespace tessera::program {
namespace {

using Parameters = std::map<std::string, ParameterRef>;

// Gives parsed expressions the parameters that their symbols stand for.
class Attach final : public ir::Mutator {
public:
    explicit Attach(const Parameters &parameters) : parameters(parameters) {}

private:
    ParameterRef find(Symbol s) const {
        auto found = parameters.find(s.text());
        if (found != parameters.end()) return found->second;
        std::vector<std::string> all;
        for (const auto &[name, p] : parameters) all.push_back(name);
        throw CompileError(str("there is no parameter named ", s, "; ",
                               all.empty() ? std::string("the pipeline has none")
                                           : str("those of the pipeline are ", join(all)),
                               "; hand over the others as `more`"));
    }
    Expr visit(const ir::Variable &v) override {
        ParameterRef p = find(v.name);
        if (!p->is_buffer && p->type == v.type) return ir::Variable::make(p->type, p->name, p);
        throw CompileError(str("the parameter ", v.name, " is ",
                               p->is_buffer ? std::string("a buffer") : str("of type ", p->type),
                               ", but is used as a scalar of type ", v.type));
    }
    Expr visit(const ir::BufferProperty &b) override {
        ParameterRef p = find(b.buffer);
        if (p->is_buffer && b.dim < p->dimensions) {
            return ir::BufferProperty::make(p->name, b.field, b.dim, p);
        }
        throw CompileError(str("the parameter ", b.buffer, " has no dimension ", b.dim));
    }
    Expr visit(const ir::Call &c) override {
        ParameterRef p = find(c.callee);
        if (p->is_buffer && p->dimensions == int(c.args.size()) && p->type == c.type) {
            std::vector<Expr> args;
            for (const Expr &e : c.args) args.push_back((*this)(e));
            return ir::Call::make(p->type, p->name, CallKind::Image, 0, std::move(args), p);
        }
        throw CompileError(str("the parameter ", c.callee, " is no image of ", c.args.size(),
                               " dimensions of type ", c.type));
    }
    const Parameters &parameters;
};

// Reads steps for an algorithm, and does each to a program of that, which says what is wrong.
class Reader {
public:
    Reader(const Algorithm &algorithm, Parameters parameters, const Location &at)
        : algorithm(algorithm), parameters(std::move(parameters)), at(at) {}
    Schedule read(const json &root, ScheduledProgram &program);

private:
    void bind_algorithm(const json &described);
    void bind_function(const FunctionRef &f, const json &described);
    void bind(const std::string &name, Symbol variable, const FunctionRef &f);
    Step read_step(JsonObject &step);
    Step read_wrapper(JsonObject &step);
    Symbol make_function(const std::string &name);
    Symbol symbol(const std::string &name);
    std::vector<Symbol> symbols(const std::vector<std::string> &list);
    Symbol fetched(const json &j) const;
    Symbol function(const std::string &name) const;
    StageStep stage(JsonObject &step, const Location &line);
    Expr expr(JsonObject &step, const std::string &word);
    LoopLevel level(const json &j);
    template<typename T>
    void read_member(JsonObject &s, const std::string &word, Referred of, T &member);
    template<typename... Ds>
    void read_directive(JsonObject &s, const std::string &name, std::variant<Ds...> &into);
    Location written(JsonObject &step) const;

    const Algorithm &algorithm;
    Parameters parameters;
    Location at;
    std::map<std::string, Symbol> names, functions;
};

const std::vector<std::string> stage_words = names_of_all(StageDirective());
const std::vector<std::string> func_words = names_of_all(FuncDirective());

// The first word of a step: which directive it is.
std::string directive_word(const JsonObject &step) {
    std::vector<std::string> all = {"wrap"}, found;
    all.insert(all.end(), stage_words.begin(), stage_words.end());
    all.insert(all.end(), func_words.begin(), func_words.end());
    for (const std::string &word : all) {
        if (step.has(word)) found.push_back(word);
    }
    if (found.size() == 1) return found[0];
    if (found.size() > 1) {
        throw CompileError(
            str("this is several directives at once: ", join(found), "; make a step of each"));
    }
    const std::set<std::string> others = {"stage_of", "stage",  "of",    "specialization",
                                          "written",  "factor", "outer", "inner"};
    for (const std::string &word : step.words()) {
        if (others.count(word)) continue;
        std::string close = closest_match(word, all);
        if (close.empty()) continue;
        throw CompileError(str('"', word, "\" is no directive; did you mean \"", close, "\"?"));
    }
    throw CompileError(str("this is no directive; one of these words is wanted: ", join(all)));
}

[[noreturn]] void refuse(const std::string &why) {
    throw CompileError(str("the schedule is for another algorithm: ", why));
}

void Reader::bind(const std::string &name, Symbol variable, const FunctionRef &f) {
    if (names.emplace(name, variable).first->second == variable) return;
    refuse(str("there ", name, " is one variable of several functions, and here ", variable, " of ",
               f->name, " is another"));
}

void Reader::bind_function(const FunctionRef &f, const json &j) {
    JsonObject described(j, "a function");
    std::string name = described.text("name");
    std::vector<std::string> args = described.texts("args");
    const json &rvars = described.list("rvars");
    if (args.size() != f->args.size()) {
        refuse(
            str(name, " has ", args.size(), " dimensions, and ", f->name, " has ", f->args.size()));
    }
    if (rvars.size() + 1 != f->stages.size()) {
        refuse(str(name, " has ", rvars.size(), " updates, and ", f->name, " has ",
                   f->stages.size() - 1));
    }
    functions[name] = f->name;
    for (size_t k = 0; k < args.size(); k++) bind(args[k], f->args[k], f);
    for (size_t s = 1; s < f->stages.size(); s++) {
        const auto &reduction = f->stages[s]->reduction;
        std::vector<std::string> list = JsonObject::texts(rvars[s - 1], "rvars");
        if (list.size() != reduction.size()) {
            refuse(str("update(", s - 1, ") of ", name, " has ", list.size(),
                       " reduction variables, and that of ", f->name, " has ", reduction.size()));
        }
        for (size_t k = 0; k < list.size(); k++) bind(list[k], reduction[k].var, f);
    }
    described.finish();
}

void Reader::bind_algorithm(const json &described) {
    const auto &all = algorithm.functions();
    if (described.size() != all.size()) {
        refuse(str("it has ", described.size(), " functions, and the pipeline has ", all.size()));
    }
    for (size_t i = 0; i < described.size(); i++) bind_function(all[i], described[i]);
}

// A name that is nobody's so far is that of a new loop.
Symbol Reader::symbol(const std::string &name) {
    return names.emplace(name, Symbol::interned(name)).first->second;
}

std::vector<Symbol> Reader::symbols(const std::vector<std::string> &list) {
    std::vector<Symbol> result;
    for (const std::string &name : list) result.push_back(symbol(name));
    return result;
}

Symbol Reader::function(const std::string &name) const {
    auto found = functions.find(name);
    if (found != functions.end()) return found->second;
    std::vector<std::string> all;
    for (const auto &[known, f] : functions) all.push_back(known);
    std::string close = closest_match(name, all);
    throw CompileError(str("there is no function named ", name, "; at that point there are ",
                           join(all), close.empty() ? "" : str(" (did you mean ", close, "?)")));
}

// A function, by its name, or {"image": its name}; or the name of an image alone, where no function
// has it.
Symbol Reader::fetched(const json &j) const {
    auto image = [&](const std::string &name) {
        auto p = parameters.find(name);
        return p != parameters.end() && p->second->is_buffer ? p->second->name : Symbol();
    };
    if (j.is_string()) {
        std::string name = j.get<std::string>();
        Symbol found = functions.count(name) ? Symbol() : image(name);
        return found.defined() ? found : function(name);
    }
    JsonObject described(j, "what is fetched");
    std::string name = described.text("image");
    described.finish();
    if (Symbol found = image(name); found.defined()) return found;
    throw CompileError(str("the pipeline has no image named ", name));
}

// A stage, with the directive that the step is still to be given.
StageStep Reader::stage(JsonObject &step, const Location &line) {
    StageStep s{step.number("stage"), {}, {{}, line}};
    if (!step.has("specialization")) return s;
    for (int i : step.numbers("specialization")) {
        if (i < 0) throw CompileError(str("there is no specialization ", i));
        s.path.push_back(size_t(i));
    }
    return s;
}

Expr Reader::expr(JsonObject &step, const std::string &word) {
    const json &j = step.at(word);
    if (j.is_null()) return {};
    if (j.is_number_integer()) return Expr(j.get<int>());
    if (!j.is_string()) throw CompileError(str('"', word, "\" is no expression: ", j.dump()));
    return Attach(parameters)(ir::parse_expr(j.get<std::string>()));
}

LoopLevel Reader::level(const json &j) {
    JsonObject place(j, "a place");
    LoopLevel result;
    if (place.has("place")) {
        std::string where = place.text("place");
        if (where == "root") {
            result = LoopLevel::root();
        } else if (where == "inlined") {
            result = LoopLevel::inlined();
        } else if (where != "not set") {
            throw CompileError(str('"', where,
                                   "\" is no place; it is \"root\", \"inlined\" or "
                                   "\"not set\", or has a \"func\" and a \"loop\""));
        }
    } else {
        result = LoopLevel::at(function(place.text("func")), symbol(place.text("loop")),
                               place.number("stage"), at);
    }
    place.finish();
    return result;
}

// The value of that name of an enumeration whose last value is `last`.
template<typename Enum>
Enum enum_of(JsonObject &step, const std::string &word, Enum last) {
    std::string name = step.text(word);
    std::vector<std::string> all;
    for (int i = 0; i <= int(last); i++) {
        if (name_of(Enum(i)) == name) return Enum(i);
        all.emplace_back(name_of(Enum(i)));
    }
    throw CompileError(str("the \"", word, "\" ", name, " is none of ", join(all)));
}

constexpr TailStrategy last_of(TailStrategy) { return TailStrategy::Auto; }
constexpr LoopKind last_of(LoopKind) { return std::end(all_loop_kinds)[-1]; }
constexpr Partition last_of(Partition) { return Partition::Always; }
constexpr MemoryType last_of(MemoryType) { return std::end(all_memory_types)[-1]; }
constexpr PrefetchBoundStrategy last_of(PrefetchBoundStrategy) {
    return PrefetchBoundStrategy::NonFaulting;
}

// Reads a member of a directive by its kind.
template<typename T>
void Reader::read_member(JsonObject &s, const std::string &word, Referred of, T &member) {
    if constexpr (std::is_same_v<T, Symbol>) {
        member = of == Referred::Loop      ? symbol(s.text(word))
                 : of == Referred::Fetched ? fetched(s.at(word))
                                           : make_function(s.text(word));
    } else if constexpr (std::is_same_v<T, std::vector<Symbol>>) {
        if (of == Referred::Fetched) {
            for (const json &j : s.list(word)) member.push_back(fetched(j));
        } else {
            member = symbols(s.texts(word));
        }
    } else if constexpr (std::is_same_v<T, std::vector<Preserved>>) {
        for (const json &j : s.list(word)) {
            const std::vector<std::string> pair = JsonObject::texts(j, word);
            if (pair.size() != 2) throw CompileError("\"rfactor\" is a list of [rvar, var]");
            member.push_back({symbol(pair[0]), symbol(pair[1])});
        }
    } else if constexpr (std::is_same_v<T, Expr>) {
        member = expr(s, word);
    } else if constexpr (std::is_same_v<T, LoopLevel>) {
        member = level(s.at(word));
    } else if constexpr (std::is_enum_v<T>) {
        member = enum_of(s, word, last_of(T()));
    } else if constexpr (std::is_same_v<T, bool>) {
        member = s.flag(word);
    } else {
        member = s.text(word);
    }
}

// The directive of that name, with its members.
template<typename... Ds>
void Reader::read_directive(JsonObject &s, const std::string &name, std::variant<Ds...> &into) {
    auto read_if = [&]<typename D>(D directive) {
        if (WordsOf<D>::words.name != name) return;
        if (field_count<D> == 0) s.require_true(name);
        for_each_member(directive, [&](auto &member, const MemberWord &w) {
            read_member(s, std::string(w.word), w.of, member);
        });
        into = directive;
    };
    (read_if(Ds()), ...);
}

// The line where the user wrote it, as to_string(Location) has it.
Location Reader::written(JsonObject &step) const {
    if (!step.has("written")) return at;
    std::string text = step.text("written");
    size_t colon = text.rfind(':');
    std::string line = colon == text.npos ? "" : text.substr(colon + 1);
    if (line.empty() || line.size() > 8 || line.find_first_not_of("0123456789") != line.npos) {
        throw CompileError(
            str("\"written\" is no line of a file: ", text, "; it looks like blur.cpp:12"));
    }
    Symbol file = Symbol::interned(text.substr(0, colon));  // its text is kept for ever
    return {file.text().c_str(), uint32_t(std::stoul(line))};
}

Symbol Reader::make_function(const std::string &name) {
    return functions[name] = Symbol::fresh(name);
}

Step Reader::read_wrapper(JsonObject &step) {
    WrapStep wrap;
    for (const std::string &c : step.texts("consumers")) wrap.consumers.push_back(function(c));
    const Symbol f = function(step.text("wrap"));
    wrap.is_clone = step.flag("clone");
    wrap.at = written(step);
    wrap.made = make_function(step.text("makes"));
    return {f, wrap};
}

Step Reader::read_step(JsonObject &step) {
    const std::string word = directive_word(step);
    if (word == "wrap") return read_wrapper(step);
    const Location line = written(step);
    if (std::ranges::count(func_words, word)) {
        const Symbol f = function(step.text("of"));
        FuncStep s;
        s.written.at = line;
        read_directive(step, word, s.written.directive);
        return {f, s};
    }
    const Symbol f = function(step.text("stage_of"));
    StageStep s = stage(step, line);
    read_directive(step, word, s.written.directive);
    return {f, s};
}

Schedule Reader::read(const json &root, ScheduledProgram &program) {
    JsonObject all(root, "a schedule");
    if (int version = all.number("tessera_schedule"); version != schedule_json_version) {
        throw CompileError(str("the schedule is of version ", version, "; version ",
                               schedule_json_version, " is wanted"));
    }
    bind_algorithm(all.list("functions"));
    if (all.has("loops")) {
        JsonObject loops(all.at("loops"), "\"loops\"");
        for (const std::string &name : loops.words()) {
            names.emplace(name, Symbol::fresh(loops.text(name)));
        }
    }
    const json &steps = all.list("steps");
    all.finish();
    Schedule schedule;
    for (size_t i = 0; i < steps.size(); i++) {
        try {
            JsonObject step(steps[i], "a step");
            schedule.steps.push_back(read_step(step));
            step.finish();
            program.perform(schedule.steps.back());
        } catch (const CompileError &e) {
            throw CompileError(
                str("step ", i, " of the schedule, ", steps[i].dump(), ": ", e.what()));
        }
    }
    return schedule;
}

Parameters known_parameters(const std::vector<FunctionRef> &outputs,
                            const std::vector<ParameterRef> &more) {
    Program program;
    program.outputs = outputs;
    const Environment environment = find_transitive_calls(outputs);
    Parameters all;
    for (const FunctionRef &f : environment.order) {
        for (const ParameterRef &p : f->output_buffers) all.emplace(p->name.text(), p);
    }
    for (const ParameterRef &p : find_parameters(program, environment)) all[p->name.text()] = p;
    for (const ParameterRef &p : more) all[p->name.text()] = p;
    return all;
}

// Reads a schedule for the algorithm, after the one that `program` has already.
Schedule read_schedule(const Algorithm &algorithm, ScheduledProgram program, Parameters parameters,
                       const std::string &text, const Location &at) {
    try {
        return Reader(algorithm, std::move(parameters), at)
            .read(parse_json(text, "a schedule"), program);
    } catch (const CompileError &e) {
        throw CompileError(at, e.what());
    }
}

}  // namespace

Schedule schedule_from_json(const Algorithm &algorithm, const std::string &json,
                            const std::vector<ParameterRef> &more, const Location &at) {
    return read_schedule(algorithm, ScheduledProgram(algorithm),
                         known_parameters(algorithm.outputs(), more), json, at);
}

void apply_json_schedule(const std::vector<FunctionRef> &outputs, const std::string &json,
                         const std::vector<ParameterRef> &more, const Location &at) {
    const Algorithm algorithm(outputs);
    const Schedule schedule = read_schedule(algorithm, apply(algorithm, schedule_of(outputs)),
                                            known_parameters(outputs, more), json, at);
    Functions functions = functions_of(outputs);
    for (const Step &step : schedule.steps) perform(step, functions);
}

}  // namespace tessera::program
