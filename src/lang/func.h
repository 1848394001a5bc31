#pragma once
#include "lang/func_ref.h"
#include "lang/loop_level.h"
#include "lang/pipeline.h"
#include "lang/stage.h"
#include <map>

namespace tessera {

class OutputImageParam;
class ImageParam;

// An argument of f(...), and the line where it stands.
using CallArgument = WrittenExpr;

// An argument of define_extern: a Func, a Buffer, an ImageParam, or a scalar expression.
struct ExternFuncArgument : program::ExternFuncArgument {
    ExternFuncArgument() = default;
    ExternFuncArgument(const Func &f);
    ExternFuncArgument(const ImageParam &image, Location at = Here::current());
    template<typename T, int D>
    ExternFuncArgument(const Buffer<T, D> &b, Location at = Here::current())
        : ExternFuncArgument(Buffer<>(b), at) {}
    ExternFuncArgument(const Buffer<> &b, Location at = Here::current());
    ExternFuncArgument(const Expr &e) { scalar = e; }
    ExternFuncArgument(int e) { scalar = Expr(e); }
    ExternFuncArgument(float e) { scalar = Expr(e); }
    template<typename T>
    ExternFuncArgument(const Param<T> &p) {
        scalar = p;
    }

    bool is_func() const { return bool(func); }
    bool is_expr() const { return scalar.defined(); }
    bool is_buffer() const { return buffer && buffer->embedded; }
    bool is_image_param() const { return buffer && !buffer->embedded; }
    bool defined() const { return func || buffer || scalar.defined(); }
};

// A stage of a pipeline: values over an infinite grid, as its definition says, and the schedule by
// which they are computed. A handle: copies are the same Func.
//
// The methods that it inherits from LoopDirectives are about the loops of the pure definition;
// update(i) gives those of the others.
class Func : public LoopDirectives<Func>, public LaterFuncDirectives<Func> {
public:
    Func();
    explicit Func(const std::string &name);
    explicit Func(const char *name) : Func(std::string(name)) {}
    // Such a Func can only be defined with this type and number of dimensions.
    explicit Func(Type type, int dimensions, const std::string &name = "");
    explicit Func(const std::vector<Type> &types, int dimensions, const std::string &name = "");
    // f(_) = e
    explicit Func(const Expr &e, Location at = Here::current());
    template<typename T, int D>
    explicit Func(const Buffer<T, D> &image, Location at = Here::current())
        : Func(from_image(image.shared_contents(), at)) {}
    explicit Func(program::FunctionRef f) : contents(std::move(f)) {}

