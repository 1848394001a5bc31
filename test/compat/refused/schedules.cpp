#include "../program.h"

namespace {
Var x("x"), y("y"), z("z"), xo("xo"), xi("xi"), yi("yi");
Func sum_func(const char *name = "f") {
    Func f(name);
    f(x, y) = x + y;
    return f;
}
}  // namespace

REFUSED(split_of_an_unknown_loop) {
    Func f = sum_func();
    f.split(z, xo, xi, 4);
    f.realize({4, 4});
}
REFUSED(split_into_one_name) {
    Func f = sum_func();
    f.split(x, xo, xo, 4);
}
REFUSED(split_into_a_used_name) {
    Func f = sum_func();
    f.split(x, y, xi, 4);
}
REFUSED(loop_that_is_gone) {
    Func f = sum_func();
    f.split(x, xo, xi, 4);
    f.vectorize(x);
}
REFUSED(vectorize_an_unknown_loop) {
    Func f = sum_func();
    f.vectorize(z, 4);
}
REFUSED(reorder_with_an_unknown_loop) {
    Func f = sum_func();
    f.reorder(y, z);
}
REFUSED(reorder_with_a_loop_twice) {
    Func f = sum_func();
    f.reorder(x, x);
}
REFUSED(fuse_with_itself) {
    Func f = sum_func();
    f.fuse(x, x, z);
    f.realize({4, 4});
}
REFUSED(vectorize_an_unknown_extent) {
    Func f = sum_func();
    f.vectorize(x);
    f.realize({4, 4});
}
REFUSED(unroll_by_a_parameter) {
    Param<int> p;
    p.set(4);
    Func f = sum_func();
    f.unroll(x, p);
    f.realize({4, 4});
}
REFUSED(vectorize_by_a_parameter) {
    Param<int> p;
    p.set(4);
    Func f = sum_func();
    f.vectorize(x, p);
    f.realize({4, 4});
}
REFUSED(vectorize_by_zero) {
    Func f = sum_func();
    f.vectorize(x, 0);
    f.realize({4, 4});
}
REFUSED(split_by_a_negative_number) {
    Func f = sum_func();
    f.split(x, xo, xi, -3);
    f.realize({4, 4});
}
REFUSED(compute_at_a_loop_that_is_not_there) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_at(g, z);
    g.realize({4, 4});
}
REFUSED(compute_at_a_func_that_does_not_use_it) {
    Func f = sum_func(), g("g"), h("h");
    g(x, y) = x;
    h(x, y) = f(x, y) + g(x, y);
    g.compute_root();
    f.compute_at(g, x);
    h.realize({4, 4});
}
REFUSED(compute_at_not_around_all_uses) {
    Func f = sum_func(), g("g"), h("h");
    g(x, y) = f(x, y);
    h(x, y) = f(x, y) + g(x, y);
    g.compute_at(h, y);
    f.compute_at(g, x);
    h.realize({4, 4});
}
REFUSED(store_further_in_than_compute) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.store_at(g, x).compute_at(g, y);
    g.realize({4, 4});
}
REFUSED(store_without_compute) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.store_root();
    g.realize({4, 4});
}
REFUSED(hoist_further_in_than_store) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.store_root().hoist_storage(g, y).compute_at(g, x);
    g.realize({4, 4});
}
REFUSED(level_that_is_not_set) {
    LoopLevel level;
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_at(level);
    g.realize({4, 4});
}
REFUSED(update_stage_that_is_not_there) {
    Func f = sum_func();
    f.update().vectorize(x, 4);
}
REFUSED(update_stage_too_far) {
    Func f = sum_func();
    f(x, y) += 1;
    f.update(1).vectorize(x, 4);
}
REFUSED(scheduled_inline_func) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.vectorize(x, 4);
    g.realize({4, 4});
}
REFUSED(fold_by_too_little) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y - 1) + f(x, y + 1);
    f.store_root().compute_at(g, y).fold_storage(y, 2);
    g.realize({8, 8});
}
REFUSED(fold_of_what_does_not_slide) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y) + f(x, 100 - y);
    f.store_root().compute_at(g, y).fold_storage(y, 4);
    g.realize({8, 50});
}
REFUSED(fold_of_an_unknown_dimension) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_root().fold_storage(z, 4);
    g.realize({8, 8});
}
REFUSED(bound_that_is_too_small) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y) + f(x + 20, y);
    f.compute_root().bound(x, 0, 10);
    g.realize({8, 8});
}
REFUSED(bound_of_an_unknown_dimension) {
    Func f = sum_func();
    f.bound(z, 0, 10);
    f.realize({4, 4});
}
REFUSED(bound_storage_that_is_too_small) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_root().bound_storage(x, 3);
    g.realize({8, 8});
}
REFUSED(parallel_reduction) {
    RDom r(0, 100);
    Func f("f");
    f() = 0;
    f() += r;
    f.update().parallel(r.x);
    f.realize();
}
REFUSED(vectorized_reduction) {
    RDom r(0, 100);
    Func f("f");
    f() = 0;
    f() = f() * 2 + r;
    f.update().vectorize(r.x, 4);
    f.realize();
}
REFUSED(reordered_reduction_variables) {
    RDom r(0, 10, 0, 10);
    Func f("f");
    f(x) = 0;
    f(x) = f(x) * 2 + r.x - r.y;
    f.update().reorder(r.y, r.x);
    f.realize({4});
}
REFUSED(rfactor_of_what_is_not_associative) {
    RDom r(0, 10, 0, 10);
    Func f("f");
    f() = 0;
    f() = f() * f() + r.x - 2 * r.y;
    f.update().rfactor(r.y, z);
}
REFUSED(rfactor_of_an_unknown_variable) {
    RDom r(0, 10), s(0, 4);
    Func f("f");
    f() = 0;
    f() += r;
    f.update().rfactor(s, z);
}
REFUSED(rfactor_of_a_pure_stage) {
    RDom r(0, 10);
    Func f("f");
    f(x) = x;
    Stage(f).rfactor(r, z);
}
REFUSED(atomic_of_what_is_not_associative) {
    RDom r(0, 100);
    Func f("f");
    f(x) = 0;
    f(r % 4) = f(r % 4) * 3 - r;
    f.update().atomic().parallel(r.x);
    f.realize({4});
}
REFUSED(specialize_without_condition) {
    Func f = sum_func();
    f.specialize(x + 1);
}
REFUSED(specialize_on_a_loop) {
    Func f = sum_func();
    f.specialize(x > 3);
    f.realize({8, 8});
}
REFUSED(specialize_fail_reached) {
    Param<int> p;
    Func f("f");
    f(x) = x + p;
    f.specialize(p == 0);
    f.specialize_fail("only for p = 0");
    p.set(1);
    f.realize({4});
}
REFUSED(specialize_after_fail) {
    Param<int> p;
    Func f("f");
    f(x) = x + p;
    f.specialize_fail("never");
    f.specialize(p == 0);
}
REFUSED(wrapper_that_is_never_used) {
    Func f = sum_func(), g("g"), h("h");
    g(x, y) = f(x, y);
    h(x, y) = g(x, y);
    f.in(h).compute_root();
    h.realize({4, 4});
}
REFUSED(wrapper_with_an_update) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    Func w = f.in(g);
    w(x, y) += 1;
}
REFUSED(wrapper_of_itself) {
    Func f = sum_func();
    f.in(f);
}
REFUSED(ring_buffer_without_hoisting) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_at(g, y).ring_buffer(2);
    g.realize({8, 8});
}
REFUSED(tile_of_lists_of_two_lengths) {
    Func f = sum_func();
    f.tile({x, y}, {xi}, {4, 4});
}
REFUSED(align_storage_of_an_unknown_dimension) {
    Func f = sum_func();
    f.compute_root().align_storage(z, 4);
    f.realize({4, 4});
}
REFUSED(reduction_shifted_inwards) {
    RDom r(0, 10);
    RVar ro("ro"), ri("ri");
    Func f("f");
    f(x) = 0;
    f(x) += r;
    f.update().split(r, ro, ri, 4, TailStrategy::ShiftInwards);
    f.realize({4});
}
REFUSED(partition_without_a_boundary) {
    Func f = sum_func();
    f.partition(x, Partition::Always);
    f.realize({10, 4});
}
REFUSED(partition_that_is_impossible) {
    Func f = sum_func();
    f.partition(z, Partition::Always);
    f.realize({4, 4});
}
REFUSED(estimates_of_another_rank) {
    Func f = sum_func();
    f.set_estimates({{0, 10}});
}
REFUSED(estimate_of_an_unknown_dimension) {
    Func f = sum_func();
    f.set_estimate(z, 0, 10);
}
REFUSED(align_bounds_of_an_unknown_dimension) {
    Func f = sum_func();
    f.align_bounds(z, 4);
    f.realize({4, 4});
}
REFUSED(gpu_without_a_gpu) {
    Func f = sum_func();
    f.gpu_tile(x, y, xi, yi, 8, 8);
    f.realize({16, 16}, Target("x86-64-linux"));
}
REFUSED(variable_for_a_reduction_loop) {
    RDom r(0, 10);
    Func f("f");
    f(x) = 0;
    f(x) += r;
    f.update().vectorize(Var("not_r"), 4);
}
REFUSED(register_storage_of_unknown_size) {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_root().store_in(MemoryType::Register);
    g.realize({4, 4});
}
REFUSED(clone_for_no_consumer) {
    Func f = sum_func(), g("g"), h("h");
    g(x, y) = f(x, y);
    h(x, y) = g(x, y);
    f.clone_in(h).compute_root();
    h.realize({4, 4});
}

