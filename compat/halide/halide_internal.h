#pragma once
#include "algebra/prove.h"
#include "algebra/simplify.h"
#include "halide_names.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lang/var.h"
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

// Programs compare names of nodes with texts.
namespace tessera {
inline bool operator==(Symbol a, const std::string &b) { return a.text() == b; }
inline bool operator==(Symbol a, const char *b) { return a.text() == b; }
}  // namespace tessera

// Names of Halide::Internal that programs use beside the public ones. The nodes are Tessera's: their
// names are Symbols, and some fields are called differently (ir/nodes.h).
namespace Halide::Internal {

using tessera::Dimension;
using tessera::ir::Stmt;
#define NODE(T) using tessera::ir::T;
TESSERA_EXPR_NODES(NODE)
TESSERA_STMT_NODES(NODE)
#undef NODE
using ForType = tessera::LoopKind;

struct JITModule {
    struct Symbol {
        void *address = nullptr;
    };
};
// Symbols of the runtime have Halide's names here.
class JITSharedRuntime : public tessera::JITSharedRuntime {
public:
    static JITModule::Symbol find_symbol(const Target &, const std::string &name) {
        const std::string prefix = "halide_";
        if (!name.starts_with(prefix)) return {};
        if (name == "halide_buffer_copy") return {find("device_buffer_copy")};
        return {find(name.substr(prefix.size()))};
    }

private:
    static void *find(const std::string &name) {
        return tessera::JITSharedRuntime::find_symbol("tessera_" + name);
    }
};
using LoweredFunc = tessera::ir::LoweredFunction;

using tessera::ir::as_const_int;
using tessera::ir::const_false;
using tessera::ir::const_true;
using tessera::ir::equal;
inline bool graph_equal(const Expr &a, const Expr &b) { return equal(a, b); }
inline bool graph_equal(const Stmt &a, const Stmt &b) { return equal(a, b); }
inline bool less_than(const Expr &a, const Expr &b) { return tessera::ir::compare(a, b) < 0; }
inline bool graph_less_than(const Expr &a, const Expr &b) { return less_than(a, b); }
using tessera::ir::is_const;
using tessera::ir::is_no_op;
using tessera::ir::is_pure;
using tessera::ir::make_const;
// Makes a constant of the type; an integer type gets the value without its fraction.
template<std::floating_point F>
Expr make_const(Type t, F value) {
    if (!t.is_float()) return make_const(t, int64_t(value));
    return tessera::ir::make_float_const(t, double(value));
}
using tessera::ir::make_one;
using tessera::ir::make_zero;
inline std::optional<uint64_t> as_const_uint(const Expr &e) {
    const auto *u = e.as<UIntImm>();
    return u ? std::optional<uint64_t>(u->value) : std::nullopt;
}
inline std::optional<double> as_const_float(const Expr &e) {
    const auto *f = e.as<FloatImm>();
    return f ? std::optional<double>(f->value) : std::nullopt;
}
inline bool is_const_one(const Expr &e) { return tessera::ir::is_one(e); }
inline bool is_const_zero(const Expr &e) { return tessera::ir::is_zero(e); }
inline void match_types(Expr &a, Expr &b, tessera::Location at = tessera::Here::current()) {
    tessera::ir::match_types(a, b, at);
}
inline Expr make_bool(bool value, int lanes = 1) {
    return value ? const_true(lanes) : const_false(lanes);
}

inline Expr simplify(const Expr &e) { return tessera::algebra::simplify(e); }
inline Stmt simplify(const Stmt &s) { return tessera::algebra::simplify(s); }
inline bool can_prove(const Expr &e) { return tessera::algebra::can_prove(e); }
inline Expr substitute(const Expr &variable, const Expr &value, const Expr &e) {
    const auto *v = variable.as<Variable>();
    return v ? tessera::ir::substitute(v->name, value, e) : e;
}
inline Expr substitute(const std::string &name, const Expr &value, const Expr &e) {
    return tessera::ir::substitute(tessera::Symbol::interned(name), value, e);
}
inline Expr substitute(const char *name, const Expr &value, const Expr &e) {
    return substitute(std::string(name), value, e);
}

// For maps of Exprs: by what they say.
struct IRDeepCompare {
    bool operator()(const Expr &a, const Expr &b) const { return less_than(a, b); }
};
using IRGraphDeepCompare = IRDeepCompare;

struct ReductionVariable {
    std::string var;
    Expr min, extent;
};

inline std::string unique_name(const std::string &prefix) {
    return tessera::detail::unique_name(prefix.c_str());
}
inline std::string unique_name(char prefix) { return unique_name(std::string(1, prefix)); }
inline std::string get_env_variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

// Sets a variable while it lives.
template<typename T>
struct ScopedValue {
    T &var;
    T old_value;
    explicit ScopedValue(T &var) : var(var), old_value(var) {}
    ScopedValue(T &var, T value) : var(var), old_value(var) { var = value; }
    ScopedValue(const ScopedValue &) = delete;
    ~ScopedValue() { var = old_value; }
    operator T() const { return old_value; }
};

// ---- Walking and rewriting ----

// Rebuilds IR: override visit() for the nodes of interest.
class IRMutator {
public:
    IRMutator() : walk(*this) {}
    IRMutator(const IRMutator &) = delete;
    virtual ~IRMutator() = default;
    virtual Expr mutate(const Expr &e) { return walk(e); }
    virtual Stmt mutate(const Stmt &s) { return walk(s); }
    Expr operator()(const Expr &e) { return mutate(e); }
    Stmt operator()(const Stmt &s) { return mutate(s); }

protected:
#define VISIT(T)                                                                                   \
    virtual Expr visit(const T *op) { return walk.children(*op); }
    TESSERA_EXPR_NODES(VISIT)
#undef VISIT
#define VISIT(T)                                                                                   \
    virtual Stmt visit(const T *op) { return walk.children(*op); }
    TESSERA_STMT_NODES(VISIT)
#undef VISIT

private:
    class Walk final : public tessera::ir::Mutator {
    public:
        explicit Walk(IRMutator &owner) : Mutator(Visits::PerUse), owner(owner) {}
        template<typename T>
        std::conditional_t<std::is_base_of_v<tessera::ir::ExprNode, T>, Expr, Stmt>
        children(const T &node) {
            return Mutator::visit(node);
        }

