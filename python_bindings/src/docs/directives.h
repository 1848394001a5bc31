#pragma once

// Docstrings of the directives that a Func and a Stage have in common. The names in their examples
// are those of tests/examples.py.
namespace tessera::python::docs::directive {

inline constexpr char split[] = R"doc(Splits a loop in two: old becomes outer * factor + inner.

The tail says what happens where the factor does not divide the extent.

>>> f.split(x, xo, xi, 8).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      for f.xo:
        for f.xi in [0, 7]:
          f(...) = ...
)doc";

inline constexpr char fuse[] = R"doc(Makes one loop of two, in the place of the inner one.

>>> f.fuse(x, y, t).parallel(t).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    parallel f.t:
      f(...) = ...
)doc";

inline constexpr char rename[] = R"doc(Gives a loop another name, for the directives that follow.

>>> f.rename(x, t).vectorize(t, 8).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      for f.t:
        vectorized f.t_i in [0, 7]:
          f(...) = ...
)doc";

inline constexpr char reorder[] =
    R"doc(Orders loops, innermost first, in the places that they have now. A list does as well.

>>> f.reorder(y, x).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.x:
      for f.y:
        f(...) = ...
)doc";

inline constexpr char serial[] =
    R"doc(Runs the iterations one after the other, which is usual.

>>> f.parallel(y).serial(y).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      for f.x:
        f(...) = ...
)doc";

inline constexpr char parallel[] =
    R"doc(Runs the iterations on all cores; with a task_size, in tasks of so many iterations each.

>>> f.parallel(y, 16).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    parallel f.y:
      for f.y_i in [0, 15]:
        for f.x:
          f(...) = ...
)doc";

inline constexpr char vectorize[] =
    R"doc(Makes vectors of the loop, or of a loop of `factor` iterations that is split off it.

>>> f.vectorize(x, 8).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      for f.x:
        vectorized f.x_i in [0, 7]:
          f(...) = ...
)doc";

inline constexpr char unroll[] =
    R"doc(Unrolls the loop, or a loop of `factor` iterations that is split off it.

>>> f.unroll(x, 4).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      for f.x:
        unrolled f.x_i in [0, 3]:
          f(...) = ...
)doc";

inline constexpr char tile[] = R"doc(Splits loops, and puts all inner ones inside of the outer ones.

The forms are tile(x, y, xo, yo, xi, yi, xfactor, yfactor), tile(x, y, xi, yi, xfactor, yfactor),
tile(previous, outers, inners, factors) and tile(previous, inners, factors) with lists. Without
names for them, outer loops keep the old ones. `tail` is one TailStrategy, or a list of one each.

>>> f.tile(x, y, xi, yi, 8, 4).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      for f.x:
        for f.yi in [0, 3]:
          for f.xi in [0, 7]:
            f(...) = ...
)doc";

inline constexpr char partition[] =
    R"doc(Says if the loop may be split into prologue, steady state and epilogue.

>>> f.partition(x, ts.Partition.Never).schedule_as_python().splitlines()[-1]
'f.partition(x, ts.Partition.Never)'
)doc";

inline constexpr char never_partition[] =
    R"doc(Splits none of these loops into prologue, steady state and epilogue.

>>> f.never_partition(x, y).schedule_as_python().splitlines()[-2:]
['f.partition(x, ts.Partition.Never)', 'f.partition(y, ts.Partition.Never)']
)doc";

inline constexpr char always_partition[] =
    R"doc(Splits each of these loops into prologue, steady state and epilogue.

>>> f.always_partition(y).schedule_as_python().splitlines()[-1]
'f.partition(y, ts.Partition.Always)'
)doc";

inline constexpr char never_partition_all[] =
    R"doc(Splits no loop into prologue, steady state and epilogue: the code is shorter.

>>> edge = ts.BoundaryConditions.repeat_edge(a)
>>> f = ts.Func("f")
>>> f[x, y] = edge[x - 1, y] + edge[x + 1, y]
>>> long = len(f.lowered_stmt())
>>> len(f.never_partition_all().lowered_stmt()) < long
True
)doc";

