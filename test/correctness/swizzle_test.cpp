// Swizzled memory of products on tensor cores: an allocation, a tensor map or an instruction that
// swizzles in another way than the others is seen without a GPU.
#include "base/error.h"
#include "interpret/statement.h"
#include "ir/mutator.h"
#include "lower/lower.h"
#include <doctest/doctest.h>

using namespace tessera;

namespace {

constexpr int columns = 64, k_extent = 128, k_step = 64;

// Other bytes of a row whose slots are exchanged, of the allocations that have some, and of maps.
struct Swizzles {
    int of_allocations = 128, of_maps = 128;
};

class Swizzle final : public ir::Mutator {
public:
    explicit Swizzle(Swizzles to) : to(to) {}
    int changed = 0;

private:
    ir::Stmt visit(const ir::Allocate &a) override {
        const ir::Stmt body = (*this)(a.body);
        ir::AllocationFacts facts = a.facts;
        if (facts.swizzle == 0) return a.with<&ir::Allocate::body>(body);
        changed++;
        facts.swizzle = to.of_allocations;
        return a.with<&ir::Allocate::body, &ir::Allocate::facts>(body, facts);
    }
    ir::Expr visit(const ir::IntrinsicCall &c) override {
        if (c.op != ir::Intrinsic::tensor_map) return ir::Mutator::visit(c);
        changed++;
        std::vector<ir::Expr> args = c.args;
        args.back() = to.of_maps;
        return c.with<&ir::IntrinsicCall::args>(args);
    }
    const Swizzles to;
};

struct Product {
    ImageParam a{Float(16), 2, "a"}, b{Float(16), 2, "b"};
    Func product{"product"}, out{"out"};
    const int rows;  // of a warp, or a warpgroup
    Buffer<float16_t> of_a{k_extent, rows}, of_b{columns, k_extent};

    explicit Product(TensorInstruction instruction)
        : rows(instruction == TensorInstruction::MMA ? 16 : 64) {
        Var x("x"), y("y"), xi("xi"), yi("yi"), wx("wx"), wy("wy");
        RVar ko("ko"), ki("ki");
        RDom k(0, k_extent, "k");
        product(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
        out(x, y) = product(x, y);
        out.bound(x, 0, columns).bound(y, 0, rows);
        const auto share = [&](auto &&f, const Var &c, const Var &r) {
            f.tile(c, r, wx, wy, c, r, columns, rows);
            if (instruction == TensorInstruction::MMA)
                f.gpu_warps(wx, wy);
            else
                f.gpu_warpgroups(wx).gpu_warpgroups(wy);
        };
        out.tile(x, y, xi, yi, columns, rows).gpu_blocks(x, y);
        product.compute_at(out, x).store_in(MemoryType::Tile);
        share(out, xi, yi);
        share(product, x, y);
        Stage update = product.update();
        update.split(k, ko, ki, k_step);
        update.tile(x, y, wx, wy, x, y, columns, rows).reorder({ki, x, y, wx, wy, ko});
        if (instruction == TensorInstruction::MMA)
            update.gpu_warps(wx, wy);
        else
            update.gpu_warpgroups(wx).gpu_warpgroups(wy);
        update.tensorize(x, y, ki, instruction);
        for (Func staged : {a.in(), b.in()}) {
            staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
            staged.async().ring_buffer(2);
        }
        of_a.for_each_element(
            [&](int i, int j) { of_a(i, j) = float16_t(float((i * 7 + j * 3) % 11 - 5)); });
        of_b.for_each_element(
            [&](int i, int j) { of_b(i, j) = float16_t(float((i * 5 + j) % 13 - 6)); });
        a.set(of_a);
        b.set(of_b);
    }

    // Returns true if the kernel computes the product, with these swizzles in its code.
    bool agrees(const Swizzles &swizzles) {
        const ir::Module module =
            lower::lower(Pipeline(out).program(), Target("x86-64-linux-cuda-cuda_capability_90"),
                         {.verify = true});
        ir::LoweredFunction f = module.functions[0];
        Swizzle swizzle(swizzles);
        f.body = swizzle(f.body);
        REQUIRE(swizzle.changed >= 2);
        Buffer<float> result(columns, rows);
        std::vector<void *> args;
        for (const ir::Argument &argument : f.args) {
            const auto *p = dynamic_cast<const program::Parameter *>(argument.referent.get());
            const bool is_output = argument.kind == ir::ArgumentKind::OutputBuffer;
            args.push_back(is_output ? result.raw_buffer() : p->buffer);
        }
        try {
            if (interpret::run_statement(f, args) != 0) return false;
        } catch (const RuntimeError &) {
            return false;
        }
        bool same = true;
        result.for_each_element([&](int i, int j) {
            float sum = 0;
            for (int k = 0; k < k_extent; k++) sum += float(of_a(k, j)) * float(of_b(i, k));
            same &= result(i, j) == sum;
        });
        return same;
    }
};

}  // namespace

TEST_SUITE("tensor cores") {
    TEST_CASE("allocations, maps and instructions that swizzle in different ways are seen") {
        Product wgmma(TensorInstruction::WGMMA);
        CHECK(wgmma.agrees({}));
        for (const int other : {0, 32, 64}) {
            CAPTURE(other);
            CHECK_FALSE(wgmma.agrees({.of_allocations = other}));
            CHECK_FALSE(wgmma.agrees({.of_maps = other}));
            CHECK_FALSE(wgmma.agrees({.of_allocations = other, .of_maps = other}));
        }
    }
    TEST_CASE("threads that copy and load by themselves agree with each other, whatever it is") {
        Product mma(TensorInstruction::MMA);
        for (const int any : {0, 32, 64, 128}) CHECK(mma.agrees({.of_allocations = any}));
    }
}
