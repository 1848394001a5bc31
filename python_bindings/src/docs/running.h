#pragma once

// Docstrings of handlers, threads, streams, caches, C functions, and what searches find. The names
// in their examples are those of tests/examples.py.
namespace tessera::python::docs {
namespace running {

inline constexpr char event_code[] = R"doc(Says what an event is of.

>>> ts.TraceEventCode.store
TraceEventCode.store
)doc";

}  // namespace running
namespace event {

inline constexpr char class_[] =
    R"doc(Something that a pipeline did, which on_trace() has given to a function.

>>> events = []
>>> f.trace_stores().on_trace(events.append).realize([2, 1])
<Buffer f of shape (1, 2) int32 (dimensions 2 x 1)>
>>> events[0].event, events[1].coordinates, events[1].value
(TraceEventCode.begin_pipeline, (0, 0), (0,))
)doc";

inline constexpr char func[] = R"doc(Is the name of the Func, or of the pipeline.

>>> events = []
>>> f.trace_stores().on_trace(events.append).realize([1, 1])
<Buffer f of shape (1, 1) int32 (dimensions 1 x 1)>
>>> events[0].func
'f'
)doc";

inline constexpr char event[] = R"doc(Says what has happened: a TraceEventCode.

>>> events = []
>>> f.trace_stores().on_trace(events.append).realize([1, 1])
<Buffer f of shape (1, 1) int32 (dimensions 1 x 1)>
>>> events[0].event.name
'begin_pipeline'
)doc";

inline constexpr char type[] = R"doc(Is the type of the value.

>>> events = []
>>> f.vectorize(x, 4).trace_stores().on_trace(events.append).realize([4, 1])
<Buffer f of shape (1, 4) int32 (dimensions 4 x 1)>
>>> events[1].type
int32x4
)doc";

inline constexpr char value[] = R"doc(Is a number per lane of a load or a store.

>>> events = []
>>> f.vectorize(x, 4).trace_stores().on_trace(events.append).realize([4, 1])
<Buffer f of shape (1, 4) int32 (dimensions 4 x 1)>
>>> events[1].value
(0, 1, 2, 3)
)doc";

inline constexpr char coordinates[] =
    R"doc(Is the place of a load or a store, or min and extent of each dimension of a region.

>>> events = []
>>> f.trace_realizations().on_trace(events.append).realize([3, 2])
<Buffer f of shape (2, 3) int32 (dimensions 3 x 2)>
>>> events[1].coordinates
(0, 3, 0, 2)
)doc";

inline constexpr char value_index[] = R"doc(Says which of several values of the Func it is.

>>> q, events = ts.Func("q"), []
>>> q[x] = (x, x * x)
>>> q.trace_stores().on_trace(events.append).realize([1])
(<Buffer q of shape (1,) int32>, <Buffer q of shape (1,) int32>)
>>> [event.value_index for event in events if event.event == ts.TraceEventCode.store]
[0, 1]
)doc";

inline constexpr char parent_id[] = R"doc(Is the number of the event that it is within.

>>> events = []
>>> f.trace_stores().on_trace(events.append).realize([2, 1])
<Buffer f of shape (1, 2) int32 (dimensions 2 x 1)>
>>> events[1].parent_id == events[2].parent_id
True
)doc";

inline constexpr char thread_id[] = R"doc(Is a number of the thread.

>>> events = []
>>> f.trace_stores().on_trace(events.append).realize([2, 1])
<Buffer f of shape (1, 2) int32 (dimensions 2 x 1)>
>>> events[0].thread_id == events[1].thread_id
True
)doc";

inline constexpr char trace_tag[] = R"doc(Is the text that add_trace_tag() was given.

