// Reductions over the lanes of a row: in the interpreter, as PTX, and on a GPU, where there is one.
#include "correctness/device_code.h"
#include "layer_norm/pipeline.h"
#include "softmax/pipeline.h"
#include <cstring>
#include <functional>

using namespace tessera;
using test::count_of;

namespace {

Var x("x"), y("y"), yi("yi"), lane("lane"), u("u");

using Combine = std::function<Expr(Expr, Expr)>;

struct Reduction {
    int lanes = 32, rows = 4;
    Type type = Float(32);
    Combine combine = [](Expr a, Expr b) { return a + b; };
    bool of_block = false;  // the result is computed for all rows of a block, else for each row
};

// out(x, y) is what row y has reduced, and x more. Results do not depend on the order.
Func reduced(const Reduction &of, bool scheduled) {
    const int width = of.lanes * 5;
    RDom r(0, width, "r");
    Func result("result"), out("out");
    const Expr value = cast(of.type, (r * 7 + y * 3) % 23 + 1);
    result(y) = cast(of.type, 3);
    result(y) = of.combine(result(y), value);
    out(x, y) = result(y) + cast(of.type, x);
    if (!scheduled) return out;
    RVar step("step"), lanes("lanes");
    out.split(y, y, yi, of.rows, TailStrategy::GuardWithIf).reorder(x, yi, y);
    out.split(x, x, lane, of.lanes, TailStrategy::GuardWithIf).reorder(x, lane, yi, y);
    out.gpu_blocks(y).gpu_threads(yi).gpu_lanes(lane);
    Func part = result.update().split(r, step, lanes, of.lanes).rfactor(lanes, u);
    if (of.of_block) {
        const Var row = result.args()[0];
        result.compute_at(out, y).gpu_threads(row);
        result.update().atomic().reorder(lanes, row).gpu_threads(row).gpu_lanes(lanes);
        part.compute_at(result, row).gpu_lanes(u);
    } else {
        result.compute_at(out, yi).update().atomic().gpu_lanes(lanes);
        part.compute_at(out, yi).gpu_lanes(u);
    }
    part.update().reorder(step, u).gpu_lanes(u);
    return out;
}

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

void agrees(const Reduction &of) {
    CAPTURE(of.lanes);
    CAPTURE(of.of_block);
    const Buffer<> wanted = reduced(of, false).realize({40, 7});
    Func scheduled = reduced(of, true);
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<> found = scheduled.realize({40, 7}, target);
        CHECK(std::memcmp(wanted.data(), found.data(), wanted.size_in_bytes()) == 0);
    }
}

}  // namespace

