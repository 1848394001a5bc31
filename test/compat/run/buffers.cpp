#include "../program.h"

PROGRAM(buffer_shapes) {
    Buffer<float> b(4, 3, 2);
    EXPECT(b.dimensions() == 3 && b.width() == 4 && b.height() == 3 && b.channels() == 2);
    EXPECT(b.dim(1).stride() == 4 && b.dim(2).stride() == 12 && b.dim(0).max() == 3);
    EXPECT(b.number_of_elements() == 24 && b.size_in_bytes() == 96);
    EXPECT(b.left() == 0 && b.right() == 3 && b.top() == 0 && b.bottom() == 2);
    EXPECT(b.extent(0) == 4 && b.min(0) == 0 && b.stride(0) == 1);
    EXPECT(b.contains(3, 2, 1) && !b.contains(4, 0, 0));
    int visited = 0;
    for (int x : b.dim(0)) visited += x;
    EXPECT(visited == 6);
    EXPECT(b.defined() && !Buffer<int>().defined() && b.type() == Float(32));
    Buffer<int> named(3, "three"), listed(std::vector<int>{2, 2});
    EXPECT(named.name() == "three" && listed.dimensions() == 2);
    named.set_name("other");
    EXPECT(named.name() == "other");
    return 0;
}

PROGRAM(buffer_fill_and_walk) {
    Buffer<int> b(5, 4);
    b.fill(3);
    EXPECT(b.all_equal(3));
    b.fill([](int x, int y) { return x + 10 * y; });
    int total = 0, count = 0;
    b.for_each_value([&](int v) { total += v; });
    b.for_each_element([&](int x, int y) { count += b(x, y) == x + 10 * y; });
    b.for_each_element([&](const int *at) { count += b(at) >= 0; });
    EXPECT(total == 4 * 10 + 5 * 60 && count == 40);
    Buffer<int> other(5, 4);
    other.fill(1);
    b.for_each_value([](int &a, int c) { a += c; }, other);
    EXPECT(b(2, 2) == 23);
    int *raw = b.data();
    EXPECT(raw[1] == 2 && *b.begin() == 1 && b.end() - b.begin() == 20);
    return 0;
}

// One call for each element, in the order of memory; the engine goes on.
PROGRAM(fill_by_a_generator_of_numbers) {
    std::mt19937 engine(7), again(7);
    Buffer<uint32_t> random(3, 2);
    random.fill(engine);
    for (int y = 0; y < 2; y++) {
        for (int x = 0; x < 3; x++) EXPECT(random(x, y) == again());
    }
    EXPECT(engine == again);
    Halide::Runtime::Buffer<int> counted(2, 3);
    int next = 0;
    counted.fill([&] { return next++; });
    EXPECT(counted(1, 2) == 5 && counted(0, 0) == 0 && next == 6);
    return 0;
}
PROGRAM(buffer_views) {
    Buffer<int> b(6, 5);
    b.fill([](int x, int y) { return x + 10 * y; });
    Buffer<int> c = b.cropped(0, 2, 3), s = b.sliced(1, 4), t = b.translated(0, 100);
    EXPECT(c.width() == 3 && c(2, 0) == 2 && s.dimensions() == 1 && s(5) == 45 && t(103, 1) == 13);
    Buffer<int> u = b.transposed(0, 1), e = s.embedded(0, 7);
    EXPECT(u(4, 5) == 45 && e.dimensions() == 2 && e(7, 5) == 45);
    c(2, 0) = 99;
    EXPECT(b(2, 0) == 99);
    Buffer<int> copy = b.copy();
    copy(0, 0) = 5;
    EXPECT(b(0, 0) == 0);
    Buffer<int> d(6, 5);
    d.copy_from(b);
    EXPECT(d(5, 4) == 45);
    b.set_min(10, 20);
    EXPECT(b(10, 20) == 0 && b.dim(1).min() == 20);
    b.translate(0, -10);
    b.crop(1, 21, 2);
    EXPECT(b(0, 21) == 10 && b.height() == 2);
    b.transpose(0, 1);
    EXPECT(b.width() == 2);
    b.slice(0);
    EXPECT(b.dimensions() == 1);
    b.embed(1, 3);
    b.add_dimension();
    EXPECT(b.dimensions() == 3 && b.dim(1).min() == 3);
    return 0;
}

PROGRAM(buffer_layouts) {
    auto b = Buffer<uint8_t>::make_interleaved(5, 4, 3);
    EXPECT(b.dim(0).stride() == 3 && b.dim(2).stride() == 1 && b.dim(1).stride() == 15);
    auto s = Buffer<float>::make_scalar();
    s() = 2.5f;
    EXPECT(s.dimensions() == 0 && s() == 2.5f);
    Buffer<int> ordered(std::vector<int>{4, 3}, std::vector<int>{1, 0});
    EXPECT(ordered.dim(1).stride() == 1 && ordered.dim(0).stride() == 3);
    auto like = Buffer<int>::make_with_shape_of(ordered);
    EXPECT(like.dim(1).stride() == 1);
    return 0;
}

