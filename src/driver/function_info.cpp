#include "driver/function_info.h"
#include "base/str.h"
#include "codegen/compile.h"
#include "ir/cpp_name.h"

namespace tessera::driver {
namespace {

const char *kind_name(ir::ArgumentKind kind) {
    switch (kind) {
    case ir::ArgumentKind::Scalar: return "InputScalar";
    case ir::ArgumentKind::InputBuffer: return "InputBuffer";
    case ir::ArgumentKind::OutputBuffer: return "OutputBuffer";
    case ir::ArgumentKind::Storage: break;  // no program passes it
    }
    return "";
}

// Once per program, whichever headers are included.
constexpr const char *definitions = R"(#ifndef TESSERA_ARGUMENT_INFO
#define TESSERA_ARGUMENT_INFO
namespace tessera::function_info {
enum class ArgumentKind { InputScalar, InputBuffer, OutputBuffer };
struct ArgumentInfo {
    std::string_view name;
    ArgumentKind kind;
    int dimensions;  // of a buffer
    int type_code;   // a tessera_type_code_t
    int type_bits;
};
}  // namespace tessera::function_info
#endif

)";

}  // namespace

std::string to_function_info_header(const ir::Module &module, const Target &target) {
    std::string text = "#pragma once\n#include <array>\n#include <string_view>\n\n";
    text += definitions;
    for (const ir::LoweredFunction &f : module.functions) {
        std::vector<ir::Argument> args = codegen::passed_arguments(f, target);
        std::vector<std::string> parts = ir::parts_of_name(f.name);
        std::string name = parts.back();
        parts.pop_back();
        if (!parts.empty()) text += str("namespace ", join(parts, "::"), " {\n");
        text += str("// The arguments of ", f.name, ".\n",
                    "constexpr std::array<tessera::function_info::ArgumentInfo, ", args.size(),
                    "> ", name, "_argument_info() {\n    using namespace tessera::function_info;\n",
                    "    return {{\n");
        for (const ir::Argument &a : args) {
            text += str("        {\"", a.name, "\", ArgumentKind::", kind_name(a.kind), ", ",
                        a.dimensions, ", ", int(a.type.code()), ", ", a.type.bits(), "},\n");
        }
        text += "    }};\n}\n";
        if (!parts.empty()) text += "}\n";
    }
    return text;
}

}  // namespace tessera::driver
