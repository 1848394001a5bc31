#include "oracle.h"

// Programs as they are written for GPUs.
namespace {

Var x("x"), y("y"), c("c"), z("z"), n("n"), k("k");
Var xo("xo"), yo("yo"), xi("xi"), yi("yi"), xii("xii"), yii("yii"), zi("zi");

}  // namespace

PROGRAM(blurs_of_four_schedules) {
    Buffer<uint8_t> in = picture(36, 20);
    for (int schedule = 0; schedule < 4; schedule++) {
        EXPECT(same_on_gpu<uint16_t>(
            [&](bool gpu) {
                Func rows("rows"), out("out");
                rows(x, y) = cast<uint16_t>(in(x, y)) + in(x + 1, y) + in(x + 2, y);
                out(x, y) = (rows(x, y) + rows(x, y + 1) + rows(x, y + 2)) / 9;
                if (!gpu) return out;
                if (schedule == 0) {
                    out.gpu_tile(x, y, xi, yi, 16, 8);
                } else if (schedule == 1) {
                    out.gpu_tile(x, y, xi, yi, 16, 8);
                    rows.compute_at(out, x).gpu_threads(x, y);
                } else {
                    if (schedule == 3) out.vectorize(x, 2);
                    out.split(y, yo, y, 8).split(x, xo, x, 8).reorder(y, x, xo, yo).unroll(y);
                    if (schedule == 3) return out.gpu_blocks(xo, yo).gpu_threads(x);
                    out.gpu_blocks(xo, yo).gpu_threads(x);
                    rows.store_at(out, x).compute_at(out, y);
                }
                return out;
            },
            {32, 16}));
    }
    return 0;
}

PROGRAM(a_product_of_matrices) {
    const int size = 32;
    Buffer<float> a(size, size), b(size, size);
    a.fill([](int i, int j) { return float((i * 3 + j) % 7); });
    b.fill([](int i, int j) { return float((i + j * 5) % 11); });
    EXPECT(same_on_gpu<float>(
        [&](bool gpu) {
            Func A("A"), B("B"), prod("prod"), out("out");
            RDom r(0, size);
            A(x, y) = a(x, y);
            B(x, y) = b(x, y);
            prod(x, y) = 0.0f;
            prod(x, y) += A(x, r) * B(r, y);
            out(x, y) = prod(x, y);
            if (!gpu) return out;
            RVar ro("ro"), ri("ri");
            out.bound(x, 0, size).bound(y, 0, size);
            out.tile(x, y, xi, yi, 16, 8).tile(xi, yi, xii, yii, 4, 4);
            out.gpu_blocks(x, y).gpu_threads(xi, yi).unroll(xii).unroll(yii);
            prod.compute_at(out, xi).unroll(x).unroll(y);
            prod.update().split(r, ro, ri, 4).reorder(ri, x, y, ro).unroll(x).unroll(y).unroll(ri);
            A.in().compute_at(prod, ro).unroll(A.args()[0]).unroll(A.args()[1]);
            A.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
            B.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
            B.in().compute_at(prod, ro).unroll(x).unroll(y);
            return out;
        },
        {size, size}));
    return 0;
}

PROGRAM(corners_by_several_stages_in_shared_memory) {
    Buffer<uint8_t> in = picture(44, 30);
    EXPECT(same_on_gpu<float>(
        [&](bool gpu) {
            Func gray("gray"), ix("ix"), iy("iy"), out("out");
            gray(x, y) = cast<float>(in(x + 2, y + 2));
            iy(x, y) = gray(x - 1, y + 1) + 2 * gray(x, y + 1) + gray(x + 1, y + 1) -
                       gray(x - 1, y - 1) - 2 * gray(x, y - 1) - gray(x + 1, y - 1);
            ix(x, y) = gray(x + 1, y - 1) + 2 * gray(x + 1, y) + gray(x + 1, y + 1) -
                       gray(x - 1, y - 1) - 2 * gray(x - 1, y) - gray(x - 1, y + 1);
            auto sum = [&](Func a, Func b) {
                Expr e = 0.0f;
                for (int dy = 0; dy < 3; dy++) {
                    for (int dx = 0; dx < 3; dx++) e += a(x + dx, y + dy) * b(x + dx, y + dy);
                }
                return e;
            };
            Expr xx = sum(ix, ix), yy = sum(iy, iy), xy = sum(ix, iy), trace = xx + yy;
            out(x, y) = xx * yy - xy * xy - 0.04f * trace * trace;
            if (!gpu) return out;
            out.gpu_tile(x, y, xi, yi, 12, 6, TailStrategy::GuardWithIf);
            gray.compute_at(out, x).tile(x, y, xi, yi, 2, 2).gpu_threads(x, y);
            ix.compute_at(out, x).gpu_threads(x, y);
            iy.compute_at(out, x).gpu_threads(x, y);
            return out;
        },
        {36, 22}));
    return 0;
}

