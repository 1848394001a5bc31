#pragma once
#include "aot/generator_context.h"
#include "aot/generator_param.h"
#include "aot/input.h"
#include "aot/output.h"
#include <map>
#include <memory>

namespace tessera {

// The base of all generators: parameters, inputs and outputs, and from them a pipeline. In this
// order: parameters are set, configure() is called, inputs are bound or become arguments of the
// compiled function, generate() and schedule() are called.
class GeneratorBase {
public:
    // While it lives, the next generator to be constructed on this thread is for `context`, and
    // members register with that one. Constructions nest.
    class Construction {
    public:
        Construction(const std::string &name, const GeneratorContext &context);
        ~Construction();
        Construction(const Construction &) = delete;
        Construction &operator=(const Construction &) = delete;

    private:
        friend class GeneratorBase;
        std::string name;
        GeneratorContext context_of_new;
        GeneratorBase *made = nullptr;
        Construction *outer;
    };

    virtual ~GeneratorBase() = default;
    GeneratorBase(const GeneratorBase &) = delete;
    GeneratorBase &operator=(const GeneratorBase &) = delete;

    const std::string &generator_name() const { return registered_name; }

    // ---- For generate() and schedule() ----
    const GeneratorContext &context() const { return made_for; }
    Target get_target() const { return made_for.target(); }
    // Returns true if an autoscheduler makes the schedule, and schedule() leaves it to that.
    bool using_autoscheduler() const { return !made_for.autoscheduler_params().name.empty(); }
    template<typename T>
    int natural_vector_size() const {
        return get_target().natural_vector_size<T>();
    }
    int natural_vector_size(const Type &type) const {
        return get_target().natural_vector_size(type);
    }
    // The caller of the compiled function has to meet the condition.
    template<std::convertible_to<Expr>... Message>
    void add_requirement(const WrittenExpr &condition, const Message &...message) {
        add_requirement(condition, std::vector<Expr>{Expr(message)...});
    }
    void add_requirement(const WrittenExpr &condition, const std::vector<Expr> &message) {
        requirements.push_back({condition, message, condition.at});
    }

    // ---- For configure() ----
    template<typename T, typename... Args>
    Input<T> *add_input(const Args &...args) {
        return add<Input<T>>(args...);
    }
    template<typename T, typename... Args>
    Output<T> *add_output(const Args &...args) {
        return add<Output<T>>(args...);
    }

    // An output of several values: add_output<Func>("sums", {Int(32), Float(32)}, 2).
    template<typename T>
    Input<T> *add_input(const std::string &name, const ArgumentTypes &types,
                        int dimensions = ArgumentShape::open) {
        return add<Input<T>>(name, types, dimensions);
    }
    template<typename T>
    Output<T> *add_output(const std::string &name, const ArgumentTypes &types,
                          int dimensions = ArgumentShape::open) {
        return add<Output<T>>(name, types, dimensions);
    }

    // ---- What there is ----
    const std::vector<GeneratorParamBase *> &generator_params() const { return params; }
    // Those that configure() adds are there after configure_now().
    const std::vector<GeneratorInput *> &generator_inputs() const { return inputs; }
    const std::vector<GeneratorOutput *> &generator_outputs() const { return outputs; }
    GeneratorInput &find_input(const std::string &name) const;
    GeneratorOutput &find_output(const std::string &name) const;

    // ---- Using it ----
    // Sets a parameter, or a property of an input or output: name.type, name.dim, name.size. Before
    // configure(), a name may be one of what that adds. "autoscheduler" names the one that makes
    // the schedule, autoscheduler.name one of its options.
    virtual void set_generator_param(const std::string &name, const std::string &text);
    virtual void set_generator_param(const std::string &name, const LoopLevel &level);
    // CompileError if a name that was set is none.
    void configure_now();
    // Passes the inputs, in the order of their declarations, and makes the outputs.
    template<typename... Args>
    void apply(const Args &...args) {
        bind_inputs({InputValues(args)...});
        get_pipeline();
    }
    // The same, without making the outputs yet.
    template<typename... Args>
    void set_inputs(const Args &...args) {
        bind_inputs({InputValues(args)...});
    }
    void bind_inputs(const std::vector<InputValues> &values);
    // Runs its pipeline on this machine, for the generator's target; inputs are those of apply().
    Realization realize(const std::vector<int32_t> &sizes = {}, Location at = Here::current());
    Realization realize(std::initializer_list<int32_t> sizes, Location at = Here::current()) {
        return realize(std::vector<int32_t>(sizes), at);
    }
    Realization realize(JITUserContext *context, const std::vector<int32_t> &sizes = {},
                        Location at = Here::current());
    void realize(const RealizationArg &outputs, Location at = Here::current());
    void realize(JITUserContext *context, const RealizationArg &outputs,
                 Location at = Here::current());
    // The pipeline, made on first use.
    virtual Pipeline get_pipeline();
    // The same, scheduled by the autoscheduler if there is to be one. CompileError if it is
    // unknown.
    Pipeline get_scheduled_pipeline();
    // Writes the header of its stub in its own way; false: it is what to_stub_header() makes.
    virtual bool write_stub(const std::string & /*path*/) { return false; }
    // The arguments of the compiled function: inputs, and the names of outputs, one per Func.
    virtual std::vector<Argument> pipeline_arguments() const;
    virtual std::vector<std::string> output_names() const;

protected:
    GeneratorBase();
    virtual void configure() {}
    virtual void generate() = 0;
    virtual void schedule() {}

private:
    friend class GeneratorParamBase;
    friend class GeneratorArgument;
    friend class GeneratorInput;
    friend class GeneratorOutput;

    // Returns the generator that is being constructed. CompileError if there is none: members
    // belong to generators.
    static GeneratorBase &under_construction(const char *what, const std::string &name);
    void require_new_name(const std::string &name) const;
    void add_param(GeneratorParamBase *p, const std::string &name);
    bool set_known(const std::string &name, const std::string &text);
    void set_autoscheduler(const std::string &name, const std::string &text);
    [[noreturn]] void refuse_name(const char *what, const std::string &name,
                                  const std::vector<std::string> &all) const;
    std::vector<std::string> settable_names() const;
    void build();

    template<typename Member, typename... Args>
    Member *add(const Args &...args) {
        Construction adding(registered_name, made_for);
        adding.made = this;
        auto member = std::make_shared<Member>(args...);
        added.push_back(member);
        return member.get();
    }

    std::string registered_name;
    GeneratorContext made_for;
    std::vector<GeneratorParamBase *> params;
    std::vector<GeneratorInput *> inputs;
    std::vector<GeneratorOutput *> outputs;
    std::vector<std::shared_ptr<void>> added;                 // by configure()
    std::vector<std::pair<std::string, std::string>> to_set;  // names that are not known yet
    std::vector<program::Requirement> requirements;
    enum class Phase : uint8_t { Constructed, Configured, Built } phase = Phase::Constructed;
    Pipeline pipeline;
    bool is_autoscheduled = false;
};

}  // namespace tessera
