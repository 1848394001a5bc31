#include "../program.h"
#include <atomic>

namespace {
int check_sum(const Buffer<int> &out, int scale = 1) {
    for (int y = out.top(); y <= out.bottom(); y++) {
        for (int x = out.left(); x <= out.right(); x++) {
            if (out(x, y) != scale * (x + y)) return 1;
        }
    }
    return 0;
}
}  // namespace

PROGRAM(splits_and_tails) {
    for (TailStrategy tail : {TailStrategy::Auto, TailStrategy::RoundUp, TailStrategy::GuardWithIf,
                              TailStrategy::ShiftInwards, TailStrategy::Predicate,
                              TailStrategy::PredicateLoads, TailStrategy::PredicateStores}) {
        Var x, y, xo, xi, yo, yi;
        Func f;
        f(x, y) = x + y;
        f.split(x, xo, xi, 8, tail).split(y, yo, yi, 4, tail);
        Buffer<int> out = f.realize({24, 16});
        EXPECT(check_sum(out) == 0);
    }
    return 0;
}

PROGRAM(uneven_sizes) {
    Var x, y, xo, xi;
    Func f, g, h;
    f(x, y) = x + y;
    f.split(x, xo, xi, 8, TailStrategy::GuardWithIf);
    Buffer<int> out = f.realize({13, 3});
    EXPECT(check_sum(out) == 0);
    g(x, y) = x + y;
    g.vectorize(x, 8, TailStrategy::ShiftInwards);
    Buffer<int> out2 = g.realize({13, 3});
    EXPECT(check_sum(out2) == 0);
    h(x, y) = x + y;
    h.vectorize(x, 8, TailStrategy::RoundUp);
    Buffer<int> out3 = h.realize({13, 3});
    EXPECT(out3.width() == 13 && check_sum(out3) == 0);
    return 0;
}

PROGRAM(fuse_reorder_rename) {
    Var x("x"), y("y"), t("t"), u("u"), xi, yi;
    Func f, g, h;
    f(x, y) = x + y;
    f.fuse(x, y, t).parallel(t);
    g(x, y) = x + y;
    g.reorder(y, x);
    h(x, y) = x + y;
    h.rename(x, u).split(u, u, xi, 4).reorder({xi, y, u});
    Buffer<int> a = f.realize({7, 5}), b = g.realize({7, 5}), c = h.realize({8, 5});
    EXPECT(check_sum(a) == 0 && check_sum(b) == 0 && check_sum(c) == 0);
    return 0;
}

PROGRAM(tiles) {
    Var x, y, xo, yo, xi, yi;
    Func a, b, c, d;
    a(x, y) = x + y;
    b(x, y) = a(x, y);
    c(x, y) = x + y;
    d(x, y) = x + y;
    b.tile(x, y, xo, yo, xi, yi, 4, 4).vectorize(xi).unroll(yi).parallel(yo);
    c.tile(x, y, xi, yi, 8, 2, TailStrategy::GuardWithIf);
    d.tile({x, y}, {xo, yo}, {xi, yi}, {4, 2}, {TailStrategy::RoundUp, TailStrategy::RoundUp});
    Buffer<int> rb = b.realize({16, 16}), rc = c.realize({15, 7}), rd = d.realize({16, 16});
    EXPECT(check_sum(rb) == 0 && check_sum(rc) == 0 && check_sum(rd) == 0);
    return 0;
}

PROGRAM(tile_three_dimensions) {
    Var x, y, z, xi, yi, zi;
    Func f;
    f(x, y, z) = x + y * z;
    f.tile({x, y, z}, {xi, yi, zi}, {4, 2, 2});
    Buffer<int> out = f.realize({8, 4, 4});
    EXPECT(out(7, 3, 2) == 13);
    return 0;
}

PROGRAM(compute_and_store_places) {
    Var x, y, xo, xi;
    for (int where = 0; where < 6; where++) {
        Func f, g;
        f(x, y) = x * y;
        g(x, y) = f(x, y) + f(x + 1, y) + f(x, y + 1);
        switch (where) {
        case 0: f.compute_inline(); break;
        case 1: f.compute_root(); break;
        case 2: f.compute_at(g, x); break;
        case 3: f.store_root().compute_at(g, y); break;
        case 4: f.store_at(g, y).compute_at(g, x); break;
        case 5: f.hoist_storage_root().compute_at(g, y); break;
        }
        Buffer<int> out = g.realize({9, 7});
        EXPECT(out(4, 5) == 20 + 25 + 24);
    }
    return 0;
}