>>> events = []
>>> f.trace_stores().add_trace_tag("picture").on_trace(events.append).realize([1, 1])
<Buffer f of shape (1, 1) int32 (dimensions 1 x 1)>
>>> [event.trace_tag for event in events if event.trace_tag]
['picture']
)doc";

}  // namespace event
namespace running {

inline constexpr char jit_user_context[] =
    R"doc(Handlers for one call: realize(sizes, context=c). They come before the pipeline's own.

>>> q, texts = ts.Func("q"), []
>>> q[x] = ts.print(x)
>>> q.realize([2], context=ts.JITUserContext().on_print(texts.append))
<Buffer q of shape (2,) int32>
>>> texts
['0\n', '1\n']
)doc";

inline constexpr char set_num_threads[] =
    R"doc(Sets the number of threads that run pipelines, and returns the former number.

0 stands for as many as the machine has.

>>> before = ts.set_num_threads(2)
>>> ts.set_num_threads(before)
2
)doc";

inline constexpr char get_num_threads[] = R"doc(Returns the number of threads that run pipelines.

>>> ts.get_num_threads() >= 1
True
)doc";

inline constexpr char reuse_device_allocations[] =
    R"doc(Says whether memory of devices that has been freed is kept for the next that ask.

>>> ts.reuse_device_allocations(True)
)doc";

inline constexpr char release_all[] =
    R"doc(Forgets compiled code and ends the threads. No pipeline may be running.

>>> ts.release_all()
>>> f.realize([3, 1]).numpy().tolist()
[[0, 1, 2]]
)doc";

}  // namespace running
namespace cuda_stream {

inline constexpr char class_[] =
    R"doc(Lets what this thread runs on a GPU in the block go on a stream: `with ts.cuda_stream(s):`.

It is given an address, or an object of PyTorch's, CuPy's or cuda.core's. Without it, a call runs on
the stream of its arrays' library, where that says which, and else on the default one.

>>> with ts.cuda_stream(torch.cuda.current_stream()):                # doctest: +SKIP
...     call(image, result)
)doc";

}  // namespace cuda_stream
namespace cache {

inline constexpr char clear_cache[] =
    R"doc(Forgets the pipelines that have been compiled; what is in use stays.

The same pipeline is compiled again when it is next realized.

>>> ts.clear_cache()
>>> ts.cache_info()["programs"]
0
)doc";

inline constexpr char set_cache_limit[] =
    R"doc(Keeps at most so many compiled pipelines, and of at most so many bytes together.

Those that were used last stay, and always the last one.

>>> ts.set_cache_limit(programs=100)
>>> ts.set_cache_limit()                             # as it was
)doc";

inline constexpr char cache_info[] =
    R"doc(Returns how many compiled pipelines are kept, and how those that were asked for were found.

`programs` and `bytes` are kept; `compiled`, `found` in memory and `found_on_disk` were asked for.

>>> ts.clear_cache()
>>> f.realize([3, 2])
<Buffer f of shape (2, 3) int32 (dimensions 3 x 2)>
>>> ts.cache_info()["programs"]
1
)doc";

inline constexpr char keep_on_disk[] =
    R"doc(Says whether compiled pipelines are kept on disk for later processes; returns what was said before.

In Python they are, unless the variable TESSERA_CACHE_DIR is empty.

>>> before = ts.keep_on_disk(False)
>>> ts.keep_on_disk(before)
False
)doc";

}  // namespace cache
namespace extern_c {

inline constexpr char argument_class[] =
    R"doc(An argument of Func.define_extern(): a Func, an ImageParam, a Buffer or an expression.

>>> ts.ExternFuncArgument(f).is_func()
True
)doc";

inline constexpr char argument_init[] =
    R"doc(Makes an argument of a Func, an ImageParam, a Buffer, an array or an expression.

>>> ts.ExternFuncArgument(3).is_expr()
True
)doc";

inline constexpr char is_func[] = R"doc(Returns True for a Func.

>>> ts.ExternFuncArgument(f).is_func()
True
)doc";

inline constexpr char is_expr[] = R"doc(Returns True for an expression.

>>> ts.ExternFuncArgument(p + 1).is_expr()
True
)doc";

inline constexpr char is_buffer[] = R"doc(Returns True for a Buffer.

>>> ts.ExternFuncArgument(b).is_buffer()
True
)doc";

