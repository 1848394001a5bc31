#include "../program.h"

namespace {
Var x("x"), y("y"), z("z");
}

REFUSED(use_of_an_undefined_func) {
    Func f, g;
    g(x) = f(x) + 1;
    g.realize({4});
}
REFUSED(realize_of_an_undefined_func) {
    Func f;
    f.realize({4});
}
REFUSED(compile_of_an_undefined_func) {
    Func f("f");
    f.compile_jit();
}
REFUSED(realize_of_an_undefined_pipeline) {
    Pipeline p;
    p.realize({4});
}
REFUSED(compile_of_an_undefined_pipeline) {
    Pipeline p;
    p.compile_jit();
}
REFUSED(too_many_arguments) {
    Func f, g;
    f(x) = x;
    g(x, y) = f(x, y);
    g.realize({4, 4});
}
REFUSED(too_few_arguments) {
    Func f, g;
    f(x, y) = x;
    g(x) = f(x);
    g.realize({4});
}
REFUSED(argument_twice) {
    Func f;
    f(x, x) = x;
}
REFUSED(first_definition_without_vars) {
    Func f;
    f(x + 1) = x;
}
REFUSED(first_definition_with_a_number) {
    Func f;
    f(x, 3) = x;
}
REFUSED(free_variable) {
    Func f;
    f(x) = x + y;
}
REFUSED(free_variable_in_update) {
    Func f;
    f(x) = x;
    f(x) += y;
}
REFUSED(definition_after_use) {
    Func f, g;
    f(x) = x;
    g(x) = f(x);
    f(x) += 1;
    f(x) = 3;
    g.realize({4});
    f(x) += 2;
}
REFUSED(update_after_realize) {
    Func f;
    f(x) = x;
    f.realize({4});
    f(x) += 1;
}
REFUSED(update_of_another_type) {
    Func f;
    f(x) = cast<uint8_t>(x);
    f(x) += cast<float>(x);
}
REFUSED(update_of_an_undefined_func) {
    Func f;
    f(x + 1) += f(x);
}
REFUSED(undefined_value) {
    Func f;
    f(x) = Expr();
}
REFUSED(undefined_operand) {
    Expr e;
    Expr s = e + 1;
    (void)s;
}
REFUSED(handle_arithmetic) {
    Param<const char *> p;
    Func f;
    f(x) = p + 2;
}
REFUSED(float_coordinate) {
    Func f, g;
    f(x) = x;
    g(x) = f(cast<float>(x) + 0.5f);
    g.realize({4});
}
REFUSED(tuple_of_another_size) {
    Func f;
    f(x) = Tuple(x, x + 1);
    f(x) = Tuple(x, x, x);
}
REFUSED(one_value_of_a_tuple_func) {
    Func f, g;
    f(x) = Tuple(x, x + 1);
    g(x) = f(x) + 1;
}
REFUSED(element_out_of_range) {
    Func f, g;
    f(x) = Tuple(x, x + 1);
    g(x) = f(x)[2];
}
REFUSED(select_of_tuples_of_two_sizes) {
    Func f;
    f(x) = select(x < 3, Tuple(x, x), Tuple(x, x, x));
}
REFUSED(tuple_select_of_two_types) {
    Func f;
    f(x) = select(x < 3, Tuple(x, cast<float>(x)), Tuple(cast<float>(x), x));
    f.realize({4});
}
REFUSED(select_without_condition) {
    Expr e = select(x, 1, 2);
    (void)e;
}
REFUSED(logic_of_integers) {
    Expr e = x && y;
    (void)e;
}
REFUSED(bits_of_two_signs) { Expr e = cast<uint8_t>(x) & Expr(1); }
REFUSED(shift_by_more_than_the_type_has) { Expr e = cast<uint8_t>(x) << 300; }
REFUSED(shift_of_a_bool) { Expr e = (x > 0) << 1; }
REFUSED(integer_that_a_float_rounds) { Expr e = cast<float>(x) + 16777217; }
REFUSED(integer_that_is_no_bool) { Expr e = (x > 0) & 2; }
REFUSED(lerp_between_two_float_types) { Expr e = lerp(cast<float16_t>(x), 1.0f, 0.5f); }
REFUSED(widen_right_by_a_wide_constant) { Expr e = widen_right_add(cast<uint16_t>(x), 1); }
REFUSED(update_that_widens) {
    Func f;
    f(x) = cast<uint8_t>(x);
    f(x) = f(x) + Expr(1);
}
REFUSED(integer_that_does_not_fit) {
    Expr e = cast<uint8_t>(x) + 3000;
    (void)e;
}
REFUSED(comparison_with_what_does_not_fit) {
    Expr e = cast<uint8_t>(x) < 1000;
    (void)e;
}
REFUSED(constant_overflow) {
    Func f;
    f(x) = Expr(2147483647) + 1 + x * 0;
    f.realize({1});
}
REFUSED(typed_func_of_another_type) {
    Func f(Int(16), 1, "f");
    f(x) = cast<uint8_t>(x);
}
REFUSED(typed_func_of_another_rank) {
    Func f(Int(32), 2, "f");
    f(x) = x;
}
REFUSED(typed_func_of_another_size) {
    Func f({Int(32), Int(32)}, 1, "f");
    f(x) = x;
}
REFUSED(lerp_of_two_types) {
    Expr e = lerp(cast<uint8_t>(x), cast<uint16_t>(y), 0.5f);
    (void)e;
}
REFUSED(lerp_with_a_signed_weight) {
    Expr e = lerp(cast<uint8_t>(x), cast<uint8_t>(y), cast<int8_t>(y));
    (void)e;
}
REFUSED(lerp_beyond_one) {
    Expr e = lerp(cast<uint8_t>(x), cast<uint8_t>(y), 1.5f);
    (void)e;
}
REFUSED(clamp_out_of_type) {
    Func f;
    f(x) = clamp(cast<int8_t>(x), 0, 255);
    f.realize({3});
}
REFUSED(self_reference_at_other_place) {
    Func f;
    f(x) = x;
    f(x) += f(x + 1);
    f.realize({10});
}
REFUSED(recursion_without_definition) {
    Func f;
    f(x) = f(x - 1) + 1;
    f.realize({5});
}
REFUSED(placeholder_mismatch) {
    Func f, g;
    f(x, y) = x + y;
    g(x, y, _) = f(x, y);
    g(_, x, _) = f(x, _);
}
REFUSED(undefined_rdom) {
    RDom r;
    Func f;
    f(x) = 0;
    f(x) += r;
    f.realize({3});
}
REFUSED(rdom_dimension_too_far) {
    RDom r(0, 5);
    Func f;
    f(x) = 0;
    f(x) += r.y;
    f.realize({3});
}
REFUSED(rdom_index_too_far) {
    RDom r(0, 5, 0, 3);
    Expr e = r[2];
    (void)e;
}
REFUSED(two_rdoms_in_one_update) {
    RDom r(0, 5), s(0, 3);
    Func f;
    f(x) = 0;
    f(x) += r * s;
}
REFUSED(reduction_variable_in_first_definition) {
    RDom r(0, 5);
    Func f;
    f(x) = x + r;
}
REFUSED(ambiguous_inline_reduction) {
    RDom r(0, 5), s(0, 3);
    Func f;
    f(x) = sum(r + s);
}
REFUSED(inline_reduction_without_domain) {
    Func f;
    f(x) = sum(x);
}
REFUSED(predicate_after_use) {
    RDom r(0, 5);
    Func f;
    f(x) = 0;
    f(x) += r;
    r.where(r.x > 2);
}
REFUSED(rdom_of_a_float_extent) {
    RDom r(0, Expr(1.5f));
    Func f;
    f(x) = 0;
    f(r) += 1;
    f.realize({5});
}
REFUSED(rdom_bounds_by_a_var) {
    RDom r(0, x);
    Func f;
    f(x) = 0;
    f(x) += r;
    f.realize({3});
}
REFUSED(mixed_scatter_and_gather) {
    Func f;
    f(x) = 0;
    f(scatter(1, 2)) = gather(1, 2, 3);
    f.realize({5});
}
REFUSED(require_of_no_condition) {
    Expr e = require(x, x);
    (void)e;
}
REFUSED(undefined_in_print) {
    Expr e = print(Expr(), "text");
    (void)e;
}
REFUSED(reinterpret_of_another_size) {
    Expr e = reinterpret<uint8_t>(x);
    (void)e;
}
REFUSED(popcount_of_a_float) {
    Expr e = popcount(cast<float>(x));
    (void)e;
}
REFUSED(tuple_of_undef_under_two_conditions) {
    Func f("f");
    Var x("x");
    RDom r(0, 10);
    f(x) = Tuple(0, 0);
    f(r) = Tuple(select(r < 5, 20, undef<int>()), select(r < 7, 30, undef<int>()));
    f.realize({10});
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
REFUSED(modulo_zero) {
    Func f;
    Var x;
    f(x) = x % 0;
    f.realize({10});
}
REFUSED(pointer_arithmetic) {
    Param<const char *> p;
    Expr e = p + 2;
}
REFUSED(select_of_undefined_tuples) {
    Tuple t = select(Tuple(Expr(), Expr()), Tuple(1, 2), Tuple(3, 4));
}
REFUSED(select_of_undefined_values) { Tuple t = select(Expr(true), Tuple(Expr(), 2), Tuple(3, 4)); }
REFUSED(pure_after_update) {
    Func f;
    Var x, y;
    f(x) = x;
    f(x) += 1;
    f(x, y) = 1;
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
REFUSED(clamp_undefined) { Expr e = clamp(Expr(), 0, 1); }
REFUSED(mux_of_nothing) { Expr e = mux(Expr(1), std::vector<Expr>{}); }
REFUSED(cast_of_undefined) { Expr e = cast<float>(Expr()); }
REFUSED(sum_of_undefined) { Expr e = sum(Expr()); }
REFUSED(promise_of_another_type) {
    Var x;
    unsafe_promise_clamped(Expr(x), Expr(1.5f), Expr(3));
}
