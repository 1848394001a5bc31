#include "codegen/c/printer.h"
#include "codegen/c/types.h"
#include "codegen/statements.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/finish/runtime_calls.h"

namespace tessera::codegen::c {

void Printer::dispatch(const Stmt &s) {
    switch (s.kind()) {
#define CASE(T)                                                                                    \
    case NodeKind::T: return emit(static_cast<const T &>(*s.get()));
        TESSERA_STMT_NODES(CASE)
#undef CASE
    default: throw InternalError("C source met a statement of unknown kind");
    }
}

void Printer::emit(const Provide &node) { refuse_statement("Provide", node.func.text()); }
void Printer::emit(const Realize &node) { refuse_statement("Realize", node.func.text()); }
void Printer::emit(const HoistedStorage &node) {
    refuse_statement("HoistedStorage", node.func.text());
}
void Printer::emit(const Prefetch &node) { refuse_statement("Prefetch", node.name.text()); }

void Printer::emit(const ProducerConsumer &node) { run(node.body); }

void Printer::emit(const MachineOp &node) { run(node.body); }
void Printer::emit(const Invoke &node) { refuse_statement("Invoke", node.function); }

void Printer::emit(const Block &node) {
    for (const Stmt &s : node.stmts) run(s);
}

void Printer::emit(const Evaluate &node) {
    statement([&] { evaluate(node.value); });
}

// Evaluates for its effects alone: a C function may return nothing.
void Printer::evaluate(const Expr &e) {
    const auto *of_runtime = e.as<IntrinsicCall>();
    const Expr spelled = of_runtime ? lower::as_c_call(*of_runtime) : Expr();
    const auto *c = (spelled.defined() ? spelled : e).as<ExternCall>();
    if (c && c->type.is_scalar()) return line(call_of_c(*c).text + ";");
    Value v = value(e);
    if (c) whole(v, e.type());
}

// A chain of lets is walked in a loop: it may be thousands long.
void Printer::emit(const LetStmt &first) {
    std::vector<Symbol> bound;
    size_t lets_before = atomic_lets.size();
    Stmt body;
    Expr ends;
    // An impure let has no value of its own in an Atomic, and so nothing that uses it has.
    auto needs_unbound = [&](const Expr &e) {
        return uses_unbound(e, atomic_lets, [&](Symbol s) { return f->variables.contains(s); });
    };
    for (const LetStmt *let = &first; let; let = body.as<LetStmt>()) {
        // A store in an Atomic computes anew what its value is made of, as often as it has to.
        if (in_atomic) atomic_lets.emplace_back(let->name, let->value);
        if (!in_atomic || (is_pure(let->value) && !needs_unbound(let->value))) {
            MemoScope forget(*this);
            Value v = bound_value(let->name, let->value);
            f->variables[let->name] = bind(let->name, v, let->value.type());
            bound.push_back(let->name);
        }
        body = let->body;
        ends = in_atomic ? Expr() : lower::end_of_scope(*let);
        if (ends.defined()) break;
    }
    if (ends.defined()) {
        with_cleanup([this, ends] { statement([&] { evaluate(ends); }); }, [&] { run(body); });
    } else {
        run(body);
    }
    for (Symbol s : bound) {
        f->variables.erase(s);
        f->buffers.erase(s);
    }
    atomic_lets.resize(lets_before);
}

void Printer::emit(const AssertStmt &node) {
    statement([&] {
        Value holds = all_lanes(value(node.condition), node.condition.type());
        if (holds.text == "true") return;
        block(str("if (!", holds.operand(), ")"), [&] {
            bool is_code = node.message.type() == Int(32);
            Value code = is_code && node.message.as<ExternCall>()
                             ? call_of_c(*node.message.as<ExternCall>())
                             : value(node.message);
            fail(is_code ? code.text : "-1");
        });
    });
}

Value Printer::all_lanes(const Value &condition, Type t) {
    if (t.is_scalar()) return condition;
    std::string all = f->names.numbered("all");
    line(str("bool ", all, " = true;"));
    line(str(for_lanes(t.lanes()), " ", all, " = ", all, " && ", condition.operand(), ";"));
    return {all, Form::Name};
}

// One of two values, of which only that one is computed.
Value Printer::choose(const Value &condition, Type t, const std::function<Value()> &then_value,
                      const std::function<Value()> &else_value) {
    if (condition.text == "true") return then_value();
    if (condition.text == "false") return else_value();
    std::string name = f->names.numbered("t");
    std::string plain;  // what is left of the lines if there is nothing to do but to assign
    Value yes, no;
    auto lines_of = [&](Value &v, const std::function<Value()> &compute) {
        return captured([&] {
            v = compute();
            if (!f->lines.empty()) {
                assign(name, v, t);
                return;
            }
            assign(name, v, t);
            plain += f->lines;
        });
    };
    std::string then_lines = lines_of(yes, then_value), else_lines = lines_of(no, else_value);
    if (then_lines + else_lines == plain) return select(condition, yes, no, t);
    f->types[name] = prelude.type(t);
    line(declaration(prelude.type(t), name, false) + ";");
    line("if (" + condition.text + ") {");
    f->lines += then_lines;
    line("} else {");
    f->lines += else_lines;
    line("}");
    return named(name, t);
}

void Printer::emit(const IfThenElse &node) {
    std::string condition;
    {
        MemoScope forget(*this);
        condition = all_lanes(value(node.condition), node.condition.type()).text;
    }
    block("if (" + condition + ")", [&] { run(node.then_case); });
    if (node.else_case.defined()) block("else", [&] { run(node.else_case); });
}

// ---- Loops ----

void Printer::serial_loop(const For &loop) {
    Type t = loop.min.type();
    Value min, extent;
    {
        MemoScope forget(*this);
        min = coordinate(loop.min);
        extent = kept(coordinate(loop.extent), t);
    }
    std::string type = prelude.type(t);
    f->names.open_block();
    std::string x = f->names.of(loop.name), end = extent.text,
                begin = str(type, " ", x, " = ", min.text);
    f->types[x] = type;
    if (min.text != "0") {
        end = f->names.numbered("end");
        begin += str(", ", end, " = ", x, " + ", extent.operand());
    }
    block(str("for (", begin, "; ", x, " < ", end, "; ", x, "++)"), [&] {
        f->variables[loop.name] = {x, Form::Name};
        run(loop.body);
        f->variables.erase(loop.name);
    });
    f->names.close_block();
}

// Reads the addresses of all buffers that the body uses, once, before the loop.
void Printer::hoist_base_pointers(const Stmt &body) {
    for (Symbol s : accessed_buffers(body)) {
        auto found = f->buffers.find(s);
        if (found != f->buffers.end() && found->second.base.empty()) hoist_base_pointer(s);
    }
}

void Printer::hoist_base_pointer(Symbol buffer) {
    std::string base = f->names.of(buffer, "host");
    f->types[base] = "uint8_t *";
    line(str("uint8_t *const ", base, " = ", base_pointer(buffer), ";"));
    f->buffers[buffer].base = base;
}

void Printer::emit(const For &node) {
    bool outermost = !f->hoisted_base_pointers;
    std::unordered_map<Symbol, BufferNames> before;
    if (outermost) {
        before = f->buffers;
        hoist_base_pointers(node.body);
        f->hoisted_base_pointers = true;
    }
    switch (node.loop_kind) {
    case LoopKind::Serial: serial_loop(node); break;
    case LoopKind::Parallel: parallel_loop(node); break;
    case LoopKind::Vectorized:
    case LoopKind::Unrolled:
    case LoopKind::GPUCluster:
    case LoopKind::GPUBlock:
    case LoopKind::GPUThread:
    case LoopKind::GPULane:
    case LoopKind::GPUWarp:
    case LoopKind::GPUWarpgroup:
    case LoopKind::Tensorized: refuse_loop(node);
    }
    if (outermost) {
        f->buffers = std::move(before);
        f->hoisted_base_pointers = false;
    }
}

}  // namespace tessera::codegen::c
