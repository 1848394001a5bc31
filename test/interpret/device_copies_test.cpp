#include "interpret/device_copies.h"
#include "interpret/statement.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "lower/gpu/device_copies.h"
#include <array>
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::lower;

namespace {

constexpr const char *header =
    "module \"m\"\nfunc \"p\"(src: input int32[1], out: output int32[1] of out):\n";

ir::Stmt placed(const std::string &body) {
    ir::Module m = ir::parse_module(header + body);
    Context context;
    context.target = Target("host-cuda-no_asserts");
    return place_device_copies(m.functions[0], context);
}

// The copies and marks, in order: ">src" to the device, "<out" to the host, "+out" written here,
// "*out" written there, "loop" and "kernel" for what stands between.
std::string order_of(const std::string &body) {
    const std::string text = ir::to_string(placed(body));
    std::string order;
    const std::pair<const char *, const char *> words[] = {
        {"copy_to_device(", ">"},  {"copy_to_host(", "<"},    {"mark_device_dirty(", "*"},
        {"mark_host_dirty(", "+"}, {"device_part(", "part "}, {"device_buffer_copy(", "copy "},
        {"on_device(", "call "}};
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        begin = end + 1;
        if (line.find("gpu_block") != std::string::npos)
            order += "kernel ";
        else if (line.find("for ") != std::string::npos)
            order += "loop ";
        if (line.find("let ") != std::string::npos &&
            line.find("device_buffer(") != std::string::npos)
            order += "buffer ";
        if (line.find("mark_host_dirty(src") != std::string::npos) continue;
        for (const auto &[word, sign] : words) {
            const size_t at = line.find(word);
            if (at == std::string::npos) continue;
            const size_t name = at + std::string(word).size();
            order += sign + line.substr(name, line.find_first_of(",:)", name) - name) + " ";
        }
    }
    return order;
}

// Runs it on the numbers 0 to 31; -1 where nothing is written. `without`: the first statement with
// this text is left out.
std::vector<int32_t> run(const std::string &body, const std::string &without = "") {
    std::string text = ir::to_string(placed(body)), indented;
    bool is_left_out = without.empty();
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        begin = end + 1;
        const size_t at = line.find(without);
        if (!is_left_out && at != std::string::npos) {
            is_left_out = true;
            const std::string before = "    " + line.substr(0, line.find_first_not_of(' '));
            const size_t let = line.find(" = ");
            const bool is_let = line.find("let ") != std::string::npos;
            indented += is_let ? "    " + line.substr(0, let) + " = 0:\n" : before + "no_op\n";
            continue;
        }
        indented += "    " + line + "\n";
    }
    REQUIRE(is_left_out);
    std::vector<int32_t> in(32), out(32, -1);
    for (int i = 0; i < 32; i++) in[size_t(i)] = i;
    tessera_dimension_t dim{0, 32, 1, 0};
    std::array<tessera_buffer_t, 2> buffers = {};
    for (size_t i = 0; i < 2; i++) {
        buffers[i].host = reinterpret_cast<uint8_t *>(i ? out.data() : in.data());
        buffers[i].type = {tessera_type_int, 32, 1};
        buffers[i].dimensions = 1;
        buffers[i].dim = &dim;
    }
    CAPTURE(indented);
    const ir::Module m = ir::parse_module(header + indented);
    void *args[] = {buffers.data(), &buffers[1]};
    const int code = interpret::run_statement(m.functions[0], args);
    CHECK(code == 0);
    return out;
}

// A buffer of all of this one's elements.
std::string part_of(const std::string &buffer) {
    return "let " + buffer + "_part = make_buffer(address_of(" + buffer +
           "[0]), 0, 32, 1, 0, 32, 1):\n";
}
std::string copied_to(const std::string &device) {
    return "    " + part_of("f") + "        " + part_of("g") +
           "            let e = device_buffer_copy(f_part, g_part, " + device +
           "):\n                assert e == 0, e\n";
}

