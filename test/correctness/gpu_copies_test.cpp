// Funcs that are computed by copying between host and device, and functions in C that use buffers
// where they are on the device.
#include "error/refusal.h"

using namespace tessera;

namespace {
std::string seen;
}

// out(x, y) = 3 in(x, y), of buffers whose contents are on the device.
extern "C" inline int triple_there(tessera_buffer_t *in, tessera_buffer_t *out) {
    if (!in->host && !in->device) {
        std::copy_n(out->dim, 2, in->dim);
        return 0;
    }
    seen = str(in->host ? "host " : "no host ", in->device_dirty() ? "dirty " : "clean ",
               out->host ? "host" : "no host");
    if (in->host_dirty() || !in->device || !out->device) return 1;
    Buffer<int> values(out->dim[0].extent, out->dim[1].extent);
    values.set_min(out->dim[0].min, out->dim[1].min);
    if (tessera_device_buffer_copy(nullptr, in, nullptr, values.raw_buffer())) return 2;
    values.for_each_value([](int &v) { v *= 3; });
    values.set_host_dirty();
    return tessera_device_buffer_copy(nullptr, values.raw_buffer(), out->device_interface, out);
}

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), yo("yo");
const Target gpu("host-jit-cuda-interpret"), cpu("host-jit");

std::vector<Target> targets() {
    std::vector<Target> all = {gpu};
    if (host_supports_target_device(Target("host-cuda"))) all.emplace_back("host-jit-cuda");
    return all;
}

Buffer<int> numbers(int width, int height) {
    Buffer<int> b(width, height);
    b.fill([](int i, int j) { return (i * 37 + j * 11) % 101; });
    return b;
}

// 3 f(x, y) + f(x + 1, y + 1), by a kernel.
Func combined(Func f) {
    Func out("out");
    out(x, y) = f(x, y) * 3 + f(x + 1, y + 1);
    out.gpu_tile(x, y, xi, yi, 4, 4, TailStrategy::GuardWithIf);
    return out;
}

void is_combined(Func out, int width, int height, const std::function<int(int, int)> &f) {
    for (const Target &target : targets()) {
        CAPTURE(target.to_string());
        const Buffer<int> found = out.realize({width, height}, target);
        found.for_each_element(
            [&](int i, int j) { REQUIRE(found(i, j) == f(i, j) * 3 + f(i + 1, j + 1)); });
    }
}

void is_refused(Func f, const Target &target, const std::string &why) {
    CHECK_THROWS_WITH_AS(f.realize({8, 8}, target), doctest::Contains(why.c_str()), CompileError);
}

int pixel(int i, int j) { return (i * 37 + j * 11) % 101; }
int plane(int i, int j) { return i * 7 + j; }

}  // namespace

