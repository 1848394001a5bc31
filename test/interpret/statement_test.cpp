#include "interpret/statement.h"
#include "ir/parser.h"
#include "runtime/tessera_runtime.h"
#include <doctest/doctest.h>
#include <numeric>

using namespace tessera;
using namespace tessera::ir;
using namespace tessera::interpret;

namespace {

struct Array {
    explicit Array(std::vector<int32_t> values, int extent1 = 0, int stride1 = 0)
        : data(std::move(values)) {
        dims[0] = {0, extent1 ? extent1 : int32_t(data.size()), 1, 0};
        if (stride1) dims[1] = {0, int32_t(data.size()) / stride1, stride1, 0};
        buffer.host = reinterpret_cast<uint8_t *>(data.data());
        buffer.type = {tessera_type_int, 32, 1};
        buffer.dimensions = stride1 ? 2 : 1;
        buffer.dim = dims;
    }
    Array(const Array &) = delete;
    std::vector<int32_t> data;
    tessera_dimension_t dims[2] = {};
    tessera_buffer_t buffer = {};
};

// Runs a function of an output `out` and an input `in`, both int32[1], given its body.
int run(const std::string &body, Array &out, Array &in, StatementOptions options = {}) {
    Module m = parse_module(
        "module \"m\"\nfunc \"f\"(out: output int32[1], src: input int32[1]):\n" + body);
    void *args[] = {&out.buffer, &in.buffer};
    return run_statement(m.functions[0], args, options);
}

int run(const std::string &body, Array &out) {
    Array in({10, 20, 30, 40, 50, 60, 70, 80});
    return run(body, out, in);
}

using Values = std::vector<int32_t>;
std::string last_error;
void keep_error(void *, const char *message) { last_error = message; }
extern "C" {
int32_t twice_plus(int32_t a, float b, double c, int32_t d) {
    return 2 * a + int32_t(b) + int32_t(c) * d;
}
int fill_with_nines(tessera_buffer_t *b) {
    for (int i = 0; i < b->dim[0].extent; i++) reinterpret_cast<int32_t *>(b->host)[i] = 9;
    return 0;
}
}

}  // namespace

