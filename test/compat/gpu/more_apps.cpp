#include "oracle.h"

// More programs as they are written for GPUs.
namespace {

Var x("x"), y("y"), c("c"), k("k"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), u("u");

}  // namespace

PROGRAM(local_contrast_of_levels) {
    Buffer<uint8_t> in = picture(32, 32);
    EXPECT(same_on_gpu<float>(
        [&](bool gpu) {
            const int levels = 3, J = 3;
            Func edge = BoundaryConditions::repeat_edge(in), gray("gray"), remap("remap");
            gray(x, y) = cast<float>(edge(x, y)) / 255.0f;
            Expr fx = cast<float>(x) / 64.0f;
            remap(x) = fx * exp(-fx * fx / 2.0f);
            std::vector<Func> g(J), l(J), in_g(J), out_l(J), out_g(J);
            Expr level = k * (1.0f / (levels - 1));
            Expr idx = clamp(cast<int>(gray(x, y) * (levels - 1) * 64.0f), 0, (levels - 1) * 64);
            g[0](x, y, k) = gray(x, y) - level + level + remap(idx - 64 * k);
            in_g[0](x, y) = gray(x, y);
            auto down = [](Func f, std::vector<Expr> more) {
                auto at = [&](Expr i, Expr j) {
                    std::vector<Expr> args = {i, j};
                    args.insert(args.end(), more.begin(), more.end());
                    return f(args);
                };
                return (at(2 * x - 1, 2 * y) + at(2 * x, 2 * y) * 2 + at(2 * x + 1, 2 * y) +
                        at(2 * x, 2 * y + 1)) /
                       5.0f;
            };
            for (size_t j = 1; j < J; j++) {
                g[j](x, y, k) = down(g[j - 1], {k});
                in_g[j](x, y) = down(in_g[j - 1], {});
            }
            l[J - 1](x, y, k) = g[J - 1](x, y, k);
            for (int j = J - 2; j >= 0; j--) {
                l[size_t(j)](x, y, k) = g[size_t(j)](x, y, k) - g[size_t(j) + 1](x / 2, y / 2, k);
            }
            for (size_t j = 0; j < J; j++) {
                Expr at = in_g[j](x, y) * (levels - 1);
                Expr li = clamp(cast<int>(at), 0, levels - 2);
                Expr lf = at - li;
                out_l[j](x, y) = (1.0f - lf) * l[j](x, y, li) + lf * l[j](x, y, li + 1);
            }
            out_g[J - 1](x, y) = out_l[J - 1](x, y);
            for (int j = J - 2; j >= 0; j--) {
                out_g[size_t(j)](x, y) =
                    out_g[size_t(j) + 1](x / 2, y / 2) + out_l[size_t(j)](x, y);
            }
            Func out("out");
            out(x, y) = out_g[0](x, y);
            if (!gpu) return out;
            const TailStrategy tail = TailStrategy::GuardWithIf;
            remap.compute_root().gpu_tile(x, xi, 16, tail);
            out.gpu_tile(x, y, xi, yi, 8, 8);
            for (size_t j = 0; j < J; j++) {
                const int bw = j < 2 ? 8 : 2, bh = j < 2 ? 4 : 2;
                if (j > 0) in_g[j].compute_root().gpu_tile(x, y, xi, yi, bw, bh, tail);
                if (j > 0) {
                    g[j].compute_root().reorder(k, x, y).gpu_tile(x, y, xi, yi, bw, bh, tail);
                    out_g[j].compute_root().gpu_tile(x, y, xi, yi, bw, bh, tail);
                }
            }
            return out;
        },
        {32, 32}));
    return 0;
}

