// From the raw values of a sensor to a picture: hot pixels, demosaicing, colour, tone, sharpening,
// as in the pipeline of the Frankencamera (Adams et al. 2010). All in integers but two tables.
#pragma once

#include "camera_pipe/camera.h"

#include <tessera.h>

namespace tessera::apps {

struct CameraPipe {
    // These are the settings of Camera.
    struct Settings {
        Func matrix_warm, matrix_cool;  // floats: column, row
        Expr warm_kelvin, cool_kelvin, kelvin;
        Expr gamma, contrast, sharpen_strength;
        Expr black_level, white_level;
    };

    Func input;
    Settings settings;
    Func denoised{"denoised"}, quads{"quads"};
    Func green_at_red{"green_at_red"}, green_at_blue{"green_at_blue"};
    Func demosaiced{"demosaiced"}, matrix{"matrix"}, corrected{"corrected"};
    Func curve{"curve"}, curved{"curved"}, output{"camera_pipe"};
    Var x{"x"}, y{"y"}, c{"c"};

    // `input` has 10 bits of uint16_t: green red / blue green.
    CameraPipe(const Func &input, const Settings &settings) : input(input), settings(settings) {
        remove_hot_pixels();
        interpolate_green();
        interpolate_red_and_blue();
        correct_colours();
        apply_curve();
        sharpen();
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<uint16_t>();
        Var xi("xi"), yi("yi"), strip("strip");
        matrix.compute_root();  // twelve numbers and a table of 1024: once for the picture
        curve.compute_root();
        output.tile(x, y, xi, yi, 2 * vector, 2)
            .reorder(xi, c, yi, x, y)
            .vectorize(xi)
            .unroll(c)
            .unroll(yi)
            .split(y, strip, y, 32, TailStrategy::GuardWithIf)
            .parallel(strip);  // strips of 64 rows
        for (Func *stage : {&denoised, &quads, &green_at_red, &green_at_blue}) {
            stage
                ->store_at(output, strip)  // a few rows are alive, and each is computed once
                .compute_at(output, y)
                .vectorize(x, vector);
        }
        quads.bound(c, 0, 4)
            .reorder(c, x, y)  // one wide load feeds two colours
            .unroll(c);
        curved.store_at(output, strip)
            .compute_at(output, y)
            .align_bounds(x, 2)
            .align_bounds(y, 2)
            .bound(c, 0, 3)
            .tile(x, y, xi, yi, 2 * vector, 2)
            .reorder(xi, c, yi, x, y)
            .vectorize(xi)
            .unroll(c)
            .unroll(yi);
        demosaiced
            .compute_at(curved, x)  // one tile in registers: three colours read all three
            .align_bounds(x, 2)
            .align_bounds(y, 2)
            .bound(c, 0, 3)
            .reorder(x, c, y)
            .vectorize(x)
            .unroll(c)
            .unroll(y);
        output.stream_stores();  // nobody reads it here: past the caches
    }

private:
    void schedule_for_gpu() {
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi"), xp("xp"), yp("yp");
        matrix.compute_root().gpu_single_thread();
        curve.compute_root().gpu_tile(x, xi, 32);
        // A block is a tile of the picture, and all its stages; a thread has quads of pixels.
        output.tile(x, y, xp, yp, 2, 2, TailStrategy::GuardWithIf)
            .reorder(xp, yp, c, x, y)
            .unroll(xp)
            .unroll(yp)
            .unroll(c)
            .gpu_tile(x, y, xo, yo, xi, yi, 30, 8, TailStrategy::GuardWithIf);
        denoised.compute_at(output, xo)
            .tile(x, y, xp, yp, 2, 2)
            .unroll(xp)
            .unroll(yp)
            .gpu_threads(x, y);
        for (Func *green : {&green_at_red, &green_at_blue})
            green->compute_at(output, xo).gpu_threads(x, y);
        curved.compute_at(output, xo)
            .align_bounds(x, 2)
            .align_bounds(y, 2)
            .bound(c, 0, 3)
            .tile(x, y, xp, yp, 2, 2)
            .reorder(xp, yp, c, x, y)
            .unroll(xp)
            .unroll(yp)
            .unroll(c)
            .gpu_threads(x, y);
        demosaiced
            .compute_at(curved, x)  // a quad in registers: three colours read all three
            .align_bounds(x, 2)
            .align_bounds(y, 2)
            .bound(c, 0, 3)
            .unroll(x)
            .unroll(y)
            .unroll(c);
    }

