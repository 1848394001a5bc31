#include "lang/func.h"
#include "lang/image_param.h"
#include "program/define.h"
#include "program/wrappers.h"

namespace tessera {
namespace {

Symbol func_symbol(const std::string &name) {
    return Symbol::fresh(name.empty() ? detail::unique_name("f") : name);
}

std::vector<program::FunctionRef> functions_of(const std::vector<Func> &funcs) {
    std::vector<program::FunctionRef> result;
    for (const Func &f : funcs) result.push_back(f.function());
    return result;
}

}  // namespace

ExternFuncArgument::ExternFuncArgument(const Func &f) { func = f.function(); }
ExternFuncArgument::ExternFuncArgument(const ImageParam &image, Location at) {
    buffer = image.parameter(at);
}
ExternFuncArgument::ExternFuncArgument(const Buffer<> &b, Location at) {
    if (!b.defined()) throw CompileError(at, "define_extern: a Buffer is undefined");
    buffer = embedded_parameter(b.shared_contents());
}

Func::Func() : Func(std::string()) {}
Func::Func(const std::string &name) : contents(program::make_function(func_symbol(name))) {}
Func::Func(Type type, int dimensions, const std::string &name)
    : Func(std::vector<Type>{type}, dimensions, name) {}
Func::Func(const std::vector<Type> &types, int dimensions, const std::string &name) : Func(name) {
    contents->required_types = types;
    contents->required_dimensions = dimensions;
}
Func::Func(const Expr &e, Location at) : Func() { (*this)(std::vector<Expr>{_}, at) = e; }

Func Func::from_image(const BufferContentsRef &image, Location at) {
    if (!image) throw CompileError(at, "Func: the Buffer is undefined");
    std::vector<Expr> args;
    for (int i = 0; i < image->dimensions(); i++) args.push_back(Var::implicit(i));
    Func f(image->name + "_im");
    f(args, at) = image_element(image, args, at);
    return f;
}

const program::StageRef Func::scheduled(Location at) const {
    require_defined("a schedule", at);
    return program::stage_of(contents, 0);
}

void Func::require_defined(const char *what, Location at) const {
    if (defined()) return;
    throw CompileError(at, str(what, " of ", name(), ", which has no definition yet"));
}

void Func::define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                         const std::vector<Type> &types, const std::vector<Var> &dimensions,
                         NameMangling mangling, DeviceAPI device, Location at) {
    program::ExternDefinition definition;
    definition.on_device = device != DeviceAPI::Host && device != DeviceAPI::None;
    if (definition.on_device) detail::require_cuda(device, "define_extern", at);
    definition.function = function;
    definition.args.assign(args.begin(), args.end());
    definition.written = at;
    definition.mangling = mangling;
    for (const ExternFuncArgument &arg : args) {
        if (arg.func != contents || !arg.func) continue;
        throw CompileError(at, str("define_extern: ", name(), " is an argument of itself"));
    }
    std::vector<Symbol> vars;
    for (const Var &v : dimensions) vars.push_back(v.symbol());
    program::define_extern(*contents, vars, types, std::move(definition));
}
void Func::define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                         Type type, const std::vector<Var> &dimensions, NameMangling mangling,
                         DeviceAPI device, Location at) {
    define_extern(function, args, std::vector<Type>{type}, dimensions, mangling, device, at);
}
void Func::define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                         const std::vector<Type> &types, int dimensions, NameMangling mangling,
                         DeviceAPI device, Location at) {
    std::vector<Var> vars;
    for (int i = 0; i < dimensions; i++) vars.push_back(Var::implicit(i));
    define_extern(function, args, types, vars, mangling, device, at);
}
void Func::define_extern(const std::string &function, const std::vector<ExternFuncArgument> &args,
                         Type type, int dimensions, NameMangling mangling, DeviceAPI device,
                         Location at) {
    define_extern(function, args, std::vector<Type>{type}, dimensions, mangling, device, at);
}

// ---- What it is ----

std::vector<Var> Func::args() const {
    std::vector<Var> result;
    for (Symbol s : contents->args) result.emplace_back(s);
    return result;
}

Expr Func::value(Location at) const {
    Tuple all = values(at);
    if (all.size() == 1) return all[0];
    throw CompileError(at, str(name(), " has ", all.size(), " values; ask for values()"));
}
Tuple Func::values(Location at) const {
    require_defined("the value", at);
    if (is_extern()) throw CompileError(at, str(name(), " is computed by an extern function"));
    return Tuple(contents->stages[0]->values);
}
const std::vector<Type> &Func::types(Location at) const {
    if (!contents->types.empty() || contents->required_types.empty()) {
        require_defined("the type", at);
        return contents->types;
    }
    return contents->required_types;
}
Type Func::type(Location at) const {
    if (types(at).size() == 1) return types()[0];
    throw CompileError(at, str(name(), " has ", types().size(), " values; ask for types()"));
}
int Func::num_update_definitions() const { return std::max(0, int(contents->stages.size()) - 1); }

