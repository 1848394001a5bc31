#include "lang/module.h"
#include "driver/files.h"
#include "lang/func.h"

namespace tessera {

Module Pipeline::compile_to_module(const std::vector<Argument> &args, const std::string &name,
                                   const Target &target, Location at) {
    return {*this, args, name.empty() ? program(at).name : name, driver::file_target(target)};
}

Module Func::compile_to_module(const std::vector<Argument> &args, const std::string &name,
                               const Target &target, Location at) {
    return own_pipeline(at).compile_to_module(args, name.empty() ? this->name() : name, target, at);
}

void compile_standalone_runtime(const std::string &path, const Target &target) {
    driver::write_runtime_library(driver::file_target(target), path);
}

std::map<OutputFileType, std::string>
compile_standalone_runtime(const std::map<OutputFileType, std::string> &files,
                           const Target &target) {
    std::map<OutputFileType, std::string> written;
    for (OutputFileType type : {OutputFileType::object, OutputFileType::static_library}) {
        auto file = files.find(type);
        if (file == files.end()) continue;
        compile_standalone_runtime(file->second, target);
        written.insert(*file);
    }
    return written;
}

}  // namespace tessera
