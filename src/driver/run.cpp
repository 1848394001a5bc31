#include "driver/run.h"
#include "base/dialect.h"
#include <algorithm>

namespace tessera::driver {

void check_result(int code, const std::string &pipeline, CallContext &context) {
    context.rethrow();
    if (code == 0 || context.has_error_handler()) return;
    const std::string message = context.message();
    if (!message.empty()) throw RuntimeError(Location(), message);
    throw RuntimeError(str("pipeline ", pipeline, " failed with the error code ", code));
}

// Compiled code looks at each dimension.
void check_dimensions(const tessera_buffer_t &b, const std::string &name, int wanted) {
    if (b.dimensions == wanted) return;
    throw RuntimeError(str(name, " has ", wanted, " dimension", wanted == 1 ? "" : "s",
                           ", but the Buffer for it has ", b.dimensions));
}

bool is_large(const tessera_buffer_t &b) { return tessera_buffer_size_in_bytes(&b) > INT32_MAX; }

namespace {

// To compiled code, a buffer without memory is a question.
void check_memory(const tessera_buffer_t &b, const std::string &name, const Target &target) {
    const bool runs_there = target.has_gpu_feature() && !target.has_feature(Target::Interpret);
    if (b.host || (b.device && runs_there)) return;
    if (b.device) {
        throw RuntimeError(str("the Buffer for ", name,
                               " has memory on a device only, but the pipeline runs on the CPU"));
    }
    throw RuntimeError(str("the Buffer for ", name,
                           " has no memory; call allocate(), or ask for "
                           "the sizes of inputs with infer_input_bounds()"));
}

tessera_buffer_t *buffer_of(const program::Parameter &p) {
    if (p.buffer) return p.buffer;
    throw RuntimeError(
        str("the ImageParam ", p.name, " has no Buffer; call set() before realize()"));
}

void *scalar_of(program::Parameter &p) {
    if (p.scalar_is_set) return &p.scalar_bits;
    throw RuntimeError(str("the Param ", p.name, " has no value; call set() before realize()"));
}

}  // namespace

Run::Run(const program::Program &program, std::function<PreparedRef(const Target &)> prepare,
         const JITHandlers &handlers, JITUserContext *context, const Target &target,
         Purpose purpose)
    : program(program), prepare(std::move(prepare)), context(context, handlers, purpose),
      target(target) {
    if (purpose == Purpose::Run) return;
    this->target.set_features({Target::Profile, Target::ProfileByTimer}, false);
}

void Run::check_outputs(const std::vector<tessera_buffer_t *> &outputs) const {
    size_t wanted = 0, met = 0;
    for (const auto &f : program.outputs) wanted += f->types.size();
    if (outputs.size() != wanted) {
        throw RuntimeError(str("pipeline ", program.name, " has ", wanted,
                               " results, but is to be realized into ", outputs.size(),
                               " Buffers"));
    }
    for (const auto &f : program.outputs) {
        for (size_t i = 0; i < f->types.size(); i++) {
            const tessera_buffer_t *b = outputs[met++];
            if (!b) throw RuntimeError("realize: a Buffer is undefined");
            check_dimensions(*b, f->name.text(), f->dimensions());
        }
    }
}

void Run::call(const std::vector<tessera_buffer_t *> &outputs) {
    check_outputs(outputs);
    for (const tessera_buffer_t *b : outputs) check_memory(*b, "an output", target);
    check_places(outputs);
    int code = call_with_inputs(outputs);
    check_result(code, program.name, context);
    if (is_profiled(target)) tessera_profiler_report(context.user_context());
}

bool Run::ask_outputs(const std::vector<tessera_buffer_t *> &outputs) {
    check_outputs(outputs);
    int code = call_with_inputs(outputs);
    check_result(code, program.name, context);
    return code == 0;
}

int Run::call_with_inputs(const std::vector<tessera_buffer_t *> &outputs) {
    bool large = std::ranges::any_of(outputs, [](const auto *b) { return is_large(*b); });
    PreparedRef compiled = prepare(target);
    std::vector<void *> args;
    args.reserve(compiled->parameters.size() + outputs.size());
    for (const program::ParameterRef &p : compiled->parameters) {
        if (!p->is_buffer) {
            args.push_back(scalar_of(*p));
            continue;
        }
        tessera_buffer_t *b = buffer_of(*p);
        check_memory(*b, p->name.text(), target);
        large |= is_large(*b);
        args.push_back(b);
    }
    args.insert(args.end(), outputs.begin(), outputs.end());
    // Halide leaves it to the program to ask for them: the check of the buffer fails.
    if (large && !target.has_large_buffers() && dialect() != Dialect::Halide) {
        target.set_feature(Target::LargeBuffers);
        compiled = prepare(target);
    }
    return compiled->code->call(context.user_context(), args);
}

bool Run::ask_inputs_once(const std::vector<tessera_buffer_t *> &outputs,
                          const std::map<Symbol, tessera_buffer_t *> &missing) {
    check_outputs(outputs);
    const PreparedRef compiled = prepare(target);
    std::vector<void *> args;
    std::map<Symbol, std::vector<tessera_dimension_t>> before;
    for (const program::ParameterRef &p : compiled->parameters) {
        const auto unset = missing.find(p->name);
        if (unset == missing.end()) {
            args.push_back(p->is_buffer ? static_cast<void *>(buffer_of(*p)) : scalar_of(*p));
            continue;
        }
        const tessera_buffer_t &b = *unset->second;
        before[p->name] = {b.dim, b.dim + b.dimensions};
        args.push_back(unset->second);
    }
    args.insert(args.end(), outputs.begin(), outputs.end());
    check_result(compiled->code->call(context.user_context(), args), program.name, context);
    const auto is_same = [](const tessera_dimension_t &a, const tessera_dimension_t &b) {
        return a.min == b.min && a.extent == b.extent;
    };
    return std::ranges::any_of(before, [&](const auto &shape) {
        return !std::ranges::equal(
            shape.second, std::span(missing.at(shape.first)->dim, shape.second.size()), is_same);
    });
}

void Run::ask_inputs(const std::vector<tessera_buffer_t *> &outputs,
                     const std::map<Symbol, tessera_buffer_t *> &missing) {
    const int enough = 16;
    int rounds = 0;
    while (ask_inputs_once(outputs, missing)) {
        if (++rounds < enough) continue;
        throw RuntimeError(str("infer_input_bounds of ", program.name, ": after ", enough,
                               " rounds the inputs still have to be larger; their constraints "
                               "cannot be satisfied together"));
    }
}

}  // namespace tessera::driver
