#include "driver/files.h"
#include "base/atomic_file.h"
#include "base/large_stack.h"
#include "base/scratch_folder.h"
#include "codegen/archive.h"
#include "codegen/backend.h"
#include "driver/c_header.h"
#include "driver/function_info.h"
#include "driver/link_shared.h"
#include "driver/python_extension.h"
#include "driver/registration.h"
#include "driver/runtime_library.h"
#include "ir/cpp_name.h"
#include "ir/print_html.h"
#include "ir/printer.h"
#include "program/names.h"
#include "program/print_schedule.h"
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace tessera::driver {
namespace {

using codegen::CodeKind;
using Type = OutputFileType;

constexpr OutputFile all_files[] = {
    {Type::assembly, "assembly", ".s"},
    {Type::bitcode, "bitcode", ".bc"},
    {Type::c_header, "c_header", ".h"},
    {Type::c_source, "c_source", ".c"},
    {Type::conceptual_stmt, "conceptual_stmt", ".conceptual.stmt"},
    {Type::cpp_stub, "cpp_stub", ".stub.h"},
    {Type::device_code, "device_code", ".ptx"},
    {Type::function_info_header, "function_info_header", ".function_info.h"},
    {Type::llvm_assembly, "llvm_assembly", ".ll"},
    {Type::object, "object", ".o"},
    {Type::python_extension, "python_extension", ".py.c"},
    {Type::registration, "registration", ".registration.cpp"},
    {Type::schedule, "schedule", ".schedule.h"},
    {Type::shared_library, "shared_library", ".so"},
    {Type::static_library, "static_library", ".a"},
    {Type::stmt, "stmt", ".stmt"},
    {Type::stmt_html, "stmt_html", ".stmt.html"},
    {Type::conceptual_stmt_html, "conceptual_stmt_html", ".conceptual.stmt.html"},
};

// Files that are compiled are synced, since others are made of them.
template<typename Bytes> void write_bytes(const std::string &path, const Bytes &bytes) {
    write_file(path, {bytes.data(), bytes.size()}, Durability::Synced);
}

std::string text_of(const std::vector<char> &bytes) { return {bytes.begin(), bytes.end()}; }

bool is_c_name(const std::string &name) {
    bool is_name = !name.empty() && !std::isdigit(uint8_t(name[0]));
    for (char c : name) is_name &= std::isalnum(uint8_t(c)) || c == '_';
    std::vector<std::string> keywords = program::cpp_keywords();
    return is_name && std::ranges::find(keywords, name) == keywords.end();
}

std::string schedule_text(const program::Program &program) {
    return str("// The schedule of ", program.outputs[0]->name,
               ", for a Pipeline `pipeline` of the same algorithm.\n",
               program::print_schedule(program::Algorithm(program.outputs),
                                       program::schedule_of(program.outputs)));
}

}  // namespace

std::span<const OutputFile> output_files() { return all_files; }

std::optional<OutputFileType> output_file_type(const std::string &name) {
    constexpr std::pair<const char *, Type> older_names[] = {{"h", Type::c_header},
                                                             {"o", Type::object},
                                                             {"cpp", Type::c_source},
                                                             {"html", Type::stmt_html}};
    for (const OutputFile &f : all_files) {
        if (f.name == name) return f.type;
    }
    for (const auto &[older, type] : older_names) {
        if (older == name) return type;
    }
    return {};
}

void require_function_name(const std::string &name, const Target &target, const Location &at) {
    bool cpp = target.has_feature(Target::CPlusPlusMangling);
    std::vector<std::string> parts{name};
    if (cpp) parts = ir::parts_of_name(name);
    if (parts.size() > 1 && parts[0] == "std") {
        throw CompileError(at, str("a compiled function cannot be called ", name,
                                   ": the namespace std is the standard library's"));
    }
    if (std::ranges::all_of(parts, is_c_name)) return;
    bool in_namespace = !cpp && std::ranges::all_of(ir::parts_of_name(name), is_c_name);
    throw CompileError(at, str("a compiled function cannot be called \"", name,
                               "\": that is no name in C",
                               in_namespace ? ", but one in C++: it wants Target::CPlusPlusMangling"
                                            : "; give it another one"));
}

std::string base_name(const std::string &function) { return ir::parts_of_name(function).back(); }

void write_text(const std::string &path, const std::string &text) { write_bytes(path, text); }

void write_runtime_library(const Target &target, const std::string &path) {
    write_bytes(path, runtime_library(target));
}

FileWriter::FileWriter(const program::Program &program, const Target &target,
                       const Signature &signature)
    : program(&program), target(target), signature(signature) {}

FileWriter::FileWriter(ir::Module module, const Target &target, const Location &written)
    : target(target), the_module(std::move(module)) {
    signature.written = written;
}

const ir::Module &FileWriter::lowered() {
    if (!the_module) the_module = lower_for(*program, target, signature);
    return *the_module;
}

const ir::Module &FileWriter::module() {
    require_function_name(lowered().name, target, signature.written);
    return lowered();
}

const std::vector<char> &FileWriter::object() {
    if (!the_object) the_object = codegen::make_code(CodeKind::Object, module(), target);
    return *the_object;
}

std::vector<char> FileWriter::device_code() {
    return codegen::make_code(CodeKind::DeviceCode, module(), target);
}

std::string FileWriter::code(CodeKind kind) {
    return text_of(codegen::make_code(kind, module(), target));
}

std::string FileWriter::static_library() {
    return codegen::make_archive({{base_name(module().name) + ".o", object()}},
                                 runtime_for(target));
}

std::string as_shared_library(std::string_view static_library, const std::string &name,
                              const Target &target) {
    const ScratchFolder folder;
    const std::string archive = folder.path / (name + ".a"), library = folder.path / name;
    tessera::write_file(archive, static_library);
    link_shared(archive, library, target);
    std::ifstream in(library, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string FileWriter::shared_library(const std::string &name) {
    return as_shared_library(static_library(), name, target);
}

std::string FileWriter::contents(OutputFileType type) {
    bool of_program = type == Type::schedule || type == Type::conceptual_stmt ||
                      type == Type::conceptual_stmt_html;
    if (of_program && !program) throw InternalError("this file is not written of a module alone");
    switch (type) {
    case Type::assembly: return code(CodeKind::Assembly);
    case Type::bitcode: return code(CodeKind::Bitcode);
    case Type::c_header: return to_c_header(module(), target);
    case Type::c_source: return code(CodeKind::CSource);
    case Type::conceptual_stmt:
        return ir::to_string(conceptual(*program, target).functions[0].body);
    case Type::conceptual_stmt_html:
        return ir::html_page(lowered().name,
                             ir::to_html(conceptual(*program, target).functions[0].body));
    case Type::cpp_stub:
        throw CompileError(signature.written,
                           "a stub calls a generator: it is not written of a Pipeline");
    case Type::device_code: return text_of(device_code());
    case Type::function_info_header: return to_function_info_header(module(), target);
    case Type::llvm_assembly: return code(CodeKind::LLVMAssembly);
    case Type::object: return text_of(object());
    case Type::python_extension: return to_python_extension(module(), target);
    case Type::registration: return to_registration(module(), target);
    case Type::schedule: return schedule_text(*program);
    case Type::shared_library: return shared_library(base_name(module().name) + ".so");
    case Type::static_library: return static_library();
    case Type::stmt: return ir::to_string(lowered());
    case Type::stmt_html: return ir::html_page(lowered().name, ir::to_html(lowered()));
    default: throw CompileError(signature.written, "files of this kind are not there yet");
    }
}

void FileWriter::write(OutputFileType type, const std::string &path) {
    // A shared library knows what it is called.
    write_bytes(path, type == Type::shared_library
                          ? shared_library(std::filesystem::path(path).filename())
                          : contents(type));
}

std::string file_contents(const program::Program &program, const Target &target,
                          const Signature &signature, OutputFileType type) {
    return with_large_stack([&] { return FileWriter(program, target, signature).contents(type); });
}

static void write_all(FileWriter writer, const std::map<OutputFileType, std::string> &paths) {
    run_on_large_stack([&] {
        for (const auto &[type, path] : paths) writer.write(type, path);
    });
}

void write_files(const program::Program &program, const Target &target, const Signature &signature,
                 const std::map<OutputFileType, std::string> &paths) {
    write_all({program, target, signature}, paths);
}

void write_files(const ir::Module &module, const Target &target,
                 const std::map<OutputFileType, std::string> &paths, const Location &written) {
    write_all({module, target, written}, paths);
}

}  // namespace tessera::driver
