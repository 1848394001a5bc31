// Updates that add several products, take one away, or add one under a condition, on tensor cores:
// what the definition says by the interpreter, and on a GPU where there is one; ptxas takes the
// code.
#include "device_code.h"
#include "error/refusal.h"
#include <tessera.h>

using namespace tessera;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), wx("wx"), wy("wy");

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

// Small integers, of which sums of products are exact.
template<typename T> void fill(Buffer<> &to, int salt) {
    Buffer<T> all(to);
    int count = 0;
    all.for_each_value([&](T &value) {
        count++;
        const int drawn = (count * (7 + salt) + count / 13) % 9;
        value = T(float(std::is_unsigned_v<T> ? drawn : drawn - 4));
    });
}

ImageParam input(Type type, const std::vector<int> &sizes, const char *name, int salt) {
    ImageParam param(type, int(sizes.size()), name);
    Buffer<> values(type, sizes);
    if (type == Float(16)) fill<float16_t>(values, salt);
    if (type == BFloat(16)) fill<bfloat16_t>(values, salt);
    if (type == Float8E4M3()) fill<float8_e4m3_t>(values, salt);
    if (type == Float(32)) fill<float>(values, salt);
    if (type == Int(8)) fill<int8_t>(values, salt);
    if (type == UInt(8)) fill<uint8_t>(values, salt);
    values.set_host_dirty();
    param.set(values);
    return param;
}

struct Shape {
    int rows = 32, columns = 16, length = 32;
    int warp_rows = 16, warp_columns = 16, step = 16;
    bool is_of_group = false;
    bool is_staged = false;
};

// Matrices a and d by rows of k, b and e by columns, of which `sums` is made.
struct Case {
    Type sum;
    ImageParam a, b, d, e;
    Func sums{"sums"}, out{"out"};
    RDom k;
    Param<int> length{"length"};

    Case(const Shape &s, Type first, Type second, Type sum)
        : sum(sum), a(input(first, {s.length, s.rows}, "a", 0)),
          b(input(first, {s.columns, s.length}, "b", 1)),
          d(input(second, {s.length, s.rows}, "d", 2)),
          e(input(second, {s.columns, s.length}, "e", 3)), k(0, s.length, "k") {
        length.set(s.length - 5);
    }
    Expr first() { return cast(sum, a(k, y)) * cast(sum, b(x, k)); }
    Expr second() { return cast(sum, d(k, y)) * cast(sum, e(x, k)); }

    template<typename F> F &over_warps(F &&f, const Shape &s) {
        s.is_of_group ? f.gpu_warpgroups(wx).gpu_warpgroups(wy) : f.gpu_warps(wx, wy);
        return f;
    }
    void schedule(const Shape &s, const TensorInstruction &instruction) {
        out.tile(x, y, xi, yi, s.warp_columns, s.warp_rows).gpu_blocks(x, y);
        over_warps(out.tile(xi, yi, wx, wy, xi, yi, s.warp_columns, s.warp_rows), s);
        sums.compute_at(out, x).store_in(MemoryType::Tile);
        over_warps(sums.tile(x, y, wx, wy, x, y, s.warp_columns, s.warp_rows), s);
        Stage update = sums.update();
        update.tile(x, y, wx, wy, x, y, s.warp_columns, s.warp_rows);
        if (s.step == 0) {
            update.reorder({RVar(k.x), x, y, wx, wy});
            over_warps(update, s).tensorize(x, y, RVar(k.x), instruction);
            return;
        }
        RVar ko("ko"), ki("ki");
        update.split(k, ko, ki, s.step).reorder({ki, x, y, wx, wy, ko});
        over_warps(update, s).tensorize(x, y, ki, instruction);
        if (!s.is_staged) return;
        for (ImageParam *p : {&a, &b, &d, &e}) {
            p->in().compute_at(sums, ko).store_in(MemoryType::GPUShared);
            p->in().async().ring_buffer(2);
        }
    }
};

