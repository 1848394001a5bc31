#pragma once
#include "aot/registry.h"

namespace tessera {

// The value of a parameter, when a generator is called from C++.
class ParamValue {
public:
    ParamValue(const std::string &text) : value_text(text) {}
    ParamValue(const char *text) : value_text(text) {}
    template<typename T>
    requires std::is_arithmetic_v<T>
    ParamValue(T value) : value_text(detail::text_of_value(value)) {}
    ParamValue(Type type) : value_text(str(type)) {}
    ParamValue(const Target &target) : value_text(str(target)) {}
    ParamValue(const LoopLevel &level) : loop_level(level), is_level(true) {}

    void set(GeneratorBase &generator, const std::string &name) const;

private:
    std::string value_text;
    LoopLevel loop_level;
    bool is_level = false;
};

// A generator of this program, called by its name:
//
//     GeneratorStub blur("blur", context);
//     blur.set("radius", 3).input("input", some_func);
//     Func blurred = blur.output("output");
//
// Its pipeline becomes part of the caller's. An input that is given nothing becomes an argument of
// the caller's compiled function. A handle: copies are the same call.
class GeneratorStub {
public:
    GeneratorStub(const std::string &generator, const GeneratorContext &context)
        : GeneratorStub(GeneratorRegistry::create(generator, context)) {}
    explicit GeneratorStub(std::unique_ptr<GeneratorBase> generator)
        : generator(std::move(generator)) {}

    GeneratorStub &set(const std::string &param, const ParamValue &value);
    GeneratorStub &input(const std::string &name, const InputValues &values);
    // Makes the pipeline, the first time. CompileError if there is no such output, or (output) if
    // it is an array.
    Func output(const std::string &name);
    std::vector<Func> outputs(const std::string &name);
    Pipeline pipeline() { return generator->get_pipeline(); }

private:
    std::shared_ptr<GeneratorBase> generator;
};

// The generator's pipeline, compiled for this process: a function object of its inputs and outputs
// (lang/callable.h).
Callable create_callable_from_generator(const GeneratorContext &context, const std::string &name,
                                        const std::map<std::string, std::string> &params = {});

// A header with a struct, called like the generator's stub, that calls the generator with
// `params` set: its inputs, parameters and outputs as fields. An enum is one there, too, if the
// names of its values are names of C++; what inputs and outputs leave open are fields such as
// in_type.
std::string to_stub_header(const std::string &name, const GeneratorContext &context,
                           const std::map<std::string, std::string> &params = {});

}  // namespace tessera