TEST_SUITE("statement interpreter") {
    TEST_CASE("runs functions of the module with what they are given, and nothing else") {
        const std::string head = "module \"m\"\nfunc \"f\"(out: output int32[1]):\n"
                                 "  let t = 5\n"
                                 "  parallel for i in [0, +4): invoke \"g\"(i, t + 1, "
                                 "address_of(out[0]))\n";
        auto run_module = [&](const std::string &callee) {
            Module m = parse_module(head + callee);
            Array out(Values(4));
            void *args[] = {&out.buffer};
            StatementOptions options;
            options.module = &m;
            return run_statement(m.functions[0], args, options) == 0 ? out.data : Values();
        };
        CHECK(run_module("body \"g\"(i: int32, u: int32, b: storage int32): b[i] = i + u\n") ==
              Values{6, 7, 8, 9});
        CHECK_THROWS_WITH_AS(
            run_module("body \"g\"(i: int32, u: int32, b: storage int32): b[i] = i + t\n"),
            doctest::Contains("variable t is used where it is not bound"), RuntimeError);
        CHECK_THROWS_WITH_AS(
            run_module("body \"g\"(i: int32, u: int32, b: storage int32): out[i] = i\n"),
            doctest::Contains("buffer out is accessed where it is not allocated"), RuntimeError);
        CHECK_THROWS_AS(run_module("body \"h\"(i: int32): no_op\n"), InternalError);
    }
    TEST_CASE("runs loops, loads and stores") {
        Array out(Values(4));
        CHECK(run("  for i in [0, +4):\n    out[i] = src[i + 2] * 2\n", out) == 0);
        CHECK(out.data == Values{60, 80, 100, 120});
    }
    TEST_CASE("runs vectors with predicates") {
        Array out(Values{1, 1, 1, 1});
        StatementOptions options;
        options.outputs_have_values = true;
        Array in({10, 20});
        // The lanes that are not wanted lie outside of `in`.
        CHECK(run("  out[ramp(0, 1, 4) if ramp(0, 1, 4) < x4(2)] = "
                  "src[ramp(0, 1, 4) if ramp(0, 1, 4) < x4(2)]\n",
                  out, in, options) == 0);
        CHECK(out.data == Values{10, 20, 1, 1});
    }
    TEST_CASE("runs allocations, lets, branches and what is below produce") {
        Array out(Values(3));
        CHECK(run("  allocate t: int32[3] in Heap:\n"
                  "    produce t: for i in [0, +3): t[i] = i * i\n"
                  "    consume t:\n"
                  "      for i in [0, +3):\n"
                  "        let v = t[i]\n"
                  "        if v < 2: out[i] = v\n"
                  "        else: out[i] = v + 100\n",
                  out) == 0);
        CHECK(out.data == Values{0, 1, 104});
    }
    TEST_CASE("runs code whose storage is not flattened yet") {
        Array out(Values(4));
        CHECK(run("  realize f: {int32} over [-1, +6]:\n"
                  "    produce f: for i in [-1, +6): f(i) = i * 10\n"
                  "    consume f: for i in [0, +4): out(i) = f(i - 1) + f(i + 1) + image src(i)\n",
                  out) == 0);
        CHECK(out.data == Values{10, 40, 70, 100});
    }
    TEST_CASE("what takes more statements than allowed is left") {
        Array out({0, 0, 0, 0}), in({1, 2, 3, 4});
        StatementOptions options;
        options.max_statements = 5;  // the loop is one
        CHECK(run("    for i in [0, +4):\n        out[i] = src[i]\n", out, in, options) == 0);
        CHECK_THROWS_AS(run("    for i in [0, +4):\n        out[i] = 0\n        out[i] = src[i]\n",
                            out, in, options),
                        OutOfSteps);
    }
    TEST_CASE("an access after the storage was freed is found") {
        Array out(Values(1));
        std::string text = "  allocate t: int32[4] in Heap:\n    t[0] = 1\n    out[0] = t[0]\n"
                           "    free(address_of(t[0]))\n";
        CHECK(run(text, out) == 0);
        CHECK_THROWS_WITH_AS(run(text + "    out[0] = t[0]\n", out),
                             doctest::Contains("load from t after it was freed"), RuntimeError);
        CHECK_THROWS_WITH_AS(run(text + "    t[0] = 2\n", out),
                             doctest::Contains("store to t after it was freed"), RuntimeError);
    }
    TEST_CASE("an access outside of the storage is found") {
        Array out(Values(4));
        CHECK_THROWS_WITH_AS(run("  for i in [0, +5): out[i] = 1\n", out),
                             doctest::Contains("out of bounds store to out at 4"), RuntimeError);
        CHECK_THROWS_WITH_AS(run("  for i in [0, +4): out[i] = src[i - 1]\n", out),
                             doctest::Contains("out of bounds load from src at -1"), RuntimeError);
        CHECK_THROWS_WITH_AS(run("  realize f: {int32} over [0, +2]: f(2) = 1\n", out),
                             doctest::Contains("out of bounds access of f at 2"), RuntimeError);
    }
    TEST_CASE("padding may be read but not written") {
        Array out(Values(1));
        std::string t = "  allocate t: int32[2] in Stack padding 2:\n";
        CHECK(run(t + "    t[0] = t[3]\n    out[0] = 5\n", out) == 0);
        CHECK_THROWS_WITH_AS(run(t + "    t[2] = 1\n    out[0] = 5\n", out),
                             doctest::Contains("out of bounds store to t at 2"), RuntimeError);
        CHECK_THROWS_AS(run(t + "    t[0] = t[4]\n    out[0] = 5\n", out), RuntimeError);
    }
    TEST_CASE("gaps between the rows of a buffer are not part of it") {
        Array in({1, 2, 3, 4, 5, 6, 7, 8}, 3, 4), out(Values(1));
        CHECK(run("  out[0] = src[6]\n", out, in) == 0);
        CHECK_THROWS_WITH_AS(run("  out[0] = src[3]\n", out, in),
                             doctest::Contains("between the elements"), RuntimeError);
        // A vector may reach over a gap, whose lanes have no value.
        CHECK(run("  out[0] = vector_reduce(add, shuffle(src[ramp(2, 1, 3)], [0, 2]), 1)\n", out,
                  in) == 0);
        CHECK_THROWS_WITH_AS(run("  out[0] = vector_reduce(add, src[ramp(2, 1, 3)], 1)\n", out, in),
                             doctest::Contains("never written"), RuntimeError);
    }
    TEST_CASE("memory that was never written must not reach an output, or decide anything") {
        Array out(Values(1));
        std::string t = "  allocate t: int32[4] in Heap:\n";
        CHECK_THROWS_WITH_AS(run(t + "    out[0] = t[1] + 1\n", out),
                             doctest::Contains("never computed"), RuntimeError);
        CHECK_THROWS_WITH_AS(run(t + "    if t[1] < 2: out[0] = 1\n", out),
                             doctest::Contains("a branch depends"), RuntimeError);
        CHECK_THROWS_WITH_AS(run(t + "    out[t[0]] = 1\n", out),
                             doctest::Contains("where to store"), RuntimeError);
        // As a lane that is not used, chosen away, or written over, it does no harm.
        CHECK(run(t + "    out[0] = t[1] + 1\n    out[0] = 2\n", out) == 0);
        CHECK_THROWS_WITH_AS(run(t + "    out[0] = 2\n    out[0] = t[1] + 1\n", out),
                             doctest::Contains("never computed"), RuntimeError);
        CHECK(run(t + "    out[0] = select(1 < 2, 3, t[1])\n", out) == 0);
        CHECK(run(t + "    t[0] = 7; out[0] = vector_reduce(add, slice(t[ramp(0, 1, 4)], 0, 1, 1), "
                      "1)\n",
                  out) == 0);
        CHECK(out.data[0] == 7);
    }
    TEST_CASE("an output that is not written everywhere is found") {
        Array out(Values(4));
        CHECK_THROWS_WITH_AS(run("  for i in [0, +3): out[i] = 1\n", out),
                             doctest::Contains("output out is never written at 3"), RuntimeError);
    }
    TEST_CASE("iterations of a parallel loop must not touch what another one writes") {
        Array out(Values(4));
        std::string all = "  for i in [0, +4): out[i] = 0\n";
        CHECK_THROWS_WITH_AS(run("  parallel for i in [0, +4): out[i / 2] = i\n", out),
                             doctest::Contains("write the same element of out, at 0"),
                             RuntimeError);
        CHECK_THROWS_WITH_AS(
            run(all + "  parallel for i in [0, +4): out[i] = out[(i + 1) % 4]\n", out),
            doctest::Contains("same element of out"), RuntimeError);
        CHECK(run("  parallel for i in [0, +4): out[i] = i\n"
                  "  parallel for i in [0, +4): out[3 - i] = out[3 - i] + 1\n",
                  out) == 0);
        CHECK(run("  parallel for i in [0, +2):\n    parallel for j in [0, +2):\n"
                  "      allocate t: int32[1] in Stack:\n        t[0] = i\n"
                  "        out[i * 2 + j] = t[0]\n",
                  out) == 0);
        CHECK_THROWS_AS(run("  parallel for i in [0, +2):\n    parallel for j in [0, +4):\n"
                            "      out[j] = i\n",
                            out),
                        RuntimeError);
    }
    TEST_CASE("atomic updates do not conflict with each other") {
        Array out(Values(1));
        CHECK(run("  out[0] = 0\n  parallel for i in [0, +4): atomic out: out[0] = out[0] + i\n",
                  out) == 0);
        CHECK(out.data[0] == 6);
        CHECK_THROWS_AS(run("  out[0] = 0\n  parallel for i in [0, +4):\n"
                            "    if i < 2: atomic out: out[0] = out[0] + i\n"
                            "    else: out[0] = 3\n",
                            out),
                        RuntimeError);
    }
    TEST_CASE("a wrong promise about alignment is found") {
        Array out(Values(4));
        CHECK_THROWS_WITH_AS(run("  for i in [0, +4): out[i] = src[i + 1 aligned(4, 0)]\n", out),
                             doctest::Contains("modulo 4"), RuntimeError);
        CHECK_THROWS_WITH_AS(run("  for i in [0, +4): out[i aligned(2, 0)] = 1\n", out),
                             doctest::Contains("modulo 2"), RuntimeError);
    }
    TEST_CASE("forks run by turns and wait for each other") {
        Array out(Values(6));
        std::string body = "  let full = alloca(16)\n  let empty = alloca(16)\n"
                           "  semaphore_init(full:handle, 0)\n"
                           "  semaphore_init(empty:handle, 2)\n"
                           "  allocate t: int32[2] in Heap:\n"
                           "    fork:\n"
                           "      for i in [0, +6):\n"
                           "        acquire empty:handle, 1:\n"
                           "          t[i % 2] = i * i\n"
                           "          semaphore_release(full:handle, 1)\n"
                           "    with:\n"
                           "      for j in [0, +6):\n"
                           "        acquire full:handle, 1:\n"
                           "          out[j] = t[j % 2]\n"
                           "          semaphore_release(empty:handle, RELEASED)\n";
        auto with = [&](const char *released) {
            std::string text = body;
            return text.replace(text.find("RELEASED"), 8, released);
        };
        CHECK(run(with("1"), out) == 0);
        CHECK(out.data == Values{0, 1, 4, 9, 16, 25});
        CHECK_THROWS_WITH_AS(run(with("0"), out), doctest::Contains("deadlock"), RuntimeError);
        CHECK_THROWS_WITH_AS(run(with("1 / src[20]"), out), doctest::Contains("out of bounds"),
                             RuntimeError);
    }
    TEST_CASE("a failed assertion reports and returns the error code") {
        Array out(Values(1));
        tessera_error_handler_t before = tessera_set_error_handler(keep_error);
        int code = run("  assert src[0] == 11, extern int32 tessera_error_out_of_memory("
                       "user_context(), \"blur\", 77:uint64)\n  out[0] = 1\n",
                       out);
        tessera_set_error_handler(before);
        CHECK(code == tessera_error_code_out_of_memory);
        CHECK(last_error.find("blur") != std::string::npos);
        CHECK(run("  assert src[0] == 10, 5\n  out[0] = 1\n", out) == 0);
    }
    TEST_CASE("extern functions are called, with arguments of all kinds") {
        Array out(Values{0}), in({3});
        StatementOptions options;
        options.externs["twice_plus"] = reinterpret_cast<void *>(twice_plus);
        options.externs["fill_with_nines"] = reinterpret_cast<void *>(fill_with_nines);
        CHECK(run("  out[0] = extern int32 twice_plus(src[0], 4.0, 5.0:float64, 6)\n", out, in,
                  options) == 0);
        CHECK(out.data[0] == 6 + 4 + 30);
        Array three(Values(3));
        CHECK(run("  allocate t: int32[3] in Heap:\n"
                  "    extern int32 fill_with_nines(make_buffer(address_of(t[0]), 0, 32, 1, 0, 3, "
                  "1):handle)\n"
                  "    for i in [0, +3): out[i] = t[i] + i\n",
                  three, in, options) == 0);
        CHECK(three.data == Values{9, 10, 11});
        CHECK(run("  allocate t: int32[0] in Heap:\n"
                  "    out[0] = select(reinterpret uint64(address_of(t[0])) == 0:uint64, 1, 2)\n",
                  out, in) == 0);
        CHECK(out.data[0] == 2);  // no extern stage may take it for a bounds query
        CHECK_THROWS_WITH_AS(run("  out[0] = extern int32 no_such_function(1)\n", out, in),
                             doctest::Contains("no extern function"), RuntimeError);
    }
    TEST_CASE("properties of buffers are read, and set in a bounds query") {
        Array out(Values(3)), in({1, 2, 3, 4});
        CHECK(run("  out[0] = src.extent[0]\n  out[1] = src.min[0]\n  out[2] = src.dimensions\n",
                  out, in) == 0);
        CHECK(out.data == Values{4, 0, 1});
        in.buffer.flags = tessera_buffer_flag_device_dirty;
        CHECK(run("  out[0] = int32(is_device_dirty(src:handle))\n"
                  "  out[1] = int32(is_device_dirty(out:handle))\n  out[2] = 7\n",
                  out, in) == 0);
        CHECK(out.data == Values{1, 0, 7});
        in.buffer.host = nullptr;
        CHECK(run("  set_buffer_field(src:handle, 1, 0, 17):int32\n", out, in) == 0);
        CHECK(in.dims[0].extent == 17);
    }
}
