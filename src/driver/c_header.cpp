#include "driver/c_header.h"
#include "base/dialect.h"
#include "base/str.h"
#include "codegen/compile.h"
#include "ir/printer.h"
#include "program/names.h"
#include "program/parameter.h"

namespace tessera::driver {
namespace {

using ir::Argument;
using ir::ArgumentKind;
using ir::Expr;

using program::Names;
using program::parameter_of;

// Of a scalar argument; float16 and bfloat16 are their bits.
std::string c_type_name(Type type) {
    if (type.is_handle()) return "void *";
    if (type.is_bool()) return "bool";
    if (type == Float(32)) return "float";
    if (type == Float(64)) return "double";
    return str(type.is_int() ? "int" : "uint", type.bits(), "_t");
}

// Constants without their types, parameters by their names in C.
std::string c_text(const Expr &e, Names &names) {
    if (const auto *i = e.as<ir::IntImm>()) return str(i->value);
    if (const auto *u = e.as<ir::UIntImm>()) return str(u->value);
    if (const auto *f = e.as<ir::FloatImm>()) return str(f->value);
    if (const auto *v = e.as<ir::Variable>()) return names[v->name];
    return ir::to_string(e);
}

std::string limits(const program::Parameter &p, Names &names) {
    std::string text;
    auto add = [&](const char *what, const Expr &e) {
        if (e.defined()) text += str(", ", what, " ", c_text(e, names));
    };
    add("at least", p.min_value);
    add("at most", p.max_value);
    add("estimated", p.estimate);
    return text;
}

std::string constraints_of(const Argument &a, const program::Parameter &p, Names &names) {
    std::string text;
    for (size_t d = 0; d < p.constraints.size(); d++) {
        const program::DimensionConstraint &c = p.constraints[d];
        auto add = [&](const char *what, const Expr &e) {
            if (e.defined()) text += str("\n *       dim[", d, "].", what, c_text(e, names));
        };
        add("min == ", c.min);
        add("extent == ", c.extent);
        add("stride == ", c.stride);
        add("min is estimated to be ", c.min_estimate);
        add("extent is estimated to be ", c.extent_estimate);
    }
    if (p.host_alignment > a.type.bytes()) {
        text += str("\n *       host is aligned to ", p.host_alignment, " bytes");
    }
    return text;
}

std::string description(const Argument &a, Names &names) {
    const std::string &name = names[a.name];
    const program::Parameter *p = parameter_of(a);
    if (a.kind == ArgumentKind::Scalar) {
        return str(" *   ", name, ": ", a.type, p ? limits(*p, names) : "");
    }
    const char *role = a.kind == ArgumentKind::InputBuffer ? "input" : "output";
    return str(" *   ", name, ": ", role, ", ", a.dimensions,
               a.dimensions == 1 ? " dimension of " : " dimensions of ", a.type,
               p ? constraints_of(a, *p, names) : "");
}

// For programs that have Halide's names: a struct of the same layout.
const char *metadata_name() {
    bool halide = dialect() == Dialect::Halide;
    return halide ? "halide_filter_metadata_t" : "tessera_filter_metadata_t";
}

std::string declarations(const ir::LoweredFunction &f, const Target &target) {
    std::vector<Argument> args = codegen::passed_arguments(f, target);
    std::vector<std::string> parameters;
    std::vector<std::string> reserved = program::cpp_keywords();
    for (const Argument &a : args) reserved.push_back(c_type_name(a.type));
    reserved.insert(reserved.end(), {"tessera_buffer_t", metadata_name()});
    Names names(Names::Style::Identifiers, reserved);
    std::string comment = str("/* ", f.name, ", for ", target, ".\n *\n");
    for (const Argument &a : args) {
        comment += description(a, names) + "\n";
        bool scalar = a.kind == ArgumentKind::Scalar;
        std::string type = scalar ? c_type_name(a.type) : "struct tessera_buffer_t *";
        parameters.push_back(type + (type.back() == '*' ? "" : " ") + names[a.name]);
    }
    comment +=
        " *\n"
        " * A buffer with neither `host` nor `device` asks for bounds: its `min` and `extent` are\n"
        " * set to what the outputs need, and nothing is computed.\n"
        " * Returns 0, or a tessera_error_code_t after a call of tessera_error(). */\n";
    if (parameters.empty()) parameters.emplace_back("void");
    return str(comment, "int ", f.name, "(", join(parameters), ");\n\n",
               "/* The same, of pointers to buffers and scalars. */\n", "int ", f.name,
               "_argv(void *const *args);\n\n", "/* What the arguments are, for programs. */\n",
               "const struct ", metadata_name(), " *", f.name, "_metadata(void);\n");
}

}  // namespace

std::string to_c_header(const ir::Module &module, const Target &target) {
    std::string guard = "TESSERA_" + module.name + "_H";
    std::string text =
        str("#ifndef ", guard, "\n#define ", guard,
            "\n#include <stdbool.h>\n#include <stdint.h>\n\n"
            "/* What is compiled calls Tessera's runtime, which is in a static library"
            " that\n * was written with it, and wants the C++ standard library and"
            " threads. */\n\n"
            "struct tessera_buffer_t;\nstruct ",
            metadata_name(), ";\n\n");
    text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    for (const ir::LoweredFunction &f : module.functions) text += declarations(f, target) + "\n";
    return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace tessera::driver
