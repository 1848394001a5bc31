#pragma once

// Docstrings of pipelines: how they run, and what is written of them. The names in their examples
// are those of tests/examples.py.
namespace tessera::python::docs {
namespace pipeline {

inline constexpr char class_[] = R"doc(One or several Funcs to be computed together.

>>> q = ts.Func("q")
>>> q[x] = f[x, 0] * 2
>>> first, second = ts.Pipeline([q, h]).realize([4])
>>> first.numpy().tolist(), second.numpy().tolist()
([0, 2, 4, 6], [60, 64, 68, 72])
)doc";

inline constexpr char init[] = R"doc(Makes a pipeline of a Func, or of a list of them.

>>> ts.Pipeline([f, g])
<Pipeline of f, g>
)doc";

inline constexpr char defined[] = R"doc(Returns True if it has an output.

>>> ts.Pipeline(f).defined()
True
)doc";

inline constexpr char outputs[] = R"doc(Returns the Funcs that are its outputs.

>>> ts.Pipeline([f, g]).outputs()
[<Func f(x, y): int32>, <Func g(x, y): int32>]
)doc";

inline constexpr char get_func[] =
    R"doc(Returns the Func of this number: producers come before what uses them.

>>> ts.Pipeline(g).get_func(0), ts.Pipeline(g).get_func(1)
(<Func f(x, y): int32>, <Func g(x, y): int32>)
)doc";

inline constexpr char get_param[] = R"doc(Returns the Param of the algorithm that has this name.

>>> q = ts.Func("q")
>>> q[x] = x * p
>>> ts.Pipeline(q).get_param(p.name())
<Param p: int32>
)doc";

inline constexpr char get_image_param[] =
    R"doc(Returns the ImageParam of the algorithm that has this name.

>>> q = ts.Func("q")
>>> q[x] = im[x, 0]
>>> ts.Pipeline(q).get_image_param(im.name())
<ImageParam im: uint8, 2 dimensions>
)doc";

inline constexpr char add_autoscheduler[] =
    R"doc(Adds an autoscheduler: scheduler(pipeline, target, params) schedules the pipeline.

It may return the schedule as text. Names are for the whole process.

>>> def scheduler(pipeline, target, params):
...     pipeline.outputs()[0].parallel(y)
>>> ts.Pipeline.add_autoscheduler("rows at once", scheduler)
>>> f.apply_autoscheduler("host", ts.AutoschedulerParams("rows at once"))
<AutoSchedulerResults: 0 ms, 0 trials>
>>> f.print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    parallel f.y:
      for f.x:
        f(...) = ...
)doc";

inline constexpr char set_default_autoscheduler_name[] =
    R"doc(Sets the autoscheduler that is meant where none is named.

>>> ts.Pipeline.set_default_autoscheduler_name("tessera")
)doc";

inline constexpr char invalidate_cache[] =
    R"doc(Forgets what has been compiled. Changes are noticed without it.

>>> ts.Pipeline(f).invalidate_cache()
)doc";

inline constexpr char trace_pipeline[] =
    R"doc(Traces the beginning and the end of the pipeline: on_trace() has an event for each.

>>> pipeline, events = ts.Pipeline(f), []
>>> pipeline.trace_pipeline()
>>> pipeline.on_trace(lambda event: events.append(event.event.name))
<Pipeline of f>
>>> pipeline.realize([2, 2])
<Buffer f of shape (2, 2) int32 (dimensions 2 x 2)>
>>> events
['begin_pipeline', 'end_pipeline']
)doc";

inline constexpr char realize[] =
    R"doc(Computes the outputs over [0, size) in each dimension, dimension 0 first: realize([width, height]).

Returns a Buffer, or a tuple of Buffers. In place of sizes, a Buffer or an array, or a list of
these, is written into: its last axis is dimension 0. `context` is a JITUserContext with handlers
for this call. Raises CompileError where the pipeline cannot be compiled, and RunError where it
fails, as when an input is too small.

>>> f.realize([3, 2]).numpy().tolist()
[[0, 1, 2], [10, 11, 12]]
>>> out = np.empty((2, 3), np.int32)
>>> f.realize(out)
>>> out[1].tolist()
[10, 11, 12]
)doc";

