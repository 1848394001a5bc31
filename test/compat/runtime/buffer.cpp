#include "../program.h"
#include "halide_benchmark.h"
#include "halide_image_io.h"
#include <cstring>

template<typename T = void, int D = -1>
using View = Halide::Runtime::Buffer<T, D>;

PROGRAM(runtime_buffer_constructors) {
    View<int> a(4, 3), none;
    View<> typeless(halide_type_t(halide_type_uint, 8), 5, 2);
    View<float, 2> fixed(3, 2);
    View<int> sized(std::vector<int>{2, 3, 4}), ordered(std::vector<int>{4, 3}, {1, 0});
    EXPECT(a.dimensions() == 2 && none.dimensions() == 0 && none.data() == nullptr);
    EXPECT(typeless.type() == halide_type_of<uint8_t>() && typeless.size_in_bytes() == 10);
    EXPECT(fixed.static_dimensions() == 2 && sized.number_of_elements() == 24);
    EXPECT(ordered.dim(1).stride() == 1 && ordered.dim(0).stride() == 3);
    float data[6] = {1, 2, 3, 4, 5, 6};
    View<float> wrapped(data, 3, 2);
    EXPECT(wrapped(2, 1) == 6 && !wrapped.owns_host_memory() && a.owns_host_memory());
    halide_dimension_t shape[2] = {{0, 2, 3}, {0, 3, 1}};
    View<float> shaped(data, 2, shape);
    EXPECT(shaped(1, 2) == 6);
    int table[2][5] = {};
    table[1][3] = 7;
    View<int> of_array(table);
    EXPECT(of_array.width() == 5 && of_array(3, 1) == 7);
    auto scalar = View<float>::make_scalar();
    scalar() = 4.0f;
    EXPECT(scalar.dimensions() == 0 && scalar() == 4.0f);
    auto inter = View<uint8_t>::make_interleaved(4, 3, 3);
    EXPECT(inter.dim(2).stride() == 1 && inter.dim(0).stride() == 3);
    auto like = View<int>::make_with_shape_of(inter);
    EXPECT(like.dim(2).stride() == 1 && like.type() == halide_type_of<int>());
    return 0;
}

PROGRAM(runtime_buffer_values) {
    View<int> b(5, 4);
    b.fill(2);
    EXPECT(b.all_equal(2));
    b.fill([](int x, int y) { return x + y * 10; });
    int total = 0;
    b.for_each_value([&](int &v) { total += v; });
    b.for_each_element([&](int x, int y) { total -= b(x, y); });
    EXPECT(total == 0);
    b.for_each_element([&](const int *at) { b(at) += at[0]; });
    EXPECT(b(4, 3) == 38 && b.begin() == b.data() && b.end() - b.begin() == 20);
    View<int> c(5, 4);
    c.fill(1);
    c.for_each_value([](int &x, int y) { x += y; }, b);
    EXPECT(c(4, 3) == 39 && c.contains(4, 3) && !c.contains(5, 0));
    return 0;
}

PROGRAM(runtime_buffer_views) {
    View<int> b(6, 5);
    b.fill([](int x, int y) { return x + y * 10; });
    View<int> copy = b, deep = b.copy();
    copy(0, 0) = 9;
    EXPECT(b(0, 0) == 9 && deep(0, 0) == 0);
    copy.crop(0, 1, 2);
    EXPECT(copy.width() == 2 && b.width() == 6 && copy(1, 1) == 11);
    EXPECT(b.sliced(1, 3)(4) == 34 && b.translated(0, 5)(6, 0) == 1);
    EXPECT(b.transposed(0, 1)(3, 2) == 32 && b.sliced(0).dimensions() == 1);
    auto e = b.embedded(2, 4);
    EXPECT(e.dimensions() == 3 && e(1, 1, 4) == 11);
    b.set_min(2, 3);
    b.translate({1, 1});
    EXPECT(b.min(0) == 3 && b.min(1) == 4 && b(4, 5) == 11);
    View<int> into(3, 3);
    into.set_min(3, 4);
    into.copy_from(b);
    EXPECT(into(5, 6) == 22);
    b.add_dimension();
    EXPECT(b.dimensions() == 3);
    b.slice(2, 0);
    View<const int> constant = b;
    View<> typeless = b;
    EXPECT(constant(4, 5) == 11 && typeless.as<int>()(4, 5) == 11);
    EXPECT((View<int, 2>::can_convert_from(typeless) && !View<float>::can_convert_from(typeless)));
    auto planar = View<uint8_t>::make_interleaved(4, 3, 3).copy_to_planar();
    EXPECT(planar.dim(2).stride() == 12 && planar.copy_to_interleaved().dim(2).stride() == 1);
    return 0;
}

