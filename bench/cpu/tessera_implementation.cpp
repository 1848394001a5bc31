#include "cpu/implementation.h"
#include "driver/compile.h"
#include "program/environment.h"
#include "program/parameter.h"

#include <tessera_generator.h>

#include <sstream>

namespace tessera::bench {

Pipeline pipeline_of(const Problem &problem, const AutoschedulerParams &scheduler) {
    auto generator = GeneratorRegistry::create(
        problem.generator, GeneratorContext(get_jit_target_from_environment(), scheduler));
    std::istringstream words(problem.params + " " + problem.own_params);
    for (std::string word; words >> word;) {
        const size_t equals = word.find('=');
        generator->set_generator_param(word.substr(0, equals), word.substr(equals + 1));
    }
    return generator->get_scheduled_pipeline();
}

namespace {

// Holds what the compiled code is called with: pointers to buffers, and to scalars, which are kept
// here.
struct Arguments {
    std::vector<void *> pointers;
    std::vector<std::unique_ptr<tessera_scalar_value_t>> scalars;

    void add(const program::Parameter &p, Data &data) {
        const std::string name = p.name.text();
        if (p.is_buffer) {
            pointers.push_back(data.input(name).raw_buffer());
            return;
        }
        auto &value = *scalars.emplace_back(std::make_unique<tessera_scalar_value_t>());
        if (p.type == Float(32)) {
            value.f32 = float(data.scalar(name));
        } else {
            value.i32 = int32_t(data.scalar(name));
        }
        pointers.push_back(&value);
    }
};

// Estimates of sizes are those of the data, and not of the app.
void estimate_sizes(const Pipeline &pipeline, Data &data) {
    const program::Program &program = pipeline.program();
    for (const auto &p :
         program::find_parameters(program, program::find_transitive_calls(program.outputs))) {
        if (!p->is_buffer) continue;
        const Buffer<> &input = data.input(p->name.text());
        for (int d = 0; d < input.dimensions(); d++) {
            p->constraints[size_t(d)].min_estimate = input.dim(d).min();
            p->constraints[size_t(d)].extent_estimate = input.dim(d).extent();
        }
    }
    const Buffer<> output = data.new_output();
    Region sizes;
    for (int d = 0; d < output.dimensions(); d++)
        sizes.emplace_back(output.dim(d).min(), output.dim(d).extent());
    pipeline.outputs()[0].set_estimates(sizes);
}

}  // namespace

Pipeline scheduled_pipeline(Data &data, const AutoschedulerParams &scheduler) {
    if (scheduler.name.empty()) return pipeline_of(data.problem);
    Pipeline::add_autoscheduler("for_the_data",
                                [&](const Pipeline &p, const Target &t, const AutoschedulerParams &,
                                    AutoSchedulerResults *results) {
                                    estimate_sizes(p, data);
                                    *results = Pipeline(p).apply_autoscheduler(t, scheduler);
                                });
    return pipeline_of(data.problem, {"for_the_data", {}});
}

Implementation tessera_implementation(const std::shared_ptr<Data> &data,
                                      const AutoschedulerParams &scheduler) {
    const Pipeline pipeline = scheduled_pipeline(*data, scheduler);
    const program::Program &program = pipeline.program();
    driver::CompiledRef code =
        driver::compile(program, driver::jit_target(get_jit_target_from_environment()));
    auto arguments = std::make_shared<Arguments>();
    const program::Environment all = program::find_transitive_calls(program.outputs);
    for (const auto &p : program::find_parameters(program, all)) arguments->add(*p, *data);
    Buffer<> output = data->new_output();
    arguments->pointers.push_back(output.raw_buffer());
    auto context = std::make_shared<driver::CallContext>(nullptr, JITHandlers{});
    auto run = [code, arguments, context, data] {  // the data stays while it is referred to
        if (code->call(context->user_context(), arguments->pointers) == 0) return;
        throw std::runtime_error(context->message());
    };
    return {scheduler.name.empty() ? "Tessera" : scheduler.to_string(), run,
            [](int threads) { JITSharedRuntime::set_num_threads(threads); },
            [output] { return output; }};
}

}  // namespace tessera::bench
