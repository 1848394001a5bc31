#include "schedule/directives.h"

// Each function is a section of docs/directives.md: the comment before it says what the directive
// means, the lines before `if (!scheduled)` are the algorithm, and those after it the schedule.
using namespace tessera;

namespace directives {
namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), t("t"), u("u");

// `split(old, outer, inner, factor, tail)`: the loop over old becomes two, old = outer * factor +
// inner. Where the factor does not divide the extent, the tail says what happens: `GuardWithIf`
// tests each iteration, `RoundUp` computes more, `ShiftInwards` moves the last piece so that it
// ends where the loop does.
Func split(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.split(x, xo, xi, 8);
    return f;
}

// `fuse(inner, outer, fused)`: two loops become one, which runs over the product of their extents.
Func fuse(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.fuse(x, y, t).parallel(t);
    return f;
}

// `reorder(innermost, ..., outermost)`: the loops that are named take each other's places, the
// first one innermost.
Func reorder(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.reorder(y, x);
    return f;
}

// `rename(old, name)`: the loop gets another name for the directives that follow.
Func rename(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.rename(x, u);
    return f;
}

// `tile(x, y, xo, yo, xi, yi, xfactor, yfactor, tail)`: splits two loops, or lists of them, and
// puts the inner ones innermost. Without xo and yo the outer loops keep the names x and y.
Func tile(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.tile(x, y, xo, yo, xi, yi, 32, 8);
    return f;
}

// `parallel(v)` gives the iterations of the loop to the threads of a pool; `parallel(v, n)` gives
// them n at a time.
Func parallel(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.parallel(y, 4);
    return f;
}

// `vectorize(v)` computes all iterations of a loop of constant extent at once, as lanes of a
// vector; `vectorize(v, n)` splits the loop by n first.
Func vectorize(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.vectorize(x, 8);
    return f;
}

// `unroll(v)` writes the iterations of a loop of constant extent one after the other; `unroll(v,
// n)` splits the loop by n first.
Func unroll(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.unroll(y, 2);
    return f;
}

// `serial(v)` takes back what was said of the loop before: its iterations run one after the other.
Func serial(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.parallel(y).serial(y);
    return f;
}

// `partition(v, policy)`, `never_partition(v, ...)`, `always_partition(v, ...)`, and `..._all()`
// for all loops: says if the iterations that need no tests at the borders get a copy of the loop of
// their own. By default they do where a test would go away.
Func partition(bool scheduled) {
    Func f("f");
    f(x, y) = select(x == 0, 0, x + y);
    if (!scheduled) return f;
    f.never_partition(x);
    return f;
}

// `compute_root()`: the Func is computed before all of its consumers' loops, for all that they
// read. Without it, or after `compute_inline()`, its definition is put in the place of each call.
Func compute_root(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    g.compute_root();
    return f;
}

// `compute_at(consumer, v)`: the Func is computed within the consumer's loop over v, for what an
// iteration reads.
Func compute_at(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    g.compute_at(f, y);
    return f;
}

// `store_root()`, `store_at(consumer, v)`: the storage lies further out than the computing. What
// earlier iterations have computed is not computed again: a sliding window. So is an update that is
// a scan, `m(x, r) = max(m(x, r - 1), s(x, r))`, computed in the loop of a reduction that reads
// `m(x, r)` and `m(x, r - 1)`: `m.store_root().compute_at(o, r)` computes one point in each
// iteration, and stores two. So several reductions share one loop, of which each reads the others'
// results so far; an online softmax is written in this way (`apps/attention/online.h`).
Func store_at(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    g.store_root().compute_at(f, y);
    return f;
}

// `hoist_storage(consumer, v)`, `hoist_storage_root()`: memory is taken once, further out than
// where the values are stored, without keeping them from one iteration to the next.
Func hoist_storage(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    g.hoist_storage_root().compute_at(f, y);
    return f;
}

