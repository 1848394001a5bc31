#pragma once
#include "HalideBuffer.h"
#include "base/dialect.h"
#include "halide_operators.h"
#include "tessera.h"

// These are the same in both languages, under Halide's names.

// Programs print what directives are given. (Of Tessera's types: found beside them.)
namespace tessera {
inline std::ostream &operator<<(std::ostream &out, TailStrategy t) { return out << name_of(t); }
inline std::ostream &operator<<(std::ostream &out, MemoryType m) { return out << name_of(m); }
inline std::ostream &operator<<(std::ostream &out, Partition p) { return out << name_of(p); }
inline std::ostream &operator<<(std::ostream &out, PrefetchBoundStrategy s) {
    return out << name_of(s);
}
inline std::ostream &operator<<(std::ostream &out, DeviceAPI api) {
    constexpr const char *names[] = {"None",       "Host",         "Default_GPU", "CUDA",
                                     "OpenCL",     "Metal",        "Hexagon",     "HexagonDma",
                                     "D3D12Compute", "Vulkan",     "WebGPU",      "SMEStreaming"};
    return out << "<" << names[size_t(api)] << ">";
}
inline std::ostream &operator<<(std::ostream &out, const RDom &r) {
    out << "RDom(\n";
    for (int i = 0; i < r.dimensions(); i++) {
        const RVar v = r[i];
        out << "  " << v.name() << "(" << v.min() << ", " << v.extent() << ")\n";
    }
    return out << ")";
}

// The value after the condition, of several at once.
inline Tuple tuple_select(const Expr &condition, const Tuple &yes, const Tuple &no) {
    return select(condition, yes, no);
}
inline Tuple tuple_select(const Tuple &condition, const Tuple &yes, const Tuple &no) {
    return select(condition, yes, no);
}
template<typename C, typename... Rest>
requires(sizeof...(Rest) > 0)
Tuple tuple_select(const C &c0, const Tuple &v0, const C &c1, const Tuple &v1,
                   const Rest &...rest) {
    return select(c0, v0, c1, v1, rest...);
}
// No result is kept from one call to the next, so that there is nothing to tag.
template<typename... Keys>
Expr memoize_tag(const Expr &result, const Keys &...) {
    return result;
}

namespace ir {
using tessera::memoize_tag;
}
}  // namespace tessera