PROGRAM(buffers_of_foreign_memory) {
    int data[12];
    for (int i = 0; i < 12; i++) data[i] = i;
    Buffer<int> b(data, 4, 3);
    EXPECT(b(1, 2) == 9);
    halide_dimension_t shape[] = {{0, 3, 4}, {0, 4, 1}};
    Buffer<int> t(data, 2, shape);
    EXPECT(t(2, 1) == 9);
    int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
    Buffer<int> a(table);
    EXPECT(a.width() == 3 && a.height() == 2 && a(2, 1) == 6);
    std::vector<float> v(20);
    Buffer<float> f(v.data(), {5, 4});
    f(4, 3) = 1.0f;
    EXPECT(v[19] == 1.0f);
    Buffer<int> wrapped(*b.raw_buffer());
    EXPECT(&wrapped(1, 1) == &b(1, 1));
    return 0;
}

PROGRAM(buffers_without_static_type) {
    Buffer<> b(UInt(16), 4, 4);
    EXPECT(b.type() == UInt(16) && b.dimensions() == 2);
    b.as<uint16_t>().fill(7);
    Buffer<uint16_t> typed = b;
    Buffer<uint16_t, 2> fixed = typed;
    EXPECT(typed(1, 1) == 7 && fixed(2, 2) == 7);
    EXPECT(b.same_as(typed));
    EXPECT((Buffer<int, 2>::static_dimensions() == 2 && Buffer<int, 2>::has_static_dimensions));
    EXPECT(!Buffer<>::has_static_halide_type && Buffer<int>::has_static_halide_type);
    return 0;
}

PROGRAM(buffers_in_definitions) {
    Buffer<int> in(5, 5);
    in.fill([](int x, int y) { return x * y; });
    Var x, y;
    Func f;
    f(x, y) = in(x, y) + in(clamp(x + 1, 0, 4), y);
    Buffer<int> out = f.realize({5, 5});
    EXPECT(out(3, 4) == 28);
    Func g;
    g(_) = in(_);
    Buffer<int> out2 = g.realize({5, 5});
    EXPECT(out2(4, 4) == 16);
    return 0;
}

PROGRAM(realize_into_regions) {
    Var x, y;
    Func f;
    f(x, y) = x * 100 + y;
    Buffer<int> b(4, 4);
    b.set_min(-2, 10);
    f.realize(b);
    EXPECT(b(-2, 10) == -190 && b(1, 13) == 113);
    Buffer<int> whole(8, 8);
    whole.fill(0);
    Buffer<int> part = whole.cropped(0, 2, 3).cropped(1, 3, 2);
    f.realize(part);
    EXPECT(whole(2, 3) == 203 && whole(5, 3) == 0 && whole(4, 4) == 404);
    Buffer<int> turned = Buffer<int>(4, 6).transposed(0, 1);
    f.output_buffer().dim(0).set_stride(Expr());
    f.realize(turned);
    EXPECT(turned(5, 3) == 503);
    return 0;
}

PROGRAM(realizations) {
    Var x;
    Func f, g;
    f(x) = x;
    g(x) = cast<float>(x) / 2;
    Pipeline p({f, g});
    Realization r = p.realize({6});
    EXPECT(r.size() == 2);
    Buffer<int> a = r[0];
    Buffer<float> b = r[1];
    EXPECT(a(5) == 5 && b(5) == 2.5f);
    Buffer<int> c(6);
    Buffer<float> d(6);
    std::vector<Buffer<>> list = {c, d};
    Realization into(list);
    p.realize(into);
    EXPECT(c(4) == 4 && d(3) == 1.5f);
    p.realize({c, d});
    return 0;
}

PROGRAM(dirty_flags) {
    Buffer<int> b(4);
    b.set_host_dirty();
    EXPECT(b.host_dirty() && !b.device_dirty() && !b.has_device_allocation());
    b.set_host_dirty(false);
    EXPECT(b.copy_to_host() == 0 && b.raw_buffer()->dimensions == 1);
    return 0;
}

PROGRAM(const_buffers) {
    const int data[] = {1, 2, 3};
    Buffer<const int> b(data, 3);
    int total = 0;
    b.for_each_element([&](int i) { total += b(i); });
    EXPECT(total == 6 && b(2) == 3 && b.width() == 3);
    return 0;
}

