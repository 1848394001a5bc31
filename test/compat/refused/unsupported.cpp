#include "../program.h"

REFUSED(memoize, "memoize: keeping results from one call to the next") {
    Func f, g;
    Var x;
    f(x) = x;
    g(x) = f(x);
    f.compute_root().memoize();
    g.realize({4});
}
REFUSED(compute_with, "compute_with: loops of several stages cannot be joined yet") {
    Func f, g, h;
    Var x;
    f(x) = x;
    g(x) = 2 * x;
    h(x) = f(x) + g(x);
    f.compute_root();
    g.compute_root().compute_with(f, x, LoopAlignStrategy::AlignStart);
    h.realize({4});
}
REFUSED(debug_to_file, "debug_to_file: writing intermediate values to files") {
    Func f, g;
    Var x;
    f(x) = x;
    g(x) = f(x);
    f.compute_root().debug_to_file("w.tmp");
    g.realize({4});
}
REFUSED(gpu_on_cpu, "has no GPU") {
    Func f;
    Var x, y, xi, yi;
    f(x, y) = x;
    f.gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::Auto, DeviceAPI::CUDA);
    f.realize({10, 10});
}
REFUSED(autoscheduler, "there is no autoscheduler \"Anderson2021\"") {
    Func f;
    Var x;
    f(x) = x;
    Pipeline(f).apply_autoscheduler(get_host_target(),
                                    AutoschedulerParams("Anderson2021", {{"parallelism", "8"}}));
}
REFUSED(autoscheduler_without_estimates, "the size of the output guessed has to be estimated") {
    Func f("guessed");
    Var x;
    f(x) = x;
    Pipeline(f).apply_autoscheduler(get_host_target(),
                                    AutoschedulerParams("Mullapudi2016", {{"parallelism", "8"}}));
}
REFUSED(gradients, "propagate_adjoints: derivatives of Funcs are not supported yet") {
    Func f;
    Var x;
    Buffer<float> in(10);
    f() = 0.0f;
    RDom r(0, 10);
    f() += in(r)*in(r);
    Derivative d = propagate_adjoints(f);
    Func g = d(in);
}
REFUSED(plugin, "the plugin autoschedule_adams2019 cannot be loaded") {
    load_plugin("autoschedule_adams2019");
}
