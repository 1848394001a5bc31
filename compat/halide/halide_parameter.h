#pragma once
#include "halide_names.h"

// Stands for what a caller passes to a pipeline, a number or a buffer, as a handle of Halide's
// kind. Param and ImageParam are handles of the same.
namespace Halide {

class Parameter {
public:
    Parameter() = default;
    Parameter(const tessera::program::ParameterRef &p) : contents(p) {}
    template<typename T>
    Parameter(const tessera::Param<T> &p) : contents(p.parameter()) {}
    Parameter(const tessera::ImageParam &p) : contents(p.parameter()) {}
    Parameter(const Type &type, bool is_buffer, int dimensions, const std::string &name = "");

    bool defined() const { return bool(contents); }
    bool same_as(const Parameter &other) const { return contents.get() == other.contents.get(); }
    // All others throw CompileError if it is undefined, or of the other kind.
    Type type() const { return get().type; }
    int dimensions() const { return get().dimensions; }
    const std::string &name() const { return get().name.text(); }
    bool is_buffer() const { return get().is_buffer; }

    template<typename T>
    T scalar() const {
        return tessera::Param<>(of_a_number()).template get<T>();
    }
    template<typename T>
    void set_scalar(T value) {
        tessera::Param<>(of_a_number()).set(value);
    }
    Expr scalar_expr() const { return tessera::program::parameter_value(of_a_number()); }
    void set_min_value(const Expr &e) { of_a_number()->min_value = e; }
    void set_max_value(const Expr &e) { of_a_number()->max_value = e; }
    Expr min_value() const { return of_a_number()->min_value; }
    Expr max_value() const { return of_a_number()->max_value; }
    void set_estimate(const Expr &e) { of_a_number()->estimate = e; }
    Expr estimate() const { return of_a_number()->estimate; }

    void set_buffer(const Buffer<> &b) { tessera::ImageParam(of_a_buffer()).set(b); }
    Buffer<> buffer() const { return tessera::ImageParam(of_a_buffer()).get(); }
    void set_host_alignment(int bytes) {
        tessera::ImageParam(of_a_buffer()).set_host_alignment(bytes);
    }
    // Returns the alignment of one element, unless it was set.
    int host_alignment() const;
    void set_min_constraint(int dim, const Expr &e) { dimension(dim).min = e; }
    void set_extent_constraint(int dim, const Expr &e) { dimension(dim).extent = e; }
    void set_stride_constraint(int dim, const Expr &e) { dimension(dim).stride = e; }
    void set_min_constraint_estimate(int dim, const Expr &e) { dimension(dim).min_estimate = e; }
    void set_extent_constraint_estimate(int dim, const Expr &e) {
        dimension(dim).extent_estimate = e;
    }
    Expr min_constraint(int dim) const { return dimension(dim).min; }
    Expr extent_constraint(int dim) const { return dimension(dim).extent; }
    Expr stride_constraint(int dim) const { return dimension(dim).stride; }
    Expr min_constraint_estimate(int dim) const { return dimension(dim).min_estimate; }
    Expr extent_constraint_estimate(int dim) const { return dimension(dim).extent_estimate; }

    operator Argument() const { return Argument(ref()); }
    const tessera::program::ParameterRef &ref() const;

private:
    const tessera::program::Parameter &get() const { return *ref(); }
    const tessera::program::ParameterRef &of_a_number() const;
    const tessera::program::ParameterRef &of_a_buffer() const;
    tessera::program::DimensionConstraint &dimension(int i) const;

    tessera::program::ParameterRef contents;
};

namespace Internal {
using Halide::Parameter;
}

}  // namespace Halide