using Define = std::function<void(Case &)>;

void check_same(Func &out, Func &plain, const Shape &s) {
    const Buffer<> right = plain.realize({s.columns, s.rows}, Target("host-jit-interpret"))[0];
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<> got = out.realize({s.columns, s.rows}, target)[0];
        const auto value = [](const Buffer<> &b, const int *at) {
            return b.type() == Float(16)   ? double(float(Buffer<float16_t>(b)(at)))
                   : b.type() == Float(32) ? double(Buffer<float>(b)(at))
                                           : double(Buffer<int32_t>(b)(at));
        };
        int wrong = 0;
        right.for_each_element([&](const int *at) { wrong += value(got, at) != value(right, at); });
        CHECK(wrong == 0);
    }
}

struct Types {
    Type first = Float(16), second = Float(16), sum = Float(32);
};

void agrees(const Define &define, const Shape &s, const std::string &instruction, Types t = {}) {
    CAPTURE(instruction);
    Case plain(s, t.first, t.second, t.sum), scheduled(s, t.first, t.second, t.sum);
    for (Case *c : {&plain, &scheduled}) {
        define(*c);
        c->out(x, y) = c->sums(x, y);
    }
    plain.sums.compute_root();
    scheduled.schedule(s, TensorInstruction(instruction));
    check_same(scheduled.out, plain.out, s);
    const bool is_newest = s.is_of_group || t.first.is_float8();
    test::check_assembled(test::ptx_of(scheduled.out, is_newest ? 90 : 80), is_newest ? 90 : 80,
                          s.is_of_group);
}

std::string ptx(const Define &define, const Shape &s, const std::string &instruction,
                int capability) {
    Case c(s, Float(16), Float(16), Float(32));
    define(c);
    c.out(x, y) = c.sums(x, y);
    c.schedule(s, TensorInstruction(instruction));
    return test::ptx_of(c.out, capability);
}

std::string refused(const Define &define, const std::string &instruction = "mma", Types t = {},
                    const Shape &s = {}) {
    Case c(s, t.first, t.second, t.sum);
    define(c);
    c.out(x, y) = c.sums(x, y);
    c.schedule(s, TensorInstruction(instruction));
    return refusal([&] { c.out.compile_to_module({}, "f", targets()[0]); });
}

void says(const std::string &message, const std::string &part) {
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
}

const Shape of_warps, staged{.is_staged = true},
    of_groups{.rows = 64,
              .columns = 64,
              .length = 128,
              .warp_rows = 64,
              .warp_columns = 64,
              .step = 64,
              .is_of_group = true,
              .is_staged = true};

}  // namespace

