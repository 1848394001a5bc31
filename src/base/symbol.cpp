#include "base/symbol.h"
#include <atomic>
#include <unordered_map>
#include <utility>

namespace tessera {
namespace {

thread_local SymbolArena *current_arena = nullptr;

// Never destroyed: symbols are used until the very end.
SymbolArena &process_arena() {
    static auto *arena = new SymbolArena;
    return *arena;
}

}  // namespace

SymbolArena::~SymbolArena() = default;

Symbol SymbolArena::make(std::string_view text) {
    static std::atomic<uint64_t> last_id{0};
    std::lock_guard lock(mutex);
    return Symbol(&records.emplace_back(std::string(text), ++last_id));
}

size_t SymbolArena::size() const {
    std::lock_guard lock(mutex);
    return records.size();
}

SymbolScope::SymbolScope(SymbolArenaRef arena)
    : arena(std::move(arena)), outer(std::exchange(current_arena, this->arena.get())) {}
SymbolScope::~SymbolScope() { current_arena = outer; }

Symbol Symbol::fresh(std::string_view text) {
    return (current_arena ? *current_arena : process_arena()).make(text);
}

Symbol Symbol::interned(std::string_view text) {
    static std::mutex mutex;
    static auto *known = new std::unordered_map<std::string, Symbol>;
    std::lock_guard lock(mutex);
    Symbol &s = (*known)[std::string(text)];
    if (!s.defined()) s = process_arena().make(text);
    return s;
}

const std::string &Symbol::text() const {
    static const std::string none = "<no symbol>";
    return record ? record->text : none;
}

uint64_t Symbol::id() const { return record ? record->id : 0; }

}  // namespace tessera
