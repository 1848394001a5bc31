#include "lower/nest/extern_stage.h"
#include "base/dialect.h"
#include "ir/cpp_name.h"
#include "ir/operators.h"
#include "lower/checks/errors.h"
#include "lower/storage/production_path.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;
using program::ExternFuncArgument;
using program::FunctionContents;

namespace {

bool is_copy(const FunctionContents &f) {
    return f.extern_definition->copy != program::CopySide::None;
}

Expr null_pointer() { return make_zero(Handle()); }

// A tessera_buffer_t over the region.
Expr make_buffer(const Expr &host, Type type, const std::vector<Range> &region,
                 const std::vector<Expr> &strides) {
    std::vector<Expr> args{host, int(type.code()), type.bits(), int(region.size())};
    for (size_t d = 0; d < region.size(); d++) {
        args.push_back(region[d].min);
        args.push_back(region[d].extent);
        args.push_back(strides[d]);
    }
    return call(Handle(), Intrinsic::make_buffer, std::move(args));
}

std::vector<Range> ranges_of(const StageRegion &region) {
    std::vector<Range> all;
    for (size_t d = 0; d < region.min.size(); d++) {
        all.push_back({region.min[d], region.max[d] - region.min[d] + 1});
    }
    return all;
}

Expr extern_call(const FunctionContents &f, std::vector<Expr> args, bool is_query,
                 const ProgramContext &context) {
    if (is_copy(f)) {
        args.emplace_back(int32_t(f.extern_definition->copy == program::CopySide::Device));
        return call(Int(32), Intrinsic::device_buffer_copy, std::move(args));
    }
    if (f.extern_definition->uses_user_context) {
        args.insert(args.begin(), call(Handle(), Intrinsic::user_context, {}));
    }
    const Expr c =
        ExternCall::make(Int(32), linked_name(f, context.target), std::move(args), false);
    return f.extern_definition->on_device && !is_query ? call(Int(32), Intrinsic::on_device, {c})
                                                       : c;
}

Stmt check_result(const FunctionContents &f, const Expr &result, const char *error) {
    // The copying function has reported what went wrong.
    if (is_copy(f)) return AssertStmt::make(result == 0, result);
    Expr name(f.extern_definition->function);
    return AssertStmt::make(result == 0, error_call(error, {name, result}));
}

Range range_of(Symbol buffer, int d) {
    return {BufferProperty::make(buffer, BufferField::Min, d),
            BufferProperty::make(buffer, BufferField::Extent, d)};
}

// Returns what a query asks of an image: all that there is, unless the stage sets what it needs.
std::vector<Range> ranges_of_image(Symbol buffer, int dimensions) {
    std::vector<Range> all;
    for (int d = 0; d < dimensions; d++) all.push_back(range_of(buffer, d));
    return all;
}

}  // namespace

Box held_of(Symbol buffer, int dimensions) {
    Box box;
    for (const Range &r : ranges_of_image(buffer, dimensions)) {
        box.push_back({r.min, r.min + r.extent - 1});
    }
    return box;
}

bool is_asked(const FunctionContents &f) {
    const program::ExternDefinition &e = *f.extern_definition;
    bool reads =
        std::ranges::any_of(e.args, [](const ExternFuncArgument &a) { return a.buffer || a.func; });
    return reads || follows_halide(e.written);
}

bool may_enlarge(const FunctionContents &f, const ProgramContext &context) {
    if (is_copy(f)) return false;
    const program::FuncSchedule &s = f.schedule;
    const bool is_sized_by_run = traits_of(s.memory).may_be_of_any_size;
    return !context.is_output(f.name) && !is_stored_outside(f) && !s.hoist_level_set &&
           is_sized_by_run;
}

std::string linked_name(const FunctionContents &f, const Target &target) {
    const program::ExternDefinition &e = *f.extern_definition;
    bool mangled = e.mangling == NameMangling::Default
                       ? target.has_feature(Target::CPlusPlusMangling)
                       : e.mangling == NameMangling::CPlusPlus;
    if (!mangled && e.function.find("::") != std::string::npos) {
        throw CompileError(e.written, str("define_extern: ", e.function,
                                          " is in a namespace, as no "
                                          "function of C is; say NameMangling::CPlusPlus"));
    }
    if (!mangled) return e.function;
    std::vector<std::string> types;
    if (e.uses_user_context) types.push_back(cpp_scalar(Handle()));
    for (const ExternFuncArgument &a : e.args) {
        if (a.scalar.defined()) types.push_back(cpp_scalar(a.scalar.type()));
        size_t buffers = a.buffer ? 1 : a.func ? a.func->types.size() : 0;
        types.insert(types.end(), buffers, cpp_buffer);
    }
    types.insert(types.end(), f.types.size(), cpp_buffer);
    return mangled_name(e.function, types);
}

