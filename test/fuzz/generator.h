#pragma once
#include "terms.h"

namespace tessera::fuzz {

inline const std::vector<Type> all_types = {Int(8),    Int(16),   Int(32),   Int(64),   UInt(8),
                                            UInt(16),  UInt(32),  UInt(64),  Bool(),    Float(32),
                                            Float(32), Float(64), Float(16), BFloat(16)};

// Draws programs. Divided by subject: generate.cpp (functions), generate_values.cpp (expressions),
// generate_updates.cpp.
class Generator {
public:
    explicit Generator(uint64_t seed) : random(seed) { plan.seed = seed; }
    Plan draw();

private:
    void draw_inputs();
    void draw_nans();
    bool has_nan() const;
    void draw_in_place();
    // Mostly of a size at which loops have something to do, and tails.
    int draw_size(int largest);
    // Far from zero: the first coordinate of dimension d.
    int draw_base(size_t d);
    void choose_output();
    bool is_read(int f);

    // ---- Values ----

    Term leaf(Type t, int dims);
    // Returns a value as good as the largest or smallest one.
    Term end_of(Type t);
    Term parameter();
    // An element of an input, or a value of a function before, somewhere near the point.
    Term source(int dims);
    Term input(int dims);
    static void set_input_range(Term &t, const InputPlan &in);
    Term shifted(const Term &at);
    Term call(int f, int dims, bool gather);
    static Term operation(Op op, Type t, std::vector<Term> args);
    // A factor or divisor between 0.2 and 1.5, or of either sign: a number, or made of the
    // parameter or of a quotient of two.
    Term scale();
    // Returns what resizing makes of a coordinate: scaled and moved as a float, and cut off to an
    // integer. Its operations are each rounded on their own, so nothing in it may differ.
    Term scaled_coordinate(const Term &at);
    // A float that may be far beyond the integers, within bounds once it is one.
    Term overflowing_coordinate(const Term &at);
    // Coordinates that are mirrored, cut off, or scaled.
    Term bent(const Term &at, int dims);
    Term mirrored(Term at);
    // Returns the operand that leaves coordinates as they are.
    static Term end_of(Op op);
    // Comparisons and conversions to integers are of values that no rounding can change.
    Term exact(Term t);
    // Returns a condition that cuts a part out of the coordinates: a half, a triangle, every other
    // row.
    Term part(int dims);
    Term condition(int dims);
    Term value(Type t, int dims, int depth);
    Term float_function(Type t, int dims, int depth);
    Term integer_function(Type t, int dims, int depth);
    Term rare_function(Type t, int dims, int depth);
    Term saturated(Type t, Term a);
    // Returns bits that depend on the function's point.
    Term random_bits();
    // A function at half or twice the resolution, in one dimension or in all.
    Term pyramid(Type t, int dims);
    Term lerp(Type t, int dims, int depth);
    // Several neighbours along one dimension, of which all are mirrored or cut off.
    Term bent_stencil(Type t, int dims, int taps);
    // Several neighbours of one function, weighted.
    Term stencil(Type t, int dims);
    // Returns a condition on how the two loops relate; for some values of the outer one, the inner
    // one does nothing.
    Term triangle(int id, const Domain &domain);
    int new_domain(int dims, int most);
    int points(int domain);
    // Replaces some coordinates in the arguments of calls by, or adds to them, domain variables.
    Term over_domain(Term t, int domain, double chance);
    Term inline_reduction(Type t, int dims);

    // ---- Functions ----

    FuncPlan draw_func(int i, bool is_output);
    // The value combined with the input's element that has the same coordinates.
    Term in_place(const Term &value);
    // The value, or what is there already, which is 0 in an output.
    Term defined_at_times(const Term &v, int dims);
    // Some points are left alone by it. An operation stays what it is, of the element and another.
    void leave_points_alone(UpdatePlan &u, int dims);
    // Only its update reads the function before, so that this may be computed at loops of a domain.
    FuncPlan sum_of_previous(int i);
    // The value, or that of a function which others need in any case, or not at all.
    Term read_at_times(const Term &instead, int dims);
    FuncPlan boundary_condition(int i);
    // A parameter has to hold what is read of it, so it has no boundary yet.
    int input_of_fixed_size() const;
    FuncPlan extern_stage(int i);
    ExternSource extern_source(int i);
    // Values of what is read.
    std::vector<Term> values_of(const ExternSource &s) const;
    // Floats if any of what is read is inexact.
    void set_extern_values(FuncPlan &f);
    void add_updates(FuncPlan &f, int i);
    // Only variables that the left side has may be on the right; a domain that nothing uses is
    // none.
    void tidy(UpdatePlan &u);
    void draw_updates(FuncPlan &f, int i);
    Term self(const FuncPlan &f, int i, size_t k, std::vector<Term> args);
    static std::vector<Term> pure_args(const FuncPlan &f);
    static void widen_range(Term &of, const Term &with);
    // Makes the values of the only stage that small; false if updates have made them larger.
    static bool keep_within(FuncPlan &f, double limit);
    void accumulate(FuncPlan &f, int i);
    // f(x, y) op= something over a domain: in any order.
    void accumulate(FuncPlan &f, int i, int domain_dims, const Term &what);
    // f(clamp(data)) += 1, as a histogram.
    void scatter_update(FuncPlan &f, int i);
    // f(r) = something of f(r - 1): in this order only.
    void scan(FuncPlan &f, int i);
    // The largest value over a domain and where it is; the point that comes first.
    void arg_max(FuncPlan &f, int i);
    // At every point, or along one line.
    void pointwise_update(FuncPlan &f, int i);

    Random random;
    Plan plan;
    int output_dims = 2, halvings = 0;
    bool has_externs = false, has_triangles = false, is_tiny = false, is_far = false;
    bool is_in_place = false;  // the output may lie in the memory of the first input
};

}  // namespace tessera::fuzz
