#pragma once

// Docstrings of inputs and outputs: Params, ImageParams, arguments, Callables. The names in their
// examples are those of tests/examples.py.
namespace tessera::python::docs {
namespace param {

inline constexpr char class_[] = R"doc(A number that the caller gives each time the pipeline runs.

>>> k, q = ts.Param(ts.Int(32), "k", 3), ts.Func("q")
>>> q[x] = x * k
>>> q.realize([4]).numpy().tolist()
[0, 3, 6, 9]
)doc";

inline constexpr char init[] =
    R"doc(Takes the type, and perhaps a name, a value and its limits; the name may be left out.

>>> ts.Param(ts.UInt(8), "k", 3, min=1, max=8)
<Param k: uint8>
>>> ts.Param(ts.Float(32), 0.5).get()
0.5
)doc";

inline constexpr char name[] = R"doc(Returns the name.

>>> ts.Param(ts.Int(32), "speed").name()
'speed'
)doc";

inline constexpr char type[] = R"doc(Returns the Type of the number.

>>> p.type()
int32
)doc";

inline constexpr char defined[] = R"doc(Returns True, as a Param always stands for a number.

>>> p.defined()
True
)doc";

inline constexpr char set[] =
    R"doc(Sets the value for the runs that follow; TypeError if the type has no such value.

>>> p.set(7)
>>> p.get()
7
)doc";

inline constexpr char get[] = R"doc(Returns the value that was set.

>>> p.get()
3
)doc";

inline constexpr char set_min_value[] = R"doc(Limits what callers may pass from below.

>>> p.set_min_value(1)
>>> p.min_value()
1
)doc";

inline constexpr char set_max_value[] = R"doc(Limits what callers may pass from above.

>>> p.set_max_value(8)
>>> p.max_value()
8
)doc";

inline constexpr char min_value[] =
    R"doc(Returns the least value that callers may pass, as an expression; undefined if there is none.

>>> p.min_value()
<undefined Expr>
)doc";

inline constexpr char max_value[] =
    R"doc(Returns the largest value that callers may pass, as an expression; undefined if there is none.

>>> p.max_value()
<undefined Expr>
)doc";

inline constexpr char estimate[] =
    R"doc(Returns the value that set_estimate() was given, as an expression; undefined if there is none.

>>> p.set_estimate(5)
>>> p.estimate()
5
)doc";

inline constexpr char set_range[] =
    R"doc(Limits what callers may pass; it is checked whenever the pipeline runs.

>>> p.set_range(1, 8)
>>> q = ts.Func("q")
>>> q[x] = x * p
>>> p.set(9)
>>> q.realize([3])
Traceback (most recent call last):
    ...
tessera._errors.RunError: ...Parameter p is 9, but must be at most 8
)doc";

inline constexpr char set_estimate[] = R"doc(Says which value is usual, to an autoscheduler.

>>> p.set_estimate(5)
)doc";

}  // namespace param
namespace dimension {

inline constexpr char class_[] =
    R"doc(One dimension of an input or output, and what a pipeline may rely on.

>>> im.dim(0).set_bounds(0, 640).dim(1).set_min(0)
<tessera._tessera.Dimension object at ...>
>>> im.dim(0).extent()
im.extent[0]
)doc";

inline constexpr char min[] = R"doc(Returns the least coordinate, as an expression.

>>> im.dim(0).min()
im.min[0]
)doc";

inline constexpr char max[] = R"doc(Returns the largest coordinate, as an expression.

>>> im.dim(0).max()
im.min[0] + im.extent[0] - 1
)doc";

inline constexpr char extent[] = R"doc(Returns the number of coordinates, as an expression.

>>> im.dim(1).extent()
im.extent[1]
)doc";

inline constexpr char stride[] =
    R"doc(Returns the distance of neighbours in elements, as an expression.

>>> im.dim(1).stride()
im.stride[1]
)doc";

inline constexpr char min_estimate[] =
    R"doc(Returns the least coordinate that set_estimate() was given; undefined if there is none.

