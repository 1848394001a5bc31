#include "ir/printer.h"
#include "ir/visitor.h"
#include "program/define.h"
#include "program/directive_words.h"
#include "program/names.h"
#include "program/parameter.h"
#include "program/schedule_json.h"
#include <nlohmann/json.hpp>

namespace tessera::program {
namespace {

using nlohmann::json;

// Directives to JSON. Functions have one set of names, loops and dimensions another; parameters and
// images are named by their texts.
class Writer {
public:
    json whole(const Algorithm &algorithm, const Schedule &schedule);
    void settle_names();

private:
    json functions(const Algorithm &algorithm);
    json step(const Step &step);
    template<typename T>
    json value(const T &member, Referred of);
    template<typename D>
    json directive(const D &d);
    template<typename... Ds>
    json directive(const std::variant<Ds...> &any) {
        return std::visit([&](const auto &d) { return directive(d); }, any);
    }
    json name(Symbol loop) { return loop_names[loop]; }
    json expr(const Expr &e);
    void check_parameter(Symbol name);
    json fetched(Symbol what);
    json list(const std::vector<Symbol> &symbols) {
        json result = json::array();
        for (Symbol s : symbols) result.push_back(name(s));
        return result;
    }
    json function_list(const std::vector<Symbol> &symbols) {
        json result = json::array();
        for (Symbol s : symbols) result.push_back(function_names[s]);
        return result;
    }
    json level(const LoopLevel &l) {
        if (!l.defined()) return {{"place", "not set"}};
        if (!l.is_at()) return {{"place", l.means_root() ? "root" : "inlined"}};
        return {{"func", function_names[l.func()]}, {"loop", name(l.var())}, {"stage", l.stage()}};
    }

    Names function_names{Names::Style::Texts}, loop_names{Names::Style::Texts};
    std::set<Symbol> functions_known;
    std::set<Symbol> of_algorithm;  // dimensions and reduction variables
    std::map<std::string, Symbol> parameters;
};

// Parameters are named by their texts alone.
void Writer::check_parameter(Symbol name) {
    auto [found, is_new] = parameters.emplace(name.text(), name);
    if (is_new || found->second == name) return;
    throw CompileError(str("the schedule mentions two parameters of the name ", name,
                           "; give them different names to write it as JSON"));
}

json Writer::expr(const Expr &e) {
    if (!e.defined()) return {};
    ir::for_each_node(e, [&](const ir::Variable &v) {
        if (v.referent) check_parameter(v.name);
    });
    ir::for_each_node(e, [&](const ir::BufferProperty &p) {
        if (p.referent) check_parameter(p.buffer);
    });
    return ir::to_string(e);
}

// A function or an image.
json Writer::fetched(Symbol what) {
    if (functions_known.count(what)) return function_names[what];
    check_parameter(what);
    return {{"image", what.text()}};
}

template<typename T>
json Writer::value(const T &member, Referred of) {
    if constexpr (std::is_same_v<T, Symbol>) {
        return of == Referred::Loop      ? name(member)
               : of == Referred::Fetched ? fetched(member)
                                         : json(function_names[member]);
    } else if constexpr (std::is_same_v<T, Expr>) {
        return expr(member);
    } else if constexpr (std::is_same_v<T, LoopLevel>) {
        return level(member);
    } else if constexpr (std::is_same_v<T, Preserved>) {
        return {name(member.rvar), name(member.var)};
    } else if constexpr (std::is_enum_v<T>) {
        return name_of(member);
    } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
        return member;
    } else {
        json all = json::array();
        for (const auto &one : member) all.push_back(value(one, of));
        return all;
    }
}

template<typename D>
json Writer::directive(const D &d) {
    json j = json::object();
    if (field_count<D> == 0) j[std::string(WordsOf<D>::words.name)] = true;
    for_each_member(d, [&](const auto &member, const MemberWord &w) {
        j[std::string(w.word)] = value(member, w.of);
    });
    return j;
}

json Writer::functions(const Algorithm &algorithm) {
    json all = json::array();
    for (const FunctionRef &f : algorithm.functions()) {
        for (Symbol s : f->args) of_algorithm.insert(s);
        json rvars = json::array();
        for (size_t s = 1; s < f->stages.size(); s++) {
            std::vector<Symbol> reduction;
            for (const ReductionVariable &v : f->stages[s]->reduction) reduction.push_back(v.var);
            of_algorithm.insert(reduction.begin(), reduction.end());
            rvars.push_back(list(reduction));
        }
        all.push_back(
            {{"name", function_names[f->name]}, {"args", list(f->args)}, {"rvars", rvars}});
    }
    return all;
}

json Writer::step(const Step &step) {
    auto with_line = [](json j, const Location &at) {
        if (at.known()) j["written"] = to_string(at);
        return j;
    };
    return std::visit(overloaded{
                          [&](const StageStep &s) {
                              json j = directive(s.written.directive);
                              j["stage_of"] = function_names[step.function];
                              j["stage"] = s.stage;
                              if (!s.path.empty()) j["specialization"] = s.path;
                              return with_line(j, s.written.at);
                          },
                          [&](const FuncStep &s) {
                              json j = directive(s.written.directive);
                              j["of"] = function_names[step.function];
                              return with_line(j, s.written.at);
                          },
                          [&](const WrapStep &s) -> json {
                              return with_line({{"wrap", function_names[step.function]},
                                                {"clone", s.is_clone},
                                                {"consumers", function_list(s.consumers)},
                                                {"makes", function_names[s.made]}},
                                               s.at);
                          },
                      },
                      step.what);
}

void Writer::settle_names() {
    function_names.assign_words();
    loop_names.assign_words();
}

json Writer::whole(const Algorithm &algorithm, const Schedule &schedule) {
    for (const FunctionRef &f : algorithm.functions()) functions_known.insert(f->name);
    for (const Step &s : schedule.steps) functions_known.insert(made_by(s));
    json described = functions(algorithm), steps = json::array(), loops = json::object();
    for (const Step &s : schedule.steps) steps.push_back(step(s));
    for (Symbol s : loop_names.all()) {
        if (!s.is_interned() && !of_algorithm.count(s)) loops[loop_names[s]] = s.text();
    }
    return {{"tessera_schedule", schedule_json_version},
            {"functions", described},
            {"loops", loops},
            {"steps", steps}};
}

}  // namespace

std::string schedule_to_json(const Algorithm &algorithm, const Schedule &schedule) {
    Writer writer;
    const Schedule written = without_unknown_fetches(algorithm, schedule);
    writer.whole(algorithm, written);
    writer.settle_names();
    return writer.whole(algorithm, written).dump(2) + "\n";
}

}  // namespace tessera::program