PROGRAM(loop_levels) {
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x, y) = x + y;
    g(x, y) = f(x, y) * 2;
    LoopLevel store, compute;
    f.store_at(store).compute_at(compute);
    store.set(LoopLevel(g, y));
    compute.set(LoopLevel(g, x));
    Buffer<int> out = g.realize({5, 5});
    EXPECT(check_sum(out, 2) == 0);
    EXPECT(LoopLevel::root().lock().is_root() && LoopLevel::inlined().lock().is_inlined());
    return 0;
}

PROGRAM(sliding_windows_and_folds) {
    Var x, y;
    Func f, g;
    f(x, y) = x + y;
    g(x, y) = f(x, y - 1) + f(x, y) + f(x, y + 1);
    f.store_root().compute_at(g, y).fold_storage(y, 4);
    Buffer<int> out = g.realize({10, 10});
    EXPECT(check_sum(out, 3) == 0);
    return 0;
}

PROGRAM(async_and_ring_buffers) {
    Var x, y, yo, yi;
    Func f, g;
    f(x, y) = x + y;
    g(x, y) = f(x, y) * 3;
    f.compute_at(g, y).store_root().async();
    Buffer<int> out = g.realize({10, 10});
    EXPECT(check_sum(out, 3) == 0);
    Func p, c;
    p(x, y) = x + y;
    c(x, y) = p(x, y) + p(x, y);
    c.split(y, yo, yi, 4);
    p.compute_at(c, yo).hoist_storage(c, Var::outermost()).ring_buffer(2).async();
    Buffer<int> out2 = c.realize({8, 16});
    EXPECT(check_sum(out2, 2) == 0);
    return 0;
}

PROGRAM(bounds_directives) {
    Var x, y, c;
    Func f;
    f(x, y, c) = x + y + c;
    f.bound(c, 0, 3).unroll(c).reorder(c, x, y);
    Buffer<int> out = f.realize({4, 4, 3});
    EXPECT(out(1, 1, 2) == 4);
    Func g, h;
    g(x) = x;
    h(x) = g(x) + g(x + 1);
    g.compute_root().align_bounds(x, 8).vectorize(x, 8);
    h.bound_extent(x, 6);
    Buffer<int> out2 = h.realize({6});
    EXPECT(out2(5) == 11);
    Func k, m;
    k(x) = x;
    m(x) = k(x + 3);
    k.compute_root().align_extent(x, 16);
    Buffer<int> out3 = m.realize({5});
    EXPECT(out3(4) == 7);
    return 0;
}

PROGRAM(estimates) {
    Var x, y;
    ImageParam in(Float(32), 2);
    Param<int> p;
    Func f;
    f(x, y) = in(x, y) + p;
    f.set_estimate(x, 0, 100).set_estimate(y, 0, 50);
    f.set_estimates({{0, 100}, {0, 50}});
    in.set_estimates({{0, 100}, {0, 50}});
    in.dim(0).set_estimate(0, 10);
    p.set_estimate(3);
    f.output_buffer().set_estimates({{0, 100}, {0, 50}});
    in.set(Buffer<float>(4, 4));
    p.set(1);
    f.realize({4, 4});
    return 0;
}

PROGRAM(storage_layout) {
    Var x, y, c;
    Func f, g;
    f(x, y, c) = x + 10 * y + 100 * c;
    g(x, y, c) = f(x, y, c) + f(x + 1, y, c);
    f.compute_root().reorder_storage(c, x, y).align_storage(x, 16).bound_storage(c, 4);
    Buffer<int> out = g.realize({6, 5, 3});
    EXPECT(out(1, 2, 2) == 221 + 222);
    return 0;
}

PROGRAM(memory_types) {
    for (MemoryType m :
         {MemoryType::Auto, MemoryType::Heap, MemoryType::Stack, MemoryType::Register}) {
        Var x, xo, xi;
        Func f, g;
        f(x) = x * x;
        g(x) = f(x) + 1;
        g.split(x, xo, xi, 4);
        f.compute_at(g, xo).store_in(m).unroll(x);
        Buffer<int> out = g.realize({16});
        EXPECT(out(9) == 82);
    }
    return 0;
}

