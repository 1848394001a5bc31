#include "lang/callable.h"
#include "base/large_stack.h"
#include "base/small_array.h"
#include "driver/link_shared.h"
#include "driver/loaded_library.h"
#include "lang/load_library.h"
#include "lang/pipeline_contents.h"
#include <algorithm>

namespace tessera {

struct Callable::Contents {
    std::string name;
    Target target;
    JITHandlers handlers;  // that the pipeline had when this was compiled
    // Runs the code, with pointers to its arguments. Returns 0 or the runtime's error code.
    std::function<int(JITUserContext *, std::span<void *const>)> run;
    std::vector<Argument> arguments;  // that the caller gives: parameters, then outputs
    // Says where each argument of the code comes from: the caller's (>= 0), or the program's own.
    std::vector<int> sources;
    std::vector<program::ParameterRef> parameters;
    bool is_profiled = false;
    bool reads_devices = false;  // else memory has to be on the host
};

namespace {

constexpr size_t most_on_the_stack = 32;

const char *kind(bool is_buffer) { return is_buffer ? "a buffer" : "a number"; }

}  // namespace

const std::vector<Argument> &Callable::arguments() const {
    if (!contents) throw RuntimeError("this Callable is undefined");
    return contents->arguments;
}

const std::string &Callable::name() const {
    arguments();
    return contents->name;
}

const Target &Callable::target() const {
    arguments();
    return contents->target;
}

void Callable::check(std::span<const CallableArgument> args) const {
    const std::vector<Argument> &wanted = arguments();
    if (args.size() != wanted.size()) {
        std::vector<std::string> names;
        for (const auto &w : wanted) names.push_back(w.name);
        throw RuntimeError(str("the Callable takes ", wanted.size(), " arguments (", join(names),
                               "), not ", args.size()));
    }
    for (size_t i = 0; i < args.size(); i++) {
        const Argument &w = wanted[i];
        if (args[i].is_buffer != w.is_buffer()) {
            throw RuntimeError(str("argument ", i, " of the Callable, ", w.name, ", has to be ",
                                   kind(w.is_buffer()), ", but ", kind(args[i].is_buffer),
                                   " is passed"));
        }
        if (!args[i].type.defined() || args[i].type == w.type) continue;
        throw RuntimeError(str("argument ", i, " of the Callable, ", w.name, ", has to be of type ",
                               w.type, ", but one of type ", args[i].type, " is passed"));
    }
}

void Callable::check_buffers(std::span<const CallableArgument> args) const {
    SmallArray<tessera_buffer_t *, most_on_the_stack> outputs(args.size());
    size_t count = 0;
    for (size_t i = 0; i < args.size(); i++) {
        const Argument &w = contents->arguments[i];
        if (!args[i].is_buffer) continue;
        if (!args[i].buffer) {
            throw RuntimeError(
                str("argument ", i, " of the Callable, ", w.name, ", is an undefined Buffer"));
        }
        driver::check_dimensions(*args[i].buffer, w.name, w.dimensions);
        if (args[i].buffer->device && !args[i].buffer->host && !contents->reads_devices) {
            throw RuntimeError(str("argument ", i, " of the Callable, ", w.name,
                                   ", has memory on a device only, but the pipeline runs on the "
                                   "CPU"));
        }
        if (w.is_output()) outputs[count++] = args[i].buffer;
    }
    driver::check_places(outputs.first(count));
}

int Callable::call(std::span<const CallableArgument> args, JITUserContext *context,
                   Location at) const {
    return called_at(at, [&] {
        return call_if_they_fit(args, context,
                                [&] { return call_checked(args, context, Purpose::Run); });
    });
}

int Callable::infer_input_bounds(std::span<const CallableArgument> args, JITUserContext *context,
                                 Location at) const {
    return called_at(at, [&] {
        return call_if_they_fit(args, context, [&] { return ask_inputs(args, context); });
    });
}

template<typename F>
int Callable::call_if_they_fit(std::span<const CallableArgument> args, JITUserContext *context,
                               F f) const {
    if (!contents) throw RuntimeError("this Callable is undefined");
    auto own = context ? context->handlers.custom_error : nullptr;
    auto handler = own ? own : contents->handlers.custom_error;
    try {
        check(args);
        check_buffers(args);
    } catch (const RuntimeError &e) {
        if (!handler) throw;
        handler(context, e.what());
        return tessera_error_code_generic;
    }
    return f();
}

int Callable::call_checked(std::span<const CallableArgument> args, JITUserContext *context,
                           Purpose purpose) const {
    driver::CallContext call(context, contents->handlers, purpose);
    SmallArray<void *, most_on_the_stack> passed(contents->sources.size());
    for (size_t i = 0; i < contents->sources.size(); i++) {
        int source = contents->sources[i];
        if (source < 0) {
            passed[i] = contents->parameters[i]->buffer;
            continue;
        }
        const CallableArgument &a = args[size_t(source)];
        // Compiled code reads numbers and never writes them.
        passed[i] = a.is_buffer ? static_cast<void *>(a.buffer) : const_cast<uint64_t *>(&a.bits);
    }
    int code = contents->run(call.user_context(), passed.first(passed.size()));
    driver::check_result(code, contents->name, call);
    if (contents->is_profiled && purpose == Purpose::Run)
        tessera_profiler_report(call.user_context());
    return code;
}

namespace {

using Shape = std::vector<tessera_dimension_t>;

// Returns those of the buffers without memory, one after another.
Shape asked_shapes(std::span<const CallableArgument> args) {
    Shape all;
    for (const CallableArgument &a : args) {
        if (!a.is_buffer || !a.buffer->is_bounds_query()) continue;
        for (int d = 0; d < a.buffer->dimensions; d++)
            all.emplace_back(a.buffer->dim[d].min, a.buffer->dim[d].extent, 0);
    }
    return all;
}

bool asks(std::span<const CallableArgument> args) {
    return std::ranges::any_of(
        args, [](const auto &a) { return a.is_buffer && a.buffer->is_bounds_query(); });
}

}  // namespace

// The demands on one input may depend on another one.
int Callable::ask_inputs(std::span<const CallableArgument> args, JITUserContext *context) const {
    if (!asks(args)) return 0;  // it would be a call
    if (contents->target.has_feature(Target::NoBoundsQuery))
        throw RuntimeError(str(contents->name, " was compiled with no_bounds_query: it cannot be "
                                               "asked which regions it reads"));
    constexpr int enough = 16;
    for (int rounds = 0; rounds < enough; rounds++) {
        const Shape before = asked_shapes(args);
        if (const int code = call_checked(args, context, Purpose::Query)) return code;
        if (asked_shapes(args) == before) return 0;
    }
    throw RuntimeError(str("infer_input_bounds of ", contents->name, ": after ", enough,
                           " rounds the inputs still have to be larger; their constraints cannot "
                           "be satisfied together"));
}

namespace {

// An argument that says nothing has what its parameter says now.
void complete(ArgumentEstimates &known, const program::ParameterRef &p) {
    const ArgumentEstimates now = Argument(p).argument_estimates;
    if (!known.scalar_def.defined()) known.scalar_def = now.scalar_def;
    if (!known.scalar_min.defined()) known.scalar_min = now.scalar_min;
    if (!known.scalar_max.defined()) known.scalar_max = now.scalar_max;
    if (!known.scalar_estimate.defined()) known.scalar_estimate = now.scalar_estimate;
    if (known.buffer_estimates.empty()) known.buffer_estimates = now.buffer_estimates;
}

}  // namespace

Callable Pipeline::compile_to_callable(const std::vector<Argument> &list, const Target &target,
                                       Location at) {
    std::vector<Argument> args = list;
    for (Argument &a : args) {
        a.parameter =
            with_large_stack([&] { return detail::parameter_for(a, get(at).program, at); });
        complete(a.argument_estimates, a.parameter);
    }
    for (auto a = args.begin(); a != args.end(); ++a) {
        bool again = std::any_of(args.begin(), a, [&](const Argument &before) {
            return before.parameter == a->parameter;
        });
        if (!again) continue;
        throw CompileError(
            at, str("compile_to_callable: ", a->name, " is in the list of arguments twice"));
    }
    auto result = std::make_shared<Callable::Contents>();
    result->name = get(at).program.name;
    result->handlers = get(at).handlers;
    const PipelineContents::CompiledRef compiled =
        called_at(at, [&] { return get(at).compile(driver::jit_target(target)); });
    result->run = [code = compiled->code](JITUserContext *context, std::span<void *const> passed) {
        return code->call(context, passed);
    };
    const Target chosen = driver::jit_target(target);
    result->target = chosen;
    result->is_profiled = driver::is_profiled(chosen);
    result->reads_devices = chosen.has_gpu_feature() && !chosen.has_feature(Target::Interpret);
    result->parameters = compiled->parameters;
    result->arguments = args;
    for (const program::ParameterRef &p : compiled->parameters) {
        auto found = std::find_if(args.begin(), args.end(),
                                  [&](const Argument &a) { return a.parameter->name == p->name; });
        if (found == args.end() && !p->embedded) {
            throw CompileError(at, str("compile_to_callable: the pipeline also reads ", p->name,
                                       ", which is not in the list of its arguments"));
        }
        result->sources.push_back(found == args.end() ? -1 : int(found - args.begin()));
    }
    for (const program::FunctionRef &f : get(at).program.outputs) {
        for (Type t : f->types) {
            result->sources.push_back(int(result->arguments.size()));
            result->arguments.emplace_back(f->name.text(), Argument::OutputBuffer, t,
                                           f->dimensions());
        }
    }
    Callable callable;
    callable.contents = result;
    return callable;
}

namespace {

// Returns a number that the description of a function has, or lacks.
Expr constant_at(Type type, const tessera_scalar_value_t *value) {
    if (!value) return {};
    uint64_t bits = 0;
    std::memcpy(&bits, value, size_t(type.bytes()));
    return detail::constant_of_bits(type, bits);
}

Argument argument_of(const tessera_filter_argument_t &a) {
    const Type type = a.type;
    ArgumentEstimates known;
    known.scalar_def = constant_at(type, a.scalar_def);
    known.scalar_min = constant_at(type, a.scalar_min);
    known.scalar_max = constant_at(type, a.scalar_max);
    known.scalar_estimate = constant_at(type, a.scalar_estimate);
    for (int d = 0; a.buffer_estimates && d < a.dimensions; d++) {
        const auto number = [&](int i) {
            const int64_t *n = a.buffer_estimates[i];
            return n ? Expr(int32_t(*n)) : Expr();
        };
        known.buffer_estimates.emplace_back(number(2 * d), number(2 * d + 1));
    }
    return {a.name, Argument::Kind(a.kind), type, a.dimensions, known};
}

}  // namespace

std::map<std::string, Callable> load_library(const std::string &path, Location at) {
    std::map<std::string, Callable> functions;
    for (const driver::LoadedFunction &f :
         called_at(at, [&] { return driver::load_library(path); })) {
        auto made = std::make_shared<Callable::Contents>();
        made->name = f.name();
        made->target = Target(f.target());
        made->reads_devices = f.uses_devices;
        made->run = [f](JITUserContext *context, std::span<void *const> passed) {
            return f.call(context, passed);
        };
        for (const tessera_filter_argument_t &a : f.arguments()) {
            made->sources.push_back(int(made->arguments.size()));
            made->arguments.push_back(argument_of(a));
        }
        functions[f.name()].contents = std::move(made);
    }
    return functions;
}

void link_shared(const std::string &library, const std::string &output, Location at) {
    called_at(at, [&] { driver::link_shared(library, output, get_host_target()); });
}

}  // namespace tessera
