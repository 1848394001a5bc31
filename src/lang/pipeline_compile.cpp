#include "base/dialect.h"
#include "base/large_stack.h"
#include "driver/dispatch.h"
#include "driver/files.h"
#include "lang/pipeline_contents.h"
#include "program/environment.h"
#include <algorithm>
#include <iostream>

namespace tessera {
namespace {

driver::Signature signature_of(const program::Program &program, const std::vector<Argument> &args,
                               const std::string &function, const Location &at) {
    driver::Signature signature;
    signature.written = at;
    signature.name = function;
    signature.any_args = false;
    for (const Argument &a : args) {
        signature.args.push_back(
            with_large_stack([&] { return detail::parameter_for(a, program, at); }));
    }
    return signature;
}

void require_machine(const Target &target, const Location &at) {
    if (dialect() == Dialect::Halide && target.has_unknowns()) {
        throw CompileError(at, str("the target \"", target,
                                   "\" does not say for which machine: give the operating system, "
                                   "the architecture and its bits"));
    }
}

}  // namespace

void Pipeline::compile_to(const std::map<OutputFileType, std::string> &files,
                          const std::vector<Argument> &args, const std::string &function,
                          const Target &target, Location at) {
    require_machine(target, at);
    called_at(at, [&] {
        driver::write_files(get(at).program, driver::file_target(target),
                            signature_of(get(at).program, args, function, at), files);
    });
}
std::string Pipeline::compile_to_string(OutputFileType type, const std::vector<Argument> &args,
                                        const std::string &function, const Target &target,
                                        Location at) const {
    require_machine(target, at);
    driver::Signature signature = signature_of(get(at).program, args, function, at);
    signature.any_args = args.empty();
    return called_at(at, [&] {
        return driver::file_contents(get(at).program, driver::file_target(target), signature, type);
    });
}
ir::Module Pipeline::lowered(const std::vector<Argument> &args, const std::string &function,
                             const Target &target, Location at) const {
    require_machine(target, at);
    const driver::Signature signature = signature_of(program(at), args, function, at);
    return called_at(at, [&] {
        return with_large_stack(
            [&] { return driver::lower_for(program(at), driver::file_target(target), signature); });
    });
}
driver::TargetProgram Pipeline::target_program(const std::vector<Argument> &args,
                                               Location at) const {
    return {get(at).program, signature_of(get(at).program, args, "", at)};
}

void Pipeline::compile_to_lowered_stmt(const std::string &path, const std::vector<Argument> &args,
                                       StmtOutputFormat format, const Target &target, Location at) {
    driver::Signature signature = signature_of(get(at).program, args, "", at);
    signature.any_args = args.empty();
    const OutputFileType type = format == HTML ? OutputFileType::stmt_html : OutputFileType::stmt;
    called_at(at, [&] {
        driver::write_files(get(at).program, driver::file_target(target), signature,
                            {{type, path}});
    });
}
void Pipeline::compile_to_conceptual_stmt(const std::string &path,
                                          const std::vector<Argument> &args,
                                          StmtOutputFormat format, const Target &target,
                                          Location at) {
    driver::Signature signature = signature_of(get(at).program, args, "", at);
    signature.any_args = args.empty();
    const OutputFileType type =
        format == HTML ? OutputFileType::conceptual_stmt_html : OutputFileType::conceptual_stmt;
    called_at(at, [&] {
        driver::write_files(get(at).program, driver::file_target(target), signature,
                            {{type, path}});
    });
}
void Pipeline::compile_to_llvm_assembly(const std::string &path, const std::vector<Argument> &args,
                                        const std::string &function, const Target &target,
                                        Location at) {
    compile_to({{OutputFileType::llvm_assembly, path}}, args, function, target, at);
}
void Pipeline::compile_to_assembly(const std::string &path, const std::vector<Argument> &args,
                                   const std::string &function, const Target &target, Location at) {
    compile_to({{OutputFileType::assembly, path}}, args, function, target, at);
}
void Pipeline::compile_to_object(const std::string &path, const std::vector<Argument> &args,
                                 const std::string &function, const Target &target, Location at) {
    compile_to({{OutputFileType::object, path}}, args, function, target, at);
}
void Pipeline::compile_to_bitcode(const std::string &path, const std::vector<Argument> &args,
                                  const std::string &function, const Target &target, Location at) {
    compile_to({{OutputFileType::bitcode, path}}, args, function, target, at);
}
void Pipeline::compile_to_header(const std::string &path, const std::vector<Argument> &args,
                                 const std::string &function, const Target &target, Location at) {
    compile_to({{OutputFileType::c_header, path}}, args, function, target, at);
}
void Pipeline::compile_to_c(const std::string &path, const std::vector<Argument> &args,
                            const std::string &function, const Target &target, Location at) {
    compile_to({{OutputFileType::c_source, path}}, args, function, target, at);
}
void Pipeline::compile_to_file(const std::string &prefix, const std::vector<Argument> &args,
                               const std::string &function, const Target &target, Location at) {
    compile_to({{OutputFileType::object, prefix + ".o"}, {OutputFileType::c_header, prefix + ".h"}},
               args, function, target, at);
}
void Pipeline::compile_to_static_library(const std::string &prefix,
                                         const std::vector<Argument> &args,
                                         const std::string &function, const Target &target,
                                         Location at) {
    compile_to({{OutputFileType::static_library, prefix + ".a"},
                {OutputFileType::c_header, prefix + ".h"}},
               args, function, target, at);
}
void Pipeline::compile_to_multitarget_static_library(const std::string &prefix,
                                                     const std::vector<Argument> &args,
                                                     const std::vector<Target> &targets,
                                                     const std::string &function, Location at) {
    driver::TargetProgram same = target_program(args, at);
    called_at(at, [&] {
        driver::write_multitarget_files([&](const Target &) { return same; },
                                        function.empty() ? same.program.name : function, targets,
                                        {{OutputFileType::static_library, prefix + ".a"},
                                         {OutputFileType::c_header, prefix + ".h"}});
    });
}
void Pipeline::compile_to_multitarget_object_files(const std::string &prefix,
                                                   const std::vector<Argument> &args,
                                                   const std::vector<Target> &targets,
                                                   const std::vector<std::string> &suffixes,
                                                   const std::string &function, Location at) {
    driver::TargetProgram same = target_program(args, at);
    called_at(at, [&] {
        driver::write_multitarget_files(
            [&](const Target &) { return same; }, function.empty() ? same.program.name : function,
            targets,
            {{OutputFileType::object, prefix + ".o"}, {OutputFileType::c_header, prefix + ".h"}},
            suffixes);
    });
}

std::string Pipeline::loop_nest(Location at) const {
    return called_at(
        at, [&] { return driver::loop_nest(get(at).program, get_target_from_environment()); });
}
void Pipeline::print_loop_nest(Location at) { std::cerr << loop_nest(at); }

std::vector<Argument> Pipeline::infer_arguments(Location at) const {
    auto parameters = with_large_stack([&] {
        program::ProgramCopy copy = program::copy_reachable(get(at).program);
        return program::find_parameters(copy.program, copy.environment);
    });
    std::vector<Argument> result;
    for (const auto &p : parameters) {
        if (!p->embedded) result.emplace_back(p);
    }
    if (dialect() == Dialect::Halide) {  // buffers first, each kind by name
        std::ranges::stable_sort(
            result, {}, [](const Argument &a) { return std::pair(!a.is_buffer(), a.name); });
    }
    return result;
}

}  // namespace tessera
