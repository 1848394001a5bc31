#include "runtime/copy_plan.h"
#include "runtime/message.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tessera {

namespace {

struct Range {
    int64_t min, extent;
};

Range common(const tessera_dimension_t &a, const tessera_dimension_t &b) {
    int64_t min = std::max(a.min, b.min);
    int64_t end = std::min(int64_t(a.min) + a.extent, int64_t(b.min) + b.extent);
    return {min, std::max<int64_t>(end - min, 0)};
}

// Walks the loop the other way.
void turn_round(CopyLoop &loop, int64_t &src_offset, int64_t &dst_offset) {
    src_offset += (loop.extent - 1) * loop.src_stride;
    dst_offset += (loop.extent - 1) * loop.dst_stride;
    loop.src_stride = -loop.src_stride;
    loop.dst_stride = -loop.dst_stride;
}

void join(const std::vector<CopyLoop> &loops, CopyPlan &plan) {
    for (const CopyLoop &loop : loops) {
        if (plan.loops.empty() && loop.src_stride == plan.chunk && loop.dst_stride == plan.chunk) {
            plan.chunk *= loop.extent;
            continue;
        }
        CopyLoop *last = plan.loops.empty() ? nullptr : &plan.loops.back();
        if (last && loop.src_stride == last->src_stride * last->extent &&
            loop.dst_stride == last->dst_stride * last->extent) {
            last->extent *= loop.extent;
        } else {
            plan.loops.push_back(loop);
        }
    }
}

void copy_level(const CopyPlan &plan, size_t level, const uint8_t *src, uint8_t *dst) {
    const CopyLoop &loop = plan.loops[level];
    for (int64_t i = 0; i < loop.extent; i++) {
        const uint8_t *from = src + i * loop.src_stride;
        uint8_t *to = dst + i * loop.dst_stride;
        if (level == 0) {
            std::memcpy(to, from, size_t(plan.chunk));
        } else {
            copy_level(plan, level - 1, from, to);
        }
    }
}

}  // namespace

int64_t element_bytes(const tessera_type_t &type) {
    return int64_t((type.bits + 7) / 8) * type.lanes;
}

bool is_empty(const tessera_buffer_t &buffer) {
    return std::any_of(buffer.dim, buffer.dim + buffer.dimensions,
                       [](const tessera_dimension_t &d) { return d.extent <= 0; });
}

int64_t lowest_byte(const tessera_buffer_t &buffer) {
    if (is_empty(buffer)) return 0;
    int64_t elements = 0;
    for (int i = 0; i < buffer.dimensions; i++) {
        const tessera_dimension_t &d = buffer.dim[i];
        if (d.stride < 0) elements += (int64_t(d.extent) - 1) * d.stride;
    }
    return elements * element_bytes(buffer.type);
}

int64_t CopyPlan::bytes() const {
    int64_t product = chunk;
    for (const CopyLoop &loop : loops) product *= loop.extent;
    return product;
}

CopyPlan plan_copy(const tessera_buffer_t &src, const tessera_buffer_t &dst) {
    CopyPlan plan;
    plan.chunk = element_bytes(dst.type);
    plan.fills_dst = true;
    std::vector<CopyLoop> loops;
    for (int i = 0; i < dst.dimensions; i++) {
        const tessera_dimension_t &s = src.dim[i], &d = dst.dim[i];
        const int64_t element = element_bytes(dst.type);
        const Range range = common(s, d);
        CopyLoop loop{range.extent, s.stride * element, d.stride * element};
        plan.src_offset += (range.min - s.min) * loop.src_stride;
        plan.dst_offset += (range.min - d.min) * loop.dst_stride;
        if (range.extent != d.extent) plan.fills_dst = false;
        if (loop.src_stride < 0 && loop.dst_stride < 0) {
            turn_round(loop, plan.src_offset, plan.dst_offset);
        }
        if (range.extent != 1) loops.push_back(loop);
    }
    std::stable_sort(loops.begin(), loops.end(), [](const CopyLoop &a, const CopyLoop &b) {
        return std::abs(a.dst_stride) < std::abs(b.dst_stride);
    });
    join(loops, plan);
    return plan;
}

CopyInTwo copy_in_two(const CopyPlan &plan, bool in_order_of_dst) {
    const auto stride = in_order_of_dst ? &CopyLoop::dst_stride : &CopyLoop::src_stride;
    CopyInTwo two;
    two.first.chunk = two.second.chunk = plan.chunk;
    two.first.src_offset = plan.src_offset;
    two.second.dst_offset = plan.dst_offset;
    std::vector<CopyLoop> loops = plan.loops, first, second;
    for (CopyLoop &loop : loops) {
        if (loop.*stride < 0) turn_round(loop, two.first.src_offset, two.second.dst_offset);
    }
    std::stable_sort(loops.begin(), loops.end(),
                     [&](const CopyLoop &a, const CopyLoop &b) { return a.*stride < b.*stride; });
    int64_t dense = plan.chunk;
    for (const CopyLoop &loop : loops) {
        first.push_back({loop.extent, loop.src_stride, dense});
        second.push_back({loop.extent, dense, loop.dst_stride});
        dense *= loop.extent;
    }
    join(first, two.first);
    join(second, two.second);
    return two;
}

void copy_on_host(const CopyPlan &plan, const uint8_t *src, uint8_t *dst) {
    if (plan.bytes() == 0) return;
    src += plan.src_offset;
    dst += plan.dst_offset;
    if (plan.loops.empty()) {
        std::memcpy(dst, src, size_t(plan.chunk));
    } else {
        copy_level(plan, plan.loops.size() - 1, src, dst);
    }
}

int check_copied_types(void *user_context, const tessera_buffer_t &src,
                       const tessera_buffer_t &dst) {
    if (src.dimensions != dst.dimensions) {
        return tessera_error_bad_dimensions(user_context, "to copy from", src.dimensions,
                                            dst.dimensions);
    }
    if (src.type != dst.type) {
        return (Message() << "Cannot copy elements of type " << src.type << " to a buffer of "
                          << dst.type)
            .raise(user_context, tessera_error_code_bad_type);
    }
    return 0;
}

}  // namespace tessera
