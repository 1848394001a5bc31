#include "codegen/interface.h"
#include "algebra/simplify.h"
#include "ir/cpp_name.h"
#include "ir/float_bits.h"
#include "ir/operators.h"
#include "program/parameter.h"

namespace tessera::codegen {

using ir::Argument;
using ir::ArgumentKind;

namespace {

Argument user_context_argument() {
    return {Symbol::interned("__user_context"), ArgumentKind::Scalar, Handle(), 0, {}};
}

}  // namespace

bool is_user_context(const Argument &a) { return a.name == user_context_argument().name; }

std::vector<Argument> passed_arguments(const ir::LoweredFunction &function, const Target &target) {
    std::vector<Argument> passed;
    bool in_file = !target.has_feature(Target::JIT);
    if (!in_file || target.has_feature(Target::UserContext)) {
        passed.push_back(user_context_argument());
    }
    for (const Argument &a : function.args) {
        const program::Parameter *p = program::parameter_of(a);
        if (!(in_file && p && p->embedded)) passed.push_back(a);
    }
    return passed;
}

std::optional<uint64_t> known_bits(const ir::Expr &e, Type type) {
    if (!e.defined() || type.is_handle()) return {};
    ir::Expr known = algebra::simplify(ir::cast(type, e));
    if (const auto *i = known.as<ir::IntImm>()) {
        return uint64_t(i->value) & UInt(type.bits()).max_uint();
    }
    if (const auto *u = known.as<ir::UIntImm>()) return u->value;
    if (const auto *f = known.as<ir::FloatImm>()) return ir::bits_of_float(type, f->value);
    return {};
}

LinkNames link_names(const ir::LoweredFunction &f, const Target &target) {
    std::string argv = f.name + "_argv", metadata = f.name + "_metadata";
    if (!target.has_feature(Target::CPlusPlusMangling) || target.has_feature(Target::JIT)) {
        return {f.name, argv, metadata};
    }
    std::vector<std::string> types;
    for (const Argument &a : passed_arguments(f, target)) {
        types.push_back(a.kind == ArgumentKind::Scalar ? ir::cpp_scalar(a.type) : ir::cpp_buffer);
    }
    return {ir::mangled_name(f.name, types), ir::mangled_name(argv, {ir::cpp_argv}),
            ir::mangled_name(metadata, {})};
}

}  // namespace tessera::codegen