>>> im.dim(0).set_estimate(0, 640).min_estimate()
0
)doc";

inline constexpr char extent_estimate[] =
    R"doc(Returns the extent that set_estimate() was given; undefined if there is none.

>>> im.dim(0).set_estimate(0, 640).extent_estimate()
640
)doc";

inline constexpr char set_min[] =
    R"doc(Requires this least coordinate of what callers pass: other buffers are a RunError.

>>> f.output_buffer().dim(0).set_min(1)
<tessera._tessera.Dimension object at ...>
>>> f.realize(np.zeros((2, 3), np.int32))
Traceback (most recent call last):
    ...
tessera._errors.RunError: ...Buffer f is too small in dimension 0: the pipeline touches [1, 3], but the buffer has [0, 2] (1 missing beyond its max)
)doc";

inline constexpr char set_extent[] =
    R"doc(Requires this number of coordinates: other buffers are a RunError.

>>> im.dim(0).set_extent(8)
<tessera._tessera.Dimension object at ...>
>>> q = ts.Func("q")
>>> q[x, y] = im[x, y] + 1
>>> im.set(a)
>>> q.realize([3, 2])
Traceback (most recent call last):
    ...
tessera._errors.RunError: ...im.extent.0 is 3, but must be 8
)doc";

inline constexpr char set_stride[] =
    R"doc(Requires this distance of neighbours, in elements; Expr() allows any.

Dimension 0 has 1 unless it is set.

>>> im.dim(0).set_stride(3)                          # of interleaved channels
<tessera._tessera.Dimension object at ...>
>>> im.set(np.zeros((2, 3, 3), np.uint8)[:, :, 0])
>>> q = ts.Func("q")
>>> q[x, y] = im[x, y] + 1
>>> q.realize([3, 2]).numpy().tolist()
[[1, 1, 1], [1, 1, 1]]
)doc";

inline constexpr char set_bounds[] =
    R"doc(Requires this least coordinate and this number of coordinates: other buffers are a RunError.

>>> f.output_buffer().dim(0).set_bounds(0, 8)
<tessera._tessera.Dimension object at ...>
>>> f.realize(np.zeros((2, 3), np.int32))
Traceback (most recent call last):
    ...
tessera._errors.RunError: ...Buffer f is too small in dimension 0: the pipeline touches [0, 7], but the buffer has [0, 2] (5 missing beyond its max)
)doc";

inline constexpr char set_estimate[] = R"doc(Says which coordinates are usual, to an autoscheduler.

>>> d = im.dim(0).set_estimate(0, 640).dim(1).set_estimate(0, 480)
>>> im.dim(1).extent_estimate()
480
)doc";

inline constexpr char dim[] = R"doc(Returns another dimension of the same buffer.

>>> im.dim(0).dim(1).extent()
im.extent[1]
)doc";

}  // namespace dimension
namespace output {

inline constexpr char class_[] =
    R"doc(The buffer that the caller passes for an output: what f.output_buffer() returns.

>>> f.output_buffer().dim(0).set_bounds(0, 3)
<tessera._tessera.Dimension object at ...>
>>> f.realize([3, 2]).numpy().tolist()
[[0, 1, 2], [10, 11, 12]]
)doc";

inline constexpr char name[] = R"doc(Returns the name.

>>> f.output_buffer().name()
'f'
)doc";

inline constexpr char type[] = R"doc(Returns the Type of the elements.

>>> im.type()
uint8
)doc";

inline constexpr char dimensions[] = R"doc(Returns the number of dimensions.

>>> im.dimensions()
2
)doc";

inline constexpr char defined[] = R"doc(Returns True if it stands for a buffer.

>>> im.defined()
True
)doc";

inline constexpr char dim[] =
    R"doc(Returns a dimension: what a pipeline may rely on, and its coordinates as expressions.

>>> im.dim(0).extent()
im.extent[0]
)doc";

inline constexpr char left[] = R"doc(Returns the least coordinate of dimension 0, as an expression.

>>> im.left()
im.min[0]
)doc";

inline constexpr char right[] =
    R"doc(Returns the largest coordinate of dimension 0, as an expression.