namespace {

// It reads what it writes.
ExternQuery query_copy(const FunctionContents &f, const StageRegion &region) {
    ExternQuery query;
    for (size_t d = 0; d < region.min.size(); d++) {
        query.outputs.push_back({region.min[d], region.max[d]});
    }
    const ExternFuncArgument &source = f.extern_definition->args[0];
    query.inputs[source.func ? source.func->name : source.buffer->name] = query.outputs;
    query.check = no_op();
    return query;
}

}  // namespace

ExternQuery query_extern_stage(const FunctionContents &f, const StageRegion &region,
                               const ProgramContext &context) {
    if (is_copy(f)) return query_copy(f, region);
    ExternQuery query;
    std::vector<Expr> args;
    auto bind = [&](const std::string &name, const Expr &value) {
        query.lets.push_back({Symbol::fresh(name), value});
        return Variable::make(value.type(), query.lets.back().symbol);
    };
    // A buffer without memory.
    auto bind_buffer = [&](Symbol of, Type type, const std::vector<Range> &ranges) {
        std::vector<Expr> strides(ranges.size(), 0);
        args.push_back(bind(str(of, ".query"), make_buffer(null_pointer(), type, ranges, strides)));
        return query.lets.back().symbol;
    };
    auto ask = [&](Symbol input, Type type, const std::vector<Range> &ranges) {
        Symbol buffer = bind_buffer(input, type, ranges);
        include(query.inputs[input], held_of(buffer, int(ranges.size())));
    };
    for (const ExternFuncArgument &a : f.extern_definition->args) {
        if (a.scalar.defined()) args.push_back(a.scalar);
        if (a.buffer) {
            ask(a.buffer->name, a.buffer->type,
                ranges_of_image(a.buffer->name, a.buffer->dimensions));
        }
        for (size_t k = 0; a.func && k < a.func->types.size(); k++) {
            ask(a.func->name, a.func->types[k],
                std::vector<Range>(size_t(a.func->dimensions()), Range{0, 0}));
        }
    }
    for (size_t d = 0; d < region.min.size(); d++) {
        query.outputs.push_back({region.min[d], region.max[d]});
    }
    for (Type type : f.types) {
        Symbol buffer = bind_buffer(f.name, type, ranges_of(region));
        include(query.outputs, held_of(buffer, f.dimensions()));
    }
    Expr result =
        bind(str(f.name, ".query_result"), extern_call(f, std::move(args), true, context));
    query.check = check_result(f, result, "bounds_query_failed");
    return query;
}

Stmt check_not_enlarged(const FunctionContents &f, const StageRegion &region, const Box &answer) {
    std::vector<Stmt> checks;
    for (size_t d = 0; d < answer.size(); d++) {
        const auto &[first, last] = answer[d];
        Expr is_same = first >= region.min[d] && last <= region.max[d];
        checks.push_back(AssertStmt::make(
            is_same, error_call_at(f.extern_definition->written, "extern_stage_enlarged",
                                   {Expr(f.extern_definition->function), Expr(f.name.text()),
                                    Expr(int32_t(d)), first, last, region.min[d], region.max[d]})));
    }
    return Block::make(std::move(checks));
}

const Call *first_of_passed_buffer(const Expr &e) {
    const auto *made = e.as<IntrinsicCall>();
    if (!made || made->op != Intrinsic::make_buffer) return nullptr;
    const auto *host = made->args[0].as<IntrinsicCall>();
    return host && host->op == Intrinsic::address_of ? host->args[0].as<Call>() : nullptr;
}

