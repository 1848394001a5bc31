#include "ir/printer.h"
#include "base/str.h"
#include "ir/module.h"
#include "ir/operators.h"
#include "ir/print_facts.h"

namespace tessera::ir {
namespace {

using text::FactPrinter;

class StmtPrinter final : public FactPrinter {
public:
    StmtPrinter(std::ostringstream &out, const PrintOptions &options,
                std::vector<PrintedLine> *lines = nullptr)
        : FactPrinter(out, options), lines(lines) {}

    void print_stmt(const Stmt &s);
    void print_function(const LoweredFunction &f);
    void print_module(const Module &m);

private:
    void statement(const Stmt &s, bool is_last);
    void print_list(const std::vector<Stmt> &stmts);
    void body(const Stmt &s);
    void line(const Stmt &s = {});
    bool binder(Stmt &s);
    void scoped(Use use, Symbol s, Type type, int value_index = 0);
    Type known(Use use, Symbol s, int lanes, int value_index = 0) const;
    void restore(size_t count);
    void print_types(const std::vector<Type> &all);

    void header(const LetStmt &s);
    void header(const Allocate &s);
    void header(const Realize &s);
    void header(const HoistedStorage &s);

#define PRINT(T) void print_node(const T &node);
    // clang-format off
    PRINT(AssertStmt) PRINT(ProducerConsumer) PRINT(For) PRINT(Acquire) PRINT(Store) PRINT(Provide)
    PRINT(Fork) PRINT(IfThenElse) PRINT(Evaluate) PRINT(Prefetch) PRINT(Atomic) PRINT(Invoke)
    PRINT(MachineOp)
    // clang-format on
#undef PRINT