    static constexpr int green_red_row = 0, red = 1, blue = 2, green_blue_row = 3;

    static Expr mean(Expr a, Expr b) { return rounding_halving_add(a, b); }
    static Expr smoothed(Expr a, Expr b, Expr c) { return mean(mean(a, c), b); }

    void remove_hot_pixels() {
        auto raw = [&](Expr i, Expr j) {
            return cast<int16_t>(input(i + Camera::border_x, j + Camera::border_y));
        };
        Expr most = max(max(raw(x - 2, y), raw(x + 2, y)), max(raw(x, y - 2), raw(x, y + 2)));
        denoised(x, y) = min(raw(x, y), most);
        quads(x, y, c) = mux(c, {denoised(2 * x, 2 * y), denoised(2 * x + 1, 2 * y),
                                 denoised(2 * x, 2 * y + 1), denoised(2 * x + 1, 2 * y + 1)});
    }

    // Along the direction in which the green neighbours differ less.
    static Expr along_the_edge(Expr left, Expr right, Expr above, Expr below) {
        return select(absd(left, right) < absd(above, below), mean(left, right),
                      mean(above, below));
    }

    void interpolate_green() {
        green_at_red(x, y) =
            along_the_edge(quads(x, y, green_red_row), quads(x + 1, y, green_red_row),
                           quads(x, y - 1, green_blue_row), quads(x, y, green_blue_row));
        green_at_blue(x, y) =
            along_the_edge(quads(x - 1, y, green_blue_row), quads(x, y, green_blue_row),
                           quads(x, y, green_red_row), quads(x, y + 1, green_red_row));
    }

    // One of red and blue where only the other or green was measured: the mean of two neighbours
    // at (x0, y0) and (x1, y1), corrected by how green differs between there and here.
    Expr by_green(Expr green_here, Func green_there, int colour, Expr x0, Expr y0, Expr x1,
                  Expr y1) {
        return green_here - mean(green_there(x0, y0), green_there(x1, y1)) +
               mean(quads(x0, y0, colour), quads(x1, y1, colour));
    }

    // Chooses of two diagonals the one along which the colour differs less.
    Expr by_diagonal(Expr green_here, Func green_there, int colour, Expr left, Expr right,
                     Expr above, Expr below) {
        Expr rising = absd(quads(right, above, colour), quads(left, below, colour));
        Expr falling = absd(quads(left, above, colour), quads(right, below, colour));
        return select(rising < falling,
                      by_green(green_here, green_there, colour, right, above, left, below),
                      by_green(green_here, green_there, colour, left, above, right, below));
    }

    void interpolate_red_and_blue() {
        Expr green_0 = quads(x, y, green_red_row), green_3 = quads(x, y, green_blue_row);
        Expr green_1 = green_at_red(x, y), green_2 = green_at_blue(x, y);
        Expr red_0 = by_green(green_0, green_at_red, red, x - 1, y, x, y);
        Expr red_3 = by_green(green_3, green_at_red, red, x, y, x, y + 1);
        Expr red_2 = by_diagonal(green_2, green_at_red, red, x - 1, x, y, y + 1);
        Expr blue_0 = by_green(green_0, green_at_blue, blue, x, y - 1, x, y);
        Expr blue_3 = by_green(green_3, green_at_blue, blue, x, y, x + 1, y);
        Expr blue_1 = by_diagonal(green_1, green_at_blue, blue, x, x + 1, y - 1, y);

        Func reds = whole("reds", red_0, quads(x, y, red), red_2, red_3);
        Func greens = whole("greens", green_0, green_1, green_2, green_3);
        Func blues = whole("blues", blue_0, blue_1, quads(x, y, blue), blue_3);
        demosaiced(x, y, c) = mux(c, {reds(x, y), greens(x, y), blues(x, y)});
    }

