#include "../program.h"

REFUSED(atomic_self_reference, "is not known to be associative") {
    Func f;
    Var x;
    RDom r(0, 100);
    f(x) = x;
    f(clamp(f(r), 0, 99)) = f(r) + 1;
    f.compute_root();
    f.update().atomic().parallel(r);
    f.realize({100});
}
REFUSED(atomic_self_reference_by_another, "is not known to be associative") {
    Func f, g;
    Var x;
    RDom r(0, 100);
    f(x) = x;
    f(r) = f(f(r)) + 1;
    f.compute_root().update().atomic().vectorize(r, 4);
    g(x) = f(x);
    g.realize({100});
}
REFUSED(atomic_update_at_an_index_without_a_bound, "in dimension 0, which has no bound") {
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
REFUSED(atomic_update_at_an_index_that_it_reads, "is not known to be associative") {
    Func f;
    Var x;
    RDom r(0, 100);
    f(x) = x;
    f(clamp(f(r), 0, 99)) = f(clamp(f(r), 0, 99)) + 1;
    f.update().atomic().parallel(r);
}
REFUSED(atomic_update_of_what_another_iteration_writes, "is not known to be associative") {
    Func f;
    Var x;
    RDom r(1, 99);
    f(x) = x;
    f(r) = f(r) + f(r - 1);
    f.update().atomic().parallel(r);
}
REFUSED(streamed_stores_of_a_reduction, "stores an element in each iteration of") {
    Func f;
    Var x;
    RDom r(0, 10);
    f(x) = 0;
    f(x) += x * r;
    f.update().stream_stores();
}
REFUSED(expanding_reduction, "the pipeline touches [-1, 20], but the buffer has [0, 9]") {
    Func f;
    Var x;
    RDom r(0, 20);
    f(x) = x;
    f(r) = f(r - 1) + f(r + 1);
    Buffer<int> out(10);
    f.realize(out);
}
REFUSED(rdom_where_races, "parallel: iterations of the reduction loop") {
    Func f;
    Var x;
    RDom r(0, 100);
    r.where(r.x % 2 == 0);
    f(x) = 0;
    f(r / 2) = r;
    f.update().parallel(r);
    f.realize({100});
}
REFUSED(unbounded_reduction, "RDom: it is undefined") {
    Func f;
    Var x;
    RDom r;
    f(x) = 0;
    f(r.x) = 1;
}
REFUSED(reduction_bounds_of_func, "bounds are known before anything is computed") {
    Func f, g;
    Var x, y;
    f(x, y) = 0;
    g(x, y) = x;
    RDom r(0, g(0, 0));
    f(x, r) += 1;
    f.realize({10, 10});
}
REFUSED(free_var_in_rdom_bounds, "RDom: a bound depends on the variable") {
    Var x;
    Func f;
    RDom r(0, x);
    f(x) = 0;
    f(x) += r;
    f.realize({4});
}
REFUSED(float_rdom, "RDom: a bound is an integer, not a float32") { RDom r(0, 1.5f); }
REFUSED(reuse_of_update_rvar, "the outer and the inner loop have one name, a") {
    Func f, g;
    Var x;
    RDom r(0, 5);
    f(x) = 0;
    f(r) = 1;
    f.update().vectorize(r, 4);
    f.update().split(r, RVar("a"), RVar("a"), 2);
}
REFUSED(compute_at_reduction_that_uses_it_outside, "too, and is not computed inside of that loop") {
    Func f, g;
    Var x, y;
    RDom r(0, 10);
    f(x) = x;
    g(x) = f(x);
    g(x) += f(x + r);
    f.compute_at(g, r);
    g.realize({10});
}
REFUSED(rfactor_that_does_not_commute, "is not known to be associative with an identity") {
    Func f;
    Var x, u;
    RDom r(0, 10, 0, 10);
    RVar rxo, rxi;
    f() = 0;
    f() = f() * 2 + r.x + r.y;
    f.update().rfactor(r.y, u);
}
REFUSED(rfactor_inner_dim, "is not known to be associative with an identity") {
    Func f;
    Var u;
    RDom r(0, 10, 0, 10);
    ImageParam in(Int(32), 2);
    f() = 1;
    f() = f() - in(r.x, r.y) * f();
    f.update().rfactor(r.x, u);
}
