#pragma once

// Docstrings of what only a Func has. The names in their examples are those of tests/examples.py.
namespace tessera::python::docs {
namespace func {

inline constexpr char class_[] =
    R"doc(A stage of a pipeline: values over an infinite grid, and the schedule by which they are computed.

`f[x, y] = e` is its definition, later ones are updates; f[x, y] and f(x, y) are its value at a
point. Directives return the Func. Dimension 0, the first one, is the last axis of NumPy's arrays.

>>> x, y, blur = ts.Var("x"), ts.Var("y"), ts.Func("blur")
>>> blur[x, y] = (f[x, y] + f[x + 1, y]) / 2
>>> blur.vectorize(x, 8).realize([4, 2]).numpy().tolist()
[[0, 1, 2, 3], [10, 11, 12, 13]]
)doc";

inline constexpr char init[] = R"doc(Makes a Func without a name of its own.

>>> ts.Func().defined()
False
)doc";

inline constexpr char name_only[] = R"doc(Makes a Func of this name.

>>> ts.Func("blur")
<Func blur, not defined>
)doc";

inline constexpr char typed[] =
    R"doc(Makes a Func that can only be defined with this type, or these, and this number of dimensions.

>>> q = ts.Func(ts.UInt(8), 2, "q")
>>> q[x, y] = ts.u8(x)
>>> q
<Func q(x, y): uint8>
)doc";

inline constexpr char of_values[] =
    R"doc(Makes a Func with the values of an expression, a Buffer, an array or an ImageParam.

Axis j of an array of n axes is dimension n - 1 - j.

>>> ts.Func(a).realize([3, 2]).numpy().tolist()
[[0, 1, 2], [3, 4, 5]]
)doc";

inline constexpr char name[] =
    R"doc(Returns the name: the one that it was given, which others may have, too, or one of its own.

>>> f.name()
'f'
)doc";

inline constexpr char defined[] = R"doc(Returns True if it has a definition.

>>> f.defined(), ts.Func("q").defined()
(True, False)
)doc";

inline constexpr char dimensions[] = R"doc(Returns the number of dimensions.

>>> f.dimensions()
2
)doc";

inline constexpr char args[] = R"doc(Returns the Vars of the first definition.

>>> f.args()
[Var("x"), Var("y")]
)doc";

inline constexpr char value[] = R"doc(Returns the right side of the first definition.

>>> f.value()
x + 10 * y
)doc";

inline constexpr char values[] = R"doc(Returns the right sides of the first definition, as a tuple.

>>> f.values()
(x + 10 * y,)
)doc";

inline constexpr char type[] = R"doc(Returns the type of the value.

>>> f.type()
int32
)doc";

inline constexpr char types[] = R"doc(Returns the types of all values.

>>> f.types()
[int32]
)doc";

inline constexpr char outputs[] = R"doc(Returns the number of values.

>>> f.outputs()
1
)doc";

inline constexpr char update[] = R"doc(Returns the i-th update, to be scheduled: a Stage.

>>> h.update().unroll(r, 2)
<Stage h.update(0)>
>>> h.print_loop_nest()
produce h:
  for h.outermost in [0, 0]:
    for h.x:
      h(...) = ...
  for h.outermost in [0, 0]:
    for h.x:
      for h.r$x in [0, 1]:
        unrolled h.r$x_i in [0, 1]:
          h(...) = ...
)doc";

inline constexpr char has_update_definition[] = R"doc(Returns True if it has an update.

>>> h.has_update_definition(), f.has_update_definition()
(True, False)
)doc";

inline constexpr char num_update_definitions[] = R"doc(Returns the number of updates.

>>> h.num_update_definitions()
1
)doc";

inline constexpr char update_args[] =
    R"doc(Returns the left side of the i-th update: an expression for each dimension.

>>> h.update_args()
[x]
)doc";

inline constexpr char update_value[] = R"doc(Returns the right side of the i-th update.

>>> h.update_value()
h(x) + f(x, r$x)
)doc";

inline constexpr char update_values[] =
    R"doc(Returns the right sides of the i-th update, as a tuple.

>>> h.update_values()
(h(x) + f(x, r$x),)
)doc";

inline constexpr char rvars[] =
    R"doc(Returns the variables of the reduction domain of the i-th update.

>>> h.rvars()
[RVar("r$x")]
)doc";

inline constexpr char split_vars[] =
    R"doc(Returns the loops of the first definition as they are now, innermost first.

>>> f.split(x, xo, xi, 8).split_vars()
(Var("xi"), Var("xo"), Var("y"))
)doc";

inline constexpr char is_extern[] = R"doc(Returns True if define_extern() has defined it.

>>> f.is_extern()
False
)doc";

inline constexpr char pipeline[] = R"doc(Returns the Pipeline whose only output this Func is.

