#include "codegen/interface.h"
#include "codegen/c/printer.h"
#include "codegen/c/types.h"
#include "codegen/embedded_buffer.h"
#include "ir/operators.h"
#include "program/parameter.h"
#include <cstring>

// This file prints what the callers of a compiled function see: its C function, the one that takes
// an array of arguments, its description, and the buffers that came with the program.
namespace tessera::codegen::c {
namespace {

std::string type_of(const Argument &a) {
    return a.kind == ArgumentKind::Scalar ? scalar_type(a.type) : "tessera_buffer_t *";
}

// A tessera_scalar_value_t; NULL if the value is not known now.
std::string scalar_metadata(const Expr &e, Type type) {
    auto bits = known_bits(e, type);
    if (!bits) return "NULL";
    return str("&(const tessera_scalar_value_t){.u64 = ", literal(UInt(64), int64_t(*bits)), "}");
}

// Two pointers per dimension, to the estimates of its minimum and extent.
std::string buffer_estimates(const program::Parameter &p) {
    std::vector<std::string> pointers;
    auto add = [&](const Expr &e) {
        auto bits = known_bits(e, Int(64));
        pointers.push_back(bits ? str("&(const int64_t){", literal(Int(64), int64_t(*bits)), "}")
                                : "NULL");
    };
    for (const program::DimensionConstraint &d : p.constraints) {
        add(d.min_estimate);
        add(d.extent_estimate);
    }
    if (pointers.empty()) pointers.emplace_back("NULL");
    return str("(const int64_t *const[]){", join(pointers), "}");
}

}  // namespace

// Names the arguments.
std::string Printer::prototype(const LoweredFunction &lowered) {
    std::vector<std::string> parameters;
    for (const Argument &a : passed_arguments(lowered, target)) {
        std::string name = is_user_context(a) ? "user_context" : f->names.of(a.name);
        parameters.push_back(declaration(type_of(a), name, false));
        if (is_user_context(a)) continue;
        f->types[name] = type_of(a);
        f->variables[a.name] = {name, Form::Name};
        if (a.kind != ArgumentKind::Scalar) f->buffers[a.name] = {"", name};
    }
    if (parameters.empty()) parameters.emplace_back("void");
    LinkNames names = link_names(lowered, target);
    std::string head = str("int ", names.function, "(", join(parameters), ")");
    prototypes += str(head, ";\nint ", names.argv, "(void *const *args);\n",
                      "const tessera_filter_metadata_t *", names.metadata, "(void);\n\n");
    return head;
}

// The Buffers that are in the file.
void Printer::bind_arguments(const LoweredFunction &lowered) {
    if (!target.has_feature(Target::UserContext)) line("void *const user_context = NULL;");
    for (const Argument &a : lowered.args) {
        if (f->variables.contains(a.name)) continue;
        std::string name = f->names.of(a.name);
        f->types[name] = "tessera_buffer_t *";
        line(str("tessera_buffer_t *const ", name, " = &", embed(a), ";"));
        f->variables[a.name] = {name, Form::Name};
        f->buffers[a.name] = {"", name};
    }
}

void Printer::define_argv(const LoweredFunction &lowered) {
    std::vector<std::string> args;
    std::string lines;
    for (const Argument &a : passed_arguments(lowered, target)) {
        size_t i = args.size();
        if (a.kind != ArgumentKind::Scalar) {
            args.push_back(str("(tessera_buffer_t *)args[", i, "]"));
            continue;
        }
        lines += str("    ", declaration(type_of(a), str("a", i), false), ";\n    memcpy(&a", i,
                     ", args[", i, "], sizeof(a", i, "));\n");
        args.push_back(str("a", i));
    }
    LinkNames names = link_names(lowered, target);
    functions += str("int ", names.argv, "(void *const *args) {\n", lines, "    return ",
                     names.function, "(", join(args), ");\n}\n\n");
}

// A tessera_filter_argument_t.
std::string Printer::described(const Argument &a) {
    const program::Parameter *p = program::parameter_of(a);
    bool scalar = a.kind == ArgumentKind::Scalar;
    std::string initial = "NULL", low = "NULL", high = "NULL", estimate = "NULL", all = "NULL";
    if (p && scalar) {
        if (p->scalar_is_set && !a.type.is_handle()) {
            initial = str("&(const tessera_scalar_value_t){.u64 = ",
                          literal(UInt(64), int64_t(p->scalar_bits)), "}");
        }
        low = scalar_metadata(p->min_value, a.type);
        high = scalar_metadata(p->max_value, a.type);
        estimate = scalar_metadata(p->estimate, a.type);
    }
    if (p && !scalar) all = buffer_estimates(*p);
    return str("    {", string_literal(a.name.text()), ", ", int(a.kind), ", ", a.dimensions, ", {",
               int(a.type.code()), ", ", a.type.bits(), ", 1},\n     ", initial, ", ", low, ", ",
               high, ", ", estimate, ", ", all, "},\n");
}

void Printer::define_metadata(const LoweredFunction &lowered) {
    std::string arguments;
    std::vector<Argument> passed = passed_arguments(lowered, target);
    for (const Argument &a : passed) arguments += described(a);
    LinkNames names = link_names(lowered, target);
    std::string list = new_name(names.function + "_arguments"),
                all = new_name(names.function + "_description");
    if (!passed.empty()) {
        functions +=
            str("static const tessera_filter_argument_t ", list, "[] = {\n", arguments, "};\n");
    }
    functions += str("static const tessera_filter_metadata_t ", all,
                     " = {\n    TESSERA_FILTER_METADATA_VERSION, ", passed.size(), ", ",
                     passed.empty() ? "NULL" : list, ", ", string_literal(target.to_string()), ", ",
                     string_literal(lowered.name), "};\n");
    functions += str("const tessera_filter_metadata_t *", names.metadata, "(void) { return &", all,
                     "; }\n\n");
}

// The buffer as it is now: its elements as numbers without a sign, of their bits.
std::string Printer::embed(const Argument &a) {
    EmbeddedBuffer embedded = embedded_buffer(a, target);
    const tessera_buffer_t &buffer = *embedded.buffer;
    Type bits = UInt(8 * a.type.bytes());
    std::string name = new_name(f->name + "_constant"), values, dims;
    auto bytes = size_t(a.type.bytes());
    for (size_t at = 0; at < embedded.contents.size(); at += bytes) {
        uint64_t element = 0;
        std::memcpy(&element, &embedded.contents[at], bytes);
        values +=
            str(at % (16 * bytes) == 0 ? "\n    " : " ", literal(bits, int64_t(element)), ",");
    }
    for (int d = 0; d < buffer.dimensions; d++) {
        const tessera_dimension_t &dim = buffer.dim[d];
        dims += str("{", dim.min, ", ", dim.extent, ", ", dim.stride, ", ", dim.flags, "}, ");
    }
    constants += str("static _Alignas(128) const ", scalar_type(bits), " ", name, "_data[] = {",
                     values.empty() ? "0" : values, "};\n");
    constants += str("static tessera_dimension_t ", name, "_dims[] = {",
                     dims.empty() ? "{0, 0, 0, 0}" : dims, "};\n");
    // Written to by whoever copies it to a device.
    constants +=
        str("static tessera_buffer_t ", name, " = {0, NULL, (uint8_t *)", name, "_data + ",
            -embedded.first * int64_t(bytes), ", 0, {", int(buffer.type.code), ", ",
            int(buffer.type.bits), ", 1}, ", buffer.dimensions, ", ", name, "_dims, NULL};\n\n");
    return name;
}

}  // namespace tessera::codegen::c
