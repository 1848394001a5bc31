#pragma once

// Docstrings of expressions, Vars, reduction domains, and what is at a point of a Func. The names
// in their examples are those of tests/examples.py.
namespace tessera::python::docs {
namespace expr {

inline constexpr char class_[] =
    R"doc(A value that a pipeline computes at each point: made by operators and functions of Vars and numbers.

Python's operators work as in NumPy; integers have 32 bits, and `/` rounds them down. Comparisons
are expressions, too: write & for and, | for or, ~ for not.

>>> e = (x + 1) * 2 - f[x, y] % 3
>>> e
(x + 1) * 2 - f(x, y) % 3
>>> (0 <= x) & (x < 10)
bitwise_and(x >= 0, x < 10)
>>> ts.evaluate((ts.Expr(7) / 2, ts.Expr(7) // 2, ts.Expr(-7) % 3, ts.Expr(2) ** 5, ts.Expr(1) << 4))
(3, 3, 2, 32.0, 16)
)doc";

inline constexpr char empty[] = R"doc(Makes an undefined Expr: no limit, where one is given.

>>> ts.Expr().defined()
False
)doc";

inline constexpr char value[] = R"doc(Makes an expression of a number, a Var or another expression.

>>> ts.Expr(np.uint8(7)).type()
uint8
)doc";

inline constexpr char type[] = R"doc(Returns the Type of the value.

>>> (x + 1).type(), (x < 1).type(), (x * 0.5).type()
(int32, bool, float32)
)doc";

inline constexpr char defined[] = R"doc(Returns True unless it is Expr().

>>> ts.Expr(1).defined(), ts.Expr().defined()
(True, False)
)doc";

inline constexpr char same_as[] =
    R"doc(Returns True if both are the very same object of the compiler, not only equal.

>>> e = x + 1
>>> e.same_as(e), e.same_as(x + 1)
(True, False)
)doc";

inline constexpr char logical_not[] = R"doc(Returns the negation of a bool, as `~` does.

>>> (x < 3).logical_not()
!(x < 3)
)doc";

}  // namespace expr
namespace var {

inline constexpr char class_[] =
    R"doc(The name of a dimension of a Func, or of a loop. Vars of one name are the same.

>>> u, v = ts.Var("u"), ts.Var("v")
>>> u + 2 * v
u + 2 * v
)doc";

inline constexpr char unnamed[] = R"doc(Makes a Var with a name that nobody else has.

>>> ts.Var().same_as(ts.Var())
False
)doc";

inline constexpr char named[] = R"doc(Makes the Var of this name.

>>> ts.Var("x").same_as(x)
True
)doc";

inline constexpr char name[] = R"doc(Returns the name.

>>> x.name()
'x'
)doc";

inline constexpr char same_as[] = R"doc(Returns True for a Var of the same name.

>>> x.same_as(ts.Var("x")), x.same_as(y)
(True, False)
)doc";

inline constexpr char outermost[] = R"doc(Returns the loop around all loops of a stage.

>>> f.compute_at(g, ts.Var.outermost())
<Func f(x, y): int32>
>>> g.print_loop_nest()
produce g:
  for g.outermost in [0, 0]:
    store f:
      produce f:
        for f.outermost in [0, 0]:
          for f.y:
            for f.x:
              f(...) = ...
      consume f:
        for g.y:
          for g.x:
            g(...) = ...
)doc";

inline constexpr char implicit[] =
    R"doc(Returns the n-th dimension that the placeholder `_` stands for.

>>> ts.Var.implicit(0)
Var("_0")
)doc";

inline constexpr char is_implicit[] =
    R"doc(Returns True for one of the dimensions that the placeholder `_` stands for.

>>> ts._0.is_implicit(), x.is_implicit()
(True, False)
)doc";

inline constexpr char implicit_index[] =
    R"doc(Returns which dimension of the placeholder `_` it is; -1 if it is none.

>>> ts._3.implicit_index(), x.implicit_index()
(3, -1)
)doc";

inline constexpr char is_placeholder[] =
    R"doc(Returns True for `_`, which stands for all dimensions that are not named.

>>> q = ts.Func("q")
>>> q[ts._] = f[ts._] + 1
>>> ts._.is_placeholder(), q
(True, <Func q(_0, _1): int32>)
)doc";

}  // namespace var
namespace rvar {

inline constexpr char class_[] =
    R"doc(A variable of a reduction domain, or the name of a loop made of such variables.

>>> rx, ry = ts.RDom([(0, 3), (0, 2)])
>>> ro, ri = ts.RVar("ro"), ts.RVar("ri")
>>> h.update().split(r, ro, ri, 2).unroll(ri)
<Stage h.update(0)>
)doc";

inline constexpr char name[] = R"doc(Returns the name.

>>> ts.RVar("ro").name()
'ro'
)doc";

inline constexpr char min[] =
    R"doc(Returns the first value, as an expression; undefined for the name of a loop alone.

