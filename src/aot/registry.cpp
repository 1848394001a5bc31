#include "aot/registry.h"
#include <map>
#include <mutex>
#include <optional>

namespace tessera {
namespace {

struct Registered {
    std::string stub;
    GeneratorFactory factory;
    bool twice = false;  // registered again: reported when it is looked up
};

// Filled while the program starts, and by scripts and notebooks of Python's at any time.
struct Registry {
    std::mutex mutex;
    std::map<std::string, Registered> all;
};
Registry &registry() {
    static auto *only = new Registry;
    return *only;
}

std::optional<Registered> look_up(const std::string &name) {
    std::lock_guard lock(registry().mutex);
    const auto found = registry().all.find(name);
    return found == registry().all.end() ? std::nullopt : std::optional(found->second);
}

Registered find(const std::string &name) {
    std::optional<Registered> found = look_up(name);
    if (!found) {
        throw CompileError(
            str("there is no generator ", name, choices_text(name, GeneratorRegistry::names())));
    }
    if (!found->twice) return *std::move(found);
    throw CompileError(str("two generators are registered as ", name));
}

}  // namespace

void GeneratorRegistry::add(const std::string &name, const std::string &stub,
                            GeneratorFactory factory) {
    std::lock_guard lock(registry().mutex);
    auto [place, is_new] = registry().all.try_emplace(name);
    place->second = {stub.empty() ? name : stub, std::move(factory), !is_new};
}

void GeneratorRegistry::remove(const std::string &name) {
    std::lock_guard lock(registry().mutex);
    registry().all.erase(name);
}

std::vector<std::string> GeneratorRegistry::names() {
    std::lock_guard lock(registry().mutex);
    std::vector<std::string> names;
    for (const auto &[name, generator] : registry().all) names.push_back(name);
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
