// These tests are about what comes before and after products on tensor cores: epilogues, several
// products that one stage reads, batches of products, and operands that threads put into the memory
// of a block. Kernels are interpreted thread by thread, and run on a GPU as well where there is
// one.
#include "error/refusal.h"
#include "lang/module.h"
#include "random.h"
#include <cmath>
#include <functional>

using namespace tessera;

namespace {

Var x("x"), y("y"), z("z"), xi("xi"), yi("yi"), wx("wx"), wy("wy"), w("w");

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

// Small multiples of a quarter, whose sums of products are exact.
Buffer<float16_t> matrix(const std::vector<int> &sizes, int salt) {
    Buffer<float16_t> all(sizes);
    int count = 0;
    all.for_each_value([&](float16_t &v) {
        count++;
        v = float16_t(float((count * (7 + salt) + count / 13) % 11 - 5) / 4);
    });
    return all;
}

// Over warps of 32 x 32 elements, or warpgroups of 64 x 64.
int side(const TensorInstruction &instruction) {
    return instruction == TensorInstruction::MMA ? 32 : 64;
}
template<typename Scheduled>
Scheduled &over_warps(Scheduled &&f, TensorInstruction instruction) {
    return instruction == TensorInstruction::MMA ? f.gpu_warps(wx, wy)
                                                 : f.gpu_warpgroups(wx).gpu_warpgroups(wy);
}

// A product of matrices by rows, with steps of 32 or 64 of what is summed.
struct Product {
    ImageParam a{Float(16), 2}, b{Float(16), 2};
    RVar ko{"ko"}, ki{"ki"};
    RDom k;
    Func of{"product"};

    explicit Product(int sum) : k(0, sum, "k") {
        of(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
        a.set(matrix({sum, 64}, 0));
        b.set(matrix({64, sum}, 2));
    }
    // Computes it in registers, for blocks of `out`, with its operands in the memory of the block.
    void schedule(Func &out, TensorInstruction instruction) {
        share(out, instruction);
        for (Func staged : {a.in(of), b.in(of)}) {
            staged.compute_at(of, ko).store_in(MemoryType::GPUShared);
            staged.async().ring_buffer(2);
        }
    }
    void share(Func &out, TensorInstruction instruction) {
        const int of_warp = side(instruction);
        of.compute_at(out, x).store_in(MemoryType::Tile);
        of.tile(x, y, wx, wy, x, y, of_warp, of_warp);
        over_warps(of, instruction);
        Stage update = of.update();
        update.split(k, ko, ki, of_warp).tile(x, y, wx, wy, x, y, of_warp, of_warp);
        update.reorder({ki, x, y, wx, wy, ko});
        over_warps(update, instruction).tensorize(x, y, ki, instruction);
    }
};

// One block of 64 x 64.
void schedule_blocks(Func &out, TensorInstruction instruction) {
    const int of_warp = side(instruction);
    out.tile(x, y, xi, yi, 64, 64).gpu_blocks(x, y);
    over_warps(out.tile(xi, yi, wx, wy, xi, yi, of_warp, of_warp), instruction);
}

// All values are what the definitions alone say: those of `plain` are computed without a schedule.
void agree(Func &scheduled, Func &plain, const std::vector<int> &sizes = {64, 64}) {
    const Realization right = plain.realize(sizes, Target("host-jit-interpret"));
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Realization got = scheduled.realize(sizes, target);
        for (size_t i = 0; i < right.size(); i++) {
            Buffer<> one = got[i], other = right[i];
            REQUIRE(one.type() == other.type());
            const auto value = [](const Buffer<> &b, const int *at) {
                return b.type() == Float(16) ? float(Buffer<float16_t>(b)(at))
                                             : Buffer<float>(b)(at);
            };
            int wrong = 0;
            other.for_each_element([&](const int *at) {
                const float a = value(one, at), b = value(other, at);
                wrong += a != b && !(std::isnan(a) && std::isnan(b));
            });
            CHECK(wrong == 0);
        }
    }
}

// A random function of a product, which is used as often as it comes, and of a bias.
Expr epilogue(test::Random &random, const Expr &v, const Expr &bias, int depth) {
    if (depth == 0) return random.chance(70) ? v : random.chance(70) ? bias : Expr(0.5f);
    const auto part = [&] { return epilogue(random, v, bias, depth - 1); };
    const Expr a = part();
    switch (random.between(0, 8)) {
    case 0: return a + part();
    case 1: return a * part() * 0.0625f;
    case 2: return max(a, part());
    case 3: return min(a, 0.0f) * 0.125f + max(a, 0.0f);
    case 4: return select(a > 0, a, part() * 0.125f);
    case 5: return clamp(a, -2.0f, 2.0f) + part();
    case 6: return abs(a) - part();
    case 7: return a / (1.0f + abs(a));
    default: return a * a * 0.0625f;
    }
}

// A Func of such values: one or two of them, of 16 or of 32 bits.
Func random_stage(uint64_t seed, const Expr &product, const Expr &bias) {
    test::Random random(seed);
    const Type type = random.pick(std::vector<Type>{Float(16), Float(32)});
    const auto value = [&] {
        return cast(type, epilogue(random, product, bias, int(random.between(1, 3))));
    };
    Func out("out");
    if (random.chance(25))
        out(x, y) = Tuple(value(), value());
    else
        out(x, y) = value();
    return out;
}

}  // namespace