>>> f.pipeline()
<Pipeline of f>
)doc";

inline constexpr char output_buffer[] =
    R"doc(Returns the buffer that the caller passes for the output: an OutputImageParam.

>>> f.output_buffer().dim(0).set_bounds(0, 3)
<tessera._tessera.Dimension object at ...>
)doc";

inline constexpr char output_buffers[] = R"doc(Returns the buffer of each value.

>>> len(f.output_buffers())
1
)doc";

inline constexpr char compute_root[] =
    R"doc(Computes all that is needed before what uses it, outside of all loops.

>>> f.compute_root()
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

inline constexpr char compute_inline[] = R"doc(Computes it in each of its uses, which is usual.

>>> f.compute_root().compute_inline()
<Func f(x, y): int32>
>>> g.print_loop_nest()
produce g:
  for g.outermost in [0, 0]:
    for g.y:
      for g.x:
        g(...) = ...
)doc";

inline constexpr char compute_at[] =
    R"doc(Computes what each iteration of this loop of another Func needs, within that iteration.

A LoopLevel in place of both says it, too.

>>> f.compute_at(g, y)
<Func f(x, y): int32>
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

inline constexpr char store_root[] =
    R"doc(Allocates storage outside of all loops, so that later iterations find what earlier ones computed.

>>> f.compute_at(g, y).store_root()
<Func f(x, y): int32>
>>> g.print_loop_nest()
store f:
  produce g:
    for g.outermost in [0, 0]:
      for g.y:
        produce f:
          for f.outermost in [0, 0]:
            for f.y:
              for f.x:
                f(...) = ...
        consume f:
          for g.x:
            g(...) = ...
)doc";

inline constexpr char store_at[] =
    R"doc(Allocates storage in each iteration of this loop of another Func, or of a LoopLevel.

>>> f.compute_at(g, x).store_at(g, y)
<Func f(x, y): int32>
>>> g.print_loop_nest()
produce g:
  for g.outermost in [0, 0]:
    for g.y:
      store f:
        for g.x:
          produce f:
            for f.outermost in [0, 0]:
              for f.y:
                for f.x:
                  f(...) = ...
          consume f:
            g(...) = ...
)doc";

inline constexpr char hoist_storage[] =
    R"doc(Allocates the memory in each iteration of this loop; what it holds lives as before.

>>> f.compute_at(g, x).hoist_storage(g, y)
<Func f(x, y): int32>
>>> g.print_loop_nest()
produce g:
  for g.outermost in [0, 0]:
    for g.y:
      for g.x:
        store f:
          produce f:
            for f.outermost in [0, 0]:
              for f.y:
                for f.x:
                  f(...) = ...
          consume f:
            g(...) = ...
)doc";

inline constexpr char hoist_storage_root[] =
    R"doc(Allocates the memory outside of all loops; what it holds lives as before.

>>> f.compute_at(g, x).hoist_storage_root()
<Func f(x, y): int32>
>>> g.print_loop_nest()
produce g:
  for g.outermost in [0, 0]:
    for g.y:
      for g.x:
        store f:
          produce f:
            for f.outermost in [0, 0]:
              for f.y:
                for f.x:
                  f(...) = ...
          consume f:
            g(...) = ...
)doc";

inline constexpr char async_[] =
    R"doc(Lets a thread of its own compute it, while others use what is ready.

>>> f.compute_at(g, y).store_root().async_()
<Func f(x, y): int32>
>>> g.realize([3, 2]).numpy().tolist()
[[1, 3, 5], [21, 23, 25]]
)doc";

inline constexpr char copy_to_host[] =
    R"doc(Computes this copy of another Func or an image by a copy into the memory of the host.

>>> f.compute_root().gpu_tile(x, y, xi, yi, 8, 8)
<Func f(x, y): int32>
>>> f.in_().copy_to_host().compute_root()
<Func f_in(x, y): int32>
>>> g.realize([3, 2], "host-cuda-interpret").numpy().tolist()
[[1, 3, 5], [21, 23, 25]]
)doc";

inline constexpr char copy_to_device[] =
    R"doc(Computes this copy of another Func or an image by a copy into the device's memory.

>>> q = ts.Func("q")
>>> q[x, y] = im[x, y] + 1
>>> im.in_().copy_to_device().compute_root()
<Func im_im_in(_0, _1): uint8>
>>> q.gpu_tile(x, y, xi, yi, 8, 8).print_loop_nest()
store im_im_in:
  produce im_im_in:
    for im_im_in.outermost in [0, 0]:
  consume im_im_in:
    produce q:
      for q.outermost in [0, 0]:
        gpu_block q.y:
          gpu_block q.x:
            gpu_thread q.yi in [0, 7]:
              gpu_thread q.xi in [0, 7]:
                q(...) = ...
)doc";

