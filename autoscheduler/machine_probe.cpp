#include "autoscheduler/machine_probe.h"
#include "autoscheduler/cost.h"
#include "autoscheduler/stopped.h"
#include "base/atomic_file.h"
#include "lang/buffer.h"
#include "lang/func.h"
#include "lang/image_param.h"
#include "lang/param.h"
#include "lang/pipeline.h"
#include "lang/rdom.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

namespace tessera::autoscheduler {

using nlohmann::json;

namespace {

// Looks whether a stop is requested, between steps that take some milliseconds each.
class StopCheck {
public:
    explicit StopCheck(std::stop_token stop) : stop(std::move(stop)) {}
    void operator()() const {
        if (stop.stop_requested()) throw Stopped();
    }

private:
    const std::stop_token stop;
};

// The least milliseconds of some runs: as many as it takes until none is better any more, since
// other programs may be at work.
template<typename F> double time_of(const StopCheck &look, F run) {
    constexpr int no_better = 5, most = 40;
    double best = 1e300;
    for (int i = 0, last_better = 0; i < most && i - last_better < no_better; i++) {
        look();
        const auto begin = std::chrono::steady_clock::now();
        run();
        const std::chrono::duration<double, std::milli> passed =
            std::chrono::steady_clock::now() - begin;
        if (passed.count() < 0.98 * best) last_better = i;
        best = std::min(best, passed.count());
    }
    return best;
}

// Adds up a buffer again and again, in registers: all that it does is to read.
class Reader {
public:
    Reader(const Target &target, bool on_all_cores, const StopCheck &look)
        : target(target), look(look) {
        Var lane("lane"), part("part"), vector("vector");
        RDom r(0, rows, 0, times, "r");
        sum(lane, part) = 0.0f;
        sum(lane, part) += in(lane + width * (first + r.x + rows_of_part * part));
        sum.bound(lane, 0, width);
        sum.update().reorder(lane, r.x, r.y, part);
        sum.update().split(lane, lane, vector, target.natural_vector_size<float>());
        sum.update().vectorize(vector).unroll(lane);
        if (on_all_cores) sum.update().parallel(part);
        look();
        sum.compile_jit(target);
    }
    // Bytes a cycle of all cores together, of so many bytes for each of the parts.
    double bytes_per_cycle(double bytes, int parts) {
        const int n = std::max(1, int(bytes / (width * sizeof(float))));
        constexpr double enough = 64e6;  // bytes that one run reads
        const int repeats = std::max(1, int(enough / (double(n) * width * sizeof(float))));
        Buffer<float> numbers(width * n * parts);
        fill(numbers);
        in.set(numbers);
        rows_of_part.set(n);
        times.set(repeats);
        Buffer<float> result(width, parts);
        const double ms = time_of(look, [&] { read(result, n, parts); });
        const double all = double(n) * width * sizeof(float) * repeats * parts;
        return all / (ms * cycles_per_millisecond);
    }

private:
    static constexpr int width = 128;
    static constexpr int rows_at_once = 1 << 15;  // 16 MiB: of one part, or of all together

    void fill(Buffer<float> &numbers) const {
        float *begin = numbers.data(), *const end = begin + numbers.number_of_elements();
        while (begin != end) {
            look();
            float *const next = begin + std::min<ptrdiff_t>(end - begin, rows_at_once * width);
            std::fill(begin, next, 1.0f);
            begin = next;
        }
    }
    // Reads all parts once, a piece of each at a time.
    void read(Buffer<float> &result, int n, int parts) {
        const int step = std::max(1, rows_at_once / parts);
        for (int row = 0; row < n; row += step) {
            look();
            first.set(row);
            rows.set(std::min(step, n - row));
            sum.realize(result, target);
        }
    }