// f on the host, g and out on the device.
const std::string chain = "    allocate f: int32[32] in Heap\n"
                          "    for i in [0, +32): f[i] = src[i] + 1\n"
                          "    allocate g: int32[32] in Heap\n"
                          "    gpu_block for b in [0, +32): g[b] = f[b] * 2\n"
                          "    gpu_block for b in [0, +32): out[b] = g[b] + src[b]\n";

}  // namespace

TEST_SUITE("device copies") {
    TEST_CASE("a buffer is copied to the side that uses it next") {
        CHECK(order_of(chain) ==
              "<src >src >out buffer <f loop +f >f buffer >g kernel kernel *g *out ");
    }
    TEST_CASE("what only kernels use has no memory on the host") {
        const std::string text = ir::to_string(placed(chain));
        CHECK(text.find("allocate g: int32[32] in Heap if false") != std::string::npos);
        CHECK(text.find("allocate f: int32[32] in Heap if") == std::string::npos);
    }
    TEST_CASE("a loop whose buffers stay on one side has no copies within it") {
        CHECK(order_of("    for i in [0, +4): gpu_block for b in [0, +8):\n"
                       "        out[i*8 + b] = src[i*8 + b]\n") == ">src >out loop kernel *out ");
    }
    TEST_CASE("a loop whose buffers change sides has them where they change") {
        CHECK(order_of("    allocate f: int32[8] in Heap\n"
                       "    for i in [0, +4):\n"
                       "        for j in [0, +8): f[j] = i + j\n"
                       "        gpu_block for b in [0, +8): out[i*8 + b] = f[b] + src[b]\n") ==
              ">src >out buffer loop <f loop +f >f kernel *out ");
    }
    TEST_CASE("an input that the host reads too is copied once, before") {
        CHECK(order_of("    for i in [0, +4):\n"
                       "        let n = src[i]\n"
                       "        gpu_block for b in [0, +8): out[i*8 + b] = src[b] + n\n") ==
              "<src >src >out loop kernel *out ");
    }
    TEST_CASE("the run with copies computes what was asked for") {
        const std::vector<int32_t> out = run(chain);
        for (int i = 0; i < 32; i++) CHECK(out[size_t(i)] == (i + 1) * 2 + i);
    }
    TEST_CASE("each copy and mark that is left out is seen") {
        for (const char *left_out :
             {"copy_to_device(f", "copy_to_device(g", "copy_to_device(out", "copy_to_device(src",
              "mark_host_dirty(f", "mark_device_dirty(out"}) {
            CAPTURE(std::string(left_out));
            CHECK_THROWS_AS(run(chain, left_out), RuntimeError);
        }
        const std::string back = "    allocate f: int32[32] in Heap\n"
                                 "    gpu_block for b in [0, +32): f[b] = src[b]\n"
                                 "    for i in [0, +32): out[i] = f[i]\n";
        CHECK(run(back)[31] == 31);
        for (const char *left_out : {"copy_to_host(f", "mark_device_dirty(f"}) {
            CAPTURE(std::string(left_out));
            CHECK_THROWS_AS(run(back, left_out), RuntimeError);
        }
    }
    TEST_CASE("a buffer that both sides use at the same time is refused") {
        CHECK_THROWS_WITH_AS(
            placed("    allocate f: int32[32] in Heap\n"
                   "    parallel for i in [0, +4):\n"
                   "        for j in [0, +8): f[i*8 + j] = i + j\n"
                   "        gpu_block for b in [0, +8): out[i*8 + b] = f[i*8 + b]\n"),
            doctest::Contains("at the same time"), CompileError);
    }
    TEST_CASE("a buffer that only one of several tasks uses changes sides within it") {
        const std::string tasks = "    allocate f: int32[32] in Heap\n"
                                  "    allocate g: int32[32] in Heap\n"
                                  "    fork:\n"
                                  "        for i in [0, +32): g[i] = src[i]\n"
                                  "    with:\n"
                                  "        gpu_block for b in [0, +32): f[b] = b\n"
                                  "        for i in [0, +32): out[i] = f[i]\n";
        CHECK(order_of(tasks) == "<src <out buffer loop >f kernel *f <f loop +out ");
        CHECK(run(tasks)[31] == 31);
        CHECK_THROWS_WITH_AS(
            placed("    allocate f: int32[32] in Heap\n"
                   "    fork:\n"
                   "        for i in [0, +32): f[i] = src[i]\n"
                   "    with:\n"
                   "        gpu_block for b in [0, +32): out[b] = f[b]\n"),
            doctest::Contains("f is used by the CPU and by a GPU in iterations of a parallel loop, "
                              "or in tasks, that run at the same time"),
            CompileError);
    }
    TEST_CASE("what is freed within a statement is not marked after it") {
        CHECK(order_of("    allocate f: int32[32] in Heap\n"
                       "    gpu_block for b in [0, +32): f[b] = b\n"
                       "    allocate g: int32[32] in Heap\n"
                       "    gpu_block for b in [0, +32): g[b] = f[b]\n"
                       "    free(address_of(f[0]))\n"
                       "    for i in [0, +32): out[i] = g[i]\n") ==
              "<out buffer >f kernel buffer >g kernel *g <g loop +out ");
    }
    TEST_CASE("what is freed early is freed on both sides") {
        const std::string text =
            ir::to_string(placed("    allocate f: int32[32] in Heap\n"
                                 "    for i in [0, +32): f[i] = i\n"
                                 "    gpu_block for b in [0, +32): out[b] = f[b]\n"
                                 "    free(address_of(f[0]))\n"
                                 "    out[0] = 1\n"));
        CHECK(text.find("device_free(f") < text.find("free(address_of(f[0]))"));
    }
    TEST_CASE("a copy takes what is newest, and needs no memory of it on the device") {
        const std::string copied = "    allocate f: int32[32] in Heap\n"
                                   "    for i in [0, +32): f[i] = src[i] + 1\n"
                                   "    allocate g: int32[32] in Heap\n" +
                                   copied_to("1") +
                                   "    gpu_block for b in [0, +32): out[b] = g[b] * 2\n";
        CHECK(order_of(copied) == "<src >out loop buffer >g part g copy f_part kernel *g *out ");
        CHECK(run(copied)[31] == 64);
        CHECK_THROWS_AS(run(copied, "copy_to_device(g"), RuntimeError);
    }
    TEST_CASE("what is copied on both sides is marked before") {
        const std::string copied = "    allocate f: int32[32] in Heap\n"
                                   "    for i in [0, +32): f[i] = src[i] + 1\n"
                                   "    gpu_block for b in [0, +32): f[b] = f[b] * 3\n"
                                   "    allocate g: int32[32] in Heap\n" +
                                   copied_to("0") +
                                   "    for i in [0, +32): out[i] = g[i] - f[i]\n"
                                   "    gpu_block for b in [0, +32): f[b] = b\n";
        CHECK(run(copied)[31] == 0);
        CHECK(order_of(copied) == "<src <out buffer <f loop +f >f kernel *f part f copy f_part <f "
                                  "loop >f kernel *f +out ");
    }
    TEST_CASE("a buffer that is not freed is found") {
        tessera_dimension_t dim{0, 4, 1, 0};
        std::array<int32_t, 4> elements = {};
        tessera_buffer_t buffer = {};
        buffer.host = reinterpret_cast<uint8_t *>(elements.data());
        buffer.type = {tessera_type_int, 32, 1};
        buffer.dimensions = 1;
        buffer.dim = &dim;
        interpret::DeviceCopies copies;
        copies.add_argument(1, std::make_shared<interpret::Memory>("in", buffer, false, true),
                            true);
        copies.check_all_freed();
        copies.add(2, std::make_shared<interpret::Memory>("f", buffer, false, false), 4);
        CHECK_THROWS_WITH_AS(copies.check_all_freed(),
                             doctest::Contains("f still has memory on the device"), RuntimeError);
        copies.free(2);
        copies.check_all_freed();
    }
}
