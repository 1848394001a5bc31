#include "../program.h"

extern "C" {
HALIDE_EXPORT_SYMBOL int wr_stage(halide_buffer_t *) { return 0; }
HALIDE_EXPORT_SYMBOL int wr_copy(halide_buffer_t *, halide_buffer_t *) { return 0; }
}

REFUSED(atomic_self_reference) {
    Func f;
    Var x;
    RDom r(0, 100);
    f(x) = x;
    f(clamp(f(r), 0, 99)) = f(r) + 1;
    f.compute_root();
    f.update().atomic().parallel(r);
    f.realize({100});
}
REFUSED(atomic_self_reference_by_another) {
    Func f, g;
    Var x;
    RDom r(0, 100);
    f(x) = x;
    f(r) = f(f(r)) + 1;
    f.compute_root().update().atomic().vectorize(r, 4);
    g(x) = f(x);
    g.realize({100});
}
REFUSED(atomic_vectorized_mutex) {
    Buffer<int> im(100);
    im.fill(1);
    Func f;
    Var x;
    RDom r(0, 100);
    f(x) = Tuple(0, 1);
    f(im(r)) = Tuple(f(im(r))[1] + 1, f(im(r))[0] + 1);
    f.compute_root().update().atomic(true).vectorize(r, 8);
    f.realize({100});
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
REFUSED(buffer_beyond_memory) { Buffer<uint8_t> b(1 << 24, 1 << 24, 1 << 24); }
REFUSED(buffer_beyond_two_gigs) {
    Buffer<uint8_t> b(1 << 16, 1 << 16);
    Func f;
    Var x, y;
    f(x, y) = cast<uint8_t>(x);
    f.realize(b);
}
REFUSED(constraint_of_output_by_non_param) {
    Func f;
    Var x;
    Func g;
    g(x) = x;
    f(x) = x;
    f.output_buffer().dim(0).set_extent(g(3));
    f.realize({10});
}
REFUSED(device_dirty) {
    ImageParam in(Int(32), 1);
    Func f;
    Var x;
    f(x) = in(x);
    Buffer<int> b(10);
    b.set_device_dirty(true);
    in.set(b);
    f.realize({10});
}
REFUSED(expanding_reduction) {
    Func f;
    Var x;
    RDom r(0, 20);
    f(x) = x;
    f(r) = f(r - 1) + f(r + 1);
    Buffer<int> out(10);
    f.realize(out);
}
REFUSED(extern_of_itself) {
    Func f;
    f.define_extern("wr_copy", {f}, Int(32), 1);
    f.realize({10});
}
REFUSED(typed_func_extern_dims) {
    Func f(Int(32), 1, "f");
    f.define_extern("wr_stage", {}, Int(32), 2);
}
REFUSED(typed_func_extern_type) {
    Func f(Int(32), 1, "f");
    f.define_extern("wr_stage", {}, Float(32), 1);
}
REFUSED(typed_tuple_types) {
    Func f({Int(32), Float(32)}, 1, "f");
    Var x;
    f(x) = Tuple(x, x);
}
REFUSED(typed_tuple_update) {
    Func f({Int(32), Float(32)}, 1, "f");
    Var x;
    f(x) += Tuple(x, x);
}
REFUSED(typed_func_update_type) {
    Func f(Int(32), 1, "f");
    Var x;
    f(x) += 1.5f;
}
REFUSED(typed_func_undefined_realize) {
    Func f(Int(32), 1, "f");
    f.realize({10});
}
REFUSED(impossible_constraints) {
    ImageParam in(Float(32), 2);
    Var x, y;
    Func f;
    f(x, y) = in(x, y) + in(x + 10, y);
    in.dim(0).set_bounds(0, 100).dim(1).set_bounds(0, 100);
    in.dim(0).set_extent(f.output_buffer().dim(0).extent());
    f.infer_input_bounds({100, 100});
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
REFUSED(inspected_loop_level) {
    LoopLevel root = LoopLevel::root();
    printf("%s", root.to_string().c_str());
}
REFUSED(undefined_loop_level) {
    LoopLevel l;
    printf("%s", l.lock().to_string().c_str());
}
REFUSED(missing_arguments) {
    Func f;
    Param<float> a, b, c, d;
    ImageParam e(UInt(8), 1);
    Buffer<int> g(10);
    f() = a + b + c + d + e(0) + g(2);
    f.compile_to_object("/tmp/w_missing.o", {a}, "f");
}
REFUSED(modulo_zero) {
    Func f;
    Var x;
    f(x) = x % 0;
    f.realize({10});
}
REFUSED(null_host) {
    Func f;
    Var x;
    f(x) = x;
    Buffer<int> b(nullptr, 10);
    f.realize(b);
}
REFUSED(pointer_arithmetic) {
    Param<const char *> p;
    Expr e = p + 2;
}
REFUSED(rdom_where_races) {
    Func f;
    Var x;
    RDom r(0, 100);
    r.where(r.x % 2 == 0);
    f(x) = 0;
    f(r / 2) = r;
    f.update().parallel(r);
    f.realize({100});
}
REFUSED(unbounded_reduction) {
    Func f;
    Var x;
    RDom r;
    f(x) = 0;
    f(r.x) = 1;
}
REFUSED(reduction_bounds_of_func) {
    Func f, g;
    Var x, y;
    f(x, y) = 0;
    g(x, y) = x;
    RDom r(0, g(0, 0));
    f(x, r) += 1;
    f.realize({10, 10});
}
REFUSED(shift_blend_race) {
    Func f;
    Var x;
    f(x) = 0;
    f(x) += 5;
    f.update().vectorize(x, 8, TailStrategy::ShiftInwardsAndBlend).parallel(x);
    f.realize({100});
}
REFUSED(inner_wrong_tail) {
    Func f;
    Var x, xo, xi, xio, xii;
    RDom r(0, 100);
    RVar ro, ri, rio, rii;
    f(x) = 0;
    f(x) += r;
    f.update().split(r, ro, ri, 10).split(ri, rio, rii, 3, TailStrategy::RoundUp);
    f.realize({10});
}
REFUSED(predicated_not_innermost) {
    Func f;
    Var x, xo, xi, xio, xii;
    f(x) = x;
    f.split(x, xo, xi, 10, TailStrategy::PredicateStores)
        .split(xo, xio, xii, 4, TailStrategy::PredicateStores);
    f.compute_root().split(x, xo, xi, 2);
    f.realize({10});
}
REFUSED(select_of_undefined_tuples) {
    Tuple t = select(Tuple(Expr(), Expr()), Tuple(1, 2), Tuple(3, 4));
}
REFUSED(select_of_undefined_values) { Tuple t = select(Expr(true), Tuple(Expr(), 2), Tuple(3, 4)); }
REFUSED(tuple_output_bounds) {
    Func f;
    Var x;
    f(x) = Tuple(x, x);
    Buffer<int> a(10), b(20);
    f.realize({a, b});
}
REFUSED(tuple_to_buffer) {
    Func f;
    Var x;
    f(x) = Tuple(x, x);
    Buffer<int> a = f.realize({10});
}
REFUSED(unbounded_input) {
    ImageParam in(Int(32), 1);
    Func f, g;
    Var x;
    g(x) = x * x;
    f(x) = in(g(x) * 1000000) + in(reinterpret<int>(sin(cast<float>(x))));
    Buffer<int> b(10);
    in.set(b);
    f.realize({10});
}
REFUSED(unbounded_output) {
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
REFUSED(uninitialized_image) {
    ImageParam in(Int(32), 2);
    Param<int> p;
    Func f;
    Var x, y;
    f(x, y) = in(x, y) + p;
    p.set(1);
    f.realize({10, 10});
}
REFUSED(vectorize_too_much) {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.bound(x, 0, 10).vectorize(x, 32);
    f.compute_root().vectorize(x, 1 << 17);
    f.realize({10, 10});
}
REFUSED(vectorized_extern) {
    Func f;
    Var x("x"), xo, xi;
    f.define_extern("wr_stage", {}, Int(32), {x});
    f.compute_root().split(x, xo, xi, 8).vectorize(xi);
    Func g;
    g(x) = f(x);
    g.realize({16});
}
REFUSED(custom_after_shared_wrapper) {
    Func f, g1, g2, g3;
    Var x, y;
    f(x) = x;
    g1(x) = f(x);
    g2(x) = f(x);
    g3(x) = f(x);
    Func w1 = f.in({g1, g2});
    Func w2 = f.in({g1, g3});
}
REFUSED(wrapper_of_a_frozen_func) {
    Func f, g;
    Var x;
    f(x) = x;
    g(x) = f(x);
    g.realize({10});
    Func w = f.in(g);
    w(x) += 1;
    g(x) = 3;
}
REFUSED(wrong_rank_extern_stage) {
    Func f, g;
    Var x, y;
    f.define_extern("wr_stage", {}, Int(32), 2);
    g(x) = f(x);
    g.realize({10});
}
REFUSED(wrong_type_realized) {
    Func f;
    Var x;
    f(x) = x;
    Buffer<float> b = f.realize({10});
}
REFUSED(bad_bound_of_reduction) {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.bound(y, 0, 5);
    f.realize({10, 10});
}
REFUSED(bad_reorder_storage) {
    Func f;
    Var x, y, z;
    f(x, y) = x;
    f.reorder_storage(x, z);
}
REFUSED(reorder_storage_twice) {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.reorder_storage({x, x});
}
REFUSED(compute_at_reduction_that_uses_it_outside) {
    Func f, g;
    Var x, y;
    RDom r(0, 10);
    f(x) = x;
    g(x) = f(x);
    g(x) += f(x + r);
    f.compute_at(g, r);
    g.realize({10});
}
REFUSED(rfactor_that_does_not_commute) {
    Func f;
    Var x, u;
    RDom r(0, 10, 0, 10);
    RVar rxo, rxi;
    f() = 0;
    f() = f() * 2 + r.x + r.y;
    f.update().rfactor(r.y, u);
}
REFUSED(rfactor_inner_dim) {
    Func f;
    Var u;
    RDom r(0, 10, 0, 10);
    ImageParam in(Int(32), 2);
    f() = 1;
    f() = f() - in(r.x, r.y) * f();
    f.update().rfactor(r.x, u);
}
REFUSED(too_many_buffers) {
    Func f;
    Var x;
    f(x) = x;
    Buffer<int> a(10), b(10);
    f.realize({a, b});
}
REFUSED(pure_after_update) {
    Func f;
    Var x, y;
    f(x) = x;
    f(x) += 1;
    f(x, y) = 1;
}
REFUSED(free_var_in_rdom_bounds) {
    Var x;
    Func f;
    RDom r(0, x);
    f(x) = 0;
    f(x) += r;
    f.realize({4});
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
REFUSED(float_rdom) { RDom r(0, 1.5f); }
REFUSED(store_at_inlined) {
    Func f, g;
    Var x, y;
    f(x, y) = x;
    g(x, y) = f(x, y);
    f.store_at(g, y);
    g.realize({10, 10});
}
REFUSED(parallel_storage) {
    Func f, g;
    Var x, y;
    f(x, y) = x;
    g(x, y) = f(x, y) + f(x, y + 1);
    f.store_root().compute_at(g, y).fold_storage(y, 2);
    g.parallel(y);
    g.realize({10, 10});
}
REFUSED(split_twice_same_name) {
    Func f;
    Var x, xi;
    f(x) = x;
    f.split(x, x, xi, 4).split(x, x, xi, 4);
}
REFUSED(unroll_unknown) {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.unroll(y);
    f.realize({10, 10});
}
REFUSED(output_in_another_tuple) {
    Func f;
    Var x;
    f(x) = Tuple(x, x);
    Expr e = f(3);
}
REFUSED(func_called_with_tuple) {
    Func f, g;
    Var x;
    f(x) = Tuple(x, 2);
    g(x) = f(x) + 1;
}
REFUSED(negative_extent) {
    Func f;
    Var x;
    f(x) = x;
    f.realize({-10});
}
REFUSED(reuse_of_update_rvar) {
    Func f, g;
    Var x;
    RDom r(0, 5);
    f(x) = 0;
    f(r) = 1;
    f.update().vectorize(r, 4);
    f.update().split(r, RVar("a"), RVar("a"), 2);
}
REFUSED(compute_at_itself) {
    Func f;
    Var x, y;
    f(x, y) = x;
    f(x, y) += 1;
    f.compute_at(f, x);
    Func g;
    g(x, y) = f(x, y);
    g.realize({4, 4});
}
REFUSED(clamp_undefined) { Expr e = clamp(Expr(), 0, 1); }
REFUSED(mux_of_nothing) { Expr e = mux(Expr(1), std::vector<Expr>{}); }
REFUSED(cast_of_undefined) { Expr e = cast<float>(Expr()); }
REFUSED(sum_of_undefined) { Expr e = sum(Expr()); }
REFUSED(param_out_of_range_set) {
    Param<uint8_t> p("p");
    p.set_range(1, 5);
    p.set(9);
    Func f;
    f() = p;
    f.realize();
}
REFUSED(image_param_of_wrong_buffer) {
    ImageParam in(UInt(8), 2);
    in.set(Buffer<float>(4, 4));
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
REFUSED(memoize) {
    Func f, g;
    Var x;
    f(x) = x;
    g(x) = f(x);
    f.compute_root().memoize();
    g.realize({4});
}
REFUSED(compute_with) {
    Func f, g, h;
    Var x;
    f(x) = x;
    g(x) = 2 * x;
    h(x) = f(x) + g(x);
    f.compute_root();
    g.compute_root().compute_with(f, x, LoopAlignStrategy::AlignStart);
    h.realize({4});
}
REFUSED(debug_to_file) {
    Func f, g;
    Var x;
    f(x) = x;
    g(x) = f(x);
    f.compute_root().debug_to_file("/tmp/w.tmp");
    g.realize({4});
}
REFUSED(gpu_on_cpu) {
    Func f;
    Var x, y, xi, yi;
    f(x, y) = x;
    f.gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::Auto, DeviceAPI::CUDA);
    f.realize({10, 10});
}
REFUSED(autoscheduler) {
    Func f;
    Var x;
    f(x) = x;
    Pipeline(f).apply_autoscheduler(get_host_target(),
                                    AutoschedulerParams("Mullapudi2016", {{"parallelism", "8"}}));
}
REFUSED(gradient_too) {
    Func f;
    Var x;
    Buffer<float> in(10);
    f() = 0.0f;
    RDom r(0, 10);
    f() += in(r)*in(r);
    Derivative d = propagate_adjoints(f);
    Func g = d(in);
}
REFUSED(scalar_of_a_buffer_parameter) {
    Parameter p(UInt(8), true, 2, "p");
    p.scalar<uint8_t>();
}
REFUSED(constraint_of_a_dimension_that_is_not_there) {
    Parameter p(UInt(8), true, 2, "p");
    p.set_min_constraint(2, 0);
}
REFUSED(undefined_parameter) {
    Parameter p;
    p.type();
}
REFUSED(plugin) { load_plugin("autoschedule_adams2019"); }
REFUSED(output_with_a_level) {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x) * 2;
    g.compute_at(f, x);
    g.realize({10});
}
REFUSED(wrapper_defined_after_realize) {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x);
    Func wrapper = f.in(g);
    g.realize({10});
    wrapper(x) += 1;
}

// ---- What another reader found ----
REFUSED(asking_a_loop_level_that_may_change) { LoopLevel::root().is_root(); }
REFUSED(asking_a_loop_level_whether_it_is_inlined) {
    Func f;
    Var x;
    f(x) = x;
    LoopLevel(f, x).is_inlined();
}
REFUSED(blends_in_parallel) {
    Func g;
    Var x, xo, xi;
    g(x) = 0;
    g(x) = g(x) + 1;
    g.update().split(x, xo, xi, 8, TailStrategy::RoundUpAndBlend).parallel(xo);
    g.realize({100});
}
REFUSED(split_of_a_predicated_tile) {
    Func f;
    Var x, xo, xi;
    f(x) = x;
    f.split(x, xo, xi, 16, TailStrategy::PredicateLoads).vectorize(xi, 4);
}
REFUSED(rounded_split_of_a_tile_in_an_update) {
    Func f;
    Var x, xo, xi, u, v;
    f(x) = 0;
    f(x) += 1;
    f.update()
        .split(x, xo, xi, 16, TailStrategy::GuardWithIf)
        .split(xi, u, v, 4, TailStrategy::RoundUp);
}
REFUSED(files_for_an_unknown_target) {
    Func f("f");
    Var x;
    f(x) = x;
    f.compile_to_file("more_refused", {}, "f", Target());
}
REFUSED(features_of_another_architecture) { Target("x86-64-linux-sve"); }
REFUSED(two_widths_of_a_target) { Target("x86-64-linux-32"); }
REFUSED(promise_of_another_type) {
    Var x;
    unsafe_promise_clamped(Expr(x), Expr(1.5f), Expr(3));
}
REFUSED(order_of_one_dimension) {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.reorder_storage({x});
}
REFUSED(blends_beyond_a_parallel_slice) {
    Func g;
    Var x, xo, xi;
    g(x) = 0;
    g(x) = g(x) + 1;
    g.update().split(x, xo, xi, 8, TailStrategy::GuardWithIf).parallel(xo);
    g.update().vectorize(xi, 16, TailStrategy::RoundUpAndBlend);
    g.realize({100});
}
