// Sums of products of bytes within one thread of a GPU: dp4a and dp2a add four, or two, at a time.
#include "device_code.h"

using namespace tessera;

namespace {

Var x("x"), xi("xi");

// sums(x) = a row of A times a row of B.
template<typename A, typename B, typename Sum> struct Dot {
    static constexpr int rows = 64, length = 32;
    Buffer<A> a{length, rows};
    Buffer<B> b{length, rows};
    Func sums{"sums"};
    RDom k{0, length, "k"};

    Dot() {
        a.for_each_element([&](int i, int j) { a(i, j) = A(i * 37 + j * 101 - 7000); });
        b.for_each_element([&](int i, int j) { b(i, j) = B(i * 59 + j * 31 - 9000); });
        sums(x) += cast<Sum>(a(k, x)) * cast<Sum>(b(k, x));
    }
    void schedule(int lanes) {
        RVar ko("ko"), ki("ki");
        sums.compute_root().gpu_tile(x, xi, 32);
        Stage update = sums.update();
        update.split(k, ko, ki, lanes).gpu_tile(x, xi, 32);
        update.reorder({ki, ko, xi, x}).atomic().vectorize(ki);
    }
};

template<typename A, typename B, typename Sum>
void agrees(int lanes, const std::string &instruction, size_t count) {
    CAPTURE(instruction);
    std::vector<Target> targets = {Target("host-jit-cuda-cuda_capability_80-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) targets.push_back(gpu);
    for (const Target &target : targets) {
        Dot<A, B, Sum> dot;
        dot.schedule(lanes);
        const Buffer<Sum> out = dot.sums.realize({dot.rows}, target);
        for (int j = 0; j < dot.rows; j++) {
            uint32_t sum = 0;
            for (int i = 0; i < dot.length; i++)
                sum += uint32_t(Sum(dot.a(i, j))) * uint32_t(Sum(dot.b(i, j)));
            CHECK(out(j) == Sum(sum));
        }
    }
    Dot<A, B, Sum> dot;
    dot.schedule(lanes);
    const std::string ptx = test::ptx_of(dot.sums, 80);
    CAPTURE(ptx);
    // One loop is for buffers whose elements lie together.
    CHECK(test::count_of(ptx, instruction) == 2 * count);
    test::check_assembled(ptx, 80);
}

}  // namespace

TEST_SUITE("gpu dot products") {
    TEST_CASE("dp4a adds the products of four bytes, of either sign") {
        agrees<int8_t, int8_t, int32_t>(4, "dp4a.s32.s32", 1);
        agrees<uint8_t, uint8_t, uint32_t>(8, "dp4a.u32.u32", 2);
        agrees<uint8_t, int8_t, int32_t>(4, "dp4a.s32.u32", 1);
        agrees<int8_t, uint8_t, int32_t>(16, "dp4a.s32.u32", 4);
    }
    TEST_CASE("dp2a adds the products of two numbers of 16 bits and two bytes") {
        agrees<int16_t, int8_t, int32_t>(2, "dp2a.lo.s32.s32", 1);
        agrees<uint8_t, int16_t, int32_t>(4, "dp2a.lo.s32.u32", 2);
    }
    TEST_CASE("what has other types or lengths is summed as it is written") {
        agrees<int16_t, int16_t, int32_t>(4, "dp", 0);
        agrees<int8_t, int8_t, int32_t>(2, "dp4a", 0);
    }
}
