#include "gpu/contender.h"
#include "cpu/implementation.h"
#include "cpu/peer_libraries.h"
#include "gpu/cublas.h"
#include "tessera_runtime_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace tessera::bench {

namespace {

const Target gpu("host-cuda");

// Sets the environment, by which tessera_implementation asks for the target.
Implementation compiled_for(const char *target, const std::shared_ptr<Data> &data,
                            const AutoschedulerParams &scheduler) {
    setenv("TESSERA_JIT_TARGET", target, 1);
    return tessera_implementation(data, scheduler);
}

void to_device(Buffer<> b) {  // which is shared with the caller's
    b.set_host_dirty();
    b.copy_to_device(gpu);
}

// Descriptions of the problem's buffers for somebody else's runtime, which has its own memory on
// the device: the memory on the host is the same.
class Descriptions {
public:
    tessera_buffer_t *of(const Buffer<> &b) {
        auto &raw = *all.emplace_back(std::make_unique<tessera_buffer_t>(*b.raw_buffer()));
        raw.device = 0;
        raw.device_interface = nullptr;
        raw.flags = tessera_buffer_flag_host_dirty;
        return &raw;
    }

private:
    std::vector<std::unique_ptr<tessera_buffer_t>> all;
};

struct Arguments {
    std::vector<void *> pointers;
    std::vector<std::unique_ptr<tessera_scalar_value_t>> scalars;
    Descriptions descriptions;
    Buffer<> output;
    tessera_buffer_t *raw_output = nullptr;
};

std::shared_ptr<Arguments> arguments_of(const tessera_filter_metadata_t &function, Data &data) {
    auto all = std::make_shared<Arguments>();
    for (int i = 0; i < function.num_arguments; i++) {
        const tessera_filter_argument_t &a = function.arguments[i];
        if (a.kind == tessera_argument_kind_output_buffer) {
            all->output = data.new_output();
            all->raw_output = all->descriptions.of(all->output);
            all->raw_output->flags = 0;
            all->pointers.push_back(all->raw_output);
        } else if (a.kind == tessera_argument_kind_input_buffer) {
            all->pointers.push_back(all->descriptions.of(data.input(a.name)));
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

std::string name_of(const Peer &peer, const PeerFunction &function) {
    return std::string(peer.name) + " " + function.schedule;
}

Contender contender_of(const Peer &peer, const PeerFunction &function, Data &data) {
    auto all =
        arguments_of(*static_cast<const tessera_filter_metadata_t *>(function.metadata), data);
    const auto check = [&peer](int code) {
        if (code != 0) throw std::runtime_error(peer.last_error());
    };
    return {name_of(peer, function),
            [&function, all, check] { check(function.argv(all->pointers.data())); },
            [&peer, all, check] { check(peer.device_sync(all->raw_output)); },
            [&peer, all, check] {
                check(peer.copy_to_host(all->raw_output));
                return all->output;
            }};
}

}  // namespace

Contender tessera_for(const char *target, const std::shared_ptr<Data> &data,
                      const AutoschedulerParams &scheduler) {
    const Implementation ours = compiled_for(target, data, scheduler);
    return {"Tessera", ours.run, [ours] { ours.result().device_sync(); },
            [ours] {
                Buffer<> result = ours.result();
                result.copy_to_host();
                return result;
            }};
}

Contender tessera_on_gpu(const std::shared_ptr<Data> &data) {
    return tessera_for("host-cuda", data);
}

Contender rules_on_gpu(const std::shared_ptr<Data> &data) {
    Contender found = tessera_for("host-cuda", data, {"simple"});
    found.name = "by rules";
    return found;
}

std::vector<Contender> peers_on_gpu(const std::shared_ptr<Data> &data, const std::string &list) {
    std::vector<Contender> found;
    for_each_peer_function(list, data->problem,
                           [&](const Peer &peer, const PeerFunction &function) {
                               found.push_back(contender_of(peer, function, *data));
                           });
    return found;
}

std::vector<std::string> names_of_peers(const std::string &list) {
    std::vector<std::string> names;
    for (const Peer *peer : peers_of(list)) {
        for (int i = 0; i < peer->count; i++) {
            const std::string name = name_of(*peer, peer->functions[i]);
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
    }
    return names;
}

std::vector<Contender> libraries_on_gpu(const std::shared_ptr<Data> &data) {
    static Cublas cublas;
    const Problem &p = data->problem;
    if (!cublas.is_there() || p.generator != "gemm" || is_set(p, "transpose_a")) return {};
    Buffer<> a = data->input("a"), b = data->input("b"), out = data->new_output();
    to_device(a);
    to_device(b);
    out.device_malloc(get_device_interface_for_device_api(DeviceAPI::CUDA, gpu));
    const bool transposed = is_set(p, "transpose_b");
    const auto run = [=] {
        cublas.gemm_f32(out.height(), out.width(), a.width(), a.raw_buffer()->device,
                        b.raw_buffer()->device, transposed, out.raw_buffer()->device);
    };
    return {{"cuBLAS", run, [out]() mutable { out.device_sync(); },
             [out]() mutable {
                 out.set_device_dirty();
                 out.copy_to_host();
                 return out;
             }}};
}

Contender copy_on_gpu(const std::shared_ptr<Data> &data) {
    const int half = int(data->bytes() / 2);  // read once and written once
    Buffer<uint8_t> from(half), to(half);
    from.fill(1);
    to_device(from);
    const auto *device = get_device_interface_for_device_api(DeviceAPI::CUDA, gpu);
    to.device_malloc(device);
    return {
        "copy",
        [=] { tessera_device_buffer_copy(nullptr, from.raw_buffer(), device, to.raw_buffer()); },
        [to]() mutable { to.device_sync(); }, [to] { return to; }};
}

Buffer<> expected_result(const std::shared_ptr<Data> &data) {
    const Implementation plain = compiled_for("host", data, {});
    plain.run();
    return plain.result();
}

}  // namespace tessera::bench