// Returns the number of updates, for messages.
static std::string updates_of(const Func &f) {
    const int n = f.num_update_definitions();
    if (n > 0) return str(n, " update definition", n == 1 ? "" : "s", ", counted from 0");
    return str("0 update definitions: each definition after the first is one, as in ", f.name(),
               "(...) += 1. The schedule of the first is written without update()");
}

const program::Definition &Func::update_definition(int i, Location at) const {
    if (i >= 0 && i < num_update_definitions()) return *contents->stages[size_t(i) + 1];
    throw CompileError(at, str(name(), " has no update ", i, "; it has ", updates_of(*this)));
}
const std::vector<Expr> &Func::update_args(int i, Location at) const {
    return update_definition(i, at).args;
}
Tuple Func::update_values(int i, Location at) const {
    return Tuple(update_definition(i, at).values);
}
Expr Func::update_value(int i, Location at) const {
    Tuple all = update_values(i, at);
    if (all.size() == 1) return all[0];
    throw CompileError(at, str(name(), " has ", all.size(), " values; ask for update_values()"));
}
std::vector<RVar> Func::rvars(int i, Location at) const {
    const program::Definition &d = update_definition(i, at);
    std::vector<Expr> all = d.args;
    all.insert(all.end(), d.values.begin(), d.values.end());
    program::ReductionDomainRef domain = program::domain_of(all, {});
    std::vector<RVar> result;
    for (size_t k = 0; k < d.reduction.size(); k++) {
        result.push_back(domain ? RVar(domain, int(k)) : RVar(d.reduction[k].var));
    }
    return result;
}
const std::string &Func::extern_function_name(Location at) const {
    if (is_extern()) return contents->extern_definition->function;
    throw CompileError(at, str(name(), " is not computed by an extern function"));
}

// ---- Schedule ----

Stage Func::update(int i, Location at) const {
    if (i < 0 || i >= num_update_definitions()) {
        throw CompileError(at,
                           str("update(", i, ") of ", name(), ", which has ", updates_of(*this)));
    }
    return Stage(program::stage_of(contents, i + 1));
}

Func &Func::apply(const program::FuncDirective &directive, Location at,
                  const Ref<program::LateLevel> &late) {
    program::apply(*contents, directive, at, late);
    return *this;
}

namespace {

Expr required(const Expr &e, const char *directive, const char *what, Location at) {
    if (e.defined()) return e;
    throw CompileError(at, str(directive, ": the ", what, " is an undefined Expr"));
}

}  // namespace

Func &Func::bound(const Var &v, const Expr &min, const Expr &extent, Location at) {
    return apply(
        program::BoundDirective{v.symbol(), min, required(extent, "bound", "extent", at), {}, {}},
        at);
}
Func &Func::bound_extent(const Var &v, const Expr &extent, Location at) {
    return bound(v, Expr(), extent, at);
}
Func &Func::align_bounds(const Var &v, const Expr &modulus, const Expr &remainder, Location at) {
    return apply(program::BoundDirective{v.symbol(),
                                         {},
                                         {},
                                         required(modulus, "align_bounds", "modulus", at),
                                         required(remainder, "align_bounds", "remainder", at)},
                 at);
}
Func &Func::align_extent(const Var &v, const Expr &modulus, Location at) {
    return apply(
        program::BoundDirective{
            v.symbol(), {}, {}, required(modulus, "align_extent", "modulus", at), {}},
        at);
}
Func &Func::set_estimate(const Var &v, const Expr &min, const Expr &extent, Location at) {
    return apply(program::EstimateDirective{v.symbol(), min, extent}, at);
}
Func &Func::set_estimates(const Region &estimates, Location at) {
    if (!defined())
        throw CompileError(at, str("set_estimates: ", name(), " has no definition yet"));
    if (int(estimates.size()) != dimensions()) {
        throw CompileError(at, str("set_estimates: ", estimates.size(), " estimates, but ", name(),
                                   " has ", dimensions(), " dimensions"));
    }
    for (size_t i = 0; i < estimates.size(); i++) {
        set_estimate(Var(contents->args[i]), estimates[i].min, estimates[i].extent, at);
    }
    return *this;
}

