#include "../program.h"

namespace {
Var x("x"), y("y"), z("z");
}

REFUSED(use_of_an_undefined_func, "is used, but has no definition yet") {
    Func f, g;
    g(x) = f(x) + 1;
    g.realize({4});
}
REFUSED(realize_of_an_undefined_func, "has no definition") {
    Func f;
    f.realize({4});
}
REFUSED(compile_of_an_undefined_func, "Pipeline: the output f has no definition") {
    Func f("f");
    f.compile_jit();
}
REFUSED(realize_of_an_undefined_pipeline,
        "this Pipeline is undefined: it was made without an output") {
    Pipeline p;
    p.realize({4});
}
REFUSED(compile_of_an_undefined_pipeline,
        "this Pipeline is undefined: it was made without an output") {
    Pipeline p;
    p.compile_jit();
}
REFUSED(too_many_arguments, "has 1 dimension (x), but is used with 2 arguments") {
    Func f, g;
    f(x) = x;
    g(x, y) = f(x, y);
    g.realize({4, 4});
}
REFUSED(too_few_arguments, "has 2 dimensions (x, y), but is used with 1 argument") {
    Func f, g;
    f(x, y) = x;
    g(x) = f(x);
    g.realize({4});
}
REFUSED(argument_twice, "the argument x is there twice") {
    Func f;
    f(x, x) = x;
}
REFUSED(first_definition_without_vars,
        "the first definition has variables (Var) as its arguments") {
    Func f;
    f(x + 1) = x;
}
REFUSED(first_definition_with_a_number,
        "the first definition has variables (Var) as its arguments") {
    Func f;
    f(x, 3) = x;
}
REFUSED(free_variable, "the variable y is bound by nothing") {
    Func f;
    f(x) = x + y;
}
REFUSED(free_variable_in_update, "the variable y is bound by nothing") {
    Func f;
    f(x) = x;
    f(x) += y;
}
REFUSED(definition_after_use, "has been used by another Func or realized") {
    Func f, g;
    f(x) = x;
    g(x) = f(x);
    f(x) += 1;
    f(x) = 3;
    g.realize({4});
    f(x) += 2;
}
REFUSED(update_after_realize, "has been used by another Func or realized") {
    Func f;
    f(x) = x;
    f.realize({4});
    f(x) += 1;
}
REFUSED(update_of_another_type, "value 0 has the type float32") {
    Func f;
    f(x) = cast<uint8_t>(x);
    f(x) += cast<float>(x);
}
REFUSED(update_of_an_undefined_func, "is used, but has no definition yet") {
    Func f;
    f(x + 1) += f(x);
}
REFUSED(undefined_value, "a value is an undefined Expr") {
    Func f;
    f(x) = Expr();
}
REFUSED(undefined_operand, "operator + of an undefined Expr") {
    Expr e;
    Expr s = e + 1;
    (void)s;
}
REFUSED(handle_arithmetic, "operator +: types handle and int32 have no common type") {
    Param<const char *> p;
    Func f;
    f(x) = p + 2;
}
REFUSED(float_coordinate, "is a float32, not an integer") {
    Func f, g;
    f(x) = x;
    g(x) = f(cast<float>(x) + 0.5f);
    g.realize({4});
}
REFUSED(tuple_of_another_size, "it has 3 values, but") {
    Func f;
    f(x) = Tuple(x, x + 1);
    f(x) = Tuple(x, x, x);
}
REFUSED(one_value_of_a_tuple_func, "alone is no Expr; say which") {
    Func f, g;
    f(x) = Tuple(x, x + 1);
    g(x) = f(x) + 1;
}
REFUSED(element_out_of_range, "value 2 of") {
    Func f, g;
    f(x) = Tuple(x, x + 1);
    g(x) = f(x)[2];
}
REFUSED(select_of_tuples_of_two_sizes, "select: Tuples of different sizes, 2 and 3") {
    Func f;
    f(x) = select(x < 3, Tuple(x, x), Tuple(x, x, x));
}
REFUSED(tuple_select_of_two_types, "select: one value is a int32, the other a float32") {
    Func f;
    f(x) = select(x < 3, Tuple(x, cast<float>(x)), Tuple(cast<float>(x), x));
    f.realize({4});
}
REFUSED(select_without_condition, "operator select needs a boolean, not int32") {
    Expr e = select(x, 1, 2);
    (void)e;
}
REFUSED(logic_of_integers, "operator && needs a boolean, not int32") {
    Expr e = x && y;
    (void)e;
}
REFUSED(bits_of_two_signs, "one of them signed, the other not") {
    Expr e = cast<uint8_t>(x) & Expr(1);
}
REFUSED(shift_by_more_than_the_type_has, "the integer 300 is to be a uint8") {
    Expr e = cast<uint8_t>(x) << 300;
}
REFUSED(shift_of_a_bool, "a bool has one bit to shift") { Expr e = (x > 0) << 1; }
REFUSED(integer_that_a_float_rounds, "the integer 16777217 is to be a float32") {
    Expr e = cast<float>(x) + 16777217;
}
REFUSED(integer_that_is_no_bool, "the integer 2 is to be a bool") { Expr e = (x > 0) & 2; }
REFUSED(lerp_between_two_float_types, "lerp: one value is a float16, the other a float32") {
    Expr e = lerp(cast<float16_t>(x), 1.0f, 0.5f);
}
REFUSED(widen_right_by_a_wide_constant,
        "widen_right_add: the second operand is a int32, not a uint8") {
    Expr e = widen_right_add(cast<uint16_t>(x), 1);
}
REFUSED(update_that_widens, "value 0 has the type int32") {
    Func f;
    f(x) = cast<uint8_t>(x);
    f(x) = f(x) + Expr(1);
}
REFUSED(integer_that_does_not_fit, "the integer 3000 is to be a uint8") {
    Expr e = cast<uint8_t>(x) + 3000;
    (void)e;
}
REFUSED(comparison_with_what_does_not_fit, "the integer 1000 is to be a uint8") {
    Expr e = cast<uint8_t>(x) < 1000;
    (void)e;
}
REFUSED(constant_overflow, "operator +: 2147483647 + 1 is no int32") {
    Func f;
    f(x) = Expr(2147483647) + 1 + x * 0;
    f.realize({1});
}
REFUSED(typed_func_of_another_type, "but is defined with uint8") {
    Func f(Int(16), 1, "f");
    f(x) = cast<uint8_t>(x);
}
REFUSED(typed_func_of_another_rank, "f was declared with 2 dimensions, but is defined with 1") {
    Func f(Int(32), 2, "f");
    f(x) = x;
}
REFUSED(typed_func_of_another_size, "f was declared with the type int32, int32") {
    Func f({Int(32), Int(32)}, 1, "f");
    f(x) = x;
}
REFUSED(lerp_of_two_types, "lerp: one value is a uint8, the other a uint16") {
    Expr e = lerp(cast<uint8_t>(x), cast<uint16_t>(y), 0.5f);
    (void)e;
}
REFUSED(lerp_with_a_signed_weight,
        "lerp: the weight is a int8, not an unsigned integer or a float") {
    Expr e = lerp(cast<uint8_t>(x), cast<uint8_t>(y), cast<int8_t>(y));
    (void)e;
}
REFUSED(lerp_beyond_one, "lerp: the weight 1.5 is not between 0 and 1") {
    Expr e = lerp(cast<uint8_t>(x), cast<uint8_t>(y), 1.5f);
    (void)e;
}
REFUSED(clamp_out_of_type, "clamp: 255 is no value of type int8, that of what is clamped") {
    Func f;
    f(x) = clamp(cast<int8_t>(x), 0, 255);
    f.realize({3});
}
REFUSED(self_reference_at_other_place, "may be read only at x in that place, not at x + 1") {
    Func f;
    f(x) = x;
    f(x) += f(x + 1);
    f.realize({10});
}
REFUSED(recursion_without_definition, "is used, but has no definition yet") {
    Func f;
    f(x) = f(x - 1) + 1;
    f.realize({5});
}
REFUSED(placeholder_mismatch, "the placeholder _ is there twice in the arguments") {
    Func f, g;
    f(x, y) = x + y;
    g(x, y, _) = f(x, y);
    g(_, x, _) = f(x, _);
}
REFUSED(undefined_rdom, "RDom: it is undefined") {
    RDom r;
    Func f;
    f(x) = 0;
    f(x) += r;
    f.realize({3});
}
REFUSED(rdom_dimension_too_far, "RDom: it has 1 dimension, but its variable y is used") {
    RDom r(0, 5);
    Func f;
    f(x) = 0;
    f(x) += r.y;
    f.realize({3});
}
REFUSED(rdom_index_too_far, "RDom: there is no dimension 2") {
    RDom r(0, 5, 0, 3);
    Expr e = r[2];
    (void)e;
}
REFUSED(two_rdoms_in_one_update, "variables of two reduction domains") {
    RDom r(0, 5), s(0, 3);
    Func f;
    f(x) = 0;
    f(x) += r * s;
}
REFUSED(reduction_variable_in_first_definition, "it uses the reduction variable") {
    RDom r(0, 5);
    Func f;
    f(x) = x + r;
}
REFUSED(ambiguous_inline_reduction, "variables of two reduction domains") {
    RDom r(0, 5), s(0, 3);
    Func f;
    f(x) = sum(r + s);
}
REFUSED(inline_reduction_without_domain, "sum: the expression uses no variable of an RDom") {
    Func f;
    f(x) = sum(x);
}
REFUSED(predicate_after_use, "RDom::where: the domain has been used in a definition") {
    RDom r(0, 5);
    Func f;
    f(x) = 0;
    f(x) += r;
    r.where(r.x > 2);
}
REFUSED(rdom_of_a_float_extent, "RDom: a bound is an integer, not a float32") {
    RDom r(0, Expr(1.5f));
    Func f;
    f(x) = 0;
    f(r) += 1;
    f.realize({5});
}
REFUSED(rdom_bounds_by_a_var, "RDom: a bound depends on the variable x") {
    RDom r(0, x);
    Func f;
    f(x) = 0;
    f(x) += r;
    f.realize({3});
}
REFUSED(mixed_scatter_and_gather, "scatter and gather of 2 and of 3 values in one definition") {
    Func f;
    f(x) = 0;
    f(scatter(1, 2)) = gather(1, 2, 3);
    f.realize({5});
}
REFUSED(require_of_no_condition, "require: the condition is a int32, not a bool") {
    Expr e = require(x, x);
    (void)e;
}
REFUSED(undefined_in_print, "print: a value is an undefined Expr") {
    Expr e = print(Expr(), "text");
    (void)e;
}
REFUSED(reinterpret_of_another_size, "reinterpret: from int32, of 32 bits, to uint8, of 8") {
    Expr e = reinterpret<uint8_t>(x);
    (void)e;
}
REFUSED(popcount_of_a_float, "popcount: an operand is a float32, not an integer") {
    Expr e = popcount(cast<float>(x));
    (void)e;
}
REFUSED(tuple_of_undef_under_two_conditions, "give all of them one condition") {
    Func f("f");
    Var x("x");
    RDom r(0, 10);
    f(x) = Tuple(0, 0);
    f(r) = Tuple(select(r < 5, 20, undef<int>()), select(r < 7, 30, undef<int>()));
    f.realize({10});
}
REFUSED(typed_tuple_types, "but is defined with int32, int32") {
    Func f({Int(32), Float(32)}, 1, "f");
    Var x;
    f(x) = Tuple(x, x);
}
REFUSED(typed_tuple_update, "but is defined with int32, int32") {
    Func f({Int(32), Float(32)}, 1, "f");
    Var x;
    f(x) += Tuple(x, x);
}
REFUSED(typed_func_update_type, "but is defined with float32") {
    Func f(Int(32), 1, "f");
    Var x;
    f(x) += 1.5f;
}
REFUSED(typed_func_undefined_realize, "Pipeline: the output f has no definition") {
    Func f(Int(32), 1, "f");
    f.realize({10});
}
REFUSED(modulo_zero, "the remainder of a division by 0") {
    Func f;
    Var x;
    f(x) = x % 0;
    f.realize({10});
}
REFUSED(pointer_arithmetic, "operator +: types handle and int32 have no common type") {
    Param<const char *> p;
    Expr e = p + 2;
}
REFUSED(select_of_undefined_tuples, "Tuple: a value is an undefined Expr") {
    Tuple t = select(Tuple(Expr(), Expr()), Tuple(1, 2), Tuple(3, 4));
}
REFUSED(select_of_undefined_values, "Tuple: a value is an undefined Expr") {
    Tuple t = select(Expr(true), Tuple(Expr(), 2), Tuple(3, 4));
}
REFUSED(pure_after_update, "it has 2 arguments, but") {
    Func f;
    Var x, y;
    f(x) = x;
    f(x) += 1;
    f(x, y) = 1;
}
REFUSED(output_in_another_tuple, "alone is no Expr; say which") {
    Func f;
    Var x;
    f(x) = Tuple(x, x);
    Expr e = f(3);
}
REFUSED(func_called_with_tuple, "alone is no Expr; say which") {
    Func f, g;
    Var x;
    f(x) = Tuple(x, 2);
    g(x) = f(x) + 1;
}
REFUSED(clamp_undefined, "operator clamp of an undefined Expr") { Expr e = clamp(Expr(), 0, 1); }
REFUSED(mux_of_nothing, "mux: there are no values to choose from") {
    Expr e = mux(Expr(1), std::vector<Expr>{});
}
REFUSED(cast_of_undefined, "operator cast of an undefined Expr") { Expr e = cast<float>(Expr()); }
REFUSED(sum_of_undefined, "sum: an undefined Expr") { Expr e = sum(Expr()); }
REFUSED(promise_of_another_type, "but an end of its range is a float32") {
    Var x;
    unsafe_promise_clamped(Expr(x), Expr(1.5f), Expr(3));
}