inline constexpr char infer_input_bounds[] =
    R"doc(Gives every ImageParam that has no Buffer one that is large enough for these outputs.

`sizes` are those of the outputs, dimension 0 first, or the outputs themselves, as for realize().

>>> q = ts.Func("q")
>>> q[x, y] = im[x, y] + im[x + 2, y]
>>> q.infer_input_bounds([3, 2])
>>> im.get().shape
(2, 5)
)doc";

inline constexpr char compile_jit[] = R"doc(Compiles now what realize() would compile.

>>> f.compile_jit()
>>> f.realize([3, 1]).numpy().tolist()
[[0, 1, 2]]
)doc";

inline constexpr char compile_to_callable[] =
    R"doc(Returns a function that takes these arguments, and then the outputs: a Callable.

The arguments are ImageParams and Params. It has the handlers that this object has now. Raises
CompileError where the pipeline cannot be compiled, or needs an input that is not among them.

>>> q, out = ts.Func("q"), np.empty((2, 3), np.uint8)
>>> q[x, y] = im[x, y] * 2
>>> call = q.compile_to_callable([im])
>>> call(a, out)
>>> out.tolist()
[[0, 2, 4], [6, 8, 10]]
)doc";

inline constexpr char add_requirement[] =
    R"doc(Requires that the caller meets the condition; else the pipeline fails with the message.

The message has texts and expressions, and a RunError brings it.

>>> q = ts.Func("q")
>>> q[x] = x * p
>>> p.set(-1)
>>> q.add_requirement(p > 0, "p is", p).realize([3])
Traceback (most recent call last):
    ...
tessera._errors.RunError: ...Requirement failed: p > 0: p is -1
)doc";

inline constexpr char on_print[] =
    R"doc(Lets this function have the texts that the pipeline prints, instead of sys.stdout.

What it raises comes out of the call that runs the pipeline. None stands for no function.

>>> q, texts = ts.Func("q"), []
>>> q[x] = ts.print(x, "is x")
>>> q.on_print(texts.append).realize([2])
<Buffer q of shape (2,) int32>
>>> texts
['0 is x\n', '1 is x\n']
)doc";

inline constexpr char on_trace[] =
    R"doc(Lets this function have a TraceEvent for each event that the pipeline traces.

It may return a number for the event, which those within it have as parent_id.

>>> events = []
>>> f.trace_stores().on_trace(events.append).realize([1, 1])
<Buffer f of shape (1, 1) int32 (dimensions 1 x 1)>
>>> [event.event.name for event in events]
['begin_pipeline', 'store', 'end_pipeline']
)doc";

inline constexpr char on_error[] =
    R"doc(Lets this function have the message of a failure, instead of a RunError.

>>> q, messages = ts.Func("q"), []
>>> q[x] = ts.require(x < 1, x, "is too large")
>>> q.on_error(messages.append).realize([2])
<Buffer q of shape (2,) int32>
>>> messages
['...Requirement failed: is too large']
)doc";

inline constexpr char lowered_stmt[] =
    R"doc(Returns the loops that are compiled, as text, which notebooks show with its structure.

>>> print(f.lowered_stmt())
module "f"
func "f"(f: output int32[2]):
...
        produce f:
...
)doc";

inline constexpr char conceptual_stmt[] =
    R"doc(Returns which region of what is computed where, as text.

>>> print(f.conceptual_stmt())
assert ...
    produce f:
...
)doc";

inline constexpr char llvm_assembly[] = R"doc(Returns LLVM's intermediate language.

>>> "define" in f.llvm_assembly()
True
)doc";

inline constexpr char assembly[] = R"doc(Returns the assembly of the target's machine.

>>> ".text" in f.assembly("x86-64-linux")
True
)doc";

inline constexpr char c_source[] = R"doc(Returns the compiled function as C.

>>> "int32_t" in f.c_source()
True
)doc";

inline constexpr char ptx[] =
    R"doc(Returns the kernels of a GPU as PTX; an empty text if there are none.