>>> im.right()
im.min[0] + im.extent[0] - 1
)doc";

inline constexpr char top[] = R"doc(Returns the least coordinate of dimension 1, as an expression.

>>> im.top()
im.min[1]
)doc";

inline constexpr char bottom[] =
    R"doc(Returns the largest coordinate of dimension 1, as an expression.

>>> im.bottom()
im.min[1] + im.extent[1] - 1
)doc";

inline constexpr char width[] = R"doc(Returns the extent of dimension 0, as an expression.

>>> q = ts.Func("q")
>>> q[x, y] = im[im.width() - 1 - x, y]              # mirrored
>>> q.value()
im_im(im.extent[0] - 1 - x, y):uint8
)doc";

inline constexpr char height[] = R"doc(Returns the extent of dimension 1, as an expression.

>>> im.height()
im.extent[1]
)doc";

inline constexpr char channels[] = R"doc(Returns the extent of dimension 2, as an expression.

>>> ts.ImageParam(ts.UInt(8), 3, "rgb").channels()
rgb.extent[2]
)doc";

inline constexpr char set_host_alignment[] =
    R"doc(Requires that the memory begins at a multiple of so many bytes.

>>> im.set_host_alignment(64).host_alignment()
64
)doc";

inline constexpr char host_alignment[] =
    R"doc(Returns the bytes of which the memory begins at a multiple; 0 unless it is set.

>>> im.host_alignment()
0
)doc";

inline constexpr char set_estimates[] =
    R"doc(Sets (min, extent) of each dimension, dimension 0 first, for an autoscheduler.

>>> im.set_estimates([(0, 640), (0, 480)]).dim(1).extent_estimate()
480
)doc";

inline constexpr char store_in[] = R"doc(Says which kind of memory the caller's is: Heap, or Auto.

>>> im.store_in(ts.MemoryType.Heap)
<ImageParam im: uint8, 2 dimensions>
)doc";

}  // namespace output
namespace image {

inline constexpr char class_[] =
    R"doc(A buffer that the caller passes as input. As an array its last axis is dimension 0.

>>> photo, q = ts.ImageParam(ts.UInt(8), 2, "photo"), ts.Func("q")
>>> q[x, y] = 255 - photo[x, y]
>>> photo.set(np.array([[0, 1, 2]], np.uint8))
>>> q.realize([3, 1]).numpy().tolist()
[[255, 254, 253]]
)doc";

inline constexpr char init[] =
    R"doc(Takes the type of the elements, the number of dimensions, and perhaps a name.

>>> ts.ImageParam(ts.Float(32), 3, "rgb")
<ImageParam rgb: float32, 3 dimensions>
)doc";

inline constexpr char set[] =
    R"doc(Sets the Buffer or array that realize() passes: shared, not copied.

Axis j of an array of n axes is dimension n - 1 - j.

>>> im.set(a)
>>> im.get().shape
(2, 3)
)doc";

inline constexpr char get[] =
    R"doc(Returns the Buffer that set() was given, or infer_input_bounds() has made.

>>> im.set(a)
>>> im.get().numpy().tolist()
[[0, 1, 2], [3, 4, 5]]
)doc";

inline constexpr char reset[] =
    R"doc(Forgets the Buffer, so that infer_input_bounds() makes a new one.

>>> im.set(a)
>>> im.reset()
)doc";

inline constexpr char in_[] =
    R"doc(Returns a Func with the same values, which the consumers, or all, use instead.

>>> q = ts.Func("q")
>>> q[x, y] = im[x, y] + im[x + 1, y]
>>> im.in_().compute_at(q, y)
<Func im_im_in(_0, _1): uint8>
>>> q.print_loop_nest()
produce q:
  for q.outermost in [0, 0]:
    for q.y:
      store im_im_in:
        produce im_im_in:
          for im_im_in.outermost in [0, 0]:
            for im_im_in._1:
              for im_im_in._0:
                im_im_in(...) = ...
        consume im_im_in:
          for q.x:
            q(...) = ...
)doc";