inline constexpr char always_partition_all[] =
    R"doc(Splits every loop into prologue, steady state and epilogue.

>>> f.always_partition_all().schedule_as_python().splitlines()[-2:]
['f.partition(x, ts.Partition.Always)', 'f.partition(y, ts.Partition.Always)']
)doc";

inline constexpr char allow_race_conditions[] =
    R"doc(States that the iterations of an update may run at once, whatever they read and write.

>>> q = ts.Func("q")
>>> q[x] = 0
>>> q[3 - r] = r                                     # no two iterations store the same place
>>> q.update().allow_race_conditions().parallel(r)
<Stage q.update(0)>
>>> q.realize([4]).numpy().tolist()
[3, 2, 1, 0]
)doc";

inline constexpr char stream_stores[] =
    R"doc(Writes by stores that go past the caches, where the target has such stores.

>>> f.vectorize(x, 8).stream_stores().schedule_as_python().splitlines()[-1]
'f.stream_stores()'
)doc";

inline constexpr char stream_loads[] =
    R"doc(Reads these Funcs, Buffers and ImageParams, or everything, by loads that go past the caches.

>>> q = ts.Func("q")
>>> q[x, y] = im[x, y] + 1
>>> q.vectorize(x, 16).stream_loads(im).schedule_as_python().splitlines()[-1]
'q.stream_loads(im)'
)doc";

inline constexpr char atomic[] =
    R"doc(Makes the stores of an update atomic, so that its reduction loops may be parallel or vectors.

The update has to be associative, unless `override_associativity_test` is true.

>>> h.update().atomic().parallel(r)
<Stage h.update(0)>
>>> h.realize([3]).numpy().tolist()
[60, 64, 68]
)doc";

inline constexpr char specialize[] =
    R"doc(Returns a copy of the stage, with a schedule of its own, for when the condition holds.

>>> f.specialize(p > 4).vectorize(x, 8)
<Stage f.specialize(p > 4)>
>>> f.print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      for f.x:
        vectorized f.x_i in [0, 7]:
          f(...) = ...
  for f.outermost in [0, 0]:
    for f.y:
      for f.x:
        f(...) = ...
)doc";

inline constexpr char specialize_fail[] =
    R"doc(Fails with the message if none of the specializations before applies.

>>> f.specialize(p > 4).vectorize(x, 8)
<Stage f.specialize(p > 4)>
>>> f.specialize_fail("p is too small")
>>> f.realize([4, 4])
Traceback (most recent call last):
    ...
tessera._errors.RunError: ...No specialization of f fits: p is too small
)doc";

inline constexpr char prefetch[] =
    R"doc(Fetches early: at the loop `at`, what the iteration of `from_` that is `offset` later reads.

`func` is a Func, an ImageParam or a Buffer that the stage reads; `strategy` says what is done
beyond its bounds.

>>> q = ts.Func("q")
>>> q[x, y] = im[x, y] + 1
>>> q.prefetch(im, y, y, 2).schedule_as_python().splitlines()[-1]
'q.prefetch(im, y, y, 2, ts.PrefetchBoundStrategy.GuardWithIf)'
)doc";

inline constexpr char unscheduled[] =
    R"doc(Says that the stage is meant to have no schedule, so that there is no warning of it.

>>> f.compute_root()
<Func f(x, y): int32>
>>> f.unscheduled()
)doc";

inline constexpr char hexagon[] = R"doc(Is refused: there is no back end for it.

>>> f.hexagon(x)
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...hexagon: there is no back end for Hexagon; ...
)doc";

inline constexpr char sme_streaming[] = R"doc(Is refused: there is no back end for it.

>>> f.sme_streaming(x)
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...sme_streaming: code for SME is not supported yet
)doc";

inline constexpr char compute_with[] = R"doc(Is refused: loops do not run together yet.

>>> f.compute_with(g, x)
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...compute_with: loops of several stages cannot be joined yet; ...
)doc";

inline constexpr char eager_inline[] = R"doc(Is refused: compute_inline() is what there is.

>>> g.eager_inline(f)
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...eager_inline: definitions are rewritten when they are compiled; ...
)doc";

}  // namespace tessera::python::docs::directive
