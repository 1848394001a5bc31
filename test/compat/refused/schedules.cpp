#include "../program.h"

namespace {
Var x("x"), y("y"), z("z"), xo("xo"), xi("xi"), yi("yi");
Func sum_func(const char *name = "f") {
    Func f(name);
    f(x, y) = x + y;
    return f;
}
}  // namespace

REFUSED(split_of_an_unknown_loop, "split: no loop named z in stage f") {
    Func f = sum_func();
    f.split(z, xo, xi, 4);
    f.realize({4, 4});
}
REFUSED(split_into_one_name, "split: the outer and the inner loop have one name, xo") {
    Func f = sum_func();
    f.split(x, xo, xo, 4);
}
REFUSED(split_into_a_used_name, "split: stage f already has a loop named y") {
    Func f = sum_func();
    f.split(x, y, xi, 4);
}
REFUSED(loop_that_is_gone, "vectorize: no loop named x in stage f") {
    Func f = sum_func();
    f.split(x, xo, xi, 4);
    f.vectorize(x);
}
REFUSED(vectorize_an_unknown_loop, "vectorize: no loop named z in stage f") {
    Func f = sum_func();
    f.vectorize(z, 4);
}
REFUSED(reorder_with_an_unknown_loop, "reorder: no loop named z in stage f") {
    Func f = sum_func();
    f.reorder(y, z);
}
REFUSED(reorder_with_a_loop_twice, "reorder: the loop x is there twice") {
    Func f = sum_func();
    f.reorder(x, x);
}
REFUSED(fuse_with_itself, "fuse: the loop x with itself") {
    Func f = sum_func();
    f.fuse(x, x, z);
    f.realize({4, 4});
}
REFUSED(vectorize_an_unknown_extent, "its extent f.extent[0] is not a constant") {
    Func f = sum_func();
    f.vectorize(x);
    f.realize({4, 4});
}
REFUSED(unroll_by_a_parameter, "cannot unroll loop x_i of f: its extent") {
    Param<int> p;
    p.set(4);
    Func f = sum_func();
    f.unroll(x, p);
    f.realize({4, 4});
}
REFUSED(vectorize_by_a_parameter, "cannot vectorize loop x_i of f: its extent") {
    Param<int> p;
    p.set(4);
    Func f = sum_func();
    f.vectorize(x, p);
    f.realize({4, 4});
}
REFUSED(vectorize_by_zero, "vectorize: the factor 0 is not between 1 and 2147483647") {
    Func f = sum_func();
    f.vectorize(x, 0);
    f.realize({4, 4});
}
REFUSED(split_by_a_negative_number, "split: the factor -3 is not between 1 and 2147483647") {
    Func f = sum_func();
    f.split(x, xo, xi, -3);
    f.realize({4, 4});
}
REFUSED(compute_at_a_loop_that_is_not_there, "compute_at of f: g has no loop z") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_at(g, z);
    g.realize({4, 4});
}
REFUSED(compute_at_a_func_that_does_not_use_it,
        "h uses f too, and is not computed inside of that loop") {
    Func f = sum_func(), g("g"), h("h");
    g(x, y) = x;
    h(x, y) = f(x, y) + g(x, y);
    g.compute_root();
    f.compute_at(g, x);
    h.realize({4, 4});
}
REFUSED(compute_at_not_around_all_uses, "h uses f too, and is not computed inside of that loop") {
    Func f = sum_func(), g("g"), h("h");
    g(x, y) = f(x, y);
    h(x, y) = f(x, y) + g(x, y);
    g.compute_at(h, y);
    f.compute_at(g, x);
    h.realize({4, 4});
}
REFUSED(store_further_in_than_compute, "is not outside of compute_at(g, y)") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.store_at(g, x).compute_at(g, y);
    g.realize({4, 4});
}
REFUSED(store_without_compute, "f is computed inline and has no storage") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.store_root();
    g.realize({4, 4});
}
REFUSED(hoist_further_in_than_store, "is not outside of store_at(root)") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.store_root().hoist_storage(g, y).compute_at(g, x);
    g.realize({4, 4});
}
REFUSED(level_that_is_not_set, "compute_at of f: the LoopLevel was never set") {
    LoopLevel level;
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_at(level);
    g.realize({4, 4});
}
REFUSED(update_stage_that_is_not_there, "update(0) of f, which has 0 update definitions") {
    Func f = sum_func();
    f.update().vectorize(x, 4);
}
REFUSED(update_stage_too_far, "update(1) of f, which has 1 update definition, counted from 0") {
    Func f = sum_func();
    f(x, y) += 1;
    f.update(1).vectorize(x, 4);
}
REFUSED(scheduled_inline_func, "vectorize of f: f is computed inline and has no loops of its own") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.vectorize(x, 4);
    g.realize({4, 4});
}
REFUSED(fold_by_too_little, "by 2, but one iteration of the loop over g.y needs 3") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y - 1) + f(x, y + 1);
    f.store_root().compute_at(g, y).fold_storage(y, 2);
    g.realize({8, 8});
}
REFUSED(fold_of_what_does_not_slide, "does not move along y in one direction") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y) + f(x, 100 - y);
    f.store_root().compute_at(g, y).fold_storage(y, 4);
    g.realize({8, 50});
}
REFUSED(fold_of_an_unknown_dimension, "fold_storage: z is no dimension of f") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_root().fold_storage(z, 4);
    g.realize({8, 8});
}
REFUSED(bound_that_is_too_small,
        "The bounds given for f along x are [0, 9], but [0, 27] is needed") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y) + f(x + 20, y);
    f.compute_root().bound(x, 0, 10);
    g.realize({8, 8});
}
REFUSED(bound_of_an_unknown_dimension, "bound: z is no dimension of f") {
    Func f = sum_func();
    f.bound(z, 0, 10);
    f.realize({4, 4});
}
REFUSED(bound_storage_that_is_too_small,
        "The storage of f is bounded to 3 along x, but 8 are needed") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_root().bound_storage(x, 3);
    g.realize({8, 8});
}
REFUSED(parallel_reduction, "parallel: iterations of the reduction loop") {
    RDom r(0, 100);
    Func f("f");
    f() = 0;
    f() += r;
    f.update().parallel(r.x);
    f.realize();
}
REFUSED(vectorized_reduction, "vectorize: iterations of the reduction loop") {
    RDom r(0, 100);
    Func f("f");
    f() = 0;
    f() = f() * 2 + r;
    f.update().vectorize(r.x, 4);
    f.realize();
}
REFUSED(reordered_reduction_variables, "(innermost first), which may change its result") {
    RDom r(0, 10, 0, 10);
    Func f("f");
    f(x) = 0;
    f(x) = f(x) * 2 + r.x - r.y;
    f.update().reorder(r.y, r.x);
    f.realize({4});
}
REFUSED(rfactor_of_what_is_not_associative,
        "rfactor: the update f.update(0) is not known to be associative") {
    RDom r(0, 10, 0, 10);
    Func f("f");
    f() = 0;
    f() = f() * f() + r.x - 2 * r.y;
    f.update().rfactor(r.y, z);
}
REFUSED(rfactor_of_an_unknown_variable, "rfactor: no loop named") {
    RDom r(0, 10), s(0, 4);
    Func f("f");
    f() = 0;
    f() += r;
    f.update().rfactor(s, z);
}
REFUSED(rfactor_of_a_pure_stage, "rfactor: f is no update, and only updates reduce") {
    RDom r(0, 10);
    Func f("f");
    f(x) = x;
    Stage(f).rfactor(r, z);
}
REFUSED(atomic_of_what_is_not_associative,
        "atomic: the update f.update(0) is not known to be associative") {
    RDom r(0, 100);
    Func f("f");
    f(x) = 0;
    f(r % 4) = f(r % 4) * 3 - r;
    f.update().atomic().parallel(r.x);
    f.realize({4});
}
REFUSED(specialize_without_condition, "the condition is a int32, not a bool") {
    Func f = sum_func();
    Param<int> p("p");
    f.specialize(p + 1);
}
REFUSED(specialize_on_a_loop, "specialize: x > 3 depends on the variable x") {
    Func f = sum_func();
    f.specialize(x > 3);
    f.realize({8, 8});
}
REFUSED(specialize_fail_reached, "No specialization of f fits: only for p = 0") {
    Param<int> p;
    Func f("f");
    f(x) = x + p;
    f.specialize(p == 0);
    f.specialize_fail("only for p = 0");
    p.set(1);
    f.realize({4});
}
REFUSED(specialize_after_fail, "after specialize_fail no further specialization of f") {
    Param<int> p;
    Func f("f");
    f(x) = x + p;
    f.specialize_fail("never");
    f.specialize(p == 0);
}
REFUSED(wrapper_that_is_never_used, "in: h does not call f, so it cannot use f_in_h instead") {
    Func f = sum_func(), g("g"), h("h");
    g(x, y) = f(x, y);
    h(x, y) = g(x, y);
    g.compute_root();
    f.in(h).compute_root();
    h.realize({4, 4});
}
REFUSED(wrapper_with_an_update, "f_in_g has been used by another Func or realized") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    Func w = f.in(g);
    w(x, y) += 1;
}
REFUSED(wrapper_of_itself, "in: f inside of itself") {
    Func f = sum_func();
    f.in(f);
}
REFUSED(ring_buffer_without_hoisting, "there is nothing to use in turn") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_at(g, y).ring_buffer(2);
    g.realize({8, 8});
}
REFUSED(tile_of_lists_of_two_lengths,
        "tile: 2 loops, 2 outer, 1 inner, 2 factors, 2 tail strategies") {
    Func f = sum_func();
    f.tile({x, y}, {xi}, {4, 4});
}
REFUSED(align_storage_of_an_unknown_dimension, "align_storage: z is no dimension of f") {
    Func f = sum_func();
    f.compute_root().align_storage(z, 4);
    f.realize({4, 4});
}
REFUSED(reduction_shifted_inwards, "TailStrategy::ShiftInwards would run iterations of") {
    RDom r(0, 10);
    RVar ro("ro"), ri("ri");
    Func f("f");
    f(x) = 0;
    f(x) += r;
    f.update().split(r, ro, ri, 4, TailStrategy::ShiftInwards);
    f.realize({4});
}
REFUSED(partition_without_a_boundary, "nothing in the loop f.x is decided by where in it one is") {
    Func f = sum_func();
    f.partition(x, Partition::Always);
    f.realize({10, 4});
}
REFUSED(partition_that_is_impossible, "partition: no loop named z in stage f") {
    Func f = sum_func();
    f.partition(z, Partition::Always);
    f.realize({4, 4});
}
REFUSED(estimates_of_another_rank, "set_estimates: 1 estimates, but f has 2 dimensions") {
    Func f = sum_func();
    f.set_estimates({{0, 10}});
}
REFUSED(estimate_of_an_unknown_dimension, "set_estimate: z is no dimension of f") {
    Func f = sum_func();
    f.set_estimate(z, 0, 10);
}
REFUSED(align_bounds_of_an_unknown_dimension, "align_bounds: z is no dimension of f") {
    Func f = sum_func();
    f.align_bounds(z, 4);
    f.realize({4, 4});
}
REFUSED(gpu_without_a_gpu, "has no GPU") {
    Func f = sum_func();
    f.gpu_tile(x, y, xi, yi, 8, 8);
    f.realize({16, 16}, Target("x86-64-linux"));
}
REFUSED(variable_for_a_reduction_loop, "no loop named not_r in stage f.update(0)") {
    RDom r(0, 10);
    Func f("f");
    f(x) = 0;
    f(x) += r;
    f.update().vectorize(Var("not_r"), 4);
}
REFUSED(register_storage_of_unknown_size, "f cannot be stored in registers") {
    Func f = sum_func(), g("g");
    g(x, y) = f(x, y);
    f.compute_root().store_in(MemoryType::Register);
    g.realize({4, 4});
}
REFUSED(clone_for_no_consumer, "clone_in: h does not call f, so it cannot use f_clone instead") {
    Func f = sum_func(), g("g"), h("h");
    g(x, y) = f(x, y);
    h(x, y) = g(x, y);
    g.compute_root();
    f.clone_in(h).compute_root();
    h.realize({4, 4});
}

