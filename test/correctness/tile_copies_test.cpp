// Tiles move between the memory of the device and that of a block: the machine stores boxes, copies
// places of convolutions and fills narrow panels, and threads of a producer copy. Each runs by its
// meaning, thread by thread, without a GPU; as PTX that ptxas takes if it is installed; and on the
// GPU, if there is one.
#include "correctness/device_code.h"
#include "error/refusal.h"
#include "interpret/statement.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/tile_copy.h"
#include "lower/lower.h"
#include "program/parameter.h"
#include <algorithm>
#include <functional>

using namespace tessera;
using test::count_of;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), w("w");
RVar ko("ko"), ki("ki");

const TensorInstruction mma = TensorInstruction::MMA, wgmma = TensorInstruction::WGMMA;

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu) && host_cuda_capability() >= 90) all.push_back(gpu);
    return all;
}

// Small integers, whose sums are exact.
template<typename T> Buffer<T> filled(std::vector<int> sizes) {
    Buffer<T> all(std::move(sizes));
    int i = 0;
    all.for_each_value([&](T &value) {
        value = T(float((i * 7 + i / 5 * 3) % 11 - 5));
        i++;
    });
    return all;
}

// Checks what a Func computes, on all targets.
template<typename T, typename Direct>
void agrees(Func &out, const std::vector<int> &sizes, const Direct &direct) {
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<T> result = out.realize(sizes, target);
        int wrong = 0;
        result.for_each_element([&](const int *at) { wrong += result(at) != T(direct(at)); });
        CHECK(wrong == 0);
    }
}

// Changes one kind of node in lowered code: returns a new one, or an undefined one to leave it.
struct Changes {
    std::function<Expr(const ir::IntrinsicCall &)> call = {};
    std::function<ir::Stmt(const ir::MachineOp &)> op = {};
};
class Change final : public ir::Mutator {
public:
    explicit Change(Changes changes) : changes(std::move(changes)) {}
    int count = 0;

private:
    ir::Expr visit(const ir::IntrinsicCall &c) override {
        const Expr changed = changes.call ? changes.call(c) : Expr();
        count += changed.defined();
        return changed.defined() ? changed : ir::Mutator::visit(c);
    }
    ir::Stmt visit(const ir::MachineOp &op) override {
        const ir::Stmt changed = changes.op ? changes.op(op) : ir::Stmt();
        count += changed.defined();
        return changed.defined() ? changed : ir::Mutator::visit(op);
    }
    const Changes changes;
};

// Returns what the interpreter says of the kernel with these changes; "agrees" if nothing, and the
// results are right.
template<typename T, typename Direct>
std::string broken(Func out, const std::vector<int> &sizes, const Direct &direct,
                   const Changes &changes) {
    const ir::Module module = lower::lower(
        Pipeline(out).program(), Target("x86-64-linux-cuda-cuda_capability_90"), {.verify = true});
    ir::LoweredFunction f = module.functions[0];
    Change change(changes);
    f.body = change(f.body);
    REQUIRE(change.count > 0);
    Buffer<T> result(sizes);
    std::vector<void *> args;
    for (const ir::Argument &argument : f.args) {
        const auto *p = dynamic_cast<const program::Parameter *>(argument.referent.get());
        const bool is_output = argument.kind == ir::ArgumentKind::OutputBuffer;
        args.push_back(is_output ? result.raw_buffer() : p->buffer);
    }
    try {
        if (interpret::run_statement(f, args) != 0) return "an error";
    } catch (const Error &e) {
        return e.what();
    }
    int wrong = 0;
    result.for_each_element([&](const int *at) { wrong += result(at) != T(direct(at)); });
    return wrong == 0 ? "agrees" : "wrong results";
}

bool is_store(const ir::MachineOp &op) {
    return op.op == MachineOpKind::copy_tile && !ir::TileCopy::is_group(op) &&
           ir::TileCopy::of(op).copy.mode == ir::BoxCopy::Mode::Store;
}