TEST_SUITE("copies between host and device") {
    TEST_CASE("an image is copied to the device") {
        const Buffer<int> in = numbers(24, 18);
        Func copy("copy");
        copy(x, y) = in(x, y);
        Func out = combined(copy);
        copy.compute_root().copy_to_device();
        is_combined(out, 21, 15, pixel);
    }
    TEST_CASE("an image by way of its Func, and of wrappers") {
        const Buffer<int> in = numbers(24, 18);
        ImageParam image(Int(32), 2, "image");
        image.set(in);
        Func copy = image.in();
        Func out("out");
        out(x, y) = image(x, y) * 3 + image(x + 1, y + 1);
        out.gpu_tile(x, y, xi, yi, 4, 4);
        copy.compute_root().copy_to_device();
        is_combined(out, 20, 16, pixel);
    }
    TEST_CASE("what the host computes is copied to the device, and back") {
        Func f("f"), there("there"), twice("twice"), back("back"), out("out");
        f(x, y) = x * 7 + y;
        there(x, y) = f(x, y);
        twice(x, y) = there(x, y) * 2;
        back(x, y) = twice(x, y);
        out(x, y) = back(x, y) + back(x + 1, y);
        f.compute_root();
        there.compute_root().copy_to_device();
        twice.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
        back.compute_root().copy_to_host();
        for (const Target &target : targets()) {
            const Buffer<int> found = out.realize({19, 7}, target);
            found.for_each_element([&](int i, int j) {
                REQUIRE(found(i, j) == 2 * plane(i, j) + 2 * plane(i + 1, j));
            });
        }
    }
    TEST_CASE("what a kernel computes is copied on the device") {
        Func f("f"), copy("copy");
        f(x, y) = x * 7 + y;
        copy(x, y) = f(x, y);
        Func out = combined(copy);
        f.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
        copy.compute_root().copy_to_device();
        is_combined(out, 21, 15, plane);
    }
    TEST_CASE("what changes sides is copied from where it is newest") {
        for (int sides = 0; sides < 8; sides++) {
            CAPTURE(sides);
            Func f("f"), copy("copy");
            f(x, y) = x;
            f(x, y) += x * 6;
            f(x, y) += y;
            copy(x, y) = f(x, y);
            Func out = combined(copy);
            f.compute_root();
            if (sides & 1) f.gpu_tile(x, y, xi, yi, 8, 8);
            f.update(0).unscheduled();
            f.update(1).unscheduled();
            if (sides & 2) f.update(0).gpu_tile(x, y, xi, yi, 8, 8);
            if (sides & 4) f.update(1).gpu_tile(x, y, xi, yi, 8, 8);
            copy.compute_root().copy_to_device();
            is_combined(out, 21, 15, plane);
        }
    }
    TEST_CASE("piece by piece, of what is computed piece by piece") {
        for (bool by_kernel : {false, true}) {
            for (bool copied_to_host : {false, true}) {
                CAPTURE(by_kernel);
                CAPTURE(copied_to_host);
                Func f("f"), copy("copy"), out("out");
                f(x, y) = x * 7 + y;
                copy(x, y) = f(x, y);
                out(x, y) = copy(x, y) * 3 + copy(x + 1, y + 1);
                out.split(y, yo, yi, 4, TailStrategy::GuardWithIf);
                if (!copied_to_host) out.split(x, x, xi, 8).gpu_blocks(x).gpu_threads(xi);
                if (!copied_to_host) out.reorder(xi, x, yi, yo);
                copy.compute_at(out, yo);
                copied_to_host ? copy.copy_to_host() : copy.copy_to_device();
                f.compute_at(out, yo);
                if (by_kernel) f.gpu_tile(x, y, xi, yi, 8, 4);
                is_combined(out, 24, 15, plane);
            }
        }
    }
    TEST_CASE("loops around copies") {
        const Buffer<int> in = numbers(40, 18);
        Func copy("copy");
        copy(x, y) = in(x, y);
        Func out = combined(copy);
        copy.compute_root().copy_to_device().split(y, yo, yi, 5).parallel(yo);
        is_combined(out, 21, 17, pixel);
    }
    TEST_CASE("a fold that slides, and one that is filled while a kernel reads the rest") {
        for (bool async : {false, true}) {
            CAPTURE(async);
            const Buffer<int> in = numbers(24, 18);
            Func copy("copy"), out("out");
            copy(x, y) = in(x, y);
            out(x, y) = copy(x, y) * 3 + copy(x + 1, y + 1);
            out.gpu_tile(x, xi, 8);
            copy.store_root().compute_at(out, y).copy_to_device().fold_storage(y, async ? 4 : 2);
            if (async) copy.async();
            is_combined(out, 16, 17, pixel);
        }
    }
    TEST_CASE("an output is a copy") {
        const Buffer<int> in = numbers(12, 9);
        Func f("f"), out("out");
        f(x, y) = in(x, y) + 1;
        out(x, y) = f(x, y);
        f.compute_root().gpu_tile(x, y, xi, yi, 4, 4);
        for (bool to_device : {false, true}) {
            to_device ? out.copy_to_device() : out.copy_to_host();
            for (const Target &target : targets()) {
                Buffer<int> found(12, 9);
                out.realize(found, target);
                if (target.has_feature(Target::Interpret))
                    CHECK(!found.device_dirty());
                else
                    CHECK(found.device_dirty() == to_device);
                found.copy_to_host();
                for (int i = 0; i < 12; i++) REQUIRE(found(i, 5) == in(i, 5) + 1);
            }
        }
    }
    TEST_CASE("a copy to the host is one without a GPU, too") {
        Func f("f"), out("out");
        f(x, y) = x * 7 + y;
        out(x, y) = f(x, y);
        f.compute_root();
        out.copy_to_host();
        const Buffer<int> found = out.realize({9, 5}, cpu);
        CHECK(found(8, 4) == plane(8, 4));
    }
    TEST_CASE("a Func that is no copy is refused") {
        const Buffer<int> in = numbers(12, 9);
        Func f("f"), g("g");
        f(x, y) = in(x, y) + 1;
        REFUSED(f.copy_to_device(), "copy_to_device of f: it is no copy of another Func or of an "
                                    "image, element by element: its value is image ");
        g(x, y) = f(y, x);
        f.compute_root();
        REFUSED(g.copy_to_host(), "at (x, y) it has the value f(y, x), from another point");
        Func updated("updated"), pair("pair"), c("c");
        updated(x, y) = f(x, y);
        updated(x, 0) += 1;
        REFUSED(updated.copy_to_device(), "it has update definitions");
        pair(x, y) = {f(x, y), 1};
        REFUSED(pair.copy_to_device(), "it has 2 values");
        c.define_extern("nothing", {f}, Int(32), 2);
        REFUSED(c.copy_to_device(), "an extern function computes it");
    }
    TEST_CASE("an update after the directive is refused where that stands") {
        Func f("f"), g("g");
        f(x) = x;
        g(x) = f(x);
        f.compute_root();
        g.copy_to_device(DeviceAPI::Default_GPU, Location("here.cpp", 5));
        g(x) += 1;
        CHECK(refusal([&] { g.realize({8}, gpu); }).starts_with("here.cpp:5: copy_to_device of g"));
    }
    TEST_CASE("one of several values is refused") {
        Func f("f"), g("g");
        f(x, y) = {x, y};
        g(x, y) = f(x, y)[1];
        f.compute_root();
        g.copy_to_host();
        is_refused(g, gpu, "copy_to_host of g: it copies f, which has several values");
    }
    TEST_CASE("copies in a loop that is unrolled") {
        const Buffer<int> in = numbers(24, 18);
        Func copy("copy"), out("out");
        copy(x, y) = in(x, y);
        out(x, y) = copy(x, y) * 3 + copy(x + 1, y + 1);
        out.bound(y, 0, 4).unroll(y).gpu_tile(x, xi, 8);
        copy.compute_at(out, y).copy_to_device();
        is_combined(out, 16, 4, pixel);
    }
    TEST_CASE("what a copy cannot do is refused") {
        Func f("f"), g("g"), out("out");
        f(x, y) = x + y;
        g(x, y) = f(x, y);
        out(x, y) = g(x, y);
        g.compute_root().copy_to_device();
        is_refused(out, gpu,
                   "the copy g reads f, which is computed "
                   "inline and so has no memory");
        f.compute_root();
        is_refused(out, cpu, "copy_to_device of g: the target x86-64");
        out.gpu_tile(x, y, xi, yi, 4, 4);
        g.compute_at(out, x);
        is_refused(out, gpu,
                   "is computed within a kernel, where the host "
                   "cannot copy");
        g.compute_root().vectorize(x, 4);
        is_refused(out, gpu, "vectorize: g is computed by copy_to_device()");
        REFUSED(g.copy_to_device(DeviceAPI::Metal), "no other GPUs than CUDA");
    }
}

