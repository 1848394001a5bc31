#include "aot/input.h"
#include "aot/generator_base.h"

namespace tessera {

InputValue::InputValue(const Buffer<> &buffer, Location at) {
    if (!buffer.defined()) throw CompileError(at, "an input of a generator is an undefined Buffer");
    value = ImageParam(embedded_parameter(buffer.shared_contents()));
}

GeneratorInput::GeneratorInput(const ArgumentShape &shape) : GeneratorArgument(shape, "input") {
    GeneratorBase::under_construction("input", shape.name).inputs.push_back(this);
}

void GeneratorInput::bind(const InputValues &values) {
    if (shape().is_array) {
        set_array_size(int(values.size()));
    } else if (values.size() != 1) {
        refuse(str("is one value, but ", values.size(), " are given"));
    }
    for (const InputValue &v : values) {
        switch (shape().kind) {
        case GeneratorArgumentKind::Scalar:
            if (!v.scalar()) refuse("is a number, but something else is given");
            if (!v.scalar()->defined()) refuse("is given an undefined Expr");
            break;
        case GeneratorArgumentKind::Buffer:
            if (!v.image()) {
                refuse("is a Buffer, whose size may be read: give it a Buffer or an "
                       "ImageParam");
            }
            require_shape({v.image()->type()}, v.image()->dimensions(), "what is given");
            break;
        case GeneratorArgumentKind::Function:
            if (v.scalar()) refuse("is a Func, but a number is given");
            if (v.func() && !v.func()->defined()) refuse("is given a Func without a definition");
            if (v.func())
                require_shape(v.func()->types(), v.func()->dimensions(), v.func()->name().c_str());
            if (v.image())
                require_shape({v.image()->type()}, v.image()->dimensions(), "what is given");
            break;
        }
    }
    bound = values;
}

size_t GeneratorInput::begin_elements() {
    all_arguments.clear();
    return size_or_refuse();
}

ImageParam GeneratorInput::make_image(size_t i) {
    if (is_bound()) return *bound[i].image();
    ImageParam image(types_or_refuse()[0], dimensions_or_refuse(), element_name(i));
    add_argument(image);
    return image;
}

Func GeneratorInput::make_func(size_t i) {
    if (is_bound()) return bound[i].func() ? *bound[i].func() : Func(*bound[i].image());
    const ArgumentTypes &types = types_or_refuse();
    if (types.size() == 1) return make_image(i);
    // A buffer for each of its values.
    std::vector<Expr> at, values;
    for (int d = 0; d < dimensions_or_refuse(); d++) at.push_back(Var::implicit(d));
    for (size_t k = 0; k < types.size(); k++) {
        ImageParam image(types[k], dimensions_or_refuse(), str(element_name(i), "_", k));
        add_argument(image);
        values.push_back(image(at));
    }
    Func f(element_name(i));
    f(at) = Tuple(values);
    return f;
}

Expr GeneratorInput::make_scalar(size_t i) {
    Type type = types_or_refuse()[0];
    if (!is_bound()) {
        Param<> p(type, element_name(i));
        if (prepare_scalar) prepare_scalar(p.parameter());
        add_argument(p);
        return p;
    }
    const Expr &e = *bound[i].scalar();
    if (e.type() == type) return e;
    if (!ir::is_const(e))
        refuse(str("is of ", type, ", but an expression of ", e.type(), " is given"));
    return cast(type, e);
}

const program::ParameterRef &ScalarInput::parameter() const {
    if (!own_parameter) own_parameter = detail::new_scalar(type(), shape().name);
    return own_parameter;
}

void ScalarInput::make_elements() {
    begin_elements();
    if (is_bound()) {
        element = make_scalar(0);
        return;
    }
    element = program::parameter_value(parameter());
    add_argument(Argument(parameter()));
}

void GeneratorInput::set_all_estimates(const Region &estimates, Location at) const {
    for (const Argument &a : all_arguments) ImageParam(a.parameter).set_estimates(estimates, at);
}

void GeneratorInput::set_scalar_estimate(const Expr &value, std::optional<size_t> i,
                                         Location at) const {
    if (is_bound()) return;  // what is given is known
    if (i && *i >= all_arguments.size()) refuse(str("has no element ", *i));
    for (size_t k = 0; k < all_arguments.size(); k++) {
        if (!i || *i == k) detail::set_estimate(*all_arguments[k].parameter, value, at);
    }
}

void Input<Func>::set_estimates(const Region &estimates, Location at) {
    set_all_estimates(estimates, at);
}

void Input<Func>::make_elements() {
    begin_elements();
    Func::operator=(make_func(0));
}

}  // namespace tessera