// out = a * b, as T, which is put together in the memory of a block.
template<typename T> struct StagedProduct {
    ImageParam a{Float(16), 2, "a"}, b{Float(16), 2, "b"};
    Func rows_of_a, rows_of_b, product{"product"}, tile{"tile"}, out{"out"};
    Buffer<float16_t> of_a, of_b;
    int rows, columns, k_extent;

    StagedProduct(int rows, int columns, int k_extent = 64)
        : of_a(filled<float16_t>({k_extent, rows})), of_b(filled<float16_t>({k_extent, columns})),
          rows(rows), columns(columns), k_extent(k_extent) {
        RDom k(0, k_extent, "k");
        const Expr none;
        const auto padded = [&](ImageParam &of, int extent) {
            return BoundaryConditions::constant_exterior(of, float16_t(0.0f),
                                                         {{none, none}, {0, extent}});
        };
        rows_of_a = padded(a, rows);
        rows_of_b = padded(b, columns);
        product(x, y) += cast<float>(rows_of_a(k, y)) * cast<float>(rows_of_b(k, x));
        tile(x, y) = cast<T>(product(x, y));
        out(x, y) = tile(x, y);
        a.set(of_a);
        b.set(of_b);
        product.update().split(k, ko, ki, 64);
    }
    void schedule(int block_rows, int block_columns, const TensorInstruction &instruction,
                  TailStrategy tail = TailStrategy::RoundUp) {
        const bool is_mma = instruction == mma;
        const auto share = [&](auto &&f) {
            f.split(y, w, y, is_mma ? 16 : 64, TailStrategy::RoundUp);
            is_mma ? f.gpu_warps(w) : f.gpu_warpgroups(w);
        };
        out.tile(x, y, xi, yi, block_columns, block_rows, tail).gpu_blocks(x, y);
        tile.compute_at(out, x).store_in(MemoryType::GPUShared);
        product.compute_at(out, x).store_in(MemoryType::Tile);
        if (tail != TailStrategy::RoundUp) {
            for (Func f : {tile, product})
                f.bound_extent(x, block_columns).bound_extent(y, block_rows);
        }
        share(tile);
        share(product);
        Stage update = product.update();
        share(update);
        update.reorder({ki, x, y, w, ko}).tensorize(x, y, ki, instruction);
        for (Func staged : {rows_of_a, rows_of_b}) {
            staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
            staged.async().ring_buffer(2);
        }
    }
    float sum(const int *at) const {
        float all = 0;
        for (int i = 0; i < k_extent; i++) all += float(of_a(i, at[1])) * float(of_b(i, at[0]));
        return all;
    }
    void check() {
        agrees<T>(out, {columns, rows}, [&](const int *at) { return sum(at); });
    }
};

constexpr const char *tile_store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group";

}  // namespace

