#include "autoscheduler/bundle/run_bundle.h"
#include "autoscheduler/arrays.h"
#include "autoscheduler/bundle/log_file.h"
#include "autoscheduler/bundle/object_file.h"
#include "autoscheduler/processes.h"
#include "base/error.h"
#include "base/target.h"
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace tessera::autoscheduler {
namespace {

using nlohmann::json;

std::string error_text;  // of the last call
void keep_error(void *, const char *text) { error_text = text; }

// A buffer that the manifest describes.
ArrayLayout layout_of(const json &described) {
    ArrayLayout a;
    a.name = described.value("name", "an output");
    for (const json &d : described.at("dims"))
        a.dims.emplace_back(d.at(0).get<int32_t>(), d.at(1).get<int32_t>(), d.at(2).get<int32_t>());
    a.type = {described.at("type").at(0).get<uint8_t>(), described.at("type").at(1).get<uint8_t>(),
              1};
    a.alignment = described.at("alignment");
    return a;
}

class Bundle {
public:
    explicit Bundle(const std::string &folder) : folder(folder), manifest(read(folder)) {
        require_machine();
        for (const json &input : manifest.at("inputs")) {
            if (input.contains("bits")) {
                scalars.push_back(input.at("bits"));
                inputs.push_back(&scalars.back());
                continue;
            }
            Array &a = buffers.emplace_back(layout_of(input), buffers.size());
            fill_with_random_values(a.data(), a.bytes(), a.buffer.type, input.at("seed"));
            inputs.push_back(&a.buffer);
        }
    }

    const json &candidates() const { return manifest.at("candidates"); }
    int cores() const { return manifest.at("cores"); }
    size_t output_bytes() const {
        size_t bytes = 0;
        for (const json &o : manifest.at("outputs")) bytes += layout_of(o).bytes();
        return bytes;
    }
    MeasureOptions options() const {
        MeasureOptions how;
        how.threads = cores();
        how.seconds = manifest.value("seconds", how.seconds);
        how.run_seconds = manifest.value("run_seconds", how.run_seconds);
        how.compilers = 1;
        return how;
    }
    double hopeless() const { return manifest.value("hopeless", 1e300); }
    bool is_in_turns() const { return manifest.value("in_turns", false); }
    // The file that keeps what the reference computes for the next bundle in this folder; empty:
    // there is no other.
    std::string results_of_reference() const {
        return manifest.value("keeps_reference", false) ? folder + "/reference.results" : "";
    }
    MeasuringProcesses::Prepare prepare(const std::string &library) {
        return [this, library] { return load(folder + "/" + library); };
    }
    std::string reference() const { return manifest.at("reference"); }

private:
    static json read(const std::string &folder) {
        const std::string path = folder + "/manifest.json";
        std::ifstream file(path);
        if (!file) throw RuntimeError(str("there is no bundle in ", folder, ": no manifest.json"));
        json m = json::parse(file, nullptr, false);
        if (m.is_discarded() || m.value("version", 0) != bundle_version)
            throw RuntimeError(str(path, " is no manifest that this program can read"));
        return m;
    }

    void require_machine() const {
        const Target of(manifest.value("target", "host")), here = get_host_target();
        if (of.arch == here.arch && of.bits == here.bits && of.os == here.os) return;
        throw RuntimeError(str("the bundle ", folder, " is for ", of.to_string(),
                               ", and this machine is ",
                               Target(here.os, here.arch, here.bits).to_string()));
    }

    static void *function_of(const std::string &path) {
        if (path.ends_with(".o")) return load_object(path, candidate_argv);
        void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        void *address = library ? dlsym(library, candidate_argv) : nullptr;
        if (!address) throw RuntimeError(str("the library cannot be loaded: ", dlerror()));
        return address;
    }

    struct Loaded {
        std::deque<Array> outputs;
        std::vector<void *> arguments;
    };
    // In the process of the candidate, which ends before the library could be closed.
    Runnable load(const std::string &path) {
        void *address = function_of(path);
        auto loaded = std::make_shared<Loaded>();
        loaded->arguments = inputs;
        Runnable r;
        for (const json &o : manifest.at("outputs")) {
            Array &a =
                loaded->outputs.emplace_back(layout_of(o), buffers.size() + loaded->outputs.size());
            loaded->arguments.push_back(&a.buffer);
            r.outputs.push_back({a.buffer.type, a.data(), a.bytes()});
        }
        r.place = [this, l = loaded.get()](int placement) {
            for (Array &a : buffers) a.place(placement);
            for (Array &a : l->outputs) a.place(placement);
        };
        tessera_set_error_handler(keep_error);
        r.run = [call = reinterpret_cast<int (*)(void *const *)>(address), l = loaded.get()] {
            if (call(l->arguments.data()) != 0) throw RuntimeError(error_text);
        };
        r.owner = std::move(loaded);
        return r;
    }

    const std::string folder;
    const json manifest;
    std::deque<Array> buffers;
    std::deque<uint64_t> scalars;
    std::vector<void *> inputs;
};

// Returns a key that tells one measurement from others.
std::string key_of(const json &record) {
    std::string key;
    for (const char *part : {"compiler", "algorithm", "shape", "target", "cores", "schedule"})
        key += record.at(part).dump() + " ";
    return key;
}

std::set<std::string> keys_in(const std::string &log) {
    std::set<std::string> keys;
    read_records(log, [&](const json &record) { keys.insert(key_of(record)); }).warn_of_damage(log);
    return keys;
}

// Writes down the measurements of a bundle.
class Records {
public:
    Records(const BundleOptions &options, std::ostream &out)
        : log(options.log), prints(options.log == "-"), out(out) {}

    void add(const json &candidate, const Measurement &m, bool in_turns) const {
        json record = candidate.at("record");
        record["outcome"] = std::string(name_of(m.outcome));
        record["ms"] = m.milliseconds;
        if (!m.message.empty()) record["message"] = m.message;
        if (in_turns) record["in_turns"] = true;
        if (prints) return print(record);
        append_record(log, text_of(record));
        out << candidate.at("library").get<std::string>() << " "
            << (m.is_valid() ? str(m.milliseconds, " ms")
                             : str(name_of(m.outcome), ": ", m.message))
            << '\n'
            << std::flush;
    }
    void add_reference(const Measurement &m) const {
        if (prints) print(json::object({{"reference", m.milliseconds}}));
    }

private:
    // A message may have bytes that are no text.
    static std::string text_of(const json &record) {
        return record.dump(-1, ' ', false, json::error_handler_t::replace);
    }
    void print(const json &record) const { out << text_of(record) << '\n' << std::flush; }
    const std::string log;
    const bool prints;
    std::ostream &out;
};

// Leaves the results of the reference where the others are compared with them: those that are
// kept, or else it is run.
Measurement prepare_reference(Bundle &bundle, MeasuringProcesses &processes) {
    const std::string path = bundle.results_of_reference();
    const std::span<uint8_t> expected = processes.expected();
    const auto bytes = std::streamsize(expected.size());
    std::ifstream kept(path, std::ios::binary);
    if (!path.empty() && kept.read(reinterpret_cast<char *>(expected.data()), bytes))
        return {Outcome::Measured, 0, ""};
    Measurement m = processes.run_reference(bundle.prepare(bundle.reference()));
    if (!m.is_valid()) {
        throw RuntimeError(str("the reference of the bundle cannot be run: it ", name_of(m.outcome),
                               ": ", m.message));
    }
    if (!path.empty()) {
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char *>(expected.data()), bytes);
    }
    return m;
}

void measure(Bundle &bundle, const BundleOptions &options, std::ostream &out) {
    const std::set<std::string> known =
        options.log == "-" ? std::set<std::string>() : keys_in(options.log);
    MeasureOptions how = bundle.options();
    if (options.seconds > 0) how.seconds = options.seconds;
    MeasuringProcesses processes(bundle.output_bytes(), how);
    const Records records(options, out);
    records.add_reference(prepare_reference(bundle, processes));
    if (bundle.is_in_turns()) {
        std::vector<MeasuringProcesses::Prepare> all;
        for (const json &c : bundle.candidates()) all.push_back(bundle.prepare(c.at("library")));
        const std::vector<Measurement> measured = processes.in_turns(all);
        for (size_t i = 0; i < all.size(); i++)
            records.add(bundle.candidates()[i], measured[i], true);
        return;
    }
    double hopeless = bundle.hopeless();
    for (const json &c : bundle.candidates()) {
        const std::string library = c.at("library");
        if (known.contains(key_of(c.at("record")))) {
            out << library << " is in the log already\n";
            continue;
        }
        const Measurement m = processes({bundle.prepare(library)}, hopeless, {})[0];
        records.add(c, m, false);
        if (m.is_valid()) hopeless = std::min(hopeless, 3 * m.milliseconds);
    }
}

}  // namespace

void run_bundle(const BundleOptions &options, std::ostream &out) {
    try {
        Bundle bundle(options.folder);
        measure(bundle, options, out);
    } catch (const json::exception &e) {
        throw RuntimeError(str("the manifest of ", options.folder, " is damaged: ", e.what()));
    }
}

}  // namespace tessera::autoscheduler
