#include "driver/files.h"
#include "halide_abstract_generator.h"

namespace Halide::Internal {
namespace {

using tessera::CompileError;
using tessera::GeneratorBase;

std::vector<Argument> arguments_of(AbstractGenerator &generator) {
    std::vector<Argument> all;
    for (const auto &info : generator.arginfos()) {
        if (info.dir == ArgInfoDirection::Output) continue;
        for (const Parameter &p : generator.input_parameter(info.name)) all.emplace_back(p.ref());
    }
    return all;
}

// Schedules the pipeline once, however often it is compiled.
Pipeline scheduled_pipeline(AbstractGenerator &generator, bool &was_scheduled) {
    Pipeline pipeline = generator.build_pipeline();
    const GeneratorContext context = generator.context();
    if (!context.autoscheduler_params().name.empty() && !was_scheduled)
        pipeline.apply_autoscheduler(context.target(), context.autoscheduler_params());
    was_scheduled = true;
    return pipeline;
}

// One of the program's own classes, for Tessera's command line and files.
class OfAbstract final : public GeneratorBase {
public:
    // Made within a GeneratorBase::Construction.
    explicit OfAbstract(AbstractGeneratorPtr generator) : generator(std::move(generator)) {}

    void set_generator_param(const std::string &name, const std::string &text) override {
        if (name.substr(0, name.find('.')) == "autoscheduler")
            return GeneratorBase::set_generator_param(name, text);
        generator->set_generatorparam_value(name, text);
    }
    void set_generator_param(const std::string &name, const LoopLevel &level) override {
        generator->set_generatorparam_value(name, level);
    }
    Pipeline get_pipeline() override {
        if (!made.defined()) made = generator->build_pipeline();
        return made;
    }
    std::vector<Argument> pipeline_arguments() const override { return arguments_of(*generator); }
    bool write_stub(const std::string &path) override {
        if (generator->emit_cpp_stub(path)) return true;
        throw CompileError("the generator " + generator_name() + " has no stub");
    }
    std::vector<std::string> output_names() const override {
        std::vector<std::string> all;
        for (const auto &info : generator->arginfos()) {
            if (info.dir == ArgInfoDirection::Input) continue;
            size_t n = generator->output_func(info.name).size();
            for (size_t i = 0; i < n; i++)
                all.push_back(n == 1 ? info.name : tessera::str(info.name, "_", i));
        }
        return all;
    }

    AbstractGeneratorPtr generator;

private:
    void generate() override {}
    Pipeline made;
};

// The other way round, of a class that is not derived from Halide::Generator.
class OfTessera final : public TesseraGenerator {
public:
    explicit OfTessera(std::unique_ptr<GeneratorBase> generator)
        : generator(std::move(generator)) {}
    GeneratorBase &base() override { return *generator; }
    std::unique_ptr<GeneratorBase> generator;
};

AbstractGenerator::ArgInfo info_of(const tessera::ArgumentShape &s, ArgInfoDirection direction) {
    return {s.name, direction, ArgInfoKind(s.kind), s.types, std::max(s.dimensions, 0)};
}

// Returns what `p` owns as a T; where it is none, null, and `p` keeps it.
template<typename T, typename U>
std::unique_ptr<T> cast_owner(std::unique_ptr<U> &p) {
    auto *other = dynamic_cast<T *>(p.get());
    if (other) p.release();
    return std::unique_ptr<T>(other);
}

}  // namespace

std::unique_ptr<GeneratorBase> to_tessera(AbstractGeneratorPtr generator) {
    if (!generator) return nullptr;
    if (auto same = cast_owner<GeneratorBase>(generator)) return same;
    if (auto *wrapped = dynamic_cast<OfTessera *>(generator.get()))
        return std::move(wrapped->generator);
    const GeneratorBase::Construction construction(generator->name(), generator->context());
    return std::make_unique<OfAbstract>(std::move(generator));
}

AbstractGeneratorPtr to_abstract(std::unique_ptr<GeneratorBase> generator) {
    if (!generator) return nullptr;
    if (auto same = cast_owner<AbstractGenerator>(generator)) return same;
    if (auto *wrapped = dynamic_cast<OfAbstract *>(generator.get()))
        return std::move(wrapped->generator);
    return std::make_unique<OfTessera>(std::move(generator));
}

void GeneratorRegistry::register_factory(const std::string &name, GeneratorFactory factory) {
    auto make = [factory = std::move(factory)](const tessera::GeneratorContext &context) {
        return to_tessera(factory(context));
    };
    tessera::GeneratorRegistry::add(name, "", make);
}

// ---- AbstractGenerator ----

Callable AbstractGenerator::compile_to_callable(const JITHandlers *handlers,
                                                const std::map<std::string, JITExtern> *externs) {
    Pipeline pipeline = scheduled_pipeline(*this, was_scheduled);
    if (handlers) pipeline.jit_handlers() = *handlers;
    if (externs) pipeline.set_jit_externs(*externs);
    return pipeline.compile_to_callable(arguments_of(*this), context().target());
}

Module AbstractGenerator::build_module(const std::string &function_name) {
    return scheduled_pipeline(*this, was_scheduled)
        .compile_to_module(arguments_of(*this), function_name.empty() ? name() : function_name,
                           context().target());
}

// ---- TesseraGenerator ----

GeneratorContext TesseraGenerator::context() const {
    return const_cast<TesseraGenerator *>(this)->base().context();
}

std::vector<AbstractGenerator::ArgInfo> TesseraGenerator::arginfos() {
    base().configure_now();
    std::vector<ArgInfo> all;
    for (const tessera::GeneratorInput *input : base().generator_inputs())
        all.push_back(info_of(input->shape(), ArgInfoDirection::Input));
    for (const tessera::GeneratorOutput *output : base().generator_outputs())
        all.push_back(info_of(output->shape(), ArgInfoDirection::Output));
    return all;
}

std::vector<Parameter> TesseraGenerator::input_parameter(const std::string &name) {
    base().get_pipeline();
    std::vector<Parameter> all;
    for (const Argument &a : base().find_input(name).arguments()) all.emplace_back(a.parameter);
    return all;
}

std::vector<Func> TesseraGenerator::output_func(const std::string &name) {
    base().get_pipeline();
    return base().find_output(name).funcs();
}

void TesseraGenerator::bind_input(const std::string &name, const std::vector<Parameter> &v) {
    base().configure_now();
    std::vector<tessera::InputValue> values;
    for (const Parameter &p : v) {
        if (p.is_buffer())
            values.emplace_back(tessera::ImageParam(p.ref()));
        else
            values.emplace_back(p.scalar_expr());
    }
    base().find_input(name).bind(values);
}

void TesseraGenerator::bind_input(const std::string &name, const std::vector<Func> &v) {
    base().configure_now();
    base().find_input(name).bind(v);
}

void TesseraGenerator::bind_input(const std::string &name, const std::vector<Expr> &v) {
    base().configure_now();
    base().find_input(name).bind(v);
}

bool TesseraGenerator::emit_cpp_stub(const std::string &path) {
    tessera::driver::write_text(path, tessera::to_stub_header(name(), context(), {}));
    return true;
}

}  // namespace Halide::Internal