    const Target target;
    const StopCheck &look;
    ImageParam in{Float(32), 1, "in"};
    Param<int> first{"first"}, rows{"rows"}, rows_of_part{"rows_of_part"}, times{"times"};
    Func sum{"sum"};
};

// Milliseconds of a loop of so many tasks.
double loop_of(Func &f, const Target &target, int tasks, const StopCheck &look) {
    Buffer<int> out(tasks);
    look();
    f.compile_jit(target);
    return time_of(look,
                   [&] {
                       for (int i = 0; i < 20; i++) f.realize(out, target);
                   }) /
           20;
}

// Tasks of some microseconds, so that all cores are at work before the first is done with them.
Func with_tasks(bool parallel) {
    Var x("x");
    Func f("f");
    RDom r(0, 20'000, "r");
    f(x) = x;
    f(x) = (f(x) ^ r) * 5;  // each step needs the one before
    if (parallel) f.update().parallel(x);
    return f;
}

void measure_tasks(const Target &target, Machine &m, const StopCheck &look) {
    Func serial = with_tasks(false), parallel = with_tasks(true);
    const double one = loop_of(serial, target, 1, look),
                 all = loop_of(parallel, target, m.cores, look);
    m.parallel_launch = std::clamp((all - one) * cycles_per_millisecond, 500.0, 200'000.0);
    Var x("x");
    Func tasks("tasks");
    tasks(x) = x;
    tasks.parallel(x);
    const int few = m.cores, many = 64 * m.cores;
    const double more = loop_of(tasks, target, many, look) - loop_of(tasks, target, few, look);
    m.task = std::clamp(more * m.cores * cycles_per_millisecond / (many - few), 20.0, 20'000.0);
}

// Cycles of each lane of a vector that is read from a table in the first cache.
double gathered_lane(const Target &target, const StopCheck &look) {
    constexpr int count = 1024, repeats = 200;
    const int lanes = target.natural_vector_size<float>();
    Buffer<float> table(count);
    Buffer<int> places(count);
    table.fill(1.0f);
    for (int i = 0; i < count; i++) places(i) = i * 389 % (count / 2);
    Var lane("lane");
    Func sum("sum");
    RDom r(0, count / lanes, 0, repeats, "r");
    sum(lane) = 0.0f;
    sum(lane) += table(clamp(places(lanes * r.x + lane) + r.y, 0, count - 1));
    sum.bound(lane, 0, lanes).vectorize(lane).update().vectorize(lane);
    Buffer<float> result(lanes);
    look();
    sum.compile_jit(target);
    const double ms = time_of(look, [&] { sum.realize(result, target); });
    return std::clamp(ms * cycles_per_millisecond / (double(count) * repeats), 0.3, 10.0);
}

// Cycles a byte of memory that nobody has used before.
double fault_per_byte(const StopCheck &look) {
    constexpr size_t bytes = 16 << 20;
    const auto page = size_t(sysconf(_SC_PAGESIZE));
    const double ms = time_of(look, [&] {
        void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return;
        auto *memory = static_cast<volatile char *>(p);
        for (size_t i = 0; i < bytes; i += page) memory[i] = 1;
        munmap(p, bytes);
    });
    return ms * cycles_per_millisecond / double(bytes);
}

std::string file_name() {
    if (const char *file = std::getenv("TESSERA_MACHINE_FILE")) return file;
    if (const char *caches = std::getenv("XDG_CACHE_HOME"))
        return str(caches, "/tessera/machine.json");
    if (const char *home = std::getenv("HOME")) return str(home, "/.cache/tessera/machine.json");
    return "";
}

// Names what was measured: the processor, the instructions, and how many cores.
std::string key_of(const Target &target, int cores) {
    std::string processor;
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (!line.starts_with("model name")) continue;
        processor = line.substr(line.find(':') + 1);
        break;
    }
    return str(processor, ", ", target.natural_vector_size(1, true), " bytes, ", cores, " cores");
}

json read_file(const std::string &path) {
    std::ifstream file(path);
    json all = json::parse(file, nullptr, false);
    return all.is_object() ? all : json::object();
}

std::optional<Machine> find_machine(const Target &target, int cores) {
    const json all = read_file(file_name());
    const auto found = all.find(key_of(target, Machine::usual(target, cores).cores));
    if (found == all.end()) return std::nullopt;
    return machine_from_json(found->dump(), target);
}

// Whoever reads the file meanwhile sees the old one or the new one. If there is no place for it,
// nothing is written.
void write_machine(const Target &target, const Machine &m) {
    const std::string path = file_name();
    if (path.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    json all = read_file(path);
    all[key_of(target, m.cores)] = json::parse(to_json(m));
    try {
        write_file(path, all.dump(2) + "\n");
    } catch (const RuntimeError &) {
        return;  // it is measured again the next time
    }
}

}  // namespace

Machine measure_machine(const Target &target, int cores, const std::stop_token &stop) {
    const StopCheck look(stop);
    Machine m = Machine::usual(target, cores);
    Reader one(target, false, look);
    // Data that half fill a level come from it.
    m.caches[0].bytes_per_cycle = one.bytes_per_cycle(0.5 * m.caches[1].bytes, 1);
    m.caches[1].bytes_per_cycle = one.bytes_per_cycle(
        std::max(2 * m.caches[1].bytes, std::min(0.25 * m.caches[2].bytes, 16e6)), 1);
    const double large = std::clamp(4 * m.caches[2].bytes, 64e6, 512e6);
    m.caches[2].bytes_per_cycle = one.bytes_per_cycle(large, 1);
    if (m.cores > 1) {
        Reader all(target, true, look);
        m.memory_sharing =
            std::clamp(all.bytes_per_cycle(large / m.cores, m.cores) / m.caches[2].bytes_per_cycle,
                       1.0, double(m.cores));
        measure_tasks(target, m, look);
    }
    m.fault_per_byte = fault_per_byte(look);
    m.gathered_lane = gathered_lane(target, look);
    return m;
}

Machine known_machine(const Target &target, int cores) {
    return find_machine(target, cores).value_or(Machine::usual(target, cores));
}

Machine this_machine(const Target &target, int cores, const std::stop_token &stop) {
    if (const auto known = find_machine(target, cores)) return *known;
    const Machine m = measure_machine(target, cores, stop);
    write_machine(target, m);
    return m;
}

std::string to_json(const Machine &m) {
    json caches = json::array();
    for (const Machine::Cache &c : m.caches) caches.push_back({c.bytes, c.bytes_per_cycle});
    return json{{"cores", m.cores},
                {"caches", caches},
                {"memory_sharing", m.memory_sharing},
                {"parallel_launch", m.parallel_launch},
                {"task", m.task},
                {"fault_per_byte", m.fault_per_byte},
                {"gathered_lane", m.gathered_lane}}
        .dump();
}

std::optional<Machine> machine_from_json(const std::string &text, const Target &target) {
    try {
        const json value = json::parse(text);
        Machine m = Machine::usual(target, value.at("cores"));
        for (size_t i = 0; i < m.caches.size(); i++) {
            m.caches[i] = {value.at("caches").at(i).at(0), value.at("caches").at(i).at(1)};
            if (m.caches[i].bytes <= 0 || m.caches[i].bytes_per_cycle <= 0) return std::nullopt;
        }
        m.memory_sharing = value.at("memory_sharing");
        m.parallel_launch = value.at("parallel_launch");
        m.task = value.at("task");
        m.fault_per_byte = value.at("fault_per_byte");
        m.gathered_lane = value.value("gathered_lane", m.gathered_lane);
        return m;
    } catch (const json::exception &) {
        return std::nullopt;
    }
}

}  // namespace tessera::autoscheduler
