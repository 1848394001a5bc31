#include "sizes.h"
#include "base/error.h"
#include "convert.h"
#include "hooks.h"
#include <algorithm>
#include <numeric>

namespace tessera::run {
namespace {

// A region that changes with the answers is asked for so many times.
constexpr int most_questions = 4;
// An output that may be larger than the largest input so many times may have any size.
constexpr int64_t most_growth = 4;
constexpr int64_t longest_dimension = 1 << 28;

bool same(const Dimensions &a, const Dimensions &b) { return std::ranges::equal(a, b); }

}  // namespace

std::vector<int> extents_of(const Dimensions &dims) {
    std::vector<int> extents;
    for (const tessera_dimension_t &d : dims) extents.push_back(d.extent);
    return extents;
}

Dimensions dense(const std::vector<int> &mins, const std::vector<int> &extents,
                 const Dimensions &like) {
    std::vector<size_t> order(extents.size());
    std::iota(order.begin(), order.end(), size_t(0));
    bool ordered = like.size() == extents.size() &&
                   std::ranges::all_of(like, [](const auto &d) { return d.stride > 0; });
    // A dimension of extent 1 has the stride of the next.
    auto before = [&](size_t a, size_t b) { return like[a].stride < like[b].stride; };
    if (ordered) std::ranges::stable_sort(order, before);
    Dimensions dims(extents.size());
    int64_t stride = 1;
    for (size_t d : order) {
        if (stride > INT32_MAX) {
            throw RuntimeError(
                str(extents_text(extents), " are more elements than a buffer can have"));
        }
        dims[d] = {mins[d], extents[d], int32_t(stride)};
        stride *= std::max(extents[d], 1);
    }
    return dims;
}

bool estimates_of(const ArgumentInfo &about, std::vector<int> &mins, std::vector<int> &extents) {
    if (!about.buffer_estimates) return false;
    mins.assign(size_t(about.dimensions), 0);
    extents.assign(size_t(about.dimensions), 0);
    for (size_t d = 0; d < mins.size(); d++) {
        const int64_t *min = about.buffer_estimates[2 * d];
        const int64_t *extent = about.buffer_estimates[2 * d + 1];
        if (!extent) return false;
        if (min) mins[d] = int(*min);
        extents[d] = int(*extent);
    }
    return true;
}

Sizes::Sizes(const Function &f, std::vector<void *> scalars, std::vector<BufferSize> &buffers)
    : f(f), scalars(std::move(scalars)), buffers(buffers) {}

bool Sizes::ask_once(std::vector<Dimensions> &dims) {
    std::vector<tessera_buffer_t> raw(buffers.size());
    std::vector<void *> args = scalars;
    size_t next = 0;
    for (size_t i = 0; i < buffers.size(); i++) {
        raw[i] = {};
        raw[i].type = buffers[i].about->type;
        raw[i].dimensions = buffers[i].about->dimensions;
        raw[i].dim = dims[i].data();
        while (args[next]) next++;
        args[next++] = &raw[i];
    }
    refusal = Hooks::call(f, args);
    return refusal.empty();
}

bool Sizes::ask(const OutputExtents &extents) {
    std::vector<Dimensions> dims(buffers.size());
    size_t output = 0;
    for (size_t i = 0; i < buffers.size(); i++) {
        BufferSize &b = buffers[i];
        size_t n = size_t(b.about->dimensions);
        std::vector<int> given(n, 0), mins(n, 0);
        if (b.is_known) mins = b.mins, given = b.extents;
        if (b.is_output()) given = extents[output++];
        dims[i] = dense(mins, given, {});
    }
    for (int question = 0; question < most_questions; question++) {
        std::vector<Dimensions> answer = dims;
        if (!ask_once(answer)) return false;
        bool changed = false;
        for (size_t i = 0; i < buffers.size(); i++) {
            buffers[i].needed = answer[i];
            if (buffers[i].is_known && !buffers[i].is_output()) continue;
            changed = changed || !same(answer[i], dims[i]);
            dims[i] = answer[i];
        }
        if (!changed) break;
    }
    return true;
}

const BufferSize *Sizes::small_input() const {
    for (const BufferSize &b : buffers) {
        if (!b.is_known || b.is_output()) continue;
        for (size_t d = 0; d < b.extents.size(); d++) {
            if (b.needed[d].extent > b.extents[d]) return &b;
        }
    }
    return nullptr;
}

Sizes::OutputExtents Sizes::outputs_of(const std::function<int(size_t, int)> &extent) const {
    OutputExtents all;
    for (const BufferSize &b : buffers) {
        if (!b.is_output()) continue;
        std::vector<int> extents = b.extents;
        if (!b.is_known) {
            extents.clear();
            for (int d = 0; d < b.about->dimensions; d++) extents.push_back(extent(all.size(), d));
        }
        all.push_back(extents);
    }
    return all;
}

int Sizes::first_input_extent(int dimension) const {
    for (const BufferSize &b : buffers) {
        if (b.is_output() || !b.is_known || b.about->dimensions <= dimension) continue;
        return b.extents[size_t(dimension)];
    }
    return 1;
}

int Sizes::longest_input_extent() const {
    int longest = 1;
    for (const BufferSize &b : buffers) {
        if (b.is_output() || !b.is_known) continue;
        for (int extent : b.extents) longest = std::max(longest, extent);
    }
    return longest;
}

// All else is as small as can be: what is needed along one dimension seldom depends on another.
int Sizes::largest_extent(size_t output, int dimension) {
    auto fits = [&](int64_t extent) {
        auto asked = outputs_of(
            [&](size_t o, int d) { return o == output && d == dimension ? int(extent) : 1; });
        return ask(asked) && !small_input();
    };
    int64_t limit = std::min(most_growth * longest_input_extent(), longest_dimension);
    if (fits(limit)) return first_input_extent(dimension);
    int64_t low = 1, high = limit;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        (fits(middle) ? low : high) = middle;
    }
    return int(low);
}

