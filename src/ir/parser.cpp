#include "ir/parser.h"
#include "ir/operators.h"
#include "ir/parse_facts.h"
#include <functional>

namespace tessera::ir {
namespace {

using namespace text;

class StmtParser final : public FactParser {
public:
    using FactParser::FactParser;

    Stmt parse_stmt();
    Module parse_module();

private:
    // A statement that reaches to the end of the list it stands in.
    struct Scoped {
        size_t first;  // of the list, that belongs to the body
        size_t outer_types;
        std::function<Stmt(Stmt)> make;
    };

    Stmt statements(bool one_line);
    bool at_end_of_list(bool one_line) const;
    void end_of_statement(bool one_line);
    Stmt close(std::vector<Stmt> list, std::vector<Scoped> &open);
    Stmt body();
    bool scoped(Scoped &result);
    Stmt statement();

    std::function<Stmt(Stmt)> let();
    std::function<Stmt(Stmt)> allocate();
    std::function<Stmt(Stmt)> realize();
    std::function<Stmt(Stmt)> hoist();
    Stmt loop(LoopKind kind);
    Stmt producer_consumer(bool is_producer);
    Stmt acquire();
    Stmt if_then_else();
    Stmt fork();
    Stmt atomic();
    Stmt prefetch();
    Stmt assertion();
    Stmt store();
    Stmt provide();
    Stmt invoke();
    Stmt machine_op();
    Stmt evaluate();
    bool at_assignment() const;
    bool at_next_part(std::string_view word);

    Type type_after_colon();
    Expr condition();
    Argument argument();
    FunctionKind function_kind();
    LoweredFunction function();

    void enter(Use use, Symbol s, Type type, int value_index = 0);
    void leave(size_t count);