PROGRAM(means_of_patches_that_are_not_local) {
    Buffer<uint8_t> in = picture(24, 16);
    EXPECT(same_on_gpu<float>(
        [&](bool gpu) {
            Func edge = BoundaryConditions::repeat_edge(in), d("d"), by("by"), bx("bx"), w("w"),
                 sum("sum"), out("out");
            Var dx("dx"), dy("dy");
            Expr diff = cast<float>(edge(x, y)) - edge(x + dx, y + dy);
            d(x, y, dx, dy) = diff * diff;
            by(x, y, dx, dy) = d(x, y - 1, dx, dy) + d(x, y, dx, dy) + d(x, y + 1, dx, dy);
            bx(x, y, dx, dy) = by(x - 1, y, dx, dy) + by(x, y, dx, dy) + by(x + 1, y, dx, dy);
            w(x, y, dx, dy) = 1.0f / (1.0f + bx(x, y, dx, dy));
            RDom s(-1, 3, -1, 3);
            sum(c, x, y) = 0.0f;
            sum(c, x, y) +=
                w(x, y, s.x, s.y) * select(c == 0, cast<float>(edge(x + s.x, y + s.y)), 1.0f);
            out(x, y) = sum(0, x, y) / sum(1, x, y);
            if (!gpu) return out;
            out.gpu_tile(x, y, xi, yi, 8, 4);
            sum.compute_root().bound(c, 0, 2).unroll(c).gpu_tile(x, y, xi, yi, 8, 4);
            sum.update().reorder(c, s.x, x, y, s.y).unroll(c).gpu_tile(x, y, xi, yi, 8, 4);
            bx.compute_at(sum, s.y).tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf);
            bx.gpu_blocks(xo, yo, dx).gpu_threads(xi, yi);
            by.compute_at(bx, xo).gpu_threads(x, y);
            d.compute_at(bx, xo).gpu_threads(x, y);
            return out;
        },
        {24, 16}));
    return 0;
}

PROGRAM(a_maximum_over_disks) {
    Buffer<uint8_t> in = picture(24, 24);
    EXPECT(same_on_gpu<uint8_t>(
        [&](bool gpu) {
            const int radius = 3;
            Func edge = BoundaryConditions::repeat_edge(in), vert("vert"), slice("slice"),
                 out("out");
            Var t("t");
            vert(x, y, t) = undef<uint8_t>();
            vert(x, y, 0) = edge(x, y);
            RDom r(-radius, in.height() + 2 * radius, 1, 2);
            vert(x, r.x, r.y) = max(
                vert(x, r.x, r.y - 1),
                vert(x, clamp(r.x + (1 << (r.y - 1)), -radius, in.height() + radius - 1), r.y - 1));
            slice(x, y, t) = max(vert(x, y - t, 1), vert(x, y + max(t - 1, 0), 1));
            RDom dx(-radius, 2 * radius + 1);
            out(x, y) = slice(x - radius, y, 0);
            out(x, y) = max(out(x, y), slice(x + dx, y, radius - cast<int>(abs(dx))));
            if (!gpu) return out;
            vert.compute_root().bound(t, 0, 3).bound(y, -radius, in.height() + 2 * radius);
            vert.update(0).gpu_tile(x, y, xi, yi, 8, 4);
            vert.update(1).reorder(r.x, x, r.y).gpu_tile(x, xi, 8);
            out.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
            out.update().gpu_tile(x, y, xi, yi, 8, 4);
            return out;
        },
        {24, 24}));
    return 0;
}

PROGRAM(separable_convolutions_of_channels) {
    Buffer<float> in(8, 12, 12);
    Buffer<float> depth(3, 3, 8), point(8, 8);
    in.fill([](int m, int i, int j) { return float((m * 7 + i * 3 + j * 5) % 9); });
    depth.fill([](int i, int j, int m) { return float((i + 2 * j + 3 * m) % 5) - 2; });
    point.fill([](int i, int o) { return float((i * 3 + o) % 4) - 1; });
    EXPECT(same_on_gpu<float>(
        [&](bool gpu) {
            Func dw("dw"), pw("pw"), out("out");
            RDom r(0, 3, 0, 3), s(0, 8);
            dw(c, x, y) = 0.0f;
            dw(c, x, y) += depth(r.x, r.y, c) * in(c, x + r.x, y + r.y);
            pw(c, x, y) = 0.25f;
            pw(c, x, y) += point(s, c) * dw(s, x, y);
            out(c, x, y) = max(pw(c, x, y), 0.0f);
            if (!gpu) return out;
            Var ci("ci");
            out.tile(x, y, xi, yi, 2, 2).reorder(xi, yi, c, x, y).unroll(xi).unroll(yi);
            out.gpu_blocks(x, y).gpu_threads(c);
            pw.compute_at(out, c).unroll(x).unroll(y);
            pw.update().reorder(x, y, s).unroll(x).unroll(y);
            Func staged = dw.in();
            staged.compute_at(out, x).reorder(x, y, c).unroll(x).unroll(y).gpu_threads(c);
            dw.compute_at(staged, c).unroll(x).unroll(y);
            dw.update().reorder(x, y, r.x, r.y).unroll(x).unroll(y);
            return out;
        },
        {8, 10, 10}));
    return 0;
}

