// The way up has a memory of its own, which is filled from its beginning, so that its loads need
// not wait for its stores: many rows are loaded before they are mixed.
#include "iir_blur/pipeline.h"
#include "iir_blur/reference.h"

#include "gpu/schedules/schedules.h"

namespace tessera::schedules {

struct IirBlur {
    struct Pass {
        Func ahead, down, ahead_of_up, up, transposed;  // ahead: what the next one reads
        RDom rows;
    };
    std::vector<Pass> passes;
    Func output;
    Var x{"x"}, y{"y"}, c{"c"}, xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"}, row{"row"};

    IirBlur(const Func &input, const Expr &width, const Expr &height, const Expr &alpha) {
        output = columns_transposed(columns_transposed(input, height, alpha), width, alpha);
    }

    // `count` rows are loaded at once, to registers before all others are `staged`. The
    // tiles that are transposed are `turned` in the block's memory.
    void schedule(int count, bool staged, bool turned = true) {
        const TailStrategy guard = TailStrategy::GuardWithIf;
        for (Pass &pass : passes) {
            for (Func *f : {&pass.down, &pass.up}) {
                f->compute_root();
                f->update(0).gpu_tile(x, xi, 32, guard).gpu_blocks(c);
                RVar chunk("chunk"), of("of");
                f->update(1)
                    .split(pass.rows, chunk, of, count, guard)
                    .reorder(of, chunk, x, c)
                    .unroll(of)
                    .gpu_tile(x, xi, 32, guard)
                    .gpu_blocks(c);
                Func read = f == &pass.up ? pass.ahead_of_up : pass.ahead;
                if (staged) read.compute_at(*f, chunk).unroll(y);
            }
            pass.transposed.compute_root()
                .tile(x, y, xo, yo, xi, yi, 32, 32, guard)
                .split(yi, row, yi, 8)
                .reorder(row, xi, yi, xo, yo, c)
                .unroll(row)
                .gpu_blocks(xo, yo, c)
                .gpu_threads(xi, yi);
            if (turned) {
                pass.up.in(pass.transposed)
                    .compute_at(pass.transposed, xo)
                    .align_storage(x, 33)  // so that the lanes of a column are in different banks
                    .split(y, row, y, 8)
                    .reorder(row, x, y)
                    .unroll(row)
                    .gpu_threads(x, y);
            }
        }
    }

private:
    Func columns_transposed(const Func &source, const Expr &extent, const Expr &alpha) {
        Func ahead("ahead"), down("down"), ahead_of_up("ahead_of_up"), up("up"),
            transposed("transposed");
        RDom rows(1, extent - 1, "rows");
        ahead(x, y, c) = source(x, y, c);
        down(x, y, c) = undef<float>();
        down(x, 0, c) = source(x, 0, c);
        down(x, rows, c) = (1 - alpha) * down(x, rows - 1, c) + alpha * ahead(x, rows, c);
        ahead_of_up(x, y, c) = down(x, extent - 1 - y, c);
        up(x, y, c) = undef<float>();
        up(x, 0, c) = down(x, extent - 1, c);
        up(x, rows, c) = (1 - alpha) * up(x, rows - 1, c) + alpha * ahead_of_up(x, rows, c);
        transposed(x, y, c) = up(y, extent - 1 - x, c);
        passes.push_back({ahead, down, ahead_of_up, up, transposed, rows});
        return transposed;
    }
};

}  // namespace tessera::schedules

#define TESSERA_IIR_BLUR(name, count, staged)                                                      \
    namespace tessera::name {                                                                      \
    using namespace apps;                                                                          \
    struct IirBlur : schedules::IirBlur {                                                          \
        using schedules::IirBlur::IirBlur;                                                         \
        void schedule(const Target &) { schedules::IirBlur::schedule(count, staged); }             \
    };                                                                                             \
    }

TESSERA_IIR_BLUR(apart_16, 16, false)
#define apps apart_16
#include "iir_blur/generator.cpp"
#undef apps

TESSERA_IIR_BLUR(apart_32, 32, false)
#define apps apart_32
#include "iir_blur/generator.cpp"
#undef apps

TESSERA_IIR_BLUR(apart_24_staged, 24, true)
#define apps apart_24_staged
#include "iir_blur/generator.cpp"
#undef apps

TESSERA_IIR_BLUR(apart_32_staged, 32, true)
#define apps apart_32_staged
#include "iir_blur/generator.cpp"
#undef apps

TESSERA_IIR_BLUR(apart_64, 64, false)
#define apps apart_64
#include "iir_blur/generator.cpp"
#undef apps
