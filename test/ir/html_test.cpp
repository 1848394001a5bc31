#include "ir/module.h"
#include "ir/parser.h"
#include "ir/print_html.h"
#include "ir/printer.h"
#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::ir;

namespace {

bool has(const std::string &text, std::string_view part) {
    return text.find(part) != std::string::npos;
}
size_t count(const std::string &text, std::string_view part) {
    size_t n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) n++;
    return n;
}

// What a reader sees: the text without tags.
std::string without_tags(std::string html) {
    std::string seen;
    html = html.substr(html.find("</style>") + 8);
    bool inside = false;
    for (char c : html) {
        if (c == '<') inside = true;
        if (!inside) seen += c;
        if (c == '>') inside = false;
    }
    return seen;
}

}  // namespace

TEST_SUITE("IR as HTML") {
    TEST_CASE("lines have their statement and their indentation") {
        const Stmt s = parse_stmt("parallel for y in [0, +4):\n"
                                  "    let i = y * 2\n"
                                  "    if i < 3: f[i] = 1\n"
                                  "    else: f[i] = 2\n");
        const PrintedText printed = to_lines(s);
        CHECK(printed.text == to_string(s));
        REQUIRE(printed.lines.size() == 6);
        CHECK(printed[0] == "parallel for y in [0, +4):");
        CHECK(printed.lines[0].stmt.same_as(s));
        CHECK(printed[1] == "let i = y * 2");
        CHECK(printed.lines[1].stmt.as<LetStmt>() != nullptr);
        CHECK(printed.lines[1].indentation == 1);
        CHECK(printed[3] == "f[i] = 1");
        CHECK(printed[4] == "else:");
        CHECK_FALSE(printed.lines[4].stmt.defined());
        CHECK(printed[5] == "f[i] = 2");
        CHECK(printed.lines[5].stmt.as<Store>() != nullptr);
    }
    TEST_CASE("loops fold, and have a class by how they run") {
        const std::string html = to_html(parse_stmt("parallel for y in [0, +4):\n"
                                                    "    for x in [0, +8):\n"
                                                    "        vectorized for i in [0, +4):\n"
                                                    "            f[x * 4 + i] = y\n"));
        CHECK(count(html, "<details") == 3);
        CHECK(count(html, "</details>") == 3);
        CHECK(has(html, "<details open class=\"parallel\">"));
        CHECK(has(html, "<details open class=\"vectorized\">"));
        CHECK(has(html, "<b>parallel</b> <b>for</b> y in"));
    }
    TEST_CASE("the words are those of the text, and nothing is executed or fetched") {
        const std::string html = to_html(parse_stmt("for x in [0, +8):\n"
                                                    "    f[x] = select(x < 3 && x > 1, 1, 2)\n"));
        CHECK(has(without_tags(html), "f[x] = select(x &lt; 3 &amp;&amp; x &gt; 1, 1, 2)"));
        for (const char *word : {"<script", "http", "src=", "href", "@import", "url("}) {
            CAPTURE(word);
            CHECK_FALSE(has(html, word));
        }
        CHECK(has(html, "prefers-color-scheme: dark"));
    }
    TEST_CASE("an iteration's cost counts loops within it") {
        const std::string html = to_html(parse_stmt("for y in [0, +2):\n"
                                                    "    for x in [0, +8):\n"
                                                    "        f[x] = g[x] * 2 + g[x + 1]\n"));
        CHECK(has(html, ">3 ops, 2 loads, 1 store<"));     // of the store, and an iteration of x
        CHECK(has(html, ">24 ops, 16 loads, 8 stores<"));  // of an iteration of y
        const std::string many = to_html(parse_stmt("for y in [0, +2):\n"
                                                    "    for x in [0, +20000):\n"
                                                    "        f[x] = y\n"));
        CHECK(has(many, ">20k stores<"));
        const std::string unknown = to_html(parse_stmt("for y in [0, +2):\n"
                                                       "    for x in [0, +n):\n"
                                                       "        f[x] = g[x]\n"));
        CHECK(count(unknown, ">1 load, 1 store<") == 2);
    }
    TEST_CASE("many checks in a row are folded away, and no others") {
        std::string text;
        for (int i = 0; i < 5; i++) text += "assert n > " + std::to_string(i) + ", 0\n";
        CHECK(has(to_html(parse_stmt(text)), "5 checks of arguments"));
        CHECK_FALSE(has(to_html(parse_stmt("assert n > 0, 0\nf[n] = 1\n")), "checks of"));
    }
    TEST_CASE("a branch without work is folded, and one with stores is not") {
        CHECK(has(to_html(parse_stmt("if n > 0: no_op\n")), "<details><summary>"));
        CHECK(has(to_html(parse_stmt("if n > 0: f[n] = 1\n")), "<details open><summary>"));
    }
    TEST_CASE("many values with a name in a row are folded") {
        std::string text;
        for (int i = 0; i < 10; i++) text += "let v" + std::to_string(i) + " = n + 1\n";
        CHECK(has(to_html(parse_stmt(text + "f[n] = v9\n")), "10 values with a name"));
    }
    TEST_CASE("a store of a vector says of how many elements") {
        const std::string html = to_html(parse_stmt("f[ramp(x, 1, 8)] = x8(y:uint8)\n"));
        CHECK(has(html, "<div class=\"line vector\">"));
        CHECK(has(html, "1 store &times;8"));
    }
    TEST_CASE("where a loop comes from stands in a column, and names have no quotes") {
        const std::string html = to_html(
            parse_stmt("for `blur.x` in [0, +8) of blur x update 1:\n    f[`blur.x`] = 1\n"));
        CHECK(has(html, "<b>for</b> blur.x in [<i>0</i>, +<i>8</i>):"));
        CHECK(has(html, "<span class=\"func\">blur.update(1)</span>"));
        CHECK_FALSE(has(without_tags(html), " of blur"));
    }
    TEST_CASE("a module is a page with each of its functions") {
        const Module m = parse_module("module \"m\"\n"
                                      "func \"m\"(n: int32, out: output uint8[1]):\n"
                                      "    for x in [0, +n): out[x] = 1:uint8\n");
        const std::string page = html_page("a < b", to_html(m));
        CHECK(page.starts_with("<!DOCTYPE html>"));
        CHECK(has(page, "<title>a &lt; b</title>"));
        CHECK(has(page, "<q>&quot;m&quot;</q>"));
        CHECK(page.ends_with("</body></html>\n"));
    }
}
