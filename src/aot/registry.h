#pragma once
#include "aot/generator.h"
#include <functional>
#include <map>

namespace tessera {

using GeneratorFactory =
    std::function<std::unique_ptr<GeneratorBase>(const GeneratorContext &context)>;

// The generators of this program, by their names.
class GeneratorRegistry {
public:
    // `stub`: what the header of its stub calls it; may be within namespaces, a::b. Empty: the
    // name.
    static void add(const std::string &name, const std::string &stub, GeneratorFactory factory);
    static void remove(const std::string &name);
    static std::vector<std::string> names();
    static std::string stub_name(const std::string &name);
    // CompileError if there is none of this name, or are two.
    static std::unique_ptr<GeneratorBase> create(const std::string &name,
                                                 const GeneratorContext &context);
    // The generator `original` with parameters set, under another name.
    static std::unique_ptr<GeneratorBase>
    create_alias(const std::string &name, const std::string &original,
                 const GeneratorContext &context, const std::map<std::string, std::string> &params);
};

// Makes generators by their names: from the registry, or from something else of a program's own.
class GeneratorSource {
public:
    virtual ~GeneratorSource() = default;
    virtual std::vector<std::string> names() const { return GeneratorRegistry::names(); }
    // CompileError if there is none of this name.
    virtual std::unique_ptr<GeneratorBase> create(const std::string &name,
                                                  const GeneratorContext &context) const {
        return GeneratorRegistry::create(name, context);
    }
};

struct RegisterGenerator {
    RegisterGenerator(const char *name, const char *stub, GeneratorFactory factory) {
        GeneratorRegistry::add(name, stub, std::move(factory));
    }
};

}  // namespace tessera

// One line outside of all namespaces: (Class, name), or (Class, name, stub_name); a class with a
// comma in its name in parentheses. The header of a stub calls the function that it defines, so
// that a program without this generator does not link.
#define TESSERA_REGISTER_GENERATOR(...)                                                            \
    TESSERA_CHOOSE_REGISTRATION(__VA_ARGS__, TESSERA_REGISTER_WITH_STUB,                           \
                                TESSERA_REGISTER_WITHOUT_STUB, )                                   \
    (__VA_ARGS__)
#define TESSERA_CHOOSE_REGISTRATION(a, b, c, chosen, ...) chosen
#define TESSERA_REGISTER_WITHOUT_STUB(generator, name)                                             \
    TESSERA_REGISTER_WITH_STUB(generator, name, name)
// NOLINTBEGIN(bugprone-macro-parentheses): a class may come in parentheses, but not in two
#define TESSERA_REGISTER_WITH_STUB(generator, name, stub)                                          \
    TESSERA_REGISTER_FACTORY(                                                                      \
        name, #stub, (std::remove_pointer_t<decltype(new generator)>::make(#name, context)))
// NOLINTEND(bugprone-macro-parentheses)
// Another name for a registered generator with some parameters set: (name, original, {{"radius",
// "3"}}). Whoever runs it may set them to something else.
#define TESSERA_REGISTER_GENERATOR_ALIAS(name, original, ...)                                      \
    TESSERA_REGISTER_FACTORY(                                                                      \
        name, #name,                                                                               \
        (tessera::GeneratorRegistry::create_alias(#name, #original, context, __VA_ARGS__)))
#define TESSERA_REGISTER_FACTORY(name, stub, made)                                                 \
    namespace tessera_generators {                                                                 \
    std::unique_ptr<tessera::GeneratorBase> make_##name(const tessera::GeneratorContext &context); \
    std::unique_ptr<tessera::GeneratorBase>                                                        \
    make_##name(const tessera::GeneratorContext &context) {                                        \
        return made;                                                                               \
    }                                                                                              \
    static const tessera::RegisterGenerator register_##name(#name, stub, make_##name);             \
    }
