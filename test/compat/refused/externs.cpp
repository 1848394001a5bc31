#include "../program.h"

extern "C" {
HALIDE_EXPORT_SYMBOL int wr_stage(halide_buffer_t *) { return 0; }
HALIDE_EXPORT_SYMBOL int wr_copy(halide_buffer_t *, halide_buffer_t *) { return 0; }
}

REFUSED(extern_of_itself, "is an argument of itself") {
    Func f;
    f.define_extern("wr_copy", {f}, Int(32), 1);
    f.realize({10});
}
REFUSED(typed_func_extern_dims, "f was declared with 1 dimensions, but is defined with 2") {
    Func f(Int(32), 1, "f");
    f.define_extern("wr_stage", {}, Int(32), 2);
}
REFUSED(typed_func_extern_type, "but is defined with float32") {
    Func f(Int(32), 1, "f");
    f.define_extern("wr_stage", {}, Float(32), 1);
}
REFUSED(vectorized_extern, "and not for a vector of them") {
    Func f;
    Var x("x"), xo, xi;
    f.define_extern("wr_stage", {}, Int(32), {x});
    f.compute_root().split(x, xo, xi, 8).vectorize(xi);
    Func g;
    g(x) = f(x);
    g.realize({16});
}
REFUSED(wrong_rank_extern_stage, "has 2 dimensions (_0, _1), but is used with 1 argument") {
    Func f, g;
    Var x, y;
    f.define_extern("wr_stage", {}, Int(32), 2);
    g(x) = f(x);
    g.realize({10});
}
