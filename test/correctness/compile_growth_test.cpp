#include "algebra/nodes_simplified.h"
#include "base/large_stack.h"
#include "driver/compile.h"
#include "driver/lower_program.h"
#include "ir/nodes_made.h"
#include "lang/boundary_conditions.h"
#include "lang/image_param.h"
#include <algorithm>
#include <ctime>
#include <doctest/doctest.h>
#include <functional>

using namespace tessera;

// These tests compile pipelines whose parts are used more than once, or which have many parts of a
// kind: twice the size may take about twice the work. What took exponential time would
// not end at these sizes.
namespace {

const Var x("x"), y("y");

double processor_milliseconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}

// Returns how many nodes lowering makes and simplifies, which is the same in each run.
uint64_t work_of(const std::vector<Func> &outputs) {
    uint64_t work = 0;
    run_on_large_stack([&] {  // lowering stays in this thread, whose nodes are counted
        program::Program program;
        program.name = "f";
        for (const Func &f : outputs) program.outputs.push_back(f.function());
        const auto now = [] { return ir::nodes_made() + algebra::nodes_simplified(); };
        const uint64_t before = now();
        driver::lower_program(program, get_host_target());
        work = now() - before;
    });
    return work;
}

// n log n of twice the size is a fifth more than twice as much, and a square four times.
constexpr double nearly_linear = 2.6, below_square = 3.4;

void check_growth_of_outputs(int size, const std::function<std::vector<Func>(int)> &make,
                             double most = nearly_linear) {
    const uint64_t small = work_of(make(size)), large = work_of(make(2 * size));
    CAPTURE(small);
    CAPTURE(large);
    CHECK(double(large) < most * double(small));
}

// `size`: large enough that what grows too fast is most of the work.
void check_growth(int size, const std::function<Func(int)> &make, double most = nearly_linear) {
    check_growth_of_outputs(size, [&](int n) { return std::vector<Func>{make(n)}; }, most);
}

double time_to_compile(const Func &f) {
    const double start = processor_milliseconds();
    driver::compile({.name = "f", .outputs = {f.function()}},
                    driver::jit_target(get_host_target()));
    return processor_milliseconds() - start;
}

// The same of the time to compile for what LLVM makes much code of. Of four times the size, as more
// than twice as much is noise.
void check_growth_of_time(int size, const std::function<Func(int)> &make) {
    double small = time_to_compile(make(size)), large = time_to_compile(make(4 * size));
    if (large > 8 * small) large = std::min(large, time_to_compile(make(4 * size)));
    CAPTURE(small);
    CAPTURE(large);
    CHECK(large < 12 * small + 40);
}

// What an expression reads.
using Input = std::function<Expr(Expr, Expr)>;

// The expression in scalars, in vectors, and in vectors behind a boundary condition.
void check_expression(int size, const std::function<Expr(int, const Input &)> &make) {
    for (const bool in_vectors : {false, true}) {
        for (const bool at_edges : {false, true}) {
            if (at_edges && !in_vectors) continue;
            CAPTURE(in_vectors);
            CAPTURE(at_edges);
            check_growth(size, [&](int n) {
                ImageParam image(Int(32), 2, "image");
                Func edges = BoundaryConditions::repeat_edge(image), f("f");
                const Input read = [&](const Expr &i, const Expr &j) {
                    return at_edges ? Expr(edges(i, j)) : Expr(image(i, j));
                };
                f(x, y) = make(n, read);
                if (in_vectors) f.vectorize(x, 8);
                return f;
            });
        }
    }
}

// The median of n values, by exchanges of neighbours; in n rounds.
Expr median(int n, const Input &in) {
    std::vector<Expr> v;
    for (int i = 0; i < n; i++) v.push_back(in(x + i % 5, y + i / 5));
    for (int round = 0; round < n; round++) {
        for (size_t j = size_t(round % 2); j + 1 < v.size(); j += 2) {
            const Expr less = min(v[j], v[j + 1]), more = max(v[j], v[j + 1]);
            v[j] = less, v[j + 1] = more;
        }
    }
    return v[v.size() / 2];
}

