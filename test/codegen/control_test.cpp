#include "codegen/harness.h"
#include <algorithm>
#include <numeric>

using namespace tessera;
using namespace tessera::test;

namespace {

std::vector<std::string> messages;

extern "C" void keep_message(void *, const char *text) { messages.push_back(text); }

// Collects what the runtime reports while it exists.
struct Messages {
    Messages()
        : former_error(tessera_set_error_handler(keep_message)),
          former_print(tessera_set_custom_print(keep_message)) {
        messages.clear();
    }
    ~Messages() {
        tessera_set_error_handler(former_error);
        tessera_set_custom_print(former_print);
    }
    std::string all() const { return join(messages, "|"); }
    tessera_error_handler_t former_error;
    tessera_print_t former_print;
};

int live_allocations = 0;

extern "C" void *counting_malloc(void *, size_t bytes) {
    live_allocations++;
    return bytes > (size_t(1) << 40) ? nullptr : aligned_alloc(128, (bytes + 127) / 128 * 128);
}

extern "C" void counting_free(void *, void *p) {
    if (p) live_allocations--;
    free(p);
}

struct CountedMemory {
    CountedMemory()
        : former_malloc(tessera_set_custom_malloc(counting_malloc)),
          former_free(tessera_set_custom_free(counting_free)) {
        live_allocations = 0;
    }
    ~CountedMemory() {
        tessera_set_custom_malloc(former_malloc);
        tessera_set_custom_free(former_free);
    }
    tessera_malloc_t former_malloc;
    tessera_free_t former_free;
};

extern "C" int32_t square_of(int32_t x) { return x * x; }
extern "C" int32_t context_is(void *user_context, void *wanted) { return user_context == wanted; }

}  // namespace

