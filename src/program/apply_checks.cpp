#include "program/apply_checks.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor_inl.h"
#include "program/function.h"

namespace tessera::program {

void require_parameters_only(const ir::Expr &e, const char *directive, const Location &at) {
    if (!e.defined()) throw CompileError(at, str(directive, ": an undefined Expr"));
    auto refuse = [&](const std::string &what) {
        throw CompileError(at, str(directive, ": ", ir::brief(e, 100), " depends on ", what,
                                   "; only constants, parameters and sizes of input buffers are "
                                   "known before the pipeline runs"));
    };
    ir::for_each_node(e, [&](const ir::Variable &v) {
        if (!dynamic_cast<const Parameter *>(v.referent.get())) {
            refuse(str("the variable ", v.name));
        }
    });
    ir::for_each_node(e, [&](const ir::IntrinsicCall &c) {
        if (c.op == ir::Intrinsic::undef) refuse("an undefined value");
        if (c.op == ir::Intrinsic::random) refuse("a random number");
        if (c.op != ir::Intrinsic::gather && c.op != ir::Intrinsic::scatter) return;
        throw CompileError(at, str(directive, ": scatter and gather stand in the arguments and "
                                              "values of an update, and nowhere else"));
    });
    ir::for_each_node(e, [&](const ir::Call &c) {
        if (c.call_kind == CallKind::Func) refuse(str("values of ", c.callee));
    });
}

void require_factor(const ir::Expr &factor, const char *directive, const Location &at) {
    require_parameters_only(factor, directive, at);
    if (!factor.type().is_int_or_uint() || factor.type().is_vector()) {
        throw CompileError(at, str(directive, ": a factor is an integer, not a ", factor.type()));
    }
    auto value = ir::as_const_int(factor);
    if (value && (*value <= 0 || *value > INT32_MAX)) {
        throw CompileError(
            at, str(directive, ": the factor ", *value, " is not between 1 and ", INT32_MAX));
    }
}

ir::Expr to_int32(const ir::Expr &e, const std::string &what, const Location &at) {
    if (e.type() == Int(32)) return e;
    if (ir::is_const(e)) {
        auto value = ir::as_const_int(e);
        if (value && *value >= INT32_MIN && *value <= INT32_MAX) return ir::cast(Int(32), e);
        throw CompileError(at, str(what, ", ", value ? str(*value) : ir::brief(e, 100),
                                   ", does not fit int32: it is not between ", INT32_MIN, " and ",
                                   INT32_MAX));
    }
    if (e.type().bits() < 32) return ir::cast(Int(32), e);
    return ir::call(Int(32), ir::Intrinsic::saturating_cast, {e});
}

ir::Expr number_before_int32(const ir::Expr &e) {
    const auto *c = e.as<ir::IntrinsicCall>();
    bool narrows = c && c->op == ir::Intrinsic::saturating_cast && c->type == Int(32);
    return narrows && c->args[0].type().is_int_or_uint() ? c->args[0] : ir::Expr();
}

std::string why_no_copy(const FunctionContents &f) {
    if (f.has_extern_definition()) return "an extern function computes it";
    if (f.types.size() != 1) return str("it has ", f.types.size(), " values");
    if (f.stages.size() != 1) return "it has update definitions";
    if (!f.stages[0]->specializations.empty()) return "it has specializations";
    const ir::Expr &value = f.stages[0]->values[0];
    const auto *call = value.as<ir::Call>();
    if (!call) return str("its value is ", ir::brief(value, 100));
    bool is_same_point = call->args.size() == f.args.size();
    for (size_t d = 0; is_same_point && d < f.args.size(); d++) {
        const auto *v = call->args[d].as<ir::Variable>();
        is_same_point = v && v->name == f.args[d];
    }
    if (is_same_point) return "";
    return str("at (", join(f.args), ") it has the value ", ir::brief(value, 100),
               ", from another point");
}

const ir::Call &require_copied_call(const FunctionContents &f, const char *directive,
                                    const Location &at) {
    const std::string why = why_no_copy(f);
    if (why.empty()) return *f.stages[0]->values[0].as<ir::Call>();
    throw CompileError(at,
                       str(directive, " of ", f.name, ": it is no copy of another Func or of an ",
                           "image, element by element: ", why));
}

ir::Expr condition_of_choice(const ir::Expr &e) {
    auto is_undef = [](const Expr &branch) {
        const auto *c = branch.as<ir::IntrinsicCall>();
        return c && c->op == ir::Intrinsic::undef;
    };
    const auto *choice = e.as<ir::Select>();
    if (!choice || is_undef(choice->true_value) == is_undef(choice->false_value)) return {};
    return is_undef(choice->false_value) ? choice->condition : !choice->condition;
}

}  // namespace tessera::program