inline constexpr char is_image_param[] = R"doc(Returns True for an ImageParam.

>>> ts.ExternFuncArgument(im).is_image_param()
True
)doc";

inline constexpr char defined[] = R"doc(Returns True if it is something.

>>> ts.ExternFuncArgument(f).defined()
True
)doc";

inline constexpr char jit_extern[] = R"doc(A function that compiled code may call by name.

It is a C function by its address or as ctypes has it, or a Func that is compiled as one.

>>> import ctypes
>>> q = ts.Func("q")
>>> q[x] = ts.extern_call("my_abs", ts.Int(32), x - 2)
>>> q.set_jit_externs({"my_abs": ts.JITExtern(ctypes.CDLL(None).abs)})
>>> q.realize([4]).numpy().tolist()
[2, 1, 0, 1]
)doc";

inline constexpr char jit_extern_init[] =
    R"doc(Makes one of a function of ctypes, an address, a Func or a Pipeline.

>>> ts.JITExtern(0x1000).address() == 0x1000
True
)doc";

inline constexpr char address[] = R"doc(Returns the address; 0 for a Func.

>>> ts.JITExtern(0x1000).address() == 0x1000
True
)doc";

inline constexpr char user_context_value[] =
    R"doc(Returns the user context of the call, as an argument of an extern stage.

>>> ts.user_context_value().is_expr()
True
)doc";

inline constexpr char extern_call[] =
    R"doc(Returns what a C function of this process returns for these arguments, of a type.

A pure one may be merged, moved and dropped.

>>> q = ts.Func("q")
>>> q[x] = ts.extern_call("abs", ts.Int(32), x - 2, pure=True)
>>> q.realize([4]).numpy().tolist()
[2, 1, 0, 1]
)doc";

}  // namespace extern_c
namespace scheduler_params {

inline constexpr char class_[] = R"doc(The name of an autoscheduler, and its options.

>>> ts.AutoschedulerParams("Mullapudi2016", {"parallelism": 4})
<AutoschedulerParams autoscheduler=Mullapudi2016 autoscheduler.parallelism=4>
)doc";

inline constexpr char name[] =
    R"doc(Is the name of the autoscheduler; none stands for no autoscheduler.

>>> ts.AutoschedulerParams("Mullapudi2016").name
'Mullapudi2016'
)doc";

inline constexpr char extra[] = R"doc(Has the options, as texts.

>>> ts.AutoschedulerParams("Mullapudi2016", {"parallelism": 4}).extra
{'parallelism': '4'}
)doc";

inline constexpr char to_string[] = R"doc(Returns the options of a generator's command line.

>>> ts.AutoschedulerParams("Mullapudi2016", {"parallelism": 4}).to_string()
'autoscheduler=Mullapudi2016 autoscheduler.parallelism=4'
)doc";

}  // namespace scheduler_params
namespace results {

inline constexpr char class_[] =
    R"doc(Describes what an autoscheduler has found: the pipeline has that schedule.

>>> f.set_estimates([(0, 640), (0, 480)])
<Func f(x, y): int32>
>>> f.apply_autoscheduler("host", ts.AutoschedulerParams("Mullapudi2016"))
<AutoSchedulerResults: 0 ms, 0 trials>
)doc";

inline constexpr char target[] = R"doc(Is the target that it has scheduled for.

>>> f.set_estimates([(0, 640), (0, 480)])
<Func f(x, y): int32>
>>> f.apply_autoscheduler("x86-64-linux", ts.AutoschedulerParams("Mullapudi2016")).target
Target("x86-64-linux")
)doc";

inline constexpr char autoscheduler_params[] = R"doc(Is the AutoschedulerParams that it was given.

>>> f.set_estimates([(0, 640), (0, 480)])
<Func f(x, y): int32>
>>> f.apply_autoscheduler("host", ts.AutoschedulerParams("Mullapudi2016")).autoscheduler_params.name
'Mullapudi2016'
)doc";

inline constexpr char schedule_source[] = R"doc(Is the schedule as C++.

