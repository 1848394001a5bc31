#pragma once
#include "bindings.h"
#include "docs/gpu_directives.h"

namespace tessera::python {

// Returns true for a TailStrategy, or a list of some.
inline bool is_tail(nb::handle h) {
    if (nb::isinstance<TailStrategy>(h)) return true;
    const std::vector<nb::object> list = items(h);
    return is_tuple(h) && !list.empty() && nb::isinstance<TailStrategy>(list[0]);
}

inline TailStrategy to_tail(nb::handle h) {
    if (nb::isinstance<TailStrategy>(h)) return nb::cast<TailStrategy>(h);
    refuse(h, str("a ", class_of(h), " is no TailStrategy, such as TailStrategy.RoundUp"));
}

// Holds what a directive for GPUs is given: loops, sizes, and then perhaps a tail and a device.
struct GPUArguments {
    // Sizes stand after the loops, where there are some.
    GPUArguments(nb::args args, nb::kwargs kwargs, bool has_sizes) {
        size_t i = 0;
        const auto ends = [](nb::handle h) {
            return nb::isinstance<TailStrategy>(h) || nb::isinstance<DeviceAPI>(h);
        };
        const auto is_size = [](nb::handle h) {
            return PyLong_Check(h.ptr()) || nb::isinstance<Expr>(h) || nb::isinstance<Param<>>(h);
        };
        while (i < args.size() && !ends(args[i]) && !(has_sizes && is_size(args[i])))
            loops.push_back(to_loop(args[i++]));
        while (i < args.size() && !ends(args[i])) sizes.push_back(to_expr(args[i++]));
        for (; i < args.size(); i++) set(args[i]);
        for (auto [name, value] : kwargs) {
            if (ends(value))
                set(value);
            else if (has_sizes && is_size(value))
                sizes.push_back(to_expr(value));
            else
                loops.push_back(to_loop(value));
        }
    }
    std::vector<VarOrRVar> loops;
    std::vector<Expr> sizes;
    TailStrategy tail = TailStrategy::Auto;
    DeviceAPI api = DeviceAPI::Default_GPU;

private:
    void set(nb::handle h) {
        if (nb::isinstance<TailStrategy>(h))
            tail = nb::cast<TailStrategy>(h);
        else
            api = nb::cast<DeviceAPI>(h);
    }
};

// The directives that name one to three loops.
template<typename C> void gpu_blocks(C &s, const GPUArguments &g, const Location &at) {
    const auto &v = g.loops;
    if (v.size() == 1) return void(s.gpu_blocks(v[0], g.api, at));
    if (v.size() == 2) return void(s.gpu_blocks(v[0], v[1], g.api, at));
    if (v.size() == 3) return void(s.gpu_blocks(v[0], v[1], v[2], g.api, at));
    throw nb::type_error("gpu_blocks takes one to three loops");
}
template<typename C> void gpu_threads(C &s, const GPUArguments &g, const Location &at) {
    const auto &v = g.loops;
    if (v.size() == 1) return void(s.gpu_threads(v[0], g.api, at));
    if (v.size() == 2) return void(s.gpu_threads(v[0], v[1], g.api, at));
    if (v.size() == 3) return void(s.gpu_threads(v[0], v[1], v[2], g.api, at));
    throw nb::type_error("gpu_threads takes one to three loops");
}
template<typename C> void gpu_clusters(C &s, const GPUArguments &g, const Location &at) {
    const auto &v = g.loops;
    if (v.size() == 1) return void(s.gpu_clusters(v[0], at));
    if (v.size() == 2) return void(s.gpu_clusters(v[0], v[1], at));
    if (v.size() == 3) return void(s.gpu_clusters(v[0], v[1], v[2], at));
    throw nb::type_error("gpu_clusters takes one to three loops");
}
template<typename C> void gpu_warps(C &s, const GPUArguments &g, const Location &at) {
    const auto &v = g.loops;
    if (v.size() == 1) return void(s.gpu_warps(v[0], at));
    if (v.size() == 2) return void(s.gpu_warps(v[0], v[1], at));
    throw nb::type_error("gpu_warps takes one or two loops");
}
template<typename C> void gpu(C &s, const GPUArguments &g, const Location &at) {
    const auto &v = g.loops;
    if (v.size() == 2) return void(s.gpu(v[0], v[1], g.api, at));
    if (v.size() == 4) return void(s.gpu(v[0], v[1], v[2], v[3], g.api, at));
    if (v.size() == 6) return void(s.gpu(v[0], v[1], v[2], v[3], v[4], v[5], g.api, at));
    throw nb::type_error("gpu takes one to three loops over blocks, and as many over threads");
}
template<typename C> void gpu_tile(C &s, const GPUArguments &g, const Location &at) {
    const auto &v = g.loops;
    const auto &n = g.sizes;
    if (n.size() == 1 && v.size() == 2)
        return void(s.gpu_tile(v[0], v[1], n[0], g.tail, g.api, at));
    if (n.size() == 1 && v.size() == 3)
        return void(s.gpu_tile(v[0], v[1], v[2], n[0], g.tail, g.api, at));
    if (n.size() == 2 && v.size() == 4)
        return void(s.gpu_tile(v[0], v[1], v[2], v[3], n[0], n[1], g.tail, g.api, at));
    if (n.size() == 2 && v.size() == 6)
        return void(s.gpu_tile(v[0], v[1], v[2], v[3], v[4], v[5], n[0], n[1], g.tail, g.api, at));
    if (n.size() == 3 && v.size() == 6)
        return void(
            s.gpu_tile(v[0], v[1], v[2], v[3], v[4], v[5], n[0], n[1], n[2], g.tail, g.api, at));
    if (n.size() == 3 && v.size() == 9)
        return void(s.gpu_tile(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], n[0], n[1],
                               n[2], g.tail, g.api, at));
    throw nb::type_error("gpu_tile takes loops, blocks (or none) and threads, and then a size, for "
                         "each of one to three dimensions");
}

