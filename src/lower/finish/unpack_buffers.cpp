#include "lower/finish/unpack_buffers.h"
#include "ir/equal.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/with_lets.h"
#include <unordered_set>

namespace tessera::lower {
namespace {

using namespace ir;

class UnpackBuffers final : public Mutator {
public:
    explicit UnpackBuffers(const Stmt &s) {
        for_each_node(s, [&](const LetStmt &let) { bound.insert(let.name); });
        for_each_node(s, [&](const Let &let) { bound.insert(let.name); });
    }
    Lets lets;

private:
    Expr visit(const BufferProperty &p) override {
        Expr e(&p);
        if (bound.count(p.buffer)) return e;
        auto [found, is_new] = names.try_emplace(e);
        if (is_new) {
            bool whole = p.field >= BufferField::Host;
            std::string name = whole ? str(p.buffer, "_", name_of(p.field))
                                     : str(p.buffer, "_", name_of(p.field), "_", p.dim);
            found->second = Symbol::fresh(name);
            lets.emplace_back(found->second, e);
        }
        return Variable::make(p.type, found->second);
    }

    std::unordered_set<Symbol> bound;
    std::unordered_map<Expr, Symbol, ExprHash, ExprEqual> names;
};

// The statements of the body from the first one on that uses a property, below the lets.
Stmt unpack_from_first_use(const Stmt &s, UnpackBuffers &unpack) {
    if (const auto *let = s.as<LetStmt>()) {
        Expr value = unpack(let->value);
        if (unpack.lets.empty()) {
            return let->with<&LetStmt::value, &LetStmt::body>(
                value, unpack_from_first_use(let->body, unpack));
        }
        return with_lets(unpack.lets,
                         let->with<&LetStmt::value, &LetStmt::body>(value, unpack(let->body)));
    }
    const auto *block = s.as<Block>();
    if (!block) {
        Stmt rest = unpack(s);
        return with_lets(unpack.lets, rest);
    }
    std::vector<Stmt> before, after;
    for (const Stmt &part : block->stmts) {
        Stmt unpacked = unpack(part);
        (unpack.lets.empty() ? before : after).push_back(unpacked);
    }
    if (after.empty()) return s;
    before.push_back(with_lets(unpack.lets, Block::make(std::move(after))));
    return Block::make(std::move(before));
}

}  // namespace

Stmt unpack_buffers(const Stmt &s, const Context &) {
    UnpackBuffers unpack(s);
    return unpack_from_first_use(s, unpack);
}

}  // namespace tessera::lower
