#pragma once
#include <atomic>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace tessera {

// A name. Two symbols are the same only if they are the same declaration: the text is for people,
// and nothing may take it apart or build one symbol's text from another's to find it again.
class Symbol {
public:
    Symbol() = default;  // no symbol
    Symbol(const Symbol &o) : bits(o.bits) { acquire(); }
    Symbol(Symbol &&o) noexcept : bits(std::exchange(o.bits, 0)) {}
    Symbol &operator=(Symbol o) noexcept {
        std::swap(bits, o.bits);
        return *this;
    }
    ~Symbol() {
        if (is_counted()) release();
    }

    // A new symbol, different from every other, whatever their texts. It lives as long as it is
    // used, or as the arena of the innermost SymbolScope of this thread.
    static Symbol fresh(std::string_view text);
    // The one symbol that stands for this text: how a user's Var("x") is the same everywhere. It
    // lives as long as the process.
    static Symbol interned(std::string_view text);
    // Returns the number of symbols that live as long as they are used.
    static size_t number_of_counted();

    bool defined() const { return bits != 0; }
    bool is_interned() const { return defined() && record().is_interned; }
    const std::string &text() const;
    uint64_t id() const { return defined() ? record().id : 0; }  // unique; 0 for no symbol

    friend bool operator==(const Symbol &a, const Symbol &b) { return a.bits == b.bits; }
    friend std::strong_ordering operator<=>(const Symbol &a, const Symbol &b) {
        return a.id() <=> b.id();
    }
    friend std::ostream &operator<<(std::ostream &out, const Symbol &s) { return out << s.text(); }

private:
    friend class SymbolArena;
    struct Record {
        Record(std::string_view text, bool is_interned = false);
        const std::string text;
        const uint64_t id;
        const bool is_interned;
        mutable std::atomic<uint32_t> uses{0};  // of one that is counted
    };
    static constexpr uintptr_t counted = 1;

    Symbol(const Record *r, uintptr_t flag) : bits(reinterpret_cast<uintptr_t>(r) | flag) {
        acquire();
    }
    bool is_counted() const { return bits & counted; }
    const Record &record() const { return *reinterpret_cast<const Record *>(bits & ~counted); }
    void acquire() const {
        if (is_counted()) record().uses.fetch_add(1, std::memory_order_relaxed);
    }
    void release() const {
        if (record().uses.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
    }
    void destroy() const;

    uintptr_t bits = 0;  // the address of the record, and whether its uses are counted
};

// Owns symbols, and frees them together: those that one lowering makes, which are many. Their uses
// are not counted, so that whoever keeps IR of a lowering has to keep its SymbolArenaRef as well
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
    size_t operator()(const tessera::Symbol &s) const { return s.id() * 0x9E3779B97F4A7C15ull; }
};
