#pragma once
#include "ir/module.h"
#include "ir/nodes.h"
#include <string_view>
#include <unordered_map>

// Reads the text that `ir/printer.h` writes, and what people write by hand like it. Grammar
// (`?` optional, `*` any number, `|` or; a list is separated by commas):
//
//     module  : `module "name"`, then kind `"name"(arg, ...):` body, ...
//     kind    : `func` | `body` | `task` | `part`
//     arg     : `n: int32` | `b: input uint8[3]` | `b: output uint8[3]`  (the 3: dimensions)
//             | `b: storage uint8`
//     body    : lines, further indented | on the same line, statements separated by `;`
//     stmt    : (`parallel` | `vectorized` | `unrolled`)? `for i in [min, +extent)`
//                   (`partition Never` | `partition Always`)? origin? streams? `:` body
//             | `produce f` produced `:` body | `consume f:` body
//             | `acquire semaphore, count:` body
//             | `if c:` body (`else if c:` body)* (`else:` body)?
//             | `fork:` body (`with:` body)* | `atomic f (mutexes m)?:` body
//             | `machine_op mma(expr, ...):` body
//             | `prefetch f: {type, ...} over [min, +extent], ... if c:` body
//             | scoped `:` body | scoped         (without a body: all that follows in its list)
//             | `assert condition, message` | `no_op` | `invoke "name"(expr, ...)` | expr
//             | access = expr | f(x, ...) = values (`if` predicate)?
//     values  : expr | {expr, ...}
//     scoped  : `let x = expr` (`in`)?
//             | `allocate b: type[extent, ...] in Heap (within a)? (padding n)? (if c)?`
//             | `realize f: {type, ...} (in Heap)?` storage `(over [min, +extent` fold? `], ...)?`
//                   (`if c`)?
//             | `hoist f` (`copies expr`)?
//     origin  : `of f x` (`update 0`)? `reduction`?     (the loop over x of an update of f)
//                   (`grouped 16`)? `hilbert`? (`persistent 1`)? (`resident 2`)?
//                   (`producers 128` `ping_pong`? (`registers 40 and 232`)?)?
//                                                 (a loop over blocks)
//     streams : `streaming` `all`? (`loads b, ...`)? (`stores b, ...`)?
//     produced: `in stages`? (`by "function"`)?
//                   (`of [min, max` (`rounded` | `by 8`)? `mixed`? `], ...`)?
//     storage : `async`? `passed`? `traced`? order? (`copies expr`)? `shared`?
//     order   : `order 1` (`align expr`)? (`bound x by expr`)? `, ...`   (innermost first)
//     fold    : (`fold` | `folded`) (`x by expr`)?
//     access  : b[index (if predicate)? (aligned(modulus, remainder))? (streaming)?]
//     expr    : `let x = expr in expr` | operators of C with C's precedence: || && == != < <= > >=
//               + - * / % !
//     operand : 3 | 3:uint8 | 1.5 | 1.5:float64 | inf | nan | true | false | "text" | (expr)
//             | x | access | f(x, ...) | f(x, ...).1 | image f(x, ...)
//             | b.min[0] | b.extent[0] | b.stride[0] | b.host | b.dimensions | b.type_code ...
//             | type(e), a cast | reinterpret type(e) | min(a, b) | max(a, b) | select(c, t, f)
//             | ramp(base, stride, 8) | x8(e), a broadcast | vector_reduce(add, e, lanes)
//             | shuffle(a, ..., [0, 3]) | concat(a, ...) | interleave(a, ...)
//             | slice(a, begin, stride, size) | intrinsic(a, ...)
//             | extern type function(a, ...) | pure extern type function(a, ...)
//     type    : int32 uint8x16 float32 bfloat16 bool handle
//     name    : letters, digits, _ and $, then any number of `.7` | `any text` in backquotes
//
// Types. A variable, access or call that has another type than a reader would think is followed by
// it: `x:float32`, `b[i]:uint8`, `f(x).1:uint8`; so is an intrinsic call. From then on that is
// what the name has; a `let`, loop, `allocate` or `realize` says it for its body. A name of which
// nothing was said is int32. With `[i]` or `(x)` after it, a name has as many lanes as the first
// operand in there.
// For convenience, a number without a type takes that of the operand or place beside it:
// `x:uint8 + 1`; `-x` is `0 - x`.
namespace tessera::ir {

// Maps each spelling to its symbol. One scope for several texts makes them share symbols.
class NamedSymbols {
public:
    // The symbol of this spelling; a fresh one at first.
    Symbol operator[](std::string_view spelling);
    // From now on the spelling stands for this symbol. Types are learnt anew in each text.
    void bind(std::string_view spelling, Symbol symbol);

private:
    std::unordered_map<std::string, Symbol> symbols;
};

// Throw CompileError with line, column and what was expected, for text that cannot be read.
Expr parse_expr(std::string_view text);
Expr parse_expr(std::string_view text, NamedSymbols &scope);
Stmt parse_stmt(std::string_view text);
Stmt parse_stmt(std::string_view text, NamedSymbols &scope);
Module parse_module(std::string_view text);
Module parse_module(std::string_view text, NamedSymbols &scope);

// Returns true if the text begins as a module does, and is not one of statements.
bool is_module_text(std::string_view text);

}  // namespace tessera::ir