inline constexpr char trace_loads[] =
    R"doc(Traces what is read of it: on_trace() has an event for each load.

>>> im.set(a)
>>> im.trace_loads()
>>> q, events = ts.Func("q"), []
>>> q[x, y] = im[x, y] + 1
>>> q.on_trace(lambda event: events.append(event.coordinates)).realize([2, 1])
<Buffer q of shape (1, 2) uint8 (dimensions 2 x 1)>
>>> events
[(), (0, 0), (1, 0), ()]
)doc";

inline constexpr char add_trace_tag[] = R"doc(Gives it a text for who reads its trace.

>>> im.add_trace_tag("photo")
<ImageParam im: uint8, 2 dimensions>
)doc";

}  // namespace image
namespace argument {

inline constexpr char class_[] = R"doc(An argument of a compiled pipeline.

>>> q = ts.Func("q")
>>> q[x, y] = im[x, y] * p
>>> q.infer_arguments()
[<Argument im: 2 dimensions of uint8>, <Argument p: int32>]
)doc";

inline constexpr char init[] = R"doc(Makes an argument of its parts.

>>> ts.Argument("photo", ts.ArgumentKind.InputBuffer, ts.UInt(8), 2)
<Argument photo: 2 dimensions of uint8>
)doc";

inline constexpr char of[] = R"doc(Is what a Param, an ImageParam or a Buffer is as an argument.

>>> ts.Argument(im)
<Argument im: 2 dimensions of uint8>
)doc";

inline constexpr char is_buffer[] = R"doc(Returns True for a buffer.

>>> ts.Argument(im).is_buffer()
True
)doc";

inline constexpr char is_scalar[] = R"doc(Returns True for a number.

>>> ts.Argument(p).is_scalar()
True
)doc";

inline constexpr char is_input[] = R"doc(Returns True for an input.

>>> ts.Argument(im).is_input()
True
)doc";

inline constexpr char is_output[] = R"doc(Returns True for an output.

>>> f.compile_to_callable([]).arguments[0].is_output()
True
)doc";

inline constexpr char name[] = R"doc(Is the name.

>>> ts.Argument(ts.Param(ts.Int(32), "speed")).name
'speed'
)doc";

inline constexpr char kind[] = R"doc(Says what it is: an ArgumentKind.

>>> ts.Argument(im).kind
ArgumentKind.InputBuffer
)doc";

inline constexpr char type[] = R"doc(Is the Type of the number, or of the elements.

>>> ts.Argument(im).type
uint8
)doc";

inline constexpr char dimensions[] = R"doc(Is the number of dimensions; 0 for a number.

>>> ts.Argument(im).dimensions
2
)doc";

inline constexpr char argument_estimates[] =
    R"doc(Has the properties beside its type: an ArgumentEstimates.

>>> k = ts.Param(ts.Int(32), "k", 3)
>>> ts.Argument(k).argument_estimates.scalar_def
3
)doc";

inline constexpr char default_[] =
    R"doc(Is the number that a call without this argument passes; None if there is none.

>>> ts.Argument(p).default
3
)doc";

inline constexpr char min[] = R"doc(Is the least number that is allowed, or None.

>>> ts.Argument(ts.Param(ts.Int(32), "k", 3, min=1, max=8)).min
1
)doc";

inline constexpr char max[] = R"doc(Is the largest number that is allowed, or None.

>>> ts.Argument(ts.Param(ts.Int(32), "k", 3, min=1, max=8)).max
8
)doc";

inline constexpr char estimate[] = R"doc(Is the number that is expected, or None.

>>> p.set_estimate(5)
>>> ts.Argument(p).estimate
5
)doc";

inline constexpr char estimates[] =
    R"doc(Lists the (min, extent) that is expected in each dimension; None if nothing is known.

>>> im.set_estimates([(0, 640), (0, 480)])
<ImageParam im: uint8, 2 dimensions>
>>> ts.Argument(im).estimates
[(0, 640), (0, 480)]
)doc";

}  // namespace argument
namespace estimates {

inline constexpr char class_[] = R"doc(The properties of an argument beside its type.

>>> k = ts.Param(ts.Int(32), "k", 3, min=1, max=8)
>>> ts.Argument(k).argument_estimates.scalar_max
8
)doc";

