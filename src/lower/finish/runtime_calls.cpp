#include "lower/finish/runtime_calls.h"
#include "ir/lets.h"
#include "ir/operators.h"
#include "ir/visitor.h"

namespace tessera::lower {

using namespace ir;

static bool is_told_of_user_context(Intrinsic op) {
    switch (op) {
    case Intrinsic::mutex_array_create:
    case Intrinsic::mutex_array_destroy:
    case Intrinsic::copy_to_host:
    case Intrinsic::copy_to_device:
    case Intrinsic::device_free:
    case Intrinsic::device_part:
    case Intrinsic::device_release_crop:
    case Intrinsic::device_buffer_copy:
    case Intrinsic::trace:
    case Intrinsic::profiler_instance_start:
    case Intrinsic::profiler_instance_end:
    case Intrinsic::profiler_memory_allocate:
    case Intrinsic::profiler_memory_free:
    case Intrinsic::profiler_stack_peak: return true;
    default: return false;
    }
}

static Expr device_interface() {
    return ExternCall::make(Handle(), "tessera_cuda_device_interface", {}, false);
}

Expr as_c_call(const IntrinsicCall &c) {
    if (!is_runtime_intrinsic(c.op)) return {};
    std::vector<Expr> args;
    if (is_told_of_user_context(c.op)) args.push_back(call(Handle(), Intrinsic::user_context, {}));
    args.insert(args.end(), c.args.begin(), c.args.end());
    if (c.op == Intrinsic::copy_to_device) args.push_back(device_interface());
    if (c.op == Intrinsic::device_buffer_copy) {
        args.back() = is_zero(c.args[2]) ? make_zero(Handle()) : device_interface();
        std::swap(args[2], args[3]);
    }
    return ExternCall::make(c.type, str("tessera_", info_of(c.op).name), std::move(args), false);
}

// Returns the call that ends what `begin` has begun; `result` is what `begin` has returned.
static Expr end_of(const IntrinsicCall &begin, const Expr &result) {
    switch (begin.op) {
    case Intrinsic::mutex_array_create:
        return call(Int(32), Intrinsic::mutex_array_destroy, {result});
    case Intrinsic::device_buffer: return call(Int(32), Intrinsic::device_free, {result});
    case Intrinsic::device_part:
        return call(Int(32), Intrinsic::device_release_crop, {begin.args[2]});
    default: {
        const Expr end = call(Int(32), Intrinsic::profiler_instance_end, {begin.args.back()});
        return call(Int(32), Intrinsic::if_then_else, {result == 0, end, 0});
    }
    }
}

// Returns `end` within those lets of the value whose names it uses, since it stands outside of
// them.
static Expr with_lets_of(const Expr &value, const Expr &end) {
    const auto *let = value.as<Let>();
    if (!let) return end;
    const Expr inner = with_lets_of(let->body, end);
    return uses_symbol(inner, let->name) ? Let::make(let->name, let->value, inner) : inner;
}

Expr end_of_scope(const LetStmt &let) {
    const IntrinsicCall *begin = intrinsic_behind_lets(let.value);
    if (!begin || !begins_scope(begin->op)) return {};
    return with_lets_of(let.value, end_of(*begin, Variable::make(let.value.type(), let.name)));
}

}  // namespace tessera::lower
