#include "gpu/gemm_steps.h"
#include "gpu/card.h"
#include "gpu/graph_clock.h"
#include "gpu/tensor_problem.h"

#include <algorithm>
#include <cstdio>
#include <random>

namespace tessera::bench {

namespace {

constexpr int size = 4096;

// The lines of docs/tensor_cores.md; a step has those before it as well.
enum Step { Threads, Mma, Staged, Ahead, Wgmma, Wide, Grouped, Persistent, step_count };
const char *const step_names[] = {
    "a thread for each element",     "tensorize, MMA: warps of 64 x 64 in blocks of 128 x 128",
    "operands in GPUShared",         "async().ring_buffer(4)",
    "WGMMA, warpgroups of 64 x 128", "blocks of 128 x 256",
    "gpu_order(grouped(16))",        "warp_specialize().persistent()",
};

struct Product {
    ImageParam a{Float(16), 2, "a"}, b{Float(16), 2, "b"};
    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"}, wx{"wx"}, wy{"wy"}, w{"w"};
    RDom k{0, size, "k"};
    RVar ko{"ko"}, ki{"ki"};
    Func product{"product"}, out{"out"};

    explicit Product(Step step) {
        product(x, y) += cast<float>(a(k, y)) * cast<float>(b(k, x));
        out(x, y) = cast<float16_t>(product(x, y));
        out.bound(x, 0, size).bound(y, 0, size);
        if (step == Threads) {
            out.gpu_tile(x, y, xi, yi, 32, 8);
            return;
        }
        out.tile(x, y, xi, yi, step < Wide ? 128 : 256, 128).gpu_blocks(x, y);
        product.compute_at(out, x).store_in(MemoryType::Tile);
        Stage update = product.update();
        if (step < Wgmma)
            with_warps(update);
        else
            with_warpgroups(update);
        if (step >= Grouped) out.gpu_order(grouped(16));
        if (step >= Persistent) out.warp_specialize().persistent();
        if (step < Staged) return;
        for (Func staged : {a.in(), b.in()}) {
            staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
            if (step >= Ahead)
                staged.async().ring_buffer(4);
            else
                copy_by_threads(staged);
        }
    }

private:
    void with_warps(Stage &update) {
        out.tile(xi, yi, wx, wy, xi, yi, 64, 64).gpu_warps(wx, wy);
        product.tile(x, y, wx, wy, x, y, 64, 64).gpu_warps(wx, wy);
        update.split(k, ko, ki, 32).tile(x, y, wx, wy, x, y, 64, 64);
        update.reorder({ki, x, y, wx, wy, ko}).gpu_warps(wx, wy);
        update.tensorize(x, y, ki, TensorInstruction::MMA);
    }
    void with_warpgroups(Stage &update) {
        out.gpu_warpgroups(yi, 64);
        product.gpu_warpgroups(y, 64);
        update.split(k, ko, ki, 64).split(y, w, y, 64).reorder({ki, x, y, w, ko});
        update.gpu_warpgroups(w).tensorize(x, y, ki, TensorInstruction::WGMMA);
    }
    // By vectors of 16 bytes; the block has 2 x 2 warps.
    static void copy_by_threads(Func f) {
        Var v("v"), t("t"), lane("lane"), u("u"), z("z");
        const std::vector<Var> args = f.args();
        f.split(args[0], t, v, 8).vectorize(v).fuse(t, args[1], t);
        f.split(t, t, lane, 32).split(t, t, u, 2).split(t, t, z, 2).gpu_threads(lane, u, z);
    }
};

}  // namespace

int run_gemm_steps(int rounds) {
    GraphClock clock;
    std::printf("%s\n", name_of_card().c_str());
    TensorProblem problem{"f16", {size, size, size, 1, false, true}};
    TensorOperands operands(problem);
    CublasLt cublas_lt;
    struct Timed {
        const char *name;
        void *graph;
        int calls;
        std::vector<double> us;
    };
    std::vector<Timed> all;
    bool right = true;
    const auto add = [&](const char *name, const std::function<void(int)> &call) {
        call(0);
        clock.wait();
        const double error = operands.error();
        right = right && error < 2e-2;
        if (!(error < 2e-2)) std::printf("%s: the result is wrong, %.1e\n", name, error);
        const auto graph_of = [&](int calls) {
            return clock.capture([&] {
                for (int i = 0; i < calls; i++) call(i);
            });
        };
        const int calls = clock.microseconds(graph_of(1)) > 2000 ? 1 : 8;
        all.push_back({name, graph_of(calls), calls, {}});
    };
    if (cublas_lt.is_there()) {
        const CublasLt::Call call = cublas_lt.prepare(problem.product);
        add("cuBLASLt", [&, call](int i) { operands.call(call, i, clock.stream()); });
    }
    for (int step = 0; step < step_count; step++) {
        try {
            Product p{Step(step)};
            const Callable callable = Pipeline(p.out).compile_to_callable(
                {p.a, p.b}, Target("host-cuda-cuda_capability_90"));
            add(step_names[step], [&, callable](int i) { operands.call(callable, i); });
        } catch (const std::exception &e) {
            std::printf("%s: FAILED: %s\n", step_names[step], e.what());
        }
    }
    std::mt19937 random(7);
    std::vector<Timed *> order;
    for (Timed &t : all) order.push_back(&t);
    for (int round = 0; round < rounds; round++) {
        std::shuffle(order.begin(), order.end(), random);
        for (Timed *t : order) t->us.push_back(clock.microseconds(t->graph) / t->calls);
    }
    for (Timed &t : all) {
        std::sort(t.us.begin(), t.us.end());
        const double us = t.us[t.us.size() / 2];
        std::printf("%-58s %9.1f us %6.0f TFLOP/s\n", t.name, us, problem.operations() / us / 1e6);
    }
    return right ? 0 : 1;
}

}  // namespace tessera::bench
