#include "aot/stub.h"

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
    auto generator = GeneratorRegistry::create(name, context);
    for (const auto &[param, text] : params) generator->set_generator_param(param, text);
    Pipeline pipeline = generator->get_pipeline();
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

    void write_params() {
        line("    struct GeneratorParams {");
        for (const GeneratorParamBase *p : generator.generator_params()) {
            line(str("        ", p->cpp_type(), " ", p->name(), " = ", p->cpp_value(), ";  // ",
                     p->type_text()));
        }
        line("    };");
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
        line("        tessera::Target target;");
        line("    };");
    }
    void write_generate() {
        bool any_params = !generator.generator_params().empty();
        line("    static Outputs generate(const tessera::GeneratorContext &context,\n"
             "                            const Inputs &inputs) {\n"
             "        return generate(context, inputs, GeneratorParams());\n    }");
        line(str("    static Outputs generate(const tessera::GeneratorContext &context,\n"
                 "                            const Inputs &inputs, const GeneratorParams &",
                 any_params ? "params" : "", ") {"));
        line(str("        tessera::GeneratorStub stub(tessera_generators::make_", name,
                 "(context));"));
        for (const GeneratorParamBase *p : generator.generator_params()) {
            line(str("        stub.set(\"", p->name(), "\", params.", p->name(), ");"));
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
