#include "codegen/c/printer.h"
#include "codegen/c/types.h"
#include "codegen/statements.h"
#include "ir/visitor.h"

namespace tessera::codegen::c {

void Printer::emit(const Atomic &node) {
    if (node.mutexes.defined()) return locked_update(node);
    bool outer = std::exchange(in_atomic, true);
    run(node.body);
    in_atomic = outer;
}

// The lock of the first element that is stored to.
void Printer::locked_update(const Atomic &node) {
    Expr place = locked_element(node);
    if (!place.defined()) return run(node.body);
    MemoScope forget(*this);
    std::string mutexes = emit(*Variable::make(Handle(), node.mutexes).as<Variable>()).text;
    std::string index = kept(cast(value(place), place.type(), UInt(64)), UInt(64)).text;
    std::string args = str("(", mutexes, ", ", index, ")");
    fail_unless_zero("tessera_mutex_array_lock" + args);
    with_cleanup([=, this] { line("tessera_mutex_array_unlock" + args + ";"); },
                 [&] { run(node.body); });
}

// Without a mutex: one lane after the other, computed again until nobody has come in between.
void Printer::atomic_store(const Store &node) {
    Stmt whole_store = within_lets(atomic_lets, node);
    const Store &store = *whole_store.as<Store>();
    Expr v = store.value, at = store.index, wanted = store.predicate;
    if (!uses_symbol(v, node.buffer)) {
        bool outer = std::exchange(in_atomic, false);
        auto lets = std::exchange(atomic_lets, {});
        run(whole_store);
        atomic_lets = lets;
        in_atomic = outer;
        return;
    }
    uses_atomics = true;
    Type t = v.type();
    if (t.is_scalar()) {
        std::string index = coordinate(at).operand();
        Value mask = wanted.defined() ? value(wanted) : Value{"true", Form::Constant};
        return exchange(store, index, mask.text);
    }
    std::string index = whole(coordinate(at), at.type());
    std::string mask = wanted.defined() ? whole(value(wanted), wanted.type()) + ".v[lane]" : "true";
    block(str("for (int lane = 0; lane < ", t.lanes(), "; lane++)"),
          [&] { exchange(store, index + ".v[lane]", mask); });
}

// Computes from the old element, and writes if it is still the old one; else again.
void Printer::exchange(const Store &node, const std::string &index, const std::string &mask) {
    Type t = node.value.type(), element = t.element_of();
    std::string bits = scalar_type(UInt(8 * element.bytes()));
    Type bits_type = UInt(8 * element.bytes());
    std::string place = f->names.numbered("place"), old = f->names.numbered("old");
    std::string base = base_pointer(node.buffer);
    block(mask == "true" ? "" : "if (" + mask + ")", [&] {
        line(str("_Atomic ", bits, " *const ", place, " = (_Atomic ", bits, " *)(void *)(", base,
                 " + ", element.bytes(), " * (int64_t)", index, ");"));
        line(str(bits, " ", old, " = atomic_load_explicit(", place, ", memory_order_relaxed);"));
        block("for (;;)", [&] {
            FreshMemo memo_of_its_own(*this);
            atomic_buffer = node.buffer;
            Value former = {old, Form::Name};
            former = element.is_bool() ? infix(former, "!=", {"0", Form::Constant})
                                       : reinterpret(former, bits_type, element);
            atomic_old = kept(former, element);
            Value computed = value(node.value);
            atomic_old = {};
            if (t.is_vector()) computed = {whole(computed, t) + ".v[lane]", Form::Name};
            Value replacement = element.is_bool() ? c_cast(bits, computed)
                                                  : reinterpret(computed, element, bits_type);
            line(str("if (atomic_compare_exchange_weak_explicit(", place, ", &", old, ", ",
                     replacement.text, ", memory_order_relaxed, memory_order_relaxed)) break;"));
        });
    });
}

}  // namespace tessera::codegen::c
