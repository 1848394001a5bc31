#pragma once
#include "ir/instruction.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "program/mappings.h"
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <tessera.h>

// Runs a stage by an instruction's meaning, as a mapping says: an oracle for mappings.
namespace mapped_run {

using namespace tessera;

using Point = std::vector<int64_t>;
using Values = std::function<double(const Point &)>;

inline int64_t floor_div(int64_t a, int64_t b) { return (a - ((a % b) + b) % b) / b; }

// Values of expressions, which are small integers and halves, as doubles.
class Evaluator {
public:
    std::unordered_map<Symbol, int64_t> variables;
    std::unordered_map<Symbol, Values> functions;

    Point point(const std::vector<Expr> &args) const {
        Point at;
        for (const Expr &arg : args) at.push_back(int64_t(value(arg)));
        return at;
    }
    double value(const Expr &e) const {
        if (const auto constant = ir::as_const_int(e)) return double(*constant);
        if (const auto *v = e.as<ir::Variable>()) return double(variables.at(v->name));
        if (const auto *c = e.as<ir::Cast>()) return value(c->value);
        if (const auto *c = e.as<ir::Call>()) return functions.at(c->callee)(point(c->args));
        if (const auto *o = e.as<ir::Add>()) return value(o->a) + value(o->b);
        if (const auto *o = e.as<ir::Sub>()) return value(o->a) - value(o->b);
        if (const auto *o = e.as<ir::Mul>()) return value(o->a) * value(o->b);
        if (const auto *o = e.as<ir::Div>())
            return double(floor_div(int64_t(value(o->a)), int64_t(value(o->b))));
        const auto *o = e.as<ir::Mod>();
        REQUIRE_MESSAGE(o, e);
        const auto a = int64_t(value(o->a)), b = int64_t(value(o->b));
        return double(a - floor_div(a, b) * b);
    }
};

// Calls visit(point) for each point of a box.
template<typename Visit> void for_each_point(const Point &extents, const Visit &visit) {
    for (int64_t extent : extents) {
        if (extent == 0) return;
    }
    Point at(extents.size());
    while (true) {
        visit(at);
        size_t dim = 0;
        while (dim < at.size() && ++at[dim] == extents[dim]) at[dim++] = 0;
        if (dim == at.size()) return;
    }
}

// A stage that is run by an instruction, tile by tile.
class MappedRun {
public:
    MappedRun(const Stage &stage, const ir::Instruction &instruction,
              const program::Mapping &mapping, std::unordered_map<Symbol, int64_t> extents,
              std::unordered_map<Symbol, Values> inputs)
        : definition(stage.scheduled({}).definition()), instruction(instruction), mapping(mapping),
          extents(std::move(extents)) {
        outside.functions = std::move(inputs);
        for (ir::Stmt s = instruction.meaning; s.as<ir::For>(); s = s.as<ir::For>()->body) {
            loops.push_back(s.as<ir::For>()->name);
            tile.push_back(*ir::as_const_int(s.as<ir::For>()->extent));
        }
        const auto *written = mapping.terms[0].operands[0].as<ir::Call>();
        outside.functions[written->callee] = [this](const Point &at) { return result[at]; };
    }
    std::map<Point, double> result;