namespace Halide {

namespace Internal {
inline const bool dialect_is_set = (tessera::set_dialect(tessera::Dialect::Halide), true);
}

// ---- Types, expressions, errors ----
using tessera::BFloat;
using tessera::bfloat16_t;
using tessera::Bool;
using tessera::CompileError;
using tessera::Error;
using tessera::Expr;
using tessera::Float;
using tessera::float16_t;
using tessera::Handle;
using tessera::Int;
using tessera::InternalError;
using tessera::Range;
using tessera::Region;
using tessera::RuntimeError;
using tessera::Tuple;
using tessera::Type;
using tessera::type_of;
using tessera::UInt;

// ---- Functions, loops, pipelines ----
using tessera::_;
using tessera::_0;
using tessera::_1;
using tessera::_2;
using tessera::_3;
using tessera::_4;
using tessera::_5;
using tessera::_6;
using tessera::_7;
using tessera::_8;
using tessera::_9;
using tessera::Argument;
using tessera::ArgumentEstimates;
using tessera::AutoSchedulerFn;
using tessera::AutoschedulerParams;
using tessera::AutoSchedulerResults;
using tessera::Buffer;
using tessera::Callable;
using tessera::compile_multitarget;
using tessera::compile_standalone_runtime;
using tessera::evaluate;
using tessera::evaluate_may_gpu;
using tessera::EvictionKey;
using tessera::ExternCFunction;
using tessera::ExternFuncArgument;
using tessera::ExternSignature;
using tessera::Func;
using tessera::FuncRef;
using tessera::FuncTupleElementRef;
using tessera::ImageParam;
using tessera::JITExtern;
using tessera::JITHandlers;
using tessera::JITUserContext;
using tessera::lambda;
using tessera::link_modules;
using tessera::load_plugin;
using tessera::LoopLevel;
using tessera::Module;
using tessera::ModuleFactory;
using tessera::OutputImageParam;
using tessera::Param;
using tessera::Pipeline;
using tessera::RDom;
using tessera::Realization;
using tessera::RVar;
using tessera::Stage;
using ScheduleHandle = tessera::Stage;
using tessera::Var;
using tessera::VarOrRVar;

// ---- Enums ----
using tessera::DeviceAPI;
using tessera::HTML;
using tessera::LinkageType;
using tessera::LoopAlignStrategy;
using tessera::MemoryType;
using tessera::NameMangling;
using tessera::OutputFileType;
using tessera::Partition;
using tessera::PrefetchBoundStrategy;
using tessera::StmtOutputFormat;
using tessera::TailStrategy;
using tessera::Text;

// ---- Targets and the process ----
using tessera::get_host_target;
using tessera::get_jit_target_from_environment;
using tessera::get_target_from_environment;
using tessera::get_device_interface_for_device_api;
using tessera::host_supports_target_device;
using tessera::Target;
using tessera::target_feature_for_device_api;

// ---- Operators and functions of expressions ----
using tessera::operator+;
using tessera::operator-;
using tessera::operator*;
using tessera::operator/;
using tessera::operator%;
using tessera::operator==;
using tessera::operator!=;
using tessera::operator<;
using tessera::operator<=;
using tessera::operator>;
using tessera::operator>=;
using tessera::operator&&;
using tessera::operator||;
using tessera::operator!;
using tessera::operator+=;
using tessera::operator-=;
using tessera::operator*=;
using tessera::operator/=;
using tessera::operator&;
using tessera::operator|;
using tessera::operator^;
using tessera::operator~;
using tessera::operator<<;
using tessera::operator>>;
using tessera::abs;
using tessera::absd;
using tessera::acos;
using tessera::acosh;
using tessera::asin;
using tessera::asinh;
using tessera::atan;
using tessera::atan2;
using tessera::atanh;
using tessera::cast;
using tessera::ceil;
using tessera::clamp;
using tessera::concat_bits;
using tessera::cos;
using tessera::cosh;
using tessera::count_leading_zeros;
using tessera::count_trailing_zeros;
using tessera::div_round_to_zero;
using tessera::erf;
using tessera::exp;
using tessera::extract_bits;
using tessera::fast_cos;
using tessera::fast_exp;
using tessera::fast_inverse;
using tessera::fast_inverse_sqrt;
using tessera::fast_integer_divide;
using tessera::fast_integer_divide_round_to_zero;
using tessera::fast_integer_modulo;
using tessera::fast_log;
using tessera::fast_pow;
using tessera::fast_sin;
using tessera::floor;
using tessera::fma;
using tessera::fract;
using tessera::gather;
using tessera::halving_add;
using tessera::halving_sub;
using tessera::hypot;
using tessera::is_finite;
using tessera::is_inf;
using tessera::is_nan;
using tessera::lerp;
using tessera::likely;
using tessera::likely_if_innermost;
using tessera::log;
using tessera::max;
using tessera::min;
using tessera::mod_round_to_zero;
using tessera::mul_shift_right;
using tessera::mux;
using tessera::popcount;
using tessera::pow;
using tessera::print;
using tessera::print_when;
using tessera::random_float;
using tessera::random_int;
using tessera::random_uint;
using tessera::reinterpret;
using tessera::require;
using tessera::reset_random_counters;
using tessera::round;
using tessera::rounding_halving_add;
using tessera::rounding_mul_shift_right;
using tessera::rounding_shift_left;
using tessera::rounding_shift_right;
using tessera::saturating_add;
using tessera::saturating_cast;
using tessera::saturating_sub;
using tessera::scatter;
using tessera::select;
using tessera::sin;
using tessera::sinh;
using tessera::sqrt;
using tessera::strict_float;
using tessera::tan;
using tessera::tanh;
using tessera::target_arch_is;
using tessera::target_bits;
using tessera::target_has_feature;
using tessera::target_natural_vector_size;
using tessera::target_os_is;
using tessera::trunc;
using tessera::undef;
using tessera::unsafe_promise_clamped;
using tessera::widen_right_add;
using tessera::widen_right_mul;
using tessera::widen_right_sub;
using tessera::widening_add;
using tessera::widening_mul;
using tessera::widening_shift_left;
using tessera::widening_shift_right;
using tessera::widening_sub;

// ---- Reductions in expressions ----
using tessera::argmax;
using tessera::argmin;
using tessera::maximum;
using tessera::minimum;
using tessera::product;
using tessera::saturating_sum;
using tessera::sum;

namespace ConciseCasts {
using namespace tessera::ConciseCasts;
}
namespace BoundaryConditions {
using tessera::BoundaryConditions::constant_exterior;
using tessera::BoundaryConditions::mirror_image;
using tessera::BoundaryConditions::mirror_interior;
using tessera::BoundaryConditions::repeat_edge;
using tessera::BoundaryConditions::repeat_image;
}  // namespace BoundaryConditions

// ---- Where Halide adds something ----

inline bool exceptions_enabled() { return true; }
// The JITUserContext * of the call, as an argument of an extern stage.
inline ExternFuncArgument user_context_value() {
    return ExternFuncArgument(
        tessera::ir::call(tessera::Handle(), tessera::ir::Intrinsic::user_context, {}));
}
// Deep expressions are walked on a stack of Tessera's own, of a size of its own.
inline void set_compiler_stack_size(size_t) {}
inline size_t get_compiler_stack_size() { return size_t(1) << 30; }

// Returns the one of several that Default_GPU stands for; Host where there is none.
inline DeviceAPI get_default_device_api_for_target(const Target &t) {
    for (DeviceAPI api : {DeviceAPI::Metal, DeviceAPI::OpenCL, DeviceAPI::CUDA,
                          DeviceAPI::D3D12Compute, DeviceAPI::Vulkan, DeviceAPI::WebGPU}) {
        if (t.supports_device_api(api)) return api;
    }
    return DeviceAPI::Host;
}

// For maps of Exprs: by which node they are, not by what it says.
struct ExprCompare {
    bool operator()(const Expr &a, const Expr &b) const {
        return std::less<>()(a.get(), b.get());
    }
};

// Is told of the errors and warnings of programs. An error is thrown once it has been told.
class CompileTimeErrorReporter {
public:
    virtual ~CompileTimeErrorReporter() = default;
    virtual void warning(const char *message) = 0;
    virtual void error(const char *message) = 0;
};
inline void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *reporter) {
    if (!reporter) {
        tessera::set_warning_handler({});
        tessera::set_error_observer({});
        return;
    }
    tessera::set_warning_handler([=](const std::string &m) { reporter->warning(m.c_str()); });
    tessera::set_error_observer([=](const std::string &m) { reporter->error(m.c_str()); });
}