    struct Outer {
        Use use;
        Symbol name;
        Type type;
        int value_index;
    };
    std::vector<Outer> scopes;
};

void StmtParser::enter(Use use, Symbol s, Type type, int value_index) {
    scopes.push_back({use, s, types.set(use, s, type, value_index), value_index});
}

void StmtParser::leave(size_t count) {
    for (; scopes.size() > count; scopes.pop_back()) {
        const Outer &o = scopes.back();
        types.set(o.use, o.name, o.type, o.value_index);
    }
}

Stmt StmtParser::parse_stmt() {
    Stmt s = statements(false);
    if (!at(TokenKind::EndOfText)) fail("a statement or the end of the text");
    return s;
}

bool StmtParser::at_end_of_list(bool one_line) const {
    return at(TokenKind::Dedent) || at(TokenKind::EndOfText) ||
           (one_line && at(TokenKind::EndOfLine));
}

Stmt StmtParser::statements(bool one_line) {
    std::vector<Stmt> list;
    std::vector<Scoped> open;
    while (!at_end_of_list(one_line)) {
        if (at(TokenKind::EndOfLine) || at(";")) {
            take();
            continue;
        }
        Scoped next{list.size(), scopes.size(), {}};
        if (!scoped(next)) {
            list.push_back(statement());
        } else if (accept(":")) {
            Stmt inner = body();
            list.push_back(checked([&] { return next.make(inner); }));
            leave(next.outer_types);
        } else {
            open.push_back(std::move(next));
            if (accept("in")) continue;
        }
        end_of_statement(one_line);
    }
    return close(std::move(list), open);
}

void StmtParser::end_of_statement(bool one_line) {
    bool after_indented_lines = previous().kind == TokenKind::Dedent;
    bool ended = after_indented_lines || at(";") || at(TokenKind::EndOfLine);
    if (!ended && !at_end_of_list(one_line)) fail("the end of the statement");
}

Stmt StmtParser::close(std::vector<Stmt> list, std::vector<Scoped> &open) {
    if (list.empty()) fail("a statement");
    for (; !open.empty(); open.pop_back()) {
        Scoped &last = open.back();
        auto first = list.begin() + long(last.first);
        if (first == list.end()) fail("a statement");
        Stmt inner = Block::make(std::vector<Stmt>(first, list.end()));
        list.erase(first, list.end());
        list.push_back(checked([&] { return last.make(inner); }));
        leave(last.outer_types);
    }
    return Block::make(std::move(list));
}

// Parses what stands after a colon.
Stmt StmtParser::body() {
    Nested nested(*this);
    if (!at(TokenKind::EndOfLine)) return statements(true);
    take();
    if (!at(TokenKind::Indent)) fail("a line that is further indented");
    take();
    Stmt s = statements(false);
    if (!at(TokenKind::Dedent)) fail("a statement");
    take();
    return s;
}

bool StmtParser::scoped(Scoped &result) {
    if (accept("let")) {
        result.make = let();
    } else if (accept("allocate")) {
        result.make = allocate();
    } else if (accept("realize")) {
        result.make = realize();
    } else if (accept("hoist")) {
        result.make = hoist();
    }
    return bool(result.make);
}

Stmt StmtParser::statement() {
    if (at("prefetch") && !at("(", 1)) return prefetch();
    if (accept("for")) return loop(LoopKind::Serial);
    for (LoopKind kind : all_loop_kinds) {
        if (!accept(name_of(kind))) continue;
        expect("for");
        return loop(kind);
    }
    if (accept("produce")) return producer_consumer(true);
    if (accept("consume")) return producer_consumer(false);
    if (accept("acquire")) return acquire();
    if (accept("if")) return if_then_else();
    if (accept("fork")) return fork();
    if (accept("atomic")) return atomic();
    if (accept("machine_op")) return machine_op();
    if (accept("assert")) return assertion();
    if (accept("no_op")) return no_op();
    if (at("invoke") && peek(1).kind == TokenKind::String) return invoke();
    if (!at_assignment()) return evaluate();
    return at("[", 1) ? store() : provide();
}

// Returns true if this is `name[...] =` or `name(...) =`.
bool StmtParser::at_assignment() const {
    if (!at("(", 1) && !at("[", 1)) return false;
    int depth = 0;
    for (size_t i = 1;; i++) {
        const Token &t = peek(i);
        if (t.kind == TokenKind::EndOfText || t.kind == TokenKind::EndOfLine) return false;
        if (at("(", i) || at("[", i) || at("{", i)) depth++;
        if (at(")", i) || at("]", i) || at("}", i)) depth--;
        if (depth == 0) return at("=", i + 1);
    }
}

std::function<Stmt(Stmt)> StmtParser::let() {
    Symbol s = name();
    expect("=");
    Expr value = expr();
    enter(Use::Variable, s, value.type());
    return [=](const Stmt &inner) { return LetStmt::make(s, value, inner); };
}

Type StmtParser::type_after_colon() {
    if (!at(TokenKind::TypeSuffix)) expect(":");
    return type();
}

Expr StmtParser::condition() { return accept("if") ? expr() : Expr(); }

std::function<Stmt(Stmt)> StmtParser::allocate() {
    Symbol buffer = name();
    AllocationFacts facts{accept("of") ? name() : buffer, {}, {}};
    Type t = type_after_colon();
    expect("[");
    std::vector<Expr> extents = exprs("]");
    expect("in");
    MemoryType m = memory();
    if (accept("within")) facts.within = name();
    facts.is_pipelined = accept("pipelined");
    if (accept("swizzle")) facts.swizzle = integer();
    int padding = accept("padding") ? integer() : 0;
    Expr c = condition();
    enter(Use::Buffer, buffer, t);
    return [=](const Stmt &inner) {
        return Allocate::make(buffer, t, m, extents, c, padding, inner, facts);
    };
}

std::function<Stmt(Stmt)> StmtParser::realize() {
    Symbol func = name();
    std::vector<Type> all = type_list();
    MemoryType m = accept("in") ? memory() : MemoryType::Auto;
    StorageFacts facts = storage_facts();
    Region bounds = region(&facts.folds);
    Expr c = condition();
    for (size_t i = 0; i < all.size(); i++) enter(Use::Value, func, all[i], int(i));
    return [=](const Stmt &inner) { return Realize::make(func, all, m, bounds, c, inner, facts); };
}

std::function<Stmt(Stmt)> StmtParser::hoist() {
    Symbol func = name();
    HoistFacts facts = hoist_facts();
    return [=](const Stmt &inner) { return HoistedStorage::make(func, inner, facts); };
}

Stmt StmtParser::loop(LoopKind kind) {
    Symbol s = name();
    expect("in");
    expect("[");
    Expr min = expr();
    expect(",");
    expect("+");
    Expr extent = expr_of(min.type());
    expect(")");
    Partition partition = Partition::Auto;
    if (accept("partition")) {
        if (!at("Never") && !at("Always")) fail("Never or Always");
        partition = take().text == "Never" ? Partition::Never : Partition::Always;
    }
    LoopOrigin of = origin();
    Streams past_caches = streams();
    expect(":");
    size_t outer = scopes.size();
    enter(Use::Variable, s, min.type());
    Stmt inner = body();
    leave(outer);
    return checked(
        [&] { return For::make(s, min, extent, kind, partition, inner, of, past_caches); });
}

Stmt StmtParser::producer_consumer(bool is_producer) {
    Symbol func = name();
    Produced what = is_producer ? produced() : Produced();
    expect(":");
    Stmt inner = body();
    return checked([&] { return ProducerConsumer::make(func, is_producer, inner, what); });
}

Stmt StmtParser::acquire() {
    Expr semaphore = expr();
    expect(",");
    Expr count = expr();
    expect(":");
    Stmt inner = body();
    return checked([&] { return Acquire::make(semaphore, count, inner); });
}

// Goes on with the next part of a statement, `else` or `with`, which may be on the next line.
bool StmtParser::at_next_part(std::string_view word) {
    if (at(TokenKind::EndOfLine) && at(word, 1)) take();
    return accept(word);
}

Stmt StmtParser::if_then_else() {
    struct Branch {
        Expr condition;
        Stmt then_case;
    };
    std::vector<Branch> branches;
    Stmt result;
    do {
        Expr c = expr();
        expect(":");
        branches.push_back({c, body()});
        if (!at_next_part("else")) break;
        if (at("if")) continue;
        expect(":");
        result = body();
        break;
    } while (accept("if"));
    for (; !branches.empty(); branches.pop_back()) {
        const Branch &b = branches.back();
        result = checked([&] { return IfThenElse::make(b.condition, b.then_case, result); });
    }
    return result;
}

Stmt StmtParser::fork() {
    std::vector<Stmt> all;
    do {
        expect(":");
        all.push_back(body());
    } while (at_next_part("with"));
    return Fork::make(std::move(all));
}

Stmt StmtParser::atomic() {
    Symbol func = name();
    Symbol locks = accept("mutexes") ? name() : Symbol();
    expect(":");
    return Atomic::make(func, locks, body());
}

Stmt StmtParser::prefetch() {
    take();
    const bool is_image = !at(":", 1) && accept("image");
    Symbol s = name();
    std::vector<Type> all = type_list();
    Region bounds = region();
    expect("if");
    Expr c = expr();
    expect(":");
    Stmt inner = body();
    const CallKind kind = is_image ? CallKind::Image : CallKind::Func;
    return checked([&] { return Prefetch::make(s, all, bounds, c, inner, kind); });
}

Stmt StmtParser::assertion() {
    Expr c = expr();
    expect(",");
    Expr message = expr();
    return checked([&] { return AssertStmt::make(c, message); });
}

Stmt StmtParser::store() {
    Access a = access();
    expect("=");
    Type wanted;
    if (types.known(Use::Buffer, a.buffer)) wanted = types.expected(Use::Buffer, a.buffer);
    Expr value = expr_of(wanted.with_lanes(a.index.type().lanes()));
    types.learn(Use::Buffer, a.buffer, value.type().element_of());
    return checked([&] {
        return Store::make(a.buffer, value, a.index, a.predicate, a.alignment, a.streaming);
    });
}

Stmt StmtParser::provide() {
    Symbol func = name();
    expect("(");
    std::vector<Expr> args = exprs(")");
    expect("=");
    int lanes = args.empty() ? 1 : args[0].type().lanes();
    std::vector<Expr> values;
    auto value = [&] {
        Type wanted;
        int i = int(values.size());
        if (types.known(Use::Value, func, i)) wanted = types.expected(Use::Value, func, i);
        values.push_back(expr_of(wanted.with_lanes(lanes)));
    };
    if (accept("{")) {
        list("}", value);
    } else {
        value();
    }
    Expr predicate = condition();
    for (size_t i = 0; i < values.size(); i++) {
        types.learn(Use::Value, func, values[i].type().element_of(), int(i));
    }
    return checked([&] { return Provide::make(func, values, args, predicate); });
}

Stmt StmtParser::evaluate() {
    Expr value = expr();
    return Evaluate::make(value);
}

Stmt StmtParser::machine_op() {
    for (MachineOpKind op : all_machine_ops) {
        if (!accept(name_of(op))) continue;
        expect("(");
        std::vector<Expr> operands = exprs(")");
        expect(":");
        return MachineOp::make(op, std::move(operands), body());
    }
    fail("an operation of a machine, such as mma or copy_async");
}

Stmt StmtParser::invoke() {
    take();
    std::string function = string();
    expect("(");
    return Invoke::make(function, exprs(")"));
}

Argument StmtParser::argument() {
    Argument a;
    a.name = name();
    if (at(TokenKind::TypeSuffix)) fail("': ' and a type");
    expect(":");
    if (accept("input")) a.kind = ArgumentKind::InputBuffer;
    if (accept("output")) a.kind = ArgumentKind::OutputBuffer;
    if (accept("storage")) a.kind = ArgumentKind::Storage;
    a.type = type();
    if (a.kind == ArgumentKind::Scalar || a.kind == ArgumentKind::Storage) {
        enter(a.is_scalar() ? Use::Variable : Use::Buffer, a.name, a.type);
        return a;
    }
    expect("[");
    a.dimensions = integer();
    expect("]");
    held(a);
    enter(Use::Variable, a.name, Handle());
    enter(Use::Buffer, a.name, a.type);
    enter(Use::Value, a.func.defined() ? a.func : a.name, a.type, a.value_index);
    return a;
}

FunctionKind StmtParser::function_kind() {
#define ACCEPT(kind, text)                                                                         \
    if (accept(text)) return FunctionKind::kind;
    TESSERA_FUNCTION_KINDS(ACCEPT)
#undef ACCEPT
    fail("'func'");
}

LoweredFunction StmtParser::function() {
    LoweredFunction f;
    f.kind = function_kind();
    f.name = string();
    expect("(");
    size_t outer = scopes.size();
    list(")", [&] { f.args.push_back(argument()); });
    expect(":");
    f.body = body();
    leave(outer);
    return f;
}

Module StmtParser::parse_module() {
    Module m;
    expect("module");
    m.name = string();
    while (!at(TokenKind::EndOfText)) {
        if (at(TokenKind::EndOfLine)) {
            take();
            continue;
        }
        m.functions.push_back(function());
    }
    return m;
}

}  // namespace

Stmt parse_stmt(std::string_view text, NamedSymbols &scope) {
    return StmtParser(text::split(text, true), scope).parse_stmt();
}

Stmt parse_stmt(std::string_view text) {
    NamedSymbols scope;
    return parse_stmt(text, scope);
}

Module parse_module(std::string_view text, NamedSymbols &scope) {
    return StmtParser(text::split(text, true), scope).parse_module();
}

Module parse_module(std::string_view text) {
    NamedSymbols scope;
    return parse_module(text, scope);
}

bool is_module_text(std::string_view ir_text) {
    const text::Token first = text::split(ir_text, true).front();
    return first.kind == text::TokenKind::Word && first.text == "module";
}

}  // namespace tessera::ir