REFUSED(prefetch_from_no_loop, "prefetch: no loop named") {
    Var x, y, z;
    Func f, g;
    f(x, y) = x + y;
    g(x, y) = f(x, y);
    f.compute_root();
    g.prefetch(f, y, z);
    g.realize({4, 4});
}
REFUSED(shift_blend_race, "keeps what the one before it has computed") {
    Func f;
    Var x;
    f(x) = 0;
    f(x) += 5;
    f.update().vectorize(x, 8, TailStrategy::ShiftInwardsAndBlend).parallel(x);
    f.realize({100});
}
REFUSED(inner_wrong_tail, "TailStrategy::RoundUp would run iterations of") {
    Func f;
    Var x, xo, xi, xio, xii;
    RDom r(0, 100);
    RVar ro, ri, rio, rii;
    f(x) = 0;
    f(x) += r;
    f.update().split(r, ro, ri, 10).split(ri, rio, rii, 3, TailStrategy::RoundUp);
    f.realize({10});
}
REFUSED(split_of_a_loop_that_was_split, "split: no loop named") {
    Func f;
    Var x, xo, xi, xio, xii;
    f(x) = x;
    f.split(x, xo, xi, 10, TailStrategy::PredicateStores)
        .split(xo, xio, xii, 4, TailStrategy::PredicateStores);
    f.compute_root().split(x, xo, xi, 2);
    f.realize({10});
}
REFUSED(vectorize_too_much, "131072 lanes are too many") {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.bound(x, 0, 10).vectorize(x, 32);
    f.compute_root().vectorize(x, 1 << 17);
    f.realize({10, 10});
}
REFUSED(reorder_storage_of_an_unknown_dimension, "is no dimension of") {
    Func f;
    Var x, y, z;
    f(x, y) = x;
    f.reorder_storage(x, z);
}
REFUSED(reorder_storage_twice, "is there twice") {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.reorder_storage({x, x});
}
REFUSED(store_at_inlined, "is computed inline and has no storage") {
    Func f, g;
    Var x, y;
    f(x, y) = x;
    g(x, y) = f(x, y);
    f.store_at(g, y);
    g.realize({10, 10});
}
REFUSED(parallel_storage, "is stored outside of the parallel loop") {
    Func f, g;
    Var x, y;
    f(x, y) = x;
    g(x, y) = f(x, y) + f(x, y + 1);
    f.store_root().compute_at(g, y).fold_storage(y, 2);
    g.parallel(y);
    g.realize({10, 10});
}
REFUSED(split_twice_same_name, "already has a loop named") {
    Func f;
    Var x, xi;
    f(x) = x;
    f.split(x, x, xi, 4).split(x, x, xi, 4);
}
REFUSED(unroll_an_unknown_extent, "cannot unroll loop") {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.unroll(y);
    f.realize({10, 10});
}
REFUSED(compute_at_itself, "inside of its own loop") {
    Func f;
    Var x, y;
    f(x, y) = x;
    f(x, y) += 1;
    f.compute_at(f, x);
    Func g;
    g(x, y) = f(x, y);
    g.realize({4, 4});
}
REFUSED(bound_smaller_than_the_output, "are [0, 4], but [0, 9] is needed") {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.bound(y, 0, 5);
    f.realize({10, 10});
}
REFUSED(blends_in_parallel, "cannot be parallel in Halide") {
    Func g;
    Var x, xo, xi;
    g(x) = 0;
    g(x) = g(x) + 1;
    g.update().split(x, xo, xi, 8, TailStrategy::RoundUpAndBlend).parallel(xo);
    g.realize({100});
}
REFUSED(split_of_a_predicated_tile, "TailStrategy::PredicateLoads, which cannot be split again") {
    Func f;
    Var x, xo, xi;
    f(x) = x;
    f.split(x, xo, xi, 16, TailStrategy::PredicateLoads).vectorize(xi, 4);
}
REFUSED(rounded_split_of_a_tile_in_an_update,
        "would run on into the next tile of an earlier split") {
    Func f;
    Var x, xo, xi, u, v;
    f(x) = 0;
    f(x) += 1;
    f.update()
        .split(x, xo, xi, 16, TailStrategy::GuardWithIf)
        .split(xi, u, v, 4, TailStrategy::RoundUp);
}
REFUSED(order_of_one_dimension, "reorder_storage: an order is that of two dimensions or more") {
    Func f;
    Var x, y;
    f(x, y) = x;
    f.reorder_storage({x});
}
REFUSED(blends_beyond_a_parallel_slice, "it runs beyond the end of") {
    Func g;
    Var x, xo, xi;
    g(x) = 0;
    g(x) = g(x) + 1;
    g.update().split(x, xo, xi, 8, TailStrategy::GuardWithIf).parallel(xo);
    g.update().vectorize(xi, 16, TailStrategy::RoundUpAndBlend);
    g.realize({100});
}
REFUSED(output_with_a_level, "compute_at of g: it is an output of the pipeline") {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x) * 2;
    g.compute_at(f, x);
    g.realize({10});
}
REFUSED(custom_after_shared_wrapper, "each group of consumers has one wrapper") {
    Func f, g1, g2, g3;
    Var x, y;
    f(x) = x;
    g1(x) = f(x);
    g2(x) = f(x);
    g3(x) = f(x);
    Func w1 = f.in({g1, g2});
    Func w2 = f.in({g1, g3});
}
REFUSED(wrapper_of_a_frozen_func, "has been used by another Func or realized") {
    Func f, g;
    Var x;
    f(x) = x;
    g(x) = f(x);
    g.realize({10});
    Func w = f.in(g);
    w(x) += 1;
    g(x) = 3;
}
REFUSED(wrapper_defined_after_realize, "f_in_g has been used by another Func or realized") {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x);
    Func wrapper = f.in(g);
    g.realize({10});
    wrapper(x) += 1;
}
REFUSED(inspected_loop_level, "this LoopLevel may still become another: call lock() first") {
    LoopLevel root = LoopLevel::root();
    printf("%s", root.to_string().c_str());
}
REFUSED(undefined_loop_level, "this LoopLevel has not been set") {
    LoopLevel l;
    printf("%s", l.lock().to_string().c_str());
}
REFUSED(asking_a_loop_level_that_may_change,
        "this LoopLevel may still become another: call lock() first") {
    LoopLevel::root().is_root();
}
REFUSED(asking_a_loop_level_whether_it_is_inlined,
        "this LoopLevel may still become another: call lock() first") {
    Func f;
    Var x;
    f(x) = x;
    LoopLevel(f, x).is_inlined();
}