    struct Outer {
        Use use;
        Symbol name;
        Type type;
        int value_index;
    };
    std::vector<Outer> scopes;
    int indentation = 0;
    std::vector<PrintedLine> *lines;  // null: nobody asks for them
};

// Begins a line.
void StmtPrinter::line(const Stmt &s) {
    if (lines) lines->push_back({size_t(out.tellp()), indentation, s});
    for (int i = 0; i < indentation; i++) out << "    ";
}

void StmtPrinter::scoped(Use use, Symbol s, Type type, int value_index) {
    scopes.push_back({use, s, types.set(use, s, type, value_index), value_index});
}

// The type that is known of a name; none if nothing is.
Type StmtPrinter::known(Use use, Symbol s, int lanes, int value_index) const {
    if (!types.known(use, s, value_index)) return Type();
    return types.expected(use, s, value_index).with_lanes(lanes);
}

void StmtPrinter::restore(size_t count) {
    for (; scopes.size() > count; scopes.pop_back()) {
        const Outer &o = scopes.back();
        types.set(o.use, o.name, o.type, o.value_index);
    }
}

// The statements that reach to the end of the list they stand in. If s is one, writes it without
// its end of line, and s becomes its body.
bool StmtPrinter::binder(Stmt &s) {
    auto write = [&](const auto *node) {
        line(s);
        header(*node);
        s = node->body;
        return true;
    };
    Stmt keep = s;
    if (const auto *node = keep.as<LetStmt>()) return write(node);
    if (const auto *node = keep.as<Allocate>()) return write(node);
    if (const auto *node = keep.as<Realize>()) return write(node);
    if (const auto *node = keep.as<HoistedStorage>()) return write(node);
    return false;
}

void StmtPrinter::print_stmt(const Stmt &s) { statement(s, true); }

void StmtPrinter::statement(const Stmt &s, bool is_last) {
    size_t outer = scopes.size();
    Stmt rest = s;
    if (!is_last) {
        if (binder(rest)) {
            out << ":\n";
            body(rest);
            restore(outer);
            return;
        }
    }
    while (is_last && binder(rest)) out << '\n';
    if (!rest.defined()) {
        line();
        out << "<undefined>\n";
    } else if (const auto *block = rest.as<Block>()) {
        print_list(block->stmts);
    } else {
        line(rest);
        switch (rest.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: print_node(*rest.as<T>()); break;
            // clang-format off
            CASE(AssertStmt) CASE(ProducerConsumer) CASE(For) CASE(Acquire) CASE(Store)
            CASE(Provide) CASE(Fork) CASE(IfThenElse) CASE(Evaluate) CASE(Prefetch) CASE(Atomic)
            CASE(Invoke) CASE(MachineOp)
            // clang-format on
#undef CASE
        default: throw InternalError("printed a statement of an unknown kind");
        }
    }
    restore(outer);
}

void StmtPrinter::print_list(const std::vector<Stmt> &stmts) {
    for (size_t i = 0; i < stmts.size(); i++) statement(stmts[i], i + 1 == stmts.size());
}

void StmtPrinter::body(const Stmt &s) {
    indentation++;
    statement(s, true);
    indentation--;
}

void StmtPrinter::print_types(const std::vector<Type> &all) { out << '{' << join(all) << '}'; }

void StmtPrinter::header(const LetStmt &s) {
    out << "let ";
    name(s.name);
    out << " = ";
    print(s.value, 1);
    scoped(Use::Variable, s.name, s.value.type());
}

void StmtPrinter::header(const Allocate &s) {
    out << "allocate ";
    name(s.buffer);
    if (s.facts.func != s.buffer) {
        out << " of ";
        name(s.facts.func);
    }
    out << ": " << s.type << '[';
    list(s.extents);
    out << "] in " << name_of(s.memory);
    if (s.facts.within.defined()) {
        out << " within ";
        name(s.facts.within);
    }
    if (s.facts.is_pipelined) out << " pipelined";
    if (s.facts.swizzle != 0) out << " swizzle " << s.facts.swizzle;
    if (s.padding != 0) out << " padding " << s.padding;
    if (s.condition.defined()) {
        out << " if ";
        print(s.condition);
    }
    scoped(Use::Buffer, s.buffer, s.type);
}

void StmtPrinter::header(const Realize &s) {
    out << "realize ";
    name(s.func);
    out << ": ";
    print_types(s.types);
    if (s.memory != MemoryType::Auto) out << " in " << name_of(s.memory);
    print_storage(s.storage);
    print_region(s.bounds, s.storage.folds);
    if (s.condition.defined()) {
        out << " if ";
        print(s.condition);
    }
    for (size_t i = 0; i < s.types.size(); i++) scoped(Use::Value, s.func, s.types[i], int(i));
}

void StmtPrinter::header(const HoistedStorage &s) {
    out << "hoist ";
    name(s.func);
    print_copies(s.facts.copies);
}

void StmtPrinter::print_node(const AssertStmt &s) {
    out << "assert ";
    print(s.condition);
    out << ", ";
    print(s.message);
    out << '\n';
}

void StmtPrinter::print_node(const ProducerConsumer &s) {
    out << (s.is_producer ? "produce " : "consume ");
    name(s.func);
    print_produced(s.produced);
    out << ":\n";
    body(s.body);
}

void StmtPrinter::print_node(const For &s) {
    if (s.loop_kind != LoopKind::Serial) out << name_of(s.loop_kind) << ' ';
    out << "for ";
    name(s.name);
    out << " in [";
    print(s.min);
    out << ", +";
    print_where(s.min.type(), s.extent);
    out << ')';
    if (s.partition != Partition::Auto) out << " partition " << name_of(s.partition);
    print_origin(s.origin);
    print_streams(s.streams);
    out << ":\n";
    size_t outer = scopes.size();
    scoped(Use::Variable, s.name, s.min.type());
    body(s.body);
    restore(outer);
}

void StmtPrinter::print_node(const Acquire &s) {
    out << "acquire ";
    print(s.semaphore);
    out << ", ";
    print(s.count);
    out << ":\n";
    body(s.body);
}

void StmtPrinter::print_node(const Store &s) {
    access(s.buffer, s.index, s.predicate, s.alignment, s.streaming);
    out << " = ";
    print_where(known(Use::Buffer, s.buffer, s.index.type().lanes()), s.value);
    out << '\n';
    types.learn(Use::Buffer, s.buffer, s.value.type().element_of());
}

void StmtPrinter::print_node(const Provide &s) {
    name(s.func, true);
    out << '(';
    list(s.args);
    out << ") = ";
    if (s.values.size() != 1) out << '{';
    int lanes = s.args.empty() ? 1 : s.args[0].type().lanes();
    for (size_t i = 0; i < s.values.size(); i++) {
        if (i) out << ", ";
        print_where(known(Use::Value, s.func, lanes, int(i)), s.values[i]);
    }
    if (s.values.size() != 1) out << '}';
    if (s.predicate.defined()) {
        out << " if ";
        print(s.predicate);
    }
    out << '\n';
    for (size_t i = 0; i < s.values.size(); i++) {
        types.learn(Use::Value, s.func, s.values[i].type().element_of(), int(i));
    }
}

void StmtPrinter::print_node(const Fork &s) {
    for (size_t i = 0; i < s.stmts.size(); i++) {
        if (i) line();
        out << (i ? "with:\n" : "fork:\n");
        body(s.stmts[i]);
    }
}

void StmtPrinter::print_node(const IfThenElse &s) {
    const IfThenElse *branch = &s;
    for (;;) {
        out << "if ";
        print(branch->condition);
        out << ":\n";
        body(branch->then_case);
        if (!branch->else_case.defined()) return;
        line();
        out << "else";
        const auto *next = branch->else_case.as<IfThenElse>();
        if (!next) break;
        out << ' ';
        branch = next;
    }
    out << ":\n";
    body(branch->else_case);
}

void StmtPrinter::print_node(const Evaluate &s) {
    if (is_zero(s.value) && s.value.type() == Int(32)) {
        out << "no_op\n";
        return;
    }
    print(s.value, 1);
    out << '\n';
}

void StmtPrinter::print_node(const Prefetch &s) {
    out << (s.call_kind == CallKind::Image ? "prefetch image " : "prefetch ");
    name(s.name);
    out << ": ";
    print_types(s.types);
    print_region(s.bounds);
    out << " if ";
    print(s.condition);
    out << ":\n";
    body(s.body);
}

void StmtPrinter::print_node(const Atomic &s) {
    out << "atomic ";
    name(s.func);
    if (s.mutexes.defined()) {
        out << " mutexes ";
        name(s.mutexes);
    }
    out << ":\n";
    body(s.body);
}

void StmtPrinter::print_node(const MachineOp &s) {
    out << "machine_op " << name_of(s.op) << '(';
    list(s.operands);
    out << "):\n";
    body(s.body);
}

void StmtPrinter::print_node(const Invoke &s) {
    out << "invoke ";
    string(s.function);
    out << '(';
    list(s.args);
    out << ")\n";
}

void StmtPrinter::print_function(const LoweredFunction &f) {
    line();
    out << name_of(f.kind) << ' ';
    string(f.name);
    out << '(';
    size_t outer = scopes.size();
    for (size_t i = 0; i < f.args.size(); i++) {
        const Argument &a = f.args[i];
        if (i) out << ", ";
        name(a.name);
        out << ": ";
        if (a.kind == ArgumentKind::InputBuffer) out << "input ";
        if (a.kind == ArgumentKind::OutputBuffer) out << "output ";
        if (a.kind == ArgumentKind::Storage) out << "storage ";
        out << a.type;
        if (a.kind == ArgumentKind::Scalar || a.kind == ArgumentKind::Storage) {
            scoped(a.is_scalar() ? Use::Variable : Use::Buffer, a.name, a.type);
            continue;
        }
        out << '[' << a.dimensions << ']';
        print_held(a);
        scoped(Use::Variable, a.name, Handle());
        scoped(Use::Buffer, a.name, a.type);
        scoped(Use::Value, a.func.defined() ? a.func : a.name, a.type, a.value_index);
    }
    out << "):\n";
    body(f.body);
    restore(outer);
}

void StmtPrinter::print_module(const Module &m) {
    line();
    out << "module ";
    string(m.name);
    out << '\n';
    for (const LoweredFunction &f : m.functions) print_function(f);
}

// The first line's start, and "..." for all else.
std::string shortened(const std::string &text, size_t length) {
    size_t end = std::min(text.find('\n'), text.size());
    bool whole = end + 1 >= text.size() && end <= length;
    return whole ? text.substr(0, end) : text.substr(0, std::min(end, length)) + " ...";
}

}  // namespace

std::string to_string(const Expr &e, const PrintOptions &options) {
    std::ostringstream out;
    text::ExprPrinter(out, options).print(e);
    return out.str();
}

std::string to_string(const Stmt &s, const PrintOptions &options) {
    std::ostringstream out;
    StmtPrinter(out, options).print_stmt(s);
    return out.str();
}

std::string to_string(const Module &m, const PrintOptions &options) {
    std::ostringstream out;
    StmtPrinter(out, options).print_module(m);
    return out.str();
}

std::string_view PrintedText::operator[](size_t line) const {
    const size_t end = line + 1 < lines.size() ? lines[line + 1].begin : text.size();
    std::string_view all = std::string_view(text).substr(0, end).substr(lines[line].begin);
    all.remove_prefix(std::min(all.find_first_not_of(' '), all.size()));
    return all.substr(0, all.find_last_not_of('\n') + 1);
}

PrintedText to_lines(const Stmt &s, const PrintOptions &options) {
    std::ostringstream out;
    PrintedText printed;
    StmtPrinter(out, options, &printed.lines).print_stmt(s);
    printed.text = out.str();
    return printed;
}

PrintedText to_lines(const Module &m, const PrintOptions &options) {
    std::ostringstream out;
    PrintedText printed;
    StmtPrinter(out, options, &printed.lines).print_module(m);
    printed.text = out.str();
    return printed;
}

std::ostream &operator<<(std::ostream &out, const Expr &e) { return out << to_string(e); }
std::ostream &operator<<(std::ostream &out, const Stmt &s) { return out << to_string(s); }
std::ostream &operator<<(std::ostream &out, const Module &m) { return out << to_string(m); }

std::string brief(const Expr &e, size_t length) {
    return shortened(to_string(e, {.max_nodes = length, .max_depth = 50}), length);
}

std::string brief(const Stmt &s, size_t length) {
    return shortened(to_string(s, {.max_nodes = length, .max_depth = 50}), length);
}

}  // namespace tessera::ir
