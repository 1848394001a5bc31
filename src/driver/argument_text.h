#pragma once
#include "ir/module.h"
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::driver {

// A description of the arguments of a compiled function, as text: each argument's type, range and
// default, constraints and estimates, and which region of it the function touches. A value that is
// computed from other arguments is an expression in their names, in which `b.dim[0].max` stands for
// b.dim[0].min + b.dim[0].extent - 1.
class ArgumentTexts {
public:
    // `names`: what the arguments are called.
    ArgumentTexts(const ir::LoweredFunction &f, const std::vector<ir::Argument> &passed,
                  std::unordered_map<Symbol, std::string> names);
    // Lines without a break at the end.
    std::vector<std::string> describe(const ir::Argument &a) const;

private:
    std::string text(const ir::Expr &e) const;
    std::string text_by_ends(const ir::Expr &e) const;
    std::string scalar(const ir::Argument &a) const;
    void add_constraints(std::vector<std::string> &lines, const ir::Argument &a) const;
    void add_region(std::vector<std::string> &lines, const ir::Argument &a) const;

    const ir::LoweredFunction &function;
    std::unordered_map<Symbol, std::string> names;  // also of the parameters of outputs
};

}  // namespace tessera::driver
