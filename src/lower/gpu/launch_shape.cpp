#include "lower/gpu/launch_shape.h"
#include "algebra/bounds.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/visitor.h"
#include "lower/gpu/kernel_loops.h"
#include "lower/loops/let_scope.h"
#include <array>

namespace tessera::lower {

using namespace ir;
using algebra::Interval;

namespace {

class FindLaunchShape final : public Visitor {
public:
    explicit FindLaunchShape(const Stmt &nest) { (*this)(nest); }
    LaunchShape shape() const {
        std::vector<Expr> all(grid.begin(), grid.end());
        all.insert(all.end(), threads.begin(), threads.end());
        all.push_back(algebra::simplify(bytes));
        return {std::move(all), largest, bytes_of_largest};
    }

private:
    void visit(const For &loop) override {
        const GPULevel level = traits_of(loop.loop_kind).gpu;
        if (is_over_blocks(loop)) {
            Expr &blocks = grid[dimension_of(loop)];
            const Expr extent = lets.expand(loop.extent);
            blocks = is_one(blocks) ? extent : algebra::simplify(blocks * extent);
        }
        if (level == GPULevel::Thread) threads[dimension_of(loop)] = lets.expand(loop.extent);
        inner.bind(loop.name, {loop.min, loop.min + loop.extent - 1});
        lets.within(loop, [&] { (*this)(loop.body); });
    }
    void visit(const LetStmt &let) override {
        lets.within(let, [&] { (*this)(let.body); });
    }
    void visit(const Allocate &a) override {
        const bool is_shared = traits_of(a.memory).space == AddressSpace::Shared;
        if (!is_shared || a.facts.within.defined()) return (*this)(a.body);
        const Expr around = std::exchange(bytes, 0), own = most_bytes(a);
        if (const int64_t known = as_const_int(own).value_or(0); known > bytes_of_largest) {
            bytes_of_largest = known;
            largest = &a;
        }
        (*this)(a.body);
        bytes = max(around, own + bytes);
    }
    // Returns how many bytes a block needs at most.
    Expr most_bytes(const Allocate &a) const {
        inner.facts = lets.known();
        const Interval size = algebra::bounds_of_expr(lets.expand(shared_bytes(a)), inner);
        if (size.has_upper_bound()) return capped(size.max);
        throw CompileError(a.facts.compute_written,
                           str("the size of ", a.buffer,
                               " in the memory of a block is not the same for all blocks, and has "
                               "no bound that is known before they run; give it one with "
                               "bound_extent"));
    }

    // No GPU has so much, and the bytes of all buffers together do not wrap around.
    static Expr capped(const Expr &bytes) {
        constexpr int too_much = 1 << 24;
        if (is_const(bytes)) return bytes;
        return cast(Int(32), min(cast(UInt(32), bytes), make_const(UInt(32), too_much)));
    }

    std::array<Expr, 3> grid = {1, 1, 1}, threads = {1, 1, 1};
    Expr bytes = 0;
    const Allocate *largest = nullptr;
    int64_t bytes_of_largest = 0;
    LetScope lets;
    mutable algebra::IntervalScope inner;  // the variables of the kernel's loops
};

}  // namespace

LaunchShape launch_shape_of(const Stmt &nest) { return FindLaunchShape(nest).shape(); }

}  // namespace tessera::lower
