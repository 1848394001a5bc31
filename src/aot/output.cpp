#include "aot/output.h"
#include "aot/generator_base.h"

namespace tessera {

GeneratorOutput::GeneratorOutput(const ArgumentShape &shape) : GeneratorArgument(shape, "output") {
    GeneratorBase::under_construction("output", shape.name).outputs.push_back(this);
}

Func GeneratorOutput::make_func(size_t i) const {
    const ArgumentShape &s = shape();
    bool known = !s.types.empty() && s.dimensions != ArgumentShape::open;
    return known ? Func(s.types, s.dimensions, element_name(i)) : Func(element_name(i));
}

void GeneratorOutput::check() {
    size_or_refuse();
    for (const Func &f : funcs()) {
        if (!f.defined()) refuse("has no definition: generate() has to give it one");
        require_shape(f.types(), f.dimensions(), str("the Func ", f.name()).c_str());
    }
}

std::vector<std::string> GeneratorOutput::names() const {
    std::vector<std::string> all;
    for (size_t i = 0; i < size_or_refuse(); i++) all.push_back(element_name(i));
    return all;
}

}  // namespace tessera
