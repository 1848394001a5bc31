#pragma once
#include "base/target.h"
#include "driver/jit_context.h"
#include "driver/output_file.h"
#include "ir/operators.h"
#include "ir/written_expr.h"
#include "lang/argument.h"
#include "lang/autoscheduler.h"
#include "lang/callable.h"
#include "lang/realization.h"
#include "program/program.h"
#include <functional>
#include <map>
#include <memory>

namespace tessera {

using ir::Expr;
using ir::WrittenExpr;
class Func;
class ImageParam;
class JITExtern;
class Module;
struct PipelineContents;

namespace driver {
struct TargetProgram;
}
namespace ir {
struct Module;
template<typename P>
concept StmtPass = requires(P &pass, const Stmt &s) {
    { pass(s) } -> std::convertible_to<Stmt>;
};
}  // namespace ir

// Selects the format of a lowered pipeline's text.
enum StmtOutputFormat { Text, HTML };

// One or several Funcs to be computed together. A handle: copies are the same pipeline.
class Pipeline {
public:
    using RealizationArg = tessera::RealizationArg;

    Pipeline() = default;
    Pipeline(const Func &output, Location at = Here::current());
    Pipeline(const std::vector<Func> &outputs, Location at = Here::current());

    bool defined() const { return contents != nullptr; }
    std::vector<Func> outputs(Location at = Here::current()) const;
    // The i-th of the Funcs that the outputs reach, producers first: how a printed schedule names
    // them.
    Func get_func(size_t i, Location at = Here::current()) const;
    // The parameters of the algorithm by their names.
    Param<> get_param(const std::string &name, Location at = Here::current()) const;
    ImageParam get_image_param(const std::string &name, Location at = Here::current()) const;

    // ---- Running ----
    // Computes all outputs over [0, size) in each dimension, dimension 0 first, into a new Buffer
    // per value; the forms that take buffers compute the regions of these. Compiles if need be.
    // Throws CompileError; RuntimeError if sizes, buffers or parameters do not fit, or the pipeline
    // fails. An undefined target: TESSERA_JIT_TARGET, or else the host.
    Realization realize(const std::vector<int32_t> &sizes = {}, const Target &target = Target(),
                        Location at = Here::current());
    // The same: braces around one 0 would be a null context.
    Realization realize(std::initializer_list<int32_t> sizes, const Target &target = Target(),
                        Location at = Here::current()) {
        return realize(std::vector<int32_t>(sizes), target, at);
    }
    Realization realize(JITUserContext *context, std::initializer_list<int32_t> sizes,
                        const Target &target = Target(), Location at = Here::current()) {
        return realize(context, std::vector<int32_t>(sizes), target, at);
    }
    Realization realize(JITUserContext *context, const std::vector<int32_t> &sizes = {},
                        const Target &target = Target(), Location at = Here::current());
    void realize(const RealizationArg &outputs, const Target &target = Target(),
                 Location at = Here::current());
    void realize(JITUserContext *context, const RealizationArg &outputs,
                 const Target &target = Target(), Location at = Here::current());
    // Gives every ImageParam that has no buffer one that is large enough for outputs of this size.
    void infer_input_bounds(const std::vector<int32_t> &sizes, const Target &target = Target(),
                            Location at = Here::current());
    void infer_input_bounds(std::initializer_list<int32_t> sizes, const Target &target = Target(),
                            Location at = Here::current()) {
        infer_input_bounds(std::vector<int32_t>(sizes), target, at);
    }
    void infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes,
                            const Target &target = Target(), Location at = Here::current());
    void infer_input_bounds(const RealizationArg &outputs, const Target &target = Target(),
                            Location at = Here::current());
    void infer_input_bounds(JITUserContext *context, const RealizationArg &outputs,
                            const Target &target = Target(), Location at = Here::current());
    // Forgets what has been compiled. Changes of the pipeline are noticed without it.
    void invalidate_cache(Location at = Here::current());
    // Compiles now what realize() would compile; compiled code is kept for later. realize() and
    // infer_input_bounds() without a target are for the one that was named last, here or there;
    // before any was, for the environment's.
    void compile_jit(const Target &target = get_jit_target_from_environment(),
                     Location at = Here::current());
    // A function object that takes these arguments, and then the outputs. CompileError if one of
    // those that the pipeline reads is missing, or one is there twice.
    Callable compile_to_callable(const std::vector<Argument> &args,
                                 const Target &target = get_jit_target_from_environment(),
                                 Location at = Here::current());
    // The functions that are called instead of the runtime's own when this pipeline runs in this
    // process.
    JITHandlers &jit_handlers(Location at = Here::current());
    // Sets the functions that extern calls and extern stages of these names call; replaces those
    // set before.
    void set_jit_externs(const std::map<std::string, JITExtern> &externs,
                         Location at = Here::current());
    const std::map<std::string, JITExtern> &get_jit_externs(Location at = Here::current()) const;