TEST_SUITE("control flow") {
    TEST_CASE("loops of no iterations do nothing") {
        TestBuffer<int32_t> out(4, 9);
        const char *text = R"(
module "m"
func "f"(out: output int32[1], n: int32):
    for i in [0, +n): out[i] = 1
    for i in [0, +0): out[i] = 2
)";
        CHECK(run(text, out, 0) == 0);
        CHECK(run(text, out, -5) == 0);
        CHECK(out[0] == 9);
        CHECK(run(text, out, 3) == 0);
        CHECK(out.values() == std::vector<int32_t>{1, 1, 1, 9});
    }
    TEST_CASE("branches and lets") {
        TestBuffer<int32_t> out(8);
        CHECK(run(R"(
module "m"
func "f"(out: output int32[1], n: int32):
    for i in [0, +8):
        let k = i * n in
        if i % 2 == 0: out[i] = k
        else if i == 3: out[i] = let z = k + 1 in z * z
        else: out[i] = -1
)",
                  out, 10) == 0);
        CHECK(out.values() == std::vector<int32_t>{0, -1, 20, 961, 40, -1, 60, -1});
    }
    TEST_CASE("only the value that is asked for is evaluated") {
        TestBuffer<int32_t> out(3);
        int32_t calls = 0;
        codegen::ExternSymbols symbols = {
            {"count_up", reinterpret_cast<void *>(+[](int32_t *n) { return ++*n; })}};
        codegen::JitModule m = compile(R"(
module "m"
func "f"(out: output int32[1], n: handle):
    for i in [0, +3): out[i] = if_then_else(i == 1, extern int32 count_up(n:handle), -1)
)",
                                       get_host_target(), symbols);
        void *argv[] = {&no_context, static_cast<tessera_buffer_t *>(out), nullptr};
        int32_t *pointer = &calls;
        argv[2] = &pointer;
        CHECK(m.argv_function("f")(argv) == 0);
        CHECK(calls == 1);
        CHECK(out.values() == std::vector<int32_t>{-1, 1, -1});
    }
    TEST_CASE("an assertion that fails ends the function with its code") {
        Messages log;
        TestBuffer<int32_t> out(2, 5);
        const char *text = R"(
module "m"
func "f"(out: output int32[1], n: int32):
    assert n > 0, extern int32 tessera_error_requirement_failed(user_context():handle, "", "n > 0", stringify("n is ", n))
    out[0] = n
)";
        CHECK(run(text, out, 3) == 0);
        CHECK(out[0] == 3);
        CHECK(run(text, out, -3) == tessera_error_code_requirement_failed);
        CHECK(out[0] == 3);
        CHECK(log.all().find("n is -3") != std::string::npos);
    }
    TEST_CASE("whatever was allocated is freed, also when an assertion fails") {
        CountedMemory counted;
        Messages log;
        const char *text = R"(
module "m"
func "f"(out: output int32[1], n: int32):
    allocate a: int32[n] in Heap:
        for i in [0, +n): a[i] = i
        allocate b: int32[n, 2] in Heap:
            for i in [0, +n): b[i] = a[i] * 2
            assert n < 100, -7
            out[0] = b[n - 1]
)";
        TestBuffer<int32_t> out(1);
        CHECK(run(text, out, 10) == 0);
        CHECK(out[0] == 18);
        CHECK(live_allocations == 0);
        CHECK(run(text, out, 100) == -7);
        CHECK(live_allocations == 0);
    }
    TEST_CASE("running out of memory, and impossible sizes, are errors") {
        CountedMemory counted;
        Messages log;
        const char *text = R"(
module "m"
func "f"(n: int32):
    allocate a: int64[n, 4, n] in Heap:
        a[0] = 1:int64
)";
        CHECK(run(text, 100) == 0);
        CHECK(run(text, 2000000000) == tessera_error_code_buffer_allocation_too_large);
        CHECK(run(text, -2000000000) == tessera_error_code_buffer_allocation_too_large);
        codegen::JitModule large = compile(text, Target("host-large_buffers"));
        auto f = reinterpret_cast<int (*)(void *, int)>(large.address("f"));
        live_allocations = 0;
        CHECK(f(nullptr, 1 << 20) == tessera_error_code_out_of_memory);
        CHECK(log.all().find("a") != std::string::npos);
    }
    TEST_CASE("what was freed early is not freed again, whatever fails later") {
        CountedMemory counted;
        TestBuffer<int32_t> out(1);
        const char *text = R"(
module "m"
func "f"(out: output int32[1], n: int32):
    allocate a: int32[n] in Heap:
        a[0] = 3
        assert n != 5, -5
        out[0] = a[0]
        free(address_of(a[0]))
        assert n != 7, -7
)";
        for (int n : {3, 5, 7}) {
            CHECK(run(text, out, n) == (n == 3 ? 0 : -n));
            CHECK(live_allocations == 0);
        }
    }
    TEST_CASE("storage that is not needed is not allocated") {
        CountedMemory counted;
        TestBuffer<int32_t> out(1);
        const char *text = R"(
module "m"
func "f"(out: output int32[1], n: int32):
    allocate a: int32[n] in Heap if n > 10:
        out[0] = 1
)";
        CHECK(run(text, out, 5) == 0);
        CHECK(out[0] == 1);
        CHECK(live_allocations == 0);
    }
    TEST_CASE("small storage of constant size is on the stack") {
        CountedMemory counted;
        TestBuffer<int32_t> out(16);
        CHECK(run(R"(
module "m"
func "f"(out: output int32[1]):
    for k in [0, +2):
        allocate a: int32[8] in Auto:
            a[ramp(0, 1, 8)] = ramp(k, 2, 8)
            for i in [0, +8): out[k * 8 + i] = a[7 - i]
)",
                  out) == 0);
        CHECK(out[0] == 14);
        CHECK(out[15] == 1);
        std::string ir = codegen::to_llvm_ir(parse_module(R"(
module "m"
func "f"(out: output int32[1]):
    allocate a: int32[100] in Stack:
        for i in [0, +100): a[i] = i
        for i in [0, +100): out[i] = a[99 - i]
)"),
                                             get_host_target());
        CHECK(ir.find("alloca [100 x i32]") != std::string::npos);
        CHECK(ir.find("tessera_malloc") == std::string::npos);
    }
    TEST_CASE("a let-bound name may be bound again elsewhere") {
        TestBuffer<int32_t> out(2);
        CHECK(run(R"(
module "m"
func "f"(out: output int32[1], n: int32):
    out[0] = (let x = n in x + 2) * (let x = n + 1 in x + 2)
    let x = 5 in
    out[1] = x + 2
)",
                  out, 1) == 0);
        CHECK(out[0] == 12);
        CHECK(out[1] == 7);
    }
    TEST_CASE("extern functions are called once per lane") {
        codegen::ExternSymbols symbols = {{"square_of", reinterpret_cast<void *>(square_of)}};
        TestBuffer<int32_t> out(4);
        codegen::JitModule m = compile(R"(
module "m"
func "f"(out: output int32[1]):
    out[ramp(0, 1, 4)] = extern int32x4 square_of(ramp(1, 1, 4))
)",
                                       get_host_target(), symbols);
        void *argv[] = {&no_context, static_cast<tessera_buffer_t *>(out)};
        CHECK(m.argv_function("f")(argv) == 0);
        CHECK(out.values() == std::vector<int32_t>{1, 4, 9, 16});
    }
    TEST_CASE("a function that is nowhere is an error") {
        CHECK_THROWS_WITH_AS(compile(R"(
module "m"
func "f"(): extern int32 no_such_function_anywhere(1)
)"),
                             doctest::Contains("no_such_function_anywhere"), CompileError);
    }
    TEST_CASE("scalars of every type come by value and through argv") {
        std::string text = R"(
module "m"
func "f"(out: output float64[1], a: int8, b: uint8, c: int16, d: uint16, e: int64, g: uint64, h: float32, i: float64, j: bool, k: float16, l: bfloat16):
    out[0] = float64(a:int8)
    out[1] = float64(b:uint8)
    out[2] = float64(c:int16)
    out[3] = float64(d:uint16)
    out[4] = float64(e:int64)
    out[5] = float64(g:uint64)
    out[6] = float64(h:float32)
    out[7] = i:float64
    out[8] = float64(j:bool)
    out[9] = float64(k:float16)
    out[10] = float64(l:bfloat16)
)";
        codegen::JitModule m = compile(text);
        TestBuffer<double> out(11);
        int8_t a = -5;
        uint8_t b = 250;
        int16_t c = -3000;
        uint16_t d = 60000;
        int64_t e = -5000000000;
        uint64_t g = uint64_t(1) << 63;
        float h = 1.5f;
        double i = 2.25;
        bool j = true;
        float16_t k(0.125f);
        bfloat16_t l(3.0f);
        void *argv[] = {&no_context, static_cast<tessera_buffer_t *>(out),
                        &a,          &b,
                        &c,          &d,
                        &e,          &g,
                        &h,          &i,
                        &j,          &k,
                        &l};
        CHECK(m.argv_function("f")(argv) == 0);
        CHECK(out.values() == std::vector<double>{-5, 250, -3000, 60000, -5e9,
                                                  9223372036854775808.0, 1.5, 2.25, 1, 0.125, 3});
    }
    TEST_CASE("the user context is the function's first argument, in closures too") {
        codegen::ExternSymbols symbols = {{"context_is", reinterpret_cast<void *>(context_is)}};
        TestBuffer<int32_t> out(3);
        codegen::JitModule m = compile(R"(
module "m"
func "f"(out: output int32[1], wanted: handle):
    out[0] = extern int32 context_is(user_context():handle, wanted:handle)
    parallel for i in [1, +2): out[i] = extern int32 context_is(user_context():handle, wanted:handle)
)",
                                       get_host_target(), symbols);
        auto f = reinterpret_cast<int (*)(void *, tessera_buffer_t *, void *)>(m.address("f"));
        int here;
        CHECK(f(&here, out, &here) == 0);
        CHECK(out.values() == std::vector<int32_t>{1, 1, 1});
    }
    TEST_CASE("what lowering should have replaced is an internal error") {
        for (const char *body :
             {"vectorized for i in [0, +4): no_op", "unrolled for i in [0, +4): no_op", "f(1) = 2",
              "f(1)", "realize f: {int32} over [0, +1]: no_op", "hoist f: no_op", "unbound",
              "undef():int32"}) {
            CAPTURE(body);
            CHECK_THROWS_AS(compile(str("module \"m\"\nfunc \"f\"(): ", body, "\n")),
                            InternalError);
        }
    }
    TEST_CASE("long chains of lets and deep expressions compile") {
        Symbol out = Symbol::fresh("out");
        std::vector<Symbol> names;
        Expr e = 1;
        for (int i = 0; i < 3000; i++) e = Add::make(Mul::make(e, 3), Sub::make(e, 1));
        Expr chain = e;
        for (int i = 0; i < 3000; i++) chain = Let::make(Symbol::fresh("x"), i, chain);
        LoweredFunction f;
        f.name = "f";
        f.args = {{out, ArgumentKind::OutputBuffer, Int(32), 1, {}}};
        f.body = Store::make(out, chain, 0);
        for (int i = 0; i < 3000; i++) f.body = LetStmt::make(Symbol::fresh("y"), i, f.body);
        Module m;
        m.functions = {f};
        CHECK_NOTHROW(codegen::JitModule(m, get_host_target()));
    }
}

