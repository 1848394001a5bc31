#include "driver/files.h"
#include "base/large_stack.h"
#include "codegen/archive.h"
#include "codegen/c/c_source.h"
#include "driver/c_header.h"
#include "driver/function_info.h"
#include "driver/runtime_library.h"
#include "ir/printer.h"
#include "program/names.h"
#include "program/print_schedule.h"
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace tessera::driver {
namespace {

using Type = OutputFileType;

constexpr OutputFile all_files[] = {
    {Type::assembly, "assembly", ".s"},
    {Type::bitcode, "bitcode", ".bc"},
    {Type::c_header, "c_header", ".h"},
    {Type::c_source, "c_source", ".c"},
    {Type::conceptual_stmt, "conceptual_stmt", ".conceptual.stmt"},
    {Type::cpp_stub, "cpp_stub", ".stub.h"},
    {Type::function_info_header, "function_info_header", ".function_info.h"},
    {Type::llvm_assembly, "llvm_assembly", ".ll"},
    {Type::object, "object", ".o"},
    {Type::schedule, "schedule", ".schedule.h"},
    {Type::static_library, "static_library", ".a"},
    {Type::stmt, "stmt", ".stmt"},
    {Type::stmt_html, "stmt_html", ".stmt.html"},
    {Type::conceptual_stmt_html, "conceptual_stmt_html", ".conceptual.stmt.html"},
};

template<typename Bytes> void write(const std::string &path, const Bytes &bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), std::streamsize(bytes.size()));
    file.close();
    if (!file) throw RuntimeError(str("cannot write the file ", path, ": ", std::strerror(errno)));
}

std::string schedule_text(const program::Program &program) {
    return str("// The schedule of ", program.outputs[0]->name,
               ", for a Pipeline `pipeline` of the same algorithm.\n",
               program::print_schedule(program.outputs, "pipeline"));
}

// Text for a browser.
std::string to_page(const std::string &title, const std::string &text) {
    std::string escaped;
    for (char c : text) {
        switch (c) {
        case '<': escaped += "&lt;"; break;
        case '>': escaped += "&gt;"; break;
        case '&': escaped += "&amp;"; break;
        default: escaped += c;
        }
    }
    return str("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>", title,
               "</title></head>\n<body><pre>\n", escaped, "</pre></body></html>\n");
}

void write_static_library(const std::string &path, const ir::Module &module, const Target &target) {
    std::vector<char> object = codegen::to_object(module, target);
    codegen::write_archive(path, {{module.name + ".o", object}}, runtime_for(target));
}

}  // namespace

std::span<const OutputFile> output_files() { return all_files; }

std::optional<OutputFileType> output_file_type(const std::string &name) {
    for (const OutputFile &f : all_files) {
        if (f.name == name) return f.type;
    }
    return {};
}

void require_c_name(const std::string &name, const Location &at) {
    bool is_name = !name.empty() && !std::isdigit(uint8_t(name[0]));
    for (char c : name) is_name &= std::isalnum(uint8_t(c)) || c == '_';
    std::vector<std::string> keywords = program::cpp_keywords();
    if (is_name && std::ranges::find(keywords, name) == keywords.end()) return;
    throw CompileError(at, str("a compiled function cannot be called \"", name,
                               "\": that is no name in C; give it another one"));
}

void write_text(const std::string &path, const std::string &text) { write(path, text); }

void write_runtime_library(const Target &target, const std::string &path) {
    write(path, runtime_library(target));
}

void write_module(const ir::Module &module, const Target &target, OutputFileType type,
                  const std::string &path) {
    require_c_name(module.name, {});
    switch (type) {
    case Type::object: return write(path, codegen::to_object(module, target));
    case Type::c_header: return write(path, to_c_header(module, target));
    case Type::function_info_header: return write(path, to_function_info_header(module, target));
    default: throw InternalError("this kind of file is not written of a lowered module");
    }
}

void write_files(const program::Program &program, const Target &target, const Signature &signature,
                 const std::map<OutputFileType, std::string> &paths) {
    std::optional<ir::Module> lowered;
    auto module = [&]() -> const ir::Module & {
        if (!lowered) lowered = lower_for(program, target, signature);
        return *lowered;
    };
    auto compiled = [&]() -> const ir::Module & {
        require_c_name(module().name, signature.written);
        return module();
    };
    auto write_one = [&](OutputFileType type, const std::string &path) {
        switch (type) {
        case Type::assembly: return write(path, codegen::to_assembly(compiled(), target));
        case Type::bitcode: return write(path, codegen::to_bitcode(compiled(), target));
        case Type::c_header: return write(path, to_c_header(compiled(), target));
        case Type::c_source: return write(path, codegen::to_c_source(compiled(), target));
        case Type::conceptual_stmt: return write(path, to_conceptual_text(program, target));
        case Type::cpp_stub:
            throw CompileError(signature.written,
                               "a stub calls a generator: it is not written of a Pipeline");
        case Type::function_info_header:
            return write(path, to_function_info_header(compiled(), target));
        case Type::llvm_assembly: return write(path, codegen::to_llvm_ir(compiled(), target));
        case Type::object: return write(path, codegen::to_object(compiled(), target));
        case Type::schedule: return write(path, schedule_text(program));
        case Type::static_library: return write_static_library(path, compiled(), target);
        case Type::stmt: return write(path, ir::to_string(module()));
        case Type::stmt_html: return write(path, to_page(module().name, ir::to_string(module())));
        case Type::conceptual_stmt_html:
            return write(path, to_page(module().name, to_conceptual_text(program, target)));
        default: throw CompileError(signature.written, "files of this kind are not there yet");
        }
    };
    run_on_large_stack([&] {
        for (const auto &[type, path] : paths) write_one(type, path);
    });
}

}  // namespace tessera::driver
