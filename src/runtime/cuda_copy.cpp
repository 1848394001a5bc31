#include "runtime/cuda_profile.h"
#include <algorithm>
#include <cstring>
#include <memory>

namespace tessera::cuda {

namespace {

// Copies of memory that is not pinned, and of at least `staged_from` bytes, go through pieces.
constexpr int64_t piece_bytes = int64_t(4) << 20;
constexpr int64_t staged_from = int64_t(256) << 10;
// So few bytes are not worth a row of their own.
constexpr int64_t small_row = 256;

// Rows of `width` bytes at addresses that are evenly spaced on both sides.
struct Rows {
    Address src, dst;
    int64_t width, count, src_pitch, dst_pitch;
};

// The rows of a plan, part by part.
class Parts {
public:
    Parts(const CopyPlan &plan, CopySide src, CopySide dst, int64_t max_pitch);
    // Calls f(Rows) for each part until one returns an error.
    template<typename F> Result each(F &&f) const { return each(loops.size(), rows, f); }

private:
    template<typename F> Result each(size_t level, Rows part, F &f) const {
        if (level == 0) return f(part);
        const CopyLoop &loop = loops[level - 1];
        for (int64_t i = 0; i < loop.extent; i++) {
            if (Result r = each(level - 1, part, f)) return r;
            part.src += uint64_t(loop.src_stride);
            part.dst += uint64_t(loop.dst_stride);
        }
        return result::success;
    }

    Rows rows;
    std::vector<CopyLoop> loops;  // around the rows
};

Parts::Parts(const CopyPlan &plan, CopySide src, CopySide dst, int64_t max_pitch)
    : rows{src.address + uint64_t(plan.src_offset),
           dst.address + uint64_t(plan.dst_offset),
           plan.chunk,
           1,
           plan.chunk,
           plan.chunk},
      loops(plan.loops) {
    // The longest loop that the driver can copy in one call.
    auto length = [&](const CopyLoop &loop) {
        const bool can = loop.src_stride >= plan.chunk && loop.dst_stride >= plan.chunk &&
                         std::max(loop.src_stride, loop.dst_stride) <= max_pitch;
        return can ? loop.extent : 0;
    };
    auto best =
        std::max_element(loops.begin(), loops.end(), [&](const CopyLoop &a, const CopyLoop &b) {
            return length(a) < length(b);
        });
    if (best == loops.end() || length(*best) == 0) return;
    rows.count = best->extent;
    rows.src_pitch = best->src_stride;
    rows.dst_pitch = best->dst_stride;
    loops.erase(best);
}

void *pointer(Address address) { return reinterpret_cast<void *>(address); }

// One call of the driver. Host memory is read or written by the time that the stream comes to it,
// or before.
Result copy_rows(const Scope &scope, const Rows &rows, bool from_device, bool to_device) {
    const Driver &d = scope.driver();
    if (rows.count == 1 || (rows.src_pitch == rows.width && rows.dst_pitch == rows.width)) {
        const auto bytes = size_t(rows.width * rows.count);
        if (!from_device)
            return d.host_to_device(rows.dst, pointer(rows.src), bytes, scope.stream());
        if (!to_device) return d.device_to_host(pointer(rows.dst), rows.src, bytes, scope.stream());
        return d.device_to_device(rows.dst, rows.src, bytes, scope.stream());
    }
    Copy2D copy = {};
    copy.src_kind = from_device ? MemoryKind::Device : MemoryKind::Host;
    copy.dst_kind = to_device ? MemoryKind::Device : MemoryKind::Host;
    copy.src_host = from_device ? nullptr : pointer(rows.src);
    copy.src_device = from_device ? rows.src : 0;
    copy.dst_host = to_device ? nullptr : pointer(rows.dst);
    copy.dst_device = to_device ? rows.dst : 0;
    copy.src_pitch = size_t(rows.src_pitch);
    copy.dst_pitch = size_t(rows.dst_pitch);
    copy.width = size_t(rows.width);
    copy.height = size_t(rows.count);
    return d.copy_2d(&copy, scope.stream());
}

void copy_rows_on_host(const Rows &rows) {
    for (int64_t i = 0; i < rows.count; i++) {
        std::memcpy(pointer(rows.dst + uint64_t(i * rows.dst_pitch)),
                    pointer(rows.src + uint64_t(i * rows.src_pitch)), size_t(rows.width));
    }
}

// Calls f(Rows) for pieces of `rows` that have at most `piece_bytes`.
template<typename F> Result in_pieces(const Rows &rows, F &&f) {
    const int64_t width = std::min(rows.width, piece_bytes), count = piece_bytes / width;
    for (int64_t y = 0; y < rows.count; y += count) {
        for (int64_t x = 0; x < rows.width; x += width) {
            Rows piece = rows;
            piece.src += uint64_t(y * rows.src_pitch + x);
            piece.dst += uint64_t(y * rows.dst_pitch + x);
            piece.count = std::min(count, rows.count - y);
            piece.width = std::min(width, rows.width - x);
            if (Result r = f(piece)) return r;
        }
    }
    return result::success;
}

Result make_piece(const Driver &d, Staging::Piece &piece) {
    void *memory = nullptr;
    if (Result r = d.create_event(&piece.copied, event_without_time)) return r;
    if (Result r = d.allocate_host(&memory, size_t(piece_bytes))) {
        d.destroy_event(piece.copied);
        return r;
    }
    piece.memory = static_cast<uint8_t *>(memory);
    return result::success;
}

// The context's pinned memory for one copy at a time; none if there is no more.
class Stage {
public:
    explicit Stage(const Scope &scope) : scope(scope), staging(take()) {}
    ~Stage() {
        if (!staging) return;
        // After a failure copies that no event stands for may still go on.
        if (!is_complete) scope.driver().synchronize(scope.stream());
        std::lock_guard lock(scope.state().mutex);
        scope.state().unused_staging.push_back(staging);
    }
    Stage(const Stage &) = delete;
    Stage &operator=(const Stage &) = delete;
    explicit operator bool() const { return staging; }

