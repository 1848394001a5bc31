#include "autoscheduler/bundle/export_bundle.h"
#include "autoscheduler/machine_probe.h"
#include "autoscheduler/tune_template.h"
#include "autoscheduler/tuning_problem.h"
#include "base/thread_context.h"
#include "bindings.h"
#include "docs/pipeline.h"
#include "docs/running.h"
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tessera::python {
namespace {

std::map<std::string, std::string> texts_of(const nb::dict &options) {
    std::map<std::string, std::string> texts;
    for (auto [key, value] : options) texts[text_of(key)] = text_of(value);
    return texts;
}

// A log calls the host as generators do, which compile for files.
Target or_host(const Target &target) {
    return target == Target() ? get_jit_target_from_environment().without_feature(Target::JIT)
                              : target;
}

// Calls `search` on a thread of its own, while this one looks for signals. A signal whose handler
// raises requests a stop, and its exception is thrown when the search has ended, with what this has
// found as `partial`. Call it with the GIL. Warnings are told on the thread of the search.
template<typename Search> auto interruptible(std::stop_source &stop, Search search) {
    std::optional<decltype(search())> result;
    std::exception_ptr error;
    std::optional<nb::python_error> interrupt;
    const PythonHandlers handlers;
    const ThreadContext of_caller;
    {
        const nb::gil_scoped_release no_gil;
        std::mutex mutex;
        std::condition_variable changed;
        bool is_done = false;
        std::thread thread([&] {
            of_caller.take_over();
            try {
                result = search();
            } catch (...) {
                error = std::current_exception();
            }
            const std::lock_guard lock(mutex);
            is_done = true;
            changed.notify_all();
        });
        std::unique_lock lock(mutex);
        while (!changed.wait_for(lock, std::chrono::milliseconds(20), [&] { return is_done; })) {
            lock.unlock();
            {
                const nb::gil_scoped_acquire gil;
                if (!interrupt && PyErr_CheckSignals() != 0) {
                    interrupt.emplace();
                    stop.request_stop();
                }
            }
            lock.lock();
        }
        lock.unlock();
        thread.join();
    }
    if (interrupt) {
        const nb::object partial = result ? nb::cast(*result) : nb::none();
        PyObject_SetAttrString(interrupt->value().ptr(), "partial", partial.ptr());
        PyErr_Clear();  // where the class of the exception has no attributes
        throw std::move(*interrupt);
    }
    if (error) std::rethrow_exception(error);
    return std::move(*result);
}

// Calls Python's progress(done, trials, best_ms): None where none has a time yet.
void tell(nb::handle progress, const SearchProgress &p) {
    const nb::gil_scoped_acquire gil;
    const nb::object best =
        p.milliseconds > 0 ? nb::object(nb::float_(p.milliseconds)) : nb::none();
    progress(p.measured, p.trials, best);
}

// Gives each line that measure(folder, stopped) of Python yields to `told`.
void measure(nb::handle measurer, const std::string &folder,
             const std::function<void(const std::string &)> &told, const std::stop_token &stop) {
    const nb::gil_scoped_acquire gil;
    const nb::object stopped = nb::cpp_function([stop] { return stop.stop_requested(); });
    for (nb::handle line : measurer(folder, stopped)) {
        const std::string text = nb::cast<std::string>(line);
        const nb::gil_scoped_release no_gil;
        told(text);
    }
}

// Returns the control of a search for Python's functions, or None, which live as long as it. No
// search of a Python program makes a copy of that by fork: its threads and CUDA are of no use
// there.
SearchControl control_of(nb::handle progress, nb::handle measurer, size_t batch,
                         const std::stop_source &stop) {
    SearchControl control;
    control.stop = stop.get_token();
    control.batch = batch;
    if (!progress.is_none())
        control.progress = [progress](const SearchProgress &p) { tell(progress, p); };
    if (measurer.is_none()) {
        const nb::object program = nb::module_::import_("tessera._tune").attr("measure_program")();
        control.measurer = measure_by_program(nb::cast<std::string>(program));
    } else {
        control.measurer = [measurer](const std::string &folder, const auto &told,
                                      const std::stop_token &token) {
            measure(measurer, folder, told, token);
        };
    }
    return control;
}

AutoSchedulerResults apply_autoscheduler(const Pipeline &pipeline, const Target &target,
                                         AutoschedulerParams params, nb::handle progress,
                                         nb::handle measurer, size_t batch, const Location &at) {
    std::stop_source stop;
    params.control = control_of(progress, measurer, batch, stop);
    return interruptible(stop, [&] { return pipeline.apply_autoscheduler(target, params, at); });
}

template<typename C> void define(nb::class_<C> &c) {
    c.def(
        "apply_autoscheduler",
        [](C &f, const Target &target, const AutoschedulerParams &params, nb::handle progress,
           nb::handle measurer, size_t batch) {
            const Here at = here();
            return apply_autoscheduler(pipeline_of(f, at), or_host(target), params, progress,
                                       measurer, batch, at);
        },
        "target"_a = Target(), "params"_a = AutoschedulerParams(), nb::kw_only(),
        "progress"_a = nb::none(), "measurer"_a = nb::none(), "batch"_a = 8,
        docs::pipeline::apply_autoscheduler);
}

// ---- Templates ----

// A choice of a knob, by its text.
struct Choice {
    size_t place;
    std::string text;
    friend std::ostream &operator<<(std::ostream &out, const Choice &c) { return out << c.text; }
};

size_t choose(Knobs &knobs, const std::string &name, const std::vector<std::string> &texts) {
    std::vector<Choice> choices;
    for (const std::string &t : texts) choices.push_back({choices.size(), t});
    if (choices.empty())
        throw CompileError(here(), str("the knob ", name, " has no choices; give it at least one"));
    return knobs.choose(name, choices, here()).place;
}

// Calls Python's template; where a directive refuses the choices, so does this.
void call_template(nb::handle schedule, Knobs &knobs) {
    const nb::gil_scoped_acquire gil;
    try {
        schedule(nb::cpp_function(
            [&knobs](const std::string &name, const std::vector<std::string> &texts) {
                return choose(knobs, name, texts);
            }));
    } catch (nb::python_error &e) {
        const nb::object refusal = nb::module_::import_("tessera._errors").attr("CompileError");
        if (!e.matches(refusal)) throw;
        throw CompileError(text_of(e.value()));
    }
}

TemplateResult tune(const Pipeline &pipeline, nb::handle schedule, const Target &target,
                    TuneOptions options, nb::handle progress, nb::handle measurer, size_t batch) {
    std::stop_source stop;
    options.control = control_of(progress, measurer, batch, stop);
    const auto called = [&](Knobs &k) { call_template(schedule, k); };
    return interruptible(stop, [&] { return tune_template(pipeline, called, target, options); });
}

void bind_templates(nb::module_ &m) {
    nb::class_<TemplateTrial>(m, "_TemplateTrial", "One candidate of a template.")
        .def_prop_ro("_choices",
                     [](const TemplateTrial &t) {
                         nb::dict choices;
                         for (const auto &[knob, text] : t.choices) choices[knob.c_str()] = text;
                         return choices;
                     })
        .def_ro("milliseconds", &TemplateTrial::milliseconds,
                "The time that it takes; 0: it was not measured.")
        .def_ro("message", &TemplateTrial::message, "Why it was not measured.");
    nb::class_<TemplateResult, TemplateTrial>(m, "_TemplateResult")
        .def_ro("schedule_source", &TemplateResult::schedule_source)
        .def_ro("schedule_python", &TemplateResult::schedule_python)
        .def_ro("is_stopped", &TemplateResult::is_stopped)
        .def_prop_ro("trials", [](const TemplateResult &r) { return r.trials; });
    m.def(
        "_tune_template",
        [](const Pipeline &pipeline, nb::handle schedule, const Target &target, int trials,
           double seconds, uint64_t seed, const std::string &log, int parallelism,
           nb::handle progress, nb::handle measurer, size_t batch) {
            return tune(pipeline, schedule, or_host(target),
                        {trials, seconds, seed, log, parallelism, {}}, progress, measurer, batch);
        },
        "pipeline"_a, "schedule"_a, "target"_a, "trials"_a, "seconds"_a, "seed"_a, "log"_a,
        "parallelism"_a, "progress"_a.none(), "measurer"_a.none(), "batch"_a);
}

// ---- Bundles ----

size_t export_candidates(const Pipeline &pipeline, const std::string &folder, size_t candidates,
                         const Target &given, const std::string &log, int parallelism,
                         uint64_t seed, const std::string &linker) {
    namespace search = tessera::autoscheduler;
    const Here at = here();
    const nb::gil_scoped_release no_gil;
    return called_at(at, [&] {
        const Target target = or_host(given);
        const search::TuningProblem problem(pipeline, target,
                                            search::known_machine(target, parallelism));
        const search::TuningLog known(log, problem.workload, problem.machine.cores,
                                      search::LogUse::Read);
        return search::export_bundle(problem.workload, problem.machine, known,
                                     {folder, candidates, seed, linker});
    });
}

}  // namespace

void bind_search(nb::module_ &m) {
    nb::class_<AutoschedulerParams>(m, "AutoschedulerParams", docs::scheduler_params::class_)
        .def(
            "__init__",
            [](AutoschedulerParams *p, const std::string &name, const nb::dict &options) {
                new (p) AutoschedulerParams(name, texts_of(options));
            },
            "name"_a = "", "options"_a = nb::dict())
        .def(
            "__init__",
            [](AutoschedulerParams *p, const std::string &name, const nb::dict &extra) {
                new (p) AutoschedulerParams(name, texts_of(extra));
            },
            "name"_a, "extra"_a)
        .def_rw("name", &AutoschedulerParams::name, docs::scheduler_params::name)
        .def_prop_rw(
            "extra",
            [](const AutoschedulerParams &p) {
                nb::dict options;
                for (const auto &[name, value] : p.extra) options[name.c_str()] = value;
                return options;
            },
            [](AutoschedulerParams &p, const nb::dict &options) { p.extra = texts_of(options); },
            docs::scheduler_params::extra)
        .def("to_string", &AutoschedulerParams::to_string, docs::scheduler_params::to_string)
        .def("__repr__",
             [](const AutoschedulerParams &p) {
                 return str("<AutoschedulerParams ", p.to_string(), ">");
             })
        .def("__getstate__",
             [](const AutoschedulerParams &p) {
                 std::vector<std::pair<std::string, std::string>> options(p.extra.begin(),
                                                                          p.extra.end());
                 return std::pair(p.name, options);
             })
        .def("__setstate__",
             [](AutoschedulerParams &p,
                const std::pair<std::string, std::vector<std::pair<std::string, std::string>>> &s) {
                 new (&p) AutoschedulerParams(s.first, {s.second.begin(), s.second.end()});
             });
    using Results = AutoSchedulerResults;
    nb::class_<Results>(m, "AutoSchedulerResults", docs::results::class_)
        .def_ro("target", &Results::target, docs::results::target)
        .def_ro("autoscheduler_params", &Results::autoscheduler_params,
                docs::results::autoscheduler_params)
        .def_rw("schedule_source", &Results::schedule_source, docs::results::schedule_source)
        .def_ro("schedule_python", &Results::schedule_python, docs::results::schedule_python)
        .def_ro("report", &Results::report, docs::results::report)
        .def_ro("milliseconds", &Results::milliseconds, docs::results::milliseconds)
        .def_ro("trials", &Results::trials, docs::results::trials)
        .def_ro("is_stopped", &Results::is_stopped, docs::results::is_stopped)
        .def_prop_ro(
            "featurization",
            [](const Results &r) {
                return nb::bytes(reinterpret_cast<const char *>(r.featurization.data()),
                                 r.featurization.size());
            },
            docs::results::featurization)
        .def("__repr__",
             [](const Results &r) {
                 return str("<AutoSchedulerResults: ", r.milliseconds, " ms, ", r.trials,
                            r.trials == 1 ? " trial" : " trials",
                            r.is_stopped ? ", stopped>" : ">");
             })
        .def("_repr_html_", [](const Results &r) {
            return nb::module_::import_("tessera._tune").attr("results_as_html")(nb::cast(r));
        });
    bind_templates(m);
    m.def("_export_bundle", &export_candidates, "pipeline"_a, "folder"_a, "candidates"_a,
          "target"_a, "log"_a, "parallelism"_a, "seed"_a, "linker"_a);
}

void define_search(nb::class_<Func> &c) { define(c); }
void define_search(nb::class_<Pipeline> &c) { define(c); }

}  // namespace tessera::python