>>> ts.RDom([(2, 5)]).x.min()
2
)doc";

inline constexpr char extent[] =
    R"doc(Returns the number of values, as an expression; undefined for the name of a loop alone.

>>> ts.RDom([(2, 5)]).x.extent()
5
)doc";

}  // namespace rvar
namespace var_or_rvar {

inline constexpr char class_[] =
    R"doc(A Var or an RVar, as the name of a loop. Functions take both without it.

>>> ts.VarOrRVar(x), ts.VarOrRVar(r)
(VarOrRVar("x"), VarOrRVar("r$x"))
)doc";

inline constexpr char name[] = R"doc(Returns the name.

>>> ts.VarOrRVar(x).name()
'x'
)doc";

inline constexpr char is_rvar[] = R"doc(Is True if it is an RVar.

>>> ts.VarOrRVar(x).is_rvar, ts.VarOrRVar(ts.RVar("ro")).is_rvar
(False, True)
)doc";

}  // namespace var_or_rvar
namespace range {

inline constexpr char class_[] =
    R"doc(The numbers from min on, as many as extent says: min, ..., min + extent - 1.

>>> ts.Range(2, 5)
Range(2, 5)
>>> r.domain()
[Range(0, 4)]
)doc";

inline constexpr char min[] = R"doc(Is the first number, as an expression.

>>> ts.Range(2, 5).min
2
)doc";

inline constexpr char extent[] = R"doc(Is the number of numbers, as an expression.

>>> ts.Range(2, 5).extent
5
)doc";

}  // namespace range
namespace rdom {

inline constexpr char class_[] =
    R"doc(A box over which updates run, first variable fastest: RDom([(min, extent), ...]).

Its variables are r.x, r.y, r.z and r.w, r[0], r[1] and so on, or `rx, ry = ts.RDom(...)`. With one
dimension it is an expression itself.

>>> q, s = ts.Func("q"), ts.RDom([(1, 3)], "s")
>>> q[x] = 1
>>> q[s] = q[s - 1] * 2
>>> q.realize([5]).numpy().tolist()
[1, 2, 4, 8, 1]
)doc";

inline constexpr char init[] =
    R"doc(Takes (min, extent) of each dimension, or all of a Buffer, an array or an ImageParam.

Dimension 0 comes first: of an array of shape (2, 3), the domain has the extents 3 and 2.

>>> ts.RDom([(0, 3), (0, 2)], "r")
<RDom r$x: (0, 3), r$y: (0, 2)>
>>> ts.RDom(np.zeros((2, 3)), "r")
<RDom r$x: (0, 3), r$y: (0, 2)>
)doc";

inline constexpr char dimensions[] = R"doc(Returns the number of dimensions.

>>> ts.RDom([(0, 3), (0, 2)]).dimensions()
2
)doc";

inline constexpr char defined[] = R"doc(Returns True if it has a dimension.

>>> r.defined()
True
)doc";

inline constexpr char same_as[] =
    R"doc(Returns True if both are the very same domain, not only equal.

>>> r.same_as(r), r.same_as(ts.RDom([(0, 4)]))
(True, False)
)doc";

inline constexpr char domain[] = R"doc(Returns the Range of each dimension.

>>> ts.RDom([(0, 3), (1, 2)]).domain()
[Range(0, 3), Range(1, 2)]
)doc";

inline constexpr char where[] = R"doc(Leaves only the points for which the condition holds.

>>> s = ts.RDom([(0, 4), (0, 4)])
>>> s.where(s.x < s.y)
>>> ts.evaluate(ts.sum(s, 1))
6
)doc";

inline constexpr char x[] = R"doc(Is the first variable.

>>> ts.RDom([(0, 3), (0, 2)], "r").x
RVar("r$x")
)doc";

inline constexpr char y[] = R"doc(Is the second variable.

>>> ts.RDom([(0, 3), (0, 2)], "r").y
RVar("r$y")
)doc";

inline constexpr char z[] = R"doc(Is the third variable.

>>> ts.RDom([(0, 3), (0, 2), (0, 5)], "r").z
RVar("r$z")
)doc";

inline constexpr char w[] = R"doc(Is the fourth variable.

>>> ts.RDom([(0, 3), (0, 2), (0, 5), (0, 4)], "r").w
RVar("r$w")
)doc";

}  // namespace rdom
namespace ref {

inline constexpr char class_[] =
    R"doc(f[x, y]: the value of a Func at a point, or the left side of a definition.

`f[x] += e`, `-=`, `*=` and `/=` are updates; without a definition before, f begins with 0 or 1.

>>> q = ts.Func("q")
>>> q[x] += r * x
>>> q.realize([4]).numpy().tolist()
[0, 6, 12, 18]
)doc";

inline constexpr char size[] = R"doc(Returns the number of values that the Func has, as len() does.

>>> f[x, y].size()
1
)doc";

