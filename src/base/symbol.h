#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

namespace tessera {

// A name. Two symbols are the same only if they are the same declaration: the text is for people,
// and nothing may take it apart or build one symbol's text from another's to find it again.
class Symbol {
public:
    Symbol() = default;  // no symbol

    // A new symbol, different from every other, whatever their texts.
    static Symbol fresh(std::string_view text);
    // The one symbol that stands for this text: how a user's Var("x") is the same everywhere.
    static Symbol interned(std::string_view text);

    bool defined() const { return record != nullptr; }
    const std::string &text() const;
    uint32_t id() const;  // unique; 0 for no symbol

    friend bool operator==(Symbol a, Symbol b) { return a.record == b.record; }
    friend std::strong_ordering operator<=>(Symbol a, Symbol b) { return a.id() <=> b.id(); }
    friend std::ostream &operator<<(std::ostream &out, Symbol s) { return out << s.text(); }

private:
    struct Record;
    explicit Symbol(const Record *r) : record(r) {}
    const Record *record = nullptr;  // lives as long as the process
};

}  // namespace tessera

template<>
struct std::hash<tessera::Symbol> {
    size_t operator()(tessera::Symbol s) const { return s.id() * 0x9E3779B97F4A7C15ull; }
};