TEST_SUITE("tile stores") {
    TEST_CASE("the machine stores a tile, by panels of 128 bytes, or narrower ones") {
        StagedProduct<float16_t> wide(128, 256);
        wide.schedule(64, 128, wgmma);
        wide.check();
        StagedProduct<float16_t> in_roles(192, 128);
        in_roles.schedule(64, 64, wgmma);
        in_roles.out.persistent().warp_specialize();
        in_roles.check();
        StagedProduct<float16_t> narrow(64, 64);
        narrow.schedule(32, 32, mma);
        narrow.check();
        StagedProduct<float> floats(32, 96);
        floats.schedule(32, 32, mma);
        floats.check();
    }
    TEST_CASE("what is outside of the output is not stored") {
        StagedProduct<float16_t> ragged(40, 72);
        ragged.schedule(32, 64, mma, TailStrategy::GuardWithIf);
        ragged.check();
        StagedProduct<float16_t> of_groups(72, 104);
        of_groups.schedule(64, 64, wgmma, TailStrategy::GuardWithIf);
        of_groups.check();
    }
    TEST_CASE("code: two panels, a wait, and before them a fence; or threads store 16 bytes") {
        for (const int capability : {80, 90}) {
            StagedProduct<float16_t> p(256, 256);
            p.schedule(64, 128, mma);
            const std::string ptx = test::ptx_of(p.out, capability);
            CAPTURE(ptx);
            const bool by_machine = capability == 90;
            CHECK((count_of(ptx, tile_store) > 0) == by_machine);
            CHECK((count_of(ptx, "cp.async.bulk.wait_group.read 0;") > 0) == by_machine);
            CHECK((count_of(ptx, "fence.proxy.async.shared::cta;") > 0) == by_machine);
            CHECK((count_of(ptx, "stmatrix") > 0) == by_machine);
            CHECK((count_of(ptx, "st.global.v4.b32") > 0) == !by_machine);
            test::check_assembled(ptx, capability);
        }
        StagedProduct<float16_t> p(256, 256);
        p.schedule(128, 128, wgmma);
        const std::string ptx = test::ptx_of(p.out, 90);
        CAPTURE(ptx);
        CHECK(count_of(ptx, tile_store) > 0);
        test::check_fast(ptx);
    }
    TEST_CASE("tiles that may begin anywhere in a row are stored by threads") {
        StagedProduct<float16_t> unknown(40, 72);
        unknown.schedule(32, 64, mma, TailStrategy::ShiftInwards);
        CHECK(count_of(test::ptx_of(unknown.out, 90), tile_store) == 0);
        unknown.check();
        StagedProduct<float16_t> odd(40, 68);
        odd.out.bound(x, 0, 68);
        odd.schedule(32, 64, mma, TailStrategy::ShiftInwards);
        CHECK(count_of(test::ptx_of(odd.out, 90), tile_store) == 0);
        odd.check();
    }
    TEST_CASE("rows at no multiples of 16 bytes that nobody tells of are refused when it runs") {
        for (const Target &target : targets()) {
            CAPTURE(target.to_string());
            StagedProduct<float16_t> p(40, 68);
            p.schedule(32, 64, mma, TailStrategy::GuardWithIf);
            std::string why;
            try {
                p.out.realize({68, 40}, target);
            } catch (const RuntimeError &e) {
                why = e.what();
            }
            CAPTURE(why);
            CHECK(why.find("136 bytes") != std::string::npos);
        }
    }
    TEST_CASE("rows that are known to begin anywhere are stored by threads") {
        StagedProduct<int8_t> p(64, 128);
        p.schedule(32, 8, mma);  // rows of 8 bytes
        CHECK(count_of(test::ptx_of(p.out, 90), tile_store) == 0);
        p.check();
    }
    TEST_CASE("the interpreter sees a wrong swizzle, place or box, and no fence, or no wait") {
        StagedProduct<float16_t> p(64, 128);
        p.schedule(32, 128, mma);
        const auto run = [&](const Changes &changes) {
            return broken<float16_t>(
                p.out, {128, 64}, [&](const int *at) { return p.sum(at); }, changes);
        };
        const auto of_stores = [](const std::function<void(ir::TileCopy &)> &change) {
            return Changes{.op = [change](const ir::MachineOp &op) -> ir::Stmt {
                if (!is_store(op)) return {};
                auto t = ir::TileCopy::of(op);
                change(t);
                return op.with<&ir::MachineOp::operands>(t.operands());
            }};
        };
        CHECK(run(of_stores([](ir::TileCopy &) {})) == "agrees");
        const auto has = [](const std::string &message, const char *part) {
            CAPTURE(message);
            CHECK(message.find(part) != std::string::npos);
        };
        has(run(of_stores([](ir::TileCopy &t) { t.coordinates[1] = t.coordinates[1] + 1; })),
            "brings other elements");
        const auto of_maps = [](size_t from_end, int32_t value) {
            return Changes{.call = [=](const ir::IntrinsicCall &c) -> Expr {
                // The map of what is stored has boxes of 64 x 32 elements.
                const bool is_map = c.op == ir::Intrinsic::tensor_map &&
                                    ir::is_const(c.args[c.args.size() - 4], 32);
                if (!is_map) return {};
                std::vector<Expr> args = c.args;
                args[args.size() - from_end] = value;
                return c.with<&ir::IntrinsicCall::args>(args);
            }};
        };
        has(run(of_maps(1, 0)), "brings other elements");
        has(run(of_maps(4, 16)), "by a map of other boxes");
        has(run({.call = [](const ir::IntrinsicCall &c) -> Expr {
                return c.op == ir::Intrinsic::async_wait ? Expr(0) : Expr();
            }}),
            "without a fence");
        has(run({.op = [](const ir::MachineOp &op) -> ir::Stmt {
                return ir::TileCopy::is_group(op) ? op.body : ir::Stmt();
            }}),
            "nobody waits until it may be overwritten");
    }
}

