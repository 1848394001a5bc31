#include "schedule/cases.h"

using namespace tessera;

namespace schedule_cases {
namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), u("u"), t("t");

// A chain with a stencil, an update and parameters.
struct Chain {
    RDom r{{{0, 40}, {0, 8}}, "r"};
    ImageParam in{Int(32), 2, "in"};
    Param<int> p{"p"};
    Param<bool> flag{"flag"};
    Func wide{"wide"}, tall{"tall"}, total{"total"}, out{"out"};
    Chain() {
        wide(x, y) = in(x, y) + in(x + 1, y);
        tall(x, y) = wide(x, y) + wide(x, y + 1) * p;
        total(x) += tall(x, r.y) * r.x;
        out(x, y) = select(flag, tall(x, y), 0) + total(x);
        out(x, y) += 1;
        out(x, 3) = 5;
    }
    Pipeline pipeline() { return Pipeline(out); }
};

Pipeline splits(bool scheduled) {
    Chain c;
    if (!scheduled) return c.pipeline();
    RVar ro("ro"), ri("ri");
    c.out.bound(x, 0, 64).split(x, xo, xi, 8).split(y, y, yi, 4, TailStrategy::ShiftInwards);
    c.out.update(0).split(x, xo, xi, 8, TailStrategy::ShiftInwardsAndBlend);
    c.out.update(0).split(y, yo, yi, 4, TailStrategy::RoundUpAndBlend);
    c.out.update(1).split(x, xo, xi, 16, TailStrategy::GuardWithIf);
    c.total.compute_root().split(x, xo, xi, 4, TailStrategy::RoundUp);
    c.total.update().split(c.r.x, ro, ri, 5, TailStrategy::Predicate);
    c.tall.compute_root().split(x, xo, xi, 8, TailStrategy::PredicateLoads);
    c.wide.compute_root().split(x, xo, xi, 8, TailStrategy::PredicateStores);
    return c.pipeline();
}

Pipeline loops(bool scheduled) {
    Chain c;
    if (!scheduled) return c.pipeline();
    RVar rx("rx");
    c.out.tile(x, y, xo, yo, xi, yi, 16, 4).fuse(xo, yo, t).parallel(t).vectorize(xi, 8);
    c.out.unroll(yi, 2).serial(yi);
    c.out.update(0).reorder(y, x).rename(x, u).vectorize(u, 4).parallel(y, 2);
    c.out.update(1).unroll(x, 4, TailStrategy::GuardWithIf);
    c.total.compute_root().vectorize(x, 4).update().reorder(x, c.r.y, c.r.x).vectorize(x, 4);
    c.total.update().rename(c.r.x, rx);
    c.tall.compute_root().tile({x, y}, {xo, yo}, {xi, yi}, {8, 2}).unroll(xi).unroll(yi);
    return c.pipeline();
}

Pipeline partitions(bool scheduled) {
    Chain c;
    if (!scheduled) return c.pipeline();
    c.out.vectorize(x, 8).never_partition(y).partition(x, Partition::Always);
    c.out.update(0).never_partition_all();
    c.tall.compute_root().always_partition(x, y);
    return c.pipeline();
}

Pipeline levels(bool scheduled) {
    Func first("first"), second("second"), third("third"), out("out");
    first(x, y) = x * y;
    second(x, y) = first(x, y) + first(x, y + 1);
    third(x, y) = x - y;
    out(x, y) = second(x, y) + second(x, y + 1) + third(y, x);
    out(x, y) += 1;
    if (!scheduled) return Pipeline(out);
    LoopLevel late;
    out.split(y, yo, yi, 8).compute_root();
    second.compute_at(late).store_at(out, yo).hoist_storage(out, Var::outermost());
    first.store_root().hoist_storage_root().compute_at(LoopLevel(second, y, 0));
    third.compute_root();
    third.compute_inline();
    late.set(LoopLevel(out, yi, 0));
    return Pipeline(out);
}

Pipeline storage(bool scheduled) {
    Chain c;
    if (!scheduled) return c.pipeline();
    c.out.split(y, yo, yi, 8).update(0).unscheduled();
    c.tall.compute_root().store_in(MemoryType::Heap).reorder_storage(y, x).align_storage(y, 16);
    c.wide.store_root().compute_at(c.tall, y).fold_storage(y, 4, false);
    c.total.compute_root().bound_storage(x, 256).store_in(MemoryType::Stack);
    return c.pipeline();
}