PROGRAM(rows_are_counted_in_shared_memory) {
    Buffer<uint8_t> in = picture(32, 8);
    EXPECT(same_on_gpu<uint32_t>(
        [&](bool gpu) {
            Func rows("rows"), hist("hist"), out("out");
            RDom rx(0, 32), ry(0, 8);
            rows(x, y) = cast<uint32_t>(0);
            rows(cast<int>(in(rx, y)) / 8, y) += cast<uint32_t>(1);
            hist(x) = cast<uint32_t>(0);
            hist(x) += rows(x, ry);
            out(x) = hist(x);
            if (!gpu) return out;
            RVar ro("ro"), ri("ri");
            Var v("v"), t("t");
            Func whole = rows.in();
            whole.compute_root().bound(x, 0, 32).split(x, x, v, 2).vectorize(v);
            whole.gpu_blocks(y).gpu_lanes(x);
            rows.compute_at(whole, y).store_in(MemoryType::GPUShared);
            rows.split(x, x, v, 2).vectorize(v).gpu_lanes(x);
            rows.update().atomic().split(rx, ro, ri, 16).gpu_lanes(ri);
            hist.compute_root().gpu_tile(x, xi, 16);
            hist.update().gpu_tile(x, xi, 16);
            out.gpu_tile(x, xi, 16);
            return out;
        },
        {32}));
    return 0;
}

PROGRAM(noise_is_removed_from_raw_pixels) {
    Buffer<uint16_t> in(40, 28);
    in.fill([](int i, int j) { return uint16_t((i * 37 + j * 91 + i * j) % 1021); });
    EXPECT(same_on_gpu<uint8_t>(
        [&](bool gpu) {
            Func shifted("shifted"), clean("clean"), planes("planes"), green("green"),
                curve("curve"), out("out");
            shifted(x, y) = cast<int16_t>(in(x + 2, y + 2));
            Expr most = max(max(shifted(x - 2, y), shifted(x + 2, y)),
                            max(shifted(x, y - 2), shifted(x, y + 2)));
            clean(x, y) = clamp(shifted(x, y), 0, most);
            planes(x, y, c) = mux(c, {clean(2 * x, 2 * y), clean(2 * x + 1, 2 * y),
                                      clean(2 * x, 2 * y + 1), clean(2 * x + 1, 2 * y + 1)});
            green(x, y) = (planes(x, y, 1) + planes(x, y, 2)) / 2;
            curve(x) = cast<uint8_t>(clamp(pow(cast<float>(x) / 1024.0f, 0.5f) * 255, 0, 255));
            Expr which =
                mux(c, {planes(x / 2, y / 2, 0), green(x / 2, y / 2), planes(x / 2, y / 2, 3)});
            out(x, y, c) = curve(clamp(cast<int>(which), 0, 1023));
            if (!gpu) return out;
            curve.compute_root().bound(x, 0, 1024).gpu_tile(x, xi, 32);
            out.bound(c, 0, 3).reorder(c, x, y).unroll(c);
            out.tile(x, y, xo, yo, xi, yi, 8, 8).tile(xi, yi, u, k, 2, 2).unroll(u).unroll(k);
            out.gpu_blocks(xo, yo).gpu_threads(xi, yi);
            clean.compute_at(out, xo).tile(x, y, xi, yi, 2, 2).unroll(xi).unroll(yi);
            clean.gpu_threads(x, y);
            planes.compute_at(out, xo).bound(c, 0, 4).reorder(c, x, y).unroll(c);
            planes.gpu_threads(x, y);
            green.compute_at(out, xo).gpu_threads(x, y);
            return out;
        },
        {32, 16, 3}));
    return 0;
}
