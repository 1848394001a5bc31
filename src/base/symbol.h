#pragma once
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>

namespace tessera {

// A name. Two symbols are the same only if they are the same declaration: the text is for people,
// and nothing may take it apart or build one symbol's text from another's to find it again.
class Symbol {
public:
    Symbol() = default;  // no symbol

    // A new symbol, different from every other, whatever their texts. It lives as long as the
    // process, or as the arena of the innermost SymbolScope of this thread.
    static Symbol fresh(std::string_view text);
    // The one symbol that stands for this text: how a user's Var("x") is the same everywhere.
    static Symbol interned(std::string_view text);

    bool defined() const { return record != nullptr; }
    const std::string &text() const;
    uint64_t id() const;  // unique; 0 for no symbol

    friend bool operator==(Symbol a, Symbol b) { return a.record == b.record; }
    friend std::strong_ordering operator<=>(Symbol a, Symbol b) { return a.id() <=> b.id(); }
    friend std::ostream &operator<<(std::ostream &out, Symbol s) { return out << s.text(); }

private:
    friend class SymbolArena;
    struct Record {
        std::string text;
        uint64_t id;
    };
    explicit Symbol(const Record *r) : record(r) {}
    const Record *record = nullptr;
};

// Owns symbols, and frees them together: those that one lowering makes. A Symbol points into its
// arena, so that whoever keeps IR of a lowering has to keep its SymbolArenaRef as well
// (LoweredFunction::symbols, Lowering::symbols). Any thread may make some.
class SymbolArena {
public:
    SymbolArena() = default;
    ~SymbolArena();
    SymbolArena(const SymbolArena &) = delete;
    SymbolArena &operator=(const SymbolArena &) = delete;

    Symbol make(std::string_view text);
    size_t size() const;

private:
    mutable std::mutex mutex;
    std::deque<Symbol::Record> records;
};
using SymbolArenaRef = std::shared_ptr<SymbolArena>;

// While it lives, the fresh symbols of this thread are the arena's.
class SymbolScope {
public:
    explicit SymbolScope(SymbolArenaRef arena);
    ~SymbolScope();
    SymbolScope(const SymbolScope &) = delete;
    SymbolScope &operator=(const SymbolScope &) = delete;

private:
    SymbolArenaRef arena;
    SymbolArena *outer;
};

}  // namespace tessera

template<>
struct std::hash<tessera::Symbol> {
    size_t operator()(tessera::Symbol s) const { return s.id() * 0x9E3779B97F4A7C15ull; }
};