PROGRAM(copy_between_layouts) {
    auto in = Buffer<uint8_t>::make_interleaved(6, 4, 3);
    in.fill([](int x, int y, int c) { return uint8_t(x + 10 * y + 80 * c); });
    Var x, y, c;
    Func f;
    ImageParam p(UInt(8), 3);
    p.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
    f(x, y, c) = p(x, y, c) + 1;
    f.output_buffer().dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
    f.reorder(c, x, y).bound(c, 0, 3).unroll(c);
    p.set(in);
    auto out = Buffer<uint8_t>::make_interleaved(6, 4, 3);
    f.realize(out);
    EXPECT(out(5, 3, 2) == uint8_t(5 + 30 + 160 + 1));
    return 0;
}

PROGRAM(zeros_behind_the_coordinates) {
    RDom r(1, 10);
    Func total;
    total() = 0;
    total() += r;
    Buffer<int> number = total.realize();
    EXPECT(number(0) == 55 && number(0, 0) == 55 && number() == 55);
    Buffer<int, 1> row(12);
    row.fill([](int i) { return 5 + i; });
    EXPECT(row(3, 0, 0) == 8);
    const Buffer<int> same = row;
    EXPECT(same(3, 0) == 8);
#ifndef NDEBUG  // where coordinates are checked
    try {
        EXPECT(row(3, 1) == 0);
        return 1;
    } catch (const RuntimeError &) {
    }
#endif
    Runtime::Buffer<int> plain(12);
    plain.fill(3);
    EXPECT(plain(4, 0, 0) == 3 && plain(4, 0, 0, 0, 0, 0) == 3);
    return 0;
}

PROGRAM(iterators_that_end_beyond_a_buffer) {
    Buffer<int> row(12), image(4, 3);
    row.fill([](int i) { return 5 + i; });
    std::sort(&row(0), &row(12), std::greater<int>());
    EXPECT(row(0) == 16 && row(11) == 5);
    image.fill([](int x, int y) { return x + 4 * y; });
    EXPECT(std::accumulate(&image(0, 1), &image(4, 1), 0) == 4 + 5 + 6 + 7);
    EXPECT(std::accumulate(&image(0, 0), &image(0, 3), 0) == 66);
    EXPECT(&image(4, 2) == image.end());
    image.set_min(-1, -1);
    EXPECT(&image(3, 1) == image.end() && &image(-1, 2) == image.end());
#ifndef NDEBUG
    for (auto beyond : {std::pair(4, 0), std::pair(-2, 0), std::pair(0, 3), std::pair(3, 2)}) {
        try {
            EXPECT(&image(beyond.first, beyond.second) == nullptr);
            return 1;
        } catch (const RuntimeError &) {
        }
    }
#endif
    return 0;
}

PROGRAM(runtime_buffers_with_an_order) {
    Runtime::Buffer<uint16_t> planes({12, 8, 4}, {2, 0, 1});
    EXPECT(planes.dim(0).stride() == 4 && planes.dim(1).stride() == 48);
    EXPECT(planes.dim(2).stride() == 1 && planes.owns_host_memory());
    Runtime::Buffer<uint16_t, 2> rows({12, 8}, {1, 0});
    EXPECT(rows.dim(1).stride() == 1 && rows.dim(0).stride() == 8);
    Runtime::Buffer<uint8_t, 4> all({2, 3, 4, 5}, {3, 2, 1, 0});
    EXPECT(all.stride(0) == 60 && all.stride(3) == 1);
    Runtime::Buffer<> typed(halide_type_of<float>(), {12, 8, 4}, {2, 0, 1});
    EXPECT(typed.dim(2).stride() == 1 && typed.type() == halide_type_of<float>());
    return 0;
}

PROGRAM(conversions_that_are_asked_for_first) {
    Buffer<> bytes(UInt(8), 4, 3);
    EXPECT(Buffer<uint8_t>::can_convert_from(bytes) && !Buffer<float>::can_convert_from(bytes));
    EXPECT((Buffer<uint8_t, 2>::can_convert_from(bytes)));
    EXPECT(!(Buffer<uint8_t, 3>::can_convert_from(bytes)));
    return 0;
}
PROGRAM(runtime_buffers_of_buffers) {
    Halide::Runtime::Buffer<int> runtime;
    {
        Buffer<int> b(4, 3);
        b.fill(7);
        runtime = *b.get();
        b(3, 2) = 8;
    }
    EXPECT(runtime.width() == 4 && runtime.height() == 3);
    EXPECT(runtime(0, 0) == 7 && runtime(3, 2) == 8);  // the same memory, which stays
    const Halide::Runtime::Buffer<const int, 2> fixed = Buffer<int, 2>(runtime);
    EXPECT(fixed(3, 2) == 8);
    return 0;
}
