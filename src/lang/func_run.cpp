#include "lang/func.h"
#include "lang/pipeline_contents.h"
#include <mutex>

namespace tessera {

// The pipeline of this Func alone; made when it is first needed.
Pipeline &Func::own_pipeline(const Location &at) const {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    if (!own->defined()) *own = Pipeline(*this, at);
    return *own;
}

Pipeline Func::pipeline(Location at) const { return own_pipeline(at); }

Realization Func::realize(const std::vector<int32_t> &sizes, const Target &target, Location at) {
    return own_pipeline(at).realize(sizes, target, at);
}
Realization Func::realize(JITUserContext *context, const std::vector<int32_t> &sizes,
                          const Target &target, Location at) {
    return own_pipeline(at).realize(context, sizes, target, at);
}
void Func::realize(const RealizationArg &outputs, const Target &target, Location at) {
    own_pipeline(at).realize(outputs, target, at);
}
void Func::realize(JITUserContext *context, const RealizationArg &outputs, const Target &target,
                   Location at) {
    own_pipeline(at).realize(context, outputs, target, at);
}
void Func::infer_input_bounds(const std::vector<int32_t> &sizes, const Target &target,
                              Location at) {
    own_pipeline(at).infer_input_bounds(sizes, target, at);
}
void Func::infer_input_bounds(JITUserContext *context, const std::vector<int32_t> &sizes,
                              const Target &target, Location at) {
    own_pipeline(at).infer_input_bounds(context, sizes, target, at);
}
void Func::infer_input_bounds(const RealizationArg &outputs, const Target &target, Location at) {
    own_pipeline(at).infer_input_bounds(outputs, target, at);
}
void Func::infer_input_bounds(JITUserContext *context, const RealizationArg &outputs,
                              const Target &target, Location at) {
    own_pipeline(at).infer_input_bounds(context, outputs, target, at);
}
void Func::compile_jit(const Target &target, Location at) {
    own_pipeline(at).compile_jit(target, at);
}
Callable Func::compile_to_callable(const std::vector<Argument> &args, const Target &target,
                                   Location at) {
    return own_pipeline(at).compile_to_callable(args, target, at);
}
JITHandlers &Func::jit_handlers(Location at) { return own_pipeline(at).jit_handlers(at); }
void Func::set_jit_externs(const std::map<std::string, JITExtern> &externs, Location at) {
    own_pipeline(at).set_jit_externs(externs, at);
}
std::vector<Argument> Func::infer_arguments(Location at) const {
    return own_pipeline(at).infer_arguments(at);
}
void Func::print_loop_nest(Location at) { own_pipeline(at).print_loop_nest(at); }
std::string Func::loop_nest(Location at) const { return own_pipeline(at).loop_nest(at); }
std::string Func::schedule_as_cpp(Location at) const {
    return own_pipeline(at).schedule_as_cpp(at);
}
std::string Func::schedule_as_python(Location at) const {
    return own_pipeline(at).schedule_as_python(at);
}
std::string Func::schedule_as_json(Location at) const {
    return own_pipeline(at).schedule_as_json(at);
}
void Func::apply_schedule(const std::string &json, const std::vector<Argument> &more, Location at) {
    own_pipeline(at).apply_schedule(json, more, at);
}
Func &Func::add_requirement(const WrittenExpr &condition, const std::vector<Expr> &message) {
    own_pipeline(condition.at).add_requirement(condition, message);
    return *this;
}

void Func::compile_to_lowered_stmt(const std::string &path, const std::vector<Argument> &args,
                                   StmtOutputFormat format, const Target &target, Location at) {
    own_pipeline(at).compile_to_lowered_stmt(path, args, format, target, at);
}
void Func::compile_to_conceptual_stmt(const std::string &path, const std::vector<Argument> &args,
                                      StmtOutputFormat format, const Target &target, Location at) {
    own_pipeline(at).compile_to_conceptual_stmt(path, args, format, target, at);
}
void Func::compile_to_llvm_assembly(const std::string &path, const std::vector<Argument> &args,
                                    const std::string &function, const Target &target,
                                    Location at) {
    own_pipeline(at).compile_to_llvm_assembly(path, args, function, target, at);
}
void Func::compile_to_assembly(const std::string &path, const std::vector<Argument> &args,
                               const std::string &function, const Target &target, Location at) {
    own_pipeline(at).compile_to_assembly(path, args, function, target, at);
}
void Func::compile_to_object(const std::string &path, const std::vector<Argument> &args,
                             const std::string &function, const Target &target, Location at) {
    own_pipeline(at).compile_to_object(path, args, function, target, at);
}
void Func::compile_to_bitcode(const std::string &path, const std::vector<Argument> &args,
                              const std::string &function, const Target &target, Location at) {
    own_pipeline(at).compile_to_bitcode(path, args, function, target, at);
}
void Func::compile_to_header(const std::string &path, const std::vector<Argument> &args,
                             const std::string &function, const Target &target, Location at) {
    own_pipeline(at).compile_to_header(path, args, function, target, at);
}
void Func::compile_to_c(const std::string &path, const std::vector<Argument> &args,
                        const std::string &function, const Target &target, Location at) {
    own_pipeline(at).compile_to_c(path, args, function, target, at);
}
void Func::compile_to_file(const std::string &prefix, const std::vector<Argument> &args,
                           const std::string &function, const Target &target, Location at) {
    own_pipeline(at).compile_to_file(prefix, args, function, target, at);
}
void Func::compile_to_static_library(const std::string &prefix, const std::vector<Argument> &args,
                                     const std::string &function, const Target &target,
                                     Location at) {
    own_pipeline(at).compile_to_static_library(prefix, args, function, target, at);
}
void Func::compile_to_multitarget_static_library(const std::string &prefix,
                                                 const std::vector<Argument> &args,
                                                 const std::vector<Target> &targets,
                                                 const std::string &function, Location at) {
    own_pipeline(at).compile_to_multitarget_static_library(prefix, args, targets, function, at);
}
void Func::compile_to_multitarget_object_files(const std::string &prefix,
                                               const std::vector<Argument> &args,
                                               const std::vector<Target> &targets,
                                               const std::vector<std::string> &suffixes,
                                               const std::string &function, Location at) {
    own_pipeline(at).compile_to_multitarget_object_files(prefix, args, targets, suffixes, function,
                                                         at);
}
void Func::compile_to(const std::map<OutputFileType, std::string> &files,
                      const std::vector<Argument> &args, const std::string &function,
                      const Target &target, Location at) {
    own_pipeline(at).compile_to(files, args, function, target, at);
}
std::string Func::compile_to_string(OutputFileType type, const std::vector<Argument> &args,
                                    const std::string &function, const Target &target,
                                    Location at) const {
    return own_pipeline(at).compile_to_string(type, args, function, target, at);
}

}  // namespace tessera
