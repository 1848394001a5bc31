#include "../program.h"

namespace {
Var x("x"), y("y");
}

REFUSED(image_without_a_buffer, "has no Buffer; call set() before realize()") {
    ImageParam in(Int(32), 1);
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(image_that_is_too_small, "the pipeline touches [0, 5], but the buffer has [0, 3]") {
    ImageParam in(Int(32), 1);
    Func f;
    f(x) = in(x) + in(x + 2);
    in.set(Buffer<int>(4));
    f.realize({4});
}
REFUSED(buffer_that_is_too_small, "the pipeline touches [1, 4], but the buffer has [0, 3]") {
    Buffer<int> in(4);
    Func f;
    f(x) = in(x + 1);
    f.realize({4});
}
REFUSED(image_of_another_type, "but the Buffer is of type float32") {
    ImageParam in(Int(32), 1);
    in.set(Buffer<float>(4));
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(image_of_another_rank, "but the Buffer is of type int32 with 2") {
    ImageParam in(Int(32), 1);
    in.set(Buffer<int>(4, 4));
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(sizes_of_another_rank, "has 2 dimensions, but 1 sizes are given") {
    Func f;
    f(x, y) = x;
    f.realize({4});
}
REFUSED(output_of_another_type, "has elements of type float32, but the pipeline was compiled for") {
    Func f;
    f(x) = x;
    Buffer<float> out(4);
    f.realize(out);
}
REFUSED(output_of_another_rank, "has 1 dimension, but the Buffer for it has 2") {
    Func f;
    f(x) = x;
    Buffer<int> out(4, 4);
    f.realize(out);
}
REFUSED(result_of_another_type, "has elements of type int32, not float32") {
    Func f;
    f(x) = x;
    Buffer<float> out = f.realize({4});
}
REFUSED(tuple_into_one_buffer, "a Realization of 2 results stands for no single Buffer") {
    Func f;
    f(x) = Tuple(x, x + 1);
    Buffer<int> out = f.realize({4});
}
REFUSED(too_few_outputs, "has 2 results, but is to be realized into 1 Buffers") {
    Func f;
    f(x) = Tuple(x, x + 1);
    Buffer<int> out(4);
    f.realize(out);
}
REFUSED(too_many_outputs, "has 1 results, but is to be realized into 2 Buffers") {
    Func f;
    f(x) = x;
    Buffer<int> a(4), b(4);
    f.realize({a, b});
}
REFUSED(tuple_outputs_of_two_shapes, ".1.extent.1 is 5, but must be 4") {
    Func f;
    f(x, y) = Tuple(x, y);
    Buffer<int> a(4, 4), b(4, 5);
    f.realize({a, b});
}
REFUSED(output_without_memory, "the Buffer for an output has no memory") {
    Func f;
    f(x) = x;
    Buffer<int> out(nullptr, 4);
    f.realize(out);
    if (out.data()) out(0) = 1;
    throw RuntimeError("a query");
}
REFUSED(parameter_below_its_range, "Parameter p is -1, but must be at least 0") {
    Param<int> p("p", 5, 0, 10);
    p.set(-1);
    Func f;
    f(x) = p;
    f.realize({4});
}
REFUSED(parameter_above_its_range, "is 2, but must be at most 1") {
    Param<float> p;
    p.set_range(0.0f, 1.0f);
    p.set(2.0f);
    Func f;
    f(x) = p;
    f.realize({4});
}
REFUSED(requirement_of_a_pipeline, "> 5: p is 3") {
    Param<int> p;
    p.set(3);
    Func f;
    f(x) = p;
    Pipeline pipeline(f);
    pipeline.add_requirement(p > 5, "p is", p);
    pipeline.realize({4});
}
REFUSED(requirement_of_a_value, "Requirement failed: p has to be more than 5, but is 3") {
    Param<int> p;
    p.set(3);
    Func f;
    f(x) = require(p > 5, x, "p has to be more than 5, but is", p);
    f.realize({4});
}
REFUSED(extent_that_is_fixed, ".extent.0 is 10, but must be 8") {
    ImageParam in(Int(32), 1);
    in.dim(0).set_extent(8);
    in.set(Buffer<int>(10));
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(stride_that_is_fixed, ".stride.0 is 3, but must be 1") {
    ImageParam in(Int(32), 2);
    in.dim(0).set_stride(1);
    Buffer<int> planar(3, 4), turned = planar.transposed(0, 1);
    in.set(turned);
    Func f;
    f(x, y) = in(x, y);
    f.realize({4, 3});
}
REFUSED(output_stride_that_is_fixed, ".stride.1 is 4, but must be 100") {
    Func f;
    f(x, y) = x;
    f.output_buffer().dim(1).set_stride(100);
    f.realize({4, 3});
    Buffer<int> out(4, 3);
    f.realize(out);
}
REFUSED(minimum_that_is_fixed, "the pipeline touches [0, 3], but the buffer has [2, 5]") {
    Func f;
    f(x) = x;
    f.output_buffer().dim(0).set_min(0);
    Buffer<int> out(4);
    out.set_min(2);
    f.realize(out);
}
REFUSED(constraint_by_a_var, "set_extent: x depends on the variable x") {
    ImageParam in(Int(32), 1);
    in.dim(0).set_extent(x);
    in.set(Buffer<int>(4));
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(constraints_that_contradict, "the pipeline touches [0, 3], but the buffer has [0, 1]") {
    ImageParam in(Int(32), 1);
    in.dim(0).set_bounds(0, 2);
    in.set(Buffer<int>(2));
    Func f;
    f(x) = in(x);
    f.realize({4});
}
REFUSED(host_that_is_not_aligned, "is not aligned to 64 bytes, as the pipeline was promised") {
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
REFUSED(callable_without_an_argument, "compile_to_callable: the pipeline also reads p") {
    Param<int> p("p");
    Func f;
    f(x) = x + p;
    Callable c = f.compile_to_callable({});
}
REFUSED(callable_called_with_too_few, "the Callable takes 2 arguments") {
    Param<int> p("p");
    Func f;
    f(x) = x + p;
    Callable c = f.compile_to_callable({p});
    Buffer<int> out(4);
    c(out);
}
REFUSED(callable_called_with_another_type, "but one of type float32 is passed") {
    Param<int> p("p");
    Func f;
    f(x) = x + p;
    Callable c = f.compile_to_callable({p});
    Buffer<int> out(4);
    c(1.5f, out);
}
REFUSED(callable_called_with_another_buffer, "but one of type float32 is passed") {
    Func f;
    f(x) = x;
    Callable c = f.compile_to_callable({});
    Buffer<float> out(4);
    c(out);
}
REFUSED(callable_called_with_another_rank, "has 1 dimension, but the Buffer for it has 2") {
    Func f;
    f(x) = x;
    Callable c = f.compile_to_callable({});
    Buffer<int> out(4, 4);
    c(out);
}
REFUSED(callable_as_another_function, "but one of type float32 is passed") {
    Param<int> p("p");
    Func f;
    f(x) = x + p;
    Callable c = f.compile_to_callable({p});
    auto g = c.make_std_function<float, Buffer<int, 1>>();
    Buffer<int, 1> out(4);
    g(1.0f, out);
}
REFUSED(object_without_an_argument, "the pipeline f also reads p") {
    Param<int> p("p");
    Func f("f");
    f(x) = x + p;
    f.compile_to_object("/tmp/never.o", {}, "f");
}
REFUSED(buffer_of_another_type, "has elements of type int32, not float32") {
    Buffer<> any(Int(32), 4);
    Buffer<float> typed = any;
}
REFUSED(buffer_of_another_rank, "has 2 dimensions, not 1") {
    Buffer<int> two(4, 4);
    Buffer<int, 1> one = two;
}
REFUSED(undefined_buffer_asked, "this Buffer is undefined: it was made without a size") {
    Buffer<int> b;
    b.width();
    b(0) = 1;
}
REFUSED(undefined_buffer_in_a_definition, "an element of a Buffer that is undefined is used") {
    Buffer<int> b;
    Func f;
    f(x) = b(x);
    f.realize({4});
}
REFUSED(image_with_too_many_coordinates, "has 1 dimension, but is used with 2 arguments") {
    ImageParam in(Int(32), 1);
    Func f;
    f(x) = in(x, x);
}
REFUSED(image_dimension_that_is_not_there, "dim(3) of") {
    ImageParam in(Int(32), 1);
    Expr e = in.dim(3).extent();
    Func f;
    f(x) = e;
    in.set(Buffer<int>(4));
    f.realize({4});
}
REFUSED(unknown_target, "\"no_such_feature\" is no word of a target") {
    Target t("x86-64-linux-avx-no_such_feature");
}
REFUSED(unknown_architecture, "\"pdp11\" is no word of a target") { Target t("pdp11-16-unix"); }
REFUSED(jit_for_another_machine, "cannot run code for the target arm-32-android-jit") {
    Func f;
    f(x) = x;
    f.realize({4}, Target("arm-32-android"));
}
REFUSED(extern_that_is_not_there, "the pipeline calls no_such_function_anywhere") {
    Func f;
    f.define_extern("no_such_function_anywhere", {}, Int(32), 1);
    f.realize({4});
}
REFUSED(extern_after_definition, "is defined already, so it cannot be an extern stage") {
    Func f;
    f(x) = x;
    f.define_extern("no_such_function_anywhere", {}, Int(32), 1);
}
REFUSED(definition_after_extern, "is computed by an extern function and has no updates") {
    Func f;
    f.define_extern("no_such_function_anywhere", {}, Int(32), 1);
    f(x) = x;
}
REFUSED(extern_of_another_rank, "has 2 dimensions (_0, _1), but is used with 1 argument") {
    Func f, g;
    f.define_extern("no_such_function_anywhere", {}, Int(32), 2);
    g(x) = f(x);
}
REFUSED(autoscheduler_that_is_not_there, "there is no autoscheduler \"NoSuchScheduler\"") {
    Func f;
    f(x) = x;
    f.set_estimate(x, 0, 100);
    Pipeline(f).apply_autoscheduler(get_host_target(), AutoschedulerParams("NoSuchScheduler"));
}
REFUSED(pipeline_of_no_output, "Pipeline: there are no outputs") {
    std::vector<Func> none;
    Pipeline p(none);
    p.realize({1});
}
REFUSED(boundary_without_bounds, "only one of min and extent is defined") {
    Func f, g;
    f(x) = x;
    g = BoundaryConditions::repeat_edge(f, {{0, Expr()}});
    g.realize({4});
}
REFUSED(boundary_of_too_many_dimensions, "constant_exterior: bounds of 2 dimensions, but") {
    Func f, g;
    f(x) = x;
    g = BoundaryConditions::constant_exterior(f, 0, {{0, 4}, {0, 4}});
    g.realize({4});
}
REFUSED(handler_of_errors, "the handler was told") {
    Func f;
    Buffer<int> in(2);
    f(x) = in(x);
    static int told;
    told = 0;
    f.jit_handlers().custom_error = [](JITUserContext *, const char *) { told++; };
    f.realize({10});
    if (told > 0) throw RuntimeError("the handler was told");
}
REFUSED(output_file_in_no_folder, "cannot write the file /no/such/folder/f.o") {
    Func f("f");
    f(x) = x;
    f.compile_to_object("/no/such/folder/f.o", {}, "f");
}
REFUSED(parameter_that_loses_its_value, "Param p is a uint8, which cannot hold the given int32") {
    Param<> p(UInt(8), "p");
    p.set(1000);
    Func f;
    f(x) = p;
    f.realize({4});
}
REFUSED(typed_parameter_that_loses_its_value, "Param p is a uint8, which cannot hold 1000") {
    Param<uint8_t> p("p");
    p.set(1000);
    Func f;
    f(x) = p;
    f.realize({4});
}
REFUSED(too_large_an_output, "needs 1125899907891200 bytes") {
    Func f;
    f(x, y) = cast<uint8_t>(x);
    Func g;
    g(x) = f(x, 0) + f(x, 1 << 30);
    f.compute_root();
    g.realize({1 << 20});
}
REFUSED(vectors_of_no_machine, "does not say for which machine, so that it has no vectors") {
    std::printf("%d\n", Target().natural_vector_size<float>());
}
REFUSED(loop_level_before_it_is_set, "this LoopLevel may still become another: call lock() first") {
    std::printf("%s\n", LoopLevel().func().c_str());
}
REFUSED(loop_level_before_lock, "this LoopLevel may still become another: call lock() first") {
    Var x;
    Func f;
    f(x) = x;
    std::printf("%s\n", LoopLevel(f, x).func().c_str());
}
REFUSED(loop_level_that_is_no_loop, "this LoopLevel is root, and not at a loop of a Func") {
    LoopLevel root = LoopLevel::root();
    root.lock();
    std::printf("%s\n", root.var().name().c_str());
}
REFUSED(require_in_async, "Requirement failed: a requirement") {
    Func f, g;
    Var x;
    f(x) = require(x < 10, x);
    g(x) = f(x) + 1;
    f.compute_root().async();
    g.realize({20});
}
REFUSED(broken_promise, "is not between 0 and 5") {
    Func f;
    Var x;
    f(x) = unsafe_promise_clamped(x, 0, 5);
    f.realize({10}, get_jit_target_from_environment().with_feature(Target::CheckUnsafePromises));
}
REFUSED(missing_arguments, "the pipeline f also reads") {
    Func f;
    Param<float> a, b, c, d;
    ImageParam e(UInt(8), 1);
    Buffer<int> g(10);
    g.fill(1);  // the definition takes an element as it is now
    f() = a + b + c + d + e(0) + g(2);
    f.compile_to_object("w_missing.o", {a}, "f");
}
REFUSED(callable_of_unknown_arguments, "compile_to_callable: the pipeline also reads q") {
    Func f;
    Var x;
    Param<int> p("p"), q("q");
    f(x) = p + q;
    Callable c = f.compile_to_callable({p});
}
REFUSED(callable_of_nothing, "this Callable is undefined") {
    Callable c;
    c(1);
}
REFUSED(param_out_of_range_set, "Parameter p is 9, but must be at most 5") {
    Param<uint8_t> p("p");
    p.set_range(1, 5);
    p.set(9);
    Func f;
    f() = p;
    f.realize();
}
REFUSED(requirement_of_func, "> 5: p must be big") {
    Func f;
    Var x;
    Param<int> p;
    f(x) = x;
    f.add_requirement(p > 5, "p must be big");
    p.set(3);
    f.realize({3});
}
REFUSED(incomplete_target, "the target \"debug-trace_all\" does not say its architecture") {
    Target t("debug-trace_all");
    t.natural_vector_size(Float(32));
}
REFUSED(incomplete_target_runs, "the target \"x86-64\" does not say its operating system") {
    Func f;
    Var x;
    f(x) = x;
    f.realize({10}, Target("x86-64"));
}
REFUSED(files_for_an_unknown_target, "does not say for which machine") {
    Func f("f");
    Var x;
    f(x) = x;
    f.compile_to_file("of_unknown_target", {}, "f", Target());
}
REFUSED(features_of_another_architecture, "sve is a feature of arm, not of x86") {
    Target("x86-64-linux-sve");
}
REFUSED(two_widths_of_a_target, "the target \"x86-64-linux-32\" says its bits twice") {
    Target("x86-64-linux-32");
}
