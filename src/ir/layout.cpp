#include "ir/layout.h"
#include "base/error.h"
#include "ir/layout_elements.h"
#include "ir/operators.h"
#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <set>
#include <unordered_set>

namespace tessera::ir {

namespace {

// Reads names, numbers and marks of the text of a layout, and skips blanks before each.
class LayoutText {
public:
    explicit LayoutText(std::string_view text) : text(text), rest(text) {}

    bool at_end() { return skip().empty(); }
    bool at_number() { return !skip().empty() && is_digit(rest[0]); }
    bool accept(std::string_view mark) {
        if (!skip().starts_with(mark)) return false;
        rest.remove_prefix(mark.size());
        return true;
    }
    void expect(std::string_view mark) {
        if (!accept(mark)) fail(str("'", mark, "'"));
    }
    std::string name() {
        skip();
        size_t length = 0;
        while (length < rest.size() && is_letter(rest[length])) length++;
        if (length == 0) fail("a name");
        const std::string found(rest.substr(0, length));
        rest.remove_prefix(length);
        return found;
    }
    // A number above zero.
    int64_t number() {
        skip();
        int64_t value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc() || value <= 0) fail("a number above zero");
        rest.remove_prefix(size_t(end - rest.data()));
        return value;
    }
    [[noreturn]] void fail(const std::string &wanted) const {
        throw CompileError(
            str("the layout \"", text, "\": it has to have ", wanted, " before \"", rest, '"'));
    }

private:
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    static bool is_letter(char c) {
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }
    std::string_view skip() {
        while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
        return rest;
    }
    std::string_view text, rest;
};

LayoutDigit read_digit(LayoutText &text, const Layout &layout) {
    const std::string name = text.name();
    const LayoutCoordinate *of = layout.coordinate(name);
    if (!of) text.fail("a coordinate");
    LayoutDigit digit{.coordinate = size_t(of - layout.coordinates.data())};
    if (text.accept("/")) digit.divisor = text.number();
    digit.extent = text.accept("%") ? text.number() : of->extent / digit.divisor;
    if (text.accept("*")) digit.stride = text.number();
    if (digit.extent == 0 || of->extent % (digit.divisor * digit.extent) != 0)
        text.fail(str("a digit that divides the ", of->extent, " of ", name));
    return digit;
}

LayoutOutput read_output(LayoutText &text, const Layout &layout) {
    LayoutOutput output{text.name(), 0, {}};
    if (text.accept("^")) output.swizzle = text.number();
    if (!std::ranges::count(std::array{0, 32, 64, 128}, output.swizzle))
        text.fail("a swizzle of 32, 64 or 128 bytes");
    text.expect("(");
    do {
        if (text.at_number())
            text.expect("0");
        else
            output.digits.push_back(read_digit(text, layout));
    } while (text.accept("+"));
    text.expect(")");
    return output;
}

void print(std::ostream &out, const LayoutDigit &d, const LayoutCoordinate &of) {
    out << of.name;
    if (d.divisor != 1) out << '/' << d.divisor;
    if (d.divisor * d.extent != of.extent) out << '%' << d.extent;
    if (d.stride != 1) out << '*' << d.stride;
}

int64_t sum_of_digits(const LayoutOutput &output, std::span<const int64_t> element) {
    int64_t sum = 0;
    for (const LayoutDigit &d : output.digits)
        sum += element[d.coordinate] / d.divisor % d.extent * d.stride;
    return sum;
}

// Returns the part of the digit `inner` that falls into the digit `outer` of its value. The extent
// is 1 if there is none.
LayoutDigit part_of(const LayoutDigit &inner, const LayoutDigit &outer) {
    const int64_t low = std::max(inner.stride, outer.divisor),
                  high = std::min(inner.stride * inner.extent, outer.divisor * outer.extent);
    if (low >= high || inner.extent == 1) return {};
    if (low % inner.stride != 0 || low % outer.divisor != 0 || high % low != 0 ||
        inner.stride * inner.extent % high != 0)
        throw InternalError("the digits of two layouts do not divide each other");
    return {inner.coordinate, inner.divisor * (low / inner.stride), high / low,
            outer.stride * (low / outer.divisor)};
}

template<typename Named>
const Named *find_named(const std::vector<Named> &all, std::string_view name) {
    const auto found = std::ranges::find(all, name, &Named::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

void for_each_element(const Layout &layout,
                      const std::function<void(std::span<const int64_t>)> &visit) {
    std::vector<int64_t> element(layout.coordinates.size(), 0);
    for (int64_t left = layout.size(); left > 0; left--) {
        visit(element);
        for (size_t i = element.size(); i-- > 0;) {
            if (++element[i] < layout.coordinates[i].extent) break;
            element[i] = 0;
        }
    }
}

int64_t LayoutOutput::extent() const {
    int64_t last = 0;
    for (const LayoutDigit &d : digits) last += (d.extent - 1) * d.stride;
    return last + 1;
}

const LayoutCoordinate *Layout::coordinate(std::string_view name) const {
    return find_named(coordinates, name);
}

const LayoutOutput *Layout::output(std::string_view name) const {
    return find_named(outputs, name);
}

int64_t Layout::size() const {
    int64_t all = 1;
    for (const LayoutCoordinate &c : coordinates) all *= c.extent;
    return all;
}

Layout parse_layout(std::string_view source) {
    LayoutText text(source);
    Layout layout;
    while (!text.accept("->")) {
        std::string name = text.name();
        if (layout.coordinate(name)) text.fail("another name of a coordinate");
        text.expect(":");
        layout.coordinates.push_back({std::move(name), text.number()});
    }
    while (!text.at_end()) layout.outputs.push_back(read_output(text, layout));
    return layout;
}

std::ostream &operator<<(std::ostream &out, const Layout &layout) {
    for (const LayoutCoordinate &c : layout.coordinates) out << c.name << ':' << c.extent << ' ';
    out << "->";
    for (const LayoutOutput &output : layout.outputs) {
        out << ' ' << output.name;
        if (output.swizzle != 0) out << '^' << output.swizzle;
        out << '(';
        const char *between = "";
        for (const LayoutDigit &d : output.digits) {
            out << between;
            print(out, d, layout.coordinates[d.coordinate]);
            between = " + ";
        }
        out << (output.digits.empty() ? "0)" : ")");
    }
    return out;
}

std::vector<int64_t> place_of(const Layout &layout, std::span<const int64_t> element,
                              int64_t base) {
    std::vector<int64_t> place;
    for (const LayoutOutput &output : layout.outputs) {
        const bool is_last = &output == &layout.outputs.back();
        place.push_back(
            swizzled(sum_of_digits(output, element) + (is_last ? base : 0), output.swizzle));
    }
    return place;
}

std::optional<std::vector<int64_t>> element_at(const Layout &layout, std::span<const int64_t> place,
                                               int64_t base) {
    std::vector<int64_t> element(layout.coordinates.size(), 0);
    for (size_t i = 0; i < place.size(); i++) {
        const LayoutOutput &output = layout.outputs[i];
        int64_t rest = swizzled(place[i], output.swizzle) - (i + 1 == place.size() ? base : 0);
        std::vector<LayoutDigit> digits = output.digits;
        std::ranges::sort(digits, std::greater(), &LayoutDigit::stride);
        for (const LayoutDigit &d : digits) {
            const int64_t value = std::clamp<int64_t>(rest / d.stride, 0, d.extent - 1);
            element[d.coordinate] += value * d.divisor;
            rest -= value * d.stride;
        }
    }
    const bool is_there = std::ranges::equal(place_of(layout, element, base), place);
    return is_there ? std::optional(element) : std::nullopt;
}

Expr value_of(const LayoutOutput &output, std::span<const LayoutCoordinate> coordinates,
              std::span<const Expr> element) {
    Expr sum;
    for (const LayoutDigit &d : output.digits) {
        if (d.extent == 1) continue;
        Expr digit = element[d.coordinate];
        if (d.divisor != 1) digit = digit / int32_t(d.divisor);
        if (d.divisor * d.extent != coordinates[d.coordinate].extent)
            digit = digit % int32_t(d.extent);
        if (d.stride != 1) digit = digit * int32_t(d.stride);
        sum = sum.defined() ? sum + digit : digit;
    }
    return sum.defined() ? sum : Expr(0);
}

LayoutOutput in_units_of(const LayoutOutput &output, int64_t unit) {
    LayoutOutput result = output;
    for (LayoutDigit &d : result.digits) {
        if (d.stride % unit != 0)
            throw InternalError(str("a layout with a stride of ", d.stride, ", which is no ",
                                    "multiple of ", unit));
        d.stride /= unit;
    }
    return result;
}

int64_t neighbours(const LayoutOutput &output, size_t coordinate, int64_t unit) {
    for (const LayoutDigit &d : output.digits) {
        if (d.coordinate == coordinate && d.divisor == 1 && d.stride == unit) return d.extent;
    }
    return 1;
}

bool is_injective(const Layout &layout) {
    std::set<std::vector<int64_t>> places;
    for_each_element(layout, [&](auto element) { places.insert(place_of(layout, element)); });
    return int64_t(places.size()) == layout.size();
}

bool is_bijective(const Layout &layout) {
    int64_t places = 1;
    for (const LayoutOutput &output : layout.outputs) places *= output.extent();
    return places == layout.size() && is_injective(layout);
}

bool is_identity(const Layout &layout) {
    bool same = layout.outputs.size() == layout.coordinates.size();
    for_each_element(layout, [&](auto element) {
        same = same && std::ranges::equal(place_of(layout, element), element);
    });
    return same;
}

Layout inverse(const Layout &layout) {
    Layout result;
    for (const LayoutCoordinate &c : layout.coordinates) result.outputs.push_back({c.name, 0, {}});
    for (const LayoutOutput &output : layout.outputs) {
        if (output.swizzle != 0) throw InternalError("a swizzled layout has no inverse in digits");
        for (const LayoutDigit &d : output.digits)
            result.outputs[d.coordinate].digits.push_back(
                {result.coordinates.size(), d.stride, d.extent, d.divisor});
        result.coordinates.push_back({output.name, output.extent()});
    }
    if (!is_bijective(layout)) throw InternalError(str("the layout ", layout, " has no inverse"));
    return result;
}

Layout compose(const Layout &outer, const Layout &inner) {
    Layout result{inner.coordinates, {}};
    for (const LayoutOutput &output : outer.outputs) {
        LayoutOutput composed{output.name, output.swizzle, {}};
        for (const LayoutDigit &second : output.digits) {
            const std::string &name = outer.coordinates[second.coordinate].name;
            const LayoutOutput *from = inner.output(name);
            if (!from || from->swizzle != 0)
                throw InternalError(str("the layout ", inner, " gives no plain ", name));
            for (const LayoutDigit &first : from->digits) {
                const LayoutDigit both = part_of(first, second);
                if (both.extent > 1) composed.digits.push_back(both);
            }
        }
        result.outputs.push_back(composed);
    }
    return result;
}

Layout tiled(const Layout &tile, std::span<const int64_t> extents, std::string_view name) {
    Layout result = tile;
    const auto output = std::ranges::find(result.outputs, name, &LayoutOutput::name);
    if (output == result.outputs.end() || extents.size() != tile.coordinates.size())
        throw InternalError(str("tiles of the layout ", tile, " in ", name));
    int64_t stride = output->extent();
    for (size_t i = extents.size(); i-- > 0;) {
        const int64_t extent = tile.coordinates[i].extent, count = extents[i] / extent;
        if (count * extent != extents[i])
            throw InternalError(str(extents[i], " is no multiple of ", extent));
        result.coordinates[i].extent = extents[i];
        if (count == 1) continue;
        output->digits.insert(output->digits.begin(), {i, extent, count, stride});
        stride *= count;
    }
    return result;
}

Layout panel_layout(std::span<const int64_t> extents, int64_t element_bytes) {
    const int64_t row = extents[0], panel = std::min(row, most_swizzle / element_bytes),
                  panel_bytes = panel * element_bytes;
    if (row % panel != 0) throw InternalError(str("a row of ", row, " in panels of ", panel));
    // The slots of a row that are an odd number are in all banks in turns.
    const int64_t swizzle = std::gcd(panel_bytes, most_swizzle);
    LayoutOutput byte{"byte", swizzle > slot_bytes ? swizzle : 0, {{0, 1, panel, element_bytes}}};
    Layout layout;
    int64_t stride = panel_bytes;
    for (size_t d = 0; d < extents.size(); d++)
        layout.coordinates.push_back({str('d', d), extents[d]});
    const auto add = [&](size_t d, int64_t divisor, int64_t extent) {
        if (extent > 1) byte.digits.push_back({d, divisor, extent, stride});
        stride *= extent;
    };
    for (size_t d = 1; d + 1 < extents.size(); d++) add(d, 1, extents[d]);
    add(0, panel, row / panel);
    if (extents.size() > 1) add(extents.size() - 1, 1, extents.back());
    layout.outputs.push_back(std::move(byte));
    return layout;
}

}  // namespace tessera::ir
