#include "aot/generator_base.h"
#include "base/large_stack.h"
#include <algorithm>

namespace tessera {
namespace {

thread_local GeneratorBase::Construction *innermost = nullptr;

}  // namespace

GeneratorBase::Construction::Construction(const std::string &name, const GeneratorContext &context)
    : name(name), context_of_new(context), outer(innermost) {
    innermost = this;
}
GeneratorBase::Construction::~Construction() { innermost = outer; }

GeneratorBase::GeneratorBase() {
    if (!innermost || innermost->made) {
        throw CompileError("a generator is made by create<...>(), or by its name in the registry");
    }
    innermost->made = this;
    registered_name = innermost->name;
    made_for = innermost->context_of_new;
}

GeneratorBase &GeneratorBase::under_construction(const char *what, const std::string &name) {
    if (innermost && innermost->made) return *innermost->made;
    throw CompileError(str("the ", what, " ", name, " has to be a member of a Generator"));
}

// ---- Names ----

void GeneratorBase::require_new_name(const std::string &name) const {
    bool is_name = !name.empty() && !std::isdigit(uint8_t(name[0]));
    for (char c : name) is_name &= std::isalnum(uint8_t(c)) || c == '_';
    if (!is_name || name == "target" || name == "autoscheduler") {
        throw CompileError(str("\"", name,
                               "\" cannot be the name of a parameter, an input or an "
                               "output of ",
                               registered_name));
    }
    auto is_it = [&](const auto *a) { return a->shape().name == name; };
    auto is_param = [&](const GeneratorParamBase *p) { return p->name() == name; };
    if (std::ranges::any_of(params, is_param) || std::ranges::any_of(inputs, is_it) ||
        std::ranges::any_of(outputs, is_it)) {
        throw CompileError(
            str(registered_name, " has two parameters, inputs or outputs named ", name));
    }
}

void GeneratorBase::add_param(GeneratorParamBase *p, const std::string &name) {
    require_new_name(name);
    params.push_back(p);
}

std::vector<std::string> GeneratorBase::settable_names() const {
    std::vector<std::string> names;
    for (const GeneratorParamBase *p : params) names.push_back(p->name());
    auto add_properties = [&](const ArgumentShape &s) {
        if (s.types.empty()) names.push_back(s.name + ".type");
        if (s.dimensions == ArgumentShape::open) names.push_back(s.name + ".dim");
        if (s.size == ArgumentShape::open) names.push_back(s.name + ".size");
    };
    for (const GeneratorInput *a : inputs) add_properties(a->shape());
    for (const GeneratorOutput *a : outputs) add_properties(a->shape());
    return names;
}

void GeneratorBase::refuse_name(const char *what, const std::string &name,
                                const std::vector<std::string> &all) const {
    throw CompileError(str("the generator ", registered_name, " has no ", what, " ", name,
                           choices_text(name, all, "it has")));
}

template<typename Argument>
static Argument *find_argument(const std::vector<Argument *> &all, const std::string &name,
                               std::vector<std::string> &names) {
    for (Argument *a : all) {
        if (a->shape().name == name) return a;
        names.push_back(a->shape().name);
    }
    return nullptr;
}

GeneratorInput &GeneratorBase::find_input(const std::string &name) const {
    std::vector<std::string> names;
    if (GeneratorInput *found = find_argument(inputs, name, names)) return *found;
    refuse_name("input", name, names);
}
GeneratorOutput &GeneratorBase::find_output(const std::string &name) const {
    std::vector<std::string> names;
    if (GeneratorOutput *found = find_argument(outputs, name, names)) return *found;
    refuse_name("output", name, names);
}

bool GeneratorBase::set_known(const std::string &name, const std::string &text) {
    for (GeneratorParamBase *p : params) {
        if (p->name() != name) continue;
        p->set_from_string(text);
        return true;
    }
    size_t dot = name.find('.');
    if (dot == std::string::npos) return false;
    std::string argument = name.substr(0, dot), property = name.substr(dot + 1);
    std::vector<std::string> names;
    if (auto *input = find_argument(inputs, argument, names)) {
        return input->set_property(property, text);
    }
    auto *output = find_argument(outputs, argument, names);
    return output && output->set_property(property, text);
}

void GeneratorBase::set_autoscheduler(const std::string &name, const std::string &text) {
    if (phase == Phase::Built)
        throw CompileError(
            str(name, "= of ", registered_name, " comes too late: the pipeline has been made"));
    AutoschedulerParams scheduler = made_for.autoscheduler_params();
    size_t dot = name.find('.');
    if (dot == std::string::npos)
        scheduler.name = text;
    else
        scheduler.extra[name.substr(dot + 1)] = text;
    made_for = GeneratorContext(made_for.target(), scheduler);
}

void GeneratorBase::set_generator_param(const std::string &name, const std::string &text) {
    if (name.substr(0, name.find('.')) == "autoscheduler") return set_autoscheduler(name, text);
    if (set_known(name, text)) return;
    if (phase != Phase::Constructed) refuse_name("parameter", name, settable_names());
    to_set.emplace_back(name, text);
}

void GeneratorBase::set_generator_param(const std::string &name, const LoopLevel &level) {
    for (GeneratorParamBase *p : params) {
        auto *levels = dynamic_cast<GeneratorParam<LoopLevel> *>(p);
        if (p->name() == name && levels) return levels->set(level);
    }
    refuse_name("LoopLevel among its parameters named", name, settable_names());
}

// ---- The pipeline ----

void GeneratorBase::configure_now() {
    if (phase != Phase::Constructed) return;
    configure();
    phase = Phase::Configured;
    for (const auto &[name, text] : to_set) {
        if (!set_known(name, text)) refuse_name("parameter", name, settable_names());
    }
}

void GeneratorBase::bind_inputs(const std::vector<InputValues> &values) {
    configure_now();
    if (values.size() != inputs.size()) {
        throw CompileError(str("the generator ", registered_name, " has ", inputs.size(),
                               " inputs, but ", values.size(), " are given"));
    }
    for (size_t i = 0; i < values.size(); i++) inputs[i]->bind(values[i]);
}

Realization GeneratorBase::realize(const std::vector<int32_t> &sizes, Location at) {
    return get_pipeline().realize(sizes, get_target(), at);
}
Realization GeneratorBase::realize(JITUserContext *context, const std::vector<int32_t> &sizes,
                                   Location at) {
    return get_pipeline().realize(context, sizes, get_target(), at);
}
void GeneratorBase::realize(const RealizationArg &outputs, Location at) {
    get_pipeline().realize(outputs, get_target(), at);
}
void GeneratorBase::realize(JITUserContext *context, const RealizationArg &outputs, Location at) {
    get_pipeline().realize(context, outputs, get_target(), at);
}

void GeneratorBase::build() {
    for (GeneratorInput *input : inputs) input->make_elements();
    for (GeneratorOutput *output : outputs) output->prepare();
    phase = Phase::Built;
    generate();
    schedule();
    std::vector<Func> funcs;
    for (GeneratorOutput *output : outputs) {
        output->check();
        for (const Func &f : output->funcs()) funcs.push_back(f);
    }
    if (funcs.empty()) throw CompileError(str("the generator ", registered_name, " has no output"));
    Pipeline made(funcs);
    for (const program::Requirement &r : requirements)
        made.add_requirement({r.condition, r.at}, r.message);
    with_large_stack([&] {
        for (GeneratorParamBase *p : params) p->resolve(made);
        return 0;
    });
    pipeline = made;
}

Pipeline GeneratorBase::get_pipeline() {
    configure_now();
    if (phase == Phase::Configured) build();
    if (!pipeline.defined()) {
        throw CompileError(str("the generator ", registered_name, " has made no pipeline"));
    }
    return pipeline;
}

Pipeline GeneratorBase::get_scheduled_pipeline() {
    Pipeline made = get_pipeline();
    const AutoschedulerParams &scheduler = made_for.autoscheduler_params();
    if (!using_autoscheduler()) {
        if (scheduler.extra.empty()) return made;
        throw CompileError(str("autoscheduler.", scheduler.extra.begin()->first,
                               " is given, but no autoscheduler"));
    }
    if (!is_autoscheduled) made.apply_autoscheduler(get_target(), scheduler, Location());
    is_autoscheduled = true;
    return made;
}

std::vector<Argument> GeneratorBase::pipeline_arguments() const {
    std::vector<Argument> all;
    for (const GeneratorInput *input : inputs) {
        all.insert(all.end(), input->arguments().begin(), input->arguments().end());
    }
    return all;
}

std::vector<std::string> GeneratorBase::output_names() const {
    std::vector<std::string> all;
    for (const GeneratorOutput *output : outputs) {
        for (const std::string &name : output->names()) all.push_back(name);
    }
    return all;
}

}  // namespace tessera