    // ---- Conditions ----
    // The caller has to meet the condition; else the pipeline fails with this message.
    void add_requirement(const WrittenExpr &condition, const std::vector<Expr> &message = {});
    template<std::convertible_to<Expr>... Args>
    void add_requirement(const WrittenExpr &condition, const Expr &first, const Args &...rest) {
        add_requirement(condition, std::vector<Expr>{first, Expr(rest)...});
    }
    // Events for the beginning and end of the pipeline.
    void trace_pipeline(Location at = Here::current());

    // ---- Passes of the user's own ----
    // Something that makes a statement of a statement, such as an ir::Mutator: run on the lowered
    // pipeline, after all of Tessera's passes, in the order in which they were added. The pipeline
    // owns it, unless there is a deleter, which is called when the pipeline no longer needs it.
    template<ir::StmtPass P>
    void add_custom_lowering_pass(P *pass, Location at = Here::current()) {
        add_pass(std::shared_ptr<P>(pass), at);
    }
    template<ir::StmtPass P>
    void add_custom_lowering_pass(P *pass, std::function<void()> deleter,
                                  Location at = Here::current()) {
        add_pass(std::shared_ptr<P>(pass,
                                    [deleter = std::move(deleter)](P *) {
                                        if (deleter) deleter();
                                    }),
                 at);
    }
    void clear_custom_lowering_passes(Location at = Here::current());

    // ---- Schedules that are found ----
    // Schedules the pipeline by the autoscheduler of that name: one of Tessera's own
    // (docs/autoscheduler.md), or one that this program or a plugin has added
    // (lang/autoscheduler.h). Without a name: the default, which measures.
    AutoSchedulerResults apply_autoscheduler(const Target &target,
                                             const AutoschedulerParams &params = {},
                                             Location at = Here::current()) const;
    static void add_autoscheduler(const std::string &name, const AutoSchedulerFn &scheduler);
    // Sets the one that is meant where the parameters name none.
    static void set_default_autoscheduler_name(const std::string &name);

    // ---- Looking at it ----
    void print_loop_nest(Location at = Here::current());  // on stderr
    std::string loop_nest(Location at = Here::current()) const;
    // The schedule as C++: statements that, where `pipeline` is a Pipeline of the same algorithm
    // without a schedule, give it this one. They stand in a block of their own:
    //     { Func f = pipeline.get_func(0); Var x("x"); f.vectorize(x, 8); }
    std::string schedule_as_cpp(Location at = Here::current()) const;
    // The same as Python, where `pipeline` is a tessera.Pipeline.
    std::string schedule_as_python(Location at = Here::current()) const;
    // The schedule as JSON (program/schedule_json.h), with the lines where it was written.
    std::string schedule_as_json(Location at = Here::current()) const;
    // Does what schedule_as_json() wrote of the same algorithm, through the same checks that every
    // directive goes through: throws CompileError, and leaves the schedule as it is, if one fails.
    // `more`: parameters that the schedule mentions and the algorithm does not.
    void apply_schedule(const std::string &json, const std::vector<Argument> &more = {},
                        Location at = Here::current());
    // The arguments that a compiled function takes, before its outputs.
    std::vector<Argument> infer_arguments(Location at = Here::current()) const;

