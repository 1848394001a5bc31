#pragma once
#include "aot/generator_base.h"
#include "aot/generator_names.h"

namespace tessera {

// A pipeline with parameters, for a compiler of its own:
//
//     class Brighten : public Generator<Brighten> {
//     public:
//         GeneratorParam<int> vector_size{"vector_size", 16, 1, 64};
//         Input<Buffer<uint8_t, 2>> input{"input"};
//         Input<float> factor{"factor", 1.0f, 0.0f, 8.0f};
//         Output<Buffer<uint8_t, 2>> output{"output"};
//         void generate() override { output(x, y) = u8_sat(input(x, y) * factor); }
//         void schedule() override { output.vectorize(x, vector_size); }
//
//     private:
//         Var x, y;
//     };
//     TESSERA_REGISTER_GENERATOR(Brighten, brighten)
//
// configure() may add inputs and outputs; generate() may schedule, too.
template<typename T>
class Generator : public GeneratorBase, public GeneratorNames {
public:
    static std::unique_ptr<T> make(const std::string &name, const GeneratorContext &context) {
        Construction construction(name, context);
        return std::make_unique<T>();
    }
    // Another generator, to be called by this one: set its parameters, then apply() inputs to it;
    // its outputs are Funcs.
    template<typename Other>
    std::unique_ptr<Other> create() const {
        return Other::make("a generator called by " + generator_name(), context());
    }
    template<typename Other, typename... Args>
    std::unique_ptr<Other> apply(const Args &...args) const {
        auto other = create<Other>();
        other->apply(args...);
        return other;
    }
    using GeneratorBase::apply;

protected:
    Generator() = default;
};

}  // namespace tessera
