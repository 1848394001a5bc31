#include "lang/callable.h"
#include "base/large_stack.h"
#include "base/small_array.h"
#include "lang/pipeline_contents.h"
#include <algorithm>

namespace tessera {

struct Callable::Contents {
    std::string name;      // of the pipeline
    JITHandlers handlers;  // that it had when this was compiled
    driver::CompiledRef code;
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
    return called_at(at, [&] { return call_unlocated(args, context); });
}

int Callable::call_unlocated(std::span<const CallableArgument> args,
                             JITUserContext *context) const {
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
    return call_checked(args, context);
}

int Callable::call_checked(std::span<const CallableArgument> args, JITUserContext *context) const {
    driver::CallContext call(context, contents->handlers);
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
    int code = contents->code->call(call.user_context(), passed);
    driver::check_result(code, contents->name, call);
    if (contents->is_profiled) tessera_profiler_report(call.user_context());
    return code;
}

Callable Pipeline::compile_to_callable(const std::vector<Argument> &list, const Target &target,
                                       Location at) {
    std::vector<Argument> args = list;
    for (Argument &a : args) {
        a.parameter =
            with_large_stack([&] { return detail::parameter_for(a, get(at).program, at); });
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
    result->code = compiled->code;
    const Target chosen = driver::jit_target(target);
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

}  // namespace tessera
