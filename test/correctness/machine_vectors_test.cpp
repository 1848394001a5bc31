// What the machine has instructions of its own for: vectors that overlap, tables of bytes. On
// machines without them, the same results.
#include "harness.h"

using namespace tessera;
using namespace tessera::test;

namespace {

// A table of `size` bytes, looked up at places that data of `index` give.
template<typename Byte, typename Index> void check_table(int size, int lanes, bool parallel) {
    Var x("x"), y("y"), v("v");
    Func table("table"), out("out");
    ImageParam places(type_of<Index>(), 2, "places");
    table(v) = cast<Byte>(v * 37 + v / 5);
    out(x, y) = table(cast<int>(places(x, y)) % size);
    table.compute_root();
    out.vectorize(x, lanes, TailStrategy::GuardWithIf);
    if (parallel) out.parallel(y);

    const int width = 200, height = 5;
    Buffer<Index> in(width, height);
    for (int j = 0; j < height; j++) {
        for (int i = 0; i < width; i++) in(i, j) = Index(i * 7919 + j * 104729 + 13);
    }
    places.set(in);
    Buffer<Byte> result = out.realize({width, height});
    int wrong = 0;
    for (int j = 0; j < height; j++) {
        for (int i = 0; i < width; i++) {
            const int at = int(in(i, j)) % size;
            wrong += result(i, j) != Byte(at * 37 + at / 5);
        }
    }
    INFO("size ", size, ", lanes ", lanes);
    CHECK(wrong == 0);
}

}  // namespace

TEST_SUITE("vectors of the machine") {
    TEST_CASE("a table of bytes is looked up") {
        for (int size : {1, 63, 64, 100, 128, 192, 256}) {
            check_table<uint8_t, uint8_t>(size, 64, false);
            check_table<int8_t, uint8_t>(size, 32, true);
            check_table<uint8_t, uint16_t>(size, 16, false);
        }
        for (int size : {320, 512, 768, 1000, 1024, 1088, 2048}) {
            check_table<uint8_t, uint16_t>(size, 64, false);
            check_table<uint8_t, uint16_t>(size, 128, true);
            check_table<int8_t, uint32_t>(size, 64, true);
        }
    }
    TEST_CASE("a table is looked up by bytes that have no more values than it") {
        Var x("x"), v("v");
        Func table("table"), out("out");
        ImageParam places(UInt(8), 1, "places");
        table(v) = cast<uint8_t>(v ^ 85);
        out(x) = table(cast<int>(places(x)));
        table.compute_root().bound_extent(v, 512);
        out.vectorize(x, 64);
        Buffer<uint8_t> in(256);
        for (int i = 0; i < 256; i++) in(i) = uint8_t(i * 3);
        places.set(in);
        Buffer<uint8_t> result = out.realize({256});
        for (int i = 0; i < 256; i++) CHECK(result(i) == (in(i) ^ 85));
    }
    TEST_CASE("elements side by side, at places that data give") {
        for (int lanes : {4, 8, 16, 32}) {
            for (int count : {2, 3, 4, 6}) {
                Var x("x"), v("v");
                Func table("table"), out("out");
                ImageParam places(Int(32), 1, "places");
                table(v) = cast<float>(v * v % 1013);
                Expr sum = 0.0f, place = clamp(places(x), 0, 1000) * 2;
                for (int k = 0; k < count; k++) sum += table(place + k) * float(k + 1);
                out(x) = sum;
                table.compute_root().bound(v, 0, 2048);
                out.vectorize(x, lanes);
                Buffer<int32_t> in(96);
                for (int i = 0; i < 96; i++) in(i) = i * 7919 % 1000;
                places.set(in);
                Buffer<float> result = out.realize({96});
                INFO("lanes ", lanes, ", count ", count);
                for (int i = 0; i < 96; i++) {
                    float expected = 0;
                    for (int k = 0; k < count; k++) {
                        const int at = in(i) * 2 + k;
                        expected += float(at * at % 1013) * float(k + 1);
                    }
                    CHECK(result(i) == expected);
                }
            }
        }
    }
}
