"""Searches for schedules: tune(), templates with knobs, bundles."""
import html
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from . import _tessera
from ._errors import CompileError, RunError
from ._tessera import AutoschedulerParams, Func, Pipeline, Target


def measure_program():
    """Returns the path of tessera-measure: of the environment variable TESSERA_MEASURE, or that of the package.

    RunError if there is none.
    """
    program = os.environ.get("TESSERA_MEASURE") or os.path.join(os.path.dirname(__file__), "tessera-measure")
    if not os.access(program, os.X_OK):
        raise RunError(f"{program} is no program: searches measure by it; set TESSERA_MEASURE to its path")
    return program


# ---- Progress ----


def _as_line(done, trials, best):
    return f"{done} of {trials} schedules measured" + ("" if best is None else f", best {best:.4g} ms")


class _Line:
    """Shows how far a search is by a line on stderr."""

    def __init__(self):
        self.width, self.last = 0, 0.0

    def __call__(self, done, trials, best):
        now = time.monotonic()
        if now - self.last < 0.1 and done < trials:
            return
        self.last = now
        line = _as_line(done, trials, best)
        sys.stderr.write("\r" + line.ljust(self.width))
        sys.stderr.flush()
        self.width = len(line)

    def close(self):
        if self.width:
            sys.stderr.write("\n")
            sys.stderr.flush()


class _Bar:
    """Shows how far a search is by tqdm's bar."""

    def __init__(self, tqdm, trials):
        self.bar = tqdm(total=trials, unit="trial")

    def __call__(self, done, trials, best):
        self.bar.n = done
        if best is not None:
            self.bar.set_postfix_str(f"best {best:.4g} ms", refresh=False)
        self.bar.refresh()

    def close(self):
        self.bar.close()


def _display(trials):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line()
    return _Bar(tqdm, trials)


class _Shown:
    """The function that is told of progress: the caller's, our own where that is None, or none where it is False."""

    def __init__(self, progress, trials):
        self.own = _display(trials) if progress is None or progress is True else None
        self.function = self.own or (progress if callable(progress) else None)
        if self.function is None and progress is not False:
            raise TypeError(f"progress is a function of (done, trials, best_ms), None or False, not a {type(progress).__name__}")

    def __enter__(self):
        return self.function

    def __exit__(self, *error):
        if self.own:
            self.own.close()


# ---- Searches ----


def _pipeline(pipeline):
    if isinstance(pipeline, Pipeline):
        return pipeline
    if isinstance(pipeline, (list, tuple)):
        return Pipeline(list(pipeline))
    if isinstance(pipeline, Func):
        return Pipeline([pipeline])
    raise TypeError(f"a {type(pipeline).__name__} is no pipeline: a Pipeline, a Func or a list of Funcs is")


def _measurer(executor):
    """Returns the measurer of an executor, and how many candidates are chosen at once for it."""
    if executor is None:
        return None, 8
    from .farm import Farm

    farm = executor if isinstance(executor, Farm) else Farm(executor)
    return farm.measure, farm.batch


def _until_interrupted(search, on_interrupt):
    if on_interrupt not in ("raise", "best"):
        raise ValueError(f'on_interrupt is "raise" or "best", not {on_interrupt!r}')
    try:
        return search()
    except KeyboardInterrupt as e:
        partial = getattr(e, "partial", None)
        if on_interrupt == "best" and partial is not None and partial.schedule_source:
            return partial
        raise


def tune(pipeline: Func | Pipeline, trials: int = 64, log: "str | os.PathLike[str] | None" = None,
         progress: "Callable[[int, int, float | None], object] | bool | None" = None, *, target: Target | None = None,
         seconds: float | None = None, seed: int = 1, parallelism: int | None = None,
         report: "str | os.PathLike[str] | None" = None, executor: Any = None,
         on_interrupt: str = "raise") -> _tessera.AutoSchedulerResults:
    """Measures schedules of a pipeline, leaves it with the fastest, and returns the AutoSchedulerResults.

    The outputs want estimates of their sizes (`set_estimates`). `trials`: how many schedules are measured; 0: the best of
    the log, or what the cost model takes for the fastest. `seconds`: after which no more are begun. `log`: a file of
    measurements, which is gone on with. `progress`: a function of (done, trials, best_ms), or False for none; None: a bar
    of tqdm's, where it is installed, or else a line on stderr. `report`: a page of HTML to write. `executor`: a Farm, or
    an Executor of `tessera.farm`; None: this machine measures.

    Control-C ends the search within 100 ms, and the pipeline has the best schedule so far: KeyboardInterrupt has it as
    `partial`, or, with on_interrupt="best", it is returned. What `progress` raises ends the search, too, and leaves the
    schedule as it was.

    >>> import tessera as ts
    >>> x, f = ts.Var("x"), ts.Func("f")
    >>> f[x] = x * x
    >>> result = ts.tune(f.set_estimates([(0, 4096)]), trials=2, progress=False)
    >>> result.milliseconds > 0
    True
    """
    options = {"trials": trials, "seed": seed}
    given = {"seconds": seconds, "log": log, "parallelism": parallelism, "report": report}
    options.update((name, os.fspath(value) if name in ("log", "report") else value)
                   for name, value in given.items() if value is not None)
    measurer, batch = _measurer(executor)
    pipeline = _pipeline(pipeline)
    with _Shown(progress, trials) as told:
        return _until_interrupted(
            lambda: pipeline.apply_autoscheduler(target or Target(), AutoschedulerParams("tessera", options), progress=told,
                                                 measurer=measurer, batch=batch), on_interrupt)