>>> f.set_estimates([(0, 640), (0, 480)])
<Func f(x, y): int32>
>>> found = f.apply_autoscheduler("host", ts.AutoschedulerParams("Mullapudi2016"))
>>> ".parallel(" in found.schedule_source
True
)doc";

inline constexpr char schedule_python[] =
    R"doc(Is the schedule as Python that runs where `pipeline` is a Pipeline of the algorithm.

>>> f.set_estimates([(0, 640), (0, 480)])
<Func f(x, y): int32>
>>> found = f.apply_autoscheduler("host", ts.AutoschedulerParams("Mullapudi2016"))
>>> ".parallel(" in found.schedule_python
True
)doc";

inline constexpr char report[] =
    R"doc(Is a page of HTML: the search's curve, the schedule, where its time goes.

>>> found = ts.tune(f.set_estimates([(0, 64), (0, 64)]), trials=1, progress=False)
>>> found.report[:15]
'<!DOCTYPE html>'
)doc";

inline constexpr char milliseconds[] =
    R"doc(Is the time that the schedule takes; 0: it was not measured.

>>> found = ts.tune(f.set_estimates([(0, 64), (0, 64)]), trials=1, progress=False)
>>> found.milliseconds > 0
True
)doc";

inline constexpr char trials[] = R"doc(Is the number of schedules that were measured.

>>> found = ts.tune(f.set_estimates([(0, 64), (0, 64)]), trials=1, progress=False)
>>> found.trials
1
)doc";

inline constexpr char is_stopped[] =
    R"doc(Is True if the search was interrupted; if it had no schedule yet, schedule_source is empty.

>>> found = ts.tune(f.set_estimates([(0, 64), (0, 64)]), trials=1, progress=False)
>>> found.is_stopped
False
)doc";

inline constexpr char featurization[] =
    R"doc(Has the features of the schedule that the cost model reads, as bytes.

>>> found = ts.tune(f.set_estimates([(0, 64), (0, 64)]), trials=1, progress=False)
>>> type(found.featurization).__name__
'bytes'
)doc";

}  // namespace results
namespace generator {

inline constexpr char class_[] = R"doc(An input or output of a generator, in configure().

>>> @ts.generator("sum of images")
... class SumOfImages:
...     images, out = ts.InputBuffer(ts.UInt(8), 2, count="open"), ts.OutputBuffer(None, 2)
...     def configure(g):
...         g.images.set_count(3)
...         g.out.set_type(ts.UInt(16))
...     def generate(g):
...         g.out[x, y] = sum(ts.u16(image[x, y]) for image in g.images)
>>> SumOfImages.call([a, a, a]).realize([3, 2]).numpy().tolist()
[[0, 3, 6], [9, 12, 15]]
)doc";

inline constexpr char name[] = R"doc(Returns the name.

>>> @ts.generator("one input")
... class OneInput:
...     input, out = ts.InputBuffer(ts.UInt(8), 2), ts.OutputBuffer(ts.UInt(8), 2)
...     def configure(g):
...         print(g.input.name(), g.out.name())
...     def generate(g):
...         g.out[x, y] = g.input[x, y]
>>> OneInput.call(a)
input out
<Func out(x, y): uint8>
)doc";

inline constexpr char set_type[] =
    R"doc(Sets the type that is open; a list of them where there are several values.

>>> @ts.generator("open type")
... class OpenType:
...     out = ts.OutputBuffer(None, 1)
...     def configure(g):
...         g.out.set_type(ts.UInt(16))
...     def generate(g):
...         g.out[x] = ts.u16(x)
>>> OpenType.call()
<Func out(x): uint16>
)doc";

inline constexpr char set_dimensions[] = R"doc(Sets the number of dimensions, which is open.

>>> @ts.generator("open dimensions")
... class OpenDimensions:
...     out = ts.OutputBuffer(ts.Int(32))
...     def configure(g):
...         g.out.set_dimensions(2)
...     def generate(g):
...         g.out[x, y] = x + y
>>> OpenDimensions.call()
<Func out(x, y): int32>
)doc";

