#include "../program.h"

// ---- Extern stages ----
extern "C" {
HALIDE_EXPORT_SYMBOL int we_flip_x(halide_buffer_t *in1, halide_buffer_t *in2,
                                   halide_buffer_t *out) {
    int min = out->dim[0].min, max = out->dim[0].min + out->dim[0].extent - 1;
    int flipped_min = -max, flipped_max = -min;
    if (in1->is_bounds_query()) {
        in1->dim[0].min = flipped_min;
        in1->dim[0].extent = flipped_max - flipped_min + 1;
        in1->dim[1] = out->dim[1];
    }
    if (in2->is_bounds_query()) {
        in2->dim[0].min = flipped_min;
        in2->dim[0].extent = flipped_max - flipped_min + 1;
        in2->dim[1] = out->dim[1];
    }
    if (in1->is_bounds_query() || in2->is_bounds_query()) return 0;
    Halide::Runtime::Buffer<uint8_t> i1(*in1), i2(*in2), o(*out);
    o.for_each_element([&](int x, int y) { o(x, y) = (uint8_t)(i1(-x, y) + i2(-x, y)); });
    return 0;
}
HALIDE_EXPORT_SYMBOL int we_make_data(halide_buffer_t *out) {
    if (!out->host) return 0;
    Halide::Runtime::Buffer<float> o(*out);
    o.for_each_element([&](int x, int y) { o(x, y) = (float)(x + 100 * y); });
    return 0;
}
HALIDE_EXPORT_SYMBOL int we_dump(const char *prefix, halide_buffer_t *in, int scale,
                                 halide_buffer_t *out) {
    static int expected = 0;
    if (in->is_bounds_query()) {
        in->dim[0].min = 0;
        in->dim[0].extent = 10;
    } else {
        expected = 0;
        for (int i = 0; i < 10; i++) expected += *(int *)in->address_of(&i);
        if (out->host) ((int *)out->host)[0] = expected * scale + (int)strlen(prefix);
    }
    return 0;
}
HALIDE_EXPORT_SYMBOL int we_expand(halide_buffer_t *in, halide_buffer_t *out) {
    // Only whole blocks of eight.
    if (in->is_bounds_query() || out->is_bounds_query()) {
        int lo = out->dim[0].min & ~7, hi = (out->dim[0].min + out->dim[0].extent + 7) & ~7;
        if (out->is_bounds_query()) {
            out->dim[0].min = lo;
            out->dim[0].extent = hi - lo;
        }
        in->dim[0].min = lo;
        in->dim[0].extent = hi - lo;
        return 0;
    }
    if (out->dim[0].min % 8 || out->dim[0].extent % 8) return -1;
    for (int i = 0; i < out->dim[0].extent; i++) {
        int x = out->dim[0].min + i;
        *(int *)out->address_of(&x) = *(int *)in->address_of(&x) * 2;
    }
    return 0;
}
HALIDE_EXPORT_SYMBOL int we_two_outputs(halide_buffer_t *in, halide_buffer_t *a,
                                        halide_buffer_t *b) {
    if (in->is_bounds_query()) {
        in->dim[0] = a->dim[0];
        return 0;
    }
    for (int x = a->dim[0].min; x < a->dim[0].min + a->dim[0].extent; x++) {
        *(int *)a->address_of(&x) = *(int *)in->address_of(&x) + 1;
        *(float *)b->address_of(&x) = *(int *)in->address_of(&x) * 0.5f;
    }
    return 0;
}
HALIDE_EXPORT_SYMBOL int we_fail(halide_buffer_t *out) { return out->host ? 42 : 0; }
HALIDE_EXPORT_SYMBOL int we_ctx_stage(JITUserContext *, halide_buffer_t *out) {
    (void)out;
    return 0;
}
HALIDE_EXPORT_SYMBOL int we_sort(halide_buffer_t *in, halide_buffer_t *out) {
    if (!in->host) {
        in->dim[0] = out->dim[0];
        return 0;
    }
    memcpy(out->host, in->host, out->dim[0].extent * out->type.bytes());
    float *p = (float *)out->host;
    std::sort(p, p + out->dim[0].extent);
    return 0;
}
HALIDE_EXPORT_SYMBOL int we_plus(int x, int y) { return x + y; }
}

