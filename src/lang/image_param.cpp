#include "lang/image_param.h"
#include "ir/mutator.h"
#include "program/apply_checks.h"

namespace tessera {
namespace {

// A parameter's constraints do not keep the parameter itself alive.
class DropReferent final : public ir::Mutator {
public:
    explicit DropReferent(const program::Parameter &p) : p(p) {}

private:
    Expr visit(const ir::BufferProperty &b) override {
        if (b.referent.get() != &p) return Expr(&b);
        return ir::BufferProperty::make(b.buffer, b.field, b.dim);
    }
    const program::Parameter &p;
};

}  // namespace

Dimension::Dimension(program::ParameterRef p, int d, Location at) : parameter(std::move(p)), d(d) {
    if (d >= 0 && d < parameter->dimensions) return;
    throw CompileError(at, str("dim(", d, ") of ", parameter->name, ", which has ",
                               parameter->dimensions, " dimensions"));
}

Expr Dimension::property(BufferField field) const {
    return ir::BufferProperty::make(parameter->name, field, d, parameter);
}
Expr Dimension::min() const { return property(BufferField::Min); }
Expr Dimension::extent() const { return property(BufferField::Extent); }
Expr Dimension::stride() const { return property(BufferField::Stride); }
Expr Dimension::max() const { return min() + extent() - 1; }
Expr Dimension::min_estimate() const { return parameter->constraints[size_t(d)].min_estimate; }
Expr Dimension::extent_estimate() const {
    return parameter->constraints[size_t(d)].extent_estimate;
}

Expr Dimension::constraint(const Expr &e, const char *directive, Location at) const {
    parameter->version.note_change();
    if (!e.defined()) return e;
    program::require_parameters_only(e, directive, at);
    if (!e.type().is_int_or_uint() || e.type().is_vector()) {
        throw CompileError(at, str(directive, ": an integer is wanted, not a ", e.type()));
    }
    return DropReferent(*parameter)(program::to_int32(e, str(directive, ": the number"), at));
}

Dimension Dimension::set_min(const Expr &min, Location at) {
    parameter->constraints[size_t(d)].min = constraint(min, "set_min", at);
    return *this;
}
Dimension Dimension::set_extent(const Expr &extent, Location at) {
    parameter->constraints[size_t(d)].extent = constraint(extent, "set_extent", at);
    return *this;
}
Dimension Dimension::set_stride(const Expr &stride, Location at) {
    parameter->constraints[size_t(d)].stride = constraint(stride, "set_stride", at);
    return *this;
}
Dimension Dimension::set_bounds(const Expr &min, const Expr &extent, Location at) {
    return set_min(min, at).set_extent(extent, at);
}
Dimension Dimension::set_estimate(const Expr &min, const Expr &extent, Location at) {
    auto &c = parameter->constraints[size_t(d)];
    c.min_estimate = constraint(min, "set_estimate", at);
    const Expr estimate = constraint(extent, "set_estimate", at);
    const auto number = estimate.defined() ? ir::as_const_int(estimate) : std::nullopt;
    if (number && *number <= 0) {
        throw CompileError(at, str("set_estimate: the extent ", *number, " of the dimension ", d,
                                   " of ", parameter->name, " is not positive"));
    }
    c.extent_estimate = estimate;
    return *this;
}
Dimension Dimension::dim(int i, Location at) const { return Dimension(parameter, i, at); }

const program::ParameterRef &OutputImageParam::parameter(const Location &at) const {
    if (parameter_ref) return parameter_ref;
    throw CompileError(at.known() ? at : written, "this ImageParam or output buffer is undefined");
}

Dimension OutputImageParam::dim(int i, Location at) const {
    return Dimension(parameter(at), i, at);
}

OutputImageParam &OutputImageParam::set_host_alignment(int bytes, Location at) {
    const int element = type(at).bytes();
    if (bytes <= 0 || (bytes & (bytes - 1)) || bytes % std::max(1, element)) {
        throw CompileError(at, str("set_host_alignment: ", bytes,
                                   " bytes; an alignment is a power "
                                   "of two, and a multiple of the element's ",
                                   element));
    }
    parameter()->host_alignment = bytes;
    parameter()->version.note_change();
    return *this;
}

OutputImageParam &OutputImageParam::set_estimates(const Region &estimates, Location at) {
    if (int(estimates.size()) != dimensions(at)) {
        throw CompileError(at, str("set_estimates: ", estimates.size(), " estimates, but ", name(),
                                   " has ", dimensions(), " dimensions"));
    }
    for (size_t i = 0; i < estimates.size(); i++) {
        dim(int(i)).set_estimate(estimates[i].min, estimates[i].extent, at);
    }
    return *this;
}

OutputImageParam &OutputImageParam::store_in(MemoryType memory, Location at) {
    parameter(at);
    if (memory != MemoryType::Auto && memory != MemoryType::Heap) {
        throw CompileError(at, str("store_in of ", name(),
                                   ": it lies on the heap, where the "
                                   "caller of the pipeline has put it, and not in ",
                                   name_of(memory)));
    }
    return *this;
}

ImageParam::ImageParam(Type type, int dimensions, const std::string &name, Location at) {
    if (!type.defined() || type.is_vector() || dimensions < 0) {
        throw CompileError(at, str("ImageParam: a type of one number and a number of dimensions "
                                   "are wanted, not ",
                                   type, " and ", dimensions));
    }
    std::string text = name.empty() ? detail::unique_name("im") : name;
    *this = ImageParam(program::make_buffer_parameter(Symbol::fresh(text), type, dimensions));
}

ImageParam::ImageParam(program::ParameterRef p) : OutputImageParam(std::move(p)) {
    std::vector<Expr> args;
    for (int i = 0; i < dimensions(); i++) args.push_back(Var::implicit(i));
    image_func = std::make_shared<Func>(name() + "_im");
    (*image_func)(args) =
        ir::Call::make(type(), parameter_ref->name, CallKind::Image, 0, args, parameter_ref);
}

const Func &ImageParam::func_of_image(const Location &at) const {
    parameter(at);
    return *image_func;
}

Expr ImageParam::element(const std::vector<Expr> &args, Location at) const {
    parameter(at);
    bool any_number = std::any_of(args.begin(), args.end(), [](const Expr &e) {
        const auto *v = e.as<ir::Variable>();
        return v && !v->referent && Var::is_placeholder(Var(v->name));
    });
    if (!any_number && int(args.size()) != dimensions()) {
        throw CompileError(at, str("ImageParam ", name(), " has ", dimensions(), " dimension",
                                   dimensions() == 1 ? "" : "s", ", but is used with ", args.size(),
                                   " argument", args.size() == 1 ? "" : "s"));
    }
    return func_of_image()(args, at);
}

void ImageParam::set_buffer(const Buffer<> &buffer, Location at) {
    parameter(at);
    if (!buffer.defined())
        throw CompileError(at, str("set of ", name(), ": the Buffer is undefined"));
    if (buffer.type() != type() || buffer.dimensions() != dimensions()) {
        throw CompileError(at, str("set of ", name(), ": it is of type ", type(), " with ",
                                   dimensions(), " dimensions, but the Buffer is of type ",
                                   buffer.type(), " with ", buffer.dimensions()));
    }
    parameter()->buffer = buffer.raw_buffer();
    parameter()->buffer_owner = buffer.shared_contents();
}

Buffer<> ImageParam::get(Location at) const {
    return Buffer<>(std::static_pointer_cast<BufferContents>(parameter(at)->buffer_owner));
}

void ImageParam::reset(Location at) {
    parameter(at)->buffer = nullptr;
    parameter(at)->buffer_owner = nullptr;
}

Func ImageParam::in(const Func &consumer, Location at) {
    return Func(func_of_image(at)).in(consumer, at);
}
Func ImageParam::in(const std::vector<Func> &consumers, Location at) {
    return Func(func_of_image(at)).in(consumers, at);
}
Func ImageParam::in(Location at) { return Func(func_of_image(at)).in(at); }
void ImageParam::trace_loads(Location at) { Func(func_of_image(at)).trace_loads(at); }
ImageParam &ImageParam::add_trace_tag(const std::string &tag, Location at) {
    Func(func_of_image(at)).add_trace_tag(tag, at);
    return *this;
}

}  // namespace tessera
