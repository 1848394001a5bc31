#include "../program.h"

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
REFUSED(expanding_reduction) {
    Func f;
    Var x;
    RDom r(0, 20);
    f(x) = x;
    f(r) = f(r - 1) + f(r + 1);
    Buffer<int> out(10);
    f.realize(out);
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
REFUSED(free_var_in_rdom_bounds) {
    Var x;
    Func f;
    RDom r(0, x);
    f(x) = 0;
    f(x) += r;
    f.realize({4});
}
REFUSED(float_rdom) { RDom r(0, 1.5f); }
REFUSED(reuse_of_update_rvar) {
    Func f, g;
    Var x;
    RDom r(0, 5);
    f(x) = 0;
    f(r) = 1;
    f.update().vectorize(r, 4);
    f.update().split(r, RVar("a"), RVar("a"), 2);
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