PROGRAM(extern_flip) {
    Func source;
    Var x, y;
    source(x, y) = cast<uint8_t>(x * 3 + y * 5);
    Func flipped;
    std::vector<ExternFuncArgument> args(2);
    args[0] = source;
    args[1] = lambda(x, y, cast<uint8_t>(x));
    flipped.define_extern("we_flip_x", args, UInt(8), 2);
    Func sink;
    sink(x, y) = flipped(x, y) + flipped(x + 1, y) * cast<uint8_t>(2);
    source.compute_root();
    args[1].func;
    for (int s = 0; s < 4; s++) {
        Func fl, sk, src, id;
        src(x, y) = cast<uint8_t>(x * 3 + y * 5);
        id(x, y) = cast<uint8_t>(x);
        fl.define_extern("we_flip_x", {src, id}, Type(UInt(8)), 2, NameMangling::C);
        sk(x, y) = fl(x, y) + fl(x + 1, y);
        Var xo, yo, xi, yi;
        if (s == 0) {
            src.compute_root();
            id.compute_root();
            fl.compute_root();
        }
        if (s == 1) {
            sk.tile(x, y, xo, yo, xi, yi, 8, 8);
            fl.compute_at(sk, xo);
            src.compute_at(sk, xo);
            id.compute_root();
        }
        if (s == 2) {
            sk.tile(x, y, xo, yo, xi, yi, 8, 8).parallel(yo);
            fl.compute_at(sk, xo);
            src.compute_at(sk, yo);
            id.compute_at(sk, xo);
        }
        if (s == 3) {
            src.compute_root().vectorize(x, 16);
            id.compute_root();
            fl.store_root().compute_at(sk, y);
        }
        Buffer<uint8_t> out = sk.realize({32, 16});
        for (int j = 0; j < 16; j++)
            for (int i = 0; i < 32; i++) {
                uint8_t want = (uint8_t)(-i * 3 + j * 5) + (uint8_t)(-i) +
                               (uint8_t)(-(i + 1) * 3 + j * 5) + (uint8_t)(-(i + 1));
                EXPECT(out(i, j) == want);
            }
    }
    return 0;
}
PROGRAM(extern_all) {
    Var x, y;
    {
        Func source, sink;
        source.define_extern("we_make_data", std::vector<ExternFuncArgument>(), Float(32), 2);
        sink(x, y) = source(x, y) - (x + 100 * y);
        Var xi, yi;
        sink.tile(x, y, xi, yi, 32, 32);
        source.compute_at(sink, x);
        Buffer<float> out = sink.realize({100, 100});
        out.for_each_value([](float v) {
            if (v != 0.0f) exit(1);
        });
        Func direct;
        direct.define_extern("we_make_data", {}, Float(32), 2);
        Buffer<float> o2 = direct.realize({10, 10});
        EXPECT(o2(3, 4) == 403.0f);
    }
    {
        Func source, sink;
        source(x) = x;
        Param<const char *> prefix;
        Param<int> scale;
        prefix.set("abc");
        scale.set(10);
        sink.define_extern("we_dump", {prefix, source, scale}, Int(32), 0);
        source.compute_root();
        Buffer<int> r = sink.realize();
        EXPECT(r() == 453);
        Buffer<int> b(10);
        b.fill(2);
        ImageParam ip(Int(32), 1);
        ip.set(b);
        Func s2;
        s2.define_extern("we_dump", {prefix, ip, Expr(3) + scale}, Int(32), 0);
        r = s2.realize();
        EXPECT(r() == 20 * 13 + 3);
        Func s3;
        std::vector<ExternFuncArgument> args;
        args.push_back(prefix);
        args.push_back(b);
        args.push_back(5);
        s3.define_extern("we_dump", args, {Int(32)}, 0);
        r = s3.realize();
        EXPECT(r() == 103);
    }
    {
        Func f, g, h;
        f(x) = x;
        g.define_extern("we_two_outputs", {f}, {Int(32), Float(32)}, 1);
        h(x) = g(x)[0] + g(x)[1];
        f.compute_root();
        g.compute_root();
        Buffer<float> out = h.realize({10});
        EXPECT(out(4) == 7.0f);
        EXPECT(g.is_extern() && g.extern_function_name() == "we_two_outputs" && g.outputs() == 2);
    }
    {
        Func f;
        f.define_extern("we_fail", {}, Int(32), 1);
        bool failed = false;
        try {
            f.realize({10});
        } catch (const RuntimeError &e) {
            failed = strstr(e.what(), "42") != nullptr;
        }
        EXPECT(failed);
        static int errors = 0;
        f.jit_handlers().custom_error = [](JITUserContext *, const char *) { errors++; };
        f.realize({10});
        EXPECT(errors == 1);
    }
    {
        Func f, g, h;
        f(x) = cast<float>((x * 37) % 64);
        g.define_extern("we_sort", {f}, Float(32), 1);
        h(x) = g(x) * 2;
        f.compute_root();
        g.compute_root();
        Buffer<float> out = h.realize({64});
        for (int i = 0; i < 64; i++) EXPECT(out(i) == 2.0f * i);
    }
    return 0;
}
PROGRAM(jit_externs_too) {
    Var x, y;
    Func plus_one;
    ImageParam in(Int(32), 1);
    plus_one(x) = in(x) + 1;
    Func f, g;
    f(x) = x * 3;
    f.compute_root();
    g.define_extern("not_in_this_program", {f}, Int(32), 1);
    Func h;
    h(x) = g(x) * 10;
    g.compute_root();
    Pipeline p(h);
    p.set_jit_externs({{"not_in_this_program", JITExtern{plus_one}}});
    Buffer<int> o = p.realize({8});
    EXPECT(o(3) == 100);
    Func e;
    e.define_extern("not_there_either", {f}, Int(32), 1);
    e.set_jit_externs({{"not_there_either", JITExtern{we_expand}}});
    o = e.realize({16});
    EXPECT(o(3) == 18);
    Pipeline p2(h);
    p2.set_jit_externs({{"not_in_this_program", JITExtern{ExternCFunction{we_expand}}}});
    ExternSignature sig(we_plus);
    EXPECT(sig.ret_type() == Int(32) && sig.arg_types().size() == 2 && !sig.is_void_return());
    return 0;
}
// ---- Wrappers, clones ----
PROGRAM(wrap_and_clone) {
    Var x("x"), y("y"), xi, yi;
    Func source("source"), g1, g2, g3;
    source(x, y) = x + y;
    ImageParam img(Int(32), 2, "img");
    Buffer<int> buf(64, 64);
    buf.fill([](int x, int y) { return x + y; });
    img.set(buf);
    g1(x, y) = source(x, y);
    g2(x, y) = source(x, y) + g1(x, y);
    g3(x, y) = g2(x, y) + source(x, y);
    Func w = source.in(g1), w2 = source.in({g2, g3});
    source.compute_root();
    w.compute_root().vectorize(x, 8).unroll(x, 2).split(x, x, xi, 4).parallel(y);
    w2.compute_root();
    g2.compute_root();
    g3.compute_root();
    Buffer<int> out = g3.realize({32, 32});
    EXPECT(out(3, 4) == 21);
    {
        Func f;
        f(x, y) = img(x, y) * 2;
        Func wi = img.in(f);
        f.tile(x, y, xi, yi, 8, 8);
        wi.compute_at(f, x).vectorize(wi.args()[0], 8);
        Buffer<int> o = f.realize({64, 64});
        EXPECT(o(3, 4) == 14);
        Func g;
        g(x, y) = img(x, y);
        Func all = img.in();
        all.compute_root();
        g.realize({64, 64});
    }
    {
        Func f, g, h;
        f(x) = x;
        g(x) = f(x) + 1;
        h(x) = f(x) + g(x);
        Func c = f.clone_in(h);
        f.compute_root();
        c.compute_root().vectorize(x, 4);
        g.compute_root();
        Buffer<int> o = h.realize({16});
        EXPECT(o(5) == 11);
        Func f2, a, b, d;
        f2(x) = x;
        f2(x) += 1;
        a(x) = f2(x);
        b(x) = f2(x);
        d(x) = a(x) + b(x);
        Func c2 = f2.clone_in({a, b});
        c2.compute_root();
        Buffer<int> o2 = d.realize({16});
        EXPECT(o2(5) == 12);
    }
    {
        Func f, g;
        f(x) = x;
        g(x) = f(x);
        g(x) += f(x + 1);
        Func w3 = f.in(g).in(g);
        f.compute_root();
        f.in(g).compute_root();
        w3.compute_at(g, x);
        Buffer<int> o = g.realize({16});
        EXPECT(o(5) == 11);
        Func q, r2;
        q(x) = x;
        r2(x) = q.in()(x) * 2;
        q.compute_root();
        q.in().compute_root();
        Buffer<int> o3 = r2.realize({4});
        EXPECT(o3(3) == 6);
    }
    return 0;
}
// ---- Reductions over stages ----
PROGRAM(rfactor_all) {
    Var x("x"), y("y"), u("u"), v("v");
    Buffer<int> in(64, 32);
    in.fill([](int x, int y) { return (x * 7 + y * 13) % 50; });
    int sum = 0, mx = -1, at_x = 0, at_y = 0, mn = 1000;
    for (int j = 0; j < 32; j++)
        for (int i = 0; i < 64; i++) {
            sum += in(i, j);
            mn = std::min(mn, in(i, j));
            if (in(i, j) > mx) {
                mx = in(i, j);
                at_x = i;
                at_y = j;
            }
        }
    {
        Func f;
        RDom r(0, 64, 0, 32);
        RVar rxo, rxi;
        f() = 0;
        f() += in(r.x, r.y);
        f.update().split(r.x, rxo, rxi, 8);
        Func intm = f.update().rfactor({{rxo, u}, {r.y, v}});
        intm.compute_root().vectorize(u, 4).update().parallel(v).vectorize(u, 4);
        Buffer<int> o = f.realize();
        EXPECT(o() == sum);
    }
    {
        // Of several that are the largest, the last one.
        Func f;
        RDom r(0, 64);
        RVar ro, ri;
        f() = Tuple(Int(32).min(), -1);
        f() = Tuple(max(f()[0], in(r, 3)), select(f()[0] > in(r, 3), f()[1], r));
        f.update().split(r, ro, ri, 8);
        Func intm = f.update().rfactor(ro, u);
        intm.compute_root().vectorize(u, 4).update().vectorize(u, 4);
        Realization o = f.realize();
        int last = 0;
        for (int i = 0; i < 64; i++)
            if (in(i, 3) >= in(last, 3)) last = i;
        Buffer<int> value = o[0], place = o[1];
        EXPECT(value() == in(last, 3) && place() == last);
    }
    {
        Func f;
        RDom r(0, 64, 0, 32);
        RVar rxo, rxi;
        f() = 0;
        f() += in(r.x, r.y);
        f.update().split(r.x, rxo, rxi, 8);
        Func intm = f.update().rfactor(rxi, u);
        intm.compute_at(f, Var::outermost()).vectorize(u).update().vectorize(u);
        Buffer<int> o = f.realize();
        EXPECT(o() == sum);
    }
    {
        Func f;
        RDom r(0, 64, 0, 32);
        f() = Tuple(-1, 0, 0);
        f() = Tuple(max(f()[0], in(r.x, r.y)), select(in(r.x, r.y) > f()[0], r.x, f()[1]),
                    select(in(r.x, r.y) > f()[0], r.y, f()[2]));
        f.update().rfactor(r.y, u).compute_root().update().parallel(u);
        Realization re = f.realize();
        Buffer<int> a = re[0], b = re[1], c = re[2];
        EXPECT(a() == mx);
        (void)at_x;
        (void)at_y;
    }
    {
        Func f;
        RDom r(0, 64, 0, 32);
        r.where(r.x > r.y);
        f(x) = 1000;
        f(0) = min(f(0), in(r.x, r.y));
        f.update().rfactor(r.y, u).compute_root();
        f.realize({2});
    }
    {
        // Histogram.
        Func f, g;
        RDom r(0, 64, 0, 32);
        f(x) = 0;
        f(clamp(in(r.x, r.y), 0, 49)) += 1;
        Func i = f.update().rfactor({{r.y, u}});
        i.compute_root().update().parallel(u);
        f.update().vectorize(x, 8);
        g(x) = f(x);
        f.compute_root();
        Buffer<int> o = g.realize({50});
        int n = 0;
        for (int k = 0; k < 50; k++) n += o(k);
        EXPECT(n == 64 * 32);
    }
    {
        // Complex product as a Tuple.
        Func f;
        RDom r(0, 16, 0, 8);
        f(x) = Tuple(1, 0);
        Expr a = (r.x % 3) - 1, b = (r.y % 2);
        f(x) = Tuple(f(x)[0] * a - f(x)[1] * b, f(x)[0] * b + f(x)[1] * a);
        Func i = f.update().rfactor(r.y, u);
        i.compute_root();
        f.realize({4});
    }
    return 0;
}
// ---- Async, ring buffers ----
PROGRAM(async_all) {
    Var x("x"), y("y"), z("z");
    for (int s = 0; s < 8; s++) {
        Func producer("producer"), consumer("consumer"), mid("mid");
        producer(x, y) = x + y * 2;
        mid(x, y) = producer(x - 1, y) + producer(x + 1, y);
        consumer(x, y) = mid(x, y - 1) + mid(x, y + 1);
        switch (s) {
        case 0: producer.compute_root().async(); break;
        case 1: producer.store_root().compute_at(consumer, y).async(); break;
        case 2: producer.store_root().compute_at(consumer, y).fold_storage(y, 8).async(); break;
        case 3:
            producer.compute_root().async();
            mid.store_root().compute_at(consumer, y).async();
            break;
        case 4:
            consumer.compute_root();
            mid.compute_at(consumer, y).async();
            producer.compute_at(consumer, y);
            break;
        case 5:
            producer.hoist_storage_root().compute_at(consumer, y).ring_buffer(2).async();
            mid.compute_at(consumer, y);
            break;
        case 6:
            mid.hoist_storage(consumer, Var::outermost())
                .compute_at(consumer, y)
                .ring_buffer(3)
                .async();
            break;
        case 7:
            producer.compute_at(mid, y).async();
            mid.compute_root().parallel(y);
            break;
        }
        Buffer<int> out = consumer.realize({16, 16});
        for (int j = 0; j < 16; j++)
            for (int i = 0; i < 16; i++) EXPECT(out(i, j) == 4 * (i + 2 * j));
    }
    return 0;
}
// ---- Specializations by trace ----
namespace {
std::atomic<int> ws_vector{0}, ws_scalar{0};
int32_t ws_trace(JITUserContext *, const halide_trace_event_t *e) {
    if (e->event == halide_trace_store) (e->type.lanes > 1 ? ws_vector : ws_scalar)++;
    return 0;
}
}  // namespace
PROGRAM(specialize_all) {
    Var x("x"), y("y");
    {
        Param<bool> param;
        Func f;
        f(x) = select(param, x * 3, x * 17);
        f.specialize(param).vectorize(x, 4);
        f.trace_stores();
        f.jit_handlers().custom_trace = &ws_trace;
        Buffer<int> out(100);
        param.set(true);
        ws_vector = ws_scalar = 0;
        f.realize(out);
        EXPECT(ws_scalar == 0 && ws_vector == 25);
        param.set(false);
        ws_vector = ws_scalar = 0;
        f.realize(out);
        EXPECT(ws_scalar == 100 && ws_vector == 0);
    }
    {
        ImageParam im(Int(32), 1);
        Func f;
        f(x) = im(x);
        f.specialize(im.width() >= 8).vectorize(x, 8);
        f.specialize(im.width() >= 4).vectorize(x, 4);
        f.trace_stores();
        f.jit_handlers().custom_trace = &ws_trace;
        im.set(Buffer<int>(16));
        ws_vector = ws_scalar = 0;
        f.realize({16});
        EXPECT(ws_vector == 2 && ws_scalar == 0);
        im.set(Buffer<int>(4));
        ws_vector = ws_scalar = 0;
        f.realize({4});
        EXPECT(ws_vector == 1 && ws_scalar == 0);
        im.set(Buffer<int>(3));
        ws_vector = ws_scalar = 0;
        f.realize({3});
        EXPECT(ws_vector == 0 && ws_scalar == 3);
    }
    {
        // What an index needs in a specialization is all that is required of inputs.
        ImageParam im(Int(32), 1);
        Param<bool> cond;
        Func f;
        f(x) = im(select(cond, x, 0));
        f.specialize(cond);
        for (bool c : {false, true}) {
            cond.set(c);
            im.reset();
            f.infer_input_bounds({100});
            Buffer<int> m = im.get();
            EXPECT(m.width() == (c ? 100 : 1));
        }
    }
    {
        Param<int> p;
        Func f, g, h;
        h(x) = x;
        f(x) = h(x) + p;
        g(x) = f(x) * 2;
        h.compute_root();
        f.compute_at(g, x);
        Stage s = g.specialize(p == 1);
        s.specialize(p > 0).unroll(x, 2);
        g.specialize(p > 5).vectorize(x, 8).parallel(x);
        h.specialize(p == 3).vectorize(x, 4);
        for (int i = -1; i < 8; i++) {
            p.set(i);
            Buffer<int> o = g.realize({32});
            EXPECT(o(3) == 2 * (3 + i));
        }
        Func k;
        k(x) = x;
        k.specialize(p == 2).vectorize(x, 4);
        k.specialize_fail("only two is allowed");
        p.set(2);
        k.realize({16});
    }
    {
        Func f;
        ImageParam im(UInt(8), 3);
        Var c;
        f(x, y, c) = im(x, y, c) + 1;
        f.specialize(im.dim(0).stride() == 3 && im.dim(2).stride() == 1)
            .reorder(c, x, y)
            .vectorize(x, 8);
        f.specialize(im.dim(0).stride() == 1).vectorize(x, 16);
        im.dim(0).set_stride(Expr());
        f.output_buffer().dim(0).set_stride(Expr());
        im.set(Buffer<uint8_t>::make_interleaved(32, 4, 3));
        f.realize({32, 4, 3});
        im.set(Buffer<uint8_t>(32, 4, 3));
        f.realize({32, 4, 3});
    }
    return 0;
}
// ---- Storage ----
PROGRAM(storage_all) {
    Var x("x"), y("y"), c("c"), xo, xi, yo, yi;
    for (int s = 0; s < 12; s++) {
        Func f("f"), g("g");
        f(x, y, c) = x + y * 10 + c * 100;
        g(x, y, c) = f(x, y, c) + f(x + 1, y + 1, c);
        switch (s) {
        case 0: f.compute_root().reorder_storage(c, x, y).reorder(c, x, y); break;
        case 1: f.compute_root().align_storage(x, 16); break;
        case 2:
            f.compute_at(g, y).store_in(MemoryType::Stack).bound_extent(c, 3).bound_storage(x, 32);
            break;
        case 3:
            f.compute_at(g, x).store_in(MemoryType::Register);
            g.unroll(x, 2);
            break;
        case 4:
            f.store_root().compute_at(g, y).fold_storage(y, 4);
            g.reorder(x, c, y);
            break;
        case 5:
            f.compute_at(g, xo).hoist_storage(g, yo);
            g.tile(x, y, xo, yo, xi, yi, 4, 4);
            break;
        case 6:
            f.compute_root().bound(c, 0, 3).unroll(c).align_bounds(x, 8).align_extent(y, 2);
            break;
        case 7: f.compute_root().store_in(MemoryType::Heap).parallel(c).parallel(y); break;
        case 8: f.compute_at(g, c).store_at(g, Var::outermost()); break;
        case 9:
            g.fuse(x, y, xo).fuse(xo, c, xo).parallel(xo, 16);
            f.compute_root();
            break;
        case 10:
            f.in(g).compute_at(g, y).vectorize(x, 4);
            f.compute_root();
            break;
        case 11:
            g.partition(x, Partition::Never).never_partition(y, c);
            f.compute_at(g, y).always_partition_all().never_partition_all();
            break;
        }
        Buffer<int> out = g.realize({20, 12, 3});
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 12; j++)
                for (int i = 0; i < 20; i++)
                    EXPECT(out(i, j, k) == 2 * (i + 10 * j + 100 * k) + 11);
    }
    return 0;
}
PROGRAM(vector_reductions) {
    Var x("x"), y("y");
    Buffer<uint8_t> a(256), b(256);
    for (int i = 0; i < 256; i++) {
        a(i) = i;
        b(i) = 255 - i;
    }
    int dot = 0;
    for (int i = 0; i < 256; i++) dot += (int)a(i) * b(i);
    for (int w : {2, 4, 8, 16, 32}) {
        Func f;
        RDom r(0, 256);
        RVar ro, ri;
        f() = 0;
        f() += cast<int>(a(r)) * cast<int>(b(r));
        f.update().atomic().split(r, ro, ri, w).vectorize(ri);
        Buffer<int> o = f.realize();
        EXPECT(o() == dot);
        Func g;
        RDom q(0, w);
        g(x) = cast<int16_t>(0);
        g(x) += widening_mul(cast<int8_t>(a(x + q) & 15), cast<int8_t>(b(x + q) & 7));
        g.vectorize(x, 8).update().atomic().reorder(q, x).vectorize(q).vectorize(x, 4);
        Buffer<int16_t> go = g.realize({64});
        int want = 0;
        for (int i = 0; i < w; i++) want += (a(5 + i) & 15) * (b(5 + i) & 7);
        EXPECT(go(5) == (int16_t)want);
        Func h;
        h(x) = cast<uint8_t>(0);
        h(x) = max(h(x), a(x * 2 + q));
        h.update().atomic().vectorize(q);
        Buffer<uint8_t> ho = h.realize({32});
        EXPECT(ho(3) == 6 + w - 1);
        Func l;
        l(x) = cast<bool>(true);
        l(x) = l(x) && (a(x + q) < 250);
        l.update().atomic().vectorize(q);
        Buffer<bool> lo = l.realize({32});
        EXPECT(lo(3));
    }
    return 0;
}

PROGRAM(chain_of_double_buffers) {
    Var x, y;
    for (bool threads : {false, true}) {
        Func a, b, c;
        a(x, y) = 5 * x + y;
        b(x, y) = a(x, y) + 1;
        c(x, y) = b(x, y) + b(x, y + 1);
        a.store_root().compute_at(a.in(), Var::outermost()).fold_storage(y, 2);
        a.in().store_root().compute_at(b, y).fold_storage(y, 2).copy_to_host();
        b.compute_root();
        if (threads) {
            a.async();
            a.in().async();
        }
        Buffer<int> o = c.realize({64, 40});
        for (int j = 0; j < 40; j++) {
            for (int i = 0; i < 64; i++) EXPECT(o(i, j) == 10 * i + 2 * j + 3);
        }
    }
    return 0;
}