TEST_SUITE("buffers") {
    TEST_CASE("fields are read from the struct") {
        TestBuffer<uint16_t> in(7);
        TestBuffer<int32_t> out(6);
        CHECK(run(R"(
module "m"
func "f"(b: input uint16[1], out: output int32[1]):
    out[0] = b.min[0]
    out[1] = b.extent[0]
    out[2] = b.stride[0]
    out[3] = b.dimensions
    out[4] = b.type_code
    out[5] = b.type_bits
)",
                  in, out) == 0);
        CHECK(out.values() == std::vector<int32_t>{0, 7, 1, 1, 1, 16});
    }
    TEST_CASE("a flag says whether the newest contents are on a device") {
        TestBuffer<int32_t> in(1), out(1);
        tessera_buffer_t *raw = in;
        for (int flags = 0; flags < 4; flags++) {
            raw->flags = uint64_t(flags);
            CHECK(run(R"(
module "m"
func "f"(b: input int32[1], out: output int32[1]):
    out[0] = int32(is_device_dirty(b:handle))
)",
                      in, out) == 0);
            CHECK(out[0] == flags / tessera_buffer_flag_device_dirty);
        }
    }
    TEST_CASE("a struct made on the way is a buffer for others, and its fields can be set") {
        TestBuffer<float> in(4, 2.5f);
        TestBuffer<int32_t> out(5);
        CHECK(run(R"(
module "m"
func "f"(b: input float32[1], out: output int32[1]):
    let t = make_buffer(b.host, 2, 32, 2, -3, 10, 1, 5, 20, 10):handle in
    set_buffer_field(t:handle, 1, 1, 77):int32
    out[0] = t.min[0]
    out[1] = t.extent[1]
    out[2] = t.stride[1]
    out[3] = t.type_bits
    out[4] = int32(t[2]:float32 * 2.0)
)",
                  in, out) == 0);
        CHECK(out.values() == std::vector<int32_t>{-3, 77, 10, 32, 5});
    }
    TEST_CASE("bools are bytes in memory") {
        TestBuffer<bool> in(std::vector<bool>{true, false, false, true}), out(8);
        CHECK(run(R"(
module "m"
func "f"(a: input bool[1], out: output bool[1]):
    out[ramp(0, 1, 4)] = !a[ramp(0, 1, 4)]:boolx4
    for i in [0, +4): out[i + 4] = a[i]:bool && i > 0
)",
                  in, out) == 0);
        CHECK(out.values() ==
              std::vector<bool>{false, true, true, false, false, false, false, true});
    }
    TEST_CASE("structs hold their members as C has them") {
        struct Pair {
            int8_t a;
            double b;
        };
        TestBuffer<double> out(1);
        codegen::ExternSymbols symbols = {
            {"sum_of", reinterpret_cast<void *>(+[](Pair *p) { return p->a + p->b; })}};
        codegen::JitModule m = compile(R"(
module "m"
func "f"(out: output float64[1]):
    out[0] = extern float64 sum_of(make_struct(3:int8, 1.5:float64):handle)
)",
                                       get_host_target(), symbols);
        void *argv[] = {&no_context, static_cast<tessera_buffer_t *>(out)};
        CHECK(m.argv_function("f")(argv) == 0);
        CHECK(out[0] == 4.5);
    }
}

