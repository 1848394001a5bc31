#pragma once
#include "base/fields.h"
#include "ir/operators.h"
#include "program/parameter.h"
#include "program/schedule.h"
#include <ranges>

namespace tessera::program {

// Builds a key of some values: a list of expressions, which is equal for equal values. It takes all
// members of a struct, whatever they are, so that none is forgotten.
class KeyBuilder {
public:
    // with_places: the lines where things were written count, too, as far as messages show them.
    explicit KeyBuilder(bool with_places) : with_places(with_places) {}

    void add(const std::string &s) { list.push_back(ir::StringImm::make(s)); }
    void add(Symbol s) { list.push_back(s.defined() ? ir::Variable::make(Handle(), s) : none()); }
    void add(const Expr &e) { list.push_back(e.defined() ? e : none()); }
    // What a level may still become is no part of what is now.
    void add(const Ref<LateLevel> &) {}
    void add(Type t) {
        add(int64_t(t.code()));
        add(t.bits());
    }
    void add(const Location &at) {
        if (with_places) add(place_of_user(at));
    }
    void add(const LoopLevel &l) {
        add(l.means_root() ? 1 : l.means_inlined() ? 2 : l.is_at() ? 3 : 0);
        add(l.func());
        add(l.var());
        add(l.stage());
    }
    template<typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T> void add(T n) {
        list.push_back(ir::IntImm::make(Int(64), int64_t(n)));
    }
    template<typename T>
    void add(const std::vector<T> &all) {
        group([&](KeyBuilder &inner) {
            for (const T &one : all) inner.add(one);
        });
    }
    template<typename... Ts>
    void add(const std::variant<Ts...> &v) {
        add(v.index());
        std::visit([&](const auto &held) { add(held); }, v);
    }
    template<typename D>
    void add(const Written<D> &w) {
        add(w.directive);
        add(w.at);
    }
    void add(const Parameter &p) {
        add(p.name);
        add(p.type);
        add(p.is_buffer);
        add(p.embedded);
        add(p.dimensions);
        add(p.host_alignment);
        add(p.constraints);
        add(p.min_value);
        add(p.max_value);
    }
    template<typename T>
    requires std::is_aggregate_v<T> void add(const T &s) {
        for_each_field(s, [&](const auto &member) { add(member); });
    }
    // Adds what fill(key) adds to `key`, as one element.
    template<typename F>
    void group(F fill) {
        KeyBuilder inner(with_places);
        fill(inner);
        list.push_back(inner.as_expr());
    }

    Expr as_expr() const { return ir::call(Handle(), ir::Intrinsic::make_struct, list); }
    std::vector<Expr> list;

private:
    static Expr none() { return ir::StringImm::make("-"); }
    bool with_places;
};

}  // namespace tessera::program
