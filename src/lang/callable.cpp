#include "lang/callable.h"
#include "base/large_stack.h"
#include "lang/pipeline_contents.h"
#include <algorithm>

namespace tessera {

struct Callable::Contents {
    std::string name;      // of the pipeline
    JITHandlers handlers;  // that it had when this was compiled
    driver::CompiledRef code;
    // What the caller gives: parameters, then outputs.
    struct Wanted {
        std::string name;
        bool is_buffer;
        Type type;
        int dimensions;
        bool is_output;
    };
    std::vector<Wanted> wanted;
    // Where each argument of the code comes from: the caller's (>= 0), or the program's own.
    std::vector<int> sources;
    std::vector<program::ParameterRef> parameters;
    bool is_profiled = false;
};

namespace {

const char *kind(bool is_buffer) { return is_buffer ? "a buffer" : "a number"; }

}  // namespace

void Callable::check(const std::vector<GivenArgument> &args) const {
    if (!contents) throw RuntimeError("this Callable is undefined");
    const auto &wanted = contents->wanted;
    if (args.size() != wanted.size()) {
        std::vector<std::string> names;
        for (const auto &w : wanted) names.push_back(w.name);
        throw RuntimeError(str("the Callable takes ", wanted.size(), " arguments (", join(names),
                               "), not ", args.size()));
    }
    for (size_t i = 0; i < args.size(); i++) {
        const auto &w = wanted[i];
        if (args[i].is_buffer != w.is_buffer) {
            throw RuntimeError(str("argument ", i, " of the Callable, ", w.name, ", has to be ",
                                   kind(w.is_buffer), ", but ", kind(args[i].is_buffer),
                                   " is passed"));
        }
        if (!args[i].type.defined() || args[i].type == w.type) continue;
        throw RuntimeError(str("argument ", i, " of the Callable, ", w.name, ", has to be of type ",
                               w.type, ", but one of type ", args[i].type, " is passed"));
    }
}

void Callable::check_buffers(const std::vector<GivenArgument> &args) const {
    std::vector<tessera_buffer_t *> outputs;
    for (size_t i = 0; i < args.size(); i++) {
        const auto &w = contents->wanted[i];
        if (!args[i].is_buffer) continue;
        if (!args[i].buffer) {
            throw RuntimeError(
                str("argument ", i, " of the Callable, ", w.name, ", is an undefined Buffer"));
        }
        driver::check_dimensions(*args[i].buffer, w.name, w.dimensions);
        if (w.is_output) outputs.push_back(args[i].buffer);
    }
    driver::check_places(outputs);
}

int Callable::call_at(const Location &at, JITUserContext *context,
                      const std::vector<GivenArgument> &args) const {
    return called_at(at, [&] { return call(context, args); });
}

int Callable::call(JITUserContext *context, const std::vector<GivenArgument> &args) const {
    if (!contents) throw RuntimeError("this Callable is undefined");
    auto own = context ? context->handlers.custom_error : nullptr;
    auto handler = own ? own : contents->handlers.custom_error;
    if (!handler) return call_checked(context, args);
    try {
        check(args);
        check_buffers(args);
    } catch (const RuntimeError &e) {
        handler(context, e.what());
        return tessera_error_code_generic;
    }
    return call_checked(context, args);
}

int Callable::call_checked(JITUserContext *context, std::vector<GivenArgument> args) const {
    check(args);
    check_buffers(args);
    driver::CallContext call(context, contents->handlers);
    std::vector<void *> passed;
    for (size_t i = 0; i < contents->sources.size(); i++) {
        int source = contents->sources[i];
        if (source < 0) {
            passed.push_back(contents->parameters[i]->buffer);
            continue;
        }
        GivenArgument &a = args[size_t(source)];
        passed.push_back(a.is_buffer ? static_cast<void *>(a.buffer) : &a.bits);
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
    result->is_profiled = driver::is_profiled(driver::jit_target(target));
    result->parameters = compiled->parameters;
    for (const Argument &a : args) {
        result->wanted.push_back({a.name, a.is_buffer(), a.type, int(a.dimensions), false});
    }
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
            result->sources.push_back(int(result->wanted.size()));
            result->wanted.push_back({f->name.text(), true, t, f->dimensions(), true});
        }
    }
    Callable callable;
    callable.contents = result;
    return callable;
}

}  // namespace tessera