TEST_SUITE("text") {
    TEST_CASE("values of every kind become text") {
        Messages log;
        CHECK(run(R"(
module "m"
func "f"(n: int32):
    extern int32 tessera_print(user_context():handle, stringify("n=", n, " u=", 200:uint8, " f=", 1.5, " v=", ramp(n, 2, 3), " b=", true, " [", stringify("in", 2), "]"):handle)
)",
                  -4) == 0);
        CHECK(log.all() == "n=-4 u=200 f=1.500000 v=<-4, -2, 0> b=true [in2]");
    }
    TEST_CASE("a requirement gives its value, or fails with its message") {
        Messages log;
        TestBuffer<int32_t> out(1);
        const char *text = R"(
module "m"
func "f"(out: output int32[1], n: int32):
    out[0] = require(n > 2, n * 2, "", "n must be large, not ", n)
)";
        CHECK(run(text, out, 5) == 0);
        CHECK(out[0] == 10);
        CHECK(run(text, out, 1) == tessera_error_code_requirement_failed);
        CHECK(log.all().find("n must be large, not 1") != std::string::npos);
    }
}

TEST_SUITE("tasks") {
    TEST_CASE("parallel loops see what is around them, nested too") {
        TestBuffer<int32_t> out(12);
        CHECK(run(R"(
module "m"
func "f"(out: output int32[1], n: int32):
    let k = n * 10 in
    allocate t: int32[4] in Heap:
        for i in [0, +4): t[i] = i + k
        parallel for y in [0, +3):
            parallel for x in [0, +4):
                out[y * 4 + x] = t[x] + y * 100
)",
                  out, 7) == 0);
        CHECK(out[0] == 70);
        CHECK(out[11] == 273);
    }
    TEST_CASE("vectors and bools are captured") {
        TestBuffer<int32_t> out(8);
        CHECK(run(R"(
module "m"
func "f"(out: output int32[1], n: int32):
    let v = ramp(n, 3, 4) in
    let c = n > 2 in
    parallel for i in [0, +2): out[ramp(i * 4, 1, 4)] = select(c:bool, v:int32x4, x4(0)) + x4(i)
)",
                  out, 5) == 0);
        CHECK(out.values() == std::vector<int32_t>{5, 8, 11, 14, 6, 9, 12, 15});
    }
    TEST_CASE("a failure inside a parallel loop is the function's result") {
        CountedMemory counted;
        CHECK(run(R"(
module "m"
func "f"(n: int32):
    allocate t: int32[n] in Heap:
        parallel for i in [0, +n):
            allocate s: int32[n] in Heap:
                s[i] = i
                assert s[i] != 5, -42
                t[i] = i
)",
                  20) == -42);
        CHECK(live_allocations == 0);
    }
    TEST_CASE("a producer and a consumer hand over through semaphores") {
        TestBuffer<int32_t> out(50);
        CHECK(run(R"(
module "m"
func "f"(out: output int32[1]):
    let full = alloca(16):handle in
    let empty = alloca(16):handle in
    semaphore_init(full:handle, 0)
    semaphore_init(empty:handle, 2)
    allocate ring: int32[2] in Heap:
        fork:
            for i in [0, +50):
                acquire empty:handle, 1:
                    ring[i % 2] = i * i
                    semaphore_release(full:handle, 1)
        with:
            for j in [0, +50):
                acquire full:handle, 1:
                    out[j] = ring[j % 2]
                    semaphore_release(empty:handle, 1)
)",
                  out) == 0);
        for (int i = 0; i < 50; i++) CHECK(out[size_t(i)] == i * i);
    }
    TEST_CASE("a failing task cancels the one that waits for it") {
        CHECK(run(R"(
module "m"
func "f"(n: int32):
    let full = alloca(16):handle in
    semaphore_init(full:handle, 0)
    fork:
        assert n > 5, -9
    with:
        acquire full:handle, 1: no_op
)",
                  1) == -9);
    }
}

