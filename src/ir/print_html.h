#pragma once
#include "ir/nodes.h"
#include <string>
#include <string_view>

// IR as HTML: the printer's text, with bodies that fold, colours for how loops run, the Func that a
// line works for, and how much an iteration computes. It needs no scripts and no other files, and
// is light or dark as the page around it is.
namespace tessera::ir {

struct Module;

// Return a part of a page: a style, and one <div>.
std::string to_html(const Stmt &s);
std::string to_html(const Module &m);

// Returns a page with such a part as its body.
std::string html_page(std::string_view title, std::string_view part);
// Returns the text with what has a meaning in HTML replaced, quotes too.
std::string html_escaped(std::string_view text);
// Returns the rules by which such parts are shown: the class of each is `tessera`.
std::string_view html_style();

}  // namespace tessera::ir
