#include "aot/generator_param.h"
#include "aot/generator_base.h"
#include "program/environment.h"
#include <charconv>

namespace tessera {

GeneratorParamBase::GeneratorParamBase(const std::string &name)
    : param_name(name), owner(GeneratorBase::under_construction("GeneratorParam", name)) {
    owner.add_param(this, name);
}

void GeneratorParamBase::refuse(const std::string &text, const std::string &why) const {
    throw CompileError(str("the parameter ", param_name, " of ", owner.generator_name(),
                           " cannot be ", text.empty() ? "empty" : text, ": ", why));
}

bool GeneratorParamBase::is_changeable() const {
    return owner.phase != GeneratorBase::Phase::Built;
}

void GeneratorParamBase::require_changeable() const {
    if (is_changeable()) return;
    throw CompileError(str("the parameter ", param_name, " of ", owner.generator_name(),
                           " is set too late: the pipeline has been made"));
}

// ---- LoopLevel ----

void GeneratorParam<LoopLevel>::set(const LoopLevel &value) {
    func.clear();
    // Schedules that have it already see what it becomes.
    is_changeable() ? void(level = value) : level.set(value);
}

void GeneratorParam<LoopLevel>::set_from_string(const std::string &text) {
    require_changeable();
    if (text == "root") return set(LoopLevel::root());
    if (text == "inlined") return set(LoopLevel::inlined());
    size_t dot = text.rfind('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == text.size()) {
        refuse(text, "it is " + type_text());
    }
    set(LoopLevel());
    func = text.substr(0, dot);
    loop = text.substr(dot + 1);
}

std::string GeneratorParam<LoopLevel>::value_text() const {
    if (!func.empty()) return func + "." + loop;
    if (level.now().means_root()) return "root";
    if (level.now().means_inlined()) return "inlined";
    return level.now().is_at() ? str(level.func(), ".", level.var().name()) : "undefined";
}

std::string GeneratorParam<LoopLevel>::cpp_value() const {
    if (level.now().means_root()) return "tessera::LoopLevel::root()";
    return level.now().means_inlined() ? "tessera::LoopLevel::inlined()" : "tessera::LoopLevel()";
}

void GeneratorParam<LoopLevel>::resolve(const Pipeline &pipeline) {
    if (func.empty()) return;
    std::vector<std::string> funcs, loops;
    bool found = false;
    for (const auto &f : program::find_transitive_calls(pipeline.program().outputs).order) {
        funcs.push_back(f->name.text());
        if (funcs.back() != func) continue;
        for (const program::DefinitionRef &stage : f->stages) {
            for (const program::Loop &l : stage->schedule.loops) {
                loops.push_back(l.var.text());
                if (loops.back() != loop || found) continue;
                level.set(program::LoopLevel::at(f->name, l.var));
                found = true;
            }
        }
    }
    if (found) return;
    if (loops.empty()) {
        refuse(value_text(), str("the pipeline has no Func ", func, "; it has ", join(funcs)));
    }
    refuse(value_text(), str(func, " has no loop ", loop, "; it has ", join(loops)));
}

// ---- Texts ----

namespace detail {
namespace {

template<typename T>
std::optional<T> parse_whole(const std::string &text) {
    T value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional<T>(value) : std::nullopt;
}

const std::vector<Type> &all_types() {
    static const std::vector<Type> types = {Bool(),     Int(8),       Int(16),      Int(32),
                                            Int(64),    UInt(8),      UInt(16),     UInt(32),
                                            UInt(64),   Float(16),    Float(32),    Float(64),
                                            BFloat(16), Float8E4M3(), Float8E5M2(), Handle()};
    return types;
}

}  // namespace

std::optional<bool> parse_bool(const std::string &text) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return {};
}
std::optional<int64_t> parse_int(const std::string &text) { return parse_whole<int64_t>(text); }
std::optional<uint64_t> parse_uint(const std::string &text) { return parse_whole<uint64_t>(text); }
std::optional<double> parse_float(const std::string &text) { return parse_whole<double>(text); }

std::optional<Type> parse_type(const std::string &text) {
    for (Type t : all_types()) {
        if (to_string(t) == text) return t;
    }
    return {};
}

std::string float_text(double value, bool is_float32) {
    char text[32];
    auto done = is_float32 ? std::to_chars(text, text + sizeof(text), float(value))
                           : std::to_chars(text, text + sizeof(text), value);
    return {text, done.ptr};
}

std::string quoted(const std::string &text) {
    std::string literal = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') literal += '\\';
        literal += c;
    }
    return literal + "\"";
}

std::string cpp_type_value(Type t) {
    if (!t.defined()) return "tessera::Type()";
    if (t.is_bool()) return "tessera::Bool()";
    if (t.is_handle()) return "tessera::Handle()";
    if (t.is_float8()) return str("tessera::", t == Float8E4M3() ? "Float8E4M3()" : "Float8E5M2()");
    const char *name = t.is_int()      ? "Int"
                       : t.is_uint()   ? "UInt"
                       : t.is_bfloat() ? "BFloat"
                                       : "Float";
    return str("tessera::", name, "(", t.bits(), ")");
}

}  // namespace detail

}  // namespace tessera
