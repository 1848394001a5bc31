"""Searches for schedules: progress, interruption, logs, templates, bundles."""
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tessera as ts
from tessera._tune import measure_program


def small_blur(width=256, height=128, estimates=True):
    x, y = ts.vars("x y")
    across, blur = ts.funcs("across blur")
    source = ts.Buffer(np.arange((width + 2) * (height + 2), dtype=np.float32).reshape(height + 2, width + 2) % 32)
    across[x, y] = source[x, y] + source[x + 1, y] + source[x + 2, y]
    blur[x, y] = across[x, y] + across[x, y + 1] + across[x, y + 2]
    return blur.set_estimates([(0, width), (0, height)]) if estimates else blur


@pytest.fixture(autouse=True)
def signal_handlers():
    """The usual handlers: a shell may have let this process ignore the key."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler), signal.getsignal(signal.SIGALRM)
    yield
    signal.signal(signal.SIGINT, before[0])
    signal.signal(signal.SIGALRM, before[1])


# ---- Results ----


def test_the_pipeline_has_the_schedule_that_the_results_show():
    blur = small_blur()
    before = blur.realize([256, 128]).numpy()
    found = ts.Pipeline([blur]).apply_autoscheduler(
        ts.get_host_target(), ts.AutoschedulerParams("tessera", {"trials": 3, "parallelism": 1}))
    assert found.trials == 3 and found.milliseconds > 0 and not found.is_stopped
    assert "vectorize" in found.schedule_source and "vectorize" in blur.schedule_as_cpp()
    assert found.schedule_python == blur.schedule_as_python()
    assert found.autoscheduler_params.name == "tessera"
    assert found.autoscheduler_params.extra == {"trials": "3", "parallelism": "1"}
    assert "3 trials" in repr(found)
    np.testing.assert_array_equal(blur.realize([256, 128]).numpy(), before)


def test_a_schedule_as_python_runs_and_gives_the_same_schedule():
    first, second = small_blur(), small_blur(estimates=False)  # they are a part of the schedule
    found = ts.tune(first, 2, progress=False, parallelism=1)
    exec(found.schedule_python, {"pipeline": ts.Pipeline([second])})
    assert second.schedule_as_cpp() == first.schedule_as_cpp()


def all_kinds():
    x, y, r = ts.Var("x"), ts.Var("y"), ts.RDom([(0, 64)], "r")
    p, im = ts.Param(ts.Int(32), "p"), ts.ImageParam(ts.Int(32), 2, "im")
    g, h, total, f = ts.funcs("g h total f")
    g[x, y] = im[x, y] * p
    h[x, y] = g[x, y] + 1
    total[x] = 0
    total[x] += h[x, r]
    f[x, y] = h[x, y] + h[x + 1, y] + total[x]
    return f, g, h, total, x, y, r, p, im


def test_all_kinds_of_directives_as_python():
    f, g, h, total, x, y, r, p, im = all_kinds()
    xi, u, ro, ri = ts.Var("xi"), ts.Var("u"), ts.RVar("ro"), ts.RVar("ri")
    g.compute_at(h, x).vectorize(x, 8).store_in(ts.MemoryType.Stack)
    h.compute_root().async_().reorder_storage(y, x).align_storage(y, 8)
    h.in_(f).compute_root()
    total.compute_root().update().split(r.x, ro, ri, 8).rfactor(ro, u).compute_root()
    f.split(x, x, xi, 16, ts.TailStrategy.GuardWithIf).parallel(y).unroll(xi).reorder(xi, y, x)
    f.stream_loads(total).prefetch(im, x, x, 2).bound(x, 0, im.dim(0).extent() - 2)
    f.specialize((p > 3) & (p < 7)).vectorize(xi)
    text = f.schedule_as_python()
    assert text.startswith("import tessera as ts\n")
    again = all_kinds()[0]
    exec(text, {"pipeline": ts.Pipeline([again])})
    assert again.schedule_as_cpp() == f.schedule_as_cpp()
    assert again.schedule_as_python() == text


def test_a_notebook_is_shown_the_time_the_curve_and_the_schedule():
    found = ts.tune(small_blur(), 3, progress=False, parallelism=1)
    page = found._repr_html_()
    assert "<svg" in page and "polyline" in page and "schedule as Python" in page
    assert "<script" not in page and "http" not in page.replace("http://www.w3.org", "")
    assert len(page) < 50_000
    assert "</html>" in found.report


def test_parameters_are_pickled():
    import pickle

    params = pickle.loads(pickle.dumps(ts.AutoschedulerParams("tessera", {"trials": 3})))
    assert params.name == "tessera" and params.extra == {"trials": "3"}


@pytest.mark.parametrize("arguments, error, message", [
    (dict(pipeline=3), TypeError, "a int is no pipeline"),
    (dict(progress=3), TypeError, "progress is a function"),
    (dict(on_interrupt="stop"), ValueError, 'on_interrupt is "raise" or "best"'),
    (dict(executor=3), TypeError, "a int is no Executor"),
    (dict(trials=-1), ts.CompileError, "trials is a number of at least 0"),
])
def test_wrong_arguments_are_told(arguments, error, message):
    with pytest.raises(error, match=message):
        ts.tune(**{"pipeline": small_blur(), "trials": 1, "progress": False, **arguments})


def test_an_output_without_estimates_is_told_with_its_line():
    f, x = ts.Func("f"), ts.Var("x")
    f[x] = x
    with pytest.raises(ts.CompileError, match="estimate") as caught:
        ts.tune(f, 1, progress=False)
    assert caught.value.filename == __file__


def readme_blocks():
    path = os.path.join(os.path.dirname(__file__), "..", "README.md")
    with open(path) as file:
        section = file.read().split("## Searches")[1]
    return [block.split("```")[0] for block in section.split("```python\n")[1:]]


@pytest.mark.parametrize("block", readme_blocks())
def test_the_readme(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    x, y = ts.vars("x y")
    blur_x, blur = ts.funcs("blur_x blur")
    blur_x[x, y] = ts.f32(x * y)
    blur[x, y] = blur_x[x, y] + blur_x[x, y + 1]
    blur.set_estimates([(0, 64), (0, 48)])
    exec(block.replace("trials=32", "trials=2"), {"ts": ts, "blur": blur, "blur_x": blur_x, "y": y})
    assert float(capsys.readouterr().out.split()[0]) > 0
    assert "parallel" in blur.schedule_as_cpp() or "vectorize" in blur.schedule_as_cpp()


# ---- Progress ----


def test_progress_is_told_to_a_function():
    told = []
    found = ts.tune(small_blur(), 5, progress=lambda *all: told.append(all), parallelism=1)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert {trials for _, trials, _ in told} == {5}
    assert told[0] == (0, 5, None)
    assert told[-1][0] == found.trials == 5
    times = [best for _, _, best in told if best is not None]
    assert times and times == sorted(times, reverse=True)


def test_what_the_progress_function_raises_comes_out_as_itself():
    def progress(done, trials, best):
        if done == 2:
            raise KeyError("mine")

    blur = small_blur()
    with pytest.raises(KeyError, match="mine") as caught:
        ts.tune(blur, 1000, progress=progress, parallelism=1)
    assert caught.traceback[-1].name == "progress"
    assert "vectorize" not in blur.schedule_as_cpp()


def test_without_tqdm_a_line_on_stderr_shows_progress(monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    ts.tune(small_blur(), 2, parallelism=1)
    shown = capfd.readouterr().err
    assert shown.startswith("\r0 of 2 schedules measured") and shown.endswith("\n")
    assert "2 of 2 schedules measured, best " in shown


def test_tqdm_shows_progress(capfd):
    pytest.importorskip("tqdm")
    ts.tune(small_blur(), 2, parallelism=1)
    shown = capfd.readouterr().err
    assert "2/2" in shown and "best " in shown and "schedules measured" not in shown


# ---- Interruption ----


class Interrupt:
    """A progress function that sends a signal once so many schedules are measured, and says how long the rest took."""

    def __init__(self, measured, number=signal.SIGINT):
        self.measured, self.number, self.sent = measured, number, None

    def __call__(self, done, trials, best):
        if done >= self.measured and self.sent is None:
            self.sent, self.work = time.monotonic(), time.process_time()
            os.kill(os.getpid(), self.number)

    def check(self):
        """Checks that the search has ended soon: 0.1 s on a machine that does nothing else, where others work, more."""
        assert time.monotonic() - self.sent < 3
        assert time.process_time() - self.work < 0.2


def test_control_c_stops_a_search_and_the_exception_has_the_best_so_far():
    blur, interrupt = small_blur(), Interrupt(3)
    with pytest.raises(KeyboardInterrupt) as caught:
        ts.tune(blur, 10_000, progress=interrupt, parallelism=1)
    interrupt.check()
    partial = caught.value.partial
    assert partial.is_stopped and 3 <= partial.trials < 100
    assert "vectorize" in partial.schedule_source
    assert blur.schedule_as_python() == partial.schedule_python


def test_control_c_gives_the_best_so_far_where_that_is_asked_for():
    found = ts.tune(small_blur(), 10_000, progress=Interrupt(2), parallelism=1, on_interrupt="best")
    assert found.is_stopped and found.milliseconds > 0


def test_control_c_before_any_measurement_is_raised():
    blur, interrupt = small_blur(), Interrupt(0)
    with pytest.raises(KeyboardInterrupt) as caught:
        ts.tune(blur, 10_000, progress=interrupt, parallelism=1, on_interrupt="best")
    interrupt.check()
    assert caught.value.partial.schedule_source == ""
    assert "vectorize" not in blur.schedule_as_cpp()


def test_other_signal_handlers_end_a_search_too():
    def handler(number, frame):
        raise TimeoutError("time is up")

    signal.signal(signal.SIGALRM, handler)
    interrupt = Interrupt(2, signal.SIGALRM)
    with pytest.raises(TimeoutError, match="time is up") as caught:
        ts.tune(small_blur(), 10_000, progress=interrupt, parallelism=1)
    interrupt.check()
    assert caught.value.partial.milliseconds > 0


def test_a_handler_that_raises_nothing_does_not_end_a_search():
    seen = []
    signal.signal(signal.SIGALRM, lambda *all: seen.append(all))
    found = ts.tune(small_blur(), 4, progress=Interrupt(2, signal.SIGALRM), parallelism=1)
    assert found.trials == 4 and not found.is_stopped and len(seen) == 1


def test_a_key_does_not_count_as_a_crash_of_a_candidate(tmp_path):
    # The key goes to all processes of the group.
    log = tmp_path / "log.jsonl"
    program = f"""