Func &Func::compute_root(Location at) {
    return apply(program::ComputeLevel{program::LoopLevel::root()}, at);
}
Func &Func::compute_at(const Func &f, const VarOrRVar &v, Location at) {
    return apply(program::ComputeLevel{LoopLevel(f, v, -1, at).now()}, at);
}
Func &Func::compute_at(const LoopLevel &level, Location at) {
    return apply(program::ComputeLevel{level.now()}, at, level.later());
}
Func &Func::compute_inline(Location at) {
    return apply(program::ComputeLevel{program::LoopLevel::inlined()}, at);
}
Func &Func::store_root(Location at) {
    return apply(program::StoreLevel{program::LoopLevel::root()}, at);
}
Func &Func::store_at(const Func &f, const VarOrRVar &v, Location at) {
    return apply(program::StoreLevel{LoopLevel(f, v, -1, at).now()}, at);
}
Func &Func::store_at(const LoopLevel &level, Location at) {
    return apply(program::StoreLevel{level.now()}, at, level.later());
}
Func &Func::hoist_storage_root(Location at) {
    return apply(program::HoistStorageLevel{program::LoopLevel::root()}, at);
}
Func &Func::hoist_storage(const Func &f, const VarOrRVar &v, Location at) {
    return apply(program::HoistStorageLevel{LoopLevel(f, v, -1, at).now()}, at);
}
Func &Func::hoist_storage(const LoopLevel &level, Location at) {
    return apply(program::HoistStorageLevel{level.now()}, at, level.later());
}
Func &Func::store_in(MemoryType memory, Location at) { return apply(program::StoreIn{memory}, at); }
Func &Func::fold_storage(const Var &v, const Expr &extent, bool fold_forward, Location at) {
    return apply(program::FoldStorage{v.symbol(), extent, fold_forward}, at);
}
Func &Func::ring_buffer(const Expr &extent, Location at) {
    return apply(program::RingBuffer{extent}, at);
}
Func &Func::async(Location at) { return apply(program::AsyncDirective{}, at); }
Func &Func::reorder_storage(const std::vector<Var> &dims, Location at) {
    program::ReorderStorage d;
    for (const Var &v : dims) d.vars.push_back(v.symbol());
    return apply(d, at);
}
Func &Func::align_storage(const Var &v, const Expr &alignment, Location at) {
    return apply(program::AlignStorage{v.symbol(), alignment}, at);
}
Func &Func::bound_storage(const Var &v, const Expr &bound, Location at) {
    return apply(program::BoundStorage{v.symbol(), bound}, at);
}

Func Func::in(const Func &consumer, Location at) { return in(std::vector<Func>{consumer}, at); }
Func Func::in(const std::vector<Func> &consumers, Location at) {
    if (consumers.empty()) throw CompileError(at, "in: the list of consumers is empty");
    return Func(program::wrap(contents, functions_of(consumers), at));
}
Func Func::in(Location at) { return Func(program::wrap(contents, {}, at)); }
Func Func::clone_in(const Func &consumer, Location at) {
    return clone_in(std::vector<Func>{consumer}, at);
}
Func Func::clone_in(const std::vector<Func> &consumers, Location at) {
    return Func(program::clone(contents, functions_of(consumers), at));
}

Func Func::copy_input(const Fetched &buffer, Location at) {
    return Stage(scheduled(at)).copy_input(buffer, at);
}

Func &Func::copy_to_device(DeviceAPI api, Location at) {
    detail::require_cuda(api, "copy_to_device", at);
    return apply(program::CopyToDevice{}, at);
}
Func &Func::copy_to_host(Location at) { return apply(program::CopyToHost{}, at); }

Func &Func::trace_loads(Location at) { return apply(program::Trace{true, false, false, ""}, at); }
Func &Func::trace_stores(Location at) { return apply(program::Trace{false, true, false, ""}, at); }
Func &Func::trace_realizations(Location at) {
    return apply(program::Trace{false, false, true, ""}, at);
}
Func &Func::add_trace_tag(const std::string &tag, Location at) {
    return apply(program::Trace{false, false, false, tag}, at);
}
Func &Func::no_profiling(Location at) { return apply(program::NoProfiling{}, at); }

OutputImageParam Func::output_buffer(Location at) const {
    require_defined("output_buffer", at);
    if (contents->output_buffers.size() == 1) return OutputImageParam(contents->output_buffers[0]);
    throw CompileError(at, str(name(), " has ", contents->output_buffers.size(),
                               " values; ask for output_buffers()"));
}
std::vector<OutputImageParam> Func::output_buffers(Location at) const {
    require_defined("output_buffers", at);
    std::vector<OutputImageParam> result;
    for (const program::ParameterRef &p : contents->output_buffers) result.emplace_back(p);
    return result;
}

}  // namespace tessera
