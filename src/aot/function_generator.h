#pragma once
#include "aot/registry.h"

// A plain function as a generator, its arguments described where it is registered:
//
//     Func brighten(Func input, Expr factor, int vector_size) {
//         Func output;
//         output(_) = u8_sat(input(_) * factor);
//         output.vectorize(output.args()[0], vector_size);
//         return output;
//     }
//     TESSERA_REGISTER_FUNCTION(brighten, brighten, InputArgument("input", UInt(8), 2),
//                               InputArgument("factor", Float(32)),
//                               ParamArgument("vector_size", 16),
//                               OutputArgument("output", UInt(8), 2))
//
// It may take a GeneratorContext or a Target first. Descriptions stand in the order of the
// arguments after that. It returns a Func, or a std::vector<Func> for several outputs.
namespace tessera {

// For an argument that is a Func, an ImageParam, or an Expr.
struct InputArgument {
    InputArgument(const std::string &name, const ArgumentTypes &types = {},
                  int dimensions = ArgumentShape::open)
        : name(name), types(types), dimensions(dimensions) {}
    std::string name;
    ArgumentTypes types;
    int dimensions;
};

struct OutputArgument : InputArgument {
    using InputArgument::InputArgument;
};

// For an argument of another type: what it is, unless whoever runs the generator sets it.
template<typename T>
struct ParamArgument {
    ParamArgument(const std::string &name, const T &value) : name(name), value(value) {}
    std::string name;
    T value;
};
ParamArgument(const std::string &, const char *) -> ParamArgument<std::string>;

namespace detail {

// The member of the generator that stands for an argument of type `A`.
template<typename A, typename Description>
struct FunctionMember {
    explicit FunctionMember(const Description &d) : member(d.name, A(d.value)) {}
    A get() const { return member.value(); }
    GeneratorParam<A> member;
};
template<>
struct FunctionMember<Func, InputArgument> {
    explicit FunctionMember(const InputArgument &d) : member(d.name, d.types, d.dimensions) {}
    Func get() const { return member; }
    Input<Func> member;
};
template<>
struct FunctionMember<ImageParam, InputArgument> {
    explicit FunctionMember(const InputArgument &d) : member(d.name, d.types, d.dimensions) {}
    ImageParam get() const { return member; }
    Input<Buffer<>> member;
};
template<>
struct FunctionMember<Expr, InputArgument> {
    explicit FunctionMember(const InputArgument &d) : member(d.name, d.types) {}
    Expr get() const { return member; }
    Input<Expr> member;
};

template<typename Description>
auto unless_output(const Description &d) {
    if constexpr (std::is_same_v<Description, OutputArgument>)
        return std::tuple<>();
    else
        return std::tuple<Description>(d);
}

template<typename Function, typename Arguments, typename Descriptions>
class FunctionGenerator;

template<typename Function, typename... Arguments, typename... Descriptions>
class FunctionGenerator<Function, std::tuple<Arguments...>, std::tuple<Descriptions...>> final
    : public GeneratorBase {
    static_assert(sizeof...(Arguments) == sizeof...(Descriptions),
                  "every argument of the function wants a description");
    template<typename A>
    using Value = std::remove_cvref_t<A>;

public:
    FunctionGenerator(Function f, const std::tuple<Descriptions...> &described,
                      const std::vector<OutputArgument> &described_outputs)
        : function(f), members{make_members(described)} {
        for (const OutputArgument &o : described_outputs) {
            defined.push_back(std::make_unique<Output<Func>>(o.name, o.types, o.dimensions));
        }
    }

private:
    using Members = std::tuple<std::unique_ptr<FunctionMember<Value<Arguments>, Descriptions>>...>;

    static Members make_members(const std::tuple<Descriptions...> &described) {
        return std::apply(
            [](const auto &...d) {
                // Braces: in this order.
                return Members{
                    std::make_unique<FunctionMember<Value<Arguments>, Descriptions>>(d)...};
            },
            described);
    }
    void generate() override {
        auto result =
            std::apply([&](const auto &...m) { return function(context(), m->get()...); }, members);
        std::vector<Func> funcs;
        if constexpr (std::is_same_v<decltype(result), Func>)
            funcs = {result};
        else
            funcs = result;
        if (funcs.size() != defined.size()) {
            throw CompileError(str("the function ", generator_name(), " returned ", funcs.size(),
                                   " Funcs, but ", defined.size(), " outputs are described"));
        }
        for (size_t i = 0; i < funcs.size(); i++) *defined[i] = funcs[i];
    }

    Function function;
    Members members;
    std::vector<std::unique_ptr<Output<Func>>> defined;
};

template<typename Arguments, typename Function, typename... Described>
std::unique_ptr<GeneratorBase> make_function_generator(const char *name,
                                                       const GeneratorContext &context, Function f,
                                                       const Described &...described) {
    auto inputs = std::tuple_cat(unless_output(described)...);
    std::vector<OutputArgument> outputs;
    auto add = [&](const auto &d) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(d)>, OutputArgument>) {
            outputs.push_back(d);
        }
    };
    (add(described), ...);
    GeneratorBase::Construction construction(name, context);
    return std::make_unique<FunctionGenerator<Function, Arguments, decltype(inputs)>>(f, inputs,
                                                                                      outputs);
}

template<typename R, typename... A, typename... Described>
std::unique_ptr<GeneratorBase> function_generator(const char *name, const GeneratorContext &context,
                                                  R (*f)(A...), const Described &...described) {
    auto call = [f](const GeneratorContext &, const auto &...args) { return f(args...); };
    return make_function_generator<std::tuple<A...>>(name, context, call, described...);
}
template<typename R, typename... A, typename... Described>
std::unique_ptr<GeneratorBase> function_generator(const char *name, const GeneratorContext &context,
                                                  R (*f)(const GeneratorContext &, A...),
                                                  const Described &...described) {
    return make_function_generator<std::tuple<A...>>(name, context, f, described...);
}
template<typename R, typename... A, typename... Described>
std::unique_ptr<GeneratorBase> function_generator(const char *name, const GeneratorContext &context,
                                                  R (*f)(const Target &, A...),
                                                  const Described &...described) {
    auto call = [f](const GeneratorContext &c, const auto &...args) {
        return f(c.target(), args...);
    };
    return make_function_generator<std::tuple<A...>>(name, context, call, described...);
}

}  // namespace detail

}  // namespace tessera

#define TESSERA_REGISTER_FUNCTION(function, name, ...)                                             \
    TESSERA_REGISTER_FACTORY(                                                                      \
        name, #name,                                                                               \
        (tessera::detail::function_generator(#name, context, &function, __VA_ARGS__)))
