#include "aot/create_generator.h"

namespace tessera {

std::unique_ptr<GeneratorBase> create_generator(const GeneratorJob &job,
                                                const GeneratorContext &context) {
    AutoschedulerParams scheduler = context.autoscheduler_params();
    const std::string prefix = "autoscheduler";
    for (const auto &[name, text] : job.params) {
        if (name == prefix) scheduler.name = text;
        if (name.starts_with(prefix + ".")) scheduler.extra[name.substr(prefix.size() + 1)] = text;
    }
    const GeneratorContext scheduled(context.target(), scheduler);
    auto generator = job.source ? job.source->create(job.generator, scheduled)
                                : GeneratorRegistry::create(job.generator, scheduled);
    if (!generator) throw CompileError(str("there is no generator ", job.generator));
    for (const auto &[name, text] : job.params) {
        if (name.substr(0, name.find('.')) != prefix) generator->set_generator_param(name, text);
    }
    return generator;
}

}  // namespace tessera
