#include "interpret/tensor_map.h"
#include "base/error.h"
#include "base/str.h"
#include "interpret/statement_run.h"
#include "ir/operators.h"
#include "ir/tile_copy.h"
#include <algorithm>

// Copies of boxes, which the machine makes by a tensor map: by its coordinates, extents and bytes,
// whatever the loops that they stand for say.
namespace tessera::interpret {

using namespace ir;

TensorMap::TensorMap(MemoryRef of, int64_t first, const std::vector<int64_t> &numbers)
    : memory(std::move(of)), first(first) {
    const auto refuse = [&](const auto &...why) {
        throw RuntimeError(str("a tensor map of ", memory->name, ": ", why...));
    };
    constexpr size_t most_rank = 5, before_shape = 3;
    constexpr int64_t most_of_box = 256, most_places = 1024, most_step = 8;
    is_im2col = numbers.at(1) == int64_t(BoxCopy::Mode::Im2col);
    is_stored = numbers.at(1) == int64_t(BoxCopy::Mode::Store);
    const auto rank = size_t(numbers.at(2));
    if (rank < (is_im2col ? 3 : 1) || rank > most_rank ||
        numbers.size() != 1 + numbers_of_map(is_im2col, rank))
        refuse("it has ", numbers.size(), " numbers for ", rank, " dimensions");
    auto next = numbers.begin() + before_shape;
    const auto take = [&](size_t count) {
        next += int64_t(count);
        return std::vector<int64_t>(next - int64_t(count), next);
    };
    extents = take(rank);
    strides = take(rank - 1);
    box = take(is_im2col ? 2 : rank);
    if (is_im2col) {
        steps = take(rank - 2);
        lower = take(rank - 2);
        upper = take(rank - 2);
    }
    strides.insert(strides.begin(), take(1)[0]);
    shift = take(1)[0];
    swizzle = *next;
    if (is_stored && (shift != 0 || first * memory->type.bytes() % slot_bytes != 0))
        refuse("what is stored to begins at no multiple of 16 bytes");
    if (shift < 0) refuse("no shift of its rows lets all boxes begin at multiples of 16 bytes");
    const int64_t bytes = memory->type.bytes();
    if (numbers[0] != bytes) refuse("its elements have ", bytes, " bytes, and not ", numbers[0]);
    if (strides[0] != 1) refuse("its elements are ", strides[0], " elements apart");
    for (size_t d = 0; d < rank; d++) {
        if (extents[d] < 1) refuse("it has ", extents[d], " elements in dimension ", d);
        // The runtime makes a copy of other arrays.
        if (is_stored && d > 0 && strides[d] * bytes % slot_bytes != 0)
            refuse("its rows are ", strides[d] * bytes, " bytes apart, which is no multiple of 16");
    }
    for (size_t d = 0; d < box.size(); d++) {
        if (box[d] < 1 || box[d] > (is_im2col && d == 1 ? most_places : most_of_box))
            refuse("its boxes have an extent of ", box[d]);
    }
    // The bits that the machine has for where places begin and end.
    const int64_t most_corner = rank == 3 ? 1 << 15 : rank == 4 ? 1 << 7 : 1 << 4;
    for (size_t d = 0; d < steps.size(); d++) {
        if (steps[d] < 1 || steps[d] > most_step) refuse("its places are ", steps[d], " apart");
        for (const int64_t corner : {lower[d], upper[d]}) {
            if (corner < -most_corner || corner >= most_corner)
                refuse("its places begin or end at ", corner);
        }
    }
    if (box[0] * bytes % slot_bytes != 0)
        refuse("a row of its boxes has ", box[0] * bytes, " bytes, which is no multiple of 16");
    if (swizzle != 0 && box[0] * bytes > swizzle)
        refuse("a row of its boxes has ", box[0] * bytes, " bytes, and is swizzled by ", swizzle);
}

int64_t TensorMap::elements_of_box() const {
    int64_t all = 1;
    for (int64_t extent : box) all *= extent;
    return all;
}

int64_t TensorMap::place_of(const std::vector<int64_t> &at,
                            const std::vector<int64_t> &in_box) const {
    int64_t place = first;
    for (size_t d = 0; d < rank(); d++) {
        const int64_t coordinate = at.at(d) + in_box[d] - (d == 0 ? shift : 0);
        if (coordinate < 0 || coordinate >= extents[d]) return -1;
        place += coordinate * strides[d];
    }
    return place;
}

void TensorMap::check_box(const std::vector<int64_t> &at,
                          const std::vector<int64_t> &offsets) const {
    const size_t places = is_im2col ? rank() - 2 : 0;
    if (at.size() != rank() || offsets.size() != places)
        throw RuntimeError(str("a box of ", rank(), " dimensions is copied by ", at.size(),
                               " coordinates and ", offsets.size(), " offsets"));
    if (at[0] * memory->type.bytes() % slot_bytes != 0)
        throw RuntimeError(str("a box of ", memory->name, " begins at element ", at[0],
                               " of a row, which is at no multiple of 16 bytes"));
    const int64_t most_offset = rank() == 3 ? 1 << 16 : rank() == 4 ? 1 << 8 : 1 << 5;
    for (size_t d = 0; d < places; d++) {
        if (offsets[d] < 0 || offsets[d] >= most_offset)
            throw RuntimeError(str("a tap at an offset of ", offsets[d]));
        if (at[d + 1] < lower[d] || at[d + 1] > extents[d + 1] - 1 + upper[d])
            throw RuntimeError(str("a copy of places of ", memory->name, " begins at ", at[d + 1],
                                   " in dimension ", d + 1, ", where there is none"));
    }
}

// The places of an image follow one another, and then those of the next image.
void TensorMap::next_place(std::vector<int64_t> &at) const {
    for (size_t d = 0; d < steps.size(); d++) {
        at[d + 1] += steps[d];
        if (at[d + 1] <= extents[d + 1] - 1 + upper[d]) return;
        at[d + 1] = lower[d];
    }
    at.back()++;
}

int64_t TensorMap::place_of_tap(const std::vector<int64_t> &at, const std::vector<int64_t> &offsets,
                                int64_t channel) const {
    std::vector<int64_t> from_place(rank(), 0);
    from_place[0] = channel;
    std::ranges::copy(offsets, from_place.begin() + 1);
    return place_of(at, from_place);
}

// The first operand is a place, within a kernel, or the buffer's memory on the device.
Word StatementRun::tensor_map(const IntrinsicCall &node, Operands operands) {
    MemoryRef memory;
    int64_t first = 0;
    if (const Load *element = placed_element(node.args[0])) {
        memory = frame.memories.at(element->buffer);
        const auto bytes = int64_t(operands[0]->word() - Word(uintptr_t(memory->address(0))));
        first = bytes / memory->type.bytes();
    } else {
        const auto &c = *node.args[0].as<IntrinsicCall>();
        memory = shared.device.on_host(frame.variables.at(c.args[0].as<Variable>()->name).word());
    }
    std::vector<int64_t> numbers;
    for (const Value *operand : operands.subspan(1)) numbers.push_back(operand->as_int());
    // On the host the number of the first element is behind the others.
    if (numbers.size() > 1 + numbers_of_map(numbers.at(1) == 1, size_t(numbers.at(2)))) {
        first += numbers.back();
        numbers.pop_back();
    }
    TensorMap map(std::move(memory), first, numbers);
    const auto found = std::ranges::find(shared.tensor_maps, map);
    const auto number = found - shared.tensor_maps.begin();
    if (found == shared.tensor_maps.end()) shared.tensor_maps.push_back(std::move(map));
    return Word(number + 1);
}

// Compares what the machine brings with what the loops have recorded.
void StatementRun::check_box(const PendingStores &by_machine, const PendingStores &by_loops,
                             const std::string &what) {
    const auto in_order = [](PendingStores all) {
        std::ranges::sort(all, {}, &PendingStore::index);
        return all;
    };
    const PendingStores machine = in_order(by_machine), loops = in_order(by_loops);
    const auto same = [](const PendingStore &a, const PendingStore &b) {
        return a.memory == b.memory && a.index == b.index && a.poison == b.poison &&
               (a.word == b.word || a.poison);
    };
    if (!std::ranges::equal(machine, loops, same))
        throw RuntimeError(str("a copy of a box of ", what,
                               " brings other elements, or to other places, than the loops that it "
                               "stands for"));
}

// Loads a box of a map for an element of the memory of the block. The machine places the elements
// by the swizzle of the map.
PendingStores StatementRun::load_box(const TensorMap &map, const std::vector<int64_t> &at,
                                     const std::vector<int64_t> &offsets, const ElementPlace &to) {
    Memory &from = shared.places_copies ? shared.device.seen_by_kernel(*map.memory) : *map.memory;
    PendingStores stores;
    map.for_each_element(at, offsets, [&](int64_t number, int64_t place) {
        const int64_t index = to.memory->place_of(to.index + number, map.swizzle);
        Word word = 0;
        uint8_t poison = 0;
        if (place >= 0) word = from.load(place, poison, accessor());
        to.memory->begin_copy(index, accessor());
        stores.push_back({to.memory, index, word, poison});
    });
    return stores;
}

// Reads a box from an element of the memory of the block on, which is stored to the array of the
// map. What is outside of the array is not stored.
PendingStores StatementRun::read_box(const TensorMap &map, const std::vector<int64_t> &at,
                                     const ElementPlace &from) {
    PendingStores stores;
    map.for_each_element(at, {}, [&](int64_t number, int64_t place) {
        const int64_t index = from.memory->place_of(from.index + number, map.swizzle);
        frame.stored_tiles->begin({from.memory, index});
        PendingStore store{map.memory, place, 0, 0};
        store.word = from.memory->load(index, store.poison, accessor());
        if (place >= 0) stores.push_back(store);
    });
    return stores;
}

}  // namespace tessera::interpret
