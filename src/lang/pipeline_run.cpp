#include "base/large_stack.h"
#include "lang/image_param.h"
#include "lang/jit_externs.h"
#include "lang/pipeline_contents.h"
#include "lang/unscheduled.h"
#include "program/environment.h"
#include <algorithm>

namespace tessera {
namespace {

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

driver::Run run_of(PipelineContents &pipeline, JITUserContext *context, const Target &target,
                   driver::Run::Purpose purpose = driver::Run::Purpose::Run) {
    auto prepare = [&pipeline](const Target &t) -> driver::PreparedRef {
        return pipeline.compile(t);
    };
    return {pipeline.program, prepare, pipeline.handlers, context, pipeline.target_for(target),
            purpose};
}

void allocate_inputs(PipelineContents &pipeline, JITUserContext *context,
                     const RealizationArg &outputs, const Target &target) {
    driver::Run run = run_of(pipeline, context, target, driver::Run::Purpose::Query);
    std::map<Symbol, BufferContentsRef> made;
    std::map<Symbol, tessera_buffer_t *> missing;
    const std::vector<program::ParameterRef> parameters = run.parameters();
    for (const program::ParameterRef &p : parameters) {
        if (!p->is_buffer || p->buffer) continue;
        made[p->name] = std::make_shared<BufferContents>(
            p->type, BufferContents::Shape(size_t(p->dimensions)), nullptr, p->name.text());
        missing[p->name] = &made[p->name]->raw;
    }
    if (missing.empty()) return;  // a query of nothing would compute the outputs
    run.ask_inputs(outputs.buffers, missing);
    for (const program::ParameterRef &p : parameters) {
        auto found = made.find(p->name);
        if (found == made.end()) continue;
        found->second->allocate();
        p->buffer = &found->second->raw;
        p->buffer_owner = found->second;
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
    if (!given.has_unknowns() || given.get_features_bitset().none()) return target;
    for (int f = 0; f < Target::FeatureEnd; f++) {
        if (given.has_feature(Target::Feature(f))) target.set_feature(Target::Feature(f));
    }
    return target;
}

PipelineContents::CompiledRef PipelineContents::compile(const Target &target) {
    std::lock_guard lock(mutex);
    auto found = std::ranges::find(compiled, target, &decltype(compiled)::value_type::first);
    if (found == compiled.end()) found = compiled.insert(found, {target, {}});
    CompiledRef &entry = found->second;
    if (entry && entry->dependencies.are_unchanged()) return entry;
    try {
        return entry = with_large_stack([&] { return compile_now(target); });
    } catch (...) {
        last_target = Target();  // the next run without a target is not for this one
        throw;
    }
}

PipelineContents::CompiledRef PipelineContents::compile_now(const Target &target) {
    auto now = std::make_shared<Compiled>();
    now->dependencies = program::Dependencies(program);
    now->dependencies.add(version);
    now->dependencies.add(detail::version_of_externs());
    program::Environment env = program::find_transitive_calls(program.outputs);
    for (const program::FunctionRef &f : env.order) {
        f->frozen = true;
        for (const auto &[consumer, wrapper] : f->wrappers) f.relative(wrapper)->frozen = true;
    }
    program::Program complete = program;
    complete.compiled_externs = detail::parameters_of_externs(externs, env);
    // Only what is compiled has the schedule: the pipeline stays as it is.
    const auto by_rules = detail::scheduled_for_gpu(complete, target);
    if (by_rules) complete.outputs = by_rules->outputs();
    now->code = driver::compile(complete, target, detail::compile_externs(externs, target));
    program::ProgramCopy copy = program::copy_reachable(complete);
    now->parameters = program::find_parameters(copy.program, copy.environment);
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
    // Schedules may compute more than is required.
    const bool answers = !called_at(
        at, [&] { return get(at).target_for(target).has_feature(Target::NoBoundsQuery); });
    if (answers) {
        bool answered = called_at(at, [&] {
            driver::Run query = run_of(get(at), context, target, driver::Run::Purpose::Query);
            return query.ask_outputs(RealizationArg(buffers).buffers);
        });
        auto is_enough = [&](const Buffer<> &b) { return reaches_from_zero(b, sizes); };
        if (!answered || !std::ranges::all_of(buffers, is_enough)) {
            buffers = output_shapes(program, sizes);
        }
    }
    called_at(at, [&] {
        for (Buffer<> &b : buffers) b.allocate();
    });
    Realization result(buffers, at);
    realize(context, RealizationArg(result), target, at);
    for (Buffer<> &b : result) {
        b.copy_to_host(context, at);
        for (size_t d = 0; d < sizes.size(); d++) b.crop(int(d), 0, sizes[d]);
    }
    return result;
}
void Pipeline::realize(const RealizationArg &outputs, const Target &target, Location at) {
    realize(nullptr, outputs, target, at);
}
void Pipeline::realize(JITUserContext *context, const RealizationArg &outputs, const Target &target,
                       Location at) {
    called_at(at, [&] { run_of(get(at), context, target).call(outputs.buffers); });
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
    called_at(at, [&] { get(at).compile(get(at).target_for(target)); });
}

}  // namespace tessera