// Each Func, which is computed inline, of the two before it.
Func inlined_chain(int n, const std::function<Expr(Expr, Expr)> &next) {
    Func before("before"), last("last");
    before(x) = x + 1;
    last(x) = before(x) * 5;
    for (int k = 0; k < n; k++) {
        Func f;
        f(x) = next(last(x), before(x));
        before = last, last = f;
    }
    return last;
}

// Of which each step uses both values of the one before it twice.
Expr shared_differences(int n, Expr a, Expr b) {
    for (int i = 0; i < n; i++) {
        const Expr less = select(a > b, b, b - a);
        a = select(a > b, a - b, a);
        b = i % 2 ? less : min(less + 1, b);
    }
    return a;
}

// Levels that are each computed only if the image is large enough, in vectors if it is large: the
// region of each has a condition, and follows from that of the one above it.
Func pyramid(int levels) {
    Param<int> width("width"), height("height");
    const Expr is_large = max(width, height) > 40;
    const auto schedule = [&](Func f) {
        f.compute_root().specialize(is_large).vectorize(x, 16).parallel(y, 16);
    };
    std::vector<Expr> widths = {width}, heights = {height};
    std::vector<Func> down = {Func("down")};
    down[0](x, y) = x - y;
    down[0].compute_root();
    for (int i = 1; i < levels; i++) {
        widths.push_back((widths.back() + 1) / 2);
        heights.push_back((heights.back() + 1) / 2);
        const Func edge =
            BoundaryConditions::repeat_edge(down.back(), {{0, widths.back()}, {0, heights.back()}});
        Func next("down");
        next(x, y) = select(max(widths.back(), heights.back()) > 4,
                            edge(2 * x - 1, 2 * y) + edge(2 * x + 2, 2 * y + 1), 0);
        schedule(next);
        down.push_back(next);
    }
    Func up = down.back();
    for (int i = levels - 2; i >= 0; i--) {
        Func next("up");
        const Expr twice = up(x / 2 - 1, y / 2) + up(x / 2 + 1, y / 2 + 1);
        const Func &same = down[size_t(i)];
        next(x, y) =
            select(max(widths[size_t(i)], heights[size_t(i)]) > 4, same(x, y) - twice, same(x, y));
        schedule(next);
        up = next;
    }
    return up;
}

// Layers, each of a convolution within the edges of the one before it, and its positive part.
Func convolutions(int layers) {
    const Var channel("channel");
    Func last("last");
    last(x, y, channel) = cast<float>(x + y + channel);
    last.compute_root();
    for (int i = 0; i < layers; i++) {
        ImageParam weights(Float(32), 4, "weights");
        const RDom r(0, 3, 0, 3, 0, 16);
        const Func edges = BoundaryConditions::constant_exterior(last, 0.f, {{0, 64}, {0, 64}});
        Func sum("sum"), layer("layer");
        sum(x, y, channel) +=
            weights(r.x, r.y, r.z, channel) * edges(x + r.x - 1, y + r.y - 1, r.z);
        layer(x, y, channel) = max(sum(x, y, channel), 0.f);
        sum.compute_at(layer, y).vectorize(x, 8).update().vectorize(x, 8);
        layer.compute_root().vectorize(x, 8).parallel(channel);
        last = layer;
    }
    return last;
}

// Blurs of the histograms of an image's cells, one after the other, read at the image's values.
Func grids(int blurs) {
    const Var z("z");
    ImageParam image(Float(32), 2, "image");
    const RDom r(0, 8, 0, 8);
    const Expr value = clamp(image(x * 8 + r.x, y * 8 + r.y), 0.f, 1.f);
    Func last("grid"), f("f");
    last(x, y, z) = 0.f;
    last(x, y, cast<int>(value * 8)) += value;
    last.compute_root();
    for (int i = 0; i < blurs; i++) {
        Func across("across"), along("along");
        across(x, y, z) = last(x - 1, y, z) + last(x, y, z) * 2 + last(x + 1, y, z);
        along(x, y, z) = across(x, y - 1, z) + across(x, y, z) * 2 + across(x, y + 1, z);
        across.compute_root().vectorize(x, 8);
        along.compute_root().vectorize(x, 8);
        last = along;
    }
    f(x, y) = last(x / 8, y / 8, cast<int>(clamp(image(x, y), 0.f, 1.f) * 8));
    return f.vectorize(x, 8);
}