    void run() {
        std::vector<Symbol> around;
        Point around_extents, tiles;
        for (const program::Loop &loop : definition.schedule.loops) {
            if (loop.var == Var::outermost().symbol() || is_mapped(loop.var)) continue;
            around.push_back(loop.var);
            around_extents.push_back(extents.at(loop.var));
        }
        for (size_t z = 0; z < loops.size(); z++)
            tiles.push_back((fused_extent(z) + tile[z] - 1) / tile[z]);
        for_each_point(around_extents, [&](const Point &outer) {
            for (size_t l = 0; l < around.size(); l++) outside.variables[around[l]] = outer[l];
            for (const program::InstructionMatch &term : mapping.terms)
                for_each_point(tiles, [&](const Point &at) { run_tile(at, term); });
        });
    }

private:
    bool is_mapped(Symbol var) const {
        for (const auto &group : mapping.groups) {
            if (std::ranges::count(group, var)) return true;
        }
        return false;
    }
    int64_t fused_extent(size_t z) const {
        int64_t extent = 1;
        for (Symbol var : mapping.groups[z]) extent *= extents.at(var);
        return extent;
    }
    // The loops of the definition for a point of the instruction's; false in the padding.
    bool set_variables(const Point &of_tile, const Point &at) {
        bool is_inside = true;
        for (size_t z = 0; z < loops.size(); z++) {
            int64_t fused = of_tile[z] * tile[z] + at[z];
            is_inside &= fused < fused_extent(z);
            for (size_t l = mapping.groups[z].size(); l-- > 0;) {
                const Symbol var = mapping.groups[z][l];
                outside.variables[var] = fused % extents.at(var);
                fused /= extents.at(var);
            }
        }
        return is_inside;
    }
    // The elements of an operand: calls visit(element, is_inside).
    template<typename Visit>
    void for_each_element(size_t operand, const Point &of_tile, const Visit &visit) {
        const std::vector<program::InstructionLoop> all = program::loops_of(instruction);
        Point own = tile;
        for (size_t z = 0; z < own.size(); z++) {
            if (!all[z].is_of_operand[operand]) own[z] = 1;
        }
        for_each_point(own, [&](const Point &at) {
            const bool is_inside = set_variables(of_tile, at);
            Point element;
            for (size_t z : order_of(operand)) element.push_back(at[z]);
            visit(element, is_inside);
        });
    }
    // The loops by which an operand is indexed, in its order.
    std::vector<size_t> order_of(size_t operand) const {
        std::vector<size_t> order;
        const auto look_at = [&](const ir::Call &c) {
            if (c.callee != instruction.operands[operand].name || !order.empty()) return;
            for (const Expr &arg : c.args) {
                const Symbol name = arg.as<ir::Variable>()->name;
                order.push_back(size_t(std::ranges::find(loops, name) - loops.begin()));
            }
        };
        ir::for_each_node(instruction.meaning, look_at);
        return order;
    }

    void run_tile(const Point &of_tile, const program::InstructionMatch &term) {
        std::vector<std::map<Point, double>> operands(instruction.operands.size());
        for (size_t o = 0; o < operands.size(); o++) {
            for_each_element(o, of_tile, [&](const Point &element, bool is_inside) {
                operands[o][element] = is_inside ? outside.value(term.operands[o]) : 0;
            });
        }
        run_meaning(operands);
        for_each_element(0, of_tile, [&](const Point &element, bool is_inside) {
            if (is_inside) result[outside.point(definition.args)] = operands[0][element];
        });
    }
    void run_meaning(std::vector<std::map<Point, double>> &operands) const {
        Evaluator inside;
        for (size_t o = 0; o < operands.size(); o++) {
            inside.functions[instruction.operands[o].name] = [&operands, o](const Point &at) {
                return operands[o].at(at);
            };
        }
        ir::Stmt body = instruction.meaning;
        while (const auto *loop = body.as<ir::For>()) body = loop->body;
        const auto &p = *body.as<ir::Provide>();
        for_each_point(tile, [&](const Point &at) {
            for (size_t z = 0; z < loops.size(); z++) inside.variables[loops[z]] = at[z];
            const Point element = inside.point(p.args);
            operands[0][element] = inside.value(p.values[0]);
        });
    }

    const program::Definition &definition;
    const ir::Instruction &instruction;
    const program::Mapping &mapping;
    std::unordered_map<Symbol, int64_t> extents;
    std::vector<Symbol> loops;  // of the instruction
    Point tile;                 // their extents
    Evaluator outside;
};

}  // namespace mapped_run