Pipeline tasks(bool scheduled) {
    Func first("first"), second("second"), out("out");
    first(x, y) = x * y;
    second(x, y) = first(x, y) + first(x, y + 1);
    out(x, y) = second(x, y) + second(y, x);
    if (!scheduled) return Pipeline(out);
    first.compute_at(second, y).store_root().fold_storage(y, 4, true).async();
    second.compute_root();
    return Pipeline(out);
}

Pipeline rings(bool scheduled) {
    Func first("first"), out("out");
    first(x, y) = x * y;
    out(x, y) = first(x, y) + first(x + 1, y);
    if (!scheduled) return Pipeline(out);
    first.compute_at(out, y).hoist_storage(out, Var::outermost()).ring_buffer(2).async();
    return Pipeline(out);
}

Pipeline regions(bool scheduled) {
    Chain c;
    if (!scheduled) return c.pipeline();
    c.out.bound(x, 0, c.in.dim(0).extent() - 1).bound_extent(y, max(c.p, 8) / 2);
    c.tall.compute_root().align_bounds(x, 8, 3).align_extent(y, 4);
    c.wide.compute_root().align_bounds(x, 16);
    c.total.compute_root();
    c.out.set_estimate(x, 0, 640).set_estimate(y, 0, 480);
    c.total.set_estimates({{0, 640}});
    return c.pipeline();
}

Pipeline conditions(bool scheduled) {
    Chain c;
    if (!scheduled) return c.pipeline();
    Expr width = c.out.output_buffer().dim(0).extent();
    Stage wide = c.out.specialize(width >= 64 && !c.flag);
    wide.vectorize(x, 8);
    wide.specialize(c.p == 2).unroll(y, 2);
    c.out.specialize((c.p & 3) == 1 || cast<float>(c.p) > 1.5f).parallel(y);
    c.out.specialize_fail("neither \"wide\" nor odd");
    c.out.update(0).specialize(select(c.flag, c.p, -c.p) % 8 == 0).vectorize(x, 4);
    c.tall.compute_root();
    c.total.compute_root();
    return c.pipeline();
}

Pipeline memory_hints(bool scheduled) {
    Chain c;
    if (!scheduled) return c.pipeline();
    c.wide.compute_root().prefetch(c.in, y, y, 2, PrefetchBoundStrategy::NonFaulting);
    c.tall.compute_root().prefetch(c.wide, y, y, c.p, PrefetchBoundStrategy::Clamp);
    c.tall.stream_loads({c.wide}).stream_stores();
    c.wide.stream_loads({c.in});
    c.total.compute_root();
    c.out.stream_loads();
    return c.pipeline();
}

Pipeline races(bool scheduled) {
    Func histogram("histogram"), scan("scan"), odd("odd"), out("out");
    RDom r(0, 100, "r");
    ImageParam in(Int(32), 1, "in");
    histogram(x) = 0;
    histogram(clamp(in(r), 0, 15)) += 1;
    scan(x) = x;
    scan(r) = scan(r) * 2;
    odd(x) = 0;
    odd(x) = odd(x) * 3 + r;
    out(x) = histogram(x) + scan(x) + odd(x);
    if (!scheduled) return Pipeline(out);
    histogram.compute_root().update().atomic().parallel(r);
    scan.compute_root().update().allow_race_conditions().parallel(r);
    odd.compute_root().update().atomic(true);
    return Pipeline(out);
}

Pipeline factored(bool scheduled) {
    Chain c;
    if (!scheduled) return c.pipeline();
    RVar ro("ro"), ri("ri"), rio("rio"), rii("rii");
    c.total.compute_root().update().split(c.r.x, ro, ri, 10).split(ri, rio, rii, 5);
    Func partial = c.total.update().rfactor({{ro, u}, {rio, t}});
    partial.compute_root().reorder(u, x).vectorize(x, 4).update().parallel(u).unroll(rii);
    c.total.update().unroll(rio);
    c.tall.compute_root();
    return c.pipeline();
}

