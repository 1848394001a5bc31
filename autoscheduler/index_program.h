#pragma once
#include "autoscheduler/estimates.h"
#include "autoscheduler/growth.h"
#include <functional>
#include <span>
#include <vector>

namespace tessera::autoscheduler {

// The integers [min, max].
struct Span {
    int64_t min = 0, max = 0;

    int64_t extent() const { return max < min ? 0 : max - min + 1; }
    bool is_empty() const { return max < min; }
    void unite(const Span &other);
    void intersect(const Span &other);
    friend bool operator==(const Span &, const Span &) = default;
};

// Variables of a stage, by the numbers that programs have for them.
class Variables {
public:
    // Returns the variable's number; -1 if it is none of them.
    int find(Symbol name) const;
    void add(Symbol name) { names.push_back(name); }
    size_t size() const { return names.size(); }
    Symbol name(size_t i) const { return names[i]; }

private:
    std::vector<Symbol> names;
};

// Returns the values that a call may have; nothing if they are not known.
using ValuesOf = std::function<std::optional<Span>(const ir::Call &)>;

// An expression of indices as a list of instructions, which says in nanoseconds what values it has
// while its variables run over spans. Scalars and sizes of images are what is estimated of them.
class IndexProgram {
public:
    // `values_of`: what is known of the values that calls have; else all of their types are.
    IndexProgram(const ir::Expr &e, const Variables &variables, const Estimates &estimates,
                 const ValuesOf &values_of = {});
    // Makes a program that gives these values whatever its variables are; `variables` says how many
    // it has.
    IndexProgram(const Span &values, size_t variables);

    // No less than the values of the expression; `variables` has a span for each variable.
    Span run(std::span<const Span> variables) const;
    const Growth &growth(size_t variable) const { return growths[variable]; }
    // Returns how much the value grows when the variable does by 1: not a number if that is not
    // always the same, even in the long run.
    double slope(size_t variable) const { return growths[variable].mean; }
    // Returns true if it is limited by a min or max, as at the borders of an image.
    bool is_limited() const { return has_limits; }
    // Returns true if the value is made of what is loaded.
    bool reads_data() const { return has_data; }

private:
    enum class Op : uint8_t {
        Constant,
        Variable,
        Add,
        Sub,
        Mul,
        Divide,  // of floats
        Div,
        Mod,
        Min,
        Max,
        Truncate,
        Unite
    };
    // Numbers of any type.
    struct Values {
        double min = 0, max = 0;
    };
    struct Instruction {
        Op op = Op::Constant;
        Values value = {};  // of a constant
        int variable = -1;
    };
    static Values values_of(Type t);
    class Builder;
    static Values binary(Op op, const Values &a, const Values &b);
    Values evaluate(std::span<const Span> variables) const;

    std::vector<Instruction> code;  // in postfix order
    std::vector<Growth> growths;    // per variable
    bool has_data = false, has_limits = false;
};

}  // namespace tessera::autoscheduler