inline constexpr char set_count[] = R"doc(Sets the number of elements of an array, which is open.

>>> @ts.generator("open count")
... class OpenCount:
...     out = ts.OutputBuffer(ts.Int(32), 1, count="open")
...     def configure(g):
...         g.out.set_count(2)
...     def generate(g):
...         g.out[0][x], g.out[1][x] = x, 2 * x
>>> OpenCount.call()
[<Func out_0(x): int32>, <Func out_1(x): int32>]
)doc";

inline constexpr char types[] = R"doc(Returns the types; none if they are open.

>>> @ts.generator("open type")
... class OpenType:
...     out = ts.OutputBuffer(None, 1)
...     def configure(g):
...         g.out.set_type(ts.UInt(16))
...         print(g.out.types())
...     def generate(g):
...         g.out[x] = ts.u16(x)
>>> OpenType.call()
[uint16]
<Func out(x): uint16>
)doc";

inline constexpr char dimensions[] = R"doc(Returns the number of dimensions; None if it is open.

>>> @ts.generator("open dimensions")
... class OpenDimensions:
...     out = ts.OutputBuffer(ts.Int(32))
...     def configure(g):
...         print(g.out.dimensions())
...         g.out.set_dimensions(1)
...     def generate(g):
...         g.out[x] = x
>>> OpenDimensions.call()
None
<Func out(x): int32>
)doc";

}  // namespace generator
namespace boundary {

inline constexpr char module_doc[] =
    R"doc(Makes Funcs that are the source inside of its bounds, and something sensible outside.

The source is a Func, an ImageParam, a Buffer or an array, whose last axis is dimension 0. Bounds are (min, extent) of each
dimension, dimension 0 first, or (None, None) where a dimension has none; those of an image are its
own.

>>> padded = ts.BoundaryConditions.repeat_edge(a)
>>> padded.realize([5, 2]).numpy().tolist()
[[0, 1, 2, 2, 2], [3, 4, 5, 5, 5]]
)doc";

inline constexpr char repeat_edge[] =
    R"doc(Returns a Func that has the nearest value inside, where it is outside of the bounds.

>>> row = np.array([1, 2, 3], np.uint8)
>>> ts.BoundaryConditions.repeat_edge(row).realize([6]).numpy().tolist()
[1, 2, 3, 3, 3, 3]
)doc";

inline constexpr char repeat_image[] =
    R"doc(Returns a Func that has copies of the source side by side.

>>> row = np.array([1, 2, 3], np.uint8)
>>> ts.BoundaryConditions.repeat_image(row).realize([6]).numpy().tolist()
[1, 2, 3, 1, 2, 3]
)doc";

inline constexpr char mirror_image[] =
    R"doc(Returns a Func that has copies side by side, every other one mirrored: the edge is there twice.

>>> row = np.array([1, 2, 3], np.uint8)
>>> ts.BoundaryConditions.mirror_image(row).realize([6]).numpy().tolist()
[1, 2, 3, 3, 2, 1]
)doc";

inline constexpr char mirror_interior[] =
    R"doc(Returns a Func that has copies side by side, every other one mirrored: the edge is there once.

>>> row = np.array([1, 2, 3], np.uint8)
>>> ts.BoundaryConditions.mirror_interior(row).realize([6]).numpy().tolist()
[1, 2, 3, 2, 1, 2]
)doc";

inline constexpr char constant_exterior[] =
    R"doc(Returns a Func that has one value, or a tuple of them, everywhere outside of the bounds.

>>> row = np.array([1, 2, 3], np.uint8)
>>> ts.BoundaryConditions.constant_exterior(row, 9).realize([6]).numpy().tolist()
[1, 2, 3, 9, 9, 9]
>>> ts.BoundaryConditions.constant_exterior(f, 0, [(0, 2), (0, 1)]).realize([3, 2]).numpy().tolist()
[[0, 1, 0], [0, 0, 0]]
)doc";

}  // namespace boundary
}  // namespace tessera::python::docs
