// Products of matrices whose loops are given to tensor cores by a mapping.
#include "error/refusal.h"

using namespace tessera;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), w("w");

std::vector<Target> targets() {
    std::vector<Target> all = {Target("host-jit-cuda-cuda_capability_90-interpret")};
    const Target gpu("host-jit-cuda");
    if (host_supports_target_device(gpu)) all.push_back(gpu);
    return all;
}

}  // namespace

TEST_SUITE("mappings") {
    TEST_CASE("the mapping of a product in tiles computes it") {
        const int size = 64;
        Buffer<float16_t> a(size, size), b(size, size);
        a.for_each_element([&](int i, int j) { a(i, j) = float16_t(float((i * 7 + j) % 11 - 5)); });
        b.for_each_element([&](int i, int j) { b(i, j) = float16_t(float((i + j * 3) % 7 - 3)); });
        ImageParam of_a(Float(16), 2, "a"), of_b(Float(16), 2, "b");
        of_a.set(a);
        of_b.set(b);
        Func product("product"), out("out");
        const RDom k(0, size, "k");
        RVar ko("ko"), ki("ki");
        product(x, y) += cast<float>(of_a(k, y)) * cast<float>(of_b(x, k));
        out(x, y) = product(x, y);
        out.tile(x, y, xi, yi, 32, 32).gpu_blocks(x, y).split(yi, w, yi, 16).gpu_warps(w);
        product.compute_at(out, x).store_in(MemoryType::Tile).split(y, w, y, 16).gpu_warps(w);
        Stage update = product.update();
        update.split(k, ko, ki, 32).split(y, w, y, 16).reorder({ki, x, y, w, ko}).gpu_warps(w);
        for (Func staged : {of_a.in(), of_b.in()}) {
            staged.compute_at(product, ko).store_in(MemoryType::GPUShared);
            staged.async().ring_buffer(2);
        }
        MappingOptions options;
        options.fixed = {ko};
        const std::vector<Mapping> mappings =
            possible_mappings(product, TensorInstruction::MMA, options);
        REQUIRE(mappings.size() == 1);
        CHECK(str(mappings[0]) == "map({y}, {x}, {ki})");
        update.tensorize(mappings[0], TensorInstruction::MMA);
        for (const Target &target : targets()) {
            CAPTURE(target.to_string());
            const Buffer<float> result = out.realize({size, size}, target);
            result.for_each_element([&](int i, int j) {
                float sum = 0;
                for (int l = 0; l < size; l++) sum += float(a(l, j)) * float(b(i, l));
                REQUIRE(result(i, j) == sum);
            });
        }
    }
}