PROGRAM(a_pyramid_down_and_up) {
    Buffer<uint8_t> in = picture(40, 40);
    EXPECT(same_on_gpu<float>(
        [&](bool gpu) {
            std::vector<Func> down(4), up(4);
            Func edge = BoundaryConditions::repeat_edge(in);
            down[0](x, y) = cast<float>(edge(x, y));
            for (int i = 1; i < 4; i++) {
                down[i](x, y) =
                    (down[i - 1](2 * x, 2 * y) + down[i - 1](2 * x + 1, 2 * y) +
                     down[i - 1](2 * x, 2 * y + 1) + down[i - 1](2 * x + 1, 2 * y + 1)) /
                    4;
            }
            up[3](x, y) = down[3](x, y);
            for (int i = 2; i >= 0; i--) {
                up[i](x, y) = down[i](x, y) - up[i + 1](x / 2, y / 2) * 0.5f;
            }
            Func out("out");
            out(x, y) = up[0](x, y);
            if (!gpu) return out;
            out.gpu_tile(x, y, xi, yi, 8, 8);
            for (int i = 1; i < 4; i++) {
                down[i].compute_root().gpu_tile(x, y, xi, yi, 4, 4, TailStrategy::GuardWithIf);
                up[i].compute_root().gpu_tile(x, y, xi, yi, 4, 4, TailStrategy::GuardWithIf);
            }
            return out;
        },
        {40, 40}));
    return 0;
}

PROGRAM(a_bilateral_grid) {
    Buffer<uint8_t> in = picture(32, 32);
    EXPECT(same_on_gpu<float>(
        [&](bool gpu) {
            const int s = 4;
            Func edge = BoundaryConditions::repeat_edge(in);
            Func histogram("histogram"), blurz("blurz"), blurx("blurx"), out("out");
            RDom r(0, s, 0, s);
            Expr value = cast<float>(edge(x * s + r.x, y * s + r.y)) / 255.0f;
            Expr bin = clamp(cast<int>(value * 4), 0, 4);
            histogram(x, y, z, c) = 0.0f;
            histogram(x, y, bin, c) += mux(c, {value, 1.0f});
            blurz(x, y, z, c) =
                histogram(x, y, z - 1, c) + histogram(x, y, z, c) * 2 + histogram(x, y, z + 1, c);
            blurx(x, y, z, c) =
                blurz(x - 1, y, z, c) + blurz(x, y, z, c) * 2 + blurz(x + 1, y, z, c);
            Expr at = clamp(cast<int>(cast<float>(edge(x, y)) / 64.0f), 0, 3);
            out(x, y) = blurx(x / s, y / s, at, 0) / (blurx(x / s, y / s, at, 1) + 1.0f);
            if (!gpu) return out;
            blurz.compute_root()
                .reorder(c, z, x, y)
                .gpu_tile(x, y, xi, yi, 4, 2, TailStrategy::GuardWithIf);
            histogram.reorder(c, z, x, y).compute_at(blurz, x).gpu_threads(x, y);
            histogram.update().reorder(c, r.x, r.y, x, y).gpu_threads(x, y).unroll(c);
            histogram.bound(c, 0, 2);
            blurx.compute_root().gpu_tile(x, y, z, xi, yi, zi, 4, 4, 1, TailStrategy::GuardWithIf);
            out.gpu_tile(x, y, xi, yi, 16, 4);
            return out;
        },
        {32, 32}));
    return 0;
}

