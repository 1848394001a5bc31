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

std::vector<WantedArgument> wanted_of(const tessera_filter_metadata_t &function) {
    std::vector<WantedArgument> wanted;
    for (int i = 0; i < function.num_arguments; i++) {
        const tessera_filter_argument_t &a = function.arguments[i];
        wanted.push_back(
            {a.name, a.kind != tessera_argument_kind_input_scalar, a.type, size_t(a.dimensions)});
    }
    return wanted;
}

// Holds what the compiled function is given, all in one place that does not move.
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
    check_arguments(filter, wanted_of(*library.metadata()), arguments);
    auto call = std::make_shared<const Call>(library, std::move(arguments));
    return {[call] { (*call)(); }, "compiled ahead of time"};
}

}  // namespace tessera::apps
