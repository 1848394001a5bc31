#include "lang/var.h"
#include "ir/nodes.h"
#include "program/define.h"
#include <array>
#include <atomic>
#include <map>
#include <mutex>

namespace tessera {

const Var _(Symbol::interned("_"));
const Var _0 = Var::implicit(0), _1 = Var::implicit(1), _2 = Var::implicit(2),
          _3 = Var::implicit(3), _4 = Var::implicit(4), _5 = Var::implicit(5),
          _6 = Var::implicit(6), _7 = Var::implicit(7), _8 = Var::implicit(8),
          _9 = Var::implicit(9);

namespace detail {

std::string unique_name(const char *prefix) {
    static std::mutex mutex;
    static std::map<std::string, int> counts;
    std::lock_guard lock(mutex);
    return str(prefix, counts[prefix]++);
}

}  // namespace detail

Var::Var() : name_symbol(Symbol::fresh(detail::unique_name("v"))) {}

Var::Var(const std::string &name)
    : name_symbol(name.empty() ? Symbol::fresh(detail::unique_name("v")) : Symbol::interned(name)) {
}

Var::operator Expr() const { return ir::Variable::make(Int(32), name_symbol); }

Var Var::implicit(int n) { return Var(Symbol::interned(str("_", n))); }

// The one place where a name's text means something, because the user may spell it: Var("_0").
int Var::implicit_index(const std::string &name) {
    if (name.size() < 2 || name.size() > 6 || name[0] != '_') return -1;
    if (name.find_first_not_of("0123456789", 1) != std::string::npos) return -1;
    return std::stoi(name.substr(1));
}

int Var::implicit_index(const Var &v) {
    int n = implicit_index(v.name());
    return n >= 0 && v.symbol() == implicit(n).symbol() ? n : -1;
}

bool Var::is_placeholder(const Var &v) { return v.symbol() == Symbol::interned("_"); }

Var Var::outermost() { return Var(program::outermost_loop()); }

}  // namespace tessera