# ---- Templates ----


def _text(choice, place):
    """Returns how a log calls a choice: as C++ prints it, or by its place where it has no text that stays the same."""
    if isinstance(choice, bool):
        return "true" if choice else "false"
    if choice is None or isinstance(choice, (int, float, str)):
        return str(choice)
    text = repr(choice)
    return f"#{place}" if " at 0x" in text else text


_Choice = TypeVar("_Choice")


class Knobs:
    """A template asks these for its choices.

    `Knobs({"rows": 16})` gives a template the choices that were found, and the first one of other knobs.

    >>> ts.Knobs({"rows": 16}).choose("rows", [8, 16, 32])
    16
    """

    def __init__(self, choices: Mapping[str, Any] | None = None) -> None:
        self._given = dict(choices or {})
        self._choose = self._choose_given
        self._values = {}

    def choose(self, name: str, choices: Sequence[_Choice]) -> _Choice:
        """Returns one of the choices. CompileError if there are none, or other ones than the knob had before.

        >>> ts.Knobs().choose("rows", [8, 16, 32])
        8
        """
        choices = list(choices)
        texts = [_text(choice, place) for place, choice in enumerate(choices)]
        value = choices[self._choose(name, texts)]
        self._values.setdefault(name, {}).update(zip(texts, choices))
        return value

    def _choose_given(self, name, texts):
        if not texts:
            raise CompileError(f"the knob {name} has no choices; give it at least one")
        if name not in self._given:
            return 0
        given = _text(self._given[name], -1)
        if given not in texts:
            raise CompileError(f"the knob {name} has no choice {given}; it has {', '.join(texts)}")
        return texts.index(given)


class Trial:
    """One candidate of a template: its choices, its time (0: none), and why it has none."""

    def __init__(self, choices, milliseconds, message):
        self.choices, self.milliseconds, self.message = choices, milliseconds, message

    def __repr__(self):
        return f"<Trial {self.choices}: {f'{self.milliseconds:.4g} ms' if self.milliseconds > 0 else self.message}>"


class TemplateResult:
    """Describes what a template's search has found: the pipeline has that schedule.

    `choices`: a dict of the knobs; `milliseconds`: 0 if it was not measured; `trials`: a Trial for each candidate;
    `schedule_source`, `schedule_python`: the schedule as C++ and as Python; `is_stopped`: True if it was interrupted.

    >>> f.set_estimates([(0, 64), (0, 64)])
    <Func f(x, y): int32>
    >>> found = ts.tune_template(f, lambda k: f.parallel(y, k.choose("rows", [8, 16])), progress=False)
    >>> found.choices["rows"] in (8, 16), len(found.trials)
    (True, 2)
    """

    def __init__(self, found, values):
        self._values = values
        self.choices = self._choices_of(found)
        self.milliseconds = found.milliseconds
        self.schedule_source = found.schedule_source
        self.schedule_python = found.schedule_python
        self.is_stopped = found.is_stopped
        self.trials = [Trial(self._choices_of(t), t.milliseconds, t.message) for t in found.trials]

    def _choices_of(self, trial):
        return {name: self._values.get(name, {}).get(text, text) for name, text in trial._choices.items()}

    def __repr__(self):
        return f"<TemplateResult: {self.milliseconds:.4g} ms with {self.choices}, {len(self.trials)} trials>"

    def _repr_html_(self):
        rows = sorted((t for t in self.trials if t.milliseconds > 0), key=lambda t: t.milliseconds)[:8]
        cells = "".join(f"<tr><td>{t.milliseconds:.4g} ms</td><td>{html.escape(repr(t.choices))}</td></tr>" for t in rows)
        return _page(self, f"<table>{cells}</table>")