PROGRAM(wrappers) {
    Var x, y;
    Func source("source"), a("a"), b("b");
    source(x, y) = x + y;
    a(x, y) = source(x, y);
    b(x, y) = source(x, y) + a(x, y);
    Func wrapped = source.in(a);
    wrapped.compute_root();
    Func all = source.in();
    source.compute_root();
    Buffer<int> out = b.realize({4, 4});
    EXPECT(check_sum(out, 2) == 0);
    Func p, q, r;
    p(x, y) = x + y;
    q(x, y) = p(x, y);
    r(x, y) = p(x, y) + q(x, y);
    Func clone = p.clone_in(q);
    clone.compute_root();
    p.compute_root();
    q.compute_root();
    Buffer<int> out2 = r.realize({4, 4});
    EXPECT(check_sum(out2, 2) == 0);
    return 0;
}

PROGRAM(image_wrappers) {
    Var x, y;
    ImageParam im(Int(32), 2);
    Func f;
    f(x, y) = im(x, y) * 2;
    im.in().compute_at(f, y);
    Buffer<int> in(5, 5);
    in.fill([](int i, int j) { return i + j; });
    im.set(in);
    Buffer<int> out = f.realize({5, 5});
    EXPECT(check_sum(out, 2) == 0);
    return 0;
}

PROGRAM(rfactors) {
    Buffer<int> data(100);
    data.fill([](int i) { return i; });
    RDom r(0, 100);
    RVar ro, ri;
    Var u, v;
    Func f;
    f() = 0;
    f() += data(r);
    f.update().split(r, ro, ri, 10);
    Func partial = f.update().rfactor(ro, u);
    partial.compute_root().vectorize(u, 5).update().parallel(u);
    EXPECT(evaluate<int>(f()) == 4950);
    RDom q(0, 10, 0, 10);
    Func g;
    g() = 1000;
    g() = min(g(), data(q.x + 10 * q.y));
    Func part = g.update().rfactor({{q.x, u}, {q.y, v}});
    part.compute_root();
    EXPECT(evaluate<int>(g()) == 0);
    return 0;
}

PROGRAM(atomics) {
    Buffer<int> data(1000);
    data.fill([](int i) { return i * 7; });
    RDom r(data);
    Var x;
    Func hist;
    hist(x) = 0;
    hist(data(r) % 10) += 1;
    hist.update().atomic().parallel(r.x);
    Buffer<int> out = hist.realize({10});
    for (int i = 0; i < 10; i++) EXPECT(out(i) == 100);
    Func total;
    total() = 0;
    total() += data(r);
    total.update().atomic().vectorize(r.x, 8);
    EXPECT(evaluate<int>(total()) == 7 * 999 * 500);
    return 0;
}

PROGRAM(races_allowed) {
    Var x;
    RDom r(0, 20);
    Func f;
    f(x) = 0;
    f(r) = r * 2;
    f.update().allow_race_conditions().parallel(r.x);
    Buffer<int> out = f.realize({20});
    EXPECT(out(19) == 38);
    return 0;
}

PROGRAM(specializations) {
    Param<bool> flag;
    Param<int> n;
    Var x;
    Func f;
    f(x) = select(flag, x, -x) + n;
    f.specialize(flag).vectorize(x, 4);
    Stage s = f.specialize(n == 5);
    s.unroll(x, 2);
    flag.set(true);
    n.set(5);
    Buffer<int> a = f.realize({8});
    flag.set(false);
    Buffer<int> b = f.realize({8});
    EXPECT(a(3) == 8 && b(3) == 2);
    return 0;
}

PROGRAM(partitions) {
    Var x, y;
    Func f, g;
    f(x, y) = x + y;
    g(x, y) = BoundaryConditions::repeat_edge(f, {{0, 10}, {0, 10}})(x, y);
    f.compute_root();
    g.partition(x, Partition::Never).always_partition(y);
    Buffer<int> out = g.realize({10, 10});
    EXPECT(check_sum(out) == 0);
    Func h;
    h(x, y) = x + y;
    h.never_partition(x, y);
    Func k;
    k(x, y) = h(x, y);
    k.never_partition_all();
    Buffer<int> out2 = k.realize({10, 10});
    EXPECT(check_sum(out2) == 0);
    return 0;
}

PROGRAM(prefetches) {
    Var x, y;
    ImageParam in(Int(32), 2);
    Func f, g;
    f(x, y) = in(x, y);
    g(x, y) = f(x, y) + in(x, y);
    f.compute_root();
    g.prefetch(in, y, y, 2).prefetch(f, y, y, 1, PrefetchBoundStrategy::Clamp);
    Buffer<int> image(20, 20);
    image.fill([](int i, int j) { return i + j; });
    in.set(image);
    Buffer<int> out = g.realize({20, 20});
    EXPECT(check_sum(out, 2) == 0);
    return 0;
}

