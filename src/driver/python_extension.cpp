#include "driver/python_extension.h"
#include "base/error.h"
#include "base/str.h"
#include "codegen/compile.h"
#include "driver/argument_text.h"
#include "program/names.h"
#include <algorithm>

namespace tessera::driver {
namespace {

// A literal of C, with a line for each line of the text.
std::string literal(const std::string &text) {
    std::string quoted = "    \"";
    for (const char c : text) {
        if (c == '\n') {
            quoted += "\\n\"\n    \"";
        } else {
            if (c == '"' || c == '\\') quoted += '\\';
            quoted += c;
        }
    }
    return quoted + '"';
}

// The first line is what inspect.signature() reads.
std::string docstring(const ir::LoweredFunction &f, const Target &target) {
    std::vector<ir::Argument> args = codegen::passed_arguments(f, target);
    std::erase_if(args, [](const ir::Argument &a) { return a.name.text() == "__user_context"; });
    program::Names names(program::Names::Style::Identifiers, {});
    std::unordered_map<Symbol, std::string> words;
    std::vector<std::string> parameters;
    for (const ir::Argument &a : args) parameters.push_back(words[a.name] = names[a.name]);
    const ArgumentTexts texts(f, args, words);
    std::string text = str(f.name, "(", join(parameters), ")\n--\n\nCompiled for ", target, ".\n");
    for (const ir::Argument &a : args) {
        std::string indentation = "\n    ";
        for (const std::string &line : texts.describe(a)) {
            text += indentation + line;
            indentation = "\n        ";
        }
    }
    return text;
}

}  // namespace

std::string to_python_extension(const ir::Module &module, const Target &target) {
    if (target.has_feature(Target::CPlusPlusMangling)) {
        throw CompileError(str("python_extension: ", module.name,
                               " is a function of C++, which has no name for other files: leave "
                               "Target::CPlusPlusMangling out"));
    }
    const std::string &name = module.name;
    const auto &functions = module.functions;
    const auto pipeline = std::ranges::find(functions, name, &ir::LoweredFunction::name);
    if (pipeline == functions.end()) throw InternalError("the module has no function of its name");
    return str("/* Makes ", name,
               R"(() a function of a Python module. Compile it as C with the flags of Python and the
 * folder of tessera_python.h, and link it with the library: tessera_python.h says how several
 * functions become one module. */
#ifndef TESSERA_PYTHON_FUNCTIONS
#define TESSERA_PYTHON_FUNCTIONS X()",
               name, ")\n#define TESSERA_PYTHON_MODULE ", name, R"(
#endif
#include <tessera_python.h>

int )",
               name, "_argv(void *const *args);\nconst tessera_filter_metadata_t *", name,
               "_metadata(void);\n\nconst char tessera_python_doc_", name, "[] =\n",
               literal(docstring(*pipeline, target)), ";\n\nPyObject *tessera_python_", name,
               R"((PyObject *module, PyObject *args, PyObject *names) {
    (void)module;
    return tessera_python_call()",
               name, "_metadata(), ", name, "_argv, args, names);\n}\n");
}

}  // namespace tessera::driver