// The pipeline has as many Funcs, each at the root.
Func wide_sum(int n) {
    Func f("f");
    Expr sum = 0;
    for (int i = 0; i < n; i++) {
        Func g("g");
        g(x, y) = x * i + y;
        g.compute_root().vectorize(x, 8);
        sum += g(x + i, y) * i;
    }
    f(x, y) = sum;
    return f.vectorize(x, 8);
}

// Reads a Func, which is computed where `schedule` says, at what shared differences make of the
// coordinates.
Func read_at_differences(int n, const std::function<void(Func &f, Func &read)> &schedule) {
    ImageParam image(Int(32), 2, "image");
    Func read("read"), f("f");
    read(x, y) = image(x, y) + x;
    f(x, y) = read(shared_differences(n, x + 7, y + 3), y);
    schedule(f, read);
    return f;
}

// Each reads the one before it at three rows.
Func chain_within(int n, const std::function<void(Func f, const Func &last)> &schedule) {
    std::vector<Func> all = {Func("stage")};
    all[0](x, y) = x + y;
    for (int i = 1; i < n; i++) {
        Func next("stage");
        const Func &last = all.back();
        next(x, y) = last(x, y - 1) + last(x, y) * 2 + last(x, y + 1);
        all.push_back(next);
    }
    const Func last = all.back();
    all.pop_back();
    for (const Func &f : all) schedule(f, last);
    return last;
}

// The first of n values whose condition holds.
Func deep_select(int n, const std::function<Expr(int)> &condition) {
    Expr value = y;
    for (int i = n; i-- > 0;) value = select(condition(i), x * i + y, value);
    Func f("f");
    f(x, y) = value;
    return f.vectorize(x, 8);
}

Func nested_lets(int n, const std::function<Expr(const Expr &)> &next) {
    std::vector<Symbol> names;
    std::vector<Expr> values;
    Expr last = x + y;
    for (int i = 0; i < n; i++) {
        names.push_back(Symbol::fresh("t"));
        values.push_back(next(last));
        last = ir::Variable::make(Int(32), names.back());
    }
    for (size_t i = names.size(); i-- > 0;) last = ir::Let::make(names[i], values[i], last);
    Func f("f");
    f(x, y) = last;
    return f.vectorize(x, 8);
}

}  // namespace

