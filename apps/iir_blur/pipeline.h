// A recursive blur: every value is mixed with the blurred one before it, down the columns and up
// again; then the same along the rows, as columns of the transposed picture.
#pragma once

#include <tessera.h>

namespace tessera::apps {

struct IirBlur {
    struct Pass {
        Func blurred, transposed;
        RDom rows;
    };
    std::vector<Pass> passes;
    Func output;
    Var x{"x"}, y{"y"}, c{"c"};

    // `input` has the dimensions x, y and c; `alpha` is the weight of the value itself.
    IirBlur(const Func &input, const Expr &width, const Expr &height, const Expr &alpha) {
        output = columns_transposed(columns_transposed(input, height, alpha), width, alpha);
    }

    void schedule(const Target &target) {
        if (target.has_gpu_feature()) return schedule_for_gpu();
        const int vector = target.natural_vector_size<float>(), vectors = 4;
        for (Pass &pass : passes) {
            Var strip("strip"), xi("xi"), yi("yi");
            pass.transposed.split(y, strip, y, vectors * vector, TailStrategy::GuardWithIf)
                .tile(x, y, xi, yi, vector, vector, TailStrategy::GuardWithIf)
                .vectorize(xi)
                .unroll(yi)
                .parallel(strip);
            pass.blurred.compute_at(pass.transposed, strip);  // some columns, in the second cache
            pass.blurred.update(0).vectorize(x, vector);
            for (int i : {1, 2}) {
                pass.blurred.update(i)
                    .reorder(x, pass.rows)
                    .vectorize(x, vector)
                    .unroll(x, vectors);  // as many chains at once: each waits for its last value
            }
        }
        passes[0].transposed.compute_at(output, c);  // one channel at a time, in the last cache
        output.stream_stores();                      // nobody reads it here: past the caches
    }

private:
    // A warp goes down 32 columns, a lane each, and up again, and turns what it has written by
    // tiles in the memory of its block, where columns of 33 lie in different banks.
    void schedule_for_gpu() {
        Var xo("xo"), yo("yo"), xi("xi"), yi("yi");
        for (Pass &pass : passes) {
            pass.transposed.compute_root()
                .tile(x, y, xo, yo, xi, yi, 32, 32)
                .reorder(xi, yi, xo, yo, c)
                .unroll(yi)
                .gpu_lanes(xi)
                .gpu_blocks(yo, c);
            pass.blurred.compute_at(pass.transposed, yo).store_in(MemoryType::Heap).gpu_lanes(x);
            pass.blurred.update(0).gpu_lanes(x);
            for (int i : {1, 2}) {
                pass.blurred.update(i).reorder(x, pass.rows).unroll(pass.rows, 8).gpu_lanes(x);
            }
            pass.blurred.in(pass.transposed)
                .compute_at(pass.transposed, xo)
                .align_storage(x, 33)
                .unroll(y)
                .gpu_lanes(x);
        }
    }

    Func columns_transposed(const Func &source, const Expr &extent, const Expr &alpha) {
        Func blurred("blurred"), transposed("transposed");
        RDom rows(1, extent - 1, "rows");
        blurred(x, y, c) = undef<float>();
        blurred(x, 0, c) = source(x, 0, c);
        blurred(x, rows, c) = (1 - alpha) * blurred(x, rows - 1, c) + alpha * source(x, rows, c);
        Expr up = extent - 1 - rows;
        blurred(x, up, c) = (1 - alpha) * blurred(x, up + 1, c) + alpha * blurred(x, up, c);
        transposed(x, y, c) = blurred(y, x, c);
        passes.push_back({blurred, transposed, rows});
        return transposed;
    }
};

}  // namespace tessera::apps