REFUSED(prefetch_from_no_loop) {
    Var x, y, z;
    Func f, g;
    f(x, y) = x + y;
    g(x, y) = f(x, y);
    f.compute_root();
    g.prefetch(f, y, z);
    g.realize({4, 4});
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
REFUSED(vectorize_too_much) {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.bound(x, 0, 10).vectorize(x, 32);
    f.compute_root().vectorize(x, 1 << 17);
    f.realize({10, 10});
}
REFUSED(reorder_storage_of_an_unknown_dimension) {
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
REFUSED(unroll_an_unknown_loop) {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.unroll(y);
    f.realize({10, 10});
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
REFUSED(bound_smaller_than_the_output) {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.bound(y, 0, 5);
    f.realize({10, 10});
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
REFUSED(output_with_a_level) {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x) * 2;
    g.compute_at(f, x);
    g.realize({10});
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
REFUSED(wrapper_defined_after_realize) {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x);
    Func wrapper = f.in(g);
    g.realize({10});
    wrapper(x) += 1;
}
REFUSED(inspected_loop_level) {
    LoopLevel root = LoopLevel::root();
    printf("%s", root.to_string().c_str());
}
REFUSED(undefined_loop_level) {
    LoopLevel l;
    printf("%s", l.lock().to_string().c_str());
}
REFUSED(asking_a_loop_level_that_may_change) { LoopLevel::root().is_root(); }
REFUSED(asking_a_loop_level_whether_it_is_inlined) {
    Func f;
    Var x;
    f(x) = x;
    LoopLevel(f, x).is_inlined();
}
