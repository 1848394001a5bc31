#include "base/symbol.h"
#include <atomic>
#include <unordered_map>
#include <utility>

namespace tessera {
namespace {

thread_local SymbolArena *current_arena = nullptr;
std::atomic<size_t> counted_symbols{0};

uint64_t next_id() {
    static std::atomic<uint64_t> last_id{0};
    return ++last_id;
}

}  // namespace

Symbol::Record::Record(std::string_view text, bool is_interned)
    : text(text), id(next_id()), is_interned(is_interned) {}

SymbolArena::~SymbolArena() = default;

Symbol SymbolArena::make(std::string_view text) {
    std::lock_guard lock(mutex);
    return {&records.emplace_back(text), 0};
}

size_t SymbolArena::size() const {
    std::lock_guard lock(mutex);
    return records.size();
}

SymbolScope::SymbolScope(SymbolArenaRef arena)
    : arena(std::move(arena)), outer(std::exchange(current_arena, this->arena.get())) {}
SymbolScope::~SymbolScope() { current_arena = outer; }

Symbol Symbol::fresh(std::string_view text) {
    if (current_arena) return current_arena->make(text);
    counted_symbols.fetch_add(1, std::memory_order_relaxed);
    return {new Record(text), counted};
}

// Never destroyed: symbols are used until the very end.
Symbol Symbol::interned(std::string_view text) {
    static std::mutex mutex;
    static auto *known = new std::unordered_map<std::string, Symbol>;
    std::lock_guard lock(mutex);
    Symbol &s = (*known)[std::string(text)];
    if (!s.defined()) s = Symbol(new Record(text, true), 0);
    return s;
}

size_t Symbol::number_of_counted() { return counted_symbols.load(std::memory_order_relaxed); }

const std::string &Symbol::text() const {
    static const std::string none = "<no symbol>";
    return defined() ? record().text : none;
}

void Symbol::destroy() const {
    counted_symbols.fetch_sub(1, std::memory_order_relaxed);
    delete &record();
}

}  // namespace tessera