>>> f.gpu_tile(x, y, xi, yi, 32, 8)
<Func f(x, y): int32>
>>> ".entry" in f.ptx("x86-64-linux-cuda-cuda_capability_80")
True
)doc";

inline constexpr char compile_to_string[] =
    R"doc(Returns the bytes of what compile_to() writes into a file of this type.

>>> f.compile_to_string(ts.OutputFileType.c_header)[:7]
b'#ifndef'
)doc";

inline constexpr char loop_nest[] = R"doc(Returns the loops that the schedule comes to, as text.

>>> f.vectorize(x, 8).loop_nest().splitlines()[-2:]
['        vectorized f.x_i in [0, 7]:', '          f(...) = ...']
)doc";

inline constexpr char print_loop_nest[] = R"doc(Prints the loops that the schedule comes to.

>>> f.print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      for f.x:
        f(...) = ...
)doc";

inline constexpr char schedule_as_cpp[] = R"doc(Returns the schedule as statements of C++.

>>> print(f.vectorize(x, 8).schedule_as_cpp())
Func f = pipeline.get_func(0);
Var x("x");
Var x_i("x_i");
f.split(x, x, x_i, 8, TailStrategy::Auto)
    .vectorize(x_i);
)doc";

inline constexpr char schedule_as_python[] =
    R"doc(Returns the schedule as Python that runs where `pipeline` is a Pipeline of the algorithm.

>>> print(f.vectorize(x, 8).schedule_as_python())
import tessera as ts
f = pipeline.get_func(0)
x = ts.Var("x")
x_i = ts.Var("x_i")
f.split(x, x, x_i, 8, ts.TailStrategy.Auto)
f.vectorize(x_i)
)doc";

inline constexpr char schedule_as_json[] =
    R"doc(Returns the schedule as JSON, which apply_schedule() takes.

>>> text = f.vectorize(x, 8).schedule_as_json()
>>> import json
>>> sorted(json.loads(text))
['functions', 'loops', 'steps', 'tessera_schedule']
)doc";

inline constexpr char apply_schedule[] =
    R"doc(Does what schedule_as_json() wrote of the same algorithm.

`more` lists parameters that the schedule mentions and the algorithm does not.

>>> text = f.vectorize(x, 8).schedule_as_json()
>>> again = ts.Func("f")
>>> again[x, y] = x + 10 * y
>>> again.apply_schedule(text)
>>> again.print_loop_nest()
produce f:
  for f.outermost in [0, 0]:
    for f.y:
      for f.x:
        vectorized f.x_i in [0, 7]:
          f(...) = ...
)doc";

inline constexpr char infer_arguments[] =
    R"doc(Returns the arguments that a compiled function takes, before its outputs.

>>> q = ts.Func("q")
>>> q[x, y] = im[x, y] * p
>>> q.infer_arguments()
[<Argument im: 2 dimensions of uint8>, <Argument p: int32>]
)doc";

inline constexpr char compile_to_object[] = R"doc(Writes an object file.

>>> f.compile_to_object("f.o", [], "f")
>>> os.path.getsize("f.o") > 0
True
)doc";

inline constexpr char compile_to_bitcode[] = R"doc(Writes LLVM's bitcode.

>>> f.compile_to_bitcode("f.bc", [], "f")
>>> Path("f.bc").read_bytes()[:2]
b'BC'
)doc";

inline constexpr char compile_to_llvm_assembly[] =
    R"doc(Writes LLVM's intermediate language as text.

>>> f.compile_to_llvm_assembly("f.ll", [], "f")
>>> "define" in Path("f.ll").read_text()
True
)doc";

inline constexpr char compile_to_assembly[] = R"doc(Writes assembly.

>>> f.compile_to_assembly("f.s", [], "f", "x86-64-linux")
>>> ".text" in Path("f.s").read_text()
True
)doc";

inline constexpr char compile_to_c[] = R"doc(Writes the function as C.

>>> f.compile_to_c("f.c", [], "f")
>>> "int f(" in Path("f.c").read_text()
True
)doc";

inline constexpr char compile_to_header[] =
    R"doc(Writes a header for C and C++ that declares the function.

>>> f.compile_to_header("f.h", [], "f")
>>> "int f(" in Path("f.h").read_text()
True
)doc";