import os, signal, sys, time
sys.path[:0] = {sys.path!r}
from test_search import small_blur
import tessera as ts
signal.signal(signal.SIGINT, signal.default_int_handler)
def progress(done, trials, best):
    if done == 3: os.killpg(0, signal.SIGINT)
found = ts.tune(small_blur(), 10_000, {str(log)!r}, progress, parallelism=1, on_interrupt="best")
print(found.is_stopped)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=os.path.dirname(__file__), start_new_session=True, text=True,
                          capture_output=True, timeout=600)
    assert done.stdout == "True\n", done.stderr
    outcomes = [json.loads(line)["outcome"] for line in log.read_text().splitlines()]
    assert len(outcomes) >= 3 and set(outcomes) <= {"measured", "refused"}


def test_a_search_beside_a_busy_thread_and_a_warning_handler():
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            sum(range(1000))

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        found = ts.tune(small_blur(), 6, progress=False, parallelism=1)
    finally:
        stop.set()
        thread.join()
    assert found.trials == 6 and found.milliseconds > 0


def test_two_searches_at_once():
    found = [None, None]

    def search(i):
        found[i] = ts.tune(small_blur(128 + 64 * i), 3, progress=False, parallelism=1)

    threads = [threading.Thread(target=search, args=[i]) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [f.trials for f in found] == [3, 3]


# ---- Logs and bundles ----


def test_a_log_is_gone_on_with(tmp_path):
    log = tmp_path / "log.jsonl"
    first = ts.tune(small_blur(), 4, log, progress=False, parallelism=1)
    lines = len(log.read_text().splitlines())
    begin = time.monotonic()
    again = ts.tune(small_blur(), 4, log, progress=False, parallelism=1)
    assert again.schedule_source == first.schedule_source
    assert len(log.read_text().splitlines()) == lines
    best = ts.tune(small_blur(), 0, log, progress=False, parallelism=1)
    assert best.schedule_source == first.schedule_source and best.milliseconds == pytest.approx(first.milliseconds)
    assert time.monotonic() - begin < 30


def test_a_bundle_is_measured_by_a_program_that_has_no_compiler(tmp_path):
    folder, log = tmp_path / "bundle", tmp_path / "log.jsonl"
    count = ts.export_bundle(small_blur(), folder, 3, parallelism=1)
    assert count == 3 and len(json.loads((folder / "manifest.json").read_text())["candidates"]) == 3
    done = subprocess.run([measure_program(), folder, "--log", log], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(log.read_text().splitlines()) == 3
    found = ts.tune(small_blur(), 0, log, progress=False, parallelism=1)
    assert found.milliseconds > 0
    assert ts.export_bundle(small_blur(), tmp_path / "again", 2, parallelism=1, log=log) == 2


def test_a_bundle_needs_no_linker(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    ts.export_bundle(small_blur(), tmp_path, 1, parallelism=1)
    assert (tmp_path / "candidate_0.o").exists()
    assert ts.tune(small_blur(), 1, progress=False, parallelism=1).milliseconds > 0


def test_a_missing_program_is_told(monkeypatch):
    monkeypatch.setenv("TESSERA_MEASURE", "/nowhere/tessera-measure")
    with pytest.raises(ts.RunError, match="/nowhere/tessera-measure is no program"):
        ts.tune(small_blur(), 1, progress=False)


# ---- Templates ----


def two_stages():
    x, y = ts.vars("x y")
    across, blur = ts.funcs("across blur")
    across[x, y] = ts.f32(x * 7 + y * 3) % 32
    blur[x, y] = across[x, y] + across[x + 1, y]
    return blur.set_estimates([(0, 256), (0, 64)]), across, x, y


def test_a_template_tries_all_combinations_and_leaves_the_best():
    blur, across, x, y = two_stages()

    def schedule(k):
        blur.vectorize(x, k.choose("lanes", [4, 8]))
        if not k.choose("inline", [False, True]):
            across.compute_at(blur, y).vectorize(x, k.choose("inner", (4, 8)))

    told = []
    found = ts.tune_template(blur, schedule, 20, progress=lambda *all: told.append(all), parallelism=1)
    assert len(found.trials) == 2 * (2 + 1)
    assert all(t.milliseconds >= found.milliseconds for t in found.trials)
    assert found.choices["lanes"] in (4, 8) and found.choices["inline"] in (False, True)
    assert ("inner" in found.choices) == (not found.choices["inline"])
    assert told[-1][0] == 6 and told[-1][2] == pytest.approx(found.milliseconds)
    assert blur.schedule_as_python() == found.schedule_python
    assert "<table>" in found._repr_html_() and "schedule as Python" in found._repr_html_()
    # The choices that were found make the same schedule of the same algorithm.
    blur, across, x, y = two_stages()
    schedule(ts.Knobs(found.choices))
    assert blur.schedule_as_python() == found.schedule_python


def test_choices_may_be_any_objects():
    blur, across, x, y = two_stages()
    places = {"root": lambda: across.compute_root(), "inline": lambda: None}

    def schedule(k):
        k.choose("place", list(places.values()))()
        blur.vectorize(x, k.choose("n", [4])).parallel(k.choose("loop", [y]))

    found = ts.tune_template(blur, schedule, progress=False, parallelism=1)
    assert found.choices["place"] in places.values()
    assert len(found.trials) == 2


def test_choices_that_a_directive_refuses_are_left_out():
    blur, across, x, y = two_stages()
    found = ts.tune_template(blur, lambda k: blur.vectorize(ts.Var(k.choose("loop", ["x", "zz"])), 4), progress=False,
                             parallelism=1)
    assert found.choices == {"loop": "x"}
    refused = [t for t in found.trials if t.milliseconds == 0]
    assert len(refused) == 1 and "no loop named zz" in refused[0].message and "test_search.py:" in refused[0].message


def test_what_a_template_raises_comes_out_as_itself():
    blur, across, x, y = two_stages()
    across.compute_root()
    before = blur.schedule_as_cpp()

    def schedule(k):
        blur.vectorize(x, k.choose("lanes", [4, 8]))
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        ts.tune_template(blur, schedule, progress=False)
    assert blur.schedule_as_cpp() == before


@pytest.mark.parametrize("schedule, message", [
    (lambda k: k.choose("n", []), "the knob n has no choices"),
    (lambda k: (k.choose("n", [1, 2]), k.choose("n", [3])), "the knob n is asked for with the choices 3"),
    (lambda k: ts.Func("other").vectorize(ts.Var("x")), "the template has no schedule that works"),
])
def test_misuse_of_knobs_is_told(schedule, message):
    with pytest.raises(ts.CompileError, match=message):
        ts.tune_template(two_stages()[0], schedule, progress=False)


def test_knobs_that_are_given_have_to_be_choices():
    with pytest.raises(ts.CompileError, match="the knob n has no choice 3; it has 1, 2"):
        ts.Knobs({"n": 3}).choose("n", [1, 2])
    assert ts.Knobs().choose("n", [1, 2]) == 1


def test_a_template_is_interrupted():
    blur, across, x, y = two_stages()
    interrupt = Interrupt(2)

    def schedule(k):
        blur.split(x, x, ts.Var("xi"), k.choose("a", list(range(2, 40))))
        blur.split(y, y, ts.Var("yi"), k.choose("b", list(range(1, 9))))

    with pytest.raises(KeyboardInterrupt) as caught:
        ts.tune_template(blur, schedule, 300, progress=interrupt, parallelism=1)
    interrupt.check()
    partial = caught.value.partial
    assert partial.is_stopped and partial.milliseconds > 0 and partial.choices["a"] in range(2, 40)
    assert blur.schedule_as_python() == partial.schedule_python


def test_a_template_is_gone_on_with_by_its_log(tmp_path):
    log = tmp_path / "log.jsonl"

    def search(trials):
        blur, across, x, y = two_stages()
        return ts.tune_template(blur, lambda k: blur.vectorize(x, k.choose("lanes", [4, 8, 16])), trials, log, progress=False,
                                parallelism=1)

    first = search(3)
    lines = log.read_text()
    assert search(3).choices == first.choices and log.read_text() == lines
    assert search(0).choices == first.choices
