#include "lower/loops/lane_offsets.h"
#include "algebra/linear.h"
#include "ir/expr_table.h"
#include "ir/operators.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

int64_t LaneOffsets::least() const { return *std::min_element(offsets.begin(), offsets.end()); }
int64_t LaneOffsets::greatest() const { return *std::max_element(offsets.begin(), offsets.end()); }

bool LaneOffsets::is_ramp(int64_t &stride) const {
    stride = offsets.size() > 1 ? offsets[1] - offsets[0] : 1;
    for (size_t i = 1; i < offsets.size(); i++) {
        if (offsets[i] - offsets[i - 1] != stride) return false;
    }
    return true;
}

namespace {

using Found = std::optional<LaneOffsets>;

constexpr int64_t too_far = int64_t(1) << 40;  // offsets beyond are of no use

Found checked(LaneOffsets l) {
    for (int64_t o : l.offsets) {
        if (o > too_far || o < -too_far) return {};
    }
    return l;
}

class Analysis {
public:
    Analysis(const LetScope &scope, EveryLane wanted) : scope(scope), wanted(wanted) {}

    Found of(const Expr &e) {
        if (e.type().is_scalar()) return LaneOffsets{e, {0}};
        return known.get(e, [&] { return find(e); });
    }

private:
    Found find(const Expr &e) {
        if (const auto *n = e.as<Variable>()) return let(*n);
        if (const auto *n = e.as<Broadcast>()) return repeated(*n);
        if (const auto *n = e.as<Ramp>()) return ramp(*n);
        if (const auto *n = e.as<Add>()) return sum(n->a, n->b, 1);
        if (const auto *n = e.as<Sub>()) return sum(n->a, n->b, -1);
        if (const auto *n = e.as<Mul>()) return product(*n);
        if (const auto *n = e.as<Div>()) return divided(n->a, n->b, false);
        if (const auto *n = e.as<Mod>()) return divided(n->a, n->b, true);
        if (const auto *n = e.as<Shuffle>()) return shuffled(*n);
        if (const auto *n = e.as<Cast>()) return widened(*n);
        return {};
    }

    Found let(const Variable &n) {
        Expr value = scope.value_of(n.name);
        return value.defined() ? of(value) : std::nullopt;
    }
    // Returns which groups of a vector hold wanted lanes, where each group is like `one`: all, if
    // within each some are, and every so many, if a group is one lane.
    std::optional<EveryLane> groups_of(const Expr &one, int groups) const {
        if (one.type().is_scalar()) {
            if (groups % wanted.step == 0) return wanted;
        } else if (one.type().lanes() % wanted.step == 0) {
            return EveryLane{};
        }
        return {};
    }
    Found repeated(const Broadcast &n) {
        Found value = of(n.value);
        if (!value) return {};
        LaneOffsets all{value->base, {}};
        auto groups = groups_of(n.value, n.lanes);
        if (!groups) return {};
        for (int i = groups->first; i < n.lanes; i += groups->step) {
            all.offsets.insert(all.offsets.end(), value->offsets.begin(), value->offsets.end());
        }
        return all;
    }
    Found ramp(const Ramp &n) {
        Found base = of(n.base), step = of(n.stride);
        if (!base || !step) return {};
        auto constant = as_const_int(step->base);
        if (!constant) return {};
        LaneOffsets all{base->base, {}};
        auto groups = groups_of(n.base, n.lanes);
        if (!groups) return {};
        for (int i = groups->first; i < n.lanes; i += groups->step) {
            for (size_t k = 0; k < base->offsets.size(); k++) {
                all.offsets.push_back(base->offsets[k] + i * (*constant + step->offsets[k]));
            }
        }
        return checked(all);
    }
    Found sum(const Expr &a, const Expr &b, int sign) {
        Found x = of(a), y = of(b);
        if (!x || !y) return {};
        x->base = sign > 0 ? x->base + y->base : x->base - y->base;
        for (size_t i = 0; i < x->offsets.size(); i++) x->offsets[i] += sign * y->offsets[i];
        return checked(*x);
    }
    Found product(const Mul &n) {
        auto a = as_const_int(n.a), b = as_const_int(n.b);
        if (!a && !b) return product_of_alike(n);
        Found x = of(a ? n.b : n.a);
        int64_t factor = a ? *a : *b;
        if (!x || factor > too_far || factor < -too_far) return {};
        x->base = x->base * make_const(x->base.type(), factor);
        for (int64_t &o : x->offsets) {
            if (__builtin_mul_overflow(o, factor, &o)) return {};
        }
        return checked(*x);
    }
    // If neither factor differs from lane to lane, nobody has to know them.
    Found product_of_alike(const Mul &n) {
        Found a = of(n.a), b = of(n.b);
        if (!a || !b || a->least() != a->greatest() || b->least() != b->greatest()) return {};
        auto first = [](const LaneOffsets &l) {
            return l.base + make_const(l.base.type(), l.offsets[0]);
        };
        a->base = first(*a) * first(*b);
        for (int64_t &o : a->offsets) o = 0;
        return a;
    }
    Found divided(const Expr &a, const Expr &b, bool rest) {
        auto by = as_const_int(b);
        Found x = of(a);
        if (!by || *by <= 0 || !x) return {};
        Alignment known = algebra::alignment_of(x->base, scope.known());
        if (known.modulus % *by != 0) return divided_alike(*x, *by, rest);
        int64_t first = known.remainder % *by;
        if (first < 0) first += *by;
        for (int64_t &o : x->offsets) {
            int64_t at = first + o;
            int64_t quotient = at >= 0 ? at / *by : -((-at + *by - 1) / *by);
            o = rest ? at - quotient * *by : quotient;
        }
        x->base = rest ? make_zero(x->base.type()) : x->base / make_const(x->base.type(), *by);
        return x;
    }
    // If all lanes have one remainder, nobody has to know which.
    static Found divided_alike(LaneOffsets x, int64_t by, bool rest) {
        int64_t first = x.offsets[0];
        for (int64_t &o : x.offsets) {
            if ((o - first) % by != 0) return {};
            o = rest ? 0 : (o - first) / by;
        }
        Expr start = x.base + make_const(x.base.type(), first);
        Expr divisor = make_const(x.base.type(), by);
        x.base = rest ? start % divisor : start / divisor;
        return x;
    }
    Found shuffled(const Shuffle &n) {
        if (n.vectors.size() != 1 || wanted.step != 1) return {};
        Found all = of(n.vectors[0]);
        if (!all) return {};
        LaneOffsets picked{all->base, {}};
        for (int i : n.indices) picked.offsets.push_back(all->offsets[size_t(i)]);
        return picked;
    }
    // Signed indices do not overflow, so widening them changes nothing.
    Found widened(const Cast &n) {
        Type from = n.value.type();
        if (!from.is_int() || !n.type.is_int() || from.bits() < 32 || n.type.bits() < from.bits()) {
            return {};
        }
        Found x = of(n.value);
        if (x) x->base = cast(n.type.element_of(), x->base);
        return x;
    }

    const LetScope &scope;
    EveryLane wanted;
    ExprTable<Found> known;
};

}  // namespace

std::optional<LaneOffsets> lane_offsets(const Expr &index, const LetScope &scope,
                                        EveryLane wanted) {
    return Analysis(scope, wanted).of(index);
}

}  // namespace tessera::lower
