#pragma once
#include "algebra/interval.h"
#include "program/schedule.h"
#include "program/tail.h"
#include <functional>
#include <memory>

namespace tessera::program {

using algebra::Interval;

// The facts about a loop's iterations, whatever the region that is computed.
struct LoopFacts {
    int64_t multiple = 1;      // their number is a multiple of it
    bool is_constant = false;  // their number is just that
    int64_t step = 1;          // one stands for so many points; 0: not known, or not side by side
};

// The meaning of a transform: all that the compiler knows of how loops become others. It takes
// loops away and makes others in their place; lists of loops, and of what is said of them, are
// innermost first.
//
//     split(x, xo, xi, 8)    takes x, makes xi and xo    x = xo * 8 + xi + min
//     fuse(x, y, t)          takes x and y, makes t      x = t % extent + min, y = t / extent + min
//     rename(x, u)           takes x, makes u            x = u
//
// The loops that it makes cover those that it takes exactly, or they run on to the end of their
// last tile; the tail says what becomes of the iterations beyond the end.
class TransformModel {
public:
    virtual ~TransformModel() = default;

    virtual std::vector<Symbol> taken() const = 0;
    virtual std::vector<Symbol> made() const = 0;
    virtual TailTraits tail() const { return {}; }

    // The ranges of the loops made. `not_empty`: those taken are not; else they may be, and then so
    // is what is made of them.
    virtual std::vector<Interval> ranges_made(const std::vector<Interval> &taken,
                                              bool not_empty) const = 0;
    virtual std::vector<LoopFacts> facts_made(const std::vector<LoopFacts> &taken) const = 0;

    // Returns true if the loops made cover those taken exactly, if they themselves run over their
    // ranges.
    virtual bool is_exact(const std::vector<LoopFacts> &) const { return true; }
    virtual bool is_exact(const std::vector<Interval> &) const { return true; }
    // Returns true if it may be that a value is computed which is not in the range of the loop
    // taken.
    virtual bool may_run_beyond(const std::vector<LoopFacts> &) const { return false; }

    // The value of a loop taken, by its number, from those of the loops made. `exact`: these cover
    // it so.
    virtual Expr value_taken(size_t loop, const std::vector<Interval> &ranges,
                             const std::vector<Expr> &made, bool exact) const = 0;
    // An interval that holds this value while each loop made runs over an interval. `beyond`: the
    // outer one may run beyond its own range, where tests leave nothing of this value.
    virtual Interval interval_taken(size_t loop, const std::vector<Interval> &ranges,
                                    const std::function<Interval(size_t made)> &made, bool exact,
                                    bool beyond) const = 0;

    // If the loops made do not cover it exactly, returns the last value of a loop taken that tests
    // let pass; undefined if there is no test.
    Expr last_let_through(const Interval &range) const {
        return tail().leaves_out ? range.max : Expr();
    }
    // The same: when the value that is computed is to be written; undefined: always. Else it is
    // beyond the end, or another iteration has written it.
    virtual Expr is_written(const Interval &, const Expr & /*value*/,
                            const std::vector<Expr> & /*made*/) const {
        return {};
    }

    // Returns how much further than to the last value of its range a loop taken runs at most, if it
    // is not covered exactly; `made` says so of the loops made.
    virtual Expr most_beyond(size_t loop, const std::function<Expr(size_t made)> &made) const = 0;
    // The conditions on the loops made that say where one taken ends.
    struct Ends {
        // The last value that is computed of one that has to run over this range.
        std::function<Expr(size_t made, const Interval &range)> last;
        std::function<Expr(size_t made)> most_beyond;
    };
    // The same of a loop taken, if it is not covered exactly.
    virtual Expr last_computed(size_t loop, const std::vector<Interval> &ranges,
                               const Ends &made) const = 0;

    // The loop taken whose end a loop made goes beyond when it goes beyond its own.
    virtual size_t ends_with(size_t /*made*/) const { return 0; }
    // The loop made that runs over tiles of which this one runs over the inside: beyond its own
    // end it is in the next tile. Nothing if it runs over no tile.
    virtual std::optional<size_t> tiles_of(size_t /*made*/) const { return std::nullopt; }
};

std::unique_ptr<const TransformModel> model_of(const LoopTransform &transform);

}  // namespace tessera::program