// `store_in(memory)`: the kind of memory: `Heap`, `Stack`, `Register`, and on GPUs `GPUShared`, the
// memory of a block, and `Tile`, the registers of tensor cores.
Func store_in(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    f.bound(x, 0, 64);
    g.compute_at(f, y).store_in(MemoryType::Stack);
    return f;
}

// `fold_storage(v, extent)`: only so many neighbours along v are kept; the coordinate is taken
// modulo the extent. It is found without being asked for where a window slides along a serial loop.
Func fold_storage(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    g.store_root().compute_at(f, y).fold_storage(y, 2);
    return f;
}

// `async()`: the Func is computed by a task of its own, which runs ahead as far as its storage
// allows. `ring_buffer(n)` gives it n copies of its storage to run ahead in.
Func async(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    g.hoist_storage_root().compute_at(f, y).ring_buffer(2).async();
    return f;
}

// `reorder_storage(innermost, ..., outermost)`: the order of dimensions in memory.
Func reorder_storage(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(y, x);
    if (!scheduled) return f;
    g.compute_root().reorder_storage(y, x);
    return f;
}

// `align_storage(v, n)`: the extent of the storage along v is rounded up to a multiple of n.
Func align_storage(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    g.compute_root().align_storage(x, 16);
    return f;
}

// `bound_storage(v, extent)`: promises that the storage along v is not larger; a run checks it.
Func bound_storage(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    g.compute_at(f, y).bound_storage(y, 2);
    return f;
}

// `bound(v, min, extent)` and `bound_extent(v, extent)` promise what is asked of the Func: loops
// over it get constant ends. A run with another size fails.
Func bound(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.bound(x, 0, 16).unroll(x);
    return f;
}

// `align_bounds(v, modulus, remainder)` and `align_extent(v, modulus)`: what is computed along v
// begins, and ends, at multiples of the modulus.
Func align_bounds(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x + 1, y);
    if (!scheduled) return f;
    g.compute_at(f, y).align_bounds(x, 2);
    return f;
}

// `specialize(condition)`: makes a copy of the loops for runs in which the condition holds, with
// directives of its own. `specialize_fail(message)` says that none is left for other runs.
Func specialize(bool scheduled) {
    Func f("f");
    Param<bool> wide("wide");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.specialize(wide).vectorize(x, 8);
    return f;
}

// `in(consumer)`: a Func in between, which the consumer reads in the place of this one and which
// can be scheduled by itself; `in()` stands before all consumers. `clone_in(consumer)` computes
// this Func once more for the consumer. Both hold also where the consumer reads this Func only
// through Funcs that are inline.
Func in(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    g.compute_root();
    g.in(f).compute_at(f, y);
    return f;
}

// `rfactor(r, v)`, of an update that is associative: a Func of its own computes partial results,
// one for each value of v, and the update puts them together.
Func rfactor(bool scheduled) {
    Func f("f");
    RDom r(0, 64, "r");
    RVar ro("ro"), ri("ri");
    f(x) += x * r;
    if (!scheduled) return f;
    f.update().split(r, ro, ri, 8).rfactor(ri, u).compute_root().vectorize(u);
    return f;
}

// `split_k(r, part, n)`, of an update that is associative: its iterations over r are dealt out to n
// parts, which a Func of its own computes, one for each value of `part`; the update adds them up in
// the order of their numbers. It is short for `split(r, r, of, n).rfactor(of, part)`, or, if n is
// known to divide the iterations, `split(r, of, r, iterations / n).rfactor(of, part)`.
Func split_k(bool scheduled) {
    Func f("f");
    RDom r(0, 64, "r");
    f(x) += x * r;
    if (!scheduled) return f;
    f.update().split_k(r, u, 4).compute_root().update().parallel(u);
    return f;
}

// `atomic()`: iterations of an update may run at once though they write the same element: each is
// one that cannot be interrupted.
Func atomic(bool scheduled) {
    Func f("f");
    RDom r(0, 64, "r");
    f(x) += x * r;
    if (!scheduled) return f;
    f.update().atomic().parallel(r);
    return f;
}