PROGRAM(runtime_buffer_allocation) {
    static int made, gone;
    made = gone = 0;
    {
        View<uint8_t> b(nullptr, 10, 10);
        EXPECT(b.is_bounds_query());
        b.allocate([](size_t n) { return made++, std::malloc(n); },
                   [](void *p) { gone++, std::free(p); });
        b.fill(3);
        EXPECT(!b.is_bounds_query());
        View<uint8_t> other = b;
        b.deallocate();
        EXPECT(gone == 0 && b.data() == nullptr && other(9, 9) == 3);
    }
    EXPECT(made == 1 && gone == 1);
    View<int> moved(3), from(5);
    from.fill(4);
    moved = std::move(from);
    EXPECT(moved.width() == 5 && moved(4) == 4);
    EXPECT(from.dimensions() == 0 && from.data() == nullptr);
    moved.set_host_dirty();
    EXPECT(moved.host_dirty() && !moved.device_dirty() && moved.copy_to_host() == 0);
    moved.reset();
    EXPECT(moved.data() == nullptr);
    return 0;
}

PROGRAM(runtime_buffer_in_pipelines) {
    View<int> in(6);
    in.fill([](int x) { return x * x; });
    ImageParam p(Int(32), 1);
    Var x;
    Func f;
    f(x) = p(x) + 1;
    Halide::Buffer<int> as_language{View<int>(in)};
    p.set(as_language);
    View<int> out(6);
    f.realize(out);
    EXPECT(out(5) == 26);
    f.realize(out.raw_buffer());
    Callable c = f.compile_to_callable({p});
    EXPECT(c(in, out) == 0 && out(4) == 17);
    return 0;
}

PROGRAM(runtime_structs) {
    halide_buffer_t b = {};
    halide_dimension_t dims[2] = {halide_dimension_t(0, 4, 1), halide_dimension_t(0, 3, 4)};
    int data[12] = {};
    b.host = (uint8_t *)data;
    b.type = halide_type_of<int32_t>();
    b.dim = dims;
    b.dimensions = 2;
    EXPECT(b.number_of_elements() == 12 && b.size_in_bytes() == 48 && !b.is_bounds_query());
    b.set_host_dirty(true);
    EXPECT(b.host_dirty() && b.get_flag(halide_buffer_flag_host_dirty));
    EXPECT(b.begin() == b.host && b.end() == b.host + 48);
    EXPECT(dims[0] != dims[1] && dims[0] == halide_dimension_t(0, 4, 1, 0));
    halide_type_t t(halide_type_float, 32, 4);
    EXPECT(t.element_of() == halide_type_of<float>() && t.bytes() == 4 &&
           t.with_lanes(2).lanes == 2);
    EXPECT(halide_type_of<bool>().bits == 1 && halide_type_of<char *>().code == halide_type_handle);
    EXPECT(t.as_u32() == (2u | 32u << 8 | 4u << 16));
    return 0;
}

PROGRAM(benchmarks) {
    volatile int n = 0;
    double t = Halide::Tools::benchmark(3, 10, [&] { n = n + 1; });
    EXPECT(t >= 0 && n == 30);
    Halide::Tools::BenchmarkConfig config;
    config.min_time = 0.001;
    config.max_time = 0.002;
    Halide::Tools::BenchmarkResult r = Halide::Tools::benchmark([&] { n = n + 1; }, config);
    EXPECT(r.samples >= 1 && r.iterations >= 1 && double(r) == r.wall_time);
    return 0;
}

PROGRAM(images_in_files) {
    std::string base = "/tmp/compat_image_" + std::to_string(getpid());
    Halide::Buffer<uint8_t> image(6, 5, 3);
    image.fill([](int x, int y, int c) { return uint8_t(x * 20 + y * 3 + c); });
    for (const char *ending : {".png", ".ppm", ".npy"}) {
        std::string path = base + ending;
        Halide::Tools::save_image(image, path);
        Halide::Buffer<uint8_t> read = Halide::Tools::load_image(path);
        View<uint8_t> at_runtime = Halide::Tools::load_image(path);
        EXPECT(read.width() == 6 && read.channels() == 3 && read(5, 4, 2) == image(5, 4, 2));
        EXPECT(at_runtime(3, 2, 1) == image(3, 2, 1));
        Halide::Buffer<float> floats = Halide::Tools::load_and_convert_image(path);
        EXPECT(std::fabs(floats(5, 4, 2) - image(5, 4, 2) / 255.0f) < 1e-4f);
        if (std::strcmp(ending, ".npy")) Halide::Tools::convert_and_save_image(floats, path);
        std::remove(path.c_str());
    }
    return 0;
}
