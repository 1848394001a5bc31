#include "base/dialect.h"
#include "base/large_stack.h"
#include "lang/image_param.h"
#include "lang/jit_externs.h"
#include "lang/pipeline_contents.h"
#include "program/changes.h"
#include "program/environment.h"
#include <algorithm>
#include <typeinfo>

namespace tessera {
namespace detail {

void check_result(int code, const std::string &pipeline, const driver::CallContext &context) {
    context.rethrow();
    if (code == 0 || context.has_error_handler()) return;
    if (!context.message().empty()) throw RuntimeError(context.message());
    throw RuntimeError(str("pipeline ", pipeline, " failed with the error code ", code));
}

// Compiled code looks at each dimension.
void check_dimensions(const tessera_buffer_t &b, const std::string &name, int wanted) {
    if (b.dimensions == wanted) return;
    throw RuntimeError(str(name, " has ", wanted, " dimension", wanted == 1 ? "" : "s",
                           ", but the Buffer for it has ", b.dimensions));
}

bool is_large(const tessera_buffer_t &b) { return tessera_buffer_size_in_bytes(&b) > INT32_MAX; }

}  // namespace detail

namespace {

// To compiled code, a buffer without memory is a question.
void check_memory(const tessera_buffer_t &b, const std::string &name) {
    if (b.host) return;
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

// One call: the target that the buffers need, the arguments in their order.
class Run {
public:
    using Purpose = driver::CallContext::Purpose;
    Run(PipelineContents &pipeline, JITUserContext *context, const Target &target,
        Purpose purpose = Purpose::Run)
        : pipeline(pipeline), context(context, pipeline.handlers, purpose),
          target(pipeline.target_for(target)) {
        if (purpose == Purpose::Run) return;
        this->target.set_features({Target::Profile, Target::ProfileByTimer}, false);
    }

    // Shapes of outputs become those that the pipeline computes to have these; false: it failed,
    // and a handler has been told.
    bool ask_outputs(const std::vector<tessera_buffer_t *> &outputs);
    void call(const std::vector<tessera_buffer_t *> &outputs);
    // Buffers without memory stand for the images that have none; false: nothing changed.
    bool query(const std::vector<tessera_buffer_t *> &outputs,
               std::map<Symbol, BufferContentsRef> &missing);
    std::vector<program::ParameterRef> parameters() { return pipeline.compile(target).parameters; }

private:
    void check_outputs(const std::vector<tessera_buffer_t *> &outputs) const;
    int call_with_inputs(const std::vector<tessera_buffer_t *> &outputs, bool large);
    PipelineContents &pipeline;
    driver::CallContext context;
    Target target;
};

void Run::check_outputs(const std::vector<tessera_buffer_t *> &outputs) const {
    size_t wanted = 0, met = 0;
    for (const auto &f : pipeline.program.outputs) wanted += f->types.size();
    if (outputs.size() != wanted) {
        throw RuntimeError(str("pipeline ", pipeline.program.name, " has ", wanted,
                               " results, but is to be realized into ", outputs.size(),
                               " Buffers"));
    }
    for (const auto &f : pipeline.program.outputs) {
        for (size_t i = 0; i < f->types.size(); i++) {
            const tessera_buffer_t *b = outputs[met++];
            if (!b) throw RuntimeError("realize: a Buffer is undefined");
            detail::check_dimensions(*b, f->name.text(), f->dimensions());
        }
    }
}

void Run::call(const std::vector<tessera_buffer_t *> &outputs) {
    check_outputs(outputs);
    bool large = std::any_of(outputs.begin(), outputs.end(),
                             [](const auto *b) { return detail::is_large(*b); });
    for (const tessera_buffer_t *b : outputs) check_memory(*b, "an output");
    detail::check_places(outputs);
    int code = call_with_inputs(outputs, large);
    detail::check_result(code, pipeline.program.name, context);
    if (detail::is_profiled(target)) tessera_profiler_report(context.user_context());
}

bool Run::ask_outputs(const std::vector<tessera_buffer_t *> &outputs) {
    check_outputs(outputs);
    bool large = std::any_of(outputs.begin(), outputs.end(),
                             [](const auto *b) { return detail::is_large(*b); });
    int code = call_with_inputs(outputs, large);
    detail::check_result(code, pipeline.program.name, context);
    return code == 0;
}

int Run::call_with_inputs(const std::vector<tessera_buffer_t *> &outputs, bool large) {
    PipelineContents::Compiled compiled = pipeline.compile(target);
    std::vector<void *> args;
    for (const program::ParameterRef &p : compiled.parameters) {
        if (!p->is_buffer) {
            args.push_back(scalar_of(*p));
            continue;
        }
        tessera_buffer_t *b = buffer_of(*p);
        check_memory(*b, p->name.text());
        large |= detail::is_large(*b);
        args.push_back(b);
    }
    args.insert(args.end(), outputs.begin(), outputs.end());
    // Halide leaves it to the program to ask for them: the check of the buffer fails.
    if (large && !target.has_large_buffers() && dialect() != Dialect::Halide) {
        target.set_feature(Target::LargeBuffers);
        compiled = pipeline.compile(target);
    }
    return compiled.code->call(context.user_context(), args);
}
bool Run::query(const std::vector<tessera_buffer_t *> &outputs,
                std::map<Symbol, BufferContentsRef> &missing) {
    check_outputs(outputs);
    PipelineContents::Compiled compiled = pipeline.compile(target);
    std::vector<void *> args;
    std::vector<BufferContents::Shape> before;
    auto shape = [](const tessera_buffer_t &b) {
        return BufferContents::Shape(b.dim, b.dim + b.dimensions);
    };
    for (const program::ParameterRef &p : compiled.parameters) {
        auto unset = missing.find(p->name);
        if (unset != missing.end()) {
            args.push_back(&unset->second->raw);
            before.push_back(shape(unset->second->raw));
        } else {
            args.push_back(p->is_buffer ? static_cast<void *>(buffer_of(*p)) : scalar_of(*p));
        }
    }
    args.insert(args.end(), outputs.begin(), outputs.end());
    int code = compiled.code->call(context.user_context(), args);
    detail::check_result(code, pipeline.program.name, context);
    size_t i = 0;
    bool changed = false;
    for (const program::ParameterRef &p : compiled.parameters) {
        auto unset = missing.find(p->name);
        if (unset == missing.end()) continue;
        const tessera_buffer_t &now = unset->second->raw;
        for (int d = 0; d < now.dimensions; d++) {
            const tessera_dimension_t &was = before[i][size_t(d)];
            changed |= was.min != now.dim[d].min || was.extent != now.dim[d].extent;
        }
        i++;
    }
    return changed;
}

// Buffers of these shapes, without memory.
std::vector<Buffer<>> output_shapes(const program::Program &program,
                                    const std::vector<int32_t> &sizes) {
    std::vector<Buffer<>> buffers;
    for (const program::FunctionRef &f : program.outputs) {
        if (int(sizes.size()) != f->dimensions()) {
            throw RuntimeError(str("realize: ", f->name, " has ", f->dimensions(),
                                   " dimensions, but ", sizes.size(), " sizes are given"));
        }
        for (int32_t size : sizes) {
            if (size < 0) throw RuntimeError(str("realize: the size ", size, " is negative"));
        }
        for (Type t : f->types) {
            BufferContents::Shape shape = dense_shape(std::vector<int>(sizes.begin(), sizes.end()));
            buffers.emplace_back(
                std::make_shared<BufferContents>(t, std::move(shape), nullptr, f->name.text()));
        }
    }
    return buffers;
}

std::vector<Buffer<>> allocated_outputs(const program::Program &program,
                                        const std::vector<int32_t> &sizes) {
    std::vector<Buffer<>> buffers = output_shapes(program, sizes);
    for (Buffer<> &b : buffers) b.allocate();
    return buffers;
}

// What one image has to be may depend on what another is, so ask until nothing changes.
void allocate_inputs(PipelineContents &pipeline, JITUserContext *context,
                     const RealizationArg &outputs, const Target &target) {
    Run run(pipeline, context, target, Run::Purpose::Query);
    std::map<Symbol, BufferContentsRef> missing;
    std::vector<program::ParameterRef> parameters = run.parameters();
    for (const program::ParameterRef &p : parameters) {
        if (!p->is_buffer || p->buffer) continue;
        missing[p->name] = std::make_shared<BufferContents>(
            p->type, BufferContents::Shape(size_t(p->dimensions)), nullptr, p->name.text());
    }
    if (missing.empty()) return;  // a query of nothing would compute the outputs
    const int enough = 16;
    int rounds = 0;
    while (run.query(outputs.buffers, missing)) {
        if (++rounds < enough) continue;
        throw RuntimeError(str("infer_input_bounds of ", pipeline.program.name, ": after ", enough,
                               " rounds the inputs still have to be larger; their constraints "
                               "cannot be satisfied together"));
    }
    for (const program::ParameterRef &p : parameters) {
        auto found = missing.find(p->name);
        if (found == missing.end()) continue;
        found->second->allocate();
        p->buffer = &found->second->raw;
        p->buffer_owner = found->second;
    }
}

// Does something for the call at a line of the user's, which its failures name.
template<typename F>
auto called_at(const Location &at, F f) {
    try {
        return f();
    } catch (const RuntimeError &e) {
        if (typeid(e) != typeid(RuntimeError)) throw;  // what a handler threw
        throw RuntimeError(at, e.what());
    }
}

bool reaches_from_zero(const Buffer<> &b, const std::vector<int32_t> &sizes) {
    for (size_t d = 0; d < sizes.size(); d++) {
        BufferDimension have = b.dim(int(d));
        if (have.min() > 0 || have.max() < sizes[d] - 1) return false;
    }
    return true;
}

}  // namespace

Target PipelineContents::target_for(const Target &given) {
    std::lock_guard lock(mutex);
    if (!given.has_unknowns()) last_target = driver::jit_target(given);
    if (last_target.has_unknowns()) return driver::jit_target(given);
    Target target = last_target;
    for (int f = 0; f < Target::FeatureEnd && given.has_unknowns(); f++) {
        if (given.has_feature(Target::Feature(f))) target.set_feature(Target::Feature(f));
    }
    return target;
}

PipelineContents::Compiled PipelineContents::compile(const Target &target) {
    std::lock_guard lock(mutex);
    Compiled &entry = compiled[target.to_string()];
    uint64_t changes = program::count_of_changes();
    if (entry.code && entry.changes == changes) return entry;
    try {
        return entry = with_large_stack([&] { return compile_now(target, changes); });
    } catch (...) {
        last_target = Target();  // the next run without a target is not for this one
        throw;
    }
}

PipelineContents::Compiled PipelineContents::compile_now(const Target &target, uint64_t changes) {
    program::Environment env = program::find_transitive_calls(program.outputs);
    for (const program::FunctionRef &f : env.order) {
        f->frozen = true;
        for (auto &[consumer, wrapper] : f->wrappers) wrapper->frozen = true;
    }
    program::Program complete = program;
    complete.compiled_externs = detail::parameters_of_externs(externs, env);
    Compiled now;
    now.code = driver::compile(complete, target, detail::compile_externs(externs, target));
    program::ProgramCopy copy = program::copy_reachable(complete);
    now.parameters = program::find_parameters(copy.program, copy.environment);
    now.changes = changes;
    return now;
}

Realization Pipeline::realize(const std::vector<int32_t> &sizes, const Target &target,
                              Location at) {
    return realize(nullptr, sizes, target, at);
}
Realization Pipeline::realize(JITUserContext *context, const std::vector<int32_t> &sizes,
                              const Target &target, Location at) {
    const program::Program &program = get(at).program;
    std::vector<Buffer<>> buffers = called_at(at, [&] { return output_shapes(program, sizes); });
    // Schedules may compute more than they are asked for.
    const bool answers = !get(at).target_for(target).has_feature(Target::NoBoundsQuery);
    if (answers) {
        bool answered = called_at(at, [&] {
            Run query(get(at), context, target, Run::Purpose::Query);
            return query.ask_outputs(RealizationArg(buffers).buffers);
        });
        auto is_enough = [&](const Buffer<> &b) { return reaches_from_zero(b, sizes); };
        if (!answered || !std::ranges::all_of(buffers, is_enough)) {
            buffers = output_shapes(program, sizes);
        }
    }
    for (Buffer<> &b : buffers) b.allocate();
    Realization result(buffers, at);
    realize(context, RealizationArg(result), target, at);
    for (Buffer<> &b : result) {
        for (size_t d = 0; d < sizes.size(); d++) b.crop(int(d), 0, sizes[d]);
    }
    return result;
}
void Pipeline::realize(const RealizationArg &outputs, const Target &target, Location at) {
    realize(nullptr, outputs, target, at);
}
void Pipeline::realize(JITUserContext *context, const RealizationArg &outputs, const Target &target,
                       Location at) {
    called_at(at, [&] { Run(get(at), context, target).call(outputs.buffers); });
}

void Pipeline::infer_input_bounds(const std::vector<int32_t> &sizes, const Target &target,
                                  Location at) {
    infer_input_bounds(nullptr, sizes, target, at);
}
void Pipeline::infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes,
                                  const Target &target, Location at) {
    std::vector<Buffer<>> outputs =
        called_at(at, [&] { return allocated_outputs(get(at).program, sizes); });
    infer_input_bounds(context, RealizationArg(outputs), target, at);
}
void Pipeline::infer_input_bounds(const RealizationArg &outputs, const Target &target,
                                  Location at) {
    infer_input_bounds(nullptr, outputs, target, at);
}

void Pipeline::infer_input_bounds(JITUserContext *context, const RealizationArg &outputs,
                                  const Target &target, Location at) {
    called_at(at, [&] { allocate_inputs(get(at), context, outputs, target); });
}

void Pipeline::invalidate_cache(Location at) {
    PipelineContents &c = get(at);
    std::lock_guard lock(c.mutex);
    c.compiled.clear();
}

void Pipeline::compile_jit(const Target &target, Location at) {
    get(at).compile(get(at).target_for(target));
}

}  // namespace tessera