TEST_SUITE("narrow panels") {
    // out = a * b in steps of so many products.
    template<typename T, typename Sum>
    void check_product(int step, bool b_by_rows, int columns = 64) {
        const int rows = 64, k_extent = 2 * step;
        Buffer<T> of_a = filled<T>({k_extent, rows}),
                  of_b = filled<T>(b_by_rows ? std::vector{columns, k_extent}
                                             : std::vector{k_extent, columns});
        ImageParam a(type_of<T>(), 2, "a"), b(type_of<T>(), 2, "b");
        Func product("product"), out("out");
        RDom k(0, k_extent, "k");
        const Expr factor = b_by_rows ? b(x, k) : b(k, x);
        product(x, y) += cast<Sum>(a(k, y)) * cast<Sum>(factor);
        out(x, y) = product(x, y);
        out.tile(x, y, xi, yi, columns, rows).gpu_blocks(x, y).gpu_warpgroups(yi, 64);
        product.compute_at(out, x).store_in(MemoryType::Tile).gpu_warpgroups(y, 64);
        Stage update = product.update();
        update.split(k, ko, ki, step).split(y, w, y, 64).reorder({ki, x, y, w, ko});
        update.gpu_warpgroups(w).tensorize(x, y, ki, wgmma);
        for (Func staged : {a.in(), b.in()}) {
            staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
            staged.async().ring_buffer(2);
        }
        a.set(of_a);
        b.set(of_b);
        const std::string ptx = test::ptx_of(out, 90);
        CHECK(count_of(ptx, "cp.async.bulk.tensor.2d.shared::cluster") > 0);
        test::check_fast(ptx);
        agrees<Sum>(out, {columns, rows}, [&](const int *at) {
            Sum all = 0;
            for (int i = 0; i < k_extent; i++)
                all += Sum(of_a(i, at[1])) * Sum(b_by_rows ? of_b(at[0], i) : of_b(i, at[0]));
            return all;
        });
    }

    TEST_CASE("rows of 64 and 32 bytes, along the sum and across") {
        for (const int step : {32, 16}) {
            CAPTURE(step);
            check_product<float16_t, float>(step, false);
            check_product<float16_t, float>(step, true);
            check_product<float16_t, float>(step, true, 32);
        }
        check_product<int8_t, int32_t>(32, false);
        check_product<int8_t, int32_t>(64, false);
    }
}

namespace {

struct Shape {
    int images, p, q, channels, filters, taps;
    int stride = 1, dilation = 1, padding = 0;
    int first_channel = 0;  // of the input; if it is another one, nothing is promised of them
    int of_input(int outputs) const {
        return (outputs - 1) * stride + (taps - 1) * dilation + 1 - 2 * padding;
    }
    int places() const { return images * p * q; }
};

// A convolution whose rows are the places of all images, one after the other.
struct OfPlaces {
    Shape shape;
    ImageParam in{Float(16), 4, "in"}, filter{Float(16), 4, "filter"};
    Func patch{"patch"}, conv{"conv"}, out{"out"};
    Var k{"k"}, m{"m"}, mi{"mi"};
    Buffer<float16_t> of_in, of_filter;

    explicit OfPlaces(const Shape &s)
        : shape(s), of_in(filled<float16_t>({s.channels + s.first_channel, s.of_input(s.q),
                                             s.of_input(s.p), s.images})),
          of_filter(filled<float16_t>({s.channels, s.taps, s.taps, s.filters})) {
        const int width = s.of_input(s.q), height = s.of_input(s.p);
        const Expr none;
        Func padded = BoundaryConditions::constant_exterior(
            in, float16_t(0.0f), {{none, none}, {0, width}, {0, height}, {0, s.images}});
        RDom sum(0, s.channels, 0, s.taps, 0, s.taps, "sum");
        const RVar c = sum.x, s_tap = sum.y, r_tap = sum.z;
        Var vc("vc"), vs("vs"), vr("vr");
        patch(vc, m, vs, vr) =
            padded(vc + s.first_channel, m % s.q * s.stride + vs * s.dilation - s.padding,
                   m / s.q % s.p * s.stride + vr * s.dilation - s.padding, m / (s.q * s.p));
        conv(k, m) +=
            cast<float>(patch(c, m, s_tap, r_tap)) * cast<float>(filter(c, s_tap, r_tap, k));
        out(k, m) = conv(k, m);
        if (s.first_channel == 0) in.dim(0).set_bounds(0, s.channels);
        in.dim(1).set_bounds(0, width);
        in.dim(2).set_bounds(0, height);
        filter.dim(0).set_bounds(0, s.channels);
        out.bound(k, 0, s.filters).bound(m, 0, s.places());
        const int step = std::min(64, s.channels);
        RVar rs("rs"), t("t");
        out.split(m, m, mi, 64, TailStrategy::GuardWithIf).gpu_blocks(m).gpu_warpgroups(mi, 64);
        conv.compute_at(out, m).store_in(MemoryType::Tile).bound_extent(m, 64);
        conv.gpu_warpgroups(m, 64);
        Stage update = conv.update();
        update.split(c, ko, ki, step).fuse(s_tap, r_tap, rs).fuse(rs, ko, t);
        update.split(m, w, m, 64).reorder({ki, k, m, w, t}).gpu_warpgroups(w);
        update.tensorize(k, m, ki, wgmma);
        for (Func staged : {patch, filter.in()}) {
            staged.compute_at(conv, t).store_in(MemoryType::GPUShared);
            staged.async().ring_buffer(3);
        }
        in.set(of_in);
        filter.set(of_filter);
    }
    float sum(const int *at) const {
        const Shape &s = shape;
        const int q = at[1] % s.q, p = at[1] / s.q % s.p, n = at[1] / (s.q * s.p);
        float all = 0;
        for (int r = 0; r < s.taps; r++) {
            for (int t = 0; t < s.taps; t++) {
                const int u = q * s.stride + t * s.dilation - s.padding,
                          v = p * s.stride + r * s.dilation - s.padding;
                if (u < 0 || v < 0 || u >= s.of_input(s.q) || v >= s.of_input(s.p)) continue;
                for (int c = 0; c < s.channels; c++)
                    all += float(of_in(c + s.first_channel, u, v, n)) *
                           float(of_filter(c, t, r, at[0]));
            }
        }
        return all;
    }
    void check() {
        agrees<float>(out, {shape.filters, shape.places()}, [&](const int *at) { return sum(at); });
    }
};

constexpr const char *im2col =
    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes";

bool is_im2col(const ir::IntrinsicCall &c) {
    return c.op == ir::Intrinsic::tensor_map && ir::is_one(c.args[2]);
}

}  // namespace