TEST_SUITE("growth of the work to compile") {
    TEST_CASE("recurrences whose steps use the values of the step before twice") {
        SUBCASE("of floats, by a condition") {
            check_expression(24, [](int n, const Input &in) {
                Expr a = 0.f, b = 0.f, count = 0;
                for (int i = 0; i < n; i++) {
                    const Expr inside = a * a + b * b < 4.f;
                    const Expr next = a * a - b * b + cast<float>(in(x, y));
                    b = select(inside, 2.f * a * b + 0.5f, b);
                    a = select(inside, next, a);
                    count = select(inside, count + 1, count);
                }
                return count;
            });
        }
        SUBCASE("differences by the greater") {
            check_expression(24, [](int n, const Input &in) {
                Expr a = in(x, y), b = in(x + 1, y);
                for (int i = 0; i < n; i++) {
                    const Expr next = select(a > b, a - b, b);
                    b = select(a > b, b, b - a);
                    a = next;
                }
                return a + b;
            });
        }
        SUBCASE("remainders") {
            check_expression(24, [](int n, const Input &in) {
                Expr a = in(x, y), b = in(x + 1, y);
                for (int i = 0; i < n; i++) {
                    const Expr rest = select(b == 0, a, a % b);
                    a = b, b = rest;
                }
                return a;
            });
        }
        SUBCASE("a square root, bit by bit") {
            check_expression(24, [](int n, const Input &in) {
                Expr root = cast<uint32_t>(0);
                for (int i = 0; i < n; i++) {
                    const Expr next = root | cast<uint32_t>(1 << (15 - i % 16));
                    root = select(next * next <= cast<uint32_t>(in(x, y)), next, root);
                }
                return cast<int>(root);
            });
        }
        SUBCASE("steps of Newton") {
            check_expression(24, [](int n, const Input &in) {
                Expr root = in(x, y);
                for (int i = 0; i < n; i++) root = (root + in(x, y) / max(root, 1)) / 2;
                return root;
            });
        }
        SUBCASE("strict floats") {
            check_expression(24, [](int n, const Input &in) {
                Expr a = cast<float>(in(x, y)), b = cast<float>(in(x + 1, y));
                for (int i = 0; i < n; i++) {
                    const Expr next = strict_float(a * 0.5f + b) - a * b;
                    a = b, b = next;
                }
                return cast<int>(b);
            });
        }
        SUBCASE("conditions") {
            check_expression(24, [](int n, const Input &in) {
                Expr a = x > 3;
                for (int i = 0; i < n; i++) {
                    const Expr b = x + y > i;
                    a = (a && !b) || (!a && b);
                }
                return select(a, in(x, y), 0);
            });
        }
        SUBCASE("a sorting network, of the square of n exchanges") {
            check_expression(98,
                             [](int n, const Input &in) { return median(n < 150 ? 10 : 14, in); });
        }
    }
    TEST_CASE("coordinates that are made of themselves") {
        SUBCASE("clamped and looked up") {
            check_expression(12, [](int n, const Input &in) {
                Expr at = x;
                for (int i = 0; i < n; i++) at = in(clamp(at, 0, 100), clamp(at + y, 0, 100));
                return at;
            });
        }
        SUBCASE("quotients and remainders") {
            check_expression(30, [](int n, const Input &in) {
                Expr at = x + y * 100;
                for (int i = 0; i < n; i++) at = (at / 3 % 5) * 7 + at % 3;
                return in(at, y);
            });
        }
        SUBCASE("products") {
            check_expression(12, [](int n, const Input &in) {
                Expr a = x, b = y;
                for (int i = 0; i < n; i++) {
                    const Expr next = a * b + x;
                    a = b, b = next;
                }
                return in(clamp(a, 0, 9), clamp(b, 0, 9));
            });
        }
        SUBCASE("distances") {
            check_expression(20, [](int n, const Input &in) {
                Expr a = x, b = y;
                for (int i = 0; i < n; i++) {
                    const Expr next = cast<int>(abs(a - b));
                    a = b, b = next;
                }
                return in(clamp(b, 0, 9), y);
            });
        }
    }
    TEST_CASE("chains of Funcs that are computed inline") {
        SUBCASE("sums") {
            check_growth(120, [](int n) {
                return inlined_chain(n, [](const Expr &a, const Expr &b) { return a * 3 + b; });
            });
        }
        SUBCASE("selects") {
            check_growth(80, [](int n) {
                return inlined_chain(
                    n, [](const Expr &a, const Expr &b) { return select(a > b, a - b, b + 1); });
            });
        }
        SUBCASE("each with its own variables") {
            check_growth(120, [](int n) {
                Func before("before"), last("last");
                before(x, y) = x + 1;
                last(x, y) = before(y, x) * 5;
                for (int k = 0; k < n; k++) {
                    Func f;
                    const Var i, j;
                    f(i, j) = last(j, i) * 3 + before(i, j);
                    before = last, last = f;
                }
                return last;
            });
        }
    }
    TEST_CASE("a chain of Funcs that are computed inline has the values of its definitions") {
        const Func last =
            inlined_chain(200, [](const Expr &a, const Expr &b) { return a * 3 + b; });
        Buffer<int> values = Func(last).realize({5});
        for (int i = 0; i < 5; i++) {
            uint32_t before = uint32_t(i) + 1, now = before * 5;
            for (int k = 0; k < 200; k++) before = std::exchange(now, now * 3 + before);
            CHECK(values(i) == int32_t(now));
        }
    }
    TEST_CASE("one of many values in a loop that is unrolled") {
        const auto chosen = [](int n) {
            std::vector<Expr> values;
            for (int j = 0; j < n; j++) values.push_back(3 * y + j * j);
            Func f("f");
            f(x, y) = mux(x, values);
            f.bound(x, 0, n).unroll(x);
            return f;
        };
        check_growth(400, chosen);
        check_growth_of_time(200, chosen);
        Buffer<int> values = chosen(100).realize({100, 3});
        int wrong = 0;
        values.for_each_element([&](int i, int j) { wrong += values(i, j) != 3 * j + i * i; });
        CHECK(wrong == 0);
    }
    TEST_CASE("one of many values beyond the last, and of those that are compared twice") {
        Func f("f");
        f(x) = select(x + 1 == 2, 10, x + 1 == 3, 20, x + 1 == 2, 30, 40 + x);
        f.bound(x, 0, 5).unroll(x);
        Buffer<int> values = f.realize({5});
        const int expected[] = {40, 10, 20, 43, 44};
        for (int i = 0; i < 5; i++) CHECK(values(i) == expected[i]);
    }
    TEST_CASE("an unrolled loop without a bound") {
        const auto unrolled = [](int n) {
            Func f("f");
            f(x) = x * x + 1;
            f.unroll(x, n);
            return f;
        };
        check_growth(300, unrolled);
        check_growth_of_time(150, unrolled);
    }
    TEST_CASE("a block of thousands of unrolled points, which all read one address") {
        const auto block = [](int n) {
            Var xo("xo"), xi("xi");
            Func f("f");
            f(x) = x * 3;
            f.bound_extent(x, 8192).split(x, xo, xi, n).unroll(xi);
            return f;
        };
        check_growth(2048, block);
        check_growth_of_time(1024, block);
    }
    TEST_CASE("updates of one Func") {
        check_growth(160, [](int n) {
            Func f("f");
            f(x) = x;
            for (int i = 0; i < n; i++) f(x) += i * x;
            return f;
        });
    }
    TEST_CASE("conditions of a reduction that share their parts") {
        check_growth(16, [](int n) {
            RDom r(0, 100, 0, 100);
            Expr a = r.x > 3;
            for (int i = 0; i < n; i++) {
                const Expr b = r.x + r.y > i;
                a = (a && !b) || (!a && b);
            }
            r.where(a);
            Func f("f");
            f(x) = 0;
            f(x) += r.x * r.y;
            return f;
        });
    }
    TEST_CASE("coordinates that share their parts, in loops with each tail") {
        const Var xo("xo"), xi("xi");
        for (const TailStrategy tail :
             {TailStrategy::GuardWithIf, TailStrategy::RoundUp, TailStrategy::ShiftInwards}) {
            CAPTURE(int(tail));
            check_growth(12, [&](int n) {
                return read_at_differences(n, [&](Func &f, Func &read) {
                    f.split(x, xo, xi, 8, tail).unroll(xi);
                    read.compute_root();
                });
            });
            check_growth(
                12,
                [&](int n) {
                    return read_at_differences(n, [&](Func &f, Func &read) {
                        f.split(x, xo, xi, 8, tail).vectorize(xi).parallel(y);
                        read.compute_at(f, xo);
                    });
                },
                below_square);
        }
    }
    TEST_CASE("coordinates that share their parts, in a Func with edges") {
        check_growth(12, [](int n) {
            ImageParam image(Int(32), 2, "image");
            Func read("read"), f("f");
            read(x, y) = image(x, y) + x;
            const Func edges = BoundaryConditions::repeat_edge(read, {{0, 100}, {0, 100}});
            f(x, y) = edges(shared_differences(n, x + 7, y + 3), y);
            read.compute_root();
            f.vectorize(x, 8);
            return f;
        });
    }
    TEST_CASE("shared differences in the predicate of a reduction") {
        check_growth(
            12,
            [](int n) {
                RDom r(0, 100, 0, 100);
                r.where(shared_differences(n, r.x, r.y + x) > 5);
                Func f("f");
                f(x) = 0;
                f(x) += r.x * r.y;
                f.update().vectorize(x, 8);
                return f;
            },
            below_square);
    }
    TEST_CASE("shared differences that say how long loops are") {
        SUBCASE("of a reduction") {
            check_growth(12, [](int n) {
                Param<int> p("p"), q("q");
                RDom r(0, shared_differences(n, p, q));
                Func read("read"), f("f");
                read(x) = x + 1;
                f(x) = 0;
                f(x) += read(r + x);
                read.compute_root();
                return f;
            });
        }
        SUBCASE("of a dimension") {
            check_growth(
                12,
                [](int n) {
                    Param<int> p("p"), q("q");
                    Func read("read"), f("f");
                    read(x, y) = x + y;
                    f(x, y) = read(x, y) + 1;
                    read.compute_at(f, y);
                    f.bound(x, 0, shared_differences(n, p, q));
                    return f;
                },
                below_square);
        }
    }
    TEST_CASE("a requirement of shared differences") {
        check_growth(12, [](int n) {
            ImageParam image(Int(32), 2, "image");
            Func read("read"), f("f");
            read(x, y) = image(x, y);
            const Expr e = shared_differences(n, x, y);
            f(x, y) = read(require(e > 0, clamp(e, -100, 100), "not positive"), y);
            read.compute_root();
            f.vectorize(x, 8);
            return f;
        });
    }
    TEST_CASE("pyramids with conditions and specializations") {
        check_growth(8, pyramid, below_square);
    }
    TEST_CASE("convolutions one after the other") { check_growth(8, convolutions); }
    TEST_CASE("blurs of a grid") { check_growth(8, grids); }
    TEST_CASE("sums of many Funcs") { check_growth(20, wide_sum); }
    TEST_CASE("many outputs") {
        check_growth_of_outputs(20, [](int n) {
            std::vector<Func> outputs;
            Func shared("shared");
            shared(x, y) = x * y;
            shared.compute_root().vectorize(x, 8);
            for (int i = 0; i < n; i++) {
                Func f("f");
                f(x, y) = shared(x + i, y) * i;
                outputs.push_back(f.vectorize(x, 8));
            }
            return outputs;
        });
    }
    TEST_CASE("stages in the loops of the last one") {
        SUBCASE("row by row") {
            check_growth(10, [](int n) {
                return chain_within(n, [](Func f, const Func &last) { f.compute_at(last, y); });
            });
        }
        SUBCASE("under windows that slide") {
            check_growth(10, [](int n) {
                return chain_within(
                    n, [](Func f, const Func &last) { f.store_root().compute_at(last, y); });
            });
        }
        SUBCASE("in tiles") {
            check_growth(10, [](int n) {
                const Var xi("xi"), yi("yi");
                const Func last =
                    chain_within(n, [](Func f, const Func &last) { f.compute_at(last, x); });
                return Func(last).tile(x, y, xi, yi, 32, 32).vectorize(xi, 8);
            });
        }
    }
    TEST_CASE("a select in the last value of another, many times") {
        SUBCASE("of a coordinate") {
            check_growth(40, [](int n) { return deep_select(n, [](int i) { return x == i; }); });
        }
        SUBCASE("of inequalities") {
            check_growth(40, [](int n) { return deep_select(n, [](int i) { return x < 3 * i; }); });
        }
        SUBCASE("of data") {
            ImageParam image(Int(32), 2, "image");
            check_growth(40, [&](int n) {
                return deep_select(n, [&](int i) { return image(x, y) > 5 * i; });
            });
        }
    }
    TEST_CASE("lets within one another") {
        SUBCASE("each of the one before it") {
            check_growth(40, [](int n) {
                return nested_lets(n, [](const Expr &before) { return before * before + 3; });
            });
        }
        SUBCASE("of coordinates that are read") {
            ImageParam image(Int(32), 2, "image");
            check_growth(40, [&](int n) {
                return nested_lets(n, [&](const Expr &before) {
                    return Expr(image(clamp(before, 0, 100), y)) + before;
                });
            });
        }
    }
    TEST_CASE("random numbers that depend on random numbers are simplified in linear time") {
        Var o("o"), i("i");
        Func f("f"), g("g"), h("h");
        auto index = [](const Expr &e) {
            return clamp(cast<int>(e % cast<uint32_t>(1024)), 0, 17);
        };
        f(x, y) = random_uint(3);
        Expr e = f(8 - x, 19 - y);
        for (int k = 0; k < 4; k++) e = f(index(e), y + k);
        g(x, y) = e;
        h(x, y) = g(x, y);
        g.compute_at(h, y).split(x, o, i, 8, TailStrategy::ShiftInwards).vectorize(i);
        Buffer<uint32_t> fast = h.realize({9, 2});
        Func plain("plain");
        plain(x, y) = e;
        Buffer<uint32_t> slow = plain.realize({9, 2});
        fast.for_each_element([&](int a, int b) { CHECK(fast(a, b) == slow(a, b)); });
    }
}