template<typename C> void define_gpu_loops(nb::class_<C> &c) {
    struct OfLoops {
        const char *name;
        void (*apply)(C &, const GPUArguments &, const Location &);
        bool has_sizes;
        const char *doc;
    };
    static const OfLoops of_loops[] = {
        {"gpu_blocks", &gpu_blocks<C>, false, docs::gpu::gpu_blocks},
        {"gpu_threads", &gpu_threads<C>, false, docs::gpu::gpu_threads},
        {"gpu_clusters", &gpu_clusters<C>, false, docs::gpu::gpu_clusters},
        {"gpu_warps", &gpu_warps<C>, false, docs::gpu::gpu_warps},
        {"gpu", &gpu<C>, false, docs::gpu::gpu},
        {"gpu_tile", &gpu_tile<C>, true, docs::gpu::gpu_tile},
    };
    for (const OfLoops &d : of_loops) {
        c.def(
            d.name,
            [&d](C &s, nb::args args, nb::kwargs kwargs) -> C & {
                d.apply(s, GPUArguments(args, kwargs, d.has_sizes), here());
                return s;
            },
            nb::rv_policy::none, d.doc);
    }
}

// Defines the directives for GPUs.
template<typename C> void define_gpu_directives(nb::class_<C> &c) {
    constexpr auto same = nb::rv_policy::none;
    define_gpu_loops(c);
    c.def(
         "gpu_lanes",
         [](C &s, const LoopVar &v, DeviceAPI api) -> C & {
             return s.gpu_lanes(v.get(), api, here());
         },
         "thread_x"_a, "device_api"_a = DeviceAPI::Default_GPU, same, docs::gpu::gpu_lanes)
        .def(
            "gpu_warpgroups",
            [](C &s, const LoopVar &v, std::optional<ExprLike> iterations) -> C & {
                return iterations ? s.gpu_warpgroups(v.get(), iterations->get(), here())
                                  : s.gpu_warpgroups(v.get(), here());
            },
            "var"_a, "iterations"_a = nb::none(), same, docs::gpu::gpu_warpgroups)
        .def(
            "gpu_order",
            [](C &s, const GPUOrder &order) -> C & { return s.gpu_order(order, here()); },
            "order"_a, same, docs::gpu::gpu_order)
        .def(
            "gpu_single_thread",
            [](C &s, DeviceAPI api) -> C & { return s.gpu_single_thread(api, here()); },
            "device_api"_a = DeviceAPI::Default_GPU, same, docs::gpu::gpu_single_thread)
        .def(
            "gpu_resident_blocks",
            [](C &s, const ExprLike &blocks) -> C & {
                return s.gpu_resident_blocks(blocks, here());
            },
            "blocks"_a, same, docs::gpu::gpu_resident_blocks)
        .def(
            "persistent",
            [](C &s, const ExprLike &blocks) -> C & { return s.persistent(blocks, here()); },
            "blocks"_a = 1, same, docs::gpu::persistent)
        .def(
            "warp_specialize",
            [](C &s, const ExprLike &producer_registers,
               const ExprLike &consumer_registers) -> C & {
                return s.warp_specialize(producer_registers, consumer_registers, here());
            },
            "producer_registers"_a = 0, "consumer_registers"_a = 0, same,
            docs::gpu::warp_specialize)
        .def(
            "ping_pong", [](C &s) -> C & { return s.ping_pong(here()); }, same,
            docs::gpu::ping_pong)
        .def(
            "tensorize",
            [](C &s, nb::args loops, const TensorInstruction &instruction) -> C & {
                if (loops.size() == 1 && nb::isinstance<Mapping>(loops[0]))
                    return s.tensorize(nb::cast<const Mapping &>(loops[0]), instruction, here());
                const std::vector<VarOrRVar> v = to_loops(loops);
                if (v.size() == 1) return s.tensorize(v[0], instruction, here());
                if (v.size() == 3) return s.tensorize(v[0], v[1], v[2], instruction, here());
                throw nb::type_error(
                    "tensorize takes columns, rows and sum, one of them, or a map() of loops");
            },
            "loops"_a, "instruction"_a, same, docs::gpu::tensorize);
}

}  // namespace tessera::python
