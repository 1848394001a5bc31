#pragma once
#include "ir/operators.h"
#include "ir/printer.h"
#include "lower/lower.h"
#include "program/apply.h"
#include "program/define.h"
#include <doctest/doctest.h>
#include <map>

// Small programs, built without the language, and what each pass makes of them.
namespace tessera::lower {

inline ir::Expr var(const char *name) {
    return ir::Variable::make(Int(32), Symbol::interned(name));
}

// A function of x and y (or of x alone, without dimensions), of int32 values.
class Small {
public:
    Small(const char *name, const ir::Expr &value, std::vector<const char *> args = {"x", "y"})
        : f(program::make_function(Symbol::fresh(name))) {
        std::vector<Symbol> symbols;
        for (const char *a : args) symbols.push_back(Symbol::interned(a));
        program::define_pure(f, symbols, {value}, {});
    }
    ir::Expr operator()(const ir::Expr &a) const { return program::call(f, {a}); }
    ir::Expr operator()(const ir::Expr &a, const ir::Expr &b) const {
        return program::call(f, {a, b});
    }
    ir::Expr operator()(const ir::Expr &a, const ir::Expr &b, const ir::Expr &c) const {
        return program::call(f, {a, b, c});
    }
    Small &schedule(const program::FuncDirective &directive) {
        program::apply(*f, directive, {});
        return *this;
    }
    Small &loops(const program::StageDirective &directive) {
        program::apply(program::stage_of(f, 0), directive, {});
        return *this;
    }
    Small &compute_root() { return schedule(program::ComputeLevel{program::LoopLevel::root()}); }
    Small &store_root() { return schedule(program::StoreLevel{program::LoopLevel::root()}); }
    Small &compute_at(const Small &consumer, const char *loop) {
        Symbol v = Symbol::interned(loop);
        return schedule(program::ComputeLevel{program::LoopLevel::at(consumer.f->name, v)});
    }

    program::FunctionRef f;
};

// The text of the program after each pass, as it was lowered with the verifier.
class Passes {
public:
    explicit Passes(const Small &output, const Target &target = Target("x86-64-linux")) {
        program::Program p;
        p.name = output.f->name.text();
        p.outputs = {output.f};
        LowerOptions options;
        options.verify = true;
        options.trace = [this](std::string_view pass, const ir::Stmt &s) {
            order.emplace_back(pass);
            texts[order.back()] = ir::to_string(s);
        };
        lower(p, target, options);
    }
    const std::string &after(const std::string &pass) const {
        REQUIRE_MESSAGE(texts.count(pass), "there is no pass ", pass);
        return texts.at(pass);
    }
    // As the pass found it.
    const std::string &before(const std::string &pass) const {
        for (size_t i = 1; i < order.size(); i++) {
            if (order[i] == pass) return texts.at(order[i - 1]);
        }
        FAIL("there is no pass ", pass);
        return texts.at(pass);
    }
    // Whether the parts stand in the text in this order.
    static bool has(const std::string &text, std::initializer_list<const char *> parts) {
        size_t at = 0;
        for (const char *part : parts) {
            at = text.find(part, at);
            if (at != text.npos) continue;
            MESSAGE(text, "   lacks   ", std::string(part));
            return false;
        }
        return true;
    }

private:
    std::vector<std::string> order;
    std::map<std::string, std::string> texts;
};

}  // namespace tessera::lower
