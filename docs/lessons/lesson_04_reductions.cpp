// Lesson 4: reductions.
//
// A Func has one pure definition, for all points, and may have updates after it, which change some
// of its points. RDom is a domain of integers that an update runs over.
#include "check.h"
#include <iostream>
#include <tessera.h>

using namespace tessera;

int main() {
    Var x("x"), y("y");
    const uint8_t data[] = {3, 1, 3, 0, 2, 3};
    Buffer<uint8_t> values(6);
    values.fill([&](int i) { return data[i]; });

    // A histogram: every bin is 0, and then each element of the data adds 1 to a bin. The bin comes
    // from the data, so that the compiler has to be told its range: clamp() does.
    RDom r(values);
    Func histogram("histogram");
    histogram(x) = 0;
    histogram(clamp(i32(values(r)), 0, 3)) += 1;
    Buffer<int> bins = histogram.realize({4});
    check(bins(0) == 1 && bins(1) == 1 && bins(2) == 1 && bins(3) == 3);

    // Updates run in the order of the domain, so that one may read what the one before has written.
    Func sums("sums");
    RDom k(1, 5);
    sums(x) = i32(values(x));
    sums(k) += sums(k - 1);
    Buffer<int> running = sums.realize({6});
    check(running(5) == 12);

    // sum(), maximum(), argmax() and others are updates that are written for you.
    check(evaluate<int>(sum(i32(values(r)))) == 12);
    check(evaluate<uint8_t>(maximum(values(r))) == 3);

    // A domain may have several dimensions, and a condition: the entries below a diagonal.
    Buffer<int> matrix(4, 4);
    matrix.fill([](int i, int j) { return i + 4 * j; });
    RDom d(0, 4, 0, 4);
    d.where(d.x < d.y);
    check(evaluate<int>(sum(matrix(d.x, d.y))) == 4 + 8 + 9 + 12 + 13 + 14);

    // Updates have schedules of their own. The loop over the sum goes outside of the vectors.
    Buffer<int> a(48, 32), b(64, 48);
    a.fill([](int i, int j) { return (i * 7 + j) % 9; });
    b.fill([](int i, int j) { return (i + j * 5) % 9; });
    Func product("product");
    RDom s(0, 48, "s");
    product(x, y) = 0;
    product(x, y) += a(s, y) * b(x, s);
    product.vectorize(x, 8);
    product.update().reorder(x, s, y).vectorize(x, 8).parallel(y);
    std::cout << product.loop_nest();
    Buffer<int> c = product.realize({64, 32});
    int expected = 0;
    for (int i = 0; i < 48; i++) expected += a(i, 11) * b(23, i);
    check(c(23, 11) == expected);

    // A sum over one long loop has nothing to run in parallel: rfactor() makes partial sums.
    Buffer<int> numbers(4096);
    numbers.fill([](int i) { return i; });
    RDom n(0, 4096, "n");
    Func total("total");
    total() = 0;
    total() += numbers(n);
    RVar outer("outer"), inner("inner");
    Var part("part");
    total.update().split(n, outer, inner, 512);
    Func partial = total.update().rfactor(outer, part);
    partial.compute_root().update().parallel(part);
    Buffer<int> all = total.realize();
    check(all() == 4096 * 4095 / 2);
}
