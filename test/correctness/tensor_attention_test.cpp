// Attention on tensor cores, as it is to be written: scores in the accumulators of one product,
// weights from there as the left operand of the next one, and the mean of the values so far in the
// accumulators of that. The loop over blocks of keys is that of apps/attention/online.h.
//
// It is skipped. What is missing, in the order in which a compiler meets it:
// - What reads a Tile may be any expression of its elements, in registers, by the threads that hold
//   them: `weight` of `score`, with the value of a row (`largest`) for all of its columns.
// - Reductions along a row of a Tile (`block_largest`, `block_total`): the four lanes that hold a
//   row reduce their own elements and then exchange them; each has the result.
// - Functions of rows alone (`largest`, `total`, `kept`, `added`), whose elements are in registers
// of
//   the lanes that hold the row: the accumulators' layout without its columns. That of `largest`
//   and `total` has two places per row (their storage is folded), both of which are registers: the
//   loop over blocks is unrolled by two, or the older one is copied.
// - `weight` as an operand in registers: the accumulators' layout of 16 columns of float32 is that
//   of the left operand's 16 columns of float16, so that nothing moves.
// - `mean` as a Tile that an update scales before a product is added to it: sums begin with
//   mean * kept, not with zero, so that no second set of accumulators is held.
#include "lang/func.h"
#include "lang/image_param.h"
#include "lang/inline_reductions.h"
#include <cmath>
#include <doctest/doctest.h>
#include <tessera.h>

using namespace tessera;

namespace {

// A block has 128 queries, of which each of two warpgroups has 64.
struct TensorAttention {
    static constexpr int size = 128, queries = 128, keys = 128;
    ImageParam query{Float(16), 3, "query"}, key{Float(16), 3, "key"}, value{Float(16), 3, "value"};
    Func score{"score"}, block_largest{"block_largest"}, largest{"largest"}, weight{"weight"},
        block_total{"block_total"}, total{"total"}, kept{"kept"}, added{"added"}, sum{"sum"},
        mean{"mean"}, output{"output"};
    Var d{"d"}, q{"q"}, k{"k"}, b{"b"}, h{"h"}, block{"block"}, wq{"wq"}, wd{"wd"};
    RDom rd, rk, rb, r;

    explicit TensorAttention(int count)
        : rd(0, size, "rd"), rk(0, keys, "rk"), rb(0, count / keys, "rb"), r(0, count / keys, "r") {
        score(k, q, b, h) += cast<float>(query(rd, q, h)) * cast<float>(key(rd, b * keys + k, h));
        block_largest(q, b, h) = Float(32).min();
        block_largest(q, b, h) = max(block_largest(q, b, h), score(rk, q, b, h));
        largest(q, b, h) = Float(32).min();
        largest(q, r, h) = max(largest(q, r - 1, h), block_largest(q, r, h));
        const Expr scale = 1 / std::sqrt(float(size));
        weight(k, q, b, h) = cast<float16_t>(exp((score(k, q, b, h) - largest(q, b, h)) * scale));
        block_total(q, b, h) += cast<float>(weight(rk, q, b, h));
        const auto left = [&](const Expr &b) {
            return total(q, b - 1, h) * exp((largest(q, b - 1, h) - largest(q, b, h)) * scale);
        };
        total(q, b, h) = 0.0f;
        total(q, r, h) = left(r) + block_total(q, r, h);
        kept(q, b, h) = left(b) / total(q, b, h);
        added(q, b, h) = 1 / total(q, b, h);
        sum(d, q, b, h) +=
            cast<float>(weight(rk, q, b, h)) * cast<float>(value(d, b * keys + rk, h));
        mean(d, q, h) = 0.0f;
        mean(d, q, h) = mean(d, q, h) * kept(q, rb, h) + sum(d, q, rb, h) * added(q, rb, h);
        output(d, q, h) = cast<float16_t>(mean(d, q, h));
    }

    void schedule() {
        output.bound(d, 0, size).split(q, block, q, queries).gpu_blocks(block, h);
        by_warpgroups(output, d);
        mean.compute_at(output, block).store_in(MemoryType::Tile);
        mean.update().reorder({d, q, rb, h});
        by_warpgroups(mean, d);
        by_warpgroups(mean.update(), d);
        for (Func f : {score, weight, sum}) {
            f.compute_at(mean, rb).store_in(MemoryType::Tile);
            by_warpgroups(f, f.args()[0]);
        }
        for (Func f : {score, sum}) by_warpgroups(f.update(), f.args()[0]);
        score.update().tensorize(k, q, rd, TensorInstruction::WGMMA);
        sum.update().tensorize(d, q, rk, TensorInstruction::WGMMA);
        for (Func f : {block_largest, block_total, largest, total}) {
            f.compute_at(mean, rb).store_in(MemoryType::Tile);
            by_rows(f), by_rows(f.update());
        }
        for (Func f : {largest, total}) f.store_at(output, block);
        for (Func f : {kept, added}) {
            f.compute_at(mean, rb).store_in(MemoryType::Tile);
            by_rows(f);
        }
        query.in().compute_at(output, block).store_in(MemoryType::GPUShared);
        for (Func staged : {key.in(), value.in()}) {
            staged.compute_at(mean, rb).store_in(MemoryType::GPUShared);
            staged.hoist_storage(output, block).async().ring_buffer(2);
        }
    }

private:
    template<typename Scheduled>
    void by_warpgroups(Scheduled f, const Var &columns) {
        f.tile(columns, q, wd, wq, columns, q, size, 64).gpu_warpgroups(wd).gpu_warpgroups(wq);
    }
    template<typename Scheduled> void by_rows(Scheduled f) {
        f.split(q, wq, q, 64).gpu_warpgroups(wq);
    }
};

}  // namespace

TEST_SUITE("attention on tensor cores") {
    TEST_CASE("agrees with double precision" * doctest::skip()) {
        TensorAttention attention(256);
        attention.schedule();
        Buffer<float16_t> query(128, 128, 1), key(128, 256, 1), value(128, 256, 1),
            out(128, 128, 1);
        const auto fill = [](Buffer<float16_t> &buffer, int seed) {
            buffer.for_each_element([&](int d, int i, int) {
                buffer(d, i, 0) = float16_t(float((d * 7 + i * 3 + seed) % 11 - 5) / 8);
            });
        };
        fill(query, 1), fill(key, 2), fill(value, 3);
        attention.query.set(query), attention.key.set(key), attention.value.set(value);
        attention.output.realize(out, Target("host-jit-cuda-cuda_capability_90-interpret"));
        for (int q = 0; q < 128; q++) {
            std::vector<double> weights(256);
            double total = 0;
            for (int k = 0; k < 256; k++) {
                double product = 0;
                for (int d = 0; d < 128; d++)
                    product += double(float(query(d, q, 0))) * double(float(key(d, k, 0)));
                total += weights[size_t(k)] = std::exp(product / std::sqrt(128.0));
            }
            for (int d = 0; d < 128; d++) {
                double mean = 0;
                for (int k = 0; k < 256; k++)
                    mean += weights[size_t(k)] / total * double(float(value(d, k, 0)));
                CHECK(double(float(out(d, q, 0))) == doctest::Approx(mean).epsilon(0.01));
            }
        }
    }
}
