#include "base/error.h"
#include "ir/equal.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;

namespace {

// The text printed again after parsing.
std::string expr_again(std::string_view text) { return to_string(parse_expr(text)); }
std::string stmt_again(std::string_view text) { return to_string(parse_stmt(text)); }

}  // namespace

TEST_SUITE("IR text") {
    TEST_CASE("an expression is printed as it is read") {
        for (const char *text : {
                 "x",
                 "x + 1",
                 "x:float32 + 1.5",
                 "x:uint8 + 3:uint8",
                 "x * (y + z) - (x - y)",
                 "x - y - z",
                 "x - (y - z)",
                 "(x + y) % 3 / -4",
                 "a < b && !(c == d || e >= f)",
                 "!!b:bool",
                 "min(x, max(y, 3))",
                 "select(x < 3, 1.5:float64, -2.25:float64)",
                 "uint8(x)",
                 "float32x4(ramp(x, 1, 4))",
                 "reinterpret int32(f:float32)",
                 "x8(ramp(x, 2, 4))",
                 "f[x]",
                 "f[x]:uint8 + f[x + 1]",
                 "f[ramp(x, 1, 4) if x4(x < 3) aligned(8, 2) streaming]:float32x4",
                 "f(x, y)",
                 "f(x).1:uint8 + f(y).1",
                 "image f(x, y):uint8",
                 "`min`(x) + min(x, y)",
                 "`let` + `a b` + `\\``",
                 "b.min[0] + b.extent[1] * b.stride[2]",
                 "b.host",
                 "b.dimensions",
                 "let y = x + 1 in let z = float32(y) in z * z",
                 "(let y = x in y) + 1",
                 "abs(x)",
                 "widening_add(x:uint8, y:uint8) + 1:uint16",
                 "saturating_cast(x):uint8",
                 "shift_left(x, 3)",
                 "extern float32 sinf(1.0)",
                 "pure extern handle \"a b\"(\"text\\n\\\"\\x01\")",
                 "shuffle(ramp(x, 1, 4), y, [0, 4, 1])",
                 "concat(x, y)",
                 "interleave(ramp(x, 1, 4), ramp(y, 1, 4))",
                 "slice(ramp(x, 1, 4), 2, -1, 3)",
                 "vector_reduce(saturating_add, ramp(x, 1, 4), 2)",
                 "nan + inf - -inf",
                 "-0.0",
                 "1e-45 + 3.4028235e+38",
                 "1.5:float16",
                 "-9223372036854775808:int64",
                 "18446744073709551615:uint64",
                 "true && false",
             }) {
            CAPTURE(text);
            CHECK(expr_again(text) == text);
        }
    }
    TEST_CASE("a statement is printed as it is read") {
        for (const char *text : {
                 "f[x] = 3\n",
                 "f[ramp(x, 1, 4) if x4(b:bool) aligned(4, 0) streaming] = x4(1.5)\n",
                 "f(x, y) = x + y\n",
                 "f(x, y) = {x, 1.5} if x < 3\n",
                 "f() = 3\n",
                 "for i in [0, +n):\n    f[i] = i\n",
                 "parallel for i in [0, +n) partition Never:\n    no_op\n",
                 "let x = 3\nf[x] = x\n",
                 "let x = 3:\n    f[x] = x\ng[0] = 1\n",
                 "f[0] = 1\nlet x = 3\nf[1] = x\nf[2] = x\n",
                 "allocate f: float32[n, m] in Heap padding 3 if n < 3\nf[0] = 1.5\n",
                 "realize f: {int32, uint8} in Stack over [a, +b], [c, +d] if n < 3\nf(x, y) = {3, "
                 "4:uint8}\n",
                 "hoist f\nrealize f: {uint8}\nproduce f:\n    f() = 4:uint8\nconsume f:\n    g(x) = "
                 "f()\n",
                 "acquire s:handle, 1:\n    no_op\n",
                 "assert x < 3, extern int32 error(x)\n",
                 "if x < 3:\n    no_op\nelse if x < 4:\n    f[1] = 2\nelse:\n    f[1] = 3\n",
                 "fork:\n    f[0] = 1\nwith:\n    f[1] = 1\nwith:\n    let x = 1\n    f[2] = x\n",
                 "atomic f mutexes m:\n    f[0] = f[0] + 1\n",
                 "prefetch f: {uint8} over [0, +3] if x < 3:\n    f(x) = 2:uint8\n",
                 "prefetch(address_of(f[0]), 1, 64)\n",
                 "(let x = 3 in x)\n",
             }) {
            CAPTURE(text);
            CHECK(stmt_again(text) == text);
        }
    }
}
