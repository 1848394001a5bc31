#include "codegen/c/printer.h"
#include "codegen/c/types.h"
#include "codegen/statements.h"
#include "ir/visitor.h"
#include <cctype>
#include <set>

namespace tessera::codegen::c {

// What a body that runs elsewhere needs of the scope around it.
struct Printer::Closure {
    std::string type, variable;
    std::vector<std::string> members;  // C variables
    // The scope as it was.
    std::unordered_map<Symbol, Value> known_variables;
    std::unordered_map<Symbol, Storage> known_buffers;
};

namespace {

// The variable that "t1.v[3]" is an element of.
std::string variable_of(const std::string &text) {
    size_t end = 0;
    while (end < text.size() && (std::isalnum(uint8_t(text[end])) || text[end] == '_')) end++;
    return text.substr(0, end);
}

std::string parameters(bool is_task) {
    return is_task ? "(void *user_context, int min, int extent, uint8_t *closure, "
                     "void *task_parent)"
                   : "(void *user_context, int index, uint8_t *closure)";
}

}  // namespace

Printer::Closure Printer::capture(const Stmt &body) {
    Closure closure;
    std::set<std::string> seen;
    auto need = [&](const std::string &text) {
        std::string name = variable_of(text);
        if (f->types.contains(name) && seen.insert(name).second) closure.members.push_back(name);
    };
    for (Symbol s : symbols_used(body)) {
        if (auto v = f->variables.find(s); v != f->variables.end()) {
            closure.known_variables.insert(*v);
            need(v->second.text);
        }
        if (auto v = f->buffers.find(s); v != f->buffers.end()) {
            closure.known_buffers.insert(*v);
            need(v->second.base);
            need(v->second.descriptor);
        }
    }
    closure.type = str("struct ", new_name(f->name + "_closure"));
    closure.variable = f->names.numbered("closure");
    functions += closure.type + " {\n";
    for (const std::string &m : closure.members) {
        functions += str("    ", declaration(f->types[m], m, false), ";\n");
    }
    functions += closure.members.empty() ? "    char none;\n};\n\n" : "};\n\n";
    return closure;
}

std::string Printer::filled(const Closure &closure) {
    std::string values = closure.members.empty() ? "0" : join(closure.members);
    line(str(closure.type, " ", closure.variable, " = {", values, "};"));
    return "(uint8_t *)&" + closure.variable;
}

// The body as a function of its own: of one iteration of a loop, or a task.
std::string Printer::outline(const Closure &closure, const Stmt &body, const For *loop) {
    std::string name = new_name(f->name + (loop ? "_par_for" : "_task"));
    FreshMemo memo_of_its_own(*this);
    FunctionState *outer = f;
    FunctionState state;
    state.name = outer->name;
    state.names = outer->names.for_inner_function();
    if (!loop) state.task_parent = "task_parent";
    f = &state;
    f->names.open_block();
    std::string here = f->names.numbered("here");
    line(str("const ", closure.type, " *const ", here, " = (const ", closure.type,
             " *)(void *)closure;"));
    for (const std::string &m : closure.members) {
        f->names.take(m);
        f->types[m] = outer->types[m];
        line(str(declaration(outer->types[m], m, true), " = ", here, "->", m, ";"));
    }
    f->variables = closure.known_variables;
    for (const auto &[s, storage] : closure.known_buffers) {
        f->buffers[s] = {storage.base, storage.descriptor};
    }
    if (loop) {
        std::string x = declare(loop->name, prelude.type(loop->min.type()), "index");
        f->variables[loop->name] = {x, Form::Name};
    }
    run_function_body(body);
    functions += function_text(str("static int ", name, parameters(!loop)), state);
    f = outer;
    return name;
}

void Printer::parallel_loop(const For &loop) {
    statement([&] {
        std::string min = coordinate(loop.min).text, extent = coordinate(loop.extent).text;
        Closure closure = capture(loop.body);
        std::string body = outline(closure, loop.body, &loop);
        fail_unless_zero(str("tessera_do_par_for(user_context, ", body, ", (int)(", min,
                             "), (int)(", extent, "), ", filled(closure), ")"));
    });
}

// Each statement is a task of one iteration.
void Printer::emit(const Fork &node) {
    statement([&] {
        std::vector<std::string> tasks;
        for (const Stmt &s : node.stmts) {
            Closure closure = capture(s);
            std::string body = outline(closure, s, nullptr);
            tasks.push_back(
                str("{", body, ", ", filled(closure), ", \"", body, "\", NULL, 0, 0, 1, 1, true}"));
        }
        std::string all = f->names.numbered("tasks");
        line(str("tessera_parallel_task_t ", all, "[] = {", join(tasks), "};"));
        fail_unless_zero(str("tessera_do_parallel_tasks(user_context, ", tasks.size(), ", ", all,
                             ", ", f->task_parent, ")"));
    });
}

void Printer::emit(const Acquire &node) {
    statement([&] {
        std::string semaphore = value(node.semaphore).text;
        std::string count = cast(value(node.count), node.count.type(), Int(32)).text;
        fail_unless_zero(
            str("tessera_semaphore_acquire(user_context, ", semaphore, ", ", count, ")"));
    });
    run(node.body);
}

}  // namespace tessera::codegen::c
