#include "../program.h"

REFUSED(memoize) {
    Func f, g;
    Var x;
    f(x) = x;
    g(x) = f(x);
    f.compute_root().memoize();
    g.realize({4});
}
REFUSED(compute_with) {
    Func f, g, h;
    Var x;
    f(x) = x;
    g(x) = 2 * x;
    h(x) = f(x) + g(x);
    f.compute_root();
    g.compute_root().compute_with(f, x, LoopAlignStrategy::AlignStart);
    h.realize({4});
}
REFUSED(debug_to_file) {
    Func f, g;
    Var x;
    f(x) = x;
    g(x) = f(x);
    f.compute_root().debug_to_file("/tmp/w.tmp");
    g.realize({4});
}
REFUSED(gpu_on_cpu) {
    Func f;
    Var x, y, xi, yi;
    f(x, y) = x;
    f.gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::Auto, DeviceAPI::CUDA);
    f.realize({10, 10});
}
REFUSED(autoscheduler) {
    Func f;
    Var x;
    f(x) = x;
    Pipeline(f).apply_autoscheduler(get_host_target(),
                                    AutoschedulerParams("Mullapudi2016", {{"parallelism", "8"}}));
}
REFUSED(gradients) {
    Func f;
    Var x;
    Buffer<float> in(10);
    f() = 0.0f;
    RDom r(0, 10);
    f() += in(r)*in(r);
    Derivative d = propagate_adjoints(f);
    Func g = d(in);
}
REFUSED(plugin) { load_plugin("autoschedule_adams2019"); }
