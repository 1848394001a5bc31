#pragma once
#include "lang/autoscheduler.h"
#include "lang/pipeline.h"
#include <initializer_list>

// A template is a function that schedules a pipeline, and asks for what it leaves open by names:
//
//     TemplateResult best = tune_template(output, [&](Knobs &k) {
//         const int rows = k.choose("rows", {8, 16, 32, 64});
//         output.split(y, y, yi, rows).vectorize(x, k.choose("vector", {8, 16})).parallel(y);
//         if (k.choose("whole rows", {false, true})) blurred.compute_at(output, yi);
//     }, get_host_target(), {.trials = 40});
//
// It is called once for each candidate, on the same Funcs, with the schedule that they had before.
namespace tessera {

// A template asks these for its choices.
class Knobs {
public:
    // Returns the place of the choice that is to be taken.
    using Chooser = std::function<size_t(const std::string &name,
                                         const std::vector<std::string> &choices, Location at)>;
    explicit Knobs(Chooser chooser) : chooser(std::move(chooser)) {}
    // Takes these choices, by their texts, as TemplateResult has them; the first one where a knob
    // is not among them. CompileError from choose() if a knob has no such choice.
    explicit Knobs(std::map<std::string, std::string> choices);
    // Knobs({{"rows", "16"}}), which could be two maps.
    explicit Knobs(std::initializer_list<std::pair<const std::string, std::string>> choices)
        : Knobs(std::map<std::string, std::string>(choices)) {}

    // Returns one of the choices. A knob may be asked for only under some choices of others; where
    // it is asked for again, it gives the same. CompileError if there are no choices, or other ones
    // than the knob had before.
    template<typename T>
    T choose(const std::string &name, const std::vector<T> &choices,
             Location at = Here::current()) {
        std::vector<std::string> texts;
        for (const T &c : choices) texts.push_back(text_of(c, texts.size()));
        return choices[choose_place(name, texts, at)];
    }
    template<typename T>
    T choose(const std::string &name, std::initializer_list<T> choices,
             Location at = Here::current()) {
        return choose(name, std::vector<T>(choices), at);
    }

private:
    // A choice that cannot be printed is called by its place.
    template<typename T> static std::string text_of(const T &choice, size_t place) {
        if constexpr (std::is_same_v<T, bool>) {
            return choice ? "true" : "false";
        } else if constexpr (requires(std::ostream &out) { out << choice; }) {
            return str(choice);
        } else {
            return str("#", place);
        }
    }
    size_t choose_place(const std::string &name, const std::vector<std::string> &choices,
                        const Location &at);
    Chooser chooser;
};

using ScheduleTemplate = std::function<void(Knobs &)>;

struct TuneOptions {
    int trials = 64;  // candidates that are measured; 0: the best of the log, or the first choices
    double seconds = 1e9;  // after which no more are begun
    uint64_t seed = 1;     // of random choices
    std::string log = "";  // a file of measurements, as that of the autoscheduler; empty: none
    int parallelism = 0;   // cores; 0: those of this machine
    SearchControl control = {};
};

// One candidate.
struct TemplateTrial {
    std::map<std::string, std::string> choices;  // of the knobs that were asked for, as texts
    double milliseconds = 0;                     // 0: it was not measured
    std::string message;                         // why not
};

struct TemplateResult : TemplateTrial {
    std::string schedule_source;  // as C++
    std::vector<TemplateTrial> trials;
    std::string schedule_python;  // as Python
    bool is_stopped = false;      // on request; without a time, the schedule is as it was
};

// Finds the fastest choices, and leaves the Funcs with that schedule: tries all combinations of
// choices where there are no more than trials, else some at random, and changes of the best of
// those. Choices that make no legal schedule take no trial. Each candidate runs in a process of its
// own, and has to compute what the pipeline computes as it is scheduled now.
//
// CompileError, with the schedule as it was, if there is no estimate of an output's size, the
// target is not this machine, or no candidate could be measured. RuntimeError if the pipeline
// cannot be run without the template.
TemplateResult tune_template(const Pipeline &pipeline, const ScheduleTemplate &schedule,
                             const Target &target, const TuneOptions &options = {});

// Makes it an autoscheduler: apply_autoscheduler(target, {"name", {{"trials", "40"}}}), with the
// options trials, seconds, seed, log and parallelism. It schedules the pipeline that it is given,
// whichever that is: pipeline.outputs(), get_func().
void add_template(const std::string &name, std::function<void(const Pipeline &, Knobs &)> schedule);

// Starts a program, tessera-measure at this path, for each bundle, and ends it when a stop is
// requested. A search that measures by it makes no copy of this process (SearchControl::measurer).
BundleMeasurer measure_by_program(const std::string &program);

}  // namespace tessera