    // The four pixels of each quad side by side.
    Func whole(const char *name, Expr even_even, Expr odd_even, Expr even_odd, Expr odd_odd) {
        const std::string base = name;
        auto func = [&](const char *part, Expr value) {
            Func f(base + part);
            f(x, y) = value;
            return f;
        };
        Func a = func("_00", even_even), b = func("_10", odd_even);
        Func d = func("_01", even_odd), e = func("_11", odd_odd);
        Func even_rows = func("_even", select(x % 2 == 0, a(x / 2, y), b(x / 2, y)));
        Func odd_rows = func("_odd", select(x % 2 == 0, d(x / 2, y), e(x / 2, y)));
        return func("", select(y % 2 == 0, even_rows(x, y / 2), odd_rows(x, y / 2)));
    }

    // Matrices are made for two lights; colour between them is linear in the inverse of kelvin.
    void correct_colours() {
        const Expr warm = 1.0f / settings.warm_kelvin;
        Expr cool = (1.0f / settings.kelvin - warm) / (1.0f / settings.cool_kelvin - warm);
        Expr value = settings.matrix_cool(x, y) * cool + settings.matrix_warm(x, y) * (1.0f - cool);
        matrix(x, y) = cast<int16_t>(floor(value * 256.0f + 0.5f));

        auto from = [&](int colour) { return cast<int32_t>(demosaiced(x, y, colour)); };
        corrected(x, y, c) = cast<int16_t>((matrix(0, c) * from(0) + matrix(1, c) * from(1) +
                                            matrix(2, c) * from(2) + matrix(3, c)) >>
                                           8);
    }

    void apply_curve() {
        // Two parabolas that meet at (1/2, 1/2): steep there and flat at the ends.
        Expr slope = 2.0f - pow(2.0f, settings.contrast / 100.0f);
        Expr bend = 2.0f - 2.0f * slope;
        const Expr black = settings.black_level;
        Expr light = cast<float>(x - black) / cast<float>(settings.white_level - black);
        Expr tone = pow(clamp(light, 0.0f, 1.0f), 1.0f / settings.gamma);
        Expr part = select(tone > 0.5f, 1.0f - tone, tone);
        Expr bent = bend * part * part + slope * part;
        Expr display = select(tone > 0.5f, 1.0f - bent, bent);
        curve(x) = cast<uint8_t>(clamp(display * 255.0f + 0.5f, 0.0f, 255.0f));

        curved(x, y, c) = curve(cast<int32_t>(clamp(corrected(x, y, c), 0, 1023)));
    }

    void sharpen() {
        Func soft_y("soft_y"), soft("soft");
        soft_y(x, y, c) = smoothed(curved(x, y - 1, c), curved(x, y, c), curved(x, y + 1, c));
        soft(x, y, c) = smoothed(soft_y(x - 1, y, c), soft_y(x, y, c), soft_y(x + 1, y, c));
        Expr strength =
            cast<int16_t>(clamp(cast<int32_t>(settings.sharpen_strength * 32.0f), 0, 255));
        Expr here = cast<int16_t>(curved(x, y, c));
        Expr detail = here - cast<int16_t>(soft(x, y, c));
        output(x, y, c) = saturating_cast<uint8_t>(here + ((detail * strength) >> 5));
        // Whole quads, so that each pixel's filter is known.
        output.bound(c, 0, 3).align_bounds(x, 2).align_bounds(y, 2);
    }
};

}  // namespace tessera::apps