TEST_SUITE("reductions over lanes") {
    TEST_CASE("sums, of rows of all sizes") {
        for (const bool of_block : {false, true}) {
            for (const int lanes : {32, 16, 8, 2}) agrees({.lanes = lanes, .of_block = of_block});
            agrees({.lanes = 20, .of_block = of_block});  // rows of 32, of which not all have one
        }
    }
    TEST_CASE("of all types") {
        const Type types[] = {UInt(8), Int(16), Int(32), UInt(32), Int(64), Float(32), Float(64)};
        for (const Type type : types) agrees({.type = type});
    }
    TEST_CASE("all operations") {
        const Combine operations[] = {
            [](const Expr &a, const Expr &b) { return min(a, b); },
            [](const Expr &a, const Expr &b) { return max(a, b); },
            [](const Expr &a, const Expr &b) { return a - b; },
            [](const Expr &a, const Expr &b) { return a * b; },
        };
        for (const Combine &combine : operations) {
            for (const bool of_block : {false, true})
                agrees({.type = Int(32), .combine = combine, .of_block = of_block});
        }
        agrees({.type = UInt(8),
                .combine = [](const Expr &a, const Expr &b) { return saturating_add(a, b); }});
        agrees({.combine = [](const Expr &a, const Expr &b) { return max(a, b); }});
    }
    TEST_CASE("elements that rows share are updated one after the other") {
        const auto make = [](bool scheduled) {
            RDom r(0, 32, 0, 16, "r");
            Func sum("sum");
            sum(x) = 0;
            sum(x) += r.x * r.y + x;
            if (!scheduled) return sum;
            sum.gpu_blocks(x);
            sum.update().atomic().reorder(r.x, r.y, x);
            sum.update().gpu_blocks(x).gpu_threads(r.y).gpu_lanes(r.x);
            return sum;
        };
        const Buffer<int> wanted = make(false).realize({5});
        for (const Target &target : targets()) {
            const Buffer<int> found = make(true).realize({5}, target);
            for (int i = 0; i < 5; i++) CHECK(found(i) == wanted(i));
        }
        const std::string ptx = test::ptx_of(make(true), 80);
        CHECK(count_of(ptx, "shfl.sync") == 5);
        CHECK(count_of(ptx, "\tatom.") + count_of(ptx, "\tred.") == 1);
        test::check_assembled(ptx, 80);
    }
    TEST_CASE("what is made of the result, by all lanes or the first one") {
        const auto make = [](bool scheduled) {
            RDom r(0, 64, "r"), second(1, 1, "second");
            Func sum("sum"), least("least"), both("both"), out("out");
            sum(y) += r * y;
            least(y) = 1000;
            least(y) = min(least(y), (r * 5 + y) % 50 + 3);
            both(x, y) = sum(y) * least(y) + x;
            both(second, y) += both(0, y);
            out(x, y) = select(x % 2 == 0, both(0, y), both(1, y)) + least(y) * x;
            if (!scheduled) return out;
            out.bound(x, 0, 32).split(y, y, yi, 4).gpu_blocks(y).gpu_threads(yi).gpu_lanes(x);
            for (Func f : {sum, least}) {
                RVar step("step"), lanes("lanes");
                Func part = f.update().split(r, step, lanes, 32).rfactor(lanes, u);
                part.compute_at(out, yi).gpu_lanes(u);
                part.update().reorder(step, u).gpu_lanes(u);
                f.compute_at(out, yi).update().atomic().gpu_lanes(lanes);
            }
            both.compute_at(out, yi).unroll(x).update().unroll(second);
            return out;
        };
        const Buffer<int> wanted = make(false).realize({32, 8});
        for (const Target &target : targets()) {
            const Buffer<int> found = make(true).realize({32, 8}, target);
            CHECK(std::memcmp(wanted.data(), found.data(), wanted.size_in_bytes()) == 0);
        }
    }
    TEST_CASE("lanes leave out what is not a number") {
        for (int at = 0; at < 32; at += 5) {
            RDom r(0, 32, "r");
            Func in("in"), most("most"), out("out");
            in(x) = select(x == at, sqrt(cast<float>(-x - 1)), cast<float>(x % 7));
            most(y) = Float(32).min();
            most(y) = max(most(y), in(r) + y);
            out(x, y) = most(y);
            in.compute_root();
            out.bound(x, 0, 32).split(y, y, yi, 4).gpu_blocks(y).gpu_threads(yi).gpu_lanes(x);
            most.compute_at(out, yi).update().atomic().gpu_lanes(r);
            for (const Target &target : targets()) {
                const Buffer<float> found = out.realize({32, 4}, target);
                found.for_each_element([&](int i, int j) { CHECK(found(i, j) == 6 + j); });
            }
        }
    }
    TEST_CASE("five shuffles, and no memory") {
        const std::string row = test::ptx_of(reduced({}, true), 80);
        const size_t kernels = 2;  // for blocks at the edge, and others
        CHECK(count_of(row, "shfl.sync") == 5 * kernels);
        CHECK(count_of(row, ".shared.") == 0);
        CHECK(count_of(row, "bar.") == 0);
        test::check_assembled(row, 80);
        const std::string of_block = test::ptx_of(reduced({.of_block = true}, true), 80);
        CHECK(count_of(of_block, "shfl.sync") == 5 * kernels);
        CHECK(count_of(of_block, "\tatom.") + count_of(of_block, "\tred.") == 0);
        test::check_assembled(of_block, 80);
    }
    TEST_CASE("products are not joined with the sum of two lanes' alone") {
        RDom r(0, 32, "r");
        Func a("a"), sum("sum"), out("out");
        a(x, y) = cast<float>(x) / 3 + y;
        sum(y) += a(r, y) * a(r, y + 1);
        out(x, y) = sum(y) + x;
        a.compute_root();
        out.bound(x, 0, 32).split(y, y, yi, 4).gpu_blocks(y).gpu_threads(yi).gpu_lanes(x);
        sum.compute_at(out, yi).update().atomic().gpu_lanes(r);
        const std::string ptx = test::ptx_of(out, 80);
        CHECK(count_of(ptx, "shfl.sync") > 0);
        CHECK(count_of(ptx, "fma.rn.f32") == 0);
    }
    TEST_CASE(
        "softmax and layer norm read each row once, by vectors, and need no memory of the block") {
        const int columns = 1024, rows = 64, vectors = columns / 128;
        const auto counted = [&](Func output, const std::vector<ImageParam> &inputs) {
            for (ImageParam input : inputs) input.set_host_alignment(16);
            for (OutputImageParam buffer : {OutputImageParam(inputs[0]), output.output_buffer()}) {
                buffer.set_host_alignment(16);
                buffer.dim(0).set_bounds(0, columns);
                buffer.dim(1).set_bounds(0, rows).set_stride(columns);
            }
            return test::ptx_of(output, 80);
        };
        const Target target("host-cuda");
        ImageParam input(Float(32), 2, "input"), scale(Float(32), 1, "scale"),
            shift(Float(32), 1, "shift");
        apps::Softmax softmax(input, columns, columns);
        softmax.schedule(target);
        std::string ptx = counted(softmax.output, {input});
        // One kernel has vectors; the other one is for memory that is not aligned.
        CHECK(count_of(ptx, ".entry ") == 2);
        CHECK(count_of(ptx, "ld.global.nc.v4") == vectors);
        CHECK(count_of(ptx, "st.global.v4") == vectors);
        CHECK(count_of(ptx, "ld.global") == vectors + 4 * vectors);
        CHECK(count_of(ptx, "shfl.sync") == 2 * (5 + 5));
        CHECK(count_of(ptx, ".shared.") + count_of(ptx, "bar.") == 0);
        test::check_assembled(ptx, 80);

        apps::LayerNorm norm(input, scale, shift, columns, 1e-5f, columns);
        norm.schedule(target);
        ptx = counted(norm.output, {input, scale, shift});
        CHECK(count_of(ptx, ".entry ") == 2);
        CHECK(count_of(ptx, "ld.global.nc.v4") == 3 * vectors);
        CHECK(count_of(ptx, "ld.global") == 3 * (vectors + 4 * vectors));
        CHECK(count_of(ptx, "shfl.sync") == 2 * (5 + 5));
        CHECK(count_of(ptx, ".shared.") + count_of(ptx, "bar.") == 0);
        test::check_assembled(ptx, 80);
    }
}