TEST_SUITE("sums of products on tensor cores") {
    TEST_CASE("two products, as they lie in memory or staged") {
        const Define two = [](Case &c) { c.sums(x, y) += c.first() + c.second(); };
        agrees(two, of_warps, "mma");
        agrees(two, staged, "mma");
        agrees(two, staged, "any");
        agrees(two, of_warps, "wmma");
        agrees(two, of_groups, "wgmma");
        const std::string code = ptx(two, of_groups, "wgmma", 90);
        test::check_fast(code);
        CHECK(test::count_of(code, "wgmma.mma_async") % 2 == 0);
    }
    TEST_CASE("of types of their own, in any order, with what they are added to between them") {
        const Define two = [](Case &c) {
            c.sums(x, y) = cast(c.sum, x - y);
            c.sums(x, y) = c.second() + (c.sums(x, y) + c.first());
        };
        agrees(two, of_warps, "mma", {Float(16), BFloat(16), Float(32)});
        agrees(two, {.step = 32}, "mma", {Int(8), UInt(8), Int(32)});
        agrees(two, staged, "mma", {Float(16), Float(16), Float(16)});
    }
    TEST_CASE("three of them, with operands that are computed") {
        const Define three = [](Case &c) {
            const Expr scaled = cast(c.sum, c.a(c.k, y) * cast(c.a.type(), 2));
            c.sums(x, y) += c.first() + scaled * cast(c.sum, c.e(x, c.k)) + c.second();
        };
        agrees(three, of_warps, "mma");
        agrees(three, staged, "mma");
    }
    TEST_CASE("a difference: wgmma has a sign for it, others change that of A") {
        const Define minus = [](Case &c) { c.sums(x, y) -= c.first(); };
        agrees(minus, of_warps, "mma");
        agrees(minus, of_warps, "wmma");
        agrees(minus, {.step = 32}, "mma", {Float8E4M3(), Float8E4M3(), Float(32)});
        agrees(minus, {.step = 8}, "mma.tf32", {Float(32), Float(32), Float(32)});
        agrees(minus, of_warps, "mma", {Float(16), Float(16), Float(16)});
        agrees(minus, of_groups, "wgmma");
        const std::string by_groups = ptx(minus, of_groups, "wgmma", 90);
        CHECK(test::count_of(by_groups, ", 1, -1, 1") > 0);
        test::check_fast(by_groups);
        const std::string by_warps = ptx(minus, staged, "mma", 80);
        CHECK(test::count_of(by_warps, "ldmatrix") > 0);
        CHECK(test::count_of(by_warps, "0x80008000") > 0);
    }
    TEST_CASE("a sum and a difference, as the parts of a product of complex numbers are") {
        const Define both = [](Case &c) { c.sums(x, y) += c.first() - c.second(); };
        agrees(both, of_warps, "mma");
        agrees(both, staged, "mma");
        agrees(both, of_groups, "wgmma");
        const Define negative = [](Case &c) { c.sums(x, y) += -c.first() - c.second() * -1.0f; };
        agrees(negative, of_warps, "mma");
    }
    TEST_CASE("an instruction that is named by its full name has a factor negated") {
        const Define both = [](Case &c) { c.sums(x, y) += c.first() - c.second(); };
        agrees(both, of_warps, "mma.m16n8k8.f32.f16");
        agrees(both, staged, "mma.m16n8k16.f32.f16");
    }
    TEST_CASE("of bytes a factor is negated if it is never the least") {
        const Types bytes{Int(8), Int(8), Int(32)};
        const Define minus = [](Case &c) {
            const Expr a = max(c.a(c.k, y), cast<int8_t>(-127));
            c.sums(x, y) -= cast<int>(a) * cast<int>(c.b(x, c.k));
        };
        agrees(minus, {.step = 32}, "mma", bytes);
        const std::string why =
            refused([](Case &c) { c.sums(x, y) -= c.first(); }, "mma", bytes, {.step = 32});
        says(why, "the update of sums");
        says(why, "they add only; multiply a Func of the negative of one factor");
    }
    TEST_CASE("a convolution of two images, by a mapping") {
        const auto made = [](bool is_scheduled) {
            Var n("n"), q("q"), c("c");
            const RDom r(0, 3, 0, 16, "r");
            const ImageParam one = input(Float(16), {16, 18, 2}, "one", 1),
                             two = input(Float(16), {16, 18, 2}, "two", 2),
                             of_one = input(Float(16), {8, 16, 3}, "of_one", 3),
                             of_two = input(Float(16), {8, 16, 3}, "of_two", 4);
            Func conv("conv"), out("out");
            conv(c, q, n) += cast<float>(one(r.y, q + r.x, n)) * cast<float>(of_one(c, r.y, r.x)) -
                             cast<float>(of_two(c, r.y, r.x)) * cast<float>(two(r.y, q + r.x, n));
            out(c, q, n) = conv(c, q, n);
            if (!is_scheduled) {
                conv.compute_root();
                return out;
            }
            out.bound(c, 0, 8).bound(q, 0, 16).reorder(c, q, n);
            out.split(n, wy, n, 1).gpu_blocks(wy).split(q, wx, q, 16).gpu_warps(wx);
            conv.compute_at(out, wy).store_in(MemoryType::Tile);
            conv.split(q, wx, q, 16).reorder(c, q, wx, n).gpu_warps(wx);
            Stage update = conv.update();
            update.split(q, wx, q, 16).reorder({c, q, r.x, r.y, wx, n}).gpu_warps(wx);
            CHECK(possible_mappings(update, TensorInstruction::MMA, {.fixed = {r.x, n}}).size() ==
                  1);
            update.tensorize(map({q}, {c}, {r.x, r.y}), TensorInstruction::MMA);
            return out;
        };
        Func plain = made(false), scheduled = made(true);
        const Buffer<float> right = plain.realize({8, 16, 2}, Target("host-jit-interpret"));
        for (const Target &target : targets()) {
            const Buffer<float> got = scheduled.realize({8, 16, 2}, target);
            int wrong = 0;
            right.for_each_element([&](const int *at) { wrong += got(at) != right(at); });
            CHECK(wrong == 0);
        }
    }
}