// Clones of what rfactor has changed, and for what it has made.
Pipeline factored_clones(bool scheduled) {
    Func in("in"), total("total"), doubled("doubled"), out("out");
    RDom r(0, 8, 0, 6, "r");
    RVar ro("ro"), ri("ri");
    in(x, y) = x + y;
    total(x) += in(x, r.x) * r.y;
    doubled(x) = total(x + 1) * 2;
    out(x) = doubled(x) + total(x);
    if (!scheduled) return Pipeline(out);
    Func partial = total.compute_root().update().rfactor(r.y, u);
    partial.compute_root().vectorize(x, 4).update().parallel(u);
    in.compute_root();
    in.clone_in(partial).compute_at(partial, u).vectorize(x, 4);
    total.update().split(r.y, ro, ri, 3).unroll(ri);
    total.clone_in(doubled).compute_at(doubled, x).update().unroll(ro);
    doubled.compute_root();
    return Pipeline(out);
}

// Copies of Buffers: for two stages, of which one is factored afterwards.
Pipeline copied_buffers(bool scheduled) {
    Func product("product"), out("out");
    ImageParam in(Int(32), 2, "in");
    Buffer<int> weights(16, 8, "weights");
    weights.for_each_element([&](int i, int j) { weights(i, j) = i * 3 + j; });
    RDom k(0, 16, "k");
    RVar ko("ko"), ki("ki");
    product(x, y) += in(k, y) * weights(k, x);
    out(x, y) = product(x, y) + weights(y, x);
    if (!scheduled) return Pipeline(out);
    out.vectorize(x, 4);
    out.copy_input(weights).compute_at(out, y);
    product.compute_root().update().vectorize(x, 4);
    Func packed = product.update().copy_input(weights);
    packed.compute_root().reorder_storage(packed.args()[1], packed.args()[0]);
    product.update().split(k, ko, ki, 8).rfactor(ko, u).compute_root();
    return Pipeline(out);
}

Pipeline wrappers(bool scheduled) {
    Chain c;
    if (!scheduled) return c.pipeline();
    c.in.in().compute_root();
    c.wide.compute_root().vectorize(x, 4);
    c.wide.clone_in(c.tall).compute_at(c.tall, y).vectorize(x, 8);
    Func copy = c.tall.in({c.total, c.out});
    copy.compute_root().parallel(y);
    copy.in(c.out).compute_at(c.out, y);
    c.tall.compute_at(copy, y);
    c.total.compute_root();
    return c.pipeline();
}

Pipeline tracing(bool scheduled) {
    Chain c;
    if (!scheduled) return c.pipeline();
    c.tall.compute_root().trace_loads().trace_stores().trace_realizations();
    c.tall.add_trace_tag("a \"tag\"").no_profiling();
    c.total.compute_root();
    return c.pipeline();
}

Pipeline copies(bool scheduled) {
    Func f("f"), there("there"), back("back"), out("out");
    f(x, y) = x + y;
    there(x, y) = f(x, y);
    back(x, y) = there(x, y);
    out(x, y) = back(x, y);
    if (!scheduled) return Pipeline(out);
    f.compute_root();
    there.compute_root().split(y, yo, yi, 4).copy_to_device();
    back.compute_at(out, y).copy_to_host();
    return Pipeline(out);
}

Pipeline clusters(bool scheduled) {
    Func f("f"), out("out");
    f(x, y) = x + y;
    out(x, y) = f(x, y) + f(x + 1, y);
    if (!scheduled) return Pipeline(out);
    out.split(x, xo, xi, 4).reorder(xi, xo, y).gpu_clusters(xo, y).gpu_blocks(xi);
    f.compute_at(out, xo).gpu_blocks(x);
    return Pipeline(out);
}

