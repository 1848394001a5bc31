#include "lower/checks/touched_ranges.h"
#include "algebra/simplify.h"
#include "ir/printer.h"
#include "ir/substitute.h"
#include "ir/visitor.h"
#include "lower/checks/constraints.h"
#include <algorithm>

namespace tessera::lower {

using namespace ir;

namespace {

constexpr size_t most_nodes = 30;  // of an end of a range, its inner sums not counted

bool is_too_long(const Expr &e) {
    return to_string(e, {.max_nodes = most_nodes}).find("...") != std::string::npos;
}

// Values of lets in terms of what the caller passes.
class Ranges {
public:
    Ranges(const std::vector<Binding> &lets, const ProgramContext &context)
        : use_constraints(context) {
        for (const Binding &let : lets) {
            Known known = find(let.value);
            if (known.value.defined()) values[let.symbol] = known.value;
            unknown[let.symbol] = known.why_not;
        }
    }
    TouchedRange of(const algebra::Interval &i) {
        Known min = find(i.min), max = find(i.max);
        if (min.value.defined() && max.value.defined()) return {min.value, max.value, ""};
        return {{}, {}, min.value.defined() ? max.why_not : min.why_not};
    }

private:
    struct Known {
        Expr value;
        std::string why_not;
    };
    Known find(const Expr &e) {
        std::string why_not = what_hides(e);
        if (!why_not.empty()) return {{}, why_not};
        Expr value = algebra::simplify(use_constraints(substitute(values, e)));
        if (is_too_long(value)) return {{}, "it takes too many terms to write down"};
        return {value, ""};
    }
    std::string what_hides(const Expr &e) const {
        std::string why;
        auto note_let = [&](Symbol s) {
            auto let = unknown.find(s);
            if (let != unknown.end() && !let->second.empty()) why = let->second;
        };
        for_each_node(e, [&](const Variable &v) { note_let(v.name); });
        for_each_node(e, [&](const BufferProperty &p) {
            if (unknown.contains(p.buffer)) why = "an extern stage says so in a bounds query";
        });
        for_each_node(e, [&](const ExternCall &c) {
            why = str("it depends on what the function ", c.function, " returns");
        });
        return why;
    }

    UseConstraints use_constraints;
    Substitution values;
    std::unordered_map<Symbol, std::string> unknown;  // of all lets: why, or ""
};

}  // namespace

const Box *box_of(const ir::Argument &b, const LoopNests &nests) {
    auto found = nests.buffers.find(b.name);
    if (found == nests.buffers.end()) found = nests.buffers.find(b.func);
    return found == nests.buffers.end() ? nullptr : &found->second;
}

std::unordered_map<Symbol, std::vector<TouchedRange>>
find_touched_ranges(const LoopNests &nests, const ProgramContext &context) {
    Ranges ranges(nests.lets, context);
    std::unordered_map<Symbol, std::vector<TouchedRange>> all;
    for (const ir::Argument &a : context.arguments) {
        const Box *box = a.kind == ArgumentKind::Scalar ? nullptr : box_of(a, nests);
        for (size_t d = 0; box && d < box->size(); d++) all[a.name].push_back(ranges.of((*box)[d]));
    }
    return all;
}

}  // namespace tessera::lower
