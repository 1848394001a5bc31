#include "lower/nest/extern_stage.h"
#include "ir/cpp_name.h"
#include "ir/operators.h"
#include "lower/checks/errors.h"

namespace tessera::lower {

using namespace ir;
using program::ExternFuncArgument;
using program::FunctionContents;

namespace {

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

std::vector<Range> ranges_of(const Region &region) {
    std::vector<Range> all;
    for (size_t d = 0; d < region.min.size(); d++) {
        all.push_back({region.min[d], region.max[d] - region.min[d] + 1});
    }
    return all;
}

Expr extern_call(const FunctionContents &f, std::vector<Expr> args, const Context &context) {
    if (f.extern_definition->uses_user_context) {
        args.insert(args.begin(), call(Handle(), Intrinsic::user_context, {}));
    }
    return ExternCall::make(Int(32), linked_name(f, context.target), std::move(args), false);
}

Stmt check_result(const FunctionContents &f, const Expr &result, const char *error) {
    Expr name(f.extern_definition->function);
    return AssertStmt::make(result == 0, error_call(error, {name, result}));
}

Range range_of(Symbol buffer, int d) {
    return {BufferProperty::make(buffer, BufferField::Min, d),
            BufferProperty::make(buffer, BufferField::Extent, d)};
}

// What a query asks of an image: all that there is, unless the stage sets what it needs.
std::vector<Range> ranges_of_image(Symbol buffer, int dimensions) {
    std::vector<Range> all;
    for (int d = 0; d < dimensions; d++) all.push_back(range_of(buffer, d));
    return all;
}

}  // namespace

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

ExternQuery query_extern_stage(const FunctionContents &f, const Region &region,
                               const Context &context) {
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
        Box box;
        for (int d = 0; d < int(ranges.size()); d++) {
            Range r = range_of(buffer, d);
            box.push_back({r.min, r.min + r.extent - 1});
        }
        include(query.inputs[input], box);
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
    for (Type type : f.types) bind_buffer(f.name, type, ranges_of(region));
    Expr result = bind(str(f.name, ".query_result"), extern_call(f, std::move(args), context));
    query.check = check_result(f, result, "bounds_query_failed");
    return query;
}

Stmt call_extern_stage(const FunctionContents &f, const Region &region, const Context &context) {
    std::vector<Binding> lets;
    std::vector<Expr> args;
    for (const ExternFuncArgument &a : f.extern_definition->args) {
        if (a.scalar.defined()) args.push_back(a.scalar);
        if (a.buffer) args.push_back(Variable::make(Handle(), a.buffer->name, a.buffer));
        for (size_t k = 0; a.func && k < a.func->types.size(); k++) {
            args.push_back(Variable::make(Handle(), context.buffer_of(a.func->name, int(k))));
        }
    }
    for (size_t k = 0; k < f.types.size(); k++) {
        Symbol buffer = context.buffer_of(f.name, int(k));
        std::vector<Expr> strides;
        for (size_t d = 0; d < f.args.size(); d++) {
            strides.push_back(BufferProperty::make(buffer, BufferField::Stride, int(d)));
        }
        Expr first = Call::make(f.types[k], f.name, CallKind::Func, int(k), region.min);
        Expr host = call(Handle(), Intrinsic::address_of, {first});
        lets.push_back({Symbol::fresh(str(f.name, ".output")),
                        make_buffer(host, f.types[k], ranges_of(region), strides)});
        args.push_back(Variable::make(Handle(), lets.back().symbol));
    }
    lets.push_back(
        {Symbol::fresh(str(f.name, ".result")), extern_call(f, std::move(args), context)});
    Stmt s = check_result(f, Variable::make(Int(32), lets.back().symbol), "extern_stage_failed");
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
        s = LetStmt::make(let->symbol, let->value, s);
    }
    return s;
}

}  // namespace tessera::lower