// Consumers that take tiles in turns, along a curve, of sums in parts.
Pipeline parts_of_sums(bool scheduled) {
    ImageParam a(Float(16), 2, "a"), b(Float(16), 2, "b");
    Func product("product"), out("out");
    Var part("part");
    RDom k(0, 64, "k");
    product(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
    out(x, y) = product(x, y);
    if (!scheduled) return Pipeline(out);
    out.tile(x, y, xi, yi, 32, 32).gpu_blocks(x, y).gpu_order(hilbert());
    out.persistent().warp_specialize(40, 232).ping_pong();
    product.compute_root().update().split_k(k, part, 4).compute_root().update().parallel(part);
    return Pipeline(out);
}

Pipeline tensor_cores(bool scheduled) {
    ImageParam a(Float(16), 2, "a"), b(Float(16), 2, "b");
    Func product("product"), out("out");
    RDom k(0, 64, "k");
    RVar ko("ko"), ki("ki");
    product(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
    out(x, y) = product(x, y);
    if (!scheduled) return Pipeline(out);
    out.tile(x, y, xi, yi, 32, 32)
        .gpu_blocks(x, y)
        .gpu_order(grouped(4))
        .persistent(2)
        .gpu_resident_blocks(2)
        .warp_specialize(40, 232);
    out.split(yi, yo, yi, 16).gpu_warps(yo);
    product.compute_at(out, x).store_in(MemoryType::Tile).split(y, yo, y, 16).gpu_warps(yo);
    product.update().split(k, ko, ki, 32).split(y, yo, y, 16);
    product.update().reorder({ki, x, y, yo, ko}).gpu_warps(yo);
    product.update().tensorize(x, y, ki, TensorInstruction::MMA);
    return Pipeline(out);
}

// Loops of a reduction that are fused twice, and moved.
Pipeline mappings(bool scheduled) {
    ImageParam in(Float(16), 4, "in"), weights(Float(16), 4, "weights");
    Func conv("conv"), out("out");
    RDom r({{0, 3}, {0, 3}, {0, 8}}, "r");
    conv(x, y, t, u) +=
        cast<float>(in(x + r.x, y + r.y, r.z, u)) * cast<float>(weights(r.x, r.y, r.z, t));
    out(x, y, t, u) = conv(x, y, t, u);
    if (!scheduled) return Pipeline(out);
    const RVar rows("rows"), columns("columns"), channels("channels");
    Stage update = conv.compute_root().update();
    update.rename(r.x, columns).rename(r.y, rows).rename(r.z, channels);
    update.tensorize(map({u, x}, {t}, {channels, rows, columns}), TensorInstruction::MMA);
    return Pipeline(out);
}

// Names that are no names of C++, or that are there twice.
Pipeline names(bool scheduled) {
    Func first("int"), second("int"), third("x"), named_like_a_var("out");
    Var dotted("x.y");
    static Var unnamed;
    RDom r(0, 10, "xi"), other(0, 10, "xi");
    Param<int> p("p 1");
    first(x, unnamed) = x + p;
    second(x, dotted) = first(x, dotted) + 1;
    third(x) = 0;
    third(x) += second(x, r);
    third(x) += second(x, other);
    named_like_a_var(x, u) = third(x) + first(x, u);
    if (!scheduled) return Pipeline(named_like_a_var);
    RVar rx("xo"), ri("out");
    first.compute_root().vectorize(x, 4).split(unnamed, unnamed, xi, 2).bound_extent(x, p * 4);
    second.compute_root().split(dotted, Var("out"), xi, 2).vectorize(x, 4);
    third.compute_root().split(x, xo, xi, 4).update().split(r, rx, ri, 5).unroll(ri);
    third.update(1).split(other, rx, ri, 5);
    named_like_a_var.vectorize(x, 4).unroll(x, 2);
    return Pipeline(named_like_a_var);
}

Pipeline several_outputs(bool scheduled) {
    Func pair("pair"), a("a"), b("b");
    pair(x, y) = Tuple(x + y, cast<float>(x));
    a(x, y) = pair(x, y)[0];
    b(x, y) = pair(x, y)[1] * 2.0f;
    if (!scheduled) return Pipeline({a, b});
    pair.compute_root().vectorize(x, 8);
    a.parallel(y);
    b.split(x, xo, xi, cast<int>(Expr(uint8_t(8))));
    return Pipeline({a, b});
}

}  // namespace

const std::vector<Case> &all() {
    static const std::vector<Case> list = {
        {"splits", splits},
        {"loops", loops},
        {"partitions", partitions},
        {"levels", levels},
        {"storage", storage},
        {"tasks", tasks},
        {"rings", rings},
        {"regions", regions},
        {"conditions", conditions},
        {"memory_hints", memory_hints},
        {"races", races},
        {"factored", factored},
        {"factored_clones", factored_clones},
        {"wrappers", wrappers},
        {"tracing", tracing},
        {"names", names},
        {"several_outputs", several_outputs},
        {"copies", copies},
        {"tensor_cores", tensor_cores},
        {"parts_of_sums", parts_of_sums},
        {"mappings", mappings},
        {"copied_buffers", copied_buffers},
        {"clusters", clusters},
    };
    return list;
}

}  // namespace schedule_cases