void Sizes::take_estimates() {
    for (BufferSize &b : buffers) {
        if (b.is_output() && !b.is_known) b.is_known = estimates_of(*b.about, b.mins, b.extents);
    }
}

void Sizes::require_something_known() {
    auto known = [](const BufferSize &b) { return b.is_known && b.about->dimensions > 0; };
    auto open = [](const BufferSize &b) {
        return b.is_output() && !b.is_known && b.about->dimensions > 0;
    };
    if (std::ranges::any_of(buffers, known)) return;
    take_estimates();
    for (const BufferSize &b : buffers) {
        if (!open(b)) continue;
        throw RuntimeError(str("how large ", b.about->name,
                               " is to be is not known: say "
                               "--output_extents=[...]"));
    }
}

void Sizes::refuse(const BufferSize &small) const {
    std::vector<std::string> outputs;
    for (const BufferSize &b : buffers) {
        if (!b.is_output()) continue;
        outputs.push_back(str(b.about->name, " of ", extents_text(extents_of(b.needed))));
    }
    throw RuntimeError(str(small.about->name, " is ", extents_text(small.extents), ", but ",
                           extents_text(extents_of(small.needed)), " of it are needed for ",
                           join(outputs)));
}

// An input stays at 0 unless what is needed lies elsewhere.
void Sizes::use_answers() {
    for (BufferSize &b : buffers) {
        if (!b.is_known || b.is_output()) {
            b.dims = b.needed;
            continue;
        }
        for (size_t d = 0; d < b.extents.size(); d++) {
            int64_t first = b.needed[d].min, end = first + b.needed[d].extent;
            bool inside = first >= b.mins[d] && end <= int64_t(b.mins[d]) + b.extents[d];
            if (!inside && first < end) b.mins[d] = int(first);
        }
        b.dims = dense(b.mins, b.extents, b.needed);
    }
}

void Sizes::find_without_asking() {
    for (BufferSize &b : buffers) {
        if (!b.is_known) {
            throw RuntimeError(str("the size of ", b.about->name,
                                   " has to be given: the library is "
                                   "compiled with no_bounds_query"));
        }
        b.dims = dense(b.mins, b.extents, {});
        b.needed = b.dims;
    }
}

void Sizes::ask_for_least() {
    if (f.answers_queries() && !ask(outputs_of([](size_t, int) { return 1; }))) {
        for (BufferSize &b : buffers) b.needed.clear();
    }
}

void Sizes::find() {
    if (!f.answers_queries()) return find_without_asking();
    require_something_known();
    OutputExtents found;
    for (const BufferSize &b : buffers) {
        if (!b.is_output()) continue;
        std::vector<int> extents;
        for (int d = 0; d < b.about->dimensions && !b.is_known; d++) {
            extents.push_back(largest_extent(found.size(), d));
        }
        found.push_back(extents);
    }
    if (!ask(outputs_of([&](size_t o, int d) { return found[o][size_t(d)]; }))) {
        throw RuntimeError(str("it cannot say which inputs it needs: ", refusal));
    }
    if (const BufferSize *small = small_input()) refuse(*small);
    use_answers();
}

}  // namespace tessera::run