PROGRAM(a_histogram_is_equalized) {
    Buffer<uint8_t> in = picture(32, 16);
    EXPECT(same_on_gpu<uint8_t>(
        [&](bool gpu) {
            Func rows("rows"), histogram("histogram"), cdf("cdf"), out("out");
            RDom rx(0, 32), ry(0, 16), b(1, 15);
            rows(x, y) = 0;
            rows(in(rx, y) / 16, y) += 1;
            histogram(x) = 0;
            histogram(x) += rows(x, ry);
            cdf(x) = histogram(0);
            cdf(b) = cdf(b - 1) + histogram(b);
            out(x, y) = cast<uint8_t>(cdf(in(x, y) / 16) * 255 / (32 * 16));
            if (!gpu) return out;
            rows.compute_root().bound(x, 0, 16).gpu_tile(x, y, xi, yi, 16, 4);
            rows.update().gpu_tile(y, yi, 4);
            histogram.compute_root().gpu_tile(x, xi, 16);
            histogram.update().gpu_tile(x, xi, 16);
            cdf.compute_root().bound(x, 0, 16).gpu_single_thread();
            cdf.update().gpu_single_thread();
            out.gpu_tile(x, y, xi, yi, 16, 4);
            cdf.in(out).compute_at(out, x).gpu_threads(x);
            return out;
        },
        {32, 16}));
    return 0;
}

PROGRAM(a_convolution_of_channels) {
    Buffer<float> in(10, 10, 4), filter(8, 4, 3, 3);
    in.fill([](int i, int j, int m) { return float((i * 3 + j * 5 + m * 7) % 9); });
    filter.fill(
        [](int o, int i, int a, int b) { return float((o + 2 * i + 3 * a + 5 * b) % 5) - 2; });
    Var co("co");
    EXPECT(same_on_gpu<float>(
        [&](bool gpu) {
            Func conv("conv"), relu("relu");
            RDom r(0, 4, 0, 3, 0, 3);
            conv(c, x, y) = 0.5f;
            conv(c, x, y) += filter(c, r.x, r.y, r.z) * in(x + r.y, y + r.z, r.x);
            relu(c, x, y) = max(0.0f, conv(c, x, y));
            if (!gpu) return relu;
            relu.tile(x, y, xi, yi, 4, 2).split(c, co, c, 8).reorder(xi, yi, c, x, y, co);
            relu.unroll(xi).unroll(yi).gpu_blocks(x, y, co).gpu_threads(c);
            conv.compute_at(relu, c).unroll(x).unroll(y);
            conv.update().reorder(x, y, r.y, r.z, r.x).unroll(x).unroll(y).unroll(r.y);
            return relu;
        },
        {8, 8, 8}));
    return 0;
}

PROGRAM(a_recursive_filter_of_columns) {
    EXPECT(same_on_gpu<float>(
        [](bool gpu) {
            Func in("in"), f("f"), out("out");
            RDom r(1, 15);
            in(x, y) = cast<float>((x * 7 + y * 3) % 10);
            f(x, y) = undef<float>();
            f(x, 0) = in(x, 0);
            f(x, r) = in(x, r) * 0.25f + f(x, r - 1) * 0.75f;
            f(x, 14 - r + 1) = f(x, 14 - r + 1) * 0.25f + f(x, 15 - r + 1) * 0.75f;
            out(x, y) = f(x, y) + 1.0f;
            if (!gpu) return out;
            out.gpu_tile(x, y, xi, yi, 8, 8);
            f.compute_root().bound(y, 0, 16);
            for (int i = 0; i < 3; i++) f.update(i).gpu_tile(x, xi, 8);
            return out;
        },
        {16, 16}));
    return 0;
}

PROGRAM(a_median_by_a_network) {
    Buffer<uint8_t> in = picture(34, 18);
    EXPECT(same_on_gpu<uint8_t>(
        [&](bool gpu) {
            std::vector<Expr> v;
            Func t("t"), out("out");
            t(x, y) = in(x, y);
            for (int i = 0; i < 9; i++) v.push_back(t(x + i % 3, y + i / 3));
            for (int i = 0; i < 5; i++) {
                for (int j = 8; j > i; j--) {
                    Expr low = min(v[size_t(j - 1)], v[size_t(j)]);
                    v[size_t(j)] = max(v[size_t(j - 1)], v[size_t(j)]);
                    v[size_t(j - 1)] = low;
                }
            }
            out(x, y) = v[4];
            if (!gpu) return out;
            out.gpu_tile(x, y, xi, yi, 16, 4);
            t.compute_at(out, x).gpu_threads(x, y);
            return out;
        },
        {32, 16}));
    return 0;
}

