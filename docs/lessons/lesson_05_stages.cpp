// Lesson 5: several stages.
//
// Pipelines have many stages, and the question that matters most is when each is computed, and how
// much of it is kept.
#include "check.h"
#include <iostream>
#include <tessera.h>

using namespace tessera;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

// The mean along x of three pixels, and that along y of three such means.
struct Blur {
    Func blur_x{"blur_x"}, out{"out"};

    explicit Blur(const Func &image) {
        blur_x(x, y) = (u16(image(x - 1, y)) + image(x, y) + image(x + 1, y)) / 3;
        out(x, y) = u8((blur_x(x, y - 1) + blur_x(x, y) + blur_x(x, y + 1)) / 3);
    }
    size_t place(const char *text) const { return out.loop_nest().find(text); }
};

bool same(const Buffer<uint8_t> &a, const Buffer<uint8_t> &b) {
    bool equal = true;
    a.for_each_element([&](int i, int j) { equal &= a(i, j) == b(i, j); });
    return equal;
}

}  // namespace

int main() {
    Buffer<uint8_t> photo(160, 120);
    photo.fill([](int i, int j) { return uint8_t((i * i + 7 * j * i + 3 * j) % 251); });
    Func image = BoundaryConditions::repeat_edge(photo);

    // Inline: unless you say otherwise, blur_x is written into out. It is computed three times for
    // each pixel, and never stored.
    Blur inlined(image);
    std::cout << inlined.out.loop_nest();
    check(inlined.place("produce blur_x") == std::string::npos);
    const Buffer<uint8_t> expected = inlined.out.realize({160, 120});

    // Root: all that is needed of it is computed first. Nothing is computed twice, but the whole
    // image goes through memory.
    Blur rooted(image);
    rooted.blur_x.compute_root();
    check(rooted.place("produce blur_x") < rooted.place("produce out"));
    check(same(rooted.out.realize({160, 120}), expected));

    // Per tile: what one iteration of a loop needs is computed within it, a small piece that stays
    // in the cache. This is what fast pipelines do.
    Blur tiled(image);
    tiled.out.tile(x, y, xi, yi, 64, 16).vectorize(xi, 16).parallel(y);
    tiled.blur_x.compute_at(tiled.out, x).vectorize(x, 16);
    std::cout << tiled.out.loop_nest();
    check(tiled.place("out.x") < tiled.place("produce blur_x"));
    check(same(tiled.out.realize({160, 120}), expected));

    // Sliding: stored further out than it is computed, a row of blur_x is there already when the
    // next row of out wants it.
    Blur sliding(image);
    sliding.blur_x.store_root().compute_at(sliding.out, y);
    check(same(sliding.out.realize({160, 120}), expected));

    // A pipeline may have several outputs, which are computed together.
    Func darker("darker"), lighter("lighter");
    darker(x, y) = image(x, y) / 2;
    lighter(x, y) = u8(255 - image(x, y) / 2);
    Realization both = Pipeline({darker, lighter}).realize({160, 120});
    const Buffer<uint8_t> dark = both[0], light = both[1];
    check(dark(20, 30) == photo(20, 30) / 2 && light(20, 30) == 255 - photo(20, 30) / 2);
}
