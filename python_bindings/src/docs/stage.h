#pragma once

// Docstrings of what a Stage has beside directives, and of orders of blocks. The names in their
// examples are those of tests/examples.py.
namespace tessera::python::docs::stage {

inline constexpr char class_[] =
    R"doc(One definition of a Func, to be scheduled: f.update(i), or what specialize() returns.

>>> h.update().reorder(x, r)
<Stage h.update(0)>
>>> h.print_loop_nest()
produce h:
  for h.outermost in [0, 0]:
    for h.x:
      h(...) = ...
  for h.outermost in [0, 0]:
    for h.r$x in [0, 3]:
      for h.x:
        h(...) = ...
)doc";

inline constexpr char name[] =
    R"doc(Returns the name of the Func, with the number of the update.

>>> h.update().name()
'h.update(0)'
)doc";

inline constexpr char split_vars[] = R"doc(Returns the loops as they are now, innermost first.

>>> h.update().split_vars()
(RVar("r$x"), Var("x"))
)doc";

inline constexpr char dump_argument_list[] = R"doc(Returns the loops as a text.

>>> h.update().dump_argument_list()
'Vars: r$x, x\n'
)doc";

inline constexpr char rfactor[] =
    R"doc(Returns a new Func that computes an associative update separately for each value of variables.

`preserved` is an RVar with its Var after it, or a list of pairs of them.

>>> ro, ri, u = ts.RVar("ro"), ts.RVar("ri"), ts.Var("u")
>>> parts = h.update().split(r, ro, ri, 2).rfactor(ro, u)
>>> parts.compute_root().update().parallel(u)
<Stage h_intm.update(0)>
>>> h.realize([3]).numpy().tolist()
[60, 64, 68]
)doc";

inline constexpr char split_k[] =
    R"doc(Computes an associative update in `parts` parts, and returns the new Func that has them.

Iterations of the loop `rvar` are dealt out to the parts, side by side if their number is known to be
a multiple of `parts`, else in turns. The last dimension of the new
Func, `part`, is the number of a part. They are added up in the order of their numbers.

>>> q, s, part = ts.Func("q"), ts.RDom([(0, 10)], "s"), ts.Var("part")
>>> q[x] = 0
>>> q[x] += s
>>> q.update().split_k(s.x, part, 4).compute_root().parallel(part)
<Func q_intm(x, part): int32, 1 update>
>>> q.realize([2]).numpy().tolist()
[45, 45]
)doc";

inline constexpr char copy_input[] =
    R"doc(Returns a Func with the values of a Buffer that this stage reads, which it reads from there now.

The copy has a schedule of its own. A Func and an ImageParam have in_() for it.

>>> q, s = ts.Func("q"), ts.RDom([(0, 2)], "s")
>>> q[x] = 0
>>> q[x] += ts.i32(b[x, s])
>>> q.update().copy_input(b).compute_at(q, x)
<Func b_for_q(_0, _1): uint8>
>>> q.realize([3]).numpy().tolist()
[3, 5, 7]
)doc";

inline constexpr char eviction_key[] =
    R"doc(The key of a memoized result, which memoize() takes, and refuses.

>>> f.memoize(ts.EvictionKey(p))
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...memoize: keeping results from one call to the next is not supported yet
)doc";

inline constexpr char gpu_order[] =
    R"doc(An order of the blocks of a kernel: what grouped() and hilbert() return.

>>> ts.grouped(16).rows
16
)doc";

inline constexpr char gpu_order_rows[] =
    R"doc(Is the number of rows of a group, as an expression; undefined for hilbert().

>>> ts.grouped(16).rows
16
)doc";

inline constexpr char grouped[] =
    R"doc(Returns the order of blocks in groups of so many rows, column by column in each.

>>> f.gpu_tile(x, y, xi, yi, 32, 8).gpu_order(ts.grouped(16)).schedule_as_python().splitlines()[-1]
'f.gpu_order(ts.grouped(16))'
)doc";

inline constexpr char hilbert[] =
    R"doc(Returns the order of blocks along a Hilbert curve: neighbours follow one another.

>>> f.gpu_tile(x, y, xi, yi, 32, 8).gpu_order(ts.hilbert()).schedule_as_python().splitlines()[-1]
'f.gpu_order(ts.hilbert())'
)doc";

}  // namespace tessera::python::docs::stage
