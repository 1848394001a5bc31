#include "lang/pipeline.h"
#include "base/large_stack.h"
#include "ir/float_bits.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lang/image_param.h"
#include "lang/pipeline_contents.h"
#include "program/apply_checks.h"
#include "program/environment.h"
#include "program/print_schedule.h"
#include "program/schedule_json.h"
#include <algorithm>
#include <mutex>

namespace tessera {

Argument::Argument(const std::string &name, Kind kind, const Type &type, int dimensions,
                   const ArgumentEstimates &estimates)
    : name(name), kind(kind), dimensions(uint8_t(dimensions)), type(type),
      argument_estimates(estimates) {}

Expr detail::constant_of_bits(Type t, uint64_t bits) {
    if (t.is_handle()) return {};
    if (t.is_float()) return ir::make_float_const(t, ir::float_of_bits(t, bits));
    const int unused = 64 - std::max(t.bits(), 8);
    const uint64_t shifted = bits << unused;
    return ir::make_const(t, t.is_int() ? int64_t(shifted) >> unused : int64_t(shifted >> unused));
}

Argument::Argument(program::ParameterRef p)
    : Argument(p->name.text(), p->is_buffer ? InputBuffer : InputScalar, p->type, p->dimensions) {
    ArgumentEstimates &known = argument_estimates;
    if (!p->is_buffer && p->scalar_is_set)
        known.scalar_def = detail::constant_of_bits(p->type, p->scalar_bits);
    known.scalar_min = p->min_value;
    known.scalar_max = p->max_value;
    known.scalar_estimate = p->estimate;
    for (const program::DimensionConstraint &d : p->constraints) {
        if (!d.min_estimate.defined() && !d.extent_estimate.defined()) continue;
        known.buffer_estimates.resize(p->constraints.size());
        known.buffer_estimates[size_t(&d - p->constraints.data())] = {d.min_estimate,
                                                                      d.extent_estimate};
    }
    parameter = std::move(p);
}

Argument::Argument(const ImageParam &image) : Argument(image.parameter()) {}

Pipeline::Pipeline(const Func &output, Location at) : Pipeline(std::vector<Func>{output}, at) {}

Pipeline::Pipeline(const std::vector<Func> &outputs, Location at)
    : contents(std::make_shared<PipelineContents>()) {
    if (outputs.empty()) throw CompileError(at, "Pipeline: there are no outputs");
    for (const Func &f : outputs) {
        if (!f.defined()) {
            throw CompileError(at, str("Pipeline: the output ", f.name(), " has no definition"));
        }
        for (const program::FunctionRef &other : contents->program.outputs) {
            if (other != f.function()) continue;
            throw CompileError(at, str("Pipeline: ", f.name(), " is an output twice"));
        }
        contents->program.outputs.push_back(f.function());
    }
    contents->program.name = outputs[0].name();
}

PipelineContents &Pipeline::get(const Location &at) const {
    if (contents) return *contents;
    throw CompileError(at, "this Pipeline is undefined: it was made without an output");
}

const program::Program &Pipeline::program(Location at) const { return get(at).program; }

std::vector<Func> Pipeline::outputs(Location at) const {
    std::vector<Func> result;
    for (const program::FunctionRef &f : get(at).program.outputs) result.emplace_back(f);
    return result;
}

Func Pipeline::get_func(size_t i, Location at) const {
    auto order = with_large_stack(
        [&] { return program::find_transitive_calls(get(at).program.outputs).order; });
    if (i < order.size()) return Func(order[i]);
    throw CompileError(at, str("get_func(", i, "), but the pipeline has ", order.size(), " Funcs"));
}

namespace {

program::ParameterRef find_parameter(const program::Program &program, const std::string &name,
                                     bool is_buffer, Location at) {
    std::vector<std::string> all;
    program::ParameterRef found;
    auto environment = program::find_transitive_calls(program.outputs);
    for (const program::ParameterRef &p : program::find_parameters(program, environment)) {
        if (p->is_buffer != is_buffer) continue;
        all.push_back(p->name.text());
        if (all.back() != name) continue;
        if (found) throw CompileError(at, str("the pipeline has several parameters named ", name));
        found = p;
    }
    if (found) return found;
    throw CompileError(at, str("the pipeline has no ", is_buffer ? "image" : "scalar",
                               " parameter named ", name, "; it has ",
                               all.empty() ? std::string("none") : join(all)));
}

}  // namespace

program::ParameterRef detail::parameter_for(const Argument &a, const program::Program &program,
                                            const Location &at) {
    if (a.parameter) return a.parameter;
    if (a.is_output()) {
        throw CompileError(at, str("the argument ", a.name,
                                   " is an output; outputs follow the "
                                   "arguments of a pipeline by themselves"));
    }
    auto environment = program::find_transitive_calls(program.outputs);
    program::ParameterRef found;
    bool of_another_kind = false;
    for (const program::ParameterRef &p : program::find_parameters(program, environment)) {
        if (p->name.text() != a.name) continue;
        if (p->is_buffer != a.is_buffer() || p->type != a.type ||
            p->dimensions != int(a.dimensions)) {
            of_another_kind = true;
        } else if (found) {
            throw CompileError(at, str("the pipeline has several parameters named ", a.name,
                                       ", and the argument says only the name; pass the Param or "
                                       "ImageParam itself"));
        } else {
            found = p;
        }
    }
    if (found) return found;
    if (of_another_kind) {
        throw CompileError(at, str("the argument ", a.name,
                                   " is not of the kind that the parameter of this name has"));
    }
    if (a.is_buffer()) {
        return program::make_buffer_parameter(Symbol::fresh(a.name), a.type, int(a.dimensions));
    }
    return program::make_scalar_parameter(Symbol::fresh(a.name), a.type);
}

Param<> Pipeline::get_param(const std::string &name, Location at) const {
    return Param<>(
        with_large_stack([&] { return find_parameter(get(at).program, name, false, at); }));
}
ImageParam Pipeline::get_image_param(const std::string &name, Location at) const {
    return ImageParam(
        with_large_stack([&] { return find_parameter(get(at).program, name, true, at); }));
}

void Pipeline::add_requirement(const WrittenExpr &condition, const std::vector<Expr> &message) {
    const Location &at = condition.at;
    if (!condition.defined() || !condition.type().is_bool()) {
        throw CompileError(at, "add_requirement: the condition is a bool in terms of parameters");
    }
    program::require_parameters_only(condition, "add_requirement", at);
    std::vector<Expr> spaced;
    for (const Expr &e : message) {
        if (!e.defined()) {
            throw CompileError(at, "add_requirement: a part of the message is undefined");
        }
        program::require_parameters_only(e, "add_requirement", at);
        if (!spaced.empty()) spaced.push_back(Expr(" "));
        spaced.push_back(e);
    }
    get(at).program.requirements.push_back({condition, spaced, at});
    get(at).version.note_change();
}

void Pipeline::add_pass(std::function<ir::Stmt(const ir::Stmt &)> pass, const Location &at) {
    get(at).program.custom_passes.push_back(std::move(pass));
    get(at).version.note_change();
}
void Pipeline::clear_custom_lowering_passes(Location at) {
    get(at).program.custom_passes.clear();
    get(at).version.note_change();
}

void Pipeline::trace_pipeline(Location at) {
    get(at).program.trace_pipeline = true;
    get(at).version.note_change();
}

static std::string schedule_as(program::Language language,
                               const std::vector<program::FunctionRef> &outputs, Location at) {
    return called_at(at, [&] {
        return with_large_stack([&] {
            return program::print_schedule(program::Algorithm(outputs, at),
                                           program::schedule_of(outputs), "pipeline", language);
        });
    });
}
std::string Pipeline::schedule_as_cpp(Location at) const {
    return schedule_as(program::Language::Cpp, get(at).program.outputs, at);
}
std::string Pipeline::schedule_as_python(Location at) const {
    return schedule_as(program::Language::Python, get(at).program.outputs, at);
}
std::string Pipeline::schedule_as_json(Location at) const {
    const auto &outputs = get(at).program.outputs;
    return called_at(at, [&] {
        return with_large_stack([&] {
            return program::schedule_to_json(program::Algorithm(outputs, at),
                                             program::schedule_of(outputs));
        });
    });
}
void Pipeline::apply_schedule(const std::string &json, const std::vector<Argument> &more,
                              Location at) {
    std::vector<program::ParameterRef> parameters;
    for (const Argument &a : more) {
        parameters.push_back(detail::parameter_for(a, get(at).program, at));
    }
    program::apply_json_schedule(get(at).program.outputs, json, parameters, at);
}

JITHandlers &Pipeline::jit_handlers(Location at) { return get(at).handlers; }

const std::map<std::string, JITExtern> &Pipeline::get_jit_externs(Location at) const {
    return get(at).externs;
}

void Pipeline::set_jit_externs(const std::map<std::string, JITExtern> &externs, Location at) {
    get(at).externs = externs;
    get(at).version.note_change();
}

}  // namespace tessera