    // ---- Definition and use ----
    template<ExprLike... Args>
    FuncRef operator()(const CallArgument &first, const Args &...rest) const {
        return FuncRef(contents, {first, Expr(rest)...}, first.at);
    }
    FuncRef operator()(Location at = Here::current()) const { return FuncRef(contents, {}, at); }
    FuncRef operator()(const std::vector<Expr> &args, Location at = Here::current()) const {
        return FuncRef(contents, args, at);
    }
    FuncRef operator()(const std::vector<Var> &args, Location at = Here::current()) const {
        return FuncRef(contents, std::vector<Expr>(args.begin(), args.end()), at);
    }
    // Values come from a C function, int function(arguments..., output buffers...): it returns 0,
    // or an error code. If the host pointer of an input buffer is null, a bounds query lets it set
    // that buffer's region to what the outputs need. It may enlarge the outputs' regions then, and
    // is queried once more for these; but not that of an output of the pipeline, and not that of a
    // Func that is stored elsewhere than it is computed. `dimensions`: how many, or their Vars. In
    // C++ the function may stand in namespaces: "ns::function".
    // `device`: where the contents of all buffers are, and those of the outputs are left. Those on
    // a device have memory there; the host pointer is null where the host has none, and in a bounds
    // query there is neither.
    void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                       Type type, int dimensions, NameMangling mangling = NameMangling::Default,
                       DeviceAPI device = DeviceAPI::Host, Location at = Here::current());
    void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                       const std::vector<Type> &types, int dimensions,
                       NameMangling mangling = NameMangling::Default,
                       DeviceAPI device = DeviceAPI::Host, Location at = Here::current());
    void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                       Type type, const std::vector<Var> &dimensions,
                       NameMangling mangling = NameMangling::Default,
                       DeviceAPI device = DeviceAPI::Host, Location at = Here::current());
    void define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                       const std::vector<Type> &types, const std::vector<Var> &dimensions,
                       NameMangling mangling = NameMangling::Default,
                       DeviceAPI device = DeviceAPI::Host, Location at = Here::current());

    // ---- What it is ----
    const std::string &name() const { return contents->name.text(); }
    bool defined() const { return contents->defined(); }
    // A Func without a definition has those that it was declared with.
    int dimensions() const {
        bool declared = contents->types.empty() && contents->required_dimensions >= 0;
        return declared ? contents->required_dimensions : contents->dimensions();
    }
    std::vector<Var> args() const;
    Expr value(Location at = Here::current()) const;
    Tuple values(Location at = Here::current()) const;
    const std::vector<Type> &types(Location at = Here::current()) const;
    Type type(Location at = Here::current()) const;
    int outputs(Location at = Here::current()) const { return int(types(at).size()); }
    bool has_update_definition() const { return num_update_definitions() > 0; }
    int num_update_definitions() const;
    const std::vector<Expr> &update_args(int i = 0, Location at = Here::current()) const;
    Expr update_value(int i = 0, Location at = Here::current()) const;
    Tuple update_values(int i = 0, Location at = Here::current()) const;
    std::vector<RVar> rvars(int i = 0, Location at = Here::current()) const;
    bool is_extern() const { return contents->has_extern_definition(); }
    const std::string &extern_function_name(Location at = Here::current()) const;
    const program::FunctionRef &function() const { return contents; }

    // ---- Schedule: loops ----
    Stage update(int i = 0, Location at = Here::current()) const;
    operator Stage() const { return Stage(scheduled(Location())); }
    // The same as for the Stage of the first definition.
    std::vector<VarOrRVar> split_vars() const { return Stage(*this).split_vars(); }
    void unscheduled(Location at = Here::current()) { Stage(scheduled(at)).unscheduled(at); }

    // ---- Schedule: which region is computed ----
    // The computed range of this dimension is [min, min + extent); where more is needed, the
    // pipeline fails with RuntimeError. bound_extent: the same, from the first point that is
    // needed.
    Func &bound(const Var &v, const Expr &min, const Expr &extent, Location at = Here::current());
    Func &bound_extent(const Var &v, const Expr &extent, Location at = Here::current());
    // More is computed, so that min % modulus == remainder and extent % modulus == 0.
    Func &align_bounds(const Var &v, const Expr &modulus, const Expr &remainder = 0,
                       Location at = Here::current());
    Func &align_extent(const Var &v, const Expr &modulus, Location at = Here::current());
    // A typical range. It changes nothing that is compiled, and is kept with the schedule.
    Func &set_estimate(const Var &v, const Expr &min, const Expr &extent,
                       Location at = Here::current());
    Func &set_estimates(const Region &estimates, Location at = Here::current());

    // ---- Schedule: where it is computed and stored ----
    // Before everything that uses it; within loop v of f; or (the default) in each of its uses.
    // Storage is where it is computed, unless store_at says further out.
    Func &compute_root(Location at = Here::current());
    Func &compute_at(const Func &f, const VarOrRVar &v, Location at = Here::current());
    Func &compute_at(const LoopLevel &level, Location at = Here::current());
    Func &compute_inline(Location at = Here::current());
    Func &store_root(Location at = Here::current());
    Func &store_at(const Func &f, const VarOrRVar &v, Location at = Here::current());
    Func &store_at(const LoopLevel &level, Location at = Here::current());
    // The memory is allocated at this loop, store_at or further out; what it holds lives as before.
    Func &hoist_storage_root(Location at = Here::current());
    Func &hoist_storage(const Func &f, const VarOrRVar &v, Location at = Here::current());
    Func &hoist_storage(const LoopLevel &level, Location at = Here::current());
    // The kind of memory; Auto: chosen by size and place.
    Func &store_in(MemoryType memory, Location at = Here::current());
    // Storage is a ring of `extent` along v, in which a serial loop walks in one direction. The
    // compiler finds that out; fold_forward (v only grows) is written into the schedule, and
    // changes nothing.
    Func &fold_storage(const Var &v, const Expr &extent, bool fold_forward = true,
                       Location at = Here::current());
    // `extent` copies of the storage, one per iteration of the loop at which it is hoisted.
    Func &ring_buffer(const Expr &extent, Location at = Here::current());
    // A thread of its own computes it, while others use what is ready.
    Func &async(Location at = Here::current());
    // Dimensions in memory, innermost first.
    Func &reorder_storage(const std::vector<Var> &dims, Location at = Here::current());
    template<std::convertible_to<Var>... Vars>
    Func &reorder_storage(const LoopName &first, const Var &second, const Vars &...rest) {
        return reorder_storage({Var(first.symbol), second, Var(rest)...}, first.at);
    }
    // The extent in memory is rounded up to a multiple of this number of elements.
    Func &align_storage(const Var &v, const Expr &alignment, Location at = Here::current());
    // The extent in memory is this; the pipeline fails with RuntimeError where more is needed.
    Func &bound_storage(const Var &v, const Expr &bound, Location at = Here::current());

    // ---- Schedule: copies ----
    // A new Func with the same values, which the consumers (or all) use instead of this one.
    Func in(const Func &consumer, Location at = Here::current());
    Func in(const std::vector<Func> &consumers, Location at = Here::current());
    Func in(Location at = Here::current());
    // A copy of this Func, definition included, that these consumers use instead: it computes the
    // values itself, where in() reads them from this one.
    Func clone_in(const Func &consumer, Location at = Here::current());
    Func clone_in(const std::vector<Func> &consumers, Location at = Here::current());

    // Stage::copy_input of the pure definition.
    Func copy_input(const Fetched &buffer, Location at = Here::current());

    // This Func, which must be a copy of another one or of an image (f(x, y) = g(x, y), such as a
    // wrapper), is computed by copying from where that is newest into memory of the device, or of
    // the host. Its loops are in the copy; loops around copies are those that are split off or made
    // serial() or parallel().
    Func &copy_to_device(DeviceAPI api = DeviceAPI::Default_GPU, Location at = Here::current());
    Func &copy_to_host(Location at = Here::current());

    // ---- Tracing and profiling ----
    Func &trace_loads(Location at = Here::current());
    Func &trace_stores(Location at = Here::current());
    Func &trace_realizations(Location at = Here::current());
    Func &add_trace_tag(const std::string &tag, Location at = Here::current());
    Func &no_profiling(Location at = Here::current());

    // ---- Buffers of the output ----
    OutputImageParam output_buffer(Location at = Here::current()) const;
    std::vector<OutputImageParam> output_buffers(Location at = Here::current()) const;

    // ---- Running and compiling: as a Pipeline whose only output is this Func ----
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
    void compile_jit(const Target &target = get_jit_target_from_environment(),
                     Location at = Here::current());
    Callable compile_to_callable(const std::vector<Argument> &args,
                                 const Target &target = get_jit_target_from_environment(),
                                 Location at = Here::current());
    JITHandlers &jit_handlers(Location at = Here::current());
    void set_jit_externs(const std::map<std::string, JITExtern> &externs,
                         Location at = Here::current());
    std::vector<Argument> infer_arguments(Location at = Here::current()) const;
    void print_loop_nest(Location at = Here::current());
    std::string loop_nest(Location at = Here::current()) const;
    Pipeline pipeline(Location at = Here::current()) const;
    std::string schedule_as_cpp(Location at = Here::current()) const;
    std::string schedule_as_python(Location at = Here::current()) const;
    std::string schedule_as_json(Location at = Here::current()) const;
    void apply_schedule(const std::string &json, const std::vector<Argument> &more = {},
                        Location at = Here::current());
    Func &add_requirement(const WrittenExpr &condition, const std::vector<Expr> &message = {});
    template<std::convertible_to<Expr>... Args>
    Func &add_requirement(const WrittenExpr &condition, const Expr &first, const Args &...rest) {
        return add_requirement(condition, std::vector<Expr>{first, Expr(rest)...});
    }
    template<ir::StmtPass P, typename... Deleter>
    void add_custom_lowering_pass(P *pass, Deleter &&...deleter) {
        own_pipeline().add_custom_lowering_pass(pass, std::forward<Deleter>(deleter)...);
    }
    void clear_custom_lowering_passes() { own_pipeline().clear_custom_lowering_passes(); }

    void compile_to_lowered_stmt(const std::string &path, const std::vector<Argument> &args = {},
                                 StmtOutputFormat format = Text, const Target &target = Target(),
                                 Location at = Here::current());
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
    void compile_to_header(const std::string &path, const std::vector<Argument> &args,
                           const std::string &function = "",
                           const Target &target = get_target_from_environment(),
                           Location at = Here::current());
    void compile_to_c(const std::string &path, const std::vector<Argument> &args,
                      const std::string &function = "",
                      const Target &target = get_target_from_environment(),
                      Location at = Here::current());
    void compile_to_file(const std::string &prefix, const std::vector<Argument> &args,
                         const std::string &function = "",
                         const Target &target = get_target_from_environment(),
                         Location at = Here::current());
    void compile_to_static_library(const std::string &prefix, const std::vector<Argument> &args,
                                   const std::string &function = "",
                                   const Target &target = get_target_from_environment(),
                                   Location at = Here::current());
    void compile_to_multitarget_static_library(const std::string &prefix,
                                               const std::vector<Argument> &args,
                                               const std::vector<Target> &targets,
                                               const std::string &function = "",
                                               Location at = Here::current());
    void compile_to_multitarget_object_files(const std::string &prefix,
                                             const std::vector<Argument> &args,
                                             const std::vector<Target> &targets,
                                             const std::vector<std::string> &suffixes = {},
                                             const std::string &function = "",
                                             Location at = Here::current());
    void compile_to(const std::map<OutputFileType, std::string> &files,
                    const std::vector<Argument> &args, const std::string &function = "",
                    const Target &target = get_target_from_environment(),
                    Location at = Here::current());

    std::string compile_to_string(OutputFileType type, const std::vector<Argument> &args = {},
                                  const std::string &function = "",
                                  const Target &target = get_target_from_environment(),
                                  Location at = Here::current()) const;
    Module compile_to_module(const std::vector<Argument> &args, const std::string &name = "",
                             const Target &target = get_target_from_environment(),
                             Location at = Here::current());

    // For a target, with the pipeline's name.
    void compile_to_bitcode(const std::string &path, const std::vector<Argument> &args,
                            const Target &target, Location at = Here::current()) {
        compile_to_bitcode(path, args, "", target, at);
    }
    void compile_to_llvm_assembly(const std::string &path, const std::vector<Argument> &args,
                                  const Target &target, Location at = Here::current()) {
        compile_to_llvm_assembly(path, args, "", target, at);
    }
    void compile_to_object(const std::string &path, const std::vector<Argument> &args,
                           const Target &target, Location at = Here::current()) {
        compile_to_object(path, args, "", target, at);
    }
    void compile_to_assembly(const std::string &path, const std::vector<Argument> &args,
                             const Target &target, Location at = Here::current()) {
        compile_to_assembly(path, args, "", target, at);
    }

    const program::StageRef scheduled(Location at) const;

