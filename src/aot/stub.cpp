#include "aot/stub.h"
#include "aot/create_generator.h"
#include "program/names.h"
#include <algorithm>

namespace tessera {

void ParamValue::set(GeneratorBase &generator, const std::string &name) const {
    if (is_level)
        generator.set_generator_param(name, loop_level);
    else
        generator.set_generator_param(name, value_text);
}

GeneratorStub &GeneratorStub::set(const std::string &param, const ParamValue &value) {
    value.set(*generator, param);
    return *this;
}

GeneratorStub &GeneratorStub::input(const std::string &name, const InputValues &values) {
    generator->configure_now();
    generator->find_input(name).bind(values);
    return *this;
}

std::vector<Func> GeneratorStub::outputs(const std::string &name) {
    generator->get_pipeline();
    return generator->find_output(name).funcs();
}

Func GeneratorStub::output(const std::string &name) {
    std::vector<Func> all = outputs(name);
    if (all.size() == 1) return all[0];
    throw CompileError(str("the output ", name, " of ", generator->generator_name(), " is ",
                           all.size(), " Funcs; ask for outputs()"));
}

Callable create_callable_from_generator(const GeneratorContext &context, const std::string &name,
                                        const std::map<std::string, std::string> &params) {
    GeneratorJob job;
    job.generator = name;
    job.params.assign(params.begin(), params.end());
    auto generator = create_generator(job, context);
    Pipeline pipeline = generator->get_scheduled_pipeline();
    return pipeline.compile_to_callable(generator->pipeline_arguments(), context.target());
}

namespace {

// a::b::c: {a, b}, c.
std::pair<std::vector<std::string>, std::string> split_name(const std::string &stub) {
    std::vector<std::string> spaces;
    size_t begin = 0;
    for (size_t at; (at = stub.find("::", begin)) != std::string::npos; begin = at + 2) {
        if (at > begin) spaces.push_back(stub.substr(begin, at - begin));
    }
    return {spaces, stub.substr(begin)};
}

std::string input_type(const ArgumentShape &s) {
    bool scalar = s.kind == GeneratorArgumentKind::Scalar;
    std::string element = scalar ? "tessera::Expr" : "tessera::InputValue";
    return s.is_array ? "std::vector<" + element + ">" : element;
}

class StubHeader {
public:
    StubHeader(GeneratorBase &generator, const std::string &stub)
        : generator(generator), name(generator.generator_name()) {
        std::tie(spaces, type_name) = split_name(stub);
    }

    std::string text() {
        std::string guard = "TESSERA_STUB_" + name + "_H";
        line(str("#ifndef ", guard, "\n#define ", guard));
        line("#include <tessera_generator.h>\n");
        line("namespace tessera_generators {\nstd::unique_ptr<tessera::GeneratorBase> make_" +
             name + "(const tessera::GeneratorContext &context);\n}\n");
        for (const std::string &s : spaces) line("namespace " + s + " {");
        line(str("// Calls the generator ", name, ", which has to be linked into this program."));
        line("struct " + type_name + " {");
        for (const GeneratorParamBase *p : generator.generator_params()) write_enum(*p);
        write_params();
        write_inputs();
        write_outputs();
        write_generate();
        line("};");
        for (size_t i = 0; i < spaces.size(); i++) line("}");
        line("\n#endif");
        return header;
    }

private:
    void line(const std::string &text) { header += text + "\n"; }

