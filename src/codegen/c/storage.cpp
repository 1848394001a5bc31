#include "codegen/c/printer.h"
#include "codegen/c/types.h"
#include "ir/allocation.h"
#include "ir/operators.h"
#include <utility>

namespace tessera::codegen::c {
namespace {

// So that the bytes of as many elements of any type fit 63 bits.
constexpr int64_t most_elements_when_large = int64_t(1) << 56;

}  // namespace

void Printer::emit(const Allocate &node) {
    switch (place_of(node)) {
    case Place::Stack: allocate_on_stack(node, constant_bytes(node).value()); break;
    case Place::Growing: allocate_in_place(node); break;
    case Place::Heap: allocate_on_heap(node); break;
    }
    f->buffers.erase(node.buffer);
    f->variables.erase(node.buffer);
}

void Printer::allocate_on_stack(const Allocate &node, int64_t bytes) {
    std::string name = f->names.of(node.buffer);
    f->types[name] = "uint8_t *";
    line(str("_Alignas(64) uint8_t ", name, "[", std::max<int64_t>(1, bytes), "];"));
    f->buffers[node.buffer] = {name, ""};
    f->variables[node.buffer] = {name, Form::Name};
    run(node.body);
}

// The number of elements is checked: it has to be one that can be indexed.
std::string Printer::allocation_bytes(const Allocate &node) {
    std::string name = string_literal(node.buffer.text()), elements = "1";
    int64_t limit = target.has_large_buffers() ? most_elements_when_large : INT32_MAX;
    for (const Expr &e : node.extents) {
        Value extent = call(prelude.function("tessera_extent"), {value(e)});
        elements = elements == "1" ? extent.text
                                   : str(prelude.function("tessera_times"), "(", elements, ", ",
                                         extent.text, ")");
    }
    std::string n = f->names.numbered("n"), bytes = f->names.numbered("bytes");
    line(str("const uint64_t ", n, " = ", elements, ";"));
    block(str("if (", n, " > ", limit, "u)"), [&] {
        fail(str("tessera_error_buffer_allocation_too_large(user_context, ", name, ", ",
                 prelude.function("tessera_times"), "(", n, ", ", node.type.bytes(), "), ",
                 literal(UInt(64), limit * node.type.bytes()), ")"));
    });
    std::string size = str("(", n, " + ", node.padding, ") * ", node.type.bytes());
    line(str("const uint64_t ", bytes, " = ", n, " + ", node.padding, " == 0 ? 1 : ", size, ";"));
    return bytes;
}

void Printer::request_memory(const Allocate &node, const std::string &pointer,
                             const std::string &bytes) {
    line(str(pointer, " = tessera_malloc(user_context, ", bytes, ");"));
    block(str("if (", pointer, " == NULL)"), [&] {
        fail(str("tessera_error_out_of_memory(user_context, ", string_literal(node.buffer.text()),
                 ", ", bytes, ")"));
    });
}

void Printer::allocate_on_heap(const Allocate &node) {
    std::string pointer = f->names.of(node.buffer);
    f->types[pointer] = "uint8_t *";
    line(str("uint8_t *", pointer, " = NULL;"));
    Value condition = node.condition.defined() ? value(node.condition) : Value{"", Form::Constant};
    block(condition.text.empty() ? "" : "if (" + condition.text + ")",
          [&] { request_memory(node, pointer, allocation_bytes(node)); });
    f->buffers[node.buffer] = {pointer, "", true};
    f->variables[node.buffer] = {pointer, Form::Name};
    with_cleanup([=, this] { line(str("tessera_free(user_context, ", pointer, ");")); },
                 [&] { run(node.body); });
}

// One that no buffer occupies now, or a new one, which begins with no memory.
int Printer::free_place() {
    for (size_t i = 0; i < f->places.size(); i++) {
        if (!f->places[i].in_use) return int(i);
    }
    f->places.push_back({slot("uint8_t *", "place", " = NULL"), slot("uint64_t", "size", " = 0")});
    return int(f->places.size()) - 1;
}

void Printer::allocate_in_place(const Allocate &node) {
    const int place = free_place();
    f->places[size_t(place)].in_use = true;
    const GrowingPlace p = f->places[size_t(place)];
    auto grow = [&] {
        const std::string bytes = allocation_bytes(node);
        block(str("if (", p.bytes, " < ", bytes, ")"), [&] {
            line(str("tessera_free(user_context, ", p.pointer, ");"));
            line(str(p.bytes, " = 0;"));
            request_memory(node, p.pointer, bytes);
            line(str(p.bytes, " = ", bytes, ";"));
        });
    };
    Value condition = node.condition.defined() ? value(node.condition) : Value{"", Form::Constant};
    block(condition.text.empty() ? "" : "if (" + condition.text + ")", grow);
    std::string pointer = f->names.of(node.buffer);
    f->types[pointer] = "uint8_t *";
    line(str("uint8_t *const ", pointer, " = ", p.pointer, ";"));
    f->buffers[node.buffer] = {pointer, "", false, place};
    f->variables[node.buffer] = {pointer, Form::Name};
    run(node.body);
    const int occupied = f->buffers.at(node.buffer).place;  // none, if it has been freed
    if (occupied >= 0) f->places[size_t(occupied)].in_use = false;
}

// Memory that is freed before its end is not freed again.
Value Printer::emit_free(const IntrinsicCall &c) {
    BufferNames &s = f->buffers.at(address_taken(c.args[0]).buffer);
    if (s.place >= 0) f->places[size_t(std::exchange(s.place, -1))].in_use = false;
    if (s.is_freed) {
        line(str("tessera_free(user_context, ", s.base, ");"));
        line(s.base + " = NULL;");
    }
    return int_constant(Int(32), 0);
}

// ---- Structs ----

Value Printer::emit_make_struct(const IntrinsicCall &c) {
    impure_calls++;
    std::vector<std::string> members;
    std::string type = "struct {";
    for (size_t i = 0; i < c.args.size(); i++) {
        Type t = c.args[i].type();
        members.push_back(t.is_vector() ? whole(arg(c, i), t) : kept(arg(c, i), t).text);
        type += str(" ", declaration(prelude.type(t), str("m", i), false), ";");
    }
    std::string name = slot(type + " }", "values", "");
    for (size_t i = 0; i < members.size(); i++) line(str(name, ".m", i, " = ", members[i], ";"));
    return {str("(void *)&", name), Form::Closed};
}

Value Printer::emit_make_buffer(const IntrinsicCall &c) {
    size_t dimensions = (c.args.size() - 4) / 3;
    if (c.args.size() < 4 || c.args.size() != 4 + 3 * dimensions) {
        throw InternalError("make_buffer: bad operands");
    }
    impure_calls++;
    std::vector<std::string> args;
    for (size_t i = 0; i < c.args.size(); i++)
        args.push_back(kept(arg(c, i), c.args[i].type()).text);
    std::string name = slot("tessera_buffer_t", "buffer", "");
    std::string dims =
        slot("tessera_dimension_t", "dim", str("[", std::max<size_t>(1, dimensions), "]"));
    line(str("memset(&", name, ", 0, sizeof(", name, "));"));
    line(str(name, ".host = (uint8_t *)", args[0], ";"));
    line(str(name, ".type.code = (uint8_t)", args[1], ";"));
    line(str(name, ".type.bits = (uint8_t)", args[2], ";"));
    line(name + ".type.lanes = 1;");
    line(str(name, ".dimensions = ", args[3], ";"));
    line(str(name, ".dim = ", dims, ";"));
    for (size_t i = 0; i < dimensions; i++) {
        line(str(dims, "[", i, "] = (tessera_dimension_t){", args[4 + 3 * i], ", ", args[5 + 3 * i],
                 ", ", args[6 + 3 * i], ", 0};"));
    }
    return {str("(void *)&", name), Form::Closed};
}

}  // namespace tessera::codegen::c