TEST_SUITE("places of convolutions") {
    TEST_CASE("rows that run through lines and images are copied by the machine") {
        for (const Shape &s :
             {Shape{4, 4, 8, 64, 16, 3, 1, 1, 1}, Shape{2, 7, 7, 64, 8, 3, 2, 1, 1},
              Shape{3, 5, 6, 32, 8, 3, 1, 2, 0}, Shape{4, 4, 4, 64, 8, 1, 2}}) {
            OfPlaces conv(s);
            CHECK(count_of(test::ptx_of(conv.out, 90), im2col) > 0);
            conv.check();
        }
    }
    TEST_CASE("channels that begin at no multiple of 16 bytes") {
        OfPlaces conv({2, 5, 5, 64, 8, 3, 1, 1, 1, 3});
        CHECK(count_of(test::ptx_of(conv.out, 90), im2col) > 0);
        conv.check();
    }
    TEST_CASE("code") {
        OfPlaces conv({32, 14, 14, 128, 64, 3, 1, 1, 1});
        const std::string ptx = test::ptx_of(conv.out, 90);
        CAPTURE(ptx);
        CHECK(count_of(ptx, im2col) > 0);
        CHECK(count_of(ptx, "cp.async.cg") == 0);
        test::check_fast(ptx);
    }
    TEST_CASE("the interpreter sees other places, steps and taps") {
        OfPlaces conv({2, 6, 6, 64, 8, 3, 1, 1, 1});
        const auto run = [&](const Changes &changes) {
            return broken<float>(
                conv.out, {8, 72}, [&](const int *at) { return conv.sum(at); }, changes);
        };
        // The numbers of the map are, from its end: the swizzle, the shift of rows, the distance of
        // elements, where lines and images of places end, where they begin, and their steps.
        for (const size_t from_end : {4, 5, 6, 7, 8, 9}) {
            CAPTURE(from_end);
            const std::string said = run({.call = [&](const ir::IntrinsicCall &c) -> Expr {
                if (!is_im2col(c)) return {};
                std::vector<Expr> args = c.args;
                args[args.size() - from_end] = args[args.size() - from_end] + 1;
                return c.with<&ir::IntrinsicCall::args>(args);
            }});
            CAPTURE(said);
            CHECK((said.find("brings other elements") != said.npos ||
                   said.find("where there is none") != said.npos));
        }
        const std::string said = run({.op = [](const ir::MachineOp &op) -> ir::Stmt {
            if (op.op != MachineOpKind::copy_tile) return {};
            auto t = ir::TileCopy::of(op);
            if (t.copy.mode != ir::BoxCopy::Mode::Im2col) return {};
            t.offsets[1] = 0;
            return op.with<&ir::MachineOp::operands>(t.operands());
        }});
        CHECK(said.find("brings other elements") != said.npos);
    }
}

