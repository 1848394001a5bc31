#include "lang/module.h"
#include "base/large_stack.h"
#include "driver/dispatch.h"
#include "driver/files.h"
#include "ir/printer.h"
#include "lang/func.h"
#include <algorithm>

namespace tessera {
namespace {

bool is_of_a_program(OutputFileType type) {
    return type == OutputFileType::schedule || type == OutputFileType::conceptual_stmt ||
           type == OutputFileType::conceptual_stmt_html || type == OutputFileType::cpp_stub;
}

}  // namespace

Module::Module(const std::string &name, const Target &target)
    : lowered{name, {}}, own_target(driver::file_target(target)) {}

Module::Module(const Pipeline &pipeline, const std::vector<Argument> &args, const std::string &name,
               const Target &target, Location at)
    : lowered(pipeline.lowered(args, name, target, at)), own_target(driver::file_target(target)),
      source(Source{pipeline, args}) {}

bool Module::has_function(const std::string &name) const {
    auto has_it = [&](const auto &m) { return m.has_function(name); };
    return std::ranges::find(functions(), name, &ir::LoweredFunction::name) != functions().end() ||
           std::ranges::any_of(parts, has_it);
}

const ir::LoweredFunction &Module::get_function_by_name(const std::string &name,
                                                        Location at) const {
    auto found = std::ranges::find(functions(), name, &ir::LoweredFunction::name);
    if (found != functions().end()) return *found;
    throw CompileError(at, str("the module ", this->name(), " has no function ", name));
}

void Module::append(const ir::LoweredFunction &function, Location at) {
    if (has_function(function.name)) {
        throw CompileError(at, str("the module ", name(), " has a function ", function.name,
                                   " already; give one of them another name"));
    }
    lowered.functions.push_back(function);
    source.reset();
}

void Module::append(const Module &part, Location at) {
    const Module whole = part.resolve_submodules();
    for (const ir::LoweredFunction &f : whole.functions()) {
        if (!has_function(f.name)) continue;
        throw CompileError(at, str("the modules ", name(), " and ", part.name(),
                                   " both have a function ", f.name,
                                   "; give one of them another name"));
    }
    parts.push_back(part);
    source.reset();
}

Module Module::resolve_submodules() const {
    if (parts.empty()) return *this;
    Module all(name(), own_target);
    all.lowered.functions = functions();
    for (const Module &part : parts) {
        const Module whole = part.resolve_submodules();
        for (const ir::LoweredFunction &f : whole.functions()) all.append(f);
    }
    return all;
}

void Module::compile(const std::map<OutputFileType, std::string> &files, Location at) const {
    std::map<OutputFileType, std::string> of_functions, of_a_program;
    for (const auto &f : files) (is_of_a_program(f.first) ? of_a_program : of_functions).insert(f);
    if (!of_a_program.empty() && !source) {
        throw CompileError(at, str("the module ", name(),
                                   " is not of one pipeline, so that there is no schedule of it to "
                                   "write; write the files of each pipeline's module"));
    }
    if (source && !of_a_program.empty()) {
        Pipeline(source->pipeline).compile_to(of_a_program, source->args, name(), own_target, at);
    }
    if (of_functions.empty()) return;
    called_at(at, [&] {
        driver::write_files(resolve_submodules().lowered, own_target, of_functions, at);
    });
}

namespace {

Buffer<uint8_t> as_buffer(const std::vector<char> &bytes) {
    Buffer<uint8_t> buffer(int(bytes.size()));
    std::ranges::copy(bytes, reinterpret_cast<char *>(buffer.data()));
    return buffer;
}

}  // namespace

Buffer<uint8_t> Module::compile_to_buffer(Location at) const {
    driver::FileWriter writer(resolve_submodules().lowered, own_target, at);
    Buffer<uint8_t> object;
    called_at(at, [&] { run_on_large_stack([&] { object = as_buffer(writer.object()); }); });
    return object;
}

Buffer<uint8_t> Module::get_device_code_buffer(Location at) const {
    driver::FileWriter writer(resolve_submodules().lowered, own_target, at);
    std::vector<char> text;
    called_at(at, [&] { run_on_large_stack([&] { text = writer.device_code(); }); });
    const bool has_kernels =
        std::string(text.begin(), text.end()).find(".entry ") != std::string::npos;
    return has_kernels ? as_buffer(text) : Buffer<uint8_t>();
}

Module link_modules(const std::string &name, const std::vector<Module> &modules, Location at) {
    if (modules.empty()) throw CompileError(at, "link_modules: there are no modules");
    Module all(name, modules[0].target());
    for (const Module &m : modules) {
        if (m.target() != all.target()) {
            throw CompileError(at, str("link_modules: ", modules[0].name(), " is for the target ",
                                       all.target(), ", but ", m.name(), " for ", m.target()));
        }
        all.append(m, at);
    }
    return all.resolve_submodules();
}

void compile_multitarget(const std::string &function,
                         const std::map<OutputFileType, std::string> &files,
                         const std::vector<Target> &targets,
                         const std::vector<std::string> &suffixes, const ModuleFactory &make,
                         Location at) {
    if (targets.size() == 1) return make(function, targets[0]).compile(files, at);
    auto program_for = [&](const Target &t) {
        const Module module = make(function, t);
        if (!module.source) {
            throw CompileError(at, str("compile_multitarget: the module ", module.name(),
                                       " is not of one pipeline; make it by compile_to_module"));
        }
        return module.source->pipeline.target_program(module.source->args, at);
    };
    called_at(at, [&] {
        driver::write_multitarget_files(program_for, function, targets, files, suffixes);
    });
}

std::ostream &operator<<(std::ostream &out, const Module &module) {
    for (const ir::LoweredFunction &f : module.functions()) {
        out << ir::to_string(ir::Module{f.name, {f}});
    }
    for (const Module &part : module.submodules()) out << part;
    return out;
}

Module Pipeline::compile_to_module(const std::vector<Argument> &args, const std::string &name,
                                   const Target &target, Location at) {
    return {*this, args, name.empty() ? program(at).name : name, target, at};
}

Module Func::compile_to_module(const std::vector<Argument> &args, const std::string &name,
                               const Target &target, Location at) {
    return own_pipeline(at).compile_to_module(args, name.empty() ? this->name() : name, target, at);
}

void compile_standalone_runtime(const std::string &path, const Target &target, Location at) {
    called_at(at, [&] { driver::write_runtime_library(driver::file_target(target), path); });
}

std::map<OutputFileType, std::string>
compile_standalone_runtime(const std::map<OutputFileType, std::string> &files, const Target &target,
                           Location at) {
    std::map<OutputFileType, std::string> written;
    for (OutputFileType type : {OutputFileType::object, OutputFileType::static_library}) {
        auto file = files.find(type);
        if (file == files.end()) continue;
        compile_standalone_runtime(file->second, target, at);
        written.insert(*file);
    }
    return written;
}

}  // namespace tessera
