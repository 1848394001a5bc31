#include "codegen/c/printer.h"
#include "codegen/c/types.h"
#include "codegen/statements.h"
#include "ir/operators.h"
#include <cctype>
#include <set>

namespace tessera::codegen::c {

// An Invoke hands over a struct of those of its arguments that are no constants.
struct Printer::Closure {
    // An argument as it is known where the Invoke stands.
    struct Given {
        Value scalar;
        std::string base;  // of storage
        bool has_struct = false;
    };
    const LoweredFunction &function;
    Symbol index;  // the variable of the loop that runs it, which is no part of the struct
    Type index_type;
    std::vector<Given> given;
    std::string type, variable;
    std::vector<std::string> members;  // C variables, which have the same names in the function
};

namespace {

// The variable that "t1.v[3]" is an element of.
std::string variable_of(const std::string &text) {
    size_t end = 0;
    while (end < text.size() && (std::isalnum(uint8_t(text[end])) || text[end] == '_')) end++;
    return text.substr(0, end);
}

const char *parameters(FunctionKind kind) {
    return kind == FunctionKind::Task ? "(void *user_context, int min, int extent, "
                                        "uint8_t *closure, void *task_parent)"
                                      : "(void *user_context, int index, uint8_t *closure)";
}

}  // namespace

Printer::Closure Printer::closure_of(const Invoke &node, Symbol index) {
    Closure closure{lowered->function(node.function), index, {}, {}, {}, {}, {}};
    std::set<std::string> seen;
    auto pass = [&](const std::string &text) {
        std::string name = variable_of(text);
        if (f->types.contains(name) && seen.insert(name).second) closure.members.push_back(name);
    };
    for (size_t i = 0; i < node.args.size(); i++) {
        const Argument &a = closure.function.args[i];
        Closure::Given &given = closure.given.emplace_back();
        if (a.name == index) {
            closure.index_type = a.type;
        } else if (a.kind == ArgumentKind::Storage) {
            const Symbol buffer = address_taken(node.args[i]).buffer;
            if (storage(buffer).base.empty()) hoist_base_pointer(buffer);
            given.base = storage(buffer).base;
            given.has_struct = !storage(buffer).descriptor.empty();
            pass(given.base);
        } else {
            given.scalar = value(node.args[i]);
            pass(given.scalar.text);
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

// Gives the function's arguments the values that they have where it is invoked.
void Printer::bind(const Closure &closure) {
    for (size_t i = 0; i < closure.given.size(); i++) {
        const Argument &a = closure.function.args[i];
        const Closure::Given &given = closure.given[i];
        if (a.kind == ArgumentKind::Storage) {
            auto own_struct = f->variables.find(a.name);  // an argument before this one
            const bool has_struct = given.has_struct && own_struct != f->variables.end();
            f->buffers[a.name] = {given.base, has_struct ? own_struct->second.text : ""};
        } else if (a.name != closure.index) {
            f->variables[a.name] = given.scalar;
        }
    }
    if (!closure.index.defined()) return;
    std::string x = declare(closure.index, prelude.type(closure.index_type), "index");
    f->variables[closure.index] = {x, Form::Name};
}

// The function of an Invoke, for one that has such a closure.
std::string Printer::define_invoked(const Closure &closure) {
    const FunctionKind kind = closure.function.kind;
    const bool is_task = kind == FunctionKind::Task;
    std::string name = new_name(f->name + (is_task ? "_task" : "_par_for"));
    FreshMemo memo_of_its_own(*this);
    FunctionState *outer = f;
    FunctionState state;
    state.name = outer->name;
    state.names = outer->names.for_inner_function();
    if (is_task) state.task_parent = "task_parent";
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
    bind(closure);
    run_function_body(closure.function.body);
    functions += function_text(str("static int ", name, parameters(kind)), state);
    f = outer;
    return name;
}

void Printer::parallel_loop(const For &loop) {
    statement([&] {
        std::string min = coordinate(loop.min).text, extent = coordinate(loop.extent).text;
        const Closure closure = closure_of(invoked(loop.body), loop.name);
        std::string body = define_invoked(closure);
        fail_unless_zero(str("tessera_do_par_for(user_context, ", body, ", (int)(", min,
                             "), (int)(", extent, "), ", filled(closure), ")"));
    });
}

// Each statement is a task of one iteration.
void Printer::emit(const Fork &node) {
    statement([&] {
        std::vector<std::string> tasks;
        for (const Stmt &s : node.stmts) {
            const Closure closure = closure_of(invoked(s));
            std::string body = define_invoked(closure);
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