TEST_SUITE("stages around tensor cores") {
    TEST_CASE("an epilogue uses the product once, twice, thrice, and gives one value or two") {
        test::Seeds seeds(3.0, 8);
        while (const auto seed = seeds.next()) {
            CAPTURE(*seed);
            test::Random random(*seed);
            const auto instruction =
                random.chance(60) ? TensorInstruction::MMA : TensorInstruction::WGMMA;
            ImageParam bias(Float(32), 1, "bias");
            bias.set(lambda(x, cast<float>(x % 5 - 2)).realize({64}));
            Product p(64), plain(64);
            Func out = random_stage(*seed, p.of(x, y), bias(x)),
                 expected = random_stage(*seed, plain.of(x, y), bias(x));
            schedule_blocks(out, instruction);
            p.schedule(out, instruction);
            plain.of.compute_root();
            agree(out, expected);
        }
    }
    TEST_CASE("one stage reads two products") {
        for (const auto instruction : {TensorInstruction::MMA, TensorInstruction::WGMMA}) {
            Func out("out"), expected("expected");
            Product gate(64), value(128), plain_gate(64), plain_value(128);
            out(x, y) = cast<float16_t>(max(gate.of(x, y), 0.0f) * value.of(x, y) * 0.125f);
            expected(x, y) =
                cast<float16_t>(max(plain_gate.of(x, y), 0.0f) * plain_value.of(x, y) * 0.125f);
            schedule_blocks(out, instruction);
            gate.schedule(out, instruction);
            value.schedule(out, instruction);
            plain_gate.of.compute_root(), plain_value.of.compute_root();
            agree(out, expected);
        }
    }
    TEST_CASE("products that one stage reads are shared out alike") {
        Func out("out");
        Product gate(64), value(64);
        out(x, y) = gate.of(x, y) * value.of(y, x);
        schedule_blocks(out, TensorInstruction::MMA);
        gate.schedule(out, TensorInstruction::MMA);
        value.schedule(out, TensorInstruction::MMA);
        const std::string message = refusal([&] {
            Pipeline(out).compile_to_module({gate.a, gate.b, value.a, value.b}, "f",
                                            Target("x86-64-linux-cuda-cuda_capability_80"));
        });
        CAPTURE(message);
        CHECK(message.find("tensor_stages_test.cpp:") == 0);
        CHECK(message.find("does not run over the same of both") != std::string::npos);
    }
    TEST_CASE("a batch of products: one more loop over blocks") {
        for (const auto instruction : {TensorInstruction::MMA, TensorInstruction::WGMMA}) {
            const int of_warp = side(instruction);
            ImageParam a(Float(16), 3, "a"), b(Float(16), 3, "b");
            a.set(matrix({64, 64, 3}, 0)), b.set(matrix({64, 3, 64}, 2));
            const auto define = [&](Func &product, const RDom &k) {
                product(x, y, z) += cast<float>(a(k, y, z)) * cast<float>(b(x, z, k));
                Func out("out");
                out(x, y, z) = cast<float16_t>(product(x, y, z));
                return out;
            };
            RVar ko("ko"), ki("ki");
            RDom k(0, 64, "k");
            Func product("product"), plain("plain");
            Func out = define(product, k), expected = define(plain, RDom(0, 64));
            plain.compute_root();
            out.tile(x, y, xi, yi, 64, 64).gpu_blocks(x, y, z);
            over_warps(out.tile(xi, yi, wx, wy, xi, yi, of_warp, of_warp), instruction);
            product.compute_at(out, x).store_in(MemoryType::Tile);
            over_warps(product.tile(x, y, wx, wy, x, y, of_warp, of_warp), instruction);
            Stage update = product.update();
            update.split(k, ko, ki, of_warp).tile(x, y, wx, wy, x, y, of_warp, of_warp);
            update.reorder({ki, x, y, wx, wy, ko});
            over_warps(update, instruction).tensorize(x, y, ki, instruction);
            for (Func staged : {a.in(product), b.in(product)}) {
                staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
                staged.async().ring_buffer(2);
            }
            agree(out, expected, {64, 64, 3});
            if (instruction == TensorInstruction::MMA) continue;
            const Module m = Pipeline(out).compile_to_module(
                {a, b}, "f", Target("x86-64-linux-cuda-cuda_capability_90"));
            const Buffer<uint8_t> code = m.get_device_code_buffer();
            const std::string ptx(reinterpret_cast<const char *>(code.data()),
                                  code.number_of_elements());
            CHECK(ptx.find("cp.async.bulk.tensor.3d.shared::cluster") != std::string::npos);
        }
    }
    TEST_CASE("threads put operands into the memory of the block, by rows and by columns") {
        test::Seeds seeds(3.0, 8);
        while (const auto seed = seeds.next()) {
            CAPTURE(*seed);
            test::Random random(*seed);
            const int rows = int(random.between(1, 100)), columns = int(random.between(1, 100)),
                      sum = int(random.between(1, 64));
            Buffer<float16_t> a = matrix({sum, rows}, 0), b = matrix({columns, sum}, 2);
            Func ea = BoundaryConditions::constant_exterior(a, cast<float16_t>(0.0f)),
                 eb = BoundaryConditions::constant_exterior(b, cast<float16_t>(0.0f));
            RVar ko("ko"), ki("ki");
            RDom k(0, 64, "k");
            const auto define = [&](Func &as, Func &bs, Func &product) {
                as(x, y) = ea(x, y), bs(x, y) = eb(x, y);
                product(x, y) += cast<float>(as(k, y)) * cast<float>(bs(x, k));
                Func out("out");
                out(x, y) = product(x, y);
                return out;
            };
            Func as("as"), bs("bs"), product("product"), plain("plain"), c, d;
            Func out = define(as, bs, product), expected = define(c, d, plain);
            plain.compute_root();
            out.tile(x, y, xi, yi, 64, 64, TailStrategy::GuardWithIf).gpu_blocks(x, y);
            out.tile(xi, yi, wx, wy, xi, yi, 32, 32).gpu_warps(wx, wy);
            product.bound_extent(x, 64).bound_extent(y, 64);
            product.compute_at(out, x).store_in(MemoryType::Tile);
            product.tile(x, y, wx, wy, x, y, 32, 32).gpu_warps(wx, wy);
            Stage update = product.update();
            update.split(k, ko, ki, 32).tile(x, y, wx, wy, x, y, 32, 32);
            update.reorder({ki, x, y, wx, wy, ko}).gpu_warps(wx, wy);
            update.tensorize(x, y, ki, TensorInstruction::MMA);
            for (Func staged : {as, bs}) {
                staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
                staged.tile(x, y, xi, yi, 32, 4).gpu_threads(xi, yi);
                if (random.chance(50)) staged.reorder_storage(y, x);
                if (random.chance(25)) staged.align_storage(x, 5);
            }
            agree(out, expected, {columns, rows});
        }
    }
    TEST_CASE("a sum of each row of a Tile, and a stage that reads both") {
        const auto define = [](Product &p, Func &sum) {
            RDom c(0, 64, "c");
            sum(y) = 0.0f;
            sum(y) += max(p.of(c, y), 0.0f);
            Func out("out");
            out(x, y) = max(p.of(x, y), 0.0f) / (sum(y) + 1.0f);
            return std::pair(out, RVar(c.x));
        };
        Product p(64), plain(64);
        Func sum("sum"), expected("expected");
        auto [out, c] = define(p, sum);
        auto [right, unused] = define(plain, expected);
        plain.of.compute_root(), expected.compute_root();
        out.bound(x, 0, 64);
        p.of.bound_extent(x, 64).bound_extent(y, 64);
        schedule_blocks(out, TensorInstruction::MMA);
        p.schedule(out, TensorInstruction::MMA);
        const RVar cw("cw");
        sum.bound_extent(y, 64).compute_at(out, x).gpu_threads(y);
        Stage update = sum.update();
        update.atomic().split(c, cw, c, 32).split(y, wy, y, 32).reorder({c, y, cw, wy});
        update.gpu_warps(cw, wy);
        agree(out, right);
    }
    TEST_CASE("a reduction along the columns or the rows of a Tile is atomic, or refused") {
        const auto define = [](Product &p, Func &reduced, bool of_rows, bool is_sum) {
            RDom c(0, 64, "c");
            const Expr value = of_rows ? p.of(c, x) : p.of(x, c);
            reduced(x) = is_sum ? 0.0f : Float(32).min();
            reduced(x) = is_sum ? reduced(x) + value : max(reduced(x), value);
            Func out("out");
            out(x) = reduced(x);
            return std::pair(out, RVar(c.x));
        };
        for (const bool of_rows : {true, false}) {
            for (const bool is_atomic : {true, false}) {
                CAPTURE(of_rows);
                CAPTURE(is_atomic);
                Product p(64), plain(64);
                Func reduced("reduced"), expected("expected");
                auto [out, c] = define(p, reduced, of_rows, of_rows);
                auto [right, unused] = define(plain, expected, of_rows, of_rows);
                plain.of.compute_root(), expected.compute_root();
                const auto schedule = [&, &c = c, &out = out] {
                    Var xo("xo");
                    RVar cw("cw");
                    out.split(x, xo, xi, 64).gpu_blocks(xo).gpu_threads(xi);
                    reduced.compute_at(out, xo).gpu_threads(x);
                    Stage update = reduced.update();
                    if (is_atomic) update.atomic();
                    if (of_rows)
                        update.split(x, w, x, 64).reorder({c, x, w}).gpu_warpgroups(w);
                    else
                        update.split(c, cw, c, 64).reorder({x, c, cw}).gpu_warpgroups(cw);
                    p.of.compute_at(out, xo).store_in(MemoryType::Tile).gpu_warpgroups(y, 64);
                    Stage sum = p.of.update();
                    sum.split(p.k, p.ko, p.ki, 64).split(y, w, y, 64);
                    sum.reorder({p.ki, x, y, w, p.ko}).gpu_warpgroups(w);
                    sum.tensorize(x, y, p.ki, TensorInstruction::WGMMA);
                    for (Func staged : {p.a.in(p.of), p.b.in(p.of)}) {
                        staged.compute_at(p.of, p.ko).store_in(MemoryType::GPUShared);
                        staged.async().ring_buffer(2);
                    }
                };
                if (is_atomic) {
                    schedule();
                    agree(out, right, {64});
                    continue;
                }
                const std::string message = refusal([&, &out = out] {
                    schedule();
                    out.realize({64}, Target("host-jit-cuda-interpret"));
                });
                CAPTURE(message);
                CHECK(message.find("tensor_stages_test.cpp:") == 0);
                CHECK(message.find("call atomic() ") != std::string::npos);
            }
        }
    }
}