inline constexpr char compile_to_lowered_stmt[] =
    R"doc(Writes the loops that are compiled, as text or as a page for a browser.

>>> f.compile_to_lowered_stmt("f.stmt")
>>> f.compile_to_lowered_stmt("f.html", fmt=ts.StmtOutputFormat.HTML)
>>> Path("f.html").read_text()[:15]
'<!DOCTYPE html>'
)doc";

inline constexpr char compile_to_conceptual_stmt[] =
    R"doc(Writes which region of what is computed where, as text or as a page for a browser.

>>> f.compile_to_conceptual_stmt("f.stmt")
>>> "produce" in Path("f.stmt").read_text()
True
)doc";

inline constexpr char compile_to_file[] =
    R"doc(Writes an object and its header: prefix.o and prefix.h.

>>> f.compile_to_file("filter", [], "filter")
>>> sorted(os.listdir())
['filter.h', 'filter.o']
)doc";

inline constexpr char compile_to_static_library[] =
    R"doc(Writes a library and its header: prefix.a and prefix.h. load() of the library calls it from Python.

>>> f.compile_to_static_library("filter", [], "filter")
>>> sorted(os.listdir())
['filter.a', 'filter.h']
)doc";

inline constexpr char compile_to[] = R"doc(Writes a file of each type, at its path.

>>> f.compile_to({ts.OutputFileType.c_source: "f.c", ts.OutputFileType.c_header: "f.h"}, [], "f")
>>> "int f(" in Path("f.h").read_text()
True
)doc";

inline constexpr char compile_to_multitarget_static_library[] =
    R"doc(Writes a library with code for each target, the best of which is chosen when it runs.

The last target is the one for machines that have the features of none before.

>>> f.compile_to_multitarget_static_library("f", [], ["x86-64-linux-avx2", "x86-64-linux"])
>>> sorted(os.listdir())
['f.a', 'f.h']
)doc";

inline constexpr char compile_to_multitarget_object_files[] =
    R"doc(Writes an object for each target, one that chooses, and a header.

>>> targets = ["x86-64-linux-avx2", "x86-64-linux"]
>>> f.compile_to_multitarget_object_files("f", [], targets, ["fast", "any"])
>>> sorted(os.listdir())
['f.h', 'f_wrapper.o', 'fany.o', 'ffast.o']
)doc";

inline constexpr char compile_to_module[] = R"doc(Returns the Module of what would be compiled.

>>> f.compile_to_module([], "f")
<Module f>
)doc";

inline constexpr char set_jit_externs[] =
    R"doc(Lets calls of C functions of these names call what is given.

That is a function of ctypes, an address, a Func or a Pipeline.

>>> import ctypes
>>> @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
... def twice(n):
...     return 2 * n
>>> q = ts.Func("q")
>>> q[x] = ts.extern_call("twice", ts.Int(32), x)
>>> q.set_jit_externs({"twice": twice})
>>> q.realize([3]).numpy().tolist()
[0, 2, 4]
)doc";

inline constexpr char apply_autoscheduler[] =
    R"doc(Schedules the pipeline by the autoscheduler that the parameters name: AutoSchedulerResults.

`progress(done, trials, best_ms)` is called while it measures; `measurer(folder, stopped)` measures
a bundle and yields the lines of the log; None is tessera-measure on this machine. The outputs need
estimates.

>>> g.set_estimates([(0, 640), (0, 480)])
<Func g(x, y): int32>
>>> found = g.apply_autoscheduler("host", ts.AutoschedulerParams("Mullapudi2016"))
>>> "parallel" in found.schedule_source
True
)doc";

inline constexpr char module_class[] =
    R"doc(Lowered functions that are written into files together: those of a pipeline, or of several modules.

>>> m = f.compile_to_module([], "f")
>>> m.functions()
[<LoweredFunction f>]
)doc";

inline constexpr char module_init[] = R"doc(Makes a module without functions.

>>> ts.Module("m", "host").functions()
[]
)doc";

inline constexpr char module_name[] = R"doc(Returns the name.

>>> ts.Module("m").name()
'm'
)doc";