namespace {

// out = a(k, chosen(y)) * b(k, x), whose rows are gathered by the threads of a producer.
struct Gathered {
    static constexpr int rows = 128, columns = 64;
    int k_extent;
    ImageParam a{Float(16), 2, "a"}, b{Float(16), 2, "b"}, chosen{Int(32), 1, "chosen"};
    Func gathered{"gathered"}, product{"product"}, out{"out"};
    Buffer<float16_t> of_a, of_b;
    Buffer<int> of_chosen{rows};

    explicit Gathered(int steps, int stages, bool is_persistent = false)
        : k_extent(steps * 64), of_a(filled<float16_t>({k_extent, rows})),
          of_b(filled<float16_t>({k_extent, columns})) {
        RDom k(0, k_extent, "k");
        Var vk("vk");
        gathered(vk, y) = a(vk, clamp(chosen(y), 0, rows - 1));
        product(x, y) += cast<float>(gathered(k, y)) * cast<float>(b(k, x));
        out(x, y) = product(x, y);
        out.bound(x, 0, columns).bound(y, 0, rows);
        out.tile(x, y, xi, yi, columns, 64).gpu_blocks(x, y).gpu_warpgroups(yi, 64);
        if (is_persistent) out.persistent();
        out.warp_specialize();
        product.compute_at(out, x).store_in(MemoryType::Tile).gpu_warpgroups(y, 64);
        Stage update = product.update();
        update.split(k, ko, ki, 64).split(y, w, y, 64).reorder({ki, x, y, w, ko});
        update.gpu_warpgroups(w).tensorize(x, y, ki, wgmma);
        for (Func staged : {gathered, b.in()}) {
            staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
            staged.async().ring_buffer(stages);
        }
        of_chosen.for_each_element([&](int i) { of_chosen(i) = (i * 37 + 5) % rows; });
        a.set(of_a);
        b.set(of_b);
        chosen.set(of_chosen);
    }
    float sum(const int *at) const {
        float all = 0;
        for (int i = 0; i < k_extent; i++)
            all += float(of_a(i, of_chosen(at[1]))) * float(of_b(i, at[0]));
        return all;
    }
};

}  // namespace

TEST_SUITE("copies of a producer's threads") {
    TEST_CASE("rows that are gathered, beside boxes that the machine copies") {
        for (const int stages : {2, 3, 4}) {
            for (const int steps : {1, 2, 5}) {
                CAPTURE(stages);
                CAPTURE(steps);
                Gathered p(steps, stages);
                agrees<float>(p.out, {p.columns, p.rows}, [&](const int *at) { return p.sum(at); });
            }
        }
        Gathered p(3, 3, true);
        agrees<float>(p.out, {p.columns, p.rows}, [&](const int *at) { return p.sum(at); });
    }
    TEST_CASE("code: asynchronous copies, a fence, and arrivals of the producer's warps") {
        Gathered p(16, 4);
        const std::string ptx = test::ptx_of(p.out, 90);
        CAPTURE(ptx);
        CHECK(count_of(ptx, "cp.async.cg.shared.global") > 0);
        CHECK(count_of(ptx, "cp.async.bulk.tensor.2d.shared::cluster") > 0);
        CHECK(count_of(ptx, "cp.async.wait_group 2;") > 0);
        CHECK(count_of(ptx, "fence.proxy.async.shared::cta;") > 0);
        test::check_fast(ptx);
    }
    TEST_CASE("the interpreter sees that nobody waits for copies, or too late") {
        Gathered p(5, 4);
        const auto run = [&](const Changes &changes) {
            return broken<float>(
                p.out, {p.columns, p.rows}, [&](const int *at) { return p.sum(at); }, changes);
        };
        const auto of_waits = [](int before, int after) {
            return Changes{.call = [=](const ir::IntrinsicCall &c) -> Expr {
                if (c.op != ir::Intrinsic::async_wait || !ir::is_const(c.args[0], before))
                    return {};
                return c.with<&ir::IntrinsicCall::args>(std::vector<Expr>{after});
            }};
        };
        CHECK(run(of_waits(2, 2)) == "agrees");
        CHECK(run(of_waits(2, 3)) != "agrees");
        CHECK(run({.call = [](const ir::IntrinsicCall &c) -> Expr {
                  return c.op == ir::Intrinsic::async_wait ? Expr(0) : Expr();
              }}) != "agrees");
    }
}