    // Returns true if it is an enum in the header: otherwise its values are texts.
    static bool is_enum(const GeneratorParamBase &p) {
        const std::vector<std::string> names = p.enum_names(), keywords = program::cpp_keywords();
        auto is_name = [&](const std::string &n) {
            bool ok = !n.empty() && !std::isdigit(uint8_t(n[0]));
            for (char c : n) ok &= std::isalnum(uint8_t(c)) || c == '_';
            return ok && std::ranges::find(keywords, n) == keywords.end();
        };
        return !names.empty() && std::ranges::all_of(names, is_name);
    }
    void write_enum(const GeneratorParamBase &p) {
        if (!is_enum(p)) return;
        const std::string type = "Enum_" + p.name();
        line(str("    enum class ", type, " { ", join(p.enum_names()), " };"));
        line(str("    static const char *text_of(", type, " value) {\n        switch (value) {"));
        for (const std::string &n : p.enum_names()) {
            line(str("        case ", type, "::", n, ": return \"", n, "\";"));
        }
        line("        }\n        return \"\";\n    }");
    }
    void write_params() {
        line("    struct GeneratorParams {");
        for (const GeneratorParamBase *p : generator.generator_params()) {
            const std::string type = "Enum_" + p->name();
            line(is_enum(*p) ? str("        ", type, " ", p->name(), " = ", type,
                                   "::", p->value_text(), ";")
                             : str("        ", p->cpp_type(), " ", p->name(), " = ", p->cpp_value(),
                                   ";  // ", p->type_text()));
        }
        for (const auto &[argument, property] : open_properties()) {
            line(str("        ", property == "type" ? "tessera::Type " : "int ", argument, "_",
                     property, property == "type" ? ";" : " = -1;",
                     "  // if it is not given by what "
                     "stands for ",
                     argument));
        }
        line("    };");
    }
    // Those that neither the C++ type nor whoever writes the stub has said; but a parameter of the
    // field's name is what says it.
    std::vector<std::pair<std::string, std::string>> open_properties() const {
        std::vector<std::pair<std::string, std::string>> open;
        auto add_one = [&](const std::string &argument, const char *property) {
            const std::string field = argument + "_" + property;
            auto has_it = [&](const GeneratorParamBase *p) { return p->name() == field; };
            if (std::ranges::any_of(generator.generator_params(), has_it)) return;
            open.emplace_back(argument, property);
        };
        auto add = [&](const ArgumentShape &s) {
            if (s.types.empty()) add_one(s.name, "type");
            if (s.dimensions == ArgumentShape::open) add_one(s.name, "dim");
            if (s.size == ArgumentShape::open) add_one(s.name, "size");
        };
        for (const GeneratorInput *i : generator.generator_inputs()) add(i->shape());
        for (const GeneratorOutput *o : generator.generator_outputs()) add(o->shape());
        return open;
    }
    void write_inputs() {
        line("    struct Inputs {");
        for (const GeneratorInput *i : generator.generator_inputs()) {
            line(str("        ", input_type(i->shape()), " ", i->shape().name, ";"));
        }
        line("    };");
    }
    void write_outputs() {
        line("    struct Outputs {");
        for (const GeneratorOutput *o : generator.generator_outputs()) {
            line(str("        ",
                     o->shape().is_array ? "std::vector<tessera::Func>" : "tessera::Func", " ",
                     o->shape().name, ";"));
        }
        line("        tessera::Target target;\n");
        write_use_of_outputs();
        line("    };");
    }
    void write_use_of_outputs() {
        line("        tessera::Pipeline get_pipeline() const {\n"
             "            std::vector<tessera::Func> all;");
        for (const GeneratorOutput *o : generator.generator_outputs()) {
            const std::string &n = o->shape().name;
            line(o->shape().is_array
                     ? str("            all.insert(all.end(), ", n, ".begin(), ", n, ".end());")
                     : str("            all.push_back(", n, ");"));
        }
        line("            return tessera::Pipeline(all);\n        }");
        line(
            "        tessera::Realization realize(const std::vector<int32_t> &sizes = {}) const {\n"
            "            return get_pipeline().realize(sizes, target);\n        }");
        const auto &outputs = generator.generator_outputs();
        if (outputs.size() != 1 || outputs[0]->shape().is_array) return;
        const std::string &n = outputs[0]->shape().name;
        line("        operator tessera::Func() const { return " + n + "; }");
        line("        template<typename... Args>\n"
             "        auto operator()(const Args &...args) const {\n            return " +
             n + "(args...);\n        }");
    }
    void write_generate() {
        bool any_params = !generator.generator_params().empty() || !open_properties().empty();
        line("    static Outputs generate(const tessera::GeneratorContext &context,\n"
             "                            const Inputs &inputs) {\n"
             "        return generate(context, inputs, GeneratorParams());\n    }");
        line(str("    static Outputs generate(const tessera::GeneratorContext &context,\n"
                 "                            const Inputs &inputs, const GeneratorParams &",
                 any_params ? "params" : "", ") {"));
        line(str("        tessera::GeneratorStub stub(tessera_generators::make_", name,
                 "(context));"));
        for (const GeneratorParamBase *p : generator.generator_params()) {
            bool named = is_enum(*p);
            line(str("        stub.set(\"", p->name(), "\", ", named ? "text_of(" : "", "params.",
                     p->name(), named ? "));" : ");"));
        }
        for (const auto &[argument, property] : open_properties()) {
            const std::string field = str("params.", argument, "_", property);
            line(str("        if (", field, property == "type" ? ".defined()" : " >= 0",
                     ") stub.set(\"", argument, ".", property, "\", ", field, ");"));
        }
        for (const auto &[param, value] : fixed) {
            line(
                str("        stub.set(", detail::quoted(param), ", ", detail::quoted(value), ");"));
        }
        for (const GeneratorInput *i : generator.generator_inputs()) {
            const std::string &n = i->shape().name;
            line(str("        stub.input(\"", n, "\", inputs.", n, ");"));
        }
        line("        Outputs outputs;");
        for (const GeneratorOutput *o : generator.generator_outputs()) {
            const std::string &n = o->shape().name;
            line(str("        outputs.", n, " = stub.", o->shape().is_array ? "outputs" : "output",
                     "(\"", n, "\");"));
        }
        line("        outputs.target = context.target();\n        return outputs;\n    }");
    }

    GeneratorBase &generator;
    std::string name, type_name, header;
    std::vector<std::string> spaces;

public:
    std::vector<std::pair<std::string, std::string>> fixed;  // properties of arguments
};

}  // namespace

std::string to_stub_header(const std::string &name, const GeneratorContext &context,
                           const std::map<std::string, std::string> &params) {
    auto generator = GeneratorRegistry::create(name, context);
    for (const auto &[param, text] : params) generator->set_generator_param(param, text);
    generator->configure_now();
    StubHeader header(*generator, GeneratorRegistry::stub_name(name));
    // Those of parameters are the defaults in the header.
    for (const auto &[param, text] : params) {
        if (param.find('.') != std::string::npos) header.fixed.emplace_back(param, text);
    }
    return header.text();
}

}  // namespace tessera