TEST_SUITE("conditions of products on tensor cores") {
    TEST_CASE("a sum that instructions do not divide, of any length") {
        const Define product = [](Case &c) { c.sums(x, y) += c.first() + c.second(); };
        for (const int length : {33, 31, 7}) {
            Shape s{.length = length};
            agrees(product, s, "mma");
            s.step = 8;
            agrees(product, s, "mma");
            s.step = 0;  // tensorized as it is
            agrees(product, s, "mma");
        }
        agrees(product, {.length = 45, .step = 32}, "mma", {Int(8), Int(8), Int(32)});
        agrees(product, {.length = 20, .step = 0}, "mma", {UInt(8), Int(8), Int(32)});
        agrees(product, {.length = 13, .step = 0}, "mma.tf32", {Float(32), Float(32), Float(32)});
    }
    TEST_CASE("a length that is not known") {
        const Define unknown = [](Case &c) {
            c.k = RDom(0, c.length, "k");
            c.sums(x, y) += c.first();
        };
        agrees(unknown, of_warps, "mma");
        agrees(unknown, {.length = 12}, "mma");
        says(refused(unknown, "mma", {}, {.step = 0}), "is not known; split() the innermost one");
    }
    TEST_CASE("two loops of which the product is not divided") {
        const auto made = [](bool is_scheduled) {
            const RDom r(0, 3, 0, 5, "r");
            const ImageParam a = input(Float(16), {3, 5, 16}, "a", 1),
                             b = input(Float(16), {3, 5, 8}, "b", 2);
            Func sums("sums"), out("out");
            sums(x, y) += cast<float>(a(r.x, r.y, y)) * cast<float>(b(r.x, r.y, x));
            out(x, y) = sums(x, y);
            if (!is_scheduled) {
                sums.compute_root();
                return out;
            }
            out.bound(x, 0, 8).bound(y, 0, 16).split(y, wy, y, 16).split(wy, yi, wy, 1);
            out.gpu_blocks(yi).gpu_warps(wy);
            sums.compute_at(out, yi).store_in(MemoryType::Tile).split(y, wy, y, 16).gpu_warps(wy);
            Stage update = sums.update();
            update.split(y, wy, y, 16).reorder({r.x, r.y, x, y, wy}).gpu_warps(wy);
            update.tensorize(x, y, r.x, TensorInstruction::MMA);
            update.tensorize(r.y, TensorInstruction::MMA);
            return out;
        };
        Func plain = made(false), scheduled = made(true);
        check_same(scheduled, plain, {.rows = 16, .columns = 8});
    }
    TEST_CASE("where() and select(): of what is summed, of rows, of columns, and of all of them") {
        const auto agree_all = [](const std::function<Expr(Case &)> &condition) {
            const Define by_where = [&](Case &c) {
                c.k.where(condition(c));
                c.sums(x, y) += c.first();
            };
            const Define by_select = [&](Case &c) {
                c.sums(x, y) += c.second() - select(condition(c), c.first(), 0.0f);
            };
            const Define by_update = [&](Case &c) {
                c.sums(x, y) = 1.0f;
                c.sums(x, y) = select(condition(c), c.sums(x, y) + c.first(), c.sums(x, y));
            };
            for (const Define &define : {by_where, by_select, by_update}) {
                agrees(define, of_warps, "mma");
                agrees(define, {.length = 23}, "mma");
            }
        };
        agree_all([](Case &c) { return c.k < 19; });
        agree_all([](Case &c) { return c.k % 3 != 1; });
        agree_all([](Case &c) { return c.k <= y; });
        agree_all([](Case &c) { return c.k <= y && c.k + 8 > x && c.k < c.length; });
        agree_all([](Case &c) { return c.a(c.k, 1) > cast<float16_t>(0); });
    }
    TEST_CASE("either of two products") {
        const Define either = [](Case &c) {
            c.sums(x, y) += select(c.k < y, c.first(), c.second());
        };
        agrees(either, of_warps, "mma");
        const Define of_a_factor = [](Case &c) {
            c.sums(x, y) +=
                select(c.k < 9, cast<float>(c.a(c.k, y)), 0.0f) * cast<float>(c.b(x, c.k));
        };
        agrees(of_a_factor, of_warps, "mma");
    }
    TEST_CASE("operands that are staged are filled with zeros in registers, or refused by wgmma") {
        const Define triangle = [](Case &c) { c.sums(x, y) += select(c.k <= y, c.first(), 0.0f); };
        agrees(triangle, staged, "mma");
        const std::string why = refused(triangle, "wgmma", {}, of_groups);
        says(why, "is not known to be zero elsewhere");
        says(why, "select(condition, value, 0)");
    }
    TEST_CASE("what an operand cannot be zero for is refused") {
        const std::string why =
            refused([](Case &c) { c.sums(x, y) += select(x <= y, c.first(), 0.0f); });
        says(why, "which is of rows and columns");
        says(why, "leave it out and select() where sums is used");
        const std::string by_sum = refused([](Case &c) {
            c.sums(x, y) = 0.0f;
            c.sums(x, y) = select(c.sums(x, y) < 9.0f, c.sums(x, y) + c.first(), c.sums(x, y));
        });
        says(by_sum, "so far, and they add many products at a time");
    }
}