    private:
#define VISIT(T)                                                                                   \
    Expr visit(const T &node) override { return owner.visit(&node); }
        TESSERA_EXPR_NODES(VISIT)
#undef VISIT
#define VISIT(T)                                                                                   \
    Stmt visit(const T &node) override { return owner.visit(&node); }
        TESSERA_STMT_NODES(VISIT)
#undef VISIT
        IRMutator &owner;
    };
    Walk walk;
};
using IRGraphMutator = IRMutator;

// Walks IR: override visit() for the nodes of interest.
class IRVisitor {
public:
    IRVisitor() : walk(*this) {}
    IRVisitor(const IRVisitor &) = delete;
    virtual ~IRVisitor() = default;
    void see(const Expr &e) { walk(e); }
    void see(const Stmt &s) { walk(s); }
    void operator()(const Expr &e) { walk(e); }
    void operator()(const Stmt &s) { walk(s); }
    // accept() of an Expr calls this.
    void operator()(const tessera::ir::NodeHandle<tessera::ir::ExprNode> &e) {
        walk(Expr(e.get()));
    }

protected:
#define VISIT(T)                                                                                   \
    virtual void visit(const T *op) { walk.children(*op); }
    TESSERA_EXPR_NODES(VISIT)
    TESSERA_STMT_NODES(VISIT)
#undef VISIT

private:
    class Walk final : public tessera::ir::Visitor {
    public:
        explicit Walk(IRVisitor &owner) : Visitor(Visits::PerUse), owner(owner) {}
        template<typename T>
        void children(const T &node) {
            Visitor::visit(node);
        }

    private:
#define VISIT(T)                                                                                   \
    void visit(const T &node) override { owner.visit(&node); }
        TESSERA_EXPR_NODES(VISIT)
        TESSERA_STMT_NODES(VISIT)
#undef VISIT
        IRVisitor &owner;
    };
    Walk walk;
};
using IRGraphVisitor = IRVisitor;

// ---- Files ----

inline bool file_exists(const std::string &path) { return std::filesystem::exists(path); }
inline void ensure_no_file_exists(const std::string &path) { std::filesystem::remove(path); }
inline void assert_file_exists(const std::string &path) {
    if (!file_exists(path)) throw InternalError("there is no file " + path);
}
inline void assert_no_file_exists(const std::string &path) {
    if (file_exists(path)) throw InternalError("there is a file " + path);
}
inline void file_unlink(const std::string &path) { std::filesystem::remove(path); }
inline std::vector<char> read_entire_file(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_entire_file(const std::string &path, const void *source, size_t length) {
    std::ofstream(path, std::ios::binary)
        .write(static_cast<const char *>(source), std::streamsize(length));
}
inline bool starts_with(const std::string &s, const std::string &prefix) {
    return s.starts_with(prefix);
}
inline bool ends_with(const std::string &s, const std::string &suffix) {
    return s.ends_with(suffix);
}
inline bool starts_with(tessera::Symbol s, const std::string &prefix) {
    return s.text().starts_with(prefix);
}
inline bool ends_with(tessera::Symbol s, const std::string &suffix) {
    return s.text().ends_with(suffix);
}
// A file of a new name, removed when this is gone.
class TemporaryFile final {
public:
    TemporaryFile(const std::string &prefix, const std::string &suffix) {
        static std::atomic<int> number{0};
        path = std::filesystem::temp_directory_path().string() + "/" + prefix + "_" + std::to_string(getpid()) + "_" +
               std::to_string(number++) + suffix;
    }
    TemporaryFile(const TemporaryFile &) = delete;
    ~TemporaryFile() {
        if (!detached) std::filesystem::remove(path);
    }
    const std::string &pathname() const { return path; }
    void detach() { detached = true; }

private:
    std::string path;
    bool detached = false;
};

}  // namespace Halide::Internal
