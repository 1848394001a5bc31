#include "../program.h"

PROGRAM(scalar_parameters) {
    Param<int> a("a"), b(7);
    Param<float> c("c", 0.5f);
    Param<uint8_t> d("d", 3, 0, 10);
    Param<bool> e;
    Param<double> g;
    EXPECT(a.name() == "a" && a.type() == Int(32) && b.get() == 7 && c.get() == 0.5f);
    EXPECT(d.min_value().defined() && d.max_value().defined());
    a.set(5);
    e.set(true);
    g.set(2.0);
    Var x;
    Func f;
    f(x) = cast<double>(x * a + b) * c + d + select(e, 1, 0) + g;
    Buffer<double> out = f.realize({3});
    EXPECT(out(2) == 17 * 0.5 + 3 + 1 + 2);
    a.set(6);
    Buffer<double> again = f.realize({3});
    EXPECT(again(2) == 19 * 0.5 + 3 + 1 + 2);
    return 0;
}

PROGRAM(untyped_parameters) {
    Param<> p(Int(16), "p");
    p.set(12);
    p.set(int16_t(13));
    EXPECT(p.type() == Int(16) && p.get<int16_t>() == 13);
    Param<> q = Param<float>("q", 2.5f);
    Var x;
    Func f;
    f(x) = cast<float>(p) + q;
    Buffer<float> out = f.realize({1});
    EXPECT(out(0) == 15.5f);
    return 0;
}

PROGRAM(typed_of_an_untyped_parameter) {
    Param<> any(Int(32), "any");
    Param<int> same = any;
    Var x;
    Func f;
    f(x) = x + same;
    any.set(40);
    Buffer<int> out = f.realize({3});
    EXPECT(out(2) == 42 && same.get() == 40 && same.name() == "any");
    Param<float16_t> half = Param<>(Float(16));
    EXPECT(half.type() == Float(16));
    return 0;
}
PROGRAM(parameters_of_all_types) {
    Param<int8_t> a;
    Param<uint16_t> b;
    Param<int64_t> c;
    Param<uint64_t> d;
    a.set(-5);
    b.set(60000);
    c.set(int64_t(1) << 40);
    d.set(uint64_t(1) << 63);
    EXPECT(evaluate<int8_t>(a + 1) == -4 && evaluate<uint16_t>(b + 1) == 60001);
    EXPECT(evaluate<int64_t>(c * 2) == int64_t(1) << 41);
    EXPECT(evaluate<uint64_t>(d) == uint64_t(1) << 63);
    return 0;
}

PROGRAM(images) {
    ImageParam in(UInt(8), 2, "in");
    EXPECT(in.defined() && in.dimensions() == 2 && in.type() == UInt(8) && in.name() == "in");
    Var x, y;
    Func f;
    f(x, y) = cast<int>(in(x, y)) + in.width() * 1000 + in.height() * 100000 + in.left() +
              in.top() + in.right() * 0 + in.bottom() * 0;
    Buffer<uint8_t> b(4, 3);
    b.fill(9);
    in.set(b);
    Buffer<int> out = f.realize({4, 3});
    EXPECT(out(1, 1) == 304009);
    EXPECT(Buffer<uint8_t>(in.get())(0, 0) == 9);
    in.reset();
    return 0;
}

PROGRAM(inferred_inputs) {
    ImageParam in(Int(32), 2);
    Var x, y;
    Func f;
    f(x, y) = in(x - 1, y) + in(x + 3, y * 2);
    f.infer_input_bounds({10, 5});
    Buffer<int> b = in.get();
    EXPECT(b.dim(0).min() == -1 && b.dim(0).extent() == 14);
    EXPECT(b.dim(1).min() == 0 && b.dim(1).extent() == 9);
    in.reset();
    Buffer<int> out(3, 3);
    out.set_min(100, 0);
    f.infer_input_bounds(out);
    Buffer<int> c = in.get();
    EXPECT(c.dim(0).min() == 99);
    return 0;
}

PROGRAM(constraints) {
    ImageParam in(Float(32), 3);
    in.dim(0).set_stride(1).set_min(0);
    in.dim(2).set_bounds(0, 3).set_stride(in.dim(1).stride() * in.dim(1).extent());
    in.dim(1).set_extent(in.dim(0).extent());
    in.set_host_alignment(16);
    Var x, y, c;
    Func f;
    f(x, y, c) = in(x, y, c);
    f.output_buffer().dim(0).set_min(0).set_extent(8);
    Buffer<float> b(8, 8, 3);
    b.fill(1.0f);
    in.set(b);
    Buffer<float> out = f.realize({8, 8, 3});
    EXPECT(out(7, 7, 2) == 1.0f);
    EXPECT(in.dim(2).extent().defined() && in.host_alignment() == 16);
    return 0;
}

