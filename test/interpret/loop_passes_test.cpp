#include "algebra/cse.h"
#include "algebra/simplify.h"
#include "interpret/statement.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "lower/finish/lower_atomics.h"
#include "lower/loops/interleave.h"
#include "lower/loops/likely.h"
#include "lower/loops/loop_invariants.h"
#include "lower/loops/partition_loops.h"
#include "lower/loops/trim_no_ops.h"
#include "lower/loops/unroll_loops.h"
#include "lower/loops/vectorize_loops.h"
#include "lower/storage/bound_small_allocations.h"
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <random>

using namespace tessera;
using namespace tessera::ir;

// Random loop nests, as text, through the passes that work on loops: after each pass the code has
// to compute what the loops compute when they run one iteration after the other.
namespace {

constexpr int input_size = 64, output_size = 1024;

class RandomLoops {
public:
    explicit RandomLoops(uint64_t seed) : random(seed) {}

    std::string text() {
        int depth = pick(1, 3);
        for (int i = 0; i < depth; i++) add_loop(i);
        std::string all;
        for (size_t i = 0; i < loops.size(); i++) {
            const Loop &l = loops[i];
            line(all, i, str(l.kind, "for ", l.name, " in [", l.min, ", +", l.extent, "):"));
        }
        body(all, loops.size());
        return all;
    }

private:
    struct Loop {
        std::string name, kind;
        int min, extent, stride = 0;
        bool reduction = false;
    };

