#include "runtime/copy_plan.h"
#include <algorithm>
#include <cstdlib>

using namespace tessera;

namespace {

// Says where the elements of a region lie, by the address of the first one and the dimensions.
struct Places {
    uint64_t first;
    int64_t bytes;
    const tessera_dimension_t *dim;
    const int32_t *region;  // min and extent of each dimension
    int dimensions;

    int64_t extent(int d) const { return region ? region[2 * d + 1] : dim[d].extent; }
    int64_t step(int d) const { return int64_t(dim[d].stride) * bytes; }
};

// The addresses of two buffers in the same memory, so that they can be compared: on the host if
// both have memory there.
struct Addresses {
    bool is_shared = false;
    uint64_t a = 0, b = 0;
};

Addresses addresses_in(const tessera_buffer_t &a, const tessera_buffer_t &b) {
    if (a.host && b.host) return {true, uint64_t(uintptr_t(a.host)), uint64_t(uintptr_t(b.host))};
    const bool on_device = a.device && b.device && a.device_interface == b.device_interface;
    return {on_device, a.device, b.device};
}

// Looks for numbers k[i] in [low[i], high[i]] for which the sum of k[i] * step[i] is a distance.
class Search {
public:
    void add(const Places &p, int64_t sign) {
        for (int d = 0; d < p.dimensions; d++) {
            if (p.extent(d) > 1) add(std::abs(p.step(d)), p.step(d) * sign > 0, p.extent(d) - 1);
        }
    }
    // Adds the distances between bytes of one element.
    void add_bytes(int64_t before, int64_t behind) { insert({1, -before, behind}); }
    bool finds(int64_t distance) { return finds(distance, 0); }

private:
    struct Term {
        int64_t step, low, high;
    };
    static constexpr int most_terms = 40;  // buffers of more dimensions are taken to overlap
    static constexpr int most_visited = 2000;

    // Joins equal steps into one term, so that interleaved rows of one image are told apart.
    void add(int64_t step, bool up, int64_t reach) {
        if (step == 0) return;
        Term *term =
            std::find_if(terms, terms + count, [&](const Term &t) { return t.step == step; });
        if (term == terms + count) {
            if (count + 1 == most_terms) {
                visited = most_visited;
                return;
            }
            term = insert({step, 0, 0});
        }
        up ? term->high += reach : term->low -= reach;
    }
    // Keeps the terms in the order of their steps, the greatest first.
    Term *insert(const Term &term) {
        int i = count++;
        for (; i > 0 && terms[i - 1].step < term.step; i--) terms[i] = terms[i - 1];
        terms[i] = term;
        return &terms[i];
    }
    // Inlined into itself, it would be four times as large in each program.
    [[gnu::noinline]] bool finds(int64_t distance, int i) {
        if (visited++ >= most_visited) return true;
        if (i == count) return distance == 0;
        int64_t rest_low = 0, rest_high = 0;
        for (int j = i + 1; j < count; j++) {
            rest_low += terms[j].step * terms[j].low;
            rest_high += terms[j].step * terms[j].high;
        }
        const Term &t = terms[i];
        const int64_t first = std::max(t.low, -divided(rest_high - distance, t.step));
        const int64_t last = std::min(t.high, divided(distance - rest_low, t.step));
        for (int64_t k = first; k <= last; k++) {
            if (finds(distance - k * t.step, i + 1)) return true;
        }
        return false;
    }
    // Rounded down.
    static int64_t divided(int64_t a, int64_t b) { return a / b - (a % b < 0); }

    Term terms[most_terms];
    int count = 0, visited = 0;
};

bool any_in_common(const Places &a, const Places &b) {
    for (const Places *p : {&a, &b}) {
        for (int d = 0; d < p->dimensions; d++) {
            if (p->extent(d) <= 0) return false;
        }
    }
    Search search;
    search.add(a, 1);
    search.add(b, -1);
    search.add_bytes(b.bytes - 1, a.bytes - 1);
    return search.finds(int64_t(b.first - a.first));
}

// Returns true if the buffers have one place at most in the dimension, so that strides do not
// matter.
bool is_single(const tessera_buffer_t &a, const tessera_buffer_t &b, int d) {
    return a.dim[d].extent == 1 && b.dim[d].extent == 1;
}

bool same_places(const tessera_buffer_t &a, const tessera_buffer_t &b, const Addresses &addresses) {
    if (a.dimensions != b.dimensions || element_bytes(a.type) != element_bytes(b.type))
        return false;
    // These are the places of the elements whose coordinates are 0 in all dimensions of several
    // places.
    uint64_t of_a = addresses.a, of_b = addresses.b;
    for (int d = 0; d < a.dimensions; d++) {
        const auto &in_a = a.dim[d], &in_b = b.dim[d];
        if (is_single(a, b, d)) {
            if (in_a.min != in_b.min) return false;
            continue;
        }
        if (in_a.stride != in_b.stride) return false;
        of_a -= uint64_t(int64_t(in_a.min) * in_a.stride * element_bytes(a.type));
        of_b -= uint64_t(int64_t(in_b.min) * in_b.stride * element_bytes(b.type));
    }
    return of_a == of_b;
}

}  // namespace

extern "C" int tessera_buffers_overlap(uint64_t a_address, uint64_t b_address,
                                       uint64_t read_address) {
    const auto *a = reinterpret_cast<const tessera_buffer_t *>(uintptr_t(a_address)),
               *b = reinterpret_cast<const tessera_buffer_t *>(uintptr_t(b_address));
    const auto *read = reinterpret_cast<const int32_t *>(uintptr_t(read_address));
    const Addresses addresses = addresses_in(*a, *b);
    if (!addresses.is_shared) return 0;
    uint64_t first = addresses.b;
    for (int d = 0; d < b->dimensions; d++) {
        const int32_t *interval = read + 2 * ptrdiff_t(d);
        const int64_t skipped = int64_t(interval[0]) - b->dim[d].min;
        first += uint64_t(skipped * b->dim[d].stride * element_bytes(b->type));
    }
    const Places of_a{addresses.a, element_bytes(a->type), a->dim, nullptr, a->dimensions},
        of_b{first, element_bytes(b->type), b->dim, read, b->dimensions};
    if (!any_in_common(of_a, of_b)) return 0;
    return same_places(*a, *b, addresses) ? 2 : 1;
}

extern "C" int tessera_check_overlaps(void *user_context, const char *input_name, uint64_t input,
                                      uint64_t read, uint64_t outputs, int32_t count) {
    const auto *output = reinterpret_cast<const tessera_output_place_t *>(uintptr_t(outputs));
    for (const auto *end = output + count; output != end; output++) {
        const int overlap = tessera_buffers_overlap(output->buffer, input, read);
        if (overlap == 0 || (overlap == 2 && output->may_be_in_place)) continue;
        return tessera_error_output_overlaps_input(user_context, output->name, input_name,
                                                   output->in_place);
    }
    return 0;
}
