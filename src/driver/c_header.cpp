#include "driver/c_header.h"
#include "base/dialect.h"
#include "base/str.h"
#include "codegen/c/types.h"
#include "codegen/compile.h"
#include "driver/argument_text.h"
#include "ir/cpp_name.h"
#include "program/names.h"
#include <algorithm>

namespace tessera::driver {
namespace {

using ir::Argument;
using ir::ArgumentKind;

using codegen::c::scalar_type;
using program::Names;

// A comment, so that what only some functions need is explained for these alone.
std::string comment_of(const std::string &title, const std::vector<std::string> &arguments) {
    std::string text = str("/* ", title, "\n *\n");
    for (const std::string &line : arguments) text += str(" *   ", line, "\n");
    auto has = [&](const char *part) { return text.find(part) != std::string::npos; };
    text += " *\n";
    if (has("].max")) text += " * `b.dim[d].max` is b.dim[d].min + b.dim[d].extent - 1.\n";
    if (has("/ ") || has("% ")) text += " * Quotients are rounded down.\n";
    return text + " * A buffer with neither `host` nor `device` asks for bounds: its `min` and "
                  "`extent` are\n"
                  " * set to what the outputs need, and nothing is computed.\n"
                  " * Returns 0, or a tessera_error_code_t after a call of tessera_error(). */\n";
}

// For programs that have Halide's names: a struct of the same layout.
const char *metadata_name() {
    bool halide = dialect() == Dialect::Halide;
    return halide ? "halide_filter_metadata_t" : "tessera_filter_metadata_t";
}

std::string declarations(const ir::LoweredFunction &f, const Target &target,
                         const std::vector<Target> &chosen_from) {
    std::vector<Argument> args = codegen::passed_arguments(f, target);
    std::vector<std::string> parameters, lines;
    std::vector<std::string> reserved = program::cpp_keywords();
    for (const Argument &a : args) reserved.push_back(scalar_type(a.type));
    reserved.insert(reserved.end(), {"tessera_buffer_t", metadata_name()});
    Names names(Names::Style::Identifiers, reserved);
    std::unordered_map<Symbol, std::string> words;
    for (const Argument &a : args) words[a.name] = names[a.name];
    ArgumentTexts texts(f, args, words);
    for (const Argument &a : args) {
        bool is_first = true;
        for (const std::string &line : texts.describe(a)) {
            lines.push_back(std::exchange(is_first, false) ? line : "    " + line);
        }
        bool scalar = a.kind == ArgumentKind::Scalar;
        std::string type = scalar ? scalar_type(a.type) : "struct tessera_buffer_t *";
        parameters.push_back(type + (type.back() == '*' ? "" : " ") + words[a.name]);
    }
    if (parameters.empty()) parameters.emplace_back("void");
    std::string name = ir::parts_of_name(f.name).back();
    const std::string targets = chosen_from.empty() ? str(target) : join(chosen_from, " or ");
    return str(comment_of(str(f.name, ", for ", targets, "."), lines), "int ", name, "(",
               join(parameters), ");\n\n", "/* The same, of pointers to buffers and scalars. */\n",
               "int ", name, "_argv(void *const *args);\n\n",
               "/* What the arguments are, for programs. */\n", "const struct ", metadata_name(),
               " *", name, "_metadata(void);\n");
}

// In the namespaces that the function's name has.
std::string cpp_declarations(const ir::LoweredFunction &f, const Target &target,
                             const std::vector<Target> &chosen_from) {
    std::vector<std::string> parts = ir::parts_of_name(f.name);
    parts.pop_back();
    std::string before, after;
    for (const std::string &space : parts) {
        before += str("namespace ", space, " {\n");
        after = str("}  // namespace ", space, "\n", after);
    }
    return str(before, before.empty() ? "" : "\n", declarations(f, target, chosen_from),
               after.empty() ? "" : "\n", after);
}

}  // namespace

std::string to_c_header(const ir::Module &module, const Target &target,
                        const std::vector<Target> &chosen_from) {
    bool cpp = target.has_feature(Target::CPlusPlusMangling);
    std::string guard = "TESSERA_" + module.name + "_H";
    std::ranges::replace(guard, ':', '_');
    std::string text =
        str("#ifndef ", guard, "\n#define ", guard,
            "\n#include <stdbool.h>\n#include <stdint.h>\n\n"
            "/* What is compiled calls Tessera's runtime, which is in a static library"
            " that\n * was written with it, and wants the C++ standard library and"
            " threads. */\n\n"
            "struct tessera_buffer_t;\nstruct ",
            metadata_name(), ";\n\n");
    if (cpp) {
        text += "#ifndef __cplusplus\n#error \"these are functions of C++\"\n#endif\n\n";
        for (const ir::LoweredFunction &f : module.functions) {
            text += cpp_declarations(f, target, chosen_from) + "\n";
        }
        return text + "#endif\n";
    }
    text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    for (const ir::LoweredFunction &f : module.functions)
        text += declarations(f, target, chosen_from) + "\n";
    return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace tessera::driver
