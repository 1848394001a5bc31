#pragma once
#include "halide_names.h"
#include "halide_parameter.h"
#include "tessera_generator.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

// This is what Halide asks of anything that makes a pipeline by a name. Halide::Generator<> is one;
// a program may have others of its own, with other ways of declaring inputs and outputs.
namespace Halide {

using GeneratorParamsMap = std::map<std::string, std::string>;

// Says what a generator makes its pipeline for.
class GeneratorContext : public tessera::GeneratorContext {
public:
    using tessera::GeneratorContext::GeneratorContext;
    GeneratorContext() = default;
    GeneratorContext(const tessera::GeneratorContext &context)
        : tessera::GeneratorContext(context) {}

    GeneratorContext with_target(const Target &target) const {
        return GeneratorContext(target, autoscheduler_params());
    }
    template<typename G>
    std::unique_ptr<G> create() const {
        return G::create(*this);
    }
    // Makes a generator of another class and applies it to these inputs; it has the outputs.
    template<typename G, typename... Args>
    std::unique_ptr<G> apply(const Args &...args) const {
        auto generator = create<G>();
        generator->apply(args...);
        return generator;
    }
};

namespace Internal {

enum class ArgInfoKind : uint8_t { Scalar, Function, Buffer };
enum class ArgInfoDirection : uint8_t { Input, Output };

class AbstractGenerator {
public:
    struct ArgInfo {
        std::string name;
        ArgInfoDirection dir = ArgInfoDirection::Input;
        ArgInfoKind kind = ArgInfoKind::Scalar;
        std::vector<Type> types;
        int dimensions = 0;
    };

    virtual ~AbstractGenerator() = default;

    virtual std::string name() = 0;
    virtual GeneratorContext context() const = 0;
    // In the order of the compiled function's arguments: inputs, then outputs.
    virtual std::vector<ArgInfo> arginfos() = 0;
    virtual bool allow_out_of_order_inputs_and_outputs() const { return false; }
    // "target" and "autoscheduler" are in the context.
    virtual void set_generatorparam_value(const std::string &name, const std::string &value) = 0;
    virtual void set_generatorparam_value(const std::string &name, const LoopLevel &value) = 0;
    virtual Pipeline build_pipeline() = 0;
    // After build_pipeline(): of an array, one per element.
    virtual std::vector<Parameter> input_parameter(const std::string &name) = 0;
    virtual std::vector<Func> output_func(const std::string &name) = 0;
    // Before build_pipeline(): what stands for an input, where C++ calls the generator.
    virtual void bind_input(const std::string &name, const std::vector<Parameter> &v) = 0;
    virtual void bind_input(const std::string &name, const std::vector<Func> &v) = 0;
    virtual void bind_input(const std::string &name, const std::vector<Expr> &v) = 0;
    // False if there is no such file of this generator.
    virtual bool emit_cpp_stub(const std::string &path) = 0;
    virtual bool emit_hlpipe(const std::string & /*path*/) { return false; }

    // ---- What follows from these ----
    void set_generatorparam_values(const GeneratorParamsMap &values) {
        for (const auto &[name, value] : values) set_generatorparam_value(name, value);
    }
    // The pipeline, scheduled by the context's autoscheduler if it names one.
    Callable compile_to_callable(const JITHandlers *handlers = nullptr,
                                 const std::map<std::string, JITExtern> *externs = nullptr);
    // `function_name`: empty: the generator's own.
    Module build_module(const std::string &function_name = "");

private:
    bool was_scheduled = false;
};
using AbstractGeneratorPtr = std::unique_ptr<AbstractGenerator>;
using GeneratorFactory = std::function<AbstractGeneratorPtr(const GeneratorContext &context)>;

// Tessera's generators as Halide's.
class TesseraGenerator : public AbstractGenerator {
public:
    std::string name() override { return base().generator_name(); }
    GeneratorContext context() const override;
    std::vector<ArgInfo> arginfos() override;
    void set_generatorparam_value(const std::string &name, const std::string &value) override {
        base().set_generator_param(name, value);
    }
    void set_generatorparam_value(const std::string &name, const LoopLevel &value) override {
        base().set_generator_param(name, value);
    }
    Pipeline build_pipeline() override { return base().get_pipeline(); }
    std::vector<Parameter> input_parameter(const std::string &name) override;
    std::vector<Func> output_func(const std::string &name) override;
    void bind_input(const std::string &name, const std::vector<Parameter> &v) override;
    void bind_input(const std::string &name, const std::vector<Func> &v) override;
    void bind_input(const std::string &name, const std::vector<Expr> &v) override;
    bool emit_cpp_stub(const std::string &path) override;

    virtual tessera::GeneratorBase &base() = 0;
};

// A generator of either kind as one of the other.
std::unique_ptr<tessera::GeneratorBase> to_tessera(AbstractGeneratorPtr generator);
AbstractGeneratorPtr to_abstract(std::unique_ptr<tessera::GeneratorBase> generator);

// The generators of this program.
class GeneratorRegistry {
public:
    static void register_factory(const std::string &name, GeneratorFactory factory);
    static void unregister_factory(const std::string &name) {
        tessera::GeneratorRegistry::remove(name);
    }
    static std::vector<std::string> enumerate() { return tessera::GeneratorRegistry::names(); }
    // CompileError if there is none of this name.
    static AbstractGeneratorPtr create(const std::string &name, const GeneratorContext &context) {
        return to_abstract(tessera::GeneratorRegistry::create(name, context));
    }
};

struct RegisterGenerator {
    RegisterGenerator(const char *name, GeneratorFactory factory) {
        GeneratorRegistry::register_factory(name, std::move(factory));
    }
};

}  // namespace Internal
}  // namespace Halide