private:
    static Func from_image(const BufferContentsRef &image, Location at);
    Func &apply(const program::FuncDirective &directive, Location at,
                const Ref<program::LateLevel> &late = {});
    const program::Definition &update_definition(int i, Location at) const;
    void require_defined(const char *what, Location at) const;
    Pipeline &own_pipeline(const Location &at = {}) const;

    program::FunctionRef contents;
    std::shared_ptr<Pipeline> own = std::make_shared<Pipeline>();  // of all copies of the handle
};

// f() of one value, as a number of that type.
template<typename T>
T evaluate(const Expr &e) {
    Func f;
    f() = e;
    Buffer<T> result = f.realize();
    return result();
}
template<typename T>
T evaluate(JITUserContext *context, const Expr &e) {
    Func f;
    f() = e;
    Buffer<T> result = f.realize(context);
    return result();
}
namespace detail {
template<typename... Numbers>
void read_values(const Realization &results, Numbers *...numbers) {
    size_t i = 0;
    ((*numbers = Buffer<Numbers>(results[i++])()), ...);
}
}  // namespace detail
// f() of several values, each as a number of its type.
template<typename First, typename... Rest>
requires(std::is_arithmetic_v<First> && (std::is_arithmetic_v<std::remove_pointer_t<Rest>> && ...))
void evaluate(const Tuple &values, First *first, Rest... rest) {
    Func f;
    f() = values;
    detail::read_values(f.realize(), first, rest...);
}
// The same on the GPU, where the target of the environment has one.
template<typename T>
T evaluate_may_gpu(const Expr &e) {
    Func f;
    f() = e;
    if (get_jit_target_from_environment().has_gpu_feature()) f.gpu_single_thread();
    Buffer<T> result = f.realize();
    return result();
}
template<typename First, typename... Rest>
void evaluate_may_gpu(const Tuple &values, First *first, Rest... rest) {
    Func f;
    f() = values;
    if (get_jit_target_from_environment().has_gpu_feature()) f.gpu_single_thread();
    detail::read_values(f.realize(), first, rest...);
}

}  // namespace tessera

namespace tessera::ir {  // as in lang/operators.h

using tessera::evaluate;
using tessera::evaluate_may_gpu;

}  // namespace tessera::ir
