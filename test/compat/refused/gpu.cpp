#include "../program.h"

// What a GPU cannot do, or would do wrong.
namespace {

Var x("x"), y("y"), z("z"), w("w"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
const Target gpu("host-cuda-interpret");

Func numbers(const char *name = "f") {
    Func f(name);
    f(x, y) = x + y * 3;
    return f;
}
// g reads f beside itself.
Func consumer(Func f) {
    Func g("g");
    g(x, y) = f(x, y) + f(x + 1, y);
    return g;
}

}  // namespace

REFUSED(gpu_four_loops_over_blocks, "gpu_blocks: the loop w of f is within three other loops over "
                                    "blocks; three are the most") {
    Func f("f");
    Var v("v");
    f(x, y, z, v, w) = x;
    f.reorder(w, x, y, z, v).gpu_blocks(w).gpu_blocks(x, y, z);
    f.realize({2, 2, 2, 2, 2}, gpu);
}
REFUSED(gpu_four_loops_over_threads, "is within three other loops over threads; three of threads") {
    Func f("f");
    Var v("v");
    f(x, y, z, v, w) = x;
    f.gpu_blocks(w).gpu_threads(x, y, z).gpu_threads(v);
    f.realize({2, 2, 2, 2, 2}, gpu);
}
REFUSED(gpu_storage_between_blocks, "loops over blocks stand directly within one another") {
    Func f = numbers(), g = consumer(f);
    g.gpu_blocks(x, y);
    f.compute_at(g, y);
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_serial_between_blocks, "between it and the loop over blocks outside of it there is") {
    Func f("f");
    f(x, y, z) = x;
    f.gpu_blocks(x, z);
    f.realize({4, 4, 4}, gpu);
}
REFUSED(gpu_blocks_within_threads, "gpu_threads: the loop y of f is in no loop over blocks") {
    Func f = numbers();
    f.gpu_blocks(x).gpu_threads(y);
    f.realize({8, 8}, gpu);
}
REFUSED(gpu_blocks_within_a_kernel, "over blocks is within a kernel") {
    Func f = numbers(), g = consumer(f);
    g.gpu_tile(x, y, xo, yo, xi, yi, 4, 4);
    f.compute_at(g, xo).gpu_blocks(y).gpu_threads(x);
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_threads_without_blocks, "gpu_threads: the loop x of f is in no loop over blocks") {
    Func f = numbers();
    f.gpu_threads(x);
    f.realize({8, 8}, gpu);
}
REFUSED(gpu_threads_within_lanes, "over threads is within a loop over lanes") {
    Func f = numbers();
    f.split(x, xo, xi, 4).reorder(xi, y, xo).gpu_blocks(xo).gpu_lanes(y).gpu_threads(xi);
    f.realize({8, 8}, gpu);
}
REFUSED(gpu_lanes_within_lanes, "over lanes is within another loop over lanes") {
    Func f = numbers();
    f.split(x, xo, xi, 4).split(y, yo, yi, 4).reorder(xi, yi, xo, yo);
    f.gpu_blocks(xo, yo).gpu_lanes(xi).gpu_lanes(yi);
    f.realize({8, 8}, gpu);
}
REFUSED(gpu_threads_in_an_update, "gpu_threads: the loop x of f is in no loop over blocks") {
    Func f = numbers();
    f(x, y) += 1;
    f.gpu_tile(x, y, xi, yi, 4, 4);
    f.update().gpu_threads(x);
    f.realize({8, 8}, gpu);
}
REFUSED(gpu_threads_in_a_specialization, "is in no loop over blocks") {
    Param<bool> p("p");
    Func f = numbers();
    f.specialize(p).gpu_threads(x);
    p.set(true);
    f.realize({8, 8}, gpu);
}
REFUSED(gpu_threads_within_threads_of_a_consumer,
        "computes a Func within a loop over threads of a consumer") {
    Func f = numbers(), g = consumer(f);
    g.gpu_tile(x, y, xo, yo, xi, yi, 4, 4);
    f.compute_at(g, yi).gpu_threads(x);
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_race, "may write an element that others read or write; call atomic() first") {
    Func f("f");
    RDom r(0, 32);
    f(x) = 0;
    f(x) += r;
    f.gpu_blocks(x);
    f.update().reorder(r, x).gpu_blocks(x).gpu_threads(r);
    f.realize({8}, gpu);
}
REFUSED(gpu_stored_outside_of_blocks,
        "f is stored outside of the gpu_thread loop xi of g and computed inside of it") {
    Func f = numbers(), g = consumer(f);
    g.gpu_tile(x, y, xo, yo, xi, yi, 4, 4);
    f.store_at(g, xo).compute_at(g, xi);
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_async, "async of f: it is computed within a kernel") {
    Func f = numbers(), g = consumer(f);
    g.gpu_tile(x, y, xo, yo, xi, yi, 4, 4);
    f.compute_at(g, xo).gpu_threads(x).async();
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_parallel, "is within a kernel, whose blocks and threads are what is parallel") {
    Func f = numbers();
    f.gpu_blocks(y).parallel(x);
    f.realize({8, 8}, gpu);
}
HalideExtern_1(int, putchar, int);
REFUSED(gpu_effects, "the C function putchar is called within a kernel") {
    Func f("f");
    f(x) = putchar(x);
    f.gpu_tile(x, xi, 4);
    f.realize({8}, gpu);
}
REFUSED(gpu_trace, "trace cannot be done within a kernel") {
    Func f = numbers();
    f.gpu_tile(x, y, xi, yi, 4, 4).trace_stores();
    f.compile_to_assembly("/dev/null", {}, Target("host-cuda"));
}
REFUSED(gpu_shared_memory_at_root, "is the memory of the threads of one block") {
    Func f = numbers(), g = consumer(f);
    g.gpu_tile(x, y, xi, yi, 4, 4);
    f.compute_root().store_in(MemoryType::GPUShared).gpu_tile(x, y, xi, yi, 4, 4);
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_registers_of_a_block, "is private to each thread") {
    Func f = numbers(), g = consumer(f);
    g.gpu_tile(x, y, xo, yo, xi, yi, 4, 4);
    f.compute_at(g, xo).store_in(MemoryType::Register).gpu_threads(x, y);
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_textures, "GPUTexture is no memory of a CPU") {
    Func f = numbers(), g = consumer(f);
    g.gpu_tile(x, y, xi, yi, 4, 4);
    f.compute_root().store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 4, 4);
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_registers_of_unknown_size, "f cannot be stored in registers") {
    Param<int> n("n");
    n.set(3);
    RDom r(0, n);
    Func f = numbers(), g("g");
    g(x, y) = 0;
    g(x, y) += f(x + r, y);
    g.gpu_tile(x, y, xo, yo, xi, yi, 4, 4);
    g.update().gpu_tile(x, y, xo, yo, xi, yi, 4, 4);
    f.compute_at(g, xi).store_in(MemoryType::Register);
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_extern_function, "where functions of the host cannot be called") {
    Func f("f"), g("g");
    f.define_extern("gpu_extern_function_of_c", {}, Int(32), 1);
    g(x) = f(x);
    g.gpu_tile(x, xo, xi, 4);
    f.compute_at(g, xo);
    g.realize({8}, gpu);
}
REFUSED(gpu_atomic_of_a_tuple, "an update that takes a mutex cannot be done within a kernel") {
    Func f("f");
    RDom r(0, 32);
    f(x) = {0, 0};
    f(r % 8) = {f(r % 8)[1] + 1, f(r % 8)[0] + r};
    f.gpu_blocks(x);
    f.update().atomic(true).gpu_blocks(r);
    f.compile_to_assembly("/dev/null", {}, Target("host-cuda"));
}
REFUSED(gpu_of_another_kind, "there is a back end for no other GPUs than CUDA") {
    Func f = numbers();
    f.gpu_tile(x, y, xi, yi, 4, 4, TailStrategy::Auto, DeviceAPI::Vulkan);
    f.realize({8, 8}, gpu);
}
REFUSED(gpu_blend_of_tails, "so the loop x cannot be gpu_block") {
    Func f = numbers();
    f(x, y) += 1;
    f.update().gpu_tile(x, y, xi, yi, 4, 4, TailStrategy::ShiftInwardsAndBlend);
    f.realize({8, 8}, gpu);
}
REFUSED(gpu_copy_to_device, "it is no copy of another Func or of an image, element by element") {
    Func f = numbers(), g("g");
    g(x, y) = f(x, y) + 1;
    f.compute_root();
    g.copy_to_device();
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_copy_of_what_is_inlined, "computed inline and so has no memory") {
    Func f = numbers(), g("g");
    g(x, y) = f(x, y);
    g.copy_to_host();
    g.realize({8, 8}, gpu);
}
REFUSED(gpu_copy_without_a_device, "has no GPU; add the feature cuda to it") {
    Func f = numbers();
    f.compute_root();
    f.in().compute_root().copy_to_device();
    Func g("g");
    g(x, y) = f(x, y);
    g.realize({8, 8}, get_host_target());
}
REFUSED(gpu_extern_on_a_device, "has no GPU; add the feature cuda to it") {
    Func f("f"), g("g");
    f.define_extern("gpu_extern_function_of_c", {}, Int(32), 1, NameMangling::Default,
                    DeviceAPI::CUDA);
    g(x) = f(x);
    f.compute_root();
    g.realize({8}, get_host_target());
}
REFUSED(gpu_extern_on_another_device, "no other GPUs than CUDA") {
    Func f("f");
    f.define_extern("gpu_extern_function_of_c", {}, Int(32), 1, NameMangling::Default,
                    DeviceAPI::OpenCL);
}