def tune_template(pipeline: Func | Pipeline, schedule: "Callable[[Knobs], object]", trials: int = 64,
                  log: "str | os.PathLike[str] | None" = None,
                  progress: "Callable[[int, int, float | None], object] | bool | None" = None, *,
                  target: Target | None = None, seconds: float = 1e9, seed: int = 1, parallelism: int = 0,
                  executor: Any = None, on_interrupt: str = "raise") -> "TemplateResult":
    """Finds the fastest choices of a template, leaves the pipeline with that schedule, and returns the TemplateResult.

    `schedule` is a function of Knobs that schedules the Funcs, and asks for what it leaves open. It is called for each
    candidate, on the same Funcs, which have the schedule then that they had before; where a directive refuses the
    choices, that candidate is left out. All combinations are tried where there are no more than `trials`, else some at
    random, and changes of the best. The other arguments are those of tune().

    >>> import tessera as ts
    >>> x, f = ts.Var("x"), ts.Func("f")
    >>> f[x] = x * x
    >>> schedule = lambda k: f.vectorize(x, k.choose("lanes", [4, 8]))
    >>> found = ts.tune_template(f.set_estimates([(0, 4096)]), schedule, progress=False)
    >>> found.choices["lanes"] in (4, 8)
    True
    """
    values = {}

    def called(choose):
        knobs = Knobs()
        knobs._choose, knobs._values = choose, values
        schedule(knobs)

    measurer, batch = _measurer(executor)
    pipeline = _pipeline(pipeline)

    def search():
        try:
            found = _tessera._tune_template(pipeline, called, target or Target(), trials, seconds, seed,
                                            os.fspath(log) if log else "", parallelism, told, measurer, batch)
        except KeyboardInterrupt as e:
            if getattr(e, "partial", None) is not None:
                e.partial = TemplateResult(e.partial, values)
            raise
        return TemplateResult(found, values)

    with _Shown(progress, trials) as told:
        return _until_interrupted(search, on_interrupt)


# ---- Bundles ----


def export_bundle(pipeline: Func | Pipeline, folder: "str | os.PathLike[str]", candidates: int = 64, *,
                  target: Target | None = None, log: "str | os.PathLike[str] | None" = None, parallelism: int = 0,
                  seed: int = 1, linker: str | None = None) -> int:
    """Writes a bundle of candidates, which tessera-measure measures on a machine without a compiler; returns how many.

    `target`: of the machine that measures; `parallelism`: its cores; `linker`: a C compiler that makes shared libraries
    for it; `log`: what it has is left out. `tune(pipeline, trials=0, log=...)` then takes the best of the log.

    >>> ts.export_bundle(f.set_estimates([(0, 64), (0, 64)]), "bundle", candidates=2)
    2
    >>> "manifest.json" in os.listdir("bundle")
    True
    """
    return _tessera._export_bundle(_pipeline(pipeline), os.fspath(folder), candidates, target or Target(),
                                   os.fspath(log) if log else "", parallelism, seed, linker or "")


# ---- Notebooks ----

_STYLE = """<style>
.tessera-search pre{padding:.5em;overflow-x:auto;border:1px solid color-mix(in srgb,currentColor 25%,transparent)}
.tessera-search svg{width:100%;max-width:640px}
.tessera-search circle{fill:#888}.tessera-search circle.best{fill:#c33}
.tessera-search polyline{fill:none;stroke:#36c;stroke-width:2}
.tessera-search text{font-size:12px;fill:currentColor}
</style>"""


def _page(found, more):
    time_text = f"{found.milliseconds:.4g} ms" if found.milliseconds > 0 else "not measured"
    trials = found.trials if isinstance(found.trials, int) else len(found.trials)
    stopped = ", stopped" if found.is_stopped else ""
    sources = "".join(f"<details><summary>schedule as {name}</summary><pre>{html.escape(text)}</pre></details>"
                      for name, text in (("Python", found.schedule_python), ("C++", found.schedule_source)) if text)
    return f'<div class="tessera-search">{_STYLE}<p><b>{time_text}</b>, {trials} trials{stopped}</p>{more}{sources}</div>'


def results_as_html(results):
    """Returns what a notebook shows of AutoSchedulerResults: the time, the search's curve, and the schedule to unfold."""
    curve = re.search(r"<svg.*?</svg>", results.report, re.DOTALL)
    return _page(results, curve.group(0) if curve else "")