    // ---- Files ----
    // `args`: the parameters in the order in which the compiled function takes them, before the
    // outputs; CompileError if one is missing (compile_to_lowered_stmt: empty means all).
    // `function`: its name; empty: the pipeline's. An undefined target: TESSERA_TARGET, or else the
    // host. Throws RuntimeError if the file cannot be written.
    void compile_to_lowered_stmt(const std::string &path, const std::vector<Argument> &args = {},
                                 StmtOutputFormat format = Text, const Target &target = Target(),
                                 Location at = Here::current());
    // The same before loops and storage are worked on: which region of what is computed where.
    void compile_to_conceptual_stmt(const std::string &path, const std::vector<Argument> &args = {},
                                    StmtOutputFormat format = Text, const Target &target = Target(),
                                    Location at = Here::current());
    void compile_to_llvm_assembly(const std::string &path, const std::vector<Argument> &args,
                                  const std::string &function = "",
                                  const Target &target = get_target_from_environment(),
                                  Location at = Here::current());
    void compile_to_assembly(const std::string &path, const std::vector<Argument> &args,
                             const std::string &function = "",
                             const Target &target = get_target_from_environment(),
                             Location at = Here::current());
    void compile_to_object(const std::string &path, const std::vector<Argument> &args,
                           const std::string &function = "",
                           const Target &target = get_target_from_environment(),
                           Location at = Here::current());
    void compile_to_bitcode(const std::string &path, const std::vector<Argument> &args,
                            const std::string &function = "",
                            const Target &target = get_target_from_environment(),
                            Location at = Here::current());
    // A header for C and C++ that declares the compiled function and describes its arguments.
    void compile_to_header(const std::string &path, const std::vector<Argument> &args,
                           const std::string &function = "",
                           const Target &target = get_target_from_environment(),
                           Location at = Here::current());
    // The compiled function as C11, to be compiled by any machine's compiler and linked with the
    // runtime.
    void compile_to_c(const std::string &path, const std::vector<Argument> &args,
                      const std::string &function = "",
                      const Target &target = get_target_from_environment(),
                      Location at = Here::current());
    // An object and its header: prefix.o and prefix.h.
    void compile_to_file(const std::string &prefix, const std::vector<Argument> &args,
                         const std::string &function = "",
                         const Target &target = get_target_from_environment(),
                         Location at = Here::current());
    // A library and its header: prefix.a and prefix.h. The runtime is in the library, unless the
    // target has Target::NoRuntime.
    void compile_to_static_library(const std::string &prefix, const std::vector<Argument> &args,
                                   const std::string &function = "",
                                   const Target &target = get_target_from_environment(),
                                   Location at = Here::current());
    // A library with code for each target, and its header: the function runs the code of the best
    // target that the machine has all features of, found out by tessera_can_use_target_features();
    // it fails with tessera_error_code_unsupported_target if there is none. All targets have one
    // architecture and operating system.
    void compile_to_multitarget_static_library(const std::string &prefix,
                                               const std::vector<Argument> &args,
                                               const std::vector<Target> &targets,
                                               const std::string &function = "",
                                               Location at = Here::current());
    // The same as objects: prefix + suffix + ".o" for each target (suffixes empty: "-" and the
    // target as text), prefix_wrapper.o with the function that chooses, and prefix.h.
    void compile_to_multitarget_object_files(const std::string &prefix,
                                             const std::vector<Argument> &args,
                                             const std::vector<Target> &targets,
                                             const std::vector<std::string> &suffixes = {},
                                             const std::string &function = "",
                                             Location at = Here::current());
    // A file of each type, at its path.
    void compile_to(const std::map<OutputFileType, std::string> &files,
                    const std::vector<Argument> &args, const std::string &function = "",
                    const Target &target = get_target_from_environment(),
                    Location at = Here::current());

    // Returns what compile_to() writes into a file of this type: a text, or the bytes of an object
    // or a library. Without arguments, all that infer_arguments() finds are taken.
    std::string compile_to_string(OutputFileType type, const std::vector<Argument> &args = {},
                                  const std::string &function = "",
                                  const Target &target = get_target_from_environment(),
                                  Location at = Here::current()) const;

    // Returns what compile() writes: the same under this name for this target.
    Module compile_to_module(const std::vector<Argument> &args, const std::string &name = "",
                             const Target &target = get_target_from_environment(),
                             Location at = Here::current());

    // Returns the module that compile_to() compiles for these arguments, this name and target.
    ir::Module lowered(const std::vector<Argument> &args, const std::string &function = "",
                       const Target &target = get_target_from_environment(),
                       Location at = Here::current()) const;

    // The program and its arguments, for one of several targets.
    driver::TargetProgram target_program(const std::vector<Argument> &args,
                                         Location at = Here::current()) const;

    const program::Program &program(Location at = Here::current()) const;

private:
    template<typename P>
    void add_pass(std::shared_ptr<P> pass, const Location &at) {
        add_pass([pass](const ir::Stmt &s) { return ir::Stmt((*pass)(s)); }, at);
    }
    void add_pass(std::function<ir::Stmt(const ir::Stmt &)> pass, const Location &at);
    PipelineContents &get(const Location &at) const;
    std::shared_ptr<PipelineContents> contents;
};

}  // namespace tessera
