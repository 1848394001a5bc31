#include "common/filter.h"
#include "common/timing.h"

#include <tessera_generator.h>

#include <cstdio>
#include <memory>
#include <sstream>

namespace tessera::apps {

namespace {

std::unique_ptr<GeneratorBase> made(const Filter &filter) {
    auto generator = GeneratorRegistry::create(filter.generator,
                                               GeneratorContext(get_jit_target_from_environment()));
    std::istringstream words(filter.params);
    for (std::string word; words >> word;) {
        const size_t equals = word.find('=');
        generator->set_generator_param(word.substr(0, equals), word.substr(equals + 1));
    }
    return generator;
}

std::vector<WantedArgument> wanted_of(const std::vector<tessera::Argument> &inputs,
                                      const Func &output) {
    std::vector<WantedArgument> wanted;
    for (const tessera::Argument &a : inputs) {
        wanted.push_back({a.name, a.is_buffer(), a.type, a.dimensions});
    }
    wanted.push_back({output.name(), true, output.type(), size_t(output.dimensions())});
    return wanted;
}

void set_input(const tessera::Argument &input, FilterArgument &given) {
    if (given.is_buffer()) {
        ImageParam(input.parameter).set(Buffer<>(given.buffer()));
    } else if (given.type.code == tessera_type_float) {
        Param<>(input.parameter).set(given.value.f32);
    } else {
        Param<>(input.parameter).set(given.value.i32);
    }
}

}  // namespace

PreparedFilter prepare(const Filter &filter, std::vector<FilterArgument> arguments) {
    auto given = std::make_shared<std::vector<FilterArgument>>(std::move(arguments));
    auto generator = made(filter);
    Pipeline pipeline = generator->get_pipeline();
    const double compiling =
        milliseconds([&] { pipeline.compile_jit(generator->context().target()); });
    const std::vector<tessera::Argument> inputs = generator->pipeline_arguments();
    check_arguments(filter, wanted_of(inputs, generator->find_output("output").funcs()[0]), *given);
    for (size_t i = 0; i < inputs.size(); i++) set_input(inputs[i], (*given)[i]);
    Buffer<> output(given->back().buffer());
    char text[64];
    std::snprintf(text, sizeof(text), "compiled in %.1f ms", compiling);
    return {[given, pipeline, output]() mutable {
                pipeline.realize(output);
                output.copy_to_host();  // of a GPU
            },
            text};
}

}  // namespace tessera::apps
