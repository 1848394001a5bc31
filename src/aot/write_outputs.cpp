#include "aot/write_outputs.h"
#include "aot/create_generator.h"
#include "aot/stub.h"
#include "driver/dispatch.h"
#include "driver/files.h"

namespace tessera {
namespace {

driver::TargetProgram make_program(const GeneratorJob &job, const Target &target) {
    auto generator = create_generator(job, GeneratorContext(target));
    Pipeline pipeline = generator->get_scheduled_pipeline();
    driver::TargetProgram made;
    made.program = pipeline.program();
    made.signature.any_args = false;
    for (const Argument &a : generator->pipeline_arguments()) {
        made.signature.args.push_back(a.parameter);
    }
    made.signature.outputs = generator->output_names();
    return made;
}

void write_stub(const GeneratorJob &job, const Target &target, const std::string &path) {
    if (create_generator(job, GeneratorContext(target))->write_stub(path)) return;
    std::map<std::string, std::string> params(job.params.begin(), job.params.end());
    driver::write_text(path, to_stub_header(job.generator, GeneratorContext(target), params));
}

}  // namespace

std::vector<std::string> write_generator_files(const GeneratorJob &job) {
    std::string function = job.function.empty() ? job.generator : job.function;
    std::string base =
        job.folder + "/" + (job.file_base.empty() ? driver::base_name(function) : job.file_base);
    std::vector<Target> targets;
    for (const Target &t : job.targets) targets.push_back(driver::file_target(t));
    if (targets.empty()) throw CompileError("a generator wants a target");
    std::map<OutputFileType, std::string> paths;
    std::vector<std::string> written;
    for (const driver::OutputFile &file : driver::output_files()) {
        if (!job.outputs.count(file.type)) continue;
        std::string path = base + file.extension;
        if (file.type != OutputFileType::cpp_stub) {
            paths[file.type] = path;
            continue;
        }
        write_stub(job, targets[0], path);
        written.push_back(path);
    }
    if (paths.empty()) return written;
    if (targets.size() > 1) {
        auto make = [&](const Target &target) { return make_program(job, target); };
        auto files = driver::write_multitarget_files(make, function, targets, paths, job.suffixes);
        written.insert(written.end(), files.begin(), files.end());
        return written;
    }
    driver::TargetProgram made = make_program(job, targets[0]);
    made.signature.name = function;
    driver::write_files(made.program, targets[0], made.signature, paths);
    for (const auto &[type, path] : paths) written.push_back(path);
    return written;
}

}  // namespace tessera