inline constexpr char init[] = R"doc(Makes properties of which none is known.

>>> ts.ArgumentEstimates().scalar_min
<undefined Expr>
)doc";

inline constexpr char scalar_def[] =
    R"doc(Is the value of a number where the caller gives none, as an expression.

>>> ts.Argument(p).argument_estimates.scalar_def
3
)doc";

inline constexpr char scalar_min[] = R"doc(Is the least value of a number, as an expression.

>>> p.set_min_value(1)
>>> ts.Argument(p).argument_estimates.scalar_min
1
)doc";

inline constexpr char scalar_max[] = R"doc(Is the largest value of a number, as an expression.

>>> p.set_max_value(8)
>>> ts.Argument(p).argument_estimates.scalar_max
8
)doc";

inline constexpr char scalar_estimate[] = R"doc(Is the usual value of a number, as an expression.

>>> p.set_estimate(5)
>>> ts.Argument(p).argument_estimates.scalar_estimate
5
)doc";

inline constexpr char buffer_estimates[] =
    R"doc(Lists the Range of each dimension of a buffer, dimension 0 first.

>>> im.set_estimates([(0, 640), (0, 480)])
<ImageParam im: uint8, 2 dimensions>
>>> ts.Argument(im).argument_estimates.buffer_estimates
[Range(0, 640), Range(0, 480)]
)doc";

}  // namespace estimates
namespace callable {

inline constexpr char class_[] =
    R"doc(A compiled pipeline as a function: its inputs by position or name, then a Buffer or an array for each
output, which it writes into.

A shape in place of an output has it allocated, and returned. A number may be left out if its Param
had a value. Axis j of an array of n axes is dimension n - 1 - j. Arrays of CUDA's are used where they are, on
the stream of their library. Raises TypeError where an argument does not fit, and RunError where
the pipeline fails.

>>> q, out = ts.Func("q"), np.empty((2, 3), np.uint8)
>>> q[x, y] = im[x, y] * 2
>>> call = q.compile_to_callable([im])
>>> call(a, out)
>>> out.tolist()
[[0, 2, 4], [6, 8, 10]]
>>> call(a, q=(1, 3)).tolist()
[[0, 2, 4]]
)doc";

inline constexpr char defined[] = R"doc(Returns True if it has been compiled.

>>> f.compile_to_callable([]).defined()
True
)doc";

inline constexpr char arguments[] =
    R"doc(Lists what a call takes, outputs last: an Argument each.

>>> f.compile_to_callable([]).arguments
[<Argument f: 2 dimensions of int32, output>]
)doc";

inline constexpr char name[] = R"doc(Is the name of the pipeline, or of the function of a library.

>>> f.compile_to_callable([]).name
'f'
)doc";

inline constexpr char target[] = R"doc(Is what it is compiled for.

>>> f.compile_to_callable([]).target.has_feature(ts.TargetFeature.JIT)
True
)doc";

inline constexpr char infer_input_bounds[] =
    R"doc(Returns by its name which region of each input a call would read: the (min, extent) of each dimension.

Nothing is computed. It takes what a call takes. Inputs that are None or left out are asked for; an
output may be a shape.

>>> q = ts.Func("q")
>>> q[x, y] = im[x - 1, y] + im[x, y + 1]
>>> q.compile_to_callable([im]).infer_input_bounds(q=(480, 640))
{'im': [(-1, 641), (0, 481)]}
)doc";

}  // namespace callable
namespace library {

inline constexpr char load[] =
    R"doc(Returns the functions of a compiled library by their names. tessera.load has them as attributes.

>>> f.compile_to({ts.OutputFileType.shared_library: "f.so"}, [], "picture")
>>> ts.load_library("f.so")
{'picture': <Callable picture(f)>}
)doc";

}  // namespace library
}  // namespace tessera::python::docs