    int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random); }
    std::string one_of(std::vector<std::string> all) {
        return all[size_t(pick(0, int(all.size()) - 1))];
    }
    static void line(std::string &all, size_t depth, const std::string &text) {
        all += std::string(2 * depth + 2, ' ') + text + "\n";
    }

    void add_loop(int i) {
        static const int extents[] = {1, 2, 3, 3, 4, 4, 4, 5};
        Loop l;
        l.name = std::string(1, char('x' + i));
        l.kind = one_of({"", "", "vectorized ", "vectorized ", "unrolled ", "parallel "});
        l.min = pick(-3, 5);
        l.extent = extents[pick(0, 7)];
        l.reduction = i > 0 && !has_reduction && pick(0, 2) == 0;
        has_reduction |= l.reduction;
        loops.push_back(l);
    }
    // Strides that give each point of the loops, but for reductions, an element of its own.
    std::string output_index() {
        int stride = pick(1, 2);
        std::vector<size_t> order(loops.size());
        for (size_t i = 0; i < order.size(); i++) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        std::string index = str(pick(0, 3));
        for (size_t i : order) {
            if (loops[i].reduction) continue;
            index += str(" + (", loops[i].name, " - ", loops[i].min, ") * ", stride);
            stride *= loops[i].extent;
        }
        return index;
    }
    std::string number(int depth = 2) {
        if (depth == 0 || pick(0, 3) == 0) {
            return pick(0, 3) ? loops[size_t(pick(0, int(loops.size()) - 1))].name
                              : str(pick(0, 9));
        }
        std::string a = number(depth - 1), b = number(depth - 1);
        switch (pick(0, 6)) {
        case 0: return str("(", a, " + ", b, ")");
        case 1: return str("(", a, " - ", b, ")");
        case 2: return str("(", a, " * ", pick(-2, 3), ")");
        case 3: return str("(", a, " / ", pick(2, 3), ")");
        case 4: return str("(", a, " % ", pick(2, 4), ")");
        case 5: return str("select(", condition(), ", ", a, ", ", b, ")");
        default: return str("min(likely(", a, "), ", b, ")");
        }
    }
    std::string condition() {
        const std::string &v = loops[size_t(pick(0, int(loops.size()) - 1))].name;
        std::string test =
            str(v, one_of({" < ", " <= ", " > ", " >= ", " == ", " != "}), pick(-2, 6));
        return pick(0, 1) ? str("likely(", test, ")") : test;
    }
    std::string load() {
        std::string at = number();
        switch (pick(0, 3)) {
        case 0: return str("src[max(min(likely(", at, "), ", input_size - 1, "), 0)]");
        case 1: return str("src[max(likely_if_innermost(", at, ") % ", input_size, ", 0)]");
        case 2:
            return str("if_then_else((0 <= ", at, ") && (", at, " < ", input_size, "), src[", at,
                       "], 5)");
        default: return str("src[", at, " % ", input_size, "]");
        }
    }
    std::string value() {
        switch (pick(0, 3)) {
        case 0: return load();
        case 1: return str(load(), " + ", number());
        case 2: return str("max(", load(), ", ", load(), ")");
        default: return str("(let q = ", load(), " in q + select(q < 30, q, ", number(), "))");
        }
    }
    std::string inner_extent() {
        const Loop &l = loops[size_t(pick(0, int(loops.size()) - 1))];
        return pick(0, 1) ? str(pick(0, 3))
                          : str("(", l.name, " - ", l.min, ") % 3 + ", pick(0, 1));
    }

    void body(std::string &all, size_t depth) {
        std::string o = str("out[", output_index(), "]");
        if (has_reduction) {
            if (pick(0, 2) == 0) line(all, depth++, str("if ", condition(), ":"));
            std::string v = value();
            line(all, depth, "atomic out:");
            line(all, depth + 1,
                 one_of({str(o, " = ", o, " + (", v, ")"), str(o, " = (", v, ") + ", o),
                         str(o, " = min(", o, ", ", v, ")"), str(o, " = max(", v, ", ", o, ")"),
                         str(o, " = (", v, ") - ", o, " / 2")}));
            return;
        }
        switch (pick(0, 5)) {
        case 0: line(all, depth, str(o, " = ", value())); return;
        case 1:
            line(all, depth, str("let t = ", pick(0, 1) ? number() : load()));
            line(all, depth, str(o, " = src[max(min(t, ", input_size - 1, "), 0)] + ", value()));
            return;
        case 2:
            line(all, depth, str("if ", condition(), ":"));
            line(all, depth + 1, str(o, " = ", value()));
            if (pick(0, 1)) return;
            line(all, depth, "else:");
            line(all, depth + 1, str(o, " = ", value()));
            return;
        case 3:
            line(all, depth, str(o, " = ", value()));
            line(all, depth, str("for k in [", number(1), ", +", inner_extent(), "):"));
            line(all, depth + 1, str(o, " = ", o, " + src[max(min(likely(k), 63), 0)]"));
            return;
        case 4:
            line(all, depth,
                 str("allocate t: int32[", inner_extent(), " + 1] in ",
                     one_of({"Heap", "Auto", "Stack"})));
            line(all, depth, str("t[0] = ", value()));
            line(all, depth, str(o, " = t[", number(1), " * 0] + ", value()));
            return;
        default:
            std::string i = output_index();
            for (int k = 0; k < 3; k++) {
                line(all, depth, str("out[(", i, ") * 3 + ", (k * 2) % 3, "] = ", value()));
            }
        }
    }

    std::mt19937_64 random;
    std::vector<Loop> loops;
    bool has_reduction = false;
};

struct Outcome {
    int code = 0;
    std::vector<int32_t> output;
    friend bool operator==(const Outcome &, const Outcome &) = default;
};

Outcome execute(const Module &m, const Stmt &body) {
    std::vector<int32_t> src(input_size), out(output_size);
    for (int i = 0; i < input_size; i++) src[size_t(i)] = (i * 37) % 101;
    for (int i = 0; i < output_size; i++) out[size_t(i)] = i % 7;
    tessera_dimension_t dims[2] = {{0, output_size, 1, 0}, {0, input_size, 1, 0}};
    tessera_buffer_t buffers[2] = {};
    for (int i = 0; i < 2; i++) {
        buffers[i].host = reinterpret_cast<uint8_t *>(i ? src.data() : out.data());
        buffers[i].type = {tessera_type_int, 32, 1};
        buffers[i].dimensions = 1;
        buffers[i].dim = &dims[i];
    }
    void *args[] = {&buffers[0], &buffers[1]};
    interpret::StatementOptions options;
    options.outputs_have_values = true;
    LoweredFunction f = m.functions[0];
    f.body = body;
    return {interpret::run_statement(f, args, options), out};
}

