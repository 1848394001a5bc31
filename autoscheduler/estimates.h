#pragma once
#include "program/parameter.h"
#include <optional>
#include <string>

namespace tessera::autoscheduler {

// Numbers for what is known only when the pipeline runs: what the user has estimated of scalars and
// of buffers, or has set, or what constraints say.
class Estimates {
public:
    // The value of a scalar of an integer type; nothing if there is none.
    std::optional<int64_t> scalar(const program::Parameter &p) const;
    // The value of a scalar of any type.
    std::optional<double> real(const program::Parameter &p) const;
    // The bounds of one dimension of a buffer.
    std::optional<int64_t> min(const program::Parameter &p, int dim) const;
    std::optional<int64_t> extent(const program::Parameter &p, int dim) const;

    // The number that an expression over scalars and sizes is; nothing if one has no estimate.
    std::optional<int64_t> number(const ir::Expr &e) const;
    // Says why there is none: "the Param n has no estimate".
    std::string why_no_number(const ir::Expr &e) const;
    // The same of an expression that is one scalar, of any type.
    std::optional<double> real(const ir::Expr &e) const;
};

}  // namespace tessera::autoscheduler