inline constexpr char module_target[] = R"doc(Returns the target that it is compiled for.

>>> ts.Module("m", "x86-64-linux").target()
Target("x86-64-linux")
)doc";

inline constexpr char module_functions[] = R"doc(Returns its functions.

>>> f.compile_to_module([], "f").functions()
[<LoweredFunction f>]
)doc";

inline constexpr char get_function_by_name[] =
    R"doc(Returns the function of this name; CompileError if there is none.

>>> f.compile_to_module([], "f").get_function_by_name("f")
<LoweredFunction f>
)doc";

inline constexpr char append_module[] = R"doc(Makes another module a part of this one.

>>> m = ts.Module("both", "host")
>>> m.append(f.compile_to_module([], "f", "host"))
>>> m.submodules()
[<Module f>]
)doc";

inline constexpr char append_function[] = R"doc(Adds a function.

>>> m = ts.Module("m", "host")
>>> m.append(f.compile_to_module([], "f", "host").functions()[0])
>>> m.functions()
[<LoweredFunction f>]
)doc";

inline constexpr char submodules[] = R"doc(Returns the modules that are parts of this one.

>>> f.compile_to_module([], "f").submodules()
[]
)doc";

inline constexpr char resolve_submodules[] =
    R"doc(Returns the module with the functions of its parts among its own.

>>> m = ts.Module("both", "host")
>>> m.append(f.compile_to_module([], "f", "host"))
>>> m.resolve_submodules().functions()
[<LoweredFunction f>]
)doc";

inline constexpr char module_compile[] = R"doc(Writes a file of each type, at its path.

>>> m = f.compile_to_module([], "f")
>>> m.compile({ts.OutputFileType.c_header: "f.h"})
>>> "int f(" in Path("f.h").read_text()
True
)doc";

inline constexpr char compile_to_buffer[] =
    R"doc(Returns the bytes of an object file: a Buffer of uint8.

>>> bytes(f.compile_to_module([], "f", "x86-64-linux").compile_to_buffer().numpy()[:4])
b'\x7fELF'
)doc";

inline constexpr char get_device_code_buffer[] =
    R"doc(Returns the PTX of the kernels; an undefined Buffer if there are none.

>>> f.compile_to_module([], "f").get_device_code_buffer()
<undefined Buffer>
)doc";

inline constexpr char lowered_function_class[] = R"doc(A function of a Module.

>>> f.compile_to_module([], "f").functions()[0]
<LoweredFunction f>
)doc";

inline constexpr char lowered_function_name[] = R"doc(Is the name.

>>> f.compile_to_module([], "f").functions()[0].name
'f'
)doc";

inline constexpr char link_modules[] = R"doc(Returns the functions of all modules in one.

>>> first, second = f.compile_to_module([], "f", "host"), g.compile_to_module([], "g", "host")
>>> ts.link_modules("both", [first, second]).functions()
[<LoweredFunction f>, <LoweredFunction g>]
)doc";

inline constexpr char compile_standalone_runtime[] =
    R"doc(Writes the runtime alone into an object, or into a file of each type, and returns these.

Libraries of a target with the feature no_runtime are linked with it.

>>> ts.compile_standalone_runtime({ts.OutputFileType.object: "runtime.o"}, "host")
{OutputFileType.object: 'runtime.o'}
)doc";

inline constexpr char compile_multitarget[] =
    R"doc(Writes code for several targets behind one function.

module_factory(name, target) returns the Module for each; `suffixes` are for the names of files.

>>> def make(name, target):
...     return f.compile_to_module([], name, target)
>>> ts.compile_multitarget("f", {ts.OutputFileType.static_library: "f.a"}, ["x86-64-linux-avx2", "x86-64-linux"], make)
>>> os.path.getsize("f.a") > 0
True
)doc";

inline constexpr char load_plugin[] =
    R"doc(Loads a shared library for good, which adds autoschedulers; CompileError if there is none.

>>> ts.load_plugin("no_such_plugin")
Traceback (most recent call last):
    ...
tessera._errors.CompileError: ...the plugin no_such_plugin cannot be loaded: ...
)doc";

}  // namespace pipeline
}  // namespace tessera::python::docs
