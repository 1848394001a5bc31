#include "driver/dispatch.h"
#include "algebra/simplify.h"
#include "base/atomic_file.h"
#include "base/dialect.h"
#include "base/large_stack.h"
#include "codegen/archive.h"
#include "codegen/cpu_features.h"
#include "driver/c_header.h"
#include "driver/files.h"
#include "driver/runtime_library.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "program/parameter.h"
#include "runtime/tessera_runtime.h"
#include <algorithm>
#include <bit>
#include <filesystem>

namespace tessera::driver {
namespace {

using ir::Expr;
using ir::Stmt;
using Type = OutputFileType;

// One of the targets.
struct Variant {
    Target target;
    std::string suffix;    // of its files
    std::string function;  // its name in C
};

// These features change what callers see.
constexpr Target::Feature interface_features[] = {Target::UserContext, Target::CPlusPlusMangling};

bool is_per_target(Type type) {
    switch (type) {
    case Type::assembly:
    case Type::bitcode:
    case Type::conceptual_stmt:
    case Type::device_code:
    case Type::llvm_assembly:
    case Type::object:
    case Type::stmt:
    case Type::stmt_html:
    case Type::conceptual_stmt_html: return true;
    default: return false;
    }
}

std::string as_identifier(std::string text) {
    std::ranges::replace_if(text, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return text;
}

std::string with_suffix(const std::string &path, const std::string &suffix) {
    size_t name = path.find_last_of('/') + 1;
    size_t dot = path.find('.', name);
    if (dot == std::string::npos) dot = path.size();
    return path.substr(0, dot) + suffix + path.substr(dot);
}

void require_one_machine(const std::vector<Target> &targets) {
    if (targets.empty()) throw CompileError("a list of targets is empty");
    const Target &first = targets[0];
    for (size_t i = 1; i < targets.size(); i++) {
        const Target &t = targets[i];
        if (t.arch != first.arch || t.bits != first.bits || t.os != first.os) {
            throw CompileError(str("the targets ", first, " and ", t,
                                   " are different machines: no library can be for both"));
        }
        for (Target::Feature f : interface_features) {
            if (t.has_feature(f) == first.has_feature(f)) continue;
            throw CompileError(str("of the targets ", first, " and ", t, ", one has ",
                                   Target::feature_to_name(f), ": ",
                                   f == Target::UserContext ? "the arguments would differ"
                                                            : "the names would differ"));
        }
        if (std::find(targets.begin(), targets.begin() + long(i), t) != targets.begin() + long(i)) {
            throw CompileError(str("the target ", t, " is in the list twice"));
        }
    }
}

// Richest first, so that a target is tried before those whose features it has, too; a GPU counts
// for more than all that CPUs have.
std::vector<Variant> variants_of(const std::string &name, const std::vector<Target> &targets,
                                 const std::vector<std::string> &suffixes) {
    require_one_machine(targets);
    if (!suffixes.empty() && suffixes.size() != targets.size()) {
        throw CompileError(
            str("there are ", suffixes.size(), " suffixes for ", targets.size(), " targets"));
    }
    std::vector<Variant> variants;
    for (size_t i = 0; i < targets.size(); i++) {
        std::string suffix = suffixes.empty() ? str("-", targets[i]) : suffixes[i];
        std::string function = name + "_" + as_identifier(targets[i].to_string());
        variants.push_back({targets[i], suffix, function});
    }
    auto richness = [](const Variant &v) {
        return std::pair(v.target.has_gpu_feature(),
                         std::popcount(codegen::runtime_features(v.target)));
    };
    std::ranges::stable_sort(variants, std::greater(), richness);
    return variants;
}

bool same_arguments(const ir::LoweredFunction &f, const ir::LoweredFunction &g,
                    const Target &target) {
    auto a = codegen::passed_arguments(f, target), b = codegen::passed_arguments(g, target);
    return std::ranges::equal(a, b, [](const ir::Argument &x, const ir::Argument &y) {
        return x.name.text() == y.name.text() && x.kind == y.kind && x.type == y.type &&
               x.dimensions == y.dimensions;
    });
}

// The ranges of one target's function in terms of the arguments of another's.
class OtherArguments final : public ir::Mutator {
public:
    OtherArguments(const ir::LoweredFunction &from, const ir::LoweredFunction &to) {
        for (size_t i = 0; i < from.args.size() && i < to.args.size(); i++) {
            names[from.args[i].name] = to.args[i].name;
        }
    }
    Symbol name(Symbol s) const {
        auto found = names.find(s);
        return found == names.end() ? s : found->second;
    }

private:
    Expr visit(const ir::BufferProperty &p) override {
        return ir::BufferProperty::make(name(p.buffer), p.field, p.dim);
    }
    Expr visit(const ir::Variable &v) override { return ir::Variable::make(v.type, name(v.name)); }
    std::unordered_map<Symbol, Symbol> names;
};

using TouchedRanges = std::unordered_map<Symbol, std::vector<ir::TouchedRange>>;

// Ranges that are others in `f` than in the function `like` become unknown.
void note_other_ranges(TouchedRanges &ranges, const ir::LoweredFunction &f,
                       const ir::LoweredFunction &like) {
    OtherArguments in_terms_of_like(f, like), as_it_is(like, like);
    auto same = [&](const Expr &of_f, const Expr &of_like) {
        return ir::is_zero(algebra::simplify(in_terms_of_like(of_f) - as_it_is(of_like)));
    };
    for (const auto &[buffer, of_f] : f.touched) {
        auto found = ranges.find(in_terms_of_like.name(buffer));
        if (found == ranges.end()) continue;
        for (size_t d = 0; d < of_f.size() && d < found->second.size(); d++) {
            ir::TouchedRange &r = found->second[d];
            if (!r.unknown.empty()) continue;
            bool is_same =
                of_f[d].unknown.empty() && same(of_f[d].min, r.min) && same(of_f[d].max, r.max);
            if (!is_same) r = {{}, {}, "it differs between the targets"};
        }
    }
}

class Writer {
public:
    Writer(const MakeProgram &make, const std::string &name, std::vector<Variant> variants,
           const std::map<Type, std::string> &paths)
        : make(make), name(name), variants(std::move(variants)), paths(paths) {}

    // The paths of the files.
    std::vector<std::string> write() {
        require_function_name(name, variants[0].target, {});
        for (const auto &[type, path] : paths) require_possible(type);
        for (const Variant &v : variants) write_variant(v);
        write_once();
        return written;
    }

private:
    static void require_possible(Type type) {
        constexpr Type once[] = {
            Type::object,       Type::c_header, Type::function_info_header, Type::python_extension,
            Type::registration, Type::schedule, Type::shared_library,       Type::static_library};
        if (is_per_target(type) || std::ranges::find(once, type) != std::end(once)) return;
        for (const OutputFile &file : output_files()) {
            if (file.type != type) continue;
            throw CompileError(str(file.name, " is written for one target, not for several"));
        }
    }
    void write_file(FileWriter &writer, Type type, const std::string &path) {
        writer.write(type, path);
        written.push_back(path);
    }
    std::optional<std::string> path_of(Type type) const {
        auto found = paths.find(type);
        return found == paths.end() ? std::nullopt : std::optional(found->second);
    }
    void write_variant(const Variant &v) {
        // The library has one runtime, whatever its parts are.
        TargetProgram p = make(v.target);
        p.signature.name = v.function;
        FileWriter writer(p.program, v.target, p.signature);
        for (const auto &[type, path] : paths) {
            if (is_per_target(type)) write_file(writer, type, with_suffix(path, v.suffix));
        }
        const ir::LoweredFunction &f = writer.module().functions[0];
        if (!lowered.empty() && !same_arguments(lowered[0], f, v.target)) {
            throw CompileError(str("the arguments of ", name, " differ between the targets ",
                                   variants[0].target, " and ", v.target));
        }
        lowered.push_back(f);
        if (!path_of(Type::static_library) && !path_of(Type::shared_library)) return;
        members.push_back({base_name(v.function) + ".o", writer.object()});
    }
    bool with_runtime() const {
        return std::ranges::none_of(
            variants, [](const Variant &v) { return v.target.has_feature(Target::NoRuntime); });
    }
    // The function that chooses runs everywhere.
    Target baseline() const {
        const Target &t = variants[0].target;
        Target base(t.os, t.arch, t.bits);
        for (Target::Feature f : interface_features) base.set_feature(f, t.has_feature(f));
        return base;
    }
    ir::Module wrapper() const {
        std::vector<Target> targets;
        std::vector<std::string> functions;
        for (size_t i = 0; i < variants.size(); i++) {
            targets.push_back(variants[i].target);
            functions.push_back(codegen::link_names(lowered[i], variants[i].target).function);
        }
        ir::Module module = dispatch_module(name, lowered[0], targets, functions);
        for (const ir::LoweredFunction &f : lowered) {
            note_other_ranges(module.functions[0].touched, f, lowered[0]);
        }
        return module;
    }
    void write_once() {
        FileWriter writer(wrapper(), baseline());
        if (auto path = path_of(Type::object)) {
            write_file(writer, Type::object, with_suffix(*path, "_wrapper"));
            if (dialect() == Dialect::Halide && with_runtime()) {
                written.push_back(with_suffix(*path, "_runtime"));
                write_runtime_library(baseline(), written.back());
            }
        }
        if (auto path = path_of(Type::c_header)) {
            std::vector<Target> targets;
            for (const Variant &v : variants) targets.push_back(v.target);
            write_text(*path, to_c_header(writer.module(), baseline(), targets));
            written.push_back(*path);
        }
        for (Type type : {Type::function_info_header, Type::python_extension, Type::registration}) {
            if (auto path = path_of(type)) write_file(writer, type, *path);
        }
        if (auto path = path_of(Type::schedule)) {
            TargetProgram p = make(variants[0].target);
            write_files(p.program, variants[0].target, p.signature, {{Type::schedule, *path}});
            written.push_back(*path);
        }
        write_libraries(writer);
    }
    void write_libraries(FileWriter &writer) {
        const auto archive = path_of(Type::static_library), shared = path_of(Type::shared_library);
        if (!archive && !shared) return;
        members.push_back({base_name(name) + ".o", writer.object()});
        const std::string bytes = codegen::make_archive(
            members, with_runtime() ? runtime_for(baseline()) : std::string());
        if (archive) write_bytes(*archive, bytes);
        if (shared) {
            const std::string called = std::filesystem::path(*shared).filename();
            write_bytes(*shared, as_shared_library(bytes, called, baseline()));
        }
    }
    void write_bytes(const std::string &path, const std::string &bytes) {
        tessera::write_file(path, bytes, Durability::Synced);
        written.push_back(path);
    }

    const MakeProgram &make;
    const std::string &name;
    std::vector<Variant> variants;
    const std::map<Type, std::string> &paths;
    std::vector<ir::LoweredFunction> lowered;
    std::vector<codegen::ArchiveMember> members;
    std::vector<std::string> written;
};

}  // namespace

ir::Module dispatch_module(const std::string &name, const ir::LoweredFunction &like,
                           const std::vector<Target> &targets,
                           const std::vector<std::string> &functions) {
    ir::LoweredFunction f;
    f.name = name;
    f.touched = like.touched;
    f.symbols = like.symbols;  // of its arguments
    std::vector<Expr> passed;
    Expr context = ir::call(Handle(), ir::Intrinsic::user_context, {});
    if (targets[0].has_feature(Target::UserContext)) passed.push_back(context);
    for (const ir::Argument &a : like.args) {
        const program::Parameter *p = program::parameter_of(a);
        if (p && p->embedded) continue;
        f.args.push_back(a);
        bool scalar = a.kind == ir::ArgumentKind::Scalar;
        passed.push_back(ir::Variable::make(scalar ? a.type : Handle(), a.name));
    }
    // An assertion that fails returns its code, be it 0.
    auto return_code = [](const Expr &code) {
        return ir::AssertStmt::make(ir::const_false(), code);
    };
    Stmt choose = return_code(ir::ExternCall::make(Int(32), "tessera_error_unsupported_target",
                                                   {context, ir::StringImm::make(name)}, false));
    for (size_t i = targets.size(); i-- > 0;) {
        Stmt run = return_code(ir::ExternCall::make(Int(32), functions[i], passed, false));
        Expr features = ir::UIntImm::make(UInt(64), codegen::runtime_features(targets[i]));
        Expr words = ir::call(Handle(), ir::Intrinsic::make_struct, {features});
        Expr can = ir::ExternCall::make(Int(32), "tessera_can_use_target_features",
                                        {ir::make_one(Int(32)), words}, false);
        choose = ir::IfThenElse::make(ir::NE::make(can, ir::make_zero(Int(32))), run, choose);
    }
    f.body = choose;
    return {name, {f}};
}

std::vector<std::string> write_multitarget_files(const MakeProgram &make, const std::string &name,
                                                 const std::vector<Target> &targets,
                                                 const std::map<OutputFileType, std::string> &paths,
                                                 const std::vector<std::string> &suffixes) {
    std::vector<std::string> written;
    run_on_large_stack(
        [&] { written = Writer(make, name, variants_of(name, targets, suffixes), paths).write(); });
    return written;
}

}  // namespace tessera::driver
