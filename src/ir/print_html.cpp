#include "ir/print_html.h"
#include "base/str.h"
#include "ir/module.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include <algorithm>
#include <cctype>
#include <span>

namespace tessera::ir {
namespace {

constexpr std::string_view style = R"(
.tessera { --text: #24292f; --dim: #6e7781; --paper: #ffffff; --rule: #d8dee4; --shade: #f6f8fa;
  --word: #8250df; --number: #0550ae; --string: #0a6640;
  --parallel: #bc4c00; --vector: #0969da; --unroll: #1a7f37; --gpu: #8250df; --tensor: #bf3989;
  color: var(--text); background: var(--paper); font: 13px/1.5 ui-monospace, SFMono-Regular,
  Menlo, Consolas, monospace }
@media (prefers-color-scheme: dark) { .tessera { --text: #d1d7e0; --dim: #8d96a0;
  --paper: #0d1117; --rule: #30363d;
  --shade: #161b22; --word: #d2a8ff; --number: #79c0ff; --string: #7ee787; --parallel: #ffa657;
  --vector: #58a6ff;
  --unroll: #56d364; --gpu: #bc8cff; --tensor: #ff7bc8 } }
[data-jp-theme-light="true"] .tessera, .vscode-light .tessera { --text: #24292f; --dim: #6e7781;
  --paper: #ffffff;
  --rule: #d8dee4; --shade: #f6f8fa; --word: #8250df; --number: #0550ae; --string: #0a6640;
  --parallel: #bc4c00;
  --vector: #0969da; --unroll: #1a7f37; --gpu: #8250df; --tensor: #bf3989 }
[data-jp-theme-light="false"] .tessera, .vscode-dark .tessera { --text: #d1d7e0; --dim: #8d96a0;
  --paper: #0d1117;
  --rule: #30363d; --shade: #161b22; --word: #d2a8ff; --number: #79c0ff; --string: #7ee787;
  --parallel: #ffa657;
  --vector: #58a6ff; --unroll: #56d364; --gpu: #bc8cff; --tensor: #ff7bc8 }
.tessera details, .tessera summary { margin: 0; padding: 0 }
.tessera .line, .tessera summary { display: flex; gap: 1em; align-items: baseline;
  padding: 0 .4em 0 1.1em; cursor: default }
.tessera summary { list-style: none; cursor: pointer; position: relative }
.tessera summary::-webkit-details-marker { display: none }
.tessera summary::before { content: "\25B8"; position: absolute; left: .15em; color: var(--dim) }
.tessera details[open] > summary::before { content: "\25BE" }
.tessera .line:hover, .tessera summary:hover { background: var(--shade) }
.tessera .body { margin-left: .55em; padding-left: .9em; border-left: 1px solid var(--rule) }
.tessera .code { flex: 1; white-space: pre-wrap; overflow-wrap: anywhere; padding-left: 2em;
  text-indent: -2em }
.tessera .func, .tessera .cost { color: var(--dim); font-size: 11px; white-space: nowrap;
  flex: none; text-align: right }
.tessera .func { width: 9em; overflow: hidden; text-overflow: ellipsis }
.tessera .cost { width: 19em }
.tessera .dim { color: var(--dim) } .tessera b { color: var(--word); font-weight: 600 }
.tessera i { font-style: normal; color: var(--number) } .tessera q { quotes: none;
  color: var(--string) }
.tessera .parallel > .body { border-color: var(--parallel) }
.tessera .parallel > summary b { color: var(--parallel) }
.tessera .vectorized > .body { border-color: var(--vector) }
.tessera .vectorized > summary b { color: var(--vector) }
.tessera .unrolled > .body { border-color: var(--unroll) }
.tessera .unrolled > summary b { color: var(--unroll) }
.tessera .gpu > .body { border-color: var(--gpu) } .tessera .gpu > summary b { color: var(--gpu) }
.tessera .tensor > .body { border-color: var(--tensor) }
.tessera .tensor > summary b { color: var(--tensor) }
.tessera .vector .cost { color: var(--vector) }
.tessera .legend { padding: .3em 1.1em; color: var(--dim) }
.tessera .legend span { margin-right: 1.2em }
.tessera .legend .p { color: var(--parallel) } .tessera .legend .v { color: var(--vector) }
.tessera .legend .u { color: var(--unroll) } .tessera .legend .g { color: var(--gpu) }
.tessera .legend .t { color: var(--tensor) }
@media (max-width: 700px) { .tessera .cost { display: none } }
)";

constexpr std::string_view legend =
    "<div class=\"legend\"><span class=\"p\">parallel</span><span class=\"v\">vectorized</span>"
    "<span class=\"u\">unrolled</span><span class=\"g\">GPU</span>"
    "<span class=\"t\">tensor</span></div>\n";

// The class of the body of a loop; a serial loop has none.
const char *class_of(LoopKind kind) {
    switch (kind) {
    case LoopKind::Serial: return "";
    case LoopKind::Parallel: return "parallel";
    case LoopKind::Vectorized: return "vectorized";
    case LoopKind::Unrolled: return "unrolled";
    case LoopKind::Tensorized: return "tensor";
    default: return "gpu";
    }
}

// Counts what one execution of a statement does, as far as that is known: a vector counts as one.
struct Cost {
    int64_t operations = 0, loads = 0, stores = 0;
    bool is_known = true;
    bool is_work = false;  // there is a loop, or something that the user asked for
    int lanes = 1;         // of what a leaf stores

    Cost &operator+=(const Cost &c) {
        operations += c.operations;
        loads += c.loads;
        stores += c.stores;
        is_known &= c.is_known;
        is_work |= c.is_work;
        return *this;
    }
    std::string text() const {
        if (!is_known || operations + loads + stores == 0) return "";
        std::vector<std::string> parts;
        const auto add = [&](int64_t n, const char *one, const char *many) {
            const std::string amount = n < 10'000 ? str(n) : str(n / 1000, "k");
            if (n > 0) parts.push_back(str(amount, " ", n == 1 ? one : many));
        };
        add(operations, "op", "ops");
        add(loads, "load", "loads");
        add(stores, "store", "stores");
        if (lanes > 1) parts.back() += str(" &times;", lanes);
        return join(parts);
    }
};

// Counts what a leaf of statements computes, each expression that it shares once.
class CostOfLeaf final : public Visitor {
public:
    Cost cost;

private:
    void visit(const Store &s) override {
        cost.stores++;
        cost.is_work = true;
        cost.lanes = s.value.type().lanes();
        Visitor::visit(s);
    }
    void visit(const Provide &p) override {
        cost.stores += int64_t(p.values.size());
        cost.is_work = true;
        Visitor::visit(p);
    }
    void visit(const Load &l) override {
        cost.loads++;
        Visitor::visit(l);
    }
    void visit(const Call &c) override {
        cost.loads++;
        Visitor::visit(c);
    }
    void visit(const IntrinsicCall &c) override { operation(c); }
    void visit(const ExternCall &c) override {
        cost.is_work = true;
        operation(c);
    }
    void visit(const VectorReduce &v) override { operation(v); }
    void visit(const Select &s) override { operation(s); }
    void visit(const Cast &c) override { operation(c); }
#define OPERATION(T)                                                                               \
    void visit(const T &node) override { operation(node); }
    // clang-format off
    OPERATION(Add) OPERATION(Sub) OPERATION(Mul) OPERATION(Div) OPERATION(Mod) OPERATION(Min)
    OPERATION(Max) OPERATION(EQ) OPERATION(NE) OPERATION(LT) OPERATION(LE) OPERATION(GT)
    OPERATION(GE) OPERATION(And) OPERATION(Or) OPERATION(Not)
    // clang-format on
#undef OPERATION
                template<typename T> void operation(const T &node) {
        cost.operations++;
        Visitor::visit(node);
    }
};

bool is_leaf_statement(const Stmt &s) {
    return s.as<Store>() || s.as<Provide>() || s.as<Evaluate>();
}

class HtmlPrinter {
public:
    explicit HtmlPrinter(const PrintedText &printed) : printed(printed) {}

    std::string print() {
        while (at < printed.lines.size()) list();
        return str("<style>", style, "</style>\n<div class=\"tessera\">\n", legend, out,
                   "</div>\n");
    }

private:
    const PrintedLine &line() const { return printed.lines[at]; }
    bool has_body(size_t i) const {
        return i + 1 < printed.lines.size() &&
               printed.lines[i + 1].indentation > printed.lines[i].indentation;
    }

    // Prints the lines from here on that are indented alike, and what is in them.
    Cost list() {
        const int indentation = line().indentation;
        Cost cost;
        while (at < printed.lines.size() && line().indentation >= indentation) {
            if (const size_t checks = count_alike<AssertStmt>(); checks > 3)
                fold_alike(checks, "checks of arguments");
            else if (const size_t names = count_alike<LetStmt>(); names > 8)
                fold_alike(names, "values with a name");
            else
                cost += has_body(at) ? folding() : leaf();
        }
        return cost;
    }

    // A pipeline begins with many checks, and with values that have a name.
    template<typename T> size_t count_alike() const {
        const auto is_alike = [this](const PrintedLine &l) {
            return l.indentation == line().indentation && l.stmt.as<T>();
        };
        const std::span rest = std::span(printed.lines).subspan(at);
        return size_t(std::ranges::find_if_not(rest, is_alike) - rest.begin());
    }
    void fold_alike(size_t count, const char *what) {
        out += str("<details><summary><span class=\"code dim\">", count, " ", what,
                   "</span></summary><div class=\"body\">\n");
        for (size_t i = 0; i < count; i++) leaf();
        out += "</div></details>\n";
    }

    Cost leaf() {
        Cost cost;
        if (is_leaf_statement(line().stmt)) {
            CostOfLeaf count;
            count(line().stmt);
            cost = count.cost;
        }
        const bool dim = line().stmt.as<AssertStmt>() || line().stmt.as<LetStmt>();
        out += str("<div class=\"line", cost.lanes > 1 ? " vector" : "", "\">", code(dim),
                   columns(func_of(line().stmt), cost.text()), "</div>\n");
        at++;
        return cost;
    }

    // Prints a line with a body. What the body costs is known only after it.
    Cost folding() {
        const Stmt s = line().stmt;
        const auto *loop = s.as<For>();
        const std::string text = code(false);
        at++;
        std::string before = std::exchange(out, {});
        const std::string outer = func;
        if (const std::string own = func_of(s); !own.empty()) func = own;
        Cost cost = list();
        const std::string kind = loop ? class_of(loop->loop_kind) : "";
        const std::string label = loop || s.as<ProducerConsumer>() ? func : "";
        // The branch that answers a question for the sizes of buffers is folded, for example.
        const bool is_open = cost.is_work || !s.as<IfThenElse>();
        before += str("<details", is_open ? " open" : "",
                      kind.empty() ? "" : str(" class=\"", kind, "\""), "><summary>", text,
                      columns(label, loop ? cost.text() : ""), "</summary><div class=\"body\">\n");
        out = before + out + "</div></details>\n";
        func = outer;
        if (loop) cost = repeated(cost, *loop);
        return cost;
    }

    static Cost repeated(Cost cost, const For &loop) {
        const auto *extent = loop.extent.as<IntImm>();
        cost.is_work = true;
        cost.lanes = 1;
        if (!extent || extent->value > 1'000'000) cost.is_known = false;
        if (!cost.is_known) return cost;
        // A loop in lanes computes vectors.
        if (traits_of(loop.loop_kind).is_in_lanes) return cost;
        cost.operations *= extent->value;
        cost.loads *= extent->value;
        cost.stores *= extent->value;
        return cost;
    }

    // The Func that a statement works for, where it says so itself.
    std::string func_of(const Stmt &s) const {
        if (!s.defined()) return "";
        if (const auto *loop = s.as<For>())
            return loop->origin.known() ? text_of(loop->origin) : "";
        if (const auto *p = s.as<ProducerConsumer>()) return p->is_producer ? p->func.text() : "";
        if (const auto *a = s.as<Allocate>()) {
            return a->facts.func.defined() ? a->facts.func.text() : "";
        }
        if (const auto *p = s.as<Provide>()) return p->func.text();
        return s.as<Store>() ? func : "";
    }
    static std::string text_of(const LoopOrigin &origin) {
        return origin.stage > 0 ? str(origin.func, ".update(", origin.stage - 1, ")")
                                : origin.func.text();
    }

    static std::string columns(const std::string &of, const std::string &cost) {
        return str("<span class=\"func\">", html_escaped(of), "</span><span class=\"cost\">", cost,
                   "</span>");
    }

    // ---- Words of a line ----

    std::string code(bool dim) const {
        std::string_view text = printed[at];
        // Where a loop comes from stands in a column of its own.
        const auto *loop = line().stmt.as<For>();
        const bool has_origin = loop && loop->origin.known();
        if (has_origin) text = text.substr(0, text.rfind(" of "));
        return str("<span class=\"code", dim ? " dim" : "", "\">", highlighted(text),
                   has_origin ? ":" : "", "</span>");
    }

    static bool is_word(char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '.'; }
    static bool is_keyword(std::string_view word) {
        static constexpr std::string_view words[] = {
            "for",      "if",       "else",       "let",      "produce", "consume", "allocate",
            "realize",  "assert",   "hoist",      "fork",     "with",    "acquire", "atomic",
            "prefetch", "func",     "body",       "task",     "part",    "kernel",  "module",
            "invoke",   "parallel", "vectorized", "unrolled", "mma",     "wgmma",   "machine_op"};
        return word.starts_with("gpu_") || std::ranges::find(words, word) != std::end(words);
    }
    static std::string marked(char tag, std::string_view text) {
        return str("<", tag, ">", html_escaped(text), "</", tag, ">");
    }
    static std::string highlighted(std::string_view text) {
        std::string result;
        bool at_start = true;  // keywords begin a line, one or two of them
        while (!text.empty()) {
            size_t n = 1;
            if (text[0] == '"') {
                while (n < text.size() && text[n] != '"') n += text[n] == '\\' ? 2 : 1;
                n = std::min(n + 1, text.size());
                result += marked('q', text.substr(0, n));
            } else if (is_word(text[0])) {
                n = size_t(std::ranges::find_if_not(text, is_word) - text.begin());
                const std::string_view word = text.substr(0, n);
                at_start = at_start && is_keyword(word);
                if (at_start)
                    result += marked('b', word);
                else if (std::isdigit(uint8_t(word[0])))
                    result += marked('i', word);
                else
                    result += html_escaped(word);
            } else if (text[0] != '`') {  // quotes of names
                result += html_escaped(text.substr(0, 1));
            }
            text.remove_prefix(n);
        }
        return result;
    }

    const PrintedText &printed;
    size_t at = 0;
    std::string out;
    std::string func;  // whose production or loop is around
};

}  // namespace

std::string html_escaped(std::string_view text) {
    std::string escaped;
    for (char c : text) {
        switch (c) {
        case '<': escaped += "&lt;"; break;
        case '>': escaped += "&gt;"; break;
        case '&': escaped += "&amp;"; break;
        case '"': escaped += "&quot;"; break;
        default: escaped += c;
        }
    }
    return escaped;
}

std::string_view html_style() { return style; }

std::string html_page(std::string_view title, std::string_view part) {
    return str("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width\">"
               "<meta name=\"color-scheme\" content=\"light dark\"><title>",
               html_escaped(title), "</title></head>\n<body>\n", part, "</body></html>\n");
}

std::string to_html(const Stmt &s) { return HtmlPrinter(to_lines(s)).print(); }
std::string to_html(const Module &m) { return HtmlPrinter(to_lines(m)).print(); }

}  // namespace tessera::ir
