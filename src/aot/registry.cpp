#include "aot/registry.h"
#include <map>

namespace tessera {
namespace {

struct Registered {
    std::string stub;
    GeneratorFactory factory;
    bool twice = false;  // registered again: reported when it is looked up
};

// Filled while the program starts, by one thread.
std::map<std::string, Registered> &registered() {
    static auto *all = new std::map<std::string, Registered>;
    return *all;
}

const Registered &find(const std::string &name) {
    auto found = registered().find(name);
    std::vector<std::string> all = GeneratorRegistry::names();
    if (found == registered().end()) {
        throw CompileError(str("there is no generator ", name, choices_text(name, all)));
    }
    if (!found->second.twice) return found->second;
    throw CompileError(str("two generators are registered as ", name));
}

}  // namespace

void GeneratorRegistry::add(const std::string &name, const std::string &stub,
                            GeneratorFactory factory) {
    auto [place, is_new] = registered().try_emplace(name);
    place->second = {stub.empty() ? name : stub, std::move(factory), !is_new};
}

void GeneratorRegistry::remove(const std::string &name) { registered().erase(name); }

std::vector<std::string> GeneratorRegistry::names() {
    std::vector<std::string> names;
    for (const auto &[name, generator] : registered()) names.push_back(name);
    return names;
}

std::string GeneratorRegistry::stub_name(const std::string &name) { return find(name).stub; }

std::unique_ptr<GeneratorBase> GeneratorRegistry::create(const std::string &name,
                                                         const GeneratorContext &context) {
    return find(name).factory(context);
}

std::unique_ptr<GeneratorBase>
GeneratorRegistry::create_alias(const std::string &name, const std::string &original,
                                const GeneratorContext &context,
                                const std::map<std::string, std::string> &params) {
    if (name == original) throw CompileError(str("the generator ", name, " is its own alias"));
    auto generator = create(original, context);
    for (const auto &[param, text] : params) generator->set_generator_param(param, text);
    return generator;
}

}  // namespace tessera