Stmt check_input_holds(const FunctionContents &f, Symbol input, const Box &wanted,
                       const Box &held) {
    std::vector<Stmt> checks;
    Expr is_nothing = const_false();
    for (const algebra::Interval &i : wanted) is_nothing = is_nothing || i.min > i.max;
    for (size_t d = 0; d < wanted.size(); d++) {
        Expr holds = is_nothing || (wanted[d].min >= held[d].min && wanted[d].max <= held[d].max);
        checks.push_back(AssertStmt::make(
            holds, error_call_at(f.extern_definition->written, "extern_stage_input_too_small",
                                 {Expr(f.extern_definition->function), Expr(input.text()),
                                  Expr(int32_t(d)), wanted[d].min, wanted[d].max, held[d].min,
                                  held[d].max})));
    }
    return Block::make(std::move(checks));
}

namespace {

StageRegion region_of(const Box &box) {
    StageRegion region;
    for (const algebra::Interval &i : box) {
        region.min.push_back(i.min);
        region.max.push_back(i.max);
    }
    return region;
}

// A tessera_buffer_t over a region of what is stored of value k of a function.
Expr part_of(const FunctionContents &f, int k, const StageRegion &region,
             const ProgramContext &context) {
    const Symbol buffer = context.buffer_of(f.name, k);
    std::vector<Expr> strides;
    for (int d = 0; d < f.dimensions(); d++) {
        strides.push_back(BufferProperty::make(buffer, BufferField::Stride, d));
    }
    Expr first = Call::make(f.types[size_t(k)], f.name, CallKind::Func, k, region.min);
    Expr host = call(Handle(), Intrinsic::address_of, {first});
    return make_buffer(host, f.types[size_t(k)], ranges_of(region), strides);
}

}  // namespace

namespace {

// A tessera_buffer_t over all of an image.
Expr whole_image(program::Parameter &image) {
    std::vector<Expr> first, strides;
    const std::vector<Range> ranges = ranges_of_image(image.name, image.dimensions);
    for (int d = 0; d < image.dimensions; d++) {
        first.push_back(ranges[size_t(d)].min);
        strides.push_back(BufferProperty::make(image.name, BufferField::Stride, d));
    }
    const Expr element =
        Call::make(image.type, image.name, CallKind::Image, 0, first, Ref<Referent>(&image));
    return make_buffer(call(Handle(), Intrinsic::address_of, {element}), image.type, ranges,
                       strides);
}

}  // namespace

Stmt call_extern_stage(const FunctionContents &f, const StageRegion &region,
                       const std::unordered_map<Symbol, Box> &inputs,
                       const ProgramContext &context) {
    std::vector<Binding> lets;
    std::vector<Expr> args;
    // If memory may be on a device, each call has buffers of its own, for while it runs.
    const bool is_by_side = f.extern_definition->on_device || is_copy(f);
    auto pass = [&](const char *name, const Expr &buffer) {
        lets.push_back({Symbol::fresh(str(f.name, name)), buffer});
        args.push_back(Variable::make(Handle(), lets.back().symbol));
    };
    for (const ExternFuncArgument &a : f.extern_definition->args) {
        if (a.scalar.defined()) args.push_back(a.scalar);
        if (a.buffer && is_by_side)
            pass(".input", whole_image(*a.buffer));
        else if (a.buffer)
            args.push_back(Variable::make(Handle(), a.buffer->name, a.buffer));
        if (!a.func) continue;
        auto part = inputs.find(a.func->name);
        for (size_t k = 0; k < a.func->types.size(); k++) {
            if (part != inputs.end()) {
                pass(".input", part_of(*a.func, int(k), region_of(part->second), context));
            } else if (is_by_side) {
                const Box held = held_of(a.func->name, a.func->dimensions());
                pass(".input", part_of(*a.func, int(k), region_of(held), context));
            } else {
                args.push_back(Variable::make(Handle(), context.buffer_of(a.func->name, int(k))));
            }
        }
    }
    for (size_t k = 0; k < f.types.size(); k++) {
        pass(".output", part_of(f, int(k), region, context));
    }
    lets.push_back(
        {Symbol::fresh(str(f.name, ".result")), extern_call(f, std::move(args), false, context)});
    Stmt s = check_result(f, Variable::make(Int(32), lets.back().symbol), "extern_stage_failed");
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
        s = LetStmt::make(let->symbol, let->value, s);
    }
    return s;
}

}  // namespace tessera::lower
