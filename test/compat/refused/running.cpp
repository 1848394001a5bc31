#include "../program.h"

namespace {
Var x("x"), y("y");
}

REFUSED(image_without_a_buffer) {
    ImageParam in(Int(32), 1);
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(image_that_is_too_small) {
    ImageParam in(Int(32), 1);
    Func f;
    f(x) = in(x) + in(x + 2);
    in.set(Buffer<int>(4));
    f.realize({4});
}
REFUSED(buffer_that_is_too_small) {
    Buffer<int> in(4);
    Func f;
    f(x) = in(x + 1);
    f.realize({4});
}
REFUSED(image_of_another_type) {
    ImageParam in(Int(32), 1);
    in.set(Buffer<float>(4));
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(image_of_another_rank) {
    ImageParam in(Int(32), 1);
    in.set(Buffer<int>(4, 4));
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(sizes_of_another_rank) {
    Func f;
    f(x, y) = x;
    f.realize({4});
}
REFUSED(output_of_another_type) {
    Func f;
    f(x) = x;
    Buffer<float> out(4);
    f.realize(out);
}
REFUSED(output_of_another_rank) {
    Func f;
    f(x) = x;
    Buffer<int> out(4, 4);
    f.realize(out);
}
REFUSED(result_of_another_type) {
    Func f;
    f(x) = x;
    Buffer<float> out = f.realize({4});
}
REFUSED(tuple_into_one_buffer) {
    Func f;
    f(x) = Tuple(x, x + 1);
    Buffer<int> out = f.realize({4});
}
REFUSED(too_few_outputs) {
    Func f;
    f(x) = Tuple(x, x + 1);
    Buffer<int> out(4);
    f.realize(out);
}
REFUSED(too_many_outputs) {
    Func f;
    f(x) = x;
    Buffer<int> a(4), b(4);
    f.realize({a, b});
}
REFUSED(tuple_outputs_of_two_shapes) {
    Func f;
    f(x, y) = Tuple(x, y);
    Buffer<int> a(4, 4), b(4, 5);
    f.realize({a, b});
}
REFUSED(output_without_memory) {
    Func f;
    f(x) = x;
    Buffer<int> out(nullptr, 4);
    f.realize(out);
    if (out.data()) out(0) = 1;
    throw RuntimeError("a query");
}
REFUSED(parameter_below_its_range) {
    Param<int> p("p", 5, 0, 10);
    p.set(-1);
    Func f;
    f(x) = p;
    f.realize({4});
}
REFUSED(parameter_above_its_range) {
    Param<float> p;
    p.set_range(0.0f, 1.0f);
    p.set(2.0f);
    Func f;
    f(x) = p;
    f.realize({4});
}
REFUSED(requirement_of_a_pipeline) {
    Param<int> p;
    p.set(3);
    Func f;
    f(x) = p;
    Pipeline pipeline(f);
    pipeline.add_requirement(p > 5, "p is", p);
    pipeline.realize({4});
}
REFUSED(requirement_of_a_value) {
    Param<int> p;
    p.set(3);
    Func f;
    f(x) = require(p > 5, x, "p has to be more than 5, but is", p);
    f.realize({4});
}
REFUSED(extent_that_is_fixed) {
    ImageParam in(Int(32), 1);
    in.dim(0).set_extent(8);
    in.set(Buffer<int>(10));
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(stride_that_is_fixed) {
    ImageParam in(Int(32), 2);
    in.dim(0).set_stride(1);
    Buffer<int> planar(3, 4), turned = planar.transposed(0, 1);
    in.set(turned);
    Func f;
    f(x, y) = in(x, y);
    f.realize({4, 3});
}
REFUSED(output_stride_that_is_fixed) {
    Func f;
    f(x, y) = x;
    f.output_buffer().dim(1).set_stride(100);
    f.realize({4, 3});
    Buffer<int> out(4, 3);
    f.realize(out);
}
REFUSED(minimum_that_is_fixed) {
    Func f;
    f(x) = x;
    f.output_buffer().dim(0).set_min(0);
    Buffer<int> out(4);
    out.set_min(2);
    f.realize(out);
}
REFUSED(constraint_by_a_var) {
    ImageParam in(Int(32), 1);
    in.dim(0).set_extent(x);
    in.set(Buffer<int>(4));
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(constraints_that_contradict) {
    ImageParam in(Int(32), 1);
    in.dim(0).set_bounds(0, 2);
    in.set(Buffer<int>(2));
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(host_that_is_not_aligned) {
    ImageParam in(UInt(8), 1);
    in.set_host_alignment(64);
    std::vector<uint8_t> memory(200);
    uint8_t *odd = memory.data();
    while ((uintptr_t)odd % 64 != 1) odd++;
    in.set(Buffer<uint8_t>(odd, 16));
    Func f;
    f(x) = in(x);
    f.realize({16});
}
REFUSED(callable_without_an_argument) {
    Param<int> p("p");
    Func f;
    f(x) = x + p;
    Callable c = f.compile_to_callable({});
}
REFUSED(callable_called_with_too_few) {
    Param<int> p("p");
    Func f;
    f(x) = x + p;
    Callable c = f.compile_to_callable({p});
    Buffer<int> out(4);
    c(out);
}
REFUSED(callable_called_with_another_type) {
    Param<int> p("p");
    Func f;
    f(x) = x + p;
    Callable c = f.compile_to_callable({p});
    Buffer<int> out(4);
    c(1.5f, out);
}
REFUSED(callable_called_with_another_buffer) {
    Func f;
    f(x) = x;
    Callable c = f.compile_to_callable({});
    Buffer<float> out(4);
    c(out);
}
REFUSED(callable_called_with_another_rank) {
    Func f;
    f(x) = x;
    Callable c = f.compile_to_callable({});
    Buffer<int> out(4, 4);
    c(out);
}
REFUSED(callable_as_another_function) {
    Param<int> p("p");
    Func f;
    f(x) = x + p;
    Callable c = f.compile_to_callable({p});
    auto g = c.make_std_function<float, Buffer<int, 1>>();
    Buffer<int, 1> out(4);
    g(1.0f, out);
}
REFUSED(object_without_an_argument) {
    Param<int> p("p");
    Func f("f");
    f(x) = x + p;
    f.compile_to_object("/tmp/never.o", {}, "f");
}
REFUSED(buffer_of_another_type) {
    Buffer<> any(Int(32), 4);
    Buffer<float> typed = any;
}
REFUSED(buffer_of_another_rank) {
    Buffer<int> two(4, 4);
    Buffer<int, 1> one = two;
}
REFUSED(undefined_buffer_asked) {
    Buffer<int> b;
    b.width();
    b(0) = 1;
}
REFUSED(undefined_buffer_in_a_definition) {
    Buffer<int> b;
    Func f;
    f(x) = b(x);
    f.realize({4});
}
REFUSED(image_with_too_many_coordinates) {
    ImageParam in(Int(32), 1);
    Func f;
    f(x) = in(x, x);
}
REFUSED(image_dimension_that_is_not_there) {
    ImageParam in(Int(32), 1);
    Expr e = in.dim(3).extent();
    Func f;
    f(x) = e;
    in.set(Buffer<int>(4));
    f.realize({4});
}
REFUSED(unknown_target) { Target t("x86-64-linux-avx-no_such_feature"); }
REFUSED(unknown_architecture) { Target t("pdp11-16-unix"); }
REFUSED(jit_for_another_machine) {
    Func f;
    f(x) = x;
    f.realize({4}, Target("arm-32-android"));
}
REFUSED(extern_that_is_not_there) {
    Func f;
    f.define_extern("no_such_function_anywhere", {}, Int(32), 1);
    f.realize({4});
}
REFUSED(extern_after_definition) {
    Func f;
    f(x) = x;
    f.define_extern("no_such_function_anywhere", {}, Int(32), 1);
}
REFUSED(definition_after_extern) {
    Func f;
    f.define_extern("no_such_function_anywhere", {}, Int(32), 1);
    f(x) = x;
}
REFUSED(extern_of_another_rank) {
    Func f, g;
    f.define_extern("no_such_function_anywhere", {}, Int(32), 2);
    g(x) = f(x);
}
REFUSED(autoscheduler_that_is_not_there) {
    Func f;
    f(x) = x;
    f.set_estimate(x, 0, 100);
    Pipeline(f).apply_autoscheduler(get_host_target(), AutoschedulerParams("NoSuchScheduler"));
}
REFUSED(pipeline_of_no_output) {
    std::vector<Func> none;
    Pipeline p(none);
    p.realize({1});
}
REFUSED(boundary_without_bounds) {
    Func f, g;
    f(x) = x;
    g = BoundaryConditions::repeat_edge(f, {{0, Expr()}});
    g.realize({4});
}
REFUSED(boundary_of_too_many_dimensions) {
    Func f, g;
    f(x) = x;
    g = BoundaryConditions::constant_exterior(f, 0, {{0, 4}, {0, 4}});
    g.realize({4});
}
REFUSED(handler_of_errors) {
    Func f;
    Buffer<int> in(2);
    f(x) = in(x);
    static int told;
    told = 0;
    f.jit_handlers().custom_error = [](JITUserContext *, const char *) { told++; };
    f.realize({10});
    if (told > 0) throw RuntimeError("the handler was told");
}
REFUSED(output_file_in_no_folder) {
    Func f("f");
    f(x) = x;
    f.compile_to_object("/no/such/folder/f.o", {}, "f");
}
REFUSED(parameter_that_loses_its_value) {
    Param<> p(UInt(8), "p");
    p.set(1000);
    Func f;
    f(x) = p;
    f.realize({4});
}
REFUSED(typed_parameter_that_loses_its_value) {
    Param<uint8_t> p("p");
    p.set(1000);
    Func f;
    f(x) = p;
    f.realize({4});
}
REFUSED(too_large_an_output) {
    Func f;
    f(x, y) = cast<uint8_t>(x);
    Func g;
    g(x) = f(x, 0) + f(x, 1 << 30);
    f.compute_root();
    g.realize({1 << 20});
}
REFUSED(vectors_of_no_machine) { std::printf("%d\n", Target().natural_vector_size<float>()); }
REFUSED(loop_level_before_it_is_set) { std::printf("%s\n", LoopLevel().func().c_str()); }
REFUSED(loop_level_before_lock) {
    Var x;
    Func f;
    f(x) = x;
    std::printf("%s\n", LoopLevel(f, x).func().c_str());
}
REFUSED(loop_level_that_is_no_loop) {
    LoopLevel root = LoopLevel::root();
    root.lock();
    std::printf("%s\n", root.var().name().c_str());
}
REFUSED(require_in_async) {
    Func f, g;
    Var x;
    f(x) = require(x < 10, x);
    g(x) = f(x) + 1;
    f.compute_root().async();
    g.realize({20});
}
REFUSED(broken_promise) {
    Func f;
    Var x;
    f(x) = unsafe_promise_clamped(x, 0, 5);
    f.realize({10}, get_jit_target_from_environment().with_feature(Target::CheckUnsafePromises));
}
REFUSED(missing_arguments) {
    Func f;
    Param<float> a, b, c, d;
    ImageParam e(UInt(8), 1);
    Buffer<int> g(10);
    f() = a + b + c + d + e(0) + g(2);
    f.compile_to_object("/tmp/w_missing.o", {a}, "f");
}
REFUSED(callable_of_unknown_arguments) {
    Func f;
    Var x;
    Param<int> p("p"), q("q");
    f(x) = p + q;
    Callable c = f.compile_to_callable({p});
}
REFUSED(callable_of_nothing) {
    Callable c;
    c(1);
}
REFUSED(param_out_of_range_set) {
    Param<uint8_t> p("p");
    p.set_range(1, 5);
    p.set(9);
    Func f;
    f() = p;
    f.realize();
}
REFUSED(requirement_of_func) {
    Func f;
    Var x;
    Param<int> p;
    f(x) = x;
    f.add_requirement(p > 5, "p must be big");
    p.set(3);
    f.realize({3});
}
REFUSED(incomplete_target) {
    Target t("debug-trace_all");
    t.natural_vector_size(Float(32));
}
REFUSED(incomplete_target_runs) {
    Func f;
    Var x;
    f(x) = x;
    f.realize({10}, Target("x86-64"));
}
REFUSED(files_for_an_unknown_target) {
    Func f("f");
    Var x;
    f(x) = x;
    f.compile_to_file("of_unknown_target", {}, "f", Target());
}
REFUSED(features_of_another_architecture) { Target("x86-64-linux-sve"); }
REFUSED(two_widths_of_a_target) { Target("x86-64-linux-32"); }