inline constexpr char equivalent_to[] = R"doc(Returns True if it is the same value of the same Func.

>>> f[x, y].equivalent_to(f[x, y]), f[x, y].equivalent_to(f[y, x])
(True, False)
)doc";

}  // namespace ref
namespace element {

inline constexpr char class_[] = R"doc(f[x, y][i]: one of the values of a Func at a point.

>>> q = ts.Func("q")
>>> q[x] = (x, x * x)
>>> q[x][1] += 100
>>> [out.numpy().tolist() for out in q.realize([3])]
[[0, 1, 2], [100, 101, 104]]
)doc";

inline constexpr char element[] = R"doc(Returns which of the values it is.

>>> q = ts.Func("q")
>>> q[x] = (x, x * x)
>>> q[x][1].element()
1
)doc";

}  // namespace element
namespace level {

inline constexpr char class_[] =
    R"doc(A place in the loops of a pipeline, which may be given to directives first and set later.

>>> level = ts.LoopLevel()
>>> f.compute_at(level)
<Func f(x, y): int32>
>>> level.set(ts.LoopLevel(g, y))
>>> g.print_loop_nest()
produce g:
  for g.outermost in [0, 0]:
    for g.y:
      store f:
        produce f:
          for f.outermost in [0, 0]:
            for f.y:
              for f.x:
                f(...) = ...
        consume f:
          for g.x:
            g(...) = ...
)doc";

inline constexpr char empty[] = R"doc(Makes a level that is not set yet.

>>> ts.LoopLevel().defined()
False
)doc";

inline constexpr char init[] =
    R"doc(Makes the body of a loop of a Func (of all its stages, or of one), or of a Stage.

>>> ts.LoopLevel(f, x)
<LoopLevel f, x>
)doc";

inline constexpr char inlined[] =
    R"doc(Returns the level that is no place: what is computed there is computed in each of its uses.

>>> f.compute_at(ts.LoopLevel.inlined())
<Func f(x, y): int32>
)doc";

inline constexpr char root[] = R"doc(Returns the level outside of all loops.

>>> f.compute_at(ts.LoopLevel.root())
<Func f(x, y): int32>
>>> g.print_loop_nest()
store f:
  produce f:
    for f.outermost in [0, 0]:
      for f.y:
        for f.x:
          f(...) = ...
  consume f:
    produce g:
      for g.outermost in [0, 0]:
        for g.y:
          for g.x:
            g(...) = ...
)doc";

inline constexpr char set[] = R"doc(Lets all copies of this level be what the other one is now.

>>> level = ts.LoopLevel()
>>> f.compute_at(level)
<Func f(x, y): int32>
>>> level.set(ts.LoopLevel.root())
)doc";

inline constexpr char lock[] = R"doc(Lets later set() be refused, and returns the level.

>>> level = ts.LoopLevel(f, x).lock()
>>> level.set(ts.LoopLevel.root())
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...a LoopLevel cannot be set after lock()
)doc";

inline constexpr char copy[] =
    R"doc(Returns a level of its own at the same place, which set() of this one leaves as it is.

>>> level = ts.LoopLevel(f, x)
>>> other = level.copy()
>>> level.set(ts.LoopLevel.root())
>>> other
<LoopLevel f, x>
)doc";

inline constexpr char defined[] = R"doc(Returns True if it has been set.

>>> ts.LoopLevel().defined(), ts.LoopLevel.root().defined()
(False, True)
)doc";

inline constexpr char is_at[] =
    R"doc(Returns True if it is at a loop: it is set, and neither inlined() nor root().

>>> ts.LoopLevel(f, x).is_at(), ts.LoopLevel.root().is_at()
(True, False)
)doc";

inline constexpr char is_inlined[] = R"doc(Returns True if it is inlined().

>>> ts.LoopLevel.inlined().is_inlined()
True
)doc";

inline constexpr char is_root[] = R"doc(Returns True if it is root().

>>> ts.LoopLevel.root().is_root()
True
)doc";

inline constexpr char stage[] =
    R"doc(Returns the number of the stage whose loop it is; -1 for all of them.

>>> ts.LoopLevel(h.update(), r).stage()
1
)doc";

inline constexpr char func[] = R"doc(Returns the name of the Func whose loop it is.

>>> ts.LoopLevel(f, x).func()
'f'
)doc";

inline constexpr char var[] = R"doc(Returns the Var or RVar of the loop.

>>> ts.LoopLevel(f, x).var()
Var("x")
)doc";

inline constexpr char matches[] = R"doc(Returns True for the same place.

>>> ts.LoopLevel(f, x).matches(ts.LoopLevel(f, ts.Var("x")))
True
)doc";

inline constexpr char to_string[] =
    R"doc(Returns the place as a text; CompileError before lock(), when it may still become another.

>>> ts.LoopLevel(f, x).lock().to_string()
'f, x'
)doc";

}  // namespace level
}  // namespace tessera::python::docs