TEST_SUITE("what tensor cores do not sum") {
    TEST_CASE("is refused with what to write") {
        says(refused([](Case &c) { c.sums(x, y) += c.first() * 0.5f; }),
             "its products are multiplied by 0.5 as well, and they have two factors; multiply the "
             "sum instead, where sums is used, or one factor, as ");
        says(refused([](Case &c) { c.sums(x, y) += cast<float>(c.a(c.k, y) * c.b(x, c.k)); }),
             "is multiplied in float16, and the product is cast; cast the factors: ");
        says(refused([](Case &c) { c.sums(x, y) += c.first() + cast<float>(x); }),
             "is no product; make it part of the first value of sums");
        says(refused([](Case &c) {
                 c.sums(x, y) = 0.0f;
                 c.sums(x, y) = max(c.sums(x, y), c.first());
             }),
             "it is not sums and what is added to it");
        says(refused([](Case &c) { c.sums(x, y) += c.first(); }, "mma",
                     {Float(32), Float(32), Float(32)}),
             "is of float32, and they multiply float16 or bfloat16");
        says(refused([](Case &c) {
                 c.sums(x, y) += cast<float>(c.a(c.k, y) + c.b(x, c.k)) * cast<float>(c.b(x, c.k));
             }),
             "over rows and on the loop");
    }
}
