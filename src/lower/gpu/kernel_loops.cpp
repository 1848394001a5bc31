#include "lower/gpu/kernel_loops.h"
#include "algebra/simplify.h"
#include "ir/operators.h"
#include "ir/substitute.h"
#include "ir/visitor.h"

namespace tessera::lower {

using namespace ir;

bool is_over_threads(const For &loop) {
    const GPULevel level = traits_of(loop.loop_kind).gpu;
    return level == GPULevel::Thread || level == GPULevel::Lane;
}

bool is_over_lanes(const For &loop) { return traits_of(loop.loop_kind).gpu == GPULevel::Lane; }

bool is_over_blocks(const For &loop) {
    const GPULevel level = traits_of(loop.loop_kind).gpu;
    return level == GPULevel::Cluster || level == GPULevel::Block;
}

size_t dimension_of(const For &loop) {
    const bool is_of_grid = is_over_blocks(loop);
    const GPULevel level = traits_of(loop.loop_kind).gpu;
    size_t within = 0;
    for_each_node(loop.body, [&](const For &f) {
        within += is_of_grid ? traits_of(f.loop_kind).gpu == level : is_over_threads(f);
    });
    return within;
}

std::optional<int64_t> step_of(const Expr &coordinate, const For &loop) {
    const Expr next = substitute(loop.name, int32_variable(loop.name) + 1, coordinate);
    return as_const_int(algebra::simplify(next - coordinate));
}

bool is_print(const ExternCall &call) { return call.function == "tessera_print"; }

int shared_alignment(const Allocate &node) {
    return node.facts.swizzle == 0 ? neighbours_aligned_to
                                   : int(swizzle_period(node.facts.swizzle));
}

Expr shared_bytes(const Allocate &node) {
    const int aligned_to = shared_alignment(node), gap = aligned_to - neighbours_aligned_to;
    Expr bytes = Expr(node.type.bytes());
    for (const Expr &e : node.extents) bytes = bytes * max(cast(Int(32), e), 0);
    return algebra::simplify((bytes + (aligned_to - 1)) / aligned_to * aligned_to + gap);
}

}  // namespace tessera::lower
