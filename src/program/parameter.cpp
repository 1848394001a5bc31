#include "program/parameter.h"

namespace tessera::program {

ParameterRef make_scalar_parameter(Symbol name, Type type) {
    auto p = make_ref<Parameter>();
    p->name = name;
    p->type = type;
    return p;
}

ParameterRef make_buffer_parameter(Symbol name, Type type, int dimensions) {
    auto p = make_scalar_parameter(name, type);
    p->is_buffer = true;
    p->dimensions = dimensions;
    p->constraints.resize(size_t(dimensions));
    if (dimensions > 0) p->constraints[0].stride = 1;
    return p;
}

Expr parameter_value(const ParameterRef &p) { return ir::Variable::make(p->type, p->name, p); }

const Parameter *parameter_of(const ir::Argument &a) {
    return dynamic_cast<const Parameter *>(a.referent.get());
}

}  // namespace tessera::program