PROGRAM(update_schedules) {
    Var x, y, xo, xi;
    RDom r(0, 10);
    RVar ro, ri;
    Func f;
    f(x, y) = 0;
    f(x, y) += r;
    f.vectorize(x, 4);
    f.update(0).reorder(x, r, y).vectorize(x, 4).parallel(y);
    f(x, y) += x + y - 45;
    f.update(1).unscheduled();
    Buffer<int> out = f.realize({16, 8});
    EXPECT(check_sum(out) == 0);
    return 0;
}

PROGRAM(serial_parallel_unroll) {
    Var x, y;
    Func f;
    f(x, y) = x + y;
    f.serial(x).parallel(y, 4).unroll(x, 4, TailStrategy::GuardWithIf);
    Buffer<int> out = f.realize({10, 10});
    EXPECT(check_sum(out) == 0);
    return 0;
}

PROGRAM(nested_vectors) {
    Var x, y, xi, yi;
    Func f;
    f(x, y) = x + y;
    f.tile(x, y, xi, yi, 4, 4, TailStrategy::RoundUp).vectorize(xi).vectorize(yi);
    Buffer<int> out = f.realize({16, 16});
    EXPECT(check_sum(out) == 0);
    return 0;
}

PROGRAM(stage_names_and_loops) {
    Var x("x"), y("y");
    RDom r(0, 3, "r");
    Func f("f");
    f(x, y) = 0;
    Stage s = f(x, y) += r;
    EXPECT(s.name() == "f.update(0)" || !s.name().empty());
    EXPECT(!s.dump_argument_list().empty());
    EXPECT(!f.update().name().empty());
    f.print_loop_nest();
    return 0;
}

PROGRAM(specialize_fail_not_reached) {
    Param<int> p;
    Var x;
    Func f;
    f(x) = x * p;
    f.specialize(p == 2);
    f.specialize_fail("p has to be 2");
    p.set(2);
    Buffer<int> out = f.realize({4});
    EXPECT(out(3) == 6);
    return 0;
}

PROGRAM(matrix_product) {
    const int n = 32;
    Buffer<float> a(n, n), b(n, n);
    a.fill([](int x, int y) { return float(x == y); });
    b.fill([](int x, int y) { return float(x + y); });
    Var x, y, xo, yo, xi, yi;
    RDom k(0, n);
    Func prod("prod"), out("out");
    prod(x, y) = 0.0f;
    prod(x, y) += a(k, y) * b(x, k);
    out(x, y) = prod(x, y);
    out.tile(x, y, xi, yi, 16, 4).vectorize(xi, 8).unroll(yi).parallel(y);
    prod.compute_at(out, x).vectorize(x, 8);
    prod.update().reorder(x, y, k).vectorize(x, 8).unroll(y, 4);
    Buffer<float> result = out.realize({n, n});
    EXPECT(result(3, 9) == 12.0f);
    return 0;
}

PROGRAM(no_profiling_and_streams) {
    Var x;
    Func f, g;
    f(x) = x;
    g(x) = f(x) + 1;
    f.compute_root().no_profiling();
    Buffer<int> out = g.realize({5});
    EXPECT(out(4) == 5);
    return 0;
}

PROGRAM(factors_of_unsigned_types) {
    Var x, xo, xi;
    Param<uint32_t> pieces;
    Param<uint8_t> bytes;
    Func f, g, h;
    f(x) = x, g(x) = x, h(x) = x;
    f.split(x, xo, xi, Expr(8u)).vectorize(xi);
    g.split(x, xo, xi, pieces, TailStrategy::GuardWithIf);
    h.split(x, xo, xi, bytes);
    pieces.set(5), bytes.set(4);
    for (Func each : {f, g, h}) {
        Buffer<int> out = each.realize({32});
        for (int i = 0; i < 32; i++) EXPECT(out(i) == i);
    }
    return 0;
}
PROGRAM(streamed_stores_of_a_scatter) {
    Var x;
    RDom r(0, 16);
    Func f;
    f(x) = 0;
    f(15 - r) = r;
    f.update().stream_stores();
    Buffer<int> out = f.realize({16});
    EXPECT(out(3) == 12);
    return 0;
}