TEST_SUITE("functions in C that use the device") {
    Func tripled(const ExternFuncArgument &of) {
        Func f("tripled");
        f.define_extern("triple_there", {of}, Int(32), {x, y}, NameMangling::C, DeviceAPI::CUDA);
        return f;
    }
    void is_plane(Func out, int factor) {
        out.set_jit_externs({{"triple_there", JITExtern(triple_there)}});
        for (const Target &target : targets()) {
            CAPTURE(target.to_string());
            const Buffer<int> found = out.realize({19, 7}, target);
            found.for_each_element(
                [&](int i, int j) { REQUIRE(found(i, j) == factor * plane(i, j)); });
        }
    }
    TEST_CASE("get what kernels have computed, and leave their results there") {
        Func f("f"), out("out");
        f(x, y) = x * 7 + y;
        Func g = tripled(f);
        out(x, y) = g(x, y) * 2;
        f.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
        g.compute_root();
        out.gpu_tile(x, y, xi, yi, 8, 4);
        is_plane(out, 6);
        CHECK(seen == "no host dirty no host");
    }
    TEST_CASE("get what the host has computed, copied") {
        Func f("f"), out("out");
        f(x, y) = x * 7 + y;
        Func g = tripled(f);
        out(x, y) = g(x, y) * 2;
        f.compute_root();
        g.compute_root();
        is_plane(out, 6);
        CHECK(seen == "host clean host");
    }
    TEST_CASE("get images and write outputs") {
        Buffer<int> in(19, 7);
        in.fill(plane);
        is_plane(tripled(in), 3);
        CHECK(seen == "host clean host");
    }
    TEST_CASE("piece by piece") {
        for (bool by_kernel : {false, true}) {
            Func f("f"), out("out");
            f(x, y) = x * 7 + y;
            Func g = tripled(f);
            out(x, y) = g(x, y) * 2;
            f.compute_root();
            if (by_kernel) f.gpu_tile(x, y, xi, yi, 8, 4);
            out.gpu_tile(x, xi, 8);
            g.compute_at(out, y);
            is_plane(out, 6);
        }
    }
    TEST_CASE("a function of the host gets what another has left on the device") {
        Func f("f"), out("out");
        f(x, y) = x * 7 + y;
        f.compute_root();
        Func g = tripled(f), h = tripled(g);
        g.compute_root();
        out(x, y) = h(x, y) + g(x, y);
        h.compute_root();
        is_plane(out, 12);
    }
    TEST_CASE("a target without a GPU has none") {
        Func f("f");
        f(x, y) = x;
        f.compute_root();
        is_refused(tripled(f), cpu, "define_extern of tripled: the target");
    }
}
