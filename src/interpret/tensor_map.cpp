#include "interpret/tensor_map.h"
#include "base/error.h"
#include "base/str.h"
#include "interpret/statement_run.h"
#include "ir/operators.h"
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
    constexpr size_t most_rank = 5;
    constexpr int64_t most_of_box = 256;
    const auto rank = size_t(numbers.at(1));
    if (rank < 1 || rank > most_rank || numbers.size() != 2 + 3 * rank + 2)
        refuse("it has ", numbers.size(), " numbers for ", rank, " dimensions");
    auto next = numbers.begin() + 2;
    const auto take = [&](size_t count) {
        next += int64_t(count);
        return std::vector<int64_t>(next - int64_t(count), next);
    };
    extents = take(rank);
    strides = take(rank - 1);
    box = take(rank);
    strides.insert(strides.begin(), take(1)[0]);
    shift = take(1)[0];
    swizzle = *next;
    if (shift < 0) refuse("no shift of its rows lets all boxes begin at multiples of 16 bytes");
    const int64_t bytes = memory->type.bytes();
    if (numbers[0] != bytes) refuse("its elements have ", bytes, " bytes, and not ", numbers[0]);
    if (strides[0] != 1) refuse("its elements are ", strides[0], " elements apart");
    for (size_t d = 0; d < rank; d++) {
        if (extents[d] < 1) refuse("it has ", extents[d], " elements in dimension ", d);
        if (box[d] < 1 || box[d] > most_of_box) refuse("its boxes have an extent of ", box[d]);
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
    for (size_t d = 0; d < box.size(); d++) {
        const int64_t coordinate = at.at(d) + in_box[d] - (d == 0 ? shift : 0);
        if (coordinate < 0 || coordinate >= extents[d]) return -1;
        place += coordinate * strides[d];
    }
    return place;
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
    if (numbers.size() > 2 + 3 * size_t(numbers.at(1)) + 2) {
        first += numbers.back();
        numbers.pop_back();
    }
    TensorMap map(std::move(memory), first, numbers);
    const auto found = std::ranges::find(shared.tensor_maps, map);
    const auto number = found - shared.tensor_maps.begin();
    if (found == shared.tensor_maps.end()) shared.tensor_maps.push_back(std::move(map));
    return Word(number + 1);
}

// Copies a box of a map to an element of the memory of the block, and compares with what the loops
// have recorded. The machine places the elements by the swizzle of the map.
PendingStores StatementRun::copy_box(const TensorMap &map, const std::vector<int64_t> &at,
                                     const ElementPlace &to, const PendingStores &by_loops) {
    if (at.size() != map.box.size())
        throw RuntimeError(str("a box of ", map.box.size(), " dimensions is copied by ", at.size(),
                               " coordinates"));
    if (at[0] * map.memory->type.bytes() % slot_bytes != 0)
        throw RuntimeError(str("a box of ", map.memory->name, " begins at element ", at[0],
                               " of a row, which is at no multiple of 16 bytes"));
    Memory &from = shared.places_copies ? shared.device.seen_by_kernel(*map.memory) : *map.memory;
    PendingStores stores;
    map.for_each_element(at, [&](int64_t number, int64_t place) {
        const int64_t index = to.memory->place_of(to.index + number, map.swizzle);
        Word word = 0;
        uint8_t poison = 0;
        if (place >= 0) word = from.load(place, poison, accessor());
        to.memory->begin_copy(index, accessor());
        stores.push_back({to.memory, index, word, poison});
    });
    const auto in_order = [](PendingStores all) {
        std::ranges::sort(all, {}, &PendingStore::index);
        return all;
    };
    const PendingStores machine = in_order(stores), loops = in_order(by_loops);
    const auto same = [](const PendingStore &a, const PendingStore &b) {
        return a.memory == b.memory && a.index == b.index && a.poison == b.poison &&
               (a.word == b.word || a.poison);
    };
    if (!std::ranges::equal(machine, loops, same))
        throw RuntimeError(str("a copy of a box of ", map.memory->name, " to ", to.memory->name,
                               " brings other elements, or to other places, than the loops that it "
                               "stands for"));
    return stores;
}

}  // namespace tessera::interpret