inline constexpr char trace_loads[] =
    R"doc(Traces what is read of it: on_trace() has an event for each load.

>>> f.compute_root().trace_loads()
<Func f(x, y): int32>
>>> events = []
>>> g.on_trace(lambda event: events.append(event.event.name))
<Func g(x, y): int32>
>>> g.realize([2, 1])
<Buffer g of shape (1, 2) int32 (dimensions 2 x 1)>
>>> events.count("load")
4
)doc";

inline constexpr char trace_stores[] =
    R"doc(Traces what is written to it: on_trace() has an event for each store.

>>> events = []
>>> f.trace_stores().on_trace(lambda event: events.append((event.coordinates, event.value)))
<Func f(x, y): int32>
>>> f.realize([2, 1])
<Buffer f of shape (1, 2) int32 (dimensions 2 x 1)>
>>> events[1:3]
[((0, 0), (0,)), ((1, 0), (1,))]
)doc";

inline constexpr char trace_realizations[] =
    R"doc(Traces where it is allocated and computed: on_trace() has an event for beginning and end of each.

>>> events = []
>>> f.trace_realizations().on_trace(lambda event: events.append(event.event.name))
<Func f(x, y): int32>
>>> f.realize([2, 1])
<Buffer f of shape (1, 2) int32 (dimensions 2 x 1)>
>>> events
['begin_pipeline', 'begin_realization', 'produce', 'end_produce', 'end_realization', 'end_pipeline']
)doc";

inline constexpr char add_trace_tag[] =
    R"doc(Gives it a text for who reads its trace: the trace_tag of its events.

>>> f.trace_stores().add_trace_tag("picture").schedule_as_python().splitlines()[-1]
'f.add_trace_tag("picture")'
)doc";

inline constexpr char no_profiling[] = R"doc(Leaves it out of profiles.

>>> f.no_profiling().schedule_as_python().splitlines()[-1]
'f.no_profiling()'
)doc";

inline constexpr char bound[] =
    R"doc(Computes these points; the pipeline fails where others are needed.

>>> f.bound(x, 0, 8).unroll(x).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      unrolled f.x in [0, 7]:
        f(...) = ...
)doc";

inline constexpr char bound_extent[] =
    R"doc(Computes so many points, from the first one that is needed.

>>> f.bound_extent(x, 8).unroll(x).print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      unrolled f.x:
        f(...) = ...
)doc";

inline constexpr char align_bounds[] =
    R"doc(Computes more, so that min has this remainder and the extent is a multiple of the modulus.

>>> f.compute_root().align_bounds(x, 8)
<Func f(x, y): int32>
>>> print(*[line for line in g.conceptual_stmt().splitlines() if "let `f.x." in line], sep="\n")
let `f.x.min` = `g.x.min` / 8 * 8
let `f.x.max` = (`g.x.max` + 1) / 8 * 8 + 7
)doc";

inline constexpr char align_extent[] =
    R"doc(Computes more, so that the extent is a multiple of this.

>>> f.compute_root().align_extent(x, 8)
<Func f(x, y): int32>
>>> print(*[line for line in g.conceptual_stmt().splitlines() if "let `f.x." in line], sep="\n")
let `f.x.max` = `g.x.min` + (`g.x.max` - `g.x.min` + 1) / 8 * 8 + 7
)doc";

inline constexpr char align_storage[] =
    R"doc(Rounds the extent in memory up to a multiple of so many elements.

>>> f.compute_root().align_storage(x, 16)
<Func f(x, y): int32>
>>> g.schedule_as_python().splitlines()[-1]
'f.align_storage(x, 16)'
)doc";

inline constexpr char bound_storage[] =
    R"doc(Has this extent in memory; the pipeline fails where more is needed.

>>> f.compute_root().bound_storage(x, 64)
<Func f(x, y): int32>
>>> g.schedule_as_python().splitlines()[-1]
'f.bound_storage(x, 64)'
)doc";

inline constexpr char fold_storage[] =
    R"doc(Makes storage a ring of this extent, in which a serial loop walks.

>>> f.compute_at(g, y).store_root().fold_storage(y, 2)
<Func f(x, y): int32>
>>> g.realize([3, 2]).numpy().tolist()
[[1, 3, 5], [21, 23, 25]]
)doc";

inline constexpr char ring_buffer[] =
    R"doc(Has so many copies of the storage, one per iteration of the loop at which it is hoisted.

>>> f.compute_at(g, x).hoist_storage(g, y).ring_buffer(2)
<Func f(x, y): int32>
>>> g.realize([3, 2]).numpy().tolist()
[[1, 3, 5], [21, 23, 25]]
)doc";

