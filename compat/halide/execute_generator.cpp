#include "driver/files.h"
#include "halide_execute_generator.h"
#include <iostream>

namespace Halide::Internal {
namespace {

using tessera::CompileError;

class ProvidedGenerators final : public tessera::GeneratorSource {
public:
    explicit ProvidedGenerators(const GeneratorFactoryProvider &provider) : provider(provider) {}
    std::vector<std::string> names() const override { return provider.enumerate(); }
    std::unique_ptr<tessera::GeneratorBase>
    create(const std::string &name, const tessera::GeneratorContext &context) const override {
        if (auto made = to_tessera(provider.create(name, context))) return made;
        throw CompileError(
            tessera::str("there is no generator ", name, "; there are ", tessera::join(names())));
    }

private:
    const GeneratorFactoryProvider &provider;
};

class MadeByFunction final : public tessera::GeneratorSource {
public:
    explicit MadeByFunction(const ExecuteGeneratorArgs::CreateGeneratorFn &f) : make(f) {}
    std::unique_ptr<tessera::GeneratorBase>
    create(const std::string &name, const tessera::GeneratorContext &context) const override {
        auto made = make ? to_tessera(make(name, context)) : GeneratorSource::create(name, context);
        if (made) return made;
        throw CompileError("create_generator made none for the name " + name);
    }

private:
    const ExecuteGeneratorArgs::CreateGeneratorFn &make;
};

}  // namespace

void execute_generator(const ExecuteGeneratorArgs &args, tessera::Location at) {
    auto refuse = [&](const char *why) { throw CompileError(at, why); };
    if (args.output_dir.empty()) refuse("ExecuteGeneratorArgs: output_dir is missing");
    if (args.targets.empty()) refuse("ExecuteGeneratorArgs: targets are missing");
    if (args.build_mode == ExecuteGeneratorArgs::Gradient)
        refuse("ExecuteGeneratorArgs: derivatives of Funcs are not there yet");
    if (!args.runtime_name.empty()) {
        if (args.targets.size() != 1) refuse("ExecuteGeneratorArgs: a runtime wants one target");
        tessera::driver::write_runtime_library(args.targets[0],
                                               args.output_dir + "/" + args.runtime_name + ".a");
    }
    if (args.generator_name.empty()) {
        if (args.runtime_name.empty())
            refuse("ExecuteGeneratorArgs: generator_name and runtime_name are both missing");
        return;
    }
    tessera::GeneratorJob job;
    job.generator = args.generator_name;
    job.function = args.function_name;
    job.folder = args.output_dir;
    job.file_base = args.file_base_name;
    job.targets = args.targets;
    job.params.assign(args.generator_params.begin(), args.generator_params.end());
    job.suffixes = args.suffixes;
    job.outputs = args.output_types;
    const MadeByFunction source(args.create_generator);
    job.source = &source;
    for (const std::string &path : tessera::write_generator_files(job)) {
        if (args.log_outputs) std::cout << path << "\n";
    }
}

int generate_filter_main(int argc, char **argv, const GeneratorFactoryProvider &provider) {
    return tessera::generator_main(argc, argv, ProvidedGenerators(provider));
}

}  // namespace Halide::Internal
