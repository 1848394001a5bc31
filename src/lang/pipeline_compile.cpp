#include "base/large_stack.h"
#include "lang/pipeline_contents.h"
#include "program/environment.h"
#include <cstdio>
#include <fstream>
#include <iostream>

namespace tessera {
namespace {

void write_file(const std::string &path, const char *data, size_t size) {
    std::ofstream file(path, std::ios::binary);
    file.write(data, std::streamsize(size));
    file.close();
    if (!file) throw RuntimeError(str("cannot write the file ", path));
}

driver::Signature signature_of(const std::vector<Argument> &args, const std::string &function,
                               const Location &at) {
    driver::Signature signature;
    signature.written = at;
    signature.name = function;
    signature.any_args = false;
    for (const Argument &a : args) signature.args.push_back(a.parameter);
    return signature;
}

}  // namespace

void Pipeline::compile_to_lowered_stmt(const std::string &path, const std::vector<Argument> &args,
                                       StmtOutputFormat, const Target &target, Location at) {
    driver::Signature signature = signature_of(args, "", at);
    signature.any_args = args.empty();
    std::string text =
        driver::to_lowered_text(get(at).program, driver::file_target(target), signature);
    write_file(path, text.data(), text.size());
}
void Pipeline::compile_to_conceptual_stmt(const std::string &path, const std::vector<Argument> &,
                                          StmtOutputFormat, const Target &target, Location at) {
    std::string text = driver::to_conceptual_text(get(at).program, driver::file_target(target));
    write_file(path, text.data(), text.size());
}
void Pipeline::compile_to_llvm_assembly(const std::string &path, const std::vector<Argument> &args,
                                        const std::string &function, const Target &target,
                                        Location at) {
    std::string text = driver::to_llvm_ir(get(at).program, driver::file_target(target),
                                          signature_of(args, function, at));
    write_file(path, text.data(), text.size());
}
void Pipeline::compile_to_assembly(const std::string &path, const std::vector<Argument> &args,
                                   const std::string &function, const Target &target, Location at) {
    std::string text = driver::to_assembly(get(at).program, driver::file_target(target),
                                           signature_of(args, function, at));
    write_file(path, text.data(), text.size());
}
void Pipeline::compile_to_object(const std::string &path, const std::vector<Argument> &args,
                                 const std::string &function, const Target &target, Location at) {
    std::vector<char> bytes = driver::to_object(get(at).program, driver::file_target(target),
                                                signature_of(args, function, at));
    write_file(path, bytes.data(), bytes.size());
}
void Pipeline::compile_to_bitcode(const std::string &path, const std::vector<Argument> &args,
                                  const std::string &function, const Target &target, Location at) {
    std::vector<char> bytes = driver::to_bitcode(get(at).program, driver::file_target(target),
                                                 signature_of(args, function, at));
    write_file(path, bytes.data(), bytes.size());
}

std::string Pipeline::loop_nest(Location at) const {
    return driver::loop_nest(get(at).program, get_target_from_environment());
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
    return result;
}

}  // namespace tessera
