#include "../program.h"

extern "C" {
HALIDE_EXPORT_SYMBOL int wr_stage(halide_buffer_t *) { return 0; }
HALIDE_EXPORT_SYMBOL int wr_copy(halide_buffer_t *, halide_buffer_t *) { return 0; }
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
REFUSED(vectorized_extern) {
    Func f;
    Var x("x"), xo, xi;
    f.define_extern("wr_stage", {}, Int(32), {x});
    f.compute_root().split(x, xo, xi, 8).vectorize(xi);
    Func g;
    g(x) = f(x);
    g.realize({16});
}
REFUSED(wrong_rank_extern_stage) {
    Func f, g;
    Var x, y;
    f.define_extern("wr_stage", {}, Int(32), 2);
    g(x) = f(x);
    g.realize({10});
}
