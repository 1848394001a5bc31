#include "common/filter.h"
#include "common/library.h"

#include <memory>
#include <stdexcept>

namespace tessera::apps {

namespace {

Library find(const Filter &filter) {
    for (const Library &library : libraries()) {
        if (filter.generator == library.generator && filter.params == library.params) {
            return library;
        }
    }
    throw std::runtime_error("no library of " + filter.generator + " with '" + filter.params +
                             "' is linked with this program");
}

// The compiled function itself trusts its caller with all but the types of buffers.
void check(const tessera_filter_metadata_t &wanted, const std::vector<FilterArgument> &given) {
    if (given.size() != size_t(wanted.num_arguments)) {
        throw std::runtime_error(std::string(wanted.name) + " takes " +
                                 std::to_string(wanted.num_arguments) + " arguments");
    }
    for (size_t i = 0; i < given.size(); i++) {
        const tessera_filter_argument_t &a = wanted.arguments[i];
        const bool is_buffer = a.kind != tessera_argument_kind_input_scalar;
        if (is_buffer == given[i].is_buffer() && a.type == given[i].type &&
            size_t(a.dimensions) == given[i].dims.size()) {
            continue;
        }
        throw std::runtime_error(std::string(a.name) + " of " + wanted.name + " is not " +
                                 given[i].description());
    }
}

// What the compiled function is given, all in one place that does not move.
struct Call {
    Library library;
    std::vector<FilterArgument> given;
    std::vector<tessera_buffer_t> buffers;
    std::vector<void *> arguments;

    Call(const Library &library, std::vector<FilterArgument> arguments_given)
        : library(library), given(std::move(arguments_given)), buffers(given.size()) {
        for (size_t i = 0; i < given.size(); i++) {
            if (given[i].is_buffer()) buffers[i] = given[i].buffer();
            arguments.push_back(given[i].is_buffer() ? static_cast<void *>(&buffers[i])
                                                     : &given[i].value);
        }
    }
    void operator()() const {
        if (int code = library.argv(arguments.data())) {
            throw std::runtime_error(std::string(library.generator) + " failed with error " +
                                     std::to_string(code));
        }
    }
};

}  // namespace

PreparedFilter prepare(const Filter &filter, std::vector<FilterArgument> arguments) {
    const Library library = find(filter);
    check(*library.metadata(), arguments);
    auto call = std::make_shared<const Call>(library, std::move(arguments));
    return {[call] { (*call)(); }, "compiled ahead of time"};
}

}  // namespace tessera::apps