using tessera::memoize_tag;
using tessera::tuple_select;

}  // namespace Halide

#define HalideExtern_1 TesseraExtern_1
#define HalideExtern_2 TesseraExtern_2
#define HalideExtern_3 TesseraExtern_3
#define HalideExtern_4 TesseraExtern_4
#define HalideExtern_5 TesseraExtern_5
#define HalideExtern_6 TesseraExtern_6
#define HalideExtern_7 TesseraExtern_7
#define HalideExtern_8 TesseraExtern_8
#define HalideExtern_9 TesseraExtern_9
#define HalideExtern_10 TesseraExtern_10
#define HalidePureExtern_1 TesseraPureExtern_1
#define HalidePureExtern_2 TesseraPureExtern_2
#define HalidePureExtern_3 TesseraPureExtern_3
#define HalidePureExtern_4 TesseraPureExtern_4
#define HalidePureExtern_5 TesseraPureExtern_5
#define HalidePureExtern_6 TesseraPureExtern_6
#define HalidePureExtern_7 TesseraPureExtern_7
#define HalidePureExtern_8 TesseraPureExtern_8
#define HalidePureExtern_9 TesseraPureExtern_9
#define HalidePureExtern_10 TesseraPureExtern_10
// Handles are told apart by their C++ type only where C++ does it.
#define HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(...)
#define HALIDE_DECLARE_EXTERN_STRUCT_TYPE(...)
#define HALIDE_DECLARE_EXTERN_CLASS_TYPE(...)
#define HALIDE_DECLARE_EXTERN_UNION_TYPE(...)
#ifndef HALIDE_WITH_EXCEPTIONS
#define HALIDE_WITH_EXCEPTIONS 1
#endif
