#include "error/refusal.h"

using namespace tessera;

namespace {

Var x("x"), y("y"), u("u");

}  // namespace

TEST_SUITE("refused uses") {
    TEST_CASE("directives on the loop around all loops") {
        Func f("f");
        f(x, y) = x + y;
        REFUSED(f.reorder(Var::outermost(), x),
                "reorder: Var::outermost() is outside of all loops");
        REFUSED(f.reorder(x, Var::outermost()), "and stays there");
        REFUSED(f.parallel(Var::outermost()), "parallel: Var::outermost() has one iteration");
        REFUSED(f.vectorize(Var::outermost()), "vectorize: Var::outermost() has one iteration");
        f.serial(Var::outermost());
        Buffer<int> b = f.realize({3, 3});
        CHECK(b(2, 1) == 3);
    }
    TEST_CASE("directives that depend on values of a Func") {
        Func f("f"), g("g");
        g(x) = x + 1;
        f(x, y) = x + y;
        ImageParam im(Int(32), 1, "im");
        Param<int> p("p");
        RDom r(0, 5, "r");
        Expr value = g(3);
        REFUSED(f.split(x, x, u, value), "split: g(3) depends on values of g; only constants, "
                                         "parameters and sizes of input buffers are known before "
                                         "the pipeline runs");
        REFUSED(f.vectorize(x, value), "depends on values of g");
        REFUSED(f.bound(x, 0, value), "bound: g(3) depends on values of g");
        REFUSED(f.align_bounds(x, value), "align_bounds: g(3) depends on values of g");
        REFUSED(f.bound_storage(x, value), "bound_storage: g(3) depends on values of g");
        REFUSED(f.fold_storage(x, value), "fold_storage: g(3) depends on values of g");
        REFUSED(f.ring_buffer(value), "ring_buffer: g(3) depends on values of g");
        REFUSED(f.specialize(value > 2), "specialize: g(3) > 2 depends on values of g");
        REFUSED(im.dim(0).set_extent(value), "set_extent: g(3) depends on values of g");
        REFUSED(p.set_max_value(value), "set_max_value: g(3) depends on values of g");
    }
    TEST_CASE("rfactor of other loops than those of the reduction") {
        Func f("f");
        RDom r(0, 8, 0, 8, "r");
        RVar both("both");
        f(x) = 0;
        f(x) += r.x * r.y;
        REFUSED(f.update().rfactor(RVar("x"), u), "rfactor: x is no reduction loop of f.update(0)");
        f.update().reorder(r.x, x, r.y).fuse(r.x, x, both);
        REFUSED(f.update().rfactor(both, u),
                "rfactor: both is made from a reduction and a pure loop, x");
    }
    TEST_CASE("rfactor of an update that only the last iteration decides") {
        Func f("f");
        RDom r(0, 8, "r");
        f(x) = 0;
        f(x) = x + r;
        REFUSED(f.update().rfactor(r, u), "is not known to be associative with an identity");
    }
    TEST_CASE("a Func that uses itself before it has values") {
        Func typed(Int(32), 1, "typed");
        REFUSED(typed(x) = typed(x - 1), "typed is used, but has no definition yet");
        Func f("f");
        REFUSED(f(x) += f(x - 1), "f is used, but has no definition yet");
    }
    TEST_CASE("extern stages without values, or with an undefined argument") {
        Func f("f");
        Buffer<int> image;
        REFUSED(f.define_extern("work", {}, std::vector<Type>{}, 1), "at least one value");
        REFUSED(f.define_extern("work", {ExternFuncArgument()}, Int(32), 1),
                "an argument of the extern function is undefined");
        REFUSED(f.define_extern("work", {Expr()}, Int(32), 1), "extern function is undefined");
        REFUSED(f.define_extern("work", {image}, Int(32), 1), "a Buffer is undefined");
        REFUSED(f.define_extern("work", {ImageParam()}, Int(32), 1), "this ImageParam");
        CHECK_FALSE(f.defined());
    }
    TEST_CASE("conditions of a domain that are undefined, or on another domain") {
        RDom r(0, 5, "r"), s(0, 5, "s");
        REFUSED(r.where(s < 3), "RDom::where: s$x is of another domain");
        REFUSED(r.where(Expr()), "RDom::where: an undefined Expr");
    }
    TEST_CASE("domains without dimensions or with undefined bounds") {
        Buffer<int> scalar = Buffer<int>::make_scalar(), undefined;
        ImageParam none(Int(32), 0, "none");
        RDom r(0, 5, "r");
        REFUSED(RDom(Region{}), "RDom: it has no dimensions");
        REFUSED(RDom(scalar), "RDom: it has no dimensions");
        REFUSED(RDom(none), "RDom: it has no dimensions");
        REFUSED(RDom(0, Expr()), "RDom: a bound is an undefined Expr");
        REFUSED(RDom(Expr(), 3), "RDom: a bound is an undefined Expr");
        REFUSED(RDom(0, r.x + 1), "RDom: a bound depends on the variable r$x");
        REFUSED(RDom(undefined), "RDom: the Buffer is undefined");
        REFUSED(RDom(ImageParam()), "this ImageParam or output buffer is undefined");
    }
    TEST_CASE("conversions of what has no value, with the line of its declaration") {
        RVar none("none");
        REFUSED_ABOVE(Expr(none), "an RVar that belongs to no RDom with bounds (none)");
        RDom plane(0, 5, 0, 5);
        REFUSED_ABOVE(Expr(plane), "RDom: a domain of 2 dimensions stands for no single variable");
        RDom line(0, 5);
        REFUSED_ABOVE(line.x + line.y, "RDom: it has 1 dimension, but its variable y is used");
        RDom undefined;
        REFUSED_ABOVE(Expr(undefined.x), "RDom: it is undefined; give it bounds");
        RDom another;
        REFUSED_ABOVE(Expr(another), "RDom: it is undefined; give it bounds");
        ImageParam image;
        REFUSED_ABOVE(Func(image), "this ImageParam or output buffer is undefined");
    }
    TEST_CASE("undefined images and pipelines, with the line where they are used") {
        ImageParam image;
        Buffer<int> buffer, result(4);
        Pipeline p;
        auto use = [&](auto f, const char *part, Location at = Here::current()) {
            CHECK(refusal(f) == Expected{to_string(at), part});
        };
        const char *no_image = "this ImageParam or output buffer is undefined";
        use([&] { image(x); }, no_image);
        use([&] { image.dim(0); }, no_image);
        use([&] { image.width(); }, no_image);
        use([&] { image.type(); }, no_image);
        use([&] { image.set(result); }, no_image);
        use([&] { image.in(); }, no_image);
        use([&] { image.set_host_alignment(16); }, no_image);
        use([&] { buffer(x); }, "an element of a Buffer that is undefined is used");
        FAILS(buffer(3) = 1, "this Buffer is undefined");
        FAILS(buffer.address_of(3), "this Buffer is undefined");
        const char *no_pipeline = "this Pipeline is undefined";
        use([&] { p.realize({4}); }, no_pipeline);
        use([&] { p.realize(result); }, no_pipeline);
        use([&] { p.infer_input_bounds({4}); }, no_pipeline);
        use([&] { p.infer_input_bounds(result); }, no_pipeline);
        use([&] { p.compile_jit(); }, no_pipeline);
        use([&] { p.compile_to_callable({}); }, no_pipeline);
        use([&] { p.jit_handlers(); }, no_pipeline);
        use([&] { p.set_jit_externs({}); }, no_pipeline);
        use([&] { p.clear_custom_lowering_passes(); }, no_pipeline);
        use([&] { p.trace_pipeline(); }, no_pipeline);
        use([&] { p.print_loop_nest(); }, no_pipeline);
        use([&] { p.schedule_as_cpp(); }, no_pipeline);
        use([&] { p.schedule_as_json(); }, no_pipeline);
        use([&] { p.infer_arguments(); }, no_pipeline);
        use([&] { p.program(); }, no_pipeline);
    }
    TEST_CASE("what is undefined, or there is only several times") {
        Func f("f");
        f(x) = Tuple(x, x + 1);
        f(x) = Tuple(f(x)[0] + 1, f(x)[1]);
        REFUSED(Func(Buffer<int>()), "Func: the Buffer is undefined");
        REFUSED(f.update_value(), "f has 2 values; ask for update_values()");
        REFUSED(f.extern_function_name(), "f is not computed by an extern function");
        REFUSED(Tuple(std::vector<Expr>{}), "Tuple: it has no values");
    }
    TEST_CASE("a boundary condition with too few values") {
        Func f("f");
        f(x) = Tuple(x, x + 1);
        REFUSED(BoundaryConditions::constant_exterior(f, 0, {{0, 5}}),
                "constant_exterior: 1 values, but f has 2");
        REFUSED(BoundaryConditions::constant_exterior(f, Tuple(1, 2, 3), {{0, 5}}),
                "constant_exterior: 3 values, but f has 2");
    }
    TEST_CASE("a boundary condition with a value that the type cannot hold") {
        Buffer<uint8_t> bytes(4);
        Buffer<float> floats(4);
        REFUSED(BoundaryConditions::constant_exterior(bytes, 300),
                "has values of type uint8, which cannot hold 300");
        REFUSED(BoundaryConditions::constant_exterior(bytes, -1), "which cannot hold -1");
        REFUSED(BoundaryConditions::constant_exterior(bytes, 0.5f), "which cannot hold 0.5");
        CHECK(BoundaryConditions::constant_exterior(bytes, 255).defined());
        CHECK(BoundaryConditions::constant_exterior(bytes, 2.0f).defined());
        CHECK(BoundaryConditions::constant_exterior(floats, 0.1f).defined());
    }
    TEST_CASE("operands of a type that the function does not take") {
        Expr byte = cast<uint8_t>(x), word = cast<uint16_t>(x), flag = x > 0;
        Param<> handle(Handle(), "handle");
        REFUSED(mux(cast<float>(x), {x, y}), "mux: the index is a float32, not an integer");
        REFUSED(mux(flag, {x, y}), "mux: the index is a bool, not an integer");
        REFUSED(concat_bits({byte, word}), "concat_bits: the operands differ in type");
        REFUSED(lerp(handle, handle, 0.5f), "lerp: the values are handles");
    }
    TEST_CASE("parameters of a type that is none, or is another") {
        REFUSED(Param<>(Int(32, 4), "p"), "Param: the type of a parameter is that of one number");
        REFUSED(Param<>(Type(), "p"), "Param: the type of a parameter is that of one number");
        Param<> p(Int(32), "p"), handle(Handle(), "handle");
        p.set(3);
        REFUSED(p.get<float>(), "Param p is a int32, but is read as a float32");
        CHECK(p.get<int>() == 3);
        REFUSED(handle.set_min_value(0), "set_min_value: the Param handle is a handle");
        REFUSED(p.set_max_value(handle), "set_max_value: the Param p is a handle");
        REFUSED(handle.set_estimate(1), "set_estimate: the Param handle is a handle");
    }
    TEST_CASE("images of no type, or without a Buffer") {
        ImageParam im(Int(32), 1, "im");
        REFUSED(ImageParam(Int(32), -1), "a number of dimensions are wanted, not int32 and -1");
        REFUSED(ImageParam(Int(32, 4), 1), "are wanted, not int32x4 and 1");
        REFUSED(ImageParam(Type(), 1), "ImageParam: a type of one number");
        REFUSED(im.set(Buffer<int>()), "set of im: the Buffer is undefined");
    }
    TEST_CASE("parameters of one name, or of none") {
        Param<int> p("p"), another("p");
        ImageParam a(Int(32), 1, "im"), b(Int(32), 1, "im");
        Func f("f");
        f(x) = p * a(x) + another * b(x);
        Pipeline pipeline(f);
        REFUSED(pipeline.get_param("p"), "the pipeline has several parameters named p");
        REFUSED(pipeline.get_image_param("im"), "the pipeline has several parameters named im");
        const Argument described("p", Argument::InputScalar, Int(32), 0);
        REFUSED(f.compile_to_callable({described, described, a, b}),
                "the pipeline has several parameters named p, and the argument says only the name; "
                "pass the Param or ImageParam itself");
        REFUSED(pipeline.get_param("q"), "the pipeline has no scalar parameter named q; it has p");
        REFUSED(pipeline.get_image_param("p"), "the pipeline has no image parameter named p");
    }
    TEST_CASE("a Callable that lacks an argument") {
        Param<int> p("p");
        ImageParam im(Int(32), 1, "im");
        Func f("f");
        f(x) = p * im(x);
        REFUSED(f.compile_to_callable({im}),
                "compile_to_callable: the pipeline also reads p, which "
                "is not in the list of its arguments");
    }
    TEST_CASE("limits that the type of a Param cannot hold") {
        Param<uint8_t> p("p");
        REFUSED(p.set_range(3, 300), "set_max_value: the Param p is of type uint8, which cannot "
                                     "hold 300");
        REFUSED(p.set_min_value(-1), "set_min_value: the Param p is of type uint8, which cannot");
        REFUSED(p.set_estimate(1000), "set_estimate: the Param p is of type uint8, which cannot");
        p.set_range(3, 255);
        CHECK(p.max_value().defined());
        Param<float> scale("scale");
        scale.set_range(0, 300);
    }
    TEST_CASE("what has to be known before the pipeline runs, and depends on what it computes") {
        ImageParam n(Int(32), 1, "n");
        Func h("h"), s("s"), e("e");
        h(x) = x + 5;
        s(x) = x;
        const char *image = "depends on values of n_im";
        REFUSED(RDom(0, n(0)), image);
        REFUSED(RDom(n(0), 5), "make the box large enough and use where()");
        REFUSED(RDom(0, h(0)), "RDom: the bound h(0) depends on values of h");
        REFUSED(RDom(0, undef<int>()), "depends on an undefined value");
        REFUSED(RDom(0, random_int()), "depends on a random number");
        Pipeline p(s);
        REFUSED(p.add_requirement(n(0) > 7), image);
        REFUSED(p.add_requirement(Expr(x) > 7), "depends on the variable x");
        REFUSED(p.add_requirement(Param<int>("q") > 7, h(0)), "depends on values of h");
        REFUSED(e.define_extern("nothing", {n(0)}, Int(32), {x}), image);
        REFUSED(e.define_extern("nothing", {Expr(x)}, Int(32), {x}), "depends on the variable x");
        REFUSED(s.prefetch(n, x, x, n(0)), image);
        REFUSED(s.specialize(undef<int>() > 3), "depends on an undefined value");
        REFUSED(s(undef<int>()) = 3, "undef is a value, and no coordinate");
        Buffer<int> known(1), many(10);
        known(0) = 4;
        many.fill(1);
        RDom r(0, known(Expr(0)));
        Func sum("sum");
        sum() += many(clamp(r, 0, 9));
        CHECK(Buffer<int>(sum.realize())() == 4);
    }
    TEST_CASE("the schedule of a wrapper or clone is one of the Func's that it is made of") {
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x);
        Func wrapper = f.in(g), clone = g.clone_in(g.in());
        REFUSED(wrapper.schedule_as_cpp(), "is made by in() or clone_in()");
    }
}