Stmt simplify_all(const Stmt &s, const lower::Context &) { return algebra::simplify(s); }
Stmt share_all(const Stmt &s, const lower::Context &) {
    return algebra::common_subexpression_elimination(s);
}

constexpr lower::Pass vectorize_first[] = {{"vectorize", lower::vectorize_loops},
                                           {"atomics", lower::remove_needless_atomics},
                                           {"unroll", lower::unroll_loops},
                                           {"simplify", simplify_all},
                                           {"interleave", lower::interleave},
                                           {"partition", lower::partition_loops},
                                           {"likely", lower::remove_likely},
                                           {"simplify loops", simplify_all},
                                           {"trim", lower::trim_no_ops},
                                           {"bound", lower::bound_small_allocations},
                                           {"invariants", lower::hoist_loop_invariants},
                                           {"share", share_all},
                                           {"simplify again", simplify_all}};
constexpr lower::Pass unroll_first[] = {{"simplify", simplify_all},
                                        {"unroll", lower::unroll_loops},
                                        {"partition", lower::partition_loops},
                                        {"vectorize", lower::vectorize_loops},
                                        {"invariants", lower::hoist_loop_invariants},
                                        {"interleave", lower::interleave},
                                        {"trim", lower::trim_no_ops},
                                        {"likely", lower::remove_likely}};

std::string without(std::string text, const std::string &word) {
    for (size_t at; (at = text.find(word)) != std::string::npos;) text.erase(at, word.size());
    return text;
}

std::string serial(std::string text) {
    for (const char *word : {"vectorized ", "unrolled ", "parallel "}) text = without(text, word);
    return text;
}

// What went wrong, or nothing.
std::string check(const std::string &body, std::span<const lower::Pass> steps) {
    std::string head = "module \"m\"\nfunc \"f\"(out: output int32[1], src: input int32[1]):\n";
    Module reference = parse_module(head + serial(body)), m = parse_module(head + body);
    Outcome expected = execute(reference, reference.functions[0].body);
    Stmt s = m.functions[0].body;
    for (const lower::Pass &step : steps) {
        std::string before = to_string(s);
        try {
            s = step({"f", {}, s}, {});
            verify(s, step.name);
            if (execute(m, s) == expected) continue;
        } catch (const Error &e) {
            return str(step.name, ": ", e.what(), "\nof\n", body, "\nfrom\n", before, "\nmade\n",
                       s);
        }
        return str(step.name, " computes something else\nof\n", body, "\nfrom\n", before,
                   "\nmade\n", s);
    }
    return "";
}

uint64_t number_from(const char *variable, uint64_t otherwise) {
    const char *text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

TEST_SUITE("loop passes") {
    TEST_CASE("random loops compute the same after every pass") {
        using Clock = std::chrono::steady_clock;
        bool repeat = std::getenv("TESSERA_SEED");
        uint64_t seed = number_from("TESSERA_SEED", 1);
        auto end = Clock::now() + std::chrono::seconds(number_from("TESSERA_SECONDS", 2));
        int failures = 0, count = 0;
        while (failures < 3) {
            std::string text = RandomLoops(seed).text();
            for (std::span<const lower::Pass> steps :
                 {std::span<const lower::Pass>(vectorize_first),
                  std::span<const lower::Pass>(unroll_first)}) {
                std::string wrong = check(text, steps);
                if (wrong.empty()) continue;
                failures++;
                FAIL_CHECK("TESSERA_SEED=" << seed << "\n" << wrong);
            }
            seed++;
            count++;
            if (repeat || Clock::now() > end) break;
        }
        MESSAGE(count << " loop nests");
    }
}
