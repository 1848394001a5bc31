#include "../program.h"
#include "halide_benchmark.h"
#include "halide_image_io.h"

namespace {
struct Event {
    std::string func;
    int event, id, parent;
    std::vector<int> at;
    int value_index;
    halide_type_t type;
    int lanes;
    double value;
};
std::vector<Event> events;
std::mutex events_mutex;
int32_t record(JITUserContext *, const halide_trace_event_t *e) {
    std::lock_guard<std::mutex> lock(events_mutex);
    Event v;
    v.func = e->func;
    v.event = e->event;
    v.parent = e->parent_id;
    v.id = (int)events.size() + 1;
    v.value_index = e->value_index;
    v.type = e->type;
    v.lanes = e->lanes;
    v.at.assign(e->coordinates, e->coordinates + e->dimensions);
    v.value = 0;
    if (e->value && e->type.code == halide_type_float && e->type.bits == 32)
        v.value = ((float *)e->value)[0];
    if (e->value && e->type.code == halide_type_int && e->type.bits == 32)
        v.value = ((int *)e->value)[0];
    events.push_back(v);
    return v.id;
}
}  // namespace
PROGRAM(trace_order) {
    Func f("wt_f"), g("wt_g");
    Var x;
    f(x) = x + 1;
    g(x) = f(x) * 2;
    f.compute_root();
    for (Func h : {f, g}) h.trace_stores().trace_loads().trace_realizations();
    Pipeline p(g);
    p.trace_pipeline();
    p.jit_handlers().custom_trace = &record;
    events.clear();
    p.realize({2});
    std::vector<int> kinds;
    for (const Event &e : events) kinds.push_back(e.event);
    EXPECT(events[0].event == halide_trace_begin_pipeline);
    EXPECT(events.back().event == halide_trace_end_pipeline);
    EXPECT(std::count(kinds.begin(), kinds.end(), halide_trace_store) == 4);
    EXPECT(std::count(kinds.begin(), kinds.end(), halide_trace_load) == 2);
    EXPECT(std::count(kinds.begin(), kinds.end(), halide_trace_produce) == 2 &&
           std::count(kinds.begin(), kinds.end(), halide_trace_end_produce) == 2);
    EXPECT(std::count(kinds.begin(), kinds.end(), halide_trace_consume) >= 1);
    return 0;
}
PROGRAM(trace_vectors_and_tags) {
    Func f("wt_v");
    Var x, y;
    f(x, y) = cast<float>(x + 10 * y);
    f.vectorize(x, 4).trace_stores().add_trace_tag("my tag");
    f.jit_handlers().custom_trace = &record;
    events.clear();
    f.realize({8, 2});
    int stores = 0;
    for (const Event &e : events) {
        if (e.event != halide_trace_store) continue;
        stores++;
        EXPECT(e.lanes == 4 && e.type.lanes == 4 && e.at.size() == 8);
        EXPECT(e.at[0] % 4 == 0 && e.at[1] == e.at[0] + 1 && e.at[4] == e.at[7]);
        EXPECT(e.value == e.at[0] + 10 * e.at[4]);
    }
    EXPECT(stores == 4);
    ImageParam in(Int(32), 1, "wt_in");
    in.trace_loads();
    Func g("wt_g2");
    g(x) = in(x) + in(x + 1);
    Buffer<int> b(10);
    b.fill(7);
    in.set(b);
    g.jit_handlers().custom_trace = &record;
    events.clear();
    g.realize({5});
    int loads = 0;
    for (const Event &e : events)
        loads += e.event == halide_trace_load && e.func == "wt_in" && e.value == 7;
    EXPECT(loads == 10);
    Func t("wt_t");
    t(x) = Tuple(x, 2.0f);
    t.compute_root().trace_stores();
    Func u;
    u(x) = t(x)[0] + t(x)[1];
    u.jit_handlers().custom_trace = &record;
    events.clear();
    u.realize({3});
    stores = 0;
    for (const Event &e : events) stores += e.event == halide_trace_store;
    EXPECT(stores == 6);
    Func all("wt_all");
    all(x) = x;
    all.jit_handlers().custom_trace = &record;
    events.clear();
    all.realize({3}, get_jit_target_from_environment().with_feature(Target::TraceStores));
    stores = 0;
    for (const Event &e : events) stores += e.event == halide_trace_store;
    EXPECT(stores == 3);
    return 0;
}
PROGRAM(runtime_buffers_deep) {
    using Halide::Runtime::Buffer;
    Buffer<float> a(100, 3, 80), b(Buffer<float>::make_interleaved(120, 80, 3));
    const int offset_x = 5, offset_y = 6;
    a.for_each_value([](float &v) { v = 42.0f; });
    EXPECT(a.all_equal(42.0f));
    a.transpose(1, 2);
    a.set_min(0, offset_y);
    b.fill(1.0f);
    Buffer<float> c = b.cropped(0, offset_x, 50).cropped(1, 10, 20);
    c.fill(3.0f);
    EXPECT(b(5, 10, 1) == 3.0f && b(4, 10, 1) == 1.0f && b(54, 29, 0) == 3.0f &&
           b(55, 29, 0) == 1.0f);
    EXPECT(c.dim(0).min() == 5 && c.dim(0).stride() == 3 && c.dim(2).stride() == 1);
    Buffer<const float> cc = b;
    EXPECT(cc(5, 10, 1) == 3.0f);
    Buffer<void> v = b;
    EXPECT(v.type() == halide_type_of<float>() && v.dimensions() == 3);
    Buffer<const void> cv = cc;
    Buffer<float, 3> st = v.as<float>();
    Buffer<float, 3> st2 = b;
    EXPECT((st.static_dimensions() == 3 && Buffer<float, 3>::has_static_dimensions &&
            !Buffer<float>::has_static_dimensions));
    Buffer<float, 2> sl = st.sliced(2, 1);
    EXPECT(sl(5, 10) == 3.0f);
    Buffer<float, 3> em = sl.embedded(1, 4);
    EXPECT(em.dim(1).min() == 4 && em.dim(1).extent() == 1);
    Buffer<float> w = b.copy();
    w.for_each_value([](float &x, float y) { x = x + y; }, b);
    EXPECT(w(5, 10, 1) == 6.0f);
    w.for_each_element([&](int x, int y, int ch) { w(x, y, ch) = x + y * 2.0f + ch; });
    w.for_each_element([&](const int *p) {
        if (w(p) != p[0] + 2 * p[1] + p[2]) exit(1);
    });
    Buffer<float> il = w.copy_to_interleaved(), pl = w.copy_to_planar();
    EXPECT(il.dim(2).stride() == 1 && pl.dim(0).stride() == 1 && il(3, 4, 2) == pl(3, 4, 2));
    Buffer<float> t = w.transposed(0, 1), t3 = w.transposed({2, 0, 1});
    EXPECT(t(4, 3, 2) == w(3, 4, 2) && t3(2, 3, 4) == w(3, 4, 2));
    Buffer<int> scalar = Buffer<int>::make_scalar();
    scalar() = 5;
    int z = 6;
    Buffer<int> s2 = Buffer<int>::make_scalar(&z);
    EXPECT(scalar() == 5 && s2() == 6 && scalar.dimensions() == 0 &&
           scalar.number_of_elements() == 1);
    int data[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    Buffer<int> arr(data);
    EXPECT(arr.width() == 4 && arr.height() == 3 && arr(1, 2) == 10);
    Buffer<int, 2> arr2(&data[0][0], {4, 3});
    halide_dimension_t backwards(-3, 4, -1);
    Buffer<int> neg(data[0], 1, &backwards);
    EXPECT(arr2(3, 1) == 8);
    (void)neg;
    Buffer<uint8_t> nothing;
    EXPECT(nothing.dimensions() == 0 && nothing.data() == nullptr);
    Buffer<uint8_t> q(nullptr, 10, 10);
    EXPECT(q.data() == nullptr && !q.owns_host_memory() && q.is_bounds_query());
    q.allocate();
    EXPECT(q.data() != nullptr && q.owns_host_memory());
    q.deallocate();
    Buffer<uint8_t> ws = Buffer<uint8_t>::make_with_shape_of(b);
    EXPECT(ws.dim(2).stride() == 1 && ws.width() == 120);
    halide_buffer_t raw = *b.raw_buffer();
    Buffer<float> from_raw(raw);
    EXPECT(from_raw(5, 10, 1) == 3.0f);
    Buffer<float> moved = std::move(w);
    EXPECT(moved.data() != nullptr);
    for (int y : moved.dim(1))
        for (int x : moved.dim(0)) moved(x, y, 0) = 0;
    EXPECT(moved.begin() < moved.end() && moved.size_in_bytes() == 120 * 80 * 3 * 4);
    Buffer<void> dyn(halide_type_of<uint16_t>(), 4, 5);
    EXPECT(dyn.type().bits == 16 && dyn.as<uint16_t>().width() == 4);
    Buffer<> dd(halide_type_t(halide_type_int, 8), {3, 4});
    dd.set_host_dirty();
    dd.set_device_dirty(false);
    EXPECT(dd.host_dirty() && !dd.device_dirty() && !dd.has_device_allocation() &&
           dd.device_sync() == 0);
    Buffer<float> dst(10, 10), src(20, 20);
    src.fill(2.0f);
    dst.fill(1.0f);
    src.translate({5, -3});
    dst.copy_from(src);
    EXPECT(dst(4, 4) == 1.0f && dst(5, 4) == 2.0f && dst(9, 9) == 2.0f);
    dst.crop({{2, 3}, {3, 3}});
    dst.add_dimension();
    EXPECT(dst.dimensions() == 3 && dst.left() == 2 && dst.right() == 4 && dst.top() == 3 &&
           dst.bottom() == 5 && dst.channels() == 1);
    dst.slice(2, 0);
    dst.embed(0, 7);
    EXPECT(dst.min(0) == 7 && dst.extent(0) == 1 && dst.contains(7, 2, 3) &&
           !dst.contains(6, 2, 3));
    return 0;
}
PROGRAM(language_buffers_deep) {
    Buffer<float> a(10, 20, 3, "named");
    EXPECT(a.name() == "named" && a.defined() && a.dimensions() == 3 && a.type() == Float(32));
    Buffer<> u;
    EXPECT(!u.defined());
    u = a;
    EXPECT(u.defined() && u.same_as(a) && u.type() == Float(32));
    Buffer<float, 3> s = u;
    Buffer<const float> c = a;
    Buffer<float> copy = a.copy();
    a.fill(1.0f);
    copy.fill([](int x, int y, int z) { return x + y + z + 0.5f; });
    EXPECT(copy(1, 2, 1) == 4.5f && a(3, 3, 2) == 1.0f && c(3, 3, 1) == 1.0f);
    Buffer<float> cr = copy.cropped(0, 2, 4);
    cr.set_min(0, 0, 0);
    EXPECT(cr(0, 2, 1) == copy(2, 2, 1));
    Buffer<uint8_t> b8({4, 5}), b9(std::vector<int>{4, 5}), b10(UInt(8), {4, 5}),
        b11(UInt(8), 4, 5), b12(std::vector<int>{4, 5, 3}, std::vector<int>{2, 0, 1});
    EXPECT(b12.stride(2) == 1 && b8.width() == 4);
    float data[12] = {0};
    Buffer<float> d(data, 4, 3), d2(data, {4, 3}), d3(data, std::vector<int>{4, 3}, "nm"),
        d4(Float(32), data, 4, 3), d5(Float(32), data, {4, 3});
    d(1, 1) = 7;
    EXPECT(data[5] == 7 && d5.type() == Float(32));
    Runtime::Buffer<int> rb(3, 3);
    rb.fill(4);
    Buffer<int> from(rb), from2(*rb.raw_buffer());
    EXPECT(from(1, 1) == 4 && from2(2, 2) == 4);
    Func f;
    Var x, y;
    f(x, y) = from(x, y) + from2(y, x) + Buffer<int>(rb)(x, 0);
    Runtime::Buffer<int> out(3, 3);
    f.realize(out);
    Pipeline(f).realize({out});
    f.realize(out.raw_buffer());
    std::vector<Buffer<>> list = {Buffer<int>(3, 3)};
    f.realize(list);
    f.realize({Buffer<int>(3, 3)});
    Realization r = f.realize({3, 3});
    EXPECT(r.size() == 1 && r[0].width() == 3);
    for (Buffer<> &bb : r) EXPECT(bb.dimensions() == 2);
    Buffer<int> v = r;
    Buffer<int, 2> v2 = f.realize({3, 3});
    EXPECT(v.all_equal(v(0, 0)) || true);
    v.for_each_value([](int &e) { e++; });
    v.for_each_element([&](int i, int j) { v(i, j) = i * j; });
    int n = 0;
    for (auto p = v.begin(); p != v.end(); p++) n += *p;
    EXPECT(n == 9 && v.number_of_elements() == 9);
    Expr e = v(x, y) + v(0, 0) + v(x + 1, y * 2);
    std::vector<Expr> args = {x, y};
    Expr e2 = v(args);
    v.translate({1, 2});
    v.transpose(0, 1);
    v.crop({{2, 2}, {1, 2}});
    v.embed(0, 0);
    v.slice(0, 0);
    v.add_dimension();
    v.slice(2);
    Buffer<int> sl = v.sliced(0, v.min(0)), emb = v.embedded(0, 3), tr = v.translated(0, 1),
                tp = v.transposed(1, 0);
    EXPECT(sl.dimensions() == 1 && emb.dimensions() == 3 && tr.defined() && tp.defined());
    return 0;
}
PROGRAM(images_too) {
    std::string dir = std::filesystem::temp_directory_path().string() + "/";
    Buffer<uint8_t> im(20, 10, 3);
    im.fill([](int x, int y, int c) { return (uint8_t)(x * 10 + y + c * 50); });
    for (std::string ext : {"png", "ppm", "npy", "tmp", "mat"}) {
        std::string path = dir + "w_image." + ext;
        Tools::save_image(im, path);
        Buffer<uint8_t> back = Tools::load_image(path);
        EXPECT(back.width() == 20 && back.height() == 10 && back.channels() == 3);
        EXPECT(back(7, 3, 2) == im(7, 3, 2) && back(19, 9, 0) == im(19, 9, 0));
        Buffer<float> f = Tools::load_and_convert_image(path);
        EXPECT(fabs(f(7, 3, 1) - im(7, 3, 1) / 255.0f) < 1e-5);
        Runtime::Buffer<uint8_t> rt;
        EXPECT(Tools::load(path, &rt) && rt(7, 3, 1) == im(7, 3, 1) && Tools::save(rt, path));
        std::set<Tools::FormatInfo> info;
        EXPECT(Tools::save_query<Buffer<uint8_t>>(path, &info) && !info.empty());
    }
    Buffer<uint16_t> i16 = Tools::ImageTypeConversion::convert_image<uint16_t>(im);
    EXPECT(i16(3, 3, 1) == im(3, 3, 1) * 257);
    Buffer<> dyn = Tools::ImageTypeConversion::convert_image(im, halide_type_of<float>());
    EXPECT(dyn.type() == Float(32));
    Buffer<float> fl(4, 4);
    fl.fill(0.5f);
    Tools::convert_and_save_image(fl, dir + "w_f.png");
    Tools::save_image(fl, dir + "w_f.tmp");
    Buffer<float> fb = Tools::load_image(dir + "w_f.tmp");
    EXPECT(fb(1, 1) == 0.5f);
    double t = Tools::benchmark(2, 3, [&] { fl.fill(0.25f); });
    Tools::BenchmarkConfig config;
    config.min_time = config.max_time = 0.001;
    Tools::BenchmarkResult br = Tools::benchmark([&] { fl.fill(0.25f); }, config);
    double t2 = Tools::benchmark([&] { fl.fill(0.25f); }, config);
    EXPECT(t > 0 && br.wall_time > 0 && t2 > 0 && (double)br > 0);
    return 0;
}
PROGRAM(own_autoscheduler) {
    static int called = 0;
    Pipeline::add_autoscheduler("w_mine", [](const Pipeline &p, const Target &,
                                             const AutoschedulerParams &params,
                                             AutoSchedulerResults *results) {
        called += std::stoi(params.extra.at("parallelism"));
        for (Func f : p.outputs()) f.parallel(f.args().back());
        results->schedule_source = "mine";
    });
    Func f;
    Var x, y;
    f(x, y) = x + y;
    Pipeline p(f);
    AutoschedulerParams params = {"w_mine", {{"parallelism", "3"}}};
    AutoSchedulerResults r = p.apply_autoscheduler(get_host_target(), params);
    EXPECT(called == 3 && r.schedule_source == "mine");
    Buffer<int> o = p.realize({4, 4});
    EXPECT(o(2, 2) == 4);
    return 0;
}
PROGRAM(autoschedulers_by_halides_names) {
    for (const char *name : {"Mullapudi2016", "Adams2019", "Li2018"}) {
        Func f, g;
        Var x, y;
        f(x, y) = x + 2 * y;
        g(x, y) = f(x, y) + f(x + 1, y);
        g.set_estimates({{0, 64}, {0, 32}});
        Pipeline p(g);
        AutoSchedulerResults r = p.apply_autoscheduler(
            get_host_target(), AutoschedulerParams(name, {{"parallelism", "8"}}));
        EXPECT(r.schedule_source.find(".vectorize(") != std::string::npos);
        Buffer<int> o = p.realize({64, 32});
        EXPECT(o(5, 7) == 2 * 5 + 1 + 4 * 7);
    }
    return 0;
}
PROGRAM(traces_are_printed) {
    static std::string printed;
    Func f("f");
    Var x("x");
    f(x) = x;
    f.vectorize(x, 4).trace_stores();
    f.jit_handlers().custom_print = [](JITUserContext *, const char *text) { printed += text; };
    f.realize({4});
    EXPECT(printed.find("store f(<0, 1, 2, 3>) = <0, 1, 2, 3>") != std::string::npos);

    printed.clear();
    Internal::TemporaryFile file("trace", "");
    setenv("HL_TRACE_FILE", file.pathname().c_str(), 1);
    f.realize({4});
    unsetenv("HL_TRACE_FILE");
    halide_shutdown_trace();
    EXPECT(printed.empty() && !Internal::read_entire_file(file.pathname()).empty());
    return 0;
}