    // Both wait for a piece before it is used again. From the host: the last copies may still go
    // on.
    Result host_to_device(const Parts &parts);
    Result device_to_host(const Parts &parts);

private:
    struct Job {
        Rows rows;  // from the staging memory to where it belongs
    };

    Staging *take();
    Result next_room(int64_t bytes, uint8_t *&room);
    Result finish(int piece);
    Result turn();

    const Scope &scope;
    Staging *staging;
    int now = 0;
    int64_t used = 0;  // of the piece `now`
    bool is_complete = false;
    std::vector<Job> jobs[2];
};

Staging *Stage::take() {
    State &state = scope.state();
    {
        std::lock_guard lock(state.mutex);
        if (!state.unused_staging.empty()) {
            Staging *last = state.unused_staging.back();
            state.unused_staging.pop_back();
            return last;
        }
    }
    const Driver &d = scope.driver();
    auto made = std::make_unique<Staging>();
    if (make_piece(d, made->pieces[0])) return nullptr;
    if (make_piece(d, made->pieces[1])) {
        d.destroy_event(made->pieces[0].copied);
        d.free_host(made->pieces[0].memory);
        return nullptr;
    }
    return made.release();
}

// Waits for the piece's copies, and hands on what came from the device.
Result Stage::finish(int piece) {
    if (Result r = scope.driver().wait(staging->pieces[piece].copied)) return r;
    for (const Job &job : jobs[piece]) copy_rows_on_host(job.rows);
    jobs[piece].clear();
    return result::success;
}

Result Stage::turn() {
    if (Result r = scope.driver().record(staging->pieces[now].copied, scope.stream())) return r;
    now = 1 - now;
    used = 0;
    return finish(now);
}

Result Stage::next_room(int64_t bytes, uint8_t *&room) {
    if (used + bytes > piece_bytes) {
        if (Result r = turn()) return r;
    }
    room = staging->pieces[now].memory + used;
    used += bytes;
    return result::success;
}

Result Stage::host_to_device(const Parts &parts) {
    // Another copy may have used it just now.
    if (Result r = finish(now)) return r;
    const Result r = parts.each([&](const Rows &part) {
        return in_pieces(part, [&](const Rows &piece) {
            uint8_t *room = nullptr;
            if (Result r = next_room(piece.width * piece.count, room)) return r;
            Rows in = piece, out = piece;
            in.dst = out.src = Address(room);
            in.dst_pitch = out.src_pitch = piece.width;
            copy_rows_on_host(in);
            return copy_rows(scope, out, false, true);
        });
    });
    if (r) return r;
    if (Result r = scope.driver().record(staging->pieces[now].copied, scope.stream())) return r;
    is_complete = true;
    return result::success;
}

Result Stage::device_to_host(const Parts &parts) {
    if (Result r = finish(now)) return r;
    const Result r = parts.each([&](const Rows &part) {
        return in_pieces(part, [&](const Rows &piece) {
            uint8_t *room = nullptr;
            if (Result r = next_room(piece.width * piece.count, room)) return r;
            Rows in = piece, out = piece;
            in.dst = out.src = Address(room);
            in.dst_pitch = out.src_pitch = piece.width;
            jobs[now].push_back({out});
            return copy_rows(scope, in, true, false);
        });
    });
    if (r) return r;
    if (Result r = turn()) return r;
    if (Result r = finish(1 - now)) return r;
    is_complete = true;
    return result::success;
}

bool is_pinned(const Driver &d, Address address) {
    int kind = 0;
    return !d.pointer_attribute(&kind, pointer_attribute_kind, address) && kind != 0;
}

const char *direction(CopySide src, CopySide dst) {
    if (!src.on_device) return " bytes to the GPU";
    return dst.on_device ? " bytes on the GPU" : " bytes from the GPU";
}

tessera_error_code_t code_of(CopySide src, CopySide dst) {
    if (!src.on_device) return tessera_error_code_copy_to_device_failed;
    return dst.on_device ? tessera_error_code_device_buffer_copy_failed
                         : tessera_error_code_copy_to_host_failed;
}

tessera_profiler_work_t work_of(CopySide src, CopySide dst) {
    if (!src.on_device) return tessera_profiler_copy_to_device;
    return dst.on_device ? tessera_profiler_copy_on_device : tessera_profiler_copy_to_host;
}

Result copy_parts(const Scope &scope, const Parts &parts, bool from_device, bool to_device) {
    return parts.each(
        [&](const Rows &part) { return copy_rows(scope, part, from_device, to_device); });
}

Result copy_with_host(const Scope &scope, const CopyPlan &plan, CopySide src, CopySide dst) {
    const Parts parts(plan, src, dst, scope.state().limits.pitch);
    const bool pinned = is_pinned(scope.driver(), src.on_device ? dst.address : src.address);
    if (plan.bytes() >= staged_from && !pinned) {
        Stage stage(scope);
        if (stage) return src.on_device ? stage.device_to_host(parts) : stage.host_to_device(parts);
    }
    if (Result r = copy_parts(scope, parts, src.on_device, dst.on_device)) return r;
    return src.on_device || pinned ? scope.driver().synchronize(scope.stream()) : result::success;
}

struct Free {
    void *user_context;
    void operator()(void *p) const { tessera_free(user_context, p); }
};

// Copies between different layouts: elements are put in the device's order on the host, since the
// driver would have to be called for every few of them.
Result copy_in_order(void *user_context, const Scope &scope, const CopyPlan &plan, CopySide src,
                     CopySide dst) {
    if (plan.loops.empty() || plan.chunk >= small_row) {
        return copy_with_host(scope, plan, src, dst);
    }
    const CopyInTwo two = copy_in_two(plan, dst.on_device);
    const CopyPlan &on_device = src.on_device ? two.first : two.second;
    if (on_device.chunk == plan.chunk) return copy_with_host(scope, plan, src, dst);
    const std::unique_ptr<void, Free> dense(tessera_malloc(user_context, size_t(plan.bytes())),
                                            Free{user_context});
    if (!dense) return copy_with_host(scope, plan, src, dst);
    auto *between = static_cast<uint8_t *>(dense.get());
    if (dst.on_device) {
        copy_on_host(two.first, static_cast<const uint8_t *>(pointer(src.address)), between);
        return copy_with_host(scope, two.second, {Address(between), false}, dst);
    }
    if (Result r = copy_with_host(scope, two.first, src, {Address(between), false})) return r;
    copy_on_host(two.second, between, static_cast<uint8_t *>(pointer(dst.address)));
    return result::success;
}

}  // namespace

int copy(void *user_context, const CopyPlan &plan, CopySide src, CopySide dst) {
    Scope scope(user_context);
    if (scope.error()) return scope.error();
    Result r = result::success;
    const Timed timed(scope, work_of(src, dst), plan.bytes());
    if (src.on_device && dst.on_device) {
        r = copy_parts(scope, Parts(plan, src, dst, scope.state().limits.pitch), true, true);
    } else {
        r = copy_in_order(user_context, scope, plan, src, dst);
    }
    return scope.check(code_of(src, dst), r,
                       Message() << "copying " << plan.bytes() << direction(src, dst));
}

}  // namespace tessera::cuda