// `prefetch(what, at, from, offset)`: in the loop over `at`, what the iteration `offset` further
// along `from` reads of a Func or an input is fetched into the cache. `stream_loads({what, ...})`
// and `stream_stores()` go past the cache.
Func prefetch(bool scheduled) {
    Func g("g"), f("f");
    g(x, y) = x * y;
    f(x, y) = g(x, y) + g(x, y + 1);
    if (!scheduled) return f;
    g.compute_root();
    f.prefetch(g, y, y, 2);
    return f;
}

// `gpu_blocks(x, y, z)` and `gpu_threads(x, y, z)`: the loops become the blocks of a kernel, and
// the threads of a block. `gpu_single_thread()` makes a kernel of one thread.
Func gpu_blocks(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.split(x, xo, xi, 64).gpu_blocks(xo, y).gpu_threads(xi);
    return f;
}

// `gpu_tile(x, y, xi, yi, nx, ny)`: splits, reorders, and gives the loops to blocks and threads.
Func gpu_tile(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.gpu_tile(x, y, xi, yi, 32, 8);
    return f;
}

// `gpu_lanes(v)`: the iterations are the lanes of a warp, at most 32, which read each other's
// registers.
Func gpu_lanes(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.split(x, xo, xi, 32).gpu_blocks(xo, y).gpu_lanes(xi);
    return f;
}

// `gpu_clusters(x, y, z)`: blocks that run at the same time and share their memory, on compute
// capability 9.0 and newer.
Func gpu_clusters(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.split(x, xo, xi, 64).split(xo, xo, t, 2).reorder(xi, t, xo, y);
    f.gpu_clusters(xo, y).gpu_blocks(t).gpu_threads(xi);
    return f;
}

// `persistent(n)`: the kernel has n blocks for each multiprocessor, which take tile after tile.
// `gpu_order(order)` says in which order tiles are taken, `grouped(n)` rows of them or `hilbert()`
// along a curve, and `gpu_resident_blocks(n)` how many
// blocks a multiprocessor has to have room for, which limits the registers of a thread.
// `warp_specialize()` has one warp of a kernel copy ahead what the others use on tensor cores;
// `ping_pong()` has two groups of these take the tiles of a block in turns.
Func persistent(bool scheduled) {
    Func f("f");
    f(x, y) = x + y;
    if (!scheduled) return f;
    f.gpu_tile(x, y, xi, yi, 32, 8).persistent();
    return f;
}

}  // namespace

const std::vector<Example> &examples() {
    static const std::vector<Example> all = {
        {"Loops", nullptr},
        {"split", split},
        {"fuse", fuse},
        {"reorder", reorder},
        {"rename", rename},
        {"tile", tile},
        {"parallel", parallel},
        {"vectorize", vectorize},
        {"unroll", unroll},
        {"serial", serial},
        {"partition", partition},
        {"Where a Func is computed, and stored", nullptr},
        {"compute_root", compute_root},
        {"compute_at", compute_at},
        {"store_at", store_at},
        {"hoist_storage", hoist_storage},
        {"async", async},
        {"Storage", nullptr},
        {"store_in", store_in},
        {"fold_storage", fold_storage},
        {"reorder_storage", reorder_storage},
        {"align_storage", align_storage},
        {"bound_storage", bound_storage},
        {"prefetch", prefetch},
        {"Sizes, and versions for them", nullptr},
        {"bound", bound},
        {"align_bounds", align_bounds},
        {"specialize", specialize},
        {"Funcs made of others, and reductions", nullptr},
        {"in", in},
        {"rfactor", rfactor},
        {"split_k", split_k},
        {"atomic", atomic},
        {"GPUs", nullptr},
        {"gpu_blocks", gpu_blocks},
        {"gpu_tile", gpu_tile},
        {"gpu_lanes", gpu_lanes},
        {"gpu_clusters", gpu_clusters},
        {"persistent", persistent},
    };
    return all;
}

}  // namespace directives