inline constexpr char reorder_storage[] = R"doc(Orders the dimensions in memory, innermost first.

>>> f.compute_root().reorder_storage(y, x)
<Func f(x, y): int32>
>>> g.realize([3, 2]).numpy().tolist()
[[1, 3, 5], [21, 23, 25]]
)doc";

inline constexpr char store_in[] = R"doc(Stores it in this kind of memory: a MemoryType.

>>> f.compute_at(g, x).store_in(ts.MemoryType.Stack)
<Func f(x, y): int32>
>>> g.schedule_as_python().splitlines()[-1]
'f.store_in(ts.MemoryType.Stack)'
)doc";

inline constexpr char set_estimate[] =
    R"doc(Says which points are usually needed, to an autoscheduler.

>>> f.set_estimate(x, 0, 640).set_estimate(y, 0, 480).schedule_as_python().splitlines()[-2:]
['f.set_estimate(x, 0, 640)', 'f.set_estimate(y, 0, 480)']
)doc";

inline constexpr char set_estimates[] =
    R"doc(Sets (min, extent) of each dimension, dimension 0 first, as set_estimate() does.

>>> f.set_estimates([(0, 640), (0, 480)]).schedule_as_python().splitlines()[-2:]
['f.set_estimate(x, 0, 640)', 'f.set_estimate(y, 0, 480)']
)doc";

inline constexpr char in_[] =
    R"doc(Returns a Func with the same values, which the consumers, or all, use instead.

It has a schedule of its own: a part of what it copies is in faster memory, for example.

>>> f.compute_root()
<Func f(x, y): int32>
>>> f.in_(g).compute_at(g, y)
<Func f_in_g(x, y): int32>
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
          store f_in_g:
            produce f_in_g:
              for f_in_g.outermost in [0, 0]:
                for f_in_g.y:
                  for f_in_g.x:
                    f_in_g(...) = ...
            consume f_in_g:
              for g.x:
                g(...) = ...
)doc";

inline constexpr char clone_in[] =
    R"doc(Returns a copy of the Func, which the consumers use instead: it is computed on its own.

>>> f.clone_in(g).compute_root()
<Func f_clone(x, y): int32>
>>> g.print_loop_nest()
store f_clone:
  produce f_clone:
    for f_clone.outermost in [0, 0]:
      for f_clone.y:
        for f_clone.x:
          f_clone(...) = ...
  consume f_clone:
    produce g:
      for g.outermost in [0, 0]:
        for g.y:
          for g.x:
            g(...) = ...
)doc";

inline constexpr char copy_input[] =
    R"doc(Returns a Func with the values of a Buffer that this one reads, which it reads from there now.

The copy has a schedule of its own. A Func and an ImageParam have in_() for it.

>>> q = ts.Func("q")
>>> q[x, y] = b[x, y] + 1
>>> q.copy_input(b).compute_at(q, y)
<Func b_for_q(_0, _1): uint8>
>>> q.print_loop_nest()
produce q:
  for q.outermost in [0, 0]:
    for q.y:
      store b_for_q:
        produce b_for_q:
          for b_for_q.outermost in [0, 0]:
            for b_for_q._1:
              for b_for_q._0:
                b_for_q(...) = ...
        consume b_for_q:
          for q.x:
            q(...) = ...
)doc";

inline constexpr char memoize[] = R"doc(Is refused: no result is kept between calls.

>>> f.memoize()
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...memoize: keeping results from one call to the next is not supported yet
)doc";

inline constexpr char debug_to_file[] = R"doc(Is refused: trace_stores() has all values.

>>> f.debug_to_file("f.tmp")
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...debug_to_file: writing intermediate values to files is not supported yet
)doc";

inline constexpr char change_type[] = R"doc(Is refused: write a cast into the definition.

>>> f.change_type(ts.UInt(8))
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...change_type: changing the type of a definition is not supported yet
)doc";

inline constexpr char define_extern[] = R"doc(Lets a C function of this process compute the Func.

int function(params..., output buffers...) returns 0, or an error code. Where the host pointer of an
input buffer is null, it sets the region of that buffer to what the outputs need. `params` are
Funcs, ImageParams, Buffers and expressions; `dimensions` is their number, or lists their Vars.

>>> q = ts.Func("q")
>>> q.define_extern("my_filter", [f, 3], ts.Int(32), 2)
>>> q.is_extern(), q.extern_function_name()
(True, 'my_filter')
)doc";

inline constexpr char extern_function_name[] =
    R"doc(Returns the name of the C function that define_extern() was given.

>>> q = ts.Func("q")
>>> q.define_extern("my_filter", [], ts.Int(32), 1)
>>> q.extern_function_name()
'my_filter'
)doc";

}  // namespace func
}  // namespace tessera::python::docs