PROGRAM(image_as_func) {
    ImageParam in(Int(32), 1);
    Func g = in;
    Var x;
    Func f;
    f(x) = g(x);
    Buffer<int> b(4);
    b.fill(2);
    in.set(b);
    Func h = BoundaryConditions::constant_exterior(in, 7);
    Buffer<int> out = h.realize({6});
    EXPECT(out(3) == 2 && out(5) == 7);
    return 0;
}

PROGRAM(arguments) {
    Param<float> p("p", 1.0f, 0.0f, 2.0f);
    ImageParam in(UInt(8), 2, "in");
    Var x, y;
    Func f("f");
    f(x, y) = in(x, y) * p;
    std::vector<Argument> args = f.infer_arguments();
    EXPECT(args.size() == 2);
    for (const Argument &a : args) {
        if (a.name == "p") EXPECT(a.is_scalar() && a.type == Float(32) && a.is_input());
        if (a.name == "in") EXPECT(a.is_buffer() && a.dimensions == 2 && !a.is_output());
    }
    Argument made("q", Argument::InputScalar, Int(32), 0, ArgumentEstimates{});
    EXPECT(made.kind == Argument::InputScalar && made.name == "q");
    return 0;
}

PROGRAM(handles_as_parameters) {
    Param<void *> p;
    int n = 0;
    p.set(&n);
    EXPECT(p.type().is_handle() && p.get() == &n);
    return 0;
}

PROGRAM(parameter_handles) {
    Parameter number(Int(32), false, 0, "number"), image(UInt(8), true, 2, "image"), none;
    EXPECT(!none.defined() && number.defined() && !number.same_as(image));
    EXPECT(number.name() == "number" && number.type() == Int(32) && !number.is_buffer());
    EXPECT(image.is_buffer() && image.dimensions() == 2 && image.host_alignment() == 1);
    number.set_scalar(int32_t(12));
    EXPECT(number.scalar<int32_t>() == 12);
    number.set_min_value(1);
    number.set_max_value(20);
    EXPECT(Internal::is_const_one(number.min_value()));
    image.set_extent_constraint(0, 8);
    image.set_host_alignment(16);
    EXPECT(image.extent_constraint(0).defined() && !image.extent_constraint(1).defined());
    EXPECT(image.host_alignment() == 16);
    Buffer<uint8_t> pixels(8, 4);
    pixels.fill(30);
    image.set_buffer(pixels);
    EXPECT(image.buffer().defined() && image.buffer().width() == 8);
    Var x, y;
    Func f;
    f(x, y) = cast<int>(ImageParam(image.ref())(x, y)) + number.scalar_expr();
    Buffer<int> result = f.realize({8, 4});
    EXPECT(result(7, 3) == 42);
    // The handles of Params and ImageParams are of this kind.
    Param<float> p("p");
    p.set(2.5f);
    Parameter of_p = p.parameter();
    EXPECT(of_p.scalar<float>() == 2.5f);
    of_p.set_scalar(3.5f);
    EXPECT(p.get() == 3.5f);
    return 0;
}

PROGRAM(bounds_and_estimates) {
    Var x("x"), y("y");
    ImageParam in(Float(32), 2, "in");
    Func f("f"), g("g");
    f(x, y) = in(x, y) * 2;
    g(x, y) = f(x, y) + f(x + 1, y);
    f.compute_root().bound(x, 0, 65).align_storage(x, 16);
    g.bound(x, 0, 64).bound(y, 0, 32).vectorize(x, 8).unroll(y, 4);
    in.set_estimates({{0, 65}, {0, 32}});
    in.dim(0).set_estimate(0, 65).set_bounds(0, 65).dim(1).set_min(0);
    g.set_estimate(x, 0, 64).set_estimate(y, 0, 32);
    g.output_buffer().set_estimates({{0, 64}, {0, 32}});
    g.output_buffer().dim(0).set_bounds(0, 64).set_stride(1);
    Buffer<float> b(65, 32);
    b.fill(1.5f);
    in.set(b);
    Buffer<float> o = g.realize({64, 32});
    EXPECT(o(63, 31) == 6.0f);
    std::vector<OutputImageParam> outs = g.output_buffers();
    EXPECT(outs.size() == 1 && outs[0].dimensions() == 2 && outs[0].type() == Float(32) &&
           outs[0].defined());
    EXPECT(in.defined() && in.name() == "in" && in.type() == Float(32) && in.dimensions() == 2 &&
           in.get().defined());
    Func h;
    h(x, y) = in(x, y);
    h.bound_extent(x, 16).align_extent(y, 4).align_bounds(x, 4, 1);
    return 0;
}