TEST_SUITE("atomic updates") {
    const char *histogram(const char *update) {
        static std::string text;
        text = str(R"(
module "m"
func "f"(out: output int32[1], n: int32):
    parallel for i in [0, +n):
        atomic out:
            )",
                   update, "\n");
        return text.c_str();
    }
    TEST_CASE("sums from many threads are complete") {
        TestBuffer<int32_t> out(4);
        CHECK(run(histogram("out[i % 4] = out[i % 4] + i"), out, 4000) == 0);
        for (int k = 0; k < 4; k++) CHECK(out[size_t(k)] == 1998000 + 1000 * k);
    }
    TEST_CASE("any update is one compare-exchange loop") {
        TestBuffer<int32_t> out(2);
        CHECK(run(histogram("out[i % 2] = max(out[i % 2] * 1, i - 3)"), out, 4000) == 0);
        CHECK(out[0] == 3995);
        CHECK(out[1] == 3996);
    }
    TEST_CASE("the old element may come through a let") {
        TestBuffer<int32_t> out(1);
        CHECK(run(histogram("let t = out[0] in let u = t + 2 in out[0] = u - 1"), out, 5000) == 0);
        CHECK(out[0] == 5000);
    }
    TEST_CASE("lanes that meet at one element all count") {
        TestBuffer<int32_t> out(2);
        CHECK(run(histogram("out[ramp(i, 1, 8) % x8(2)] = out[ramp(i, 1, 8) % x8(2)] + x8(1)"), out,
                  100) == 0);
        CHECK(out.values() == std::vector<int32_t>{400, 400});
    }
    TEST_CASE("lanes of any update, some of them left out") {
        TestBuffer<int32_t> out(3);
        CHECK(run(histogram("out[ramp(i, 1, 4) % x4(3) if ramp(i, 1, 4) % x4(2) == x4(0)] = "
                            "out[ramp(i, 1, 4) % x4(3)] * x4(1) + x4(1)"),
                  out, 300) == 0);
        CHECK(out.values() == std::vector<int32_t>{200, 200, 200});
    }
    TEST_CASE("floats, doubles, halves and bytes") {
        for (const char *type : {"float32", "float64", "float16", "bfloat16", "uint8", "int64"}) {
            CAPTURE(type);
            TestBuffer<double> out(1);
            CHECK(run(str(R"(
module "m"
func "f"(out: output float64[1], n: int32):
    allocate t: )",
                          type, R"([1] in Heap:
        t[0] = )",
                          type, R"((0)
        parallel for i in [0, +n):
            atomic t:
                t[0] = t[0] + )",
                          type, R"((1)
        out[0] = float64(t[0])
)"),
                      out, 200) == 0);
            CHECK(out[0] == 200);
        }
    }
    TEST_CASE("a mutex guards what is wider than the machine's atomics") {
        TestBuffer<int32_t> out(2);
        CHECK(run(R"(
module "m"
func "f"(out: output int32[1], n: int32):
    let locks = mutex_array_create(1:uint64) in
    parallel for i in [0, +n):
        atomic out mutexes locks:
            let t = out[0] in
            out[0] = t + 1
            out[1] = out[1] + 2
)",
                  out, 3000) == 0);
        CHECK(out.values() == std::vector<int32_t>{3000, 6000});
    }
}