PROGRAM(a_game_of_life_for_several_steps) {
    Buffer<uint8_t> start(16, 16);
    start.fill([](int i, int j) { return uint8_t((i * 7 + j * 5 + i * j) % 3 == 0); });
    EXPECT(same_on_gpu<uint8_t>(
        [&](bool gpu) {
            std::vector<Func> steps(4);
            steps[0](x, y) = start((x + 16) % 16, (y + 16) % 16);
            for (size_t i = 1; i < steps.size(); i++) {
                Expr count = cast<int>(0);
                for (int d = 0; d < 9; d++) {
                    if (d != 4) {
                        count += steps[i - 1]((x + d % 3 + 15) % 16, (y + d / 3 + 15) % 16);
                    }
                }
                Expr alive = steps[i - 1](x, y) != 0;
                steps[i](x, y) = cast<uint8_t>(count == 3 || (alive && count == 2));
            }
            if (!gpu) return steps.back();
            for (Func &f : steps) f.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
            return steps.back();
        },
        {16, 16}));
    return 0;
}

PROGRAM(a_fractal_by_tuples) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            Func m("m"), count("count");
            RDom t(1, 12);
            Expr cr = (x - 20) / 16.0f, ci = (y - 8) / 8.0f;
            m(x, y, z) = {0.0f, 0.0f};
            Expr re = m(x, y, t - 1)[0], im = m(x, y, t - 1)[1];
            m(x, y, t) = {re * re - im * im + cr, 2 * re * im + ci};
            Expr a = m(x, y, t)[0], b = m(x, y, t)[1];
            Tuple first = argmin(a * a + b * b < 4.0f);
            count(x, y) = first[0];
            if (!gpu) return count;
            count.gpu_tile(x, y, xi, yi, 8, 4);
            m.compute_at(count, xi);
            return count;
        },
        {24, 16}));
    return 0;
}

PROGRAM(distances_of_points) {
    EXPECT(same_on_gpu<float>(
        [](bool gpu) {
            Func points("points"), nearest("nearest");
            RDom r(0, 24);
            points(x, c) = cast<float>((x * 17 + c * 29) % 31);
            Expr dx = points(r, 0) - points(x, 0), dy = points(r, 1) - points(x, 1);
            nearest(x) = 1e6f;
            nearest(x) = min(nearest(x), select(r == x, 1e6f, dx * dx + dy * dy));
            if (!gpu) return nearest;
            points.compute_root().bound(c, 0, 2).unroll(c).gpu_tile(x, xi, 8);
            nearest.gpu_tile(x, xi, 8);
            RVar ro, ri;
            nearest.update().split(r, ro, ri, 8).reorder(ri, x, ro);
            nearest.update().gpu_tile(x, xi, 8);
            return nearest;
        },
        {24}));
    return 0;
}

PROGRAM(a_stencil_chain_of_kernels) {
    EXPECT(same_on_gpu<int>(
        [](bool gpu) {
            std::vector<Func> stages(5);
            stages[0](x, y) = x * y % 17;
            for (size_t i = 1; i < stages.size(); i++) {
                Expr e = 0;
                for (int d = -1; d <= 1; d++)
                    e += stages[i - 1](x + d, y) + stages[i - 1](x, y + d);
                stages[i](x, y) = e % 101;
            }
            if (!gpu) return stages.back();
            for (size_t i = 0; i < stages.size(); i++) {
                if (i == 3) continue;  // inlined
                stages[i].compute_root().tile(x, y, xo, yo, xi, yi, 16, 8,
                                              TailStrategy::GuardWithIf);
                stages[i].tile(xi, yi, xii, yii, 2, 2).unroll(xii).unroll(yii);
                stages[i].gpu_blocks(xo, yo).gpu_threads(xi, yi);
            }
            return stages.back();
        },
        {32, 16}));
    return 0;
}

PROGRAM(a_table_that_blocks_keep) {
    Buffer<uint8_t> in = picture(32, 8);
    EXPECT(same_on_gpu<uint8_t>(
        [&](bool gpu) {
            Func table("table"), out("out");
            table(x) = cast<uint8_t>(255 * pow(cast<float>(x) / 255.0f, 0.5f));
            out(x, y) = table(in(x, y));
            if (!gpu) return out;
            table.compute_root().gpu_tile(x, xi, 32);
            out.gpu_tile(x, y, xi, yi, 16, 4);
            table.in().compute_at(out, x).split(x, xo, xi, 16).gpu_threads(xi);
            return out;
        },
        {32, 8}));
    return 0;
}
