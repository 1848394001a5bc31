#pragma once
#include "interpret/definition.h"
#include "interpret/statement.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lang/extern.h"
#include "lang/image_param.h"
#include "lang/inline_reductions.h"
#include "lower/lower.h"
#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <sstream>

// Lowers pipelines with the verifier after every pass, runs them twice (as compiled code, and by
// the statement interpreter), and compares with plain C++.
namespace tessera::test {

class Lowered {
public:
    explicit Lowered(const Func &output) : Lowered(std::vector<Func>{output}) {}
    explicit Lowered(const std::vector<Func> &outputs, Target target = get_host_target())
        : pipeline(outputs), target(target),
          module(lower::lower(pipeline.program(), target,
                              {.trace =
                                   [this](std::string_view pass, const ir::Stmt &s) {
                                       if (pass == "hoist storage") flat_text = ir::to_string(s);
                                       if (pass == "skip stages") region_text = ir::to_string(s);
                                   },
                               .verify = true})),
          final_text(ir::to_string(module)) {
        for (const auto &[name, address] : detail::registered_externs()) externs[name] = address;
    }

    // After all passes.
    const std::string &text() const { return final_text; }
    // After storage has been flattened: allocations and all loops as they were scheduled.
    const std::string &flat() const { return flat_text; }
    // Before that: regions, productions, calls.
    const std::string &regions() const { return region_text; }

    static int count(const std::string &text, const std::string &what) {
        int n = 0;
        for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) n++;
        return n;
    }
    int count(const std::string &what) const { return count(final_text, what); }
    const ir::Stmt &body() const { return module.functions[0].body; }
    // How many stores there are of so many lanes.
    int stores(int lanes) const {
        int n = 0;
        ir::for_each_node(module.functions[0].body,
                          [&](const ir::Store &s) { n += s.value.type().lanes() == lanes; });
        return n;
    }

    // Both runs must return 0 and agree in every bit.
    void run(const std::vector<Buffer<>> &outputs) const {
        std::vector<tessera_buffer_t *> raw;
        std::vector<Buffer<>> copies;
        for (const Buffer<> &b : outputs) {
            copies.push_back(b.copy());
            raw.push_back(copies.back().raw_buffer());
        }
        Pipeline(pipeline).realize(outputs, target);
        if (!interpreted) return;
        interpret(raw);
        for (size_t i = 0; i < outputs.size(); i++) require_equal(outputs[i], copies[i]);
    }

    // One output of one value, over these sizes (and mins), against reference(x, y, ...).
    template<typename T, typename F>
    void check(const std::vector<int> &sizes, F reference,
               const std::vector<int> &mins = {}) const {
        Buffer<T> out(sizes);
        if (!mins.empty()) out.set_min(mins);
        run({out});
        compare(out, reference);
    }

    template<typename T, typename F> static void compare(const Buffer<T> &out, F reference) {
        int wrong = 0;
        std::ostringstream first;
        out.for_each_element([&](const int *pos) {
            T expected = T(call(reference, pos)), got = out(pos);
            if (expected == got || wrong++) return;
            first << "at (";
            for (int d = 0; d < out.dimensions(); d++) first << (d ? ", " : "") << pos[d];
            first << "): " << +got << ", not " << +expected;
        });
        CHECK_MESSAGE(wrong == 0, wrong, " wrong elements; the first is ", first.str());
    }

    // All outputs, over these sizes, against what their definitions say, schedules aside. What is
    // undef stays 0.
    void check_definition(const std::vector<int> &sizes) const {
        std::vector<Buffer<>> computed, defined;
        std::vector<tessera_buffer_t *> raw;
        for (const ir::Argument &a : module.functions[0].args) {
            if (a.kind != ir::ArgumentKind::OutputBuffer) continue;
            for (auto *list : {&computed, &defined}) {
                list->emplace_back(a.type, sizes);
                std::memset(list->back().data(), 0, list->back().size_in_bytes());
            }
        }
        for (const Buffer<> &b : defined) raw.push_back(b.raw_buffer());
        interpret::DefinitionOptions options;
        options.externs = externs;
        interpret::evaluate_definition(pipeline.program(), raw, options);
        run(computed);
        for (size_t i = 0; i < defined.size(); i++) {
            bool equal =
                std::memcmp(computed[i].data(), defined[i].data(), defined[i].size_in_bytes()) == 0;
            CHECK_MESSAGE(equal, "output ", i, " is not what its definition says");
        }
    }

    bool interpreted = true;
    bool outputs_have_values = false;  // some of which stay, where the output is undef

private:
    template<typename F> static auto call(F f, const int *p) {
        if constexpr (std::is_invocable_v<F>)
            return f();
        else if constexpr (std::is_invocable_v<F, int>)
            return f(p[0]);
        else if constexpr (std::is_invocable_v<F, int, int>)
            return f(p[0], p[1]);
        else if constexpr (std::is_invocable_v<F, int, int, int>)
            return f(p[0], p[1], p[2]);
        else
            return f(p[0], p[1], p[2], p[3]);
    }

    void interpret(const std::vector<tessera_buffer_t *> &outputs) const {
        ir::Module final = module;
        for (const lower::ModulePass &pass : lower::module_passes()) {
            final = pass.run(final, target);
        }
        const ir::LoweredFunction &f = final.functions[0];
        std::vector<void *> args;
        size_t next = 0;
        for (const ir::Argument &a : f.args) {
            if (a.kind == ir::ArgumentKind::OutputBuffer) {
                args.push_back(outputs[next++]);
                continue;
            }
            auto *p = const_cast<program::Parameter *>(
                dynamic_cast<const program::Parameter *>(a.referent.get()));
            REQUIRE(p);
            args.push_back(p->is_buffer ? static_cast<void *>(p->buffer) : &p->scalar_bits);
        }
        interpret::StatementOptions options;
        options.externs = externs;
        options.outputs_have_values = outputs_have_values;
        options.module = &final;
        CHECK(interpret::run_statement(f, args, options) == 0);
    }

    static void require_equal(const Buffer<> &a, const Buffer<> &b) {
        CHECK_MESSAGE(std::memcmp(a.data(), b.data(), a.size_in_bytes()) == 0,
                      "compiled and interpreted results differ");
    }

    std::string flat_text, region_text;
    Pipeline pipeline;
    Target target;
    ir::Module module;
    std::string final_text;
    interpret::ExternMap externs;
};

}  // namespace tessera::test
