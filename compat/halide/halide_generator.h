#pragma once
#include "halide_abstract_generator.h"
#include "halide_names.h"
#include "tessera_generator.h"
#include <map>
#include <memory>
#include <string>

// Generators by Halide's names. They are Tessera's own (aot/generator.h): the same registry,
// command line and files.
namespace Halide {

using tessera::GeneratorParam;
template<typename T>
using GeneratorInput = tessera::Input<T>;
template<typename T>
using GeneratorOutput = tessera::Output<T>;

template<typename T>
class Generator : public tessera::Generator<T>, public Internal::TesseraGenerator {
public:
    // `name`: for messages.
    static std::unique_ptr<T> create(const GeneratorContext &context,
                                     const std::string &name = "a generator that is called") {
        return tessera::Generator<T>::make(name, context);
    }
    static std::unique_ptr<T> create(const GeneratorContext &context, const std::string &name,
                                     const std::string & /*stub*/) {
        return create(context, name);
    }
    // Another generator, to be called by this one.
    template<typename Other>
    std::unique_ptr<Other> create() const {
        return context().template create<Other>();
    }
    using tessera::Generator<T>::apply;

    GeneratorContext context() const override { return tessera::GeneratorBase::context(); }
    AutoschedulerParams autoscheduler_params() const { return context().autoscheduler_params(); }
    void set_generator_param_values(const GeneratorParamsMap &values) {
        this->set_generatorparam_values(values);
    }
    tessera::GeneratorBase &base() final { return *this; }

    // The language's names within the class, for those who do not write `using namespace Halide`.
    using ExternFuncArgument = Halide::ExternFuncArgument;
    using NameMangling = Halide::NameMangling;
    using Range = Halide::Range;
    using Region = Halide::Region;
    template<typename U = void>
    using Param = Halide::Param<U>;
    static Type Bool(int lanes = 1) { return tessera::Bool(lanes); }
    static Type Int(int bits, int lanes = 1) { return tessera::Int(bits, lanes); }
    static Type UInt(int bits, int lanes = 1) { return tessera::UInt(bits, lanes); }
    static Type Float(int bits, int lanes = 1) { return tessera::Float(bits, lanes); }
    static Type BFloat(int bits, int lanes = 1) { return tessera::BFloat(bits, lanes); }
    template<typename U>
    static constexpr Type type_of() {
        return tessera::type_of<U>();
    }
    template<typename U>
    static Expr cast(Expr e, tessera::Location at = tessera::Here::current()) {
        return tessera::cast<U>(std::move(e), at);
    }
    static Expr cast(Type t, Expr e, tessera::Location at = tessera::Here::current()) {
        return tessera::cast(t, std::move(e), at);
    }

protected:
    Generator() = default;

    const Target target = this->get_target();
};

// The pipeline of a registered generator, compiled for this process.
inline Callable create_callable_from_generator(const GeneratorContext &context,
                                               const std::string &name,
                                               const GeneratorParamsMap &params = {}) {
    return tessera::create_callable_from_generator(context, name, params);
}
inline Callable create_callable_from_generator(const Target &target, const std::string &name,
                                               const GeneratorParamsMap &params = {}) {
    return create_callable_from_generator(GeneratorContext(target), name, params);
}

}  // namespace Halide

#define HALIDE_REGISTER_GENERATOR(...) TESSERA_REGISTER_GENERATOR(__VA_ARGS__)
#define HALIDE_REGISTER_GENERATOR_ALIAS(name, original, ...)                                       \
    TESSERA_REGISTER_GENERATOR_ALIAS(name, original, __VA_ARGS__)
