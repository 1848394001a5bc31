#include "session.h"
#include "base/error.h"
#include "benchmark.h"
#include "check.h"
#include "convert.h"
#include "hooks.h"
#include <iostream>

namespace tessera::run {
namespace {

using files::Array;
using Buffer = Arguments::Buffer;

constexpr int check_failed = 2;

class Session {
public:
    Session(const Function &f, const Options &options)
        : f(f), options(options), arguments(f, options) {}

    int run() {
        if (options.verbose) tell_sizes();
        Hooks::take_memory_peak();
        call();
        arguments.copy_to_host();
        if (options.track_memory) {
            std::string bytes = str(Hooks::take_memory_peak());
            tell("MEMORY_PEAK_BYTES", bytes,
                 str("At most ", bytes, " bytes were allocated by ", f.name(), " at once."));
        }
        bool all_right = true;
        for (const Buffer &b : arguments.all_buffers()) {
            if (!is_output(*b.about)) continue;
            auto file = options.values.find(b.about->name);
            if (file != options.values.end()) write(b, file->second);
            auto expected = options.checks.find(b.about->name);
            if (expected != options.checks.end()) all_right &= check(b, expected->second);
        }
        if (options.benchmark) measure();
        return all_right ? 0 : check_failed;
    }

private:
    void call() const {
        std::string failure = Hooks::call(f, arguments.pointers());
        if (!failure.empty()) throw RuntimeError(str(f.name(), " failed: ", failure));
    }
    void tell(const std::string &key, const std::string &value, const std::string &sentence) const {
        if (options.parsable) {
            std::cout << f.name() << "  " << key << "  " << value << "\n";
        } else {
            std::cout << sentence << "\n";
        }
    }
    void tell_sizes() const {
        for (const Buffer &b : arguments.all_buffers()) {
            std::vector<std::string> dims;
            for (int d = 0; d < b.raw.dimensions; d++) {
                const tessera_dimension_t &dim = b.raw.dim[d];
                dims.push_back(str("[", dim.min, ", +", dim.extent, ") stride ", dim.stride));
            }
            std::cerr << "note: " << b.about->name << ": " << files::name_of(b.about->type) << " "
                      << join(dims, " x ") << "\n";
        }
    }
    void write(const Buffer &b, const std::string &path) const {
        with_context(str(b.about->name, "=", path), [&] {
            const files::Format &format = files::format_for(path, formats());
            Array array = writable(Arguments::elements(b), format);
            format.write(array, path, b.about->name);
            if (options.quiet) return;
            for (const std::string &sentence : array.notes) {
                std::cerr << "note: " << b.about->name << "=" << path << ": " << sentence << "\n";
            }
        });
    }
    // The expected values are read as an input of the output's type would be.
    bool check(const Buffer &b, const std::string &path) const {
        Comparison result;
        with_context(str("--check=", b.about->name, "=", path), [&] {
            Array expected = files::read_file(path, formats(), b.about->name);
            expected = with_dimensions(std::move(expected), b.about->dimensions);
            expected = with_type(std::move(expected), b.about->type);
            Array computed = Arguments::elements(b);
            if (computed.extents != expected.extents) {
                throw RuntimeError(str("it is ", extents_text(expected.extents), ", but ",
                                       extents_text(computed.extents), " are computed"));
            }
            result = compare(computed, expected, options.tolerance, options.relative_tolerance);
        });
        std::string sentence = str("check of ", b.about->name, " against ", path, ": ");
        if (result.wrong > 0) {
            sentence += str(count_text(int64_t(result.wrong), "element"), " of ",
                            b.raw.number_of_elements(), " too far away; ");
        }
        sentence += result.wrong > 0 ? result.difference : "ok";
        if (result.wrong == 0 && !result.difference.empty()) {
            sentence += str("; ", result.difference);
        }
        tell(str("WRONG_ELEMENTS_OF_", b.about->name), str(result.wrong), sentence);
        return result.wrong == 0;
    }
    // Returns the size of all outputs, in millions: of pixels, whatever the channels.
    double megapixels() const {
        double pixels = 0;
        for (const Buffer &b : arguments.all_buffers()) {
            if (!is_output(*b.about)) continue;
            double count = 1;
            for (int d = 0; d < b.raw.dimensions && d < 2; d++) count *= b.raw.dim[d].extent;
            pixels += count;
        }
        return pixels / 1e6;
    }
    void measure() {
        BenchmarkResult r = benchmark(
            [&] {
                call();
                arguments.wait();
            },
            {options.benchmark_min_time, options.benchmark_min_iterations,
             options.benchmark_max_iterations});
        std::string milliseconds = str(r.best_time * 1e3), rate = str(megapixels() / r.best_time);
        tell("BEST_TIME_MSEC_PER_ITER", milliseconds,
             str("Benchmark of ", f.name(), ": ", milliseconds, " ms per iteration, the best of ",
                 count_text(r.samples, "sample"), ", ", count_text(r.iterations, "iteration"),
                 " in all."));
        tell("THROUGHPUT_MPIX_PER_SEC", rate,
             str("Throughput: ", rate, " megapixels/s of output."));
        if (!options.parsable) return;
        tell("SAMPLES", str(r.samples), "");
        tell("ITERATIONS", str(r.iterations), "");
        tell("TARGET", f.metadata->target, "");
    }

    const Function &f;
    const Options &options;
    Arguments arguments;
};

}  // namespace

int run_session(const Function &f, const Options &options) { return Session(f, options).run(); }

}  // namespace tessera::run
