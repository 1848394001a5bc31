#pragma once
#include "argument_text.h"
#include "function.h"
#include <functional>

namespace tessera::run {

using Dimensions = std::vector<tessera_dimension_t>;

// Holds what is known of a buffer before its size is.
struct BufferSize {
    const ArgumentInfo *about = nullptr;
    // The size is known where the user, a file or an estimate says it.
    bool is_known = false;
    std::vector<int> mins, extents;
    // These are found: where it begins, how large it is, how it lies in memory.
    Dimensions dims;
    // The pipeline needs this of an input.
    Dimensions needed;

    bool is_output() const { return run::is_output(*about); }
};

// Finds the dimensions of all buffers of a function by asking it.
class Sizes {
public:
    // `scalars`: of each argument a pointer to its value; null for buffers.
    Sizes(const Function &f, std::vector<void *> scalars, std::vector<BufferSize> &buffers);

    // Asks what the function needs where outputs of unknown size have extent 1: how many channels
    // of a picture, for example. Sets `needed` of inputs where it answers.
    void ask_for_least();

    // Throws RuntimeError, in terms of the command line, if that is not known, or cannot be.
    void find();

private:
    using OutputExtents = std::vector<std::vector<int>>;
    // Sets `needed`, of outputs `dims`, and of unknown inputs both. False if the function refuses.
    bool ask(const OutputExtents &extents);
    bool ask_once(std::vector<Dimensions> &dims);
    // An input of known size that is too small for what is needed; null if there is none.
    const BufferSize *small_input() const;
    // Returns what is said of the outputs of unknown size, by the output (an index) and its
    // dimension.
    OutputExtents outputs_of(const std::function<int(size_t, int)> &extent) const;
    int largest_extent(size_t output, int dimension);
    int first_input_extent(int dimension) const;
    int longest_input_extent() const;
    void require_something_known();
    void use_answers();
    void take_estimates();
    [[noreturn]] void refuse(const BufferSize &small) const;
    void find_without_asking();

    const Function &f;
    std::vector<void *> scalars;
    std::vector<BufferSize> &buffers;
    std::string refusal;
};

// Dense dimensions of these extents, in the order in memory that `like` has.
Dimensions dense(const std::vector<int> &mins, const std::vector<int> &extents,
                 const Dimensions &like);
std::vector<int> extents_of(const Dimensions &dims);

// The estimates of a buffer, if all extents are there; minimums that are not are 0.
bool estimates_of(const ArgumentInfo &about, std::vector<int> &mins, std::vector<int> &extents);

}  // namespace tessera::run
