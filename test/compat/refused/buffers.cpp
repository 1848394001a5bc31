#include "../program.h"

REFUSED(buffer_beyond_memory, "its stride in dimension 2 would be 281474976710656") {
    Buffer<uint8_t> b(1 << 24, 1 << 24, 1 << 24);
}
REFUSED(buffer_beyond_two_gigs, "has 4294967296 elements") {
    Buffer<uint8_t> b(1 << 16, 1 << 16);
    Func f;
    Var x, y;
    f(x, y) = cast<uint8_t>(x);
    f.realize(b);
}
REFUSED(constraint_of_output_by_non_param, "depends on values of") {
    Func f;
    Var x;
    Func g;
    g(x) = x;
    f(x) = x;
    f.output_buffer().dim(0).set_extent(g(3));
    f.realize({10});
}
REFUSED(device_dirty, "has its newest contents on a device") {
    ImageParam in(Int(32), 1);
    Func f;
    Var x;
    f(x) = in(x);
    Buffer<int> b(10);
    b.set_device_dirty(true);
    in.set(b);
    f.realize({10});
}
REFUSED(impossible_constraints, "limit dimension 0 to [0, 99], but the pipeline needs [0, 109]") {
    ImageParam in(Float(32), 2);
    Var x, y;
    Func f;
    f(x, y) = in(x, y) + in(x + 10, y);
    in.dim(0).set_bounds(0, 100).dim(1).set_bounds(0, 100);
    in.dim(0).set_extent(f.output_buffer().dim(0).extent());
    f.infer_input_bounds({100, 100});
}
REFUSED(null_host, "the Buffer for an output has no memory") {
    Func f;
    Var x;
    f(x) = x;
    Buffer<int> b(nullptr, 10);
    f.realize(b);
}
REFUSED(tuple_output_bounds, ".1.extent.0 is 20, but must be 10") {
    Func f;
    Var x;
    f(x) = Tuple(x, x);
    Buffer<int> a(10), b(20);
    f.realize({a, b});
}
REFUSED(tuple_to_buffer, "a Realization of 2 results stands for no single Buffer") {
    Func f;
    Var x;
    f(x) = Tuple(x, x);
    Buffer<int> a = f.realize({10});
}
REFUSED(unbounded_input, "in dimension 0, which has no bound") {
    ImageParam in(Int(32), 1);
    Func f, g;
    Var x;
    g(x) = x * x;
    f(x) = in(g(x) * 1000000) + in(reinterpret<int>(sin(cast<float>(x))));
    Buffer<int> b(10);
    in.set(b);
    f.realize({10});
}
REFUSED(unbounded_output, "in dimension 0, which has no bound") {
    Func f;
    Var x;
    RDom r(0, 10);
    ImageParam p(Int(32), 1);
    f(x) = 0;
    f(p(r)) = 2;
    Buffer<int> b(10);
    b.fill(2000000000);
    p.set(b);
    f.realize({10});
}
REFUSED(uninitialized_image, "has no Buffer; call set() before realize()") {
    ImageParam in(Int(32), 2);
    Param<int> p;
    Func f;
    Var x, y;
    f(x, y) = in(x, y) + p;
    p.set(1);
    f.realize({10, 10});
}
REFUSED(wrong_type_realized, "has elements of type int32, not float32") {
    Func f;
    Var x;
    f(x) = x;
    Buffer<float> b = f.realize({10});
}
REFUSED(too_many_buffers, "has 1 results, but is to be realized into 2 Buffers") {
    Func f;
    Var x;
    f(x) = x;
    Buffer<int> a(10), b(10);
    f.realize({a, b});
}
REFUSED(image_param_of_wrong_buffer, "but the Buffer is of type float32 with 2") {
    ImageParam in(UInt(8), 2);
    in.set(Buffer<float>(4, 4));
}
REFUSED(negative_extent, "realize: the size -10 is negative") {
    Func f;
    Var x;
    f(x) = x;
    f.realize({-10});
}
REFUSED(scalar_of_a_buffer_parameter, "the parameter p is a buffer, and not a number") {
    Parameter p(UInt(8), true, 2, "p");
    p.scalar<uint8_t>();
}
REFUSED(constraint_of_a_dimension_that_is_not_there, "there is none of number 2") {
    Parameter p(UInt(8), true, 2, "p");
    p.set_min_constraint(2, 0);
}
REFUSED(undefined_parameter, "this Parameter is undefined: it was made without a type") {
    Parameter p;
    p.type();
}
