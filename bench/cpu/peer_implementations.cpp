#include "cpu/implementation.h"
#include "cpu/peer_libraries.h"

#include <stdexcept>

namespace tessera::bench {

namespace {

struct Arguments {
    std::vector<void *> pointers;
    std::vector<std::unique_ptr<tessera_scalar_value_t>> scalars;
    Buffer<> output;
};

std::shared_ptr<Arguments> arguments_of(const tessera_filter_metadata_t &function, Data &data) {
    auto all = std::make_shared<Arguments>();
    for (int i = 0; i < function.num_arguments; i++) {
        const tessera_filter_argument_t &a = function.arguments[i];
        if (a.kind == tessera_argument_kind_output_buffer) {
            all->output = data.new_output();
            all->pointers.push_back(all->output.raw_buffer());
        } else if (a.kind == tessera_argument_kind_input_buffer) {
            all->pointers.push_back(data.input(a.name).raw_buffer());
        } else {
            auto &value = *all->scalars.emplace_back(std::make_unique<tessera_scalar_value_t>());
            if (a.type.code == tessera_type_float)
                value.f32 = float(data.scalar(a.name));
            else
                value.i32 = int32_t(data.scalar(a.name));
            all->pointers.push_back(&value);
        }
    }
    return all;
}

Implementation implementation_of(const Peer &peer, const PeerFunction &function, Data &data) {
    const auto &metadata = *static_cast<const tessera_filter_metadata_t *>(function.metadata);
    auto arguments = arguments_of(metadata, data);
    auto run = [&peer, &function, arguments] {
        if (function.argv(arguments->pointers.data()) != 0)
            throw std::runtime_error(peer.last_error());
    };
    return {std::string(peer.name) + " " + function.schedule, run, peer.set_threads,
            [arguments] { return arguments->output; }};
}

}  // namespace

std::vector<Implementation> peer_implementations(const std::shared_ptr<Data> &data,
                                                 const std::string &list) {
    std::vector<Implementation> found;
    for_each_peer_function(list, data->problem,
                           [&](const Peer &peer, const PeerFunction &function) {
                               found.push_back(implementation_of(peer, function, *data));
                           });
    return found;
}

}  // namespace tessera::bench
