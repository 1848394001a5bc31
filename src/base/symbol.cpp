#include "base/symbol.h"
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tessera {

struct Symbol::Record {
    std::string text;
    uint32_t id;
};

namespace {

struct Table {
    std::mutex mutex;
    std::unordered_map<std::string, Symbol> interned;
    std::vector<Symbol> fresh;  // keeps their records reachable
    uint32_t next_id = 1;
};

Table &table() {
    static auto *t = new Table;  // never destroyed: symbols are used until the very end
    return *t;
}

}  // namespace

Symbol Symbol::fresh(std::string_view text) {
    Table &t = table();
    std::lock_guard lock(t.mutex);
    return t.fresh.emplace_back(Symbol(new Record{std::string(text), t.next_id++}));
}

Symbol Symbol::interned(std::string_view text) {
    Table &t = table();
    std::lock_guard lock(t.mutex);
    Symbol &s = t.interned[std::string(text)];
    if (!s.defined()) s = Symbol(new Record{std::string(text), t.next_id++});
    return s;
}

const std::string &Symbol::text() const {
    static const std::string none = "<no symbol>";
    return record ? record->text : none;
}

uint32_t Symbol::id() const { return record ? record->id : 0; }

}  // namespace tessera
