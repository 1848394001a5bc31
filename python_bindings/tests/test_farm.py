"""Searches that are measured by executors, some of whose workers are killed."""
import concurrent.futures
import io
import json
import multiprocessing
import os
import stat
import tarfile
import time

import pytest
from test_search import Interrupt, signal_handlers, small_blur  # noqa: F401 (a fixture)

import tessera as ts
from tessera import farm
from tessera._tune import measure_program


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    ts.export_bundle(small_blur(), folder, 3, parallelism=1)
    return folder


def program(folder, first_time, every_time=""):
    """Returns a program that does something the first time that it is started, and measures then."""
    path = folder / "measure.sh"
    path.write_text(f"#!/bin/sh\n{every_time}\nif mkdir {folder}/was_here 2>/dev/null; then\n{first_time}\nfi\n"
                    f'exec {measure_program()} "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def records(lines):
    return [r for r in map(json.loads, lines) if "reference" not in r]


def check_search(executor, tmp_path, **options):
    """Searches by an executor: all is measured and logged, and the log is enough for later."""
    log = tmp_path / "log.jsonl"
    found = ts.tune(small_blur(), 12, log, progress=False, parallelism=1, executor=farm.Farm(executor, **options))
    assert found.trials == 12 and found.milliseconds > 0
    lines = records(log.read_text().splitlines())
    assert len({r["schedule"] for r in lines}) == 12
    assert {r["outcome"] for r in lines} <= {"measured", "refused"}
    assert any(r.get("in_turns") for r in lines)
    again = ts.tune(small_blur(), 0, log, progress=False, parallelism=1)
    assert again.schedule_source == found.schedule_source


def test_a_task_measures_a_bundle(bundle):
    lines = farm.measure_bundle(farm.pack(bundle), {})
    assert [r["outcome"] for r in records(lines)] == ["measured"] * 3
    first = json.loads((bundle / "manifest.json").read_text())["candidates"][0]
    part = farm.measure_bundle(farm.pack(bundle, {first["library"]}), {})
    assert [r["schedule"] for r in records(part)] == [first["record"]["schedule"]]


def test_a_task_that_fails_says_why(bundle, tmp_path):
    with pytest.raises(ts.RunError, match="measure.sh: it broke"):
        farm.measure_bundle(farm.pack(bundle), {"program": program(tmp_path, "echo error: it broke >&2; exit 1")})
    with pytest.raises(ts.RunError, match="ended with the status -9"):
        os.rmdir(tmp_path / "was_here")
        farm.measure_bundle(farm.pack(bundle), {"program": program(tmp_path, "kill -9 $$")})


def test_a_task_ends_in_time(bundle, tmp_path):
    begin = time.monotonic()
    with pytest.raises(ts.RunError, match="ended with the status -9"):
        farm.measure_bundle(farm.pack(bundle), {"program": program(tmp_path, "exec sleep 100"), "timeout": 0.5})
    assert time.monotonic() - begin < 20


def test_a_bundle_with_foreign_paths_is_refused():
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:xz") as tar:
        tar.addfile(tarfile.TarInfo("../outside"), io.BytesIO(b""))
    with pytest.raises(ts.RunError, match="does not belong there: ../outside"):
        farm.measure_bundle(archive.getvalue(), {})


def test_one_task_at_a_time_measures_on_a_box(bundle, tmp_path):
    # Each notes when it begins and ends.
    path = tmp_path / "measure.sh"
    path.write_text(f"#!/bin/sh\necho + >> {tmp_path}/times\n{measure_program()} \"$@\"\necho - >> {tmp_path}/times\n")
    path.chmod(0o700)
    packed = farm.pack(bundle)
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        tasks = [threads.submit(farm.measure_bundle, packed, {"program": str(path)}) for _ in range(3)]
        assert all(records(t.result()) for t in tasks)
    assert (tmp_path / "times").read_text().split() == ["+", "-"] * 3


def test_a_search_by_local_processes_one_of_which_is_killed(tmp_path):
    with farm.LocalProcesses(2) as executor:
        assert isinstance(executor, farm.Executor)
        check_search(executor, tmp_path, program=program(tmp_path, "kill -9 $$"))
    assert (tmp_path / "was_here").is_dir()


def make_pool():
    return concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))


def test_a_search_by_a_pool_of_processes_one_of_which_is_killed(tmp_path):
    with farm.Futures(make_pool, 2) as executor:
        check_search(executor, tmp_path, program=program(tmp_path, "kill -9 $PPID"))
    assert (tmp_path / "was_here").is_dir()


def test_an_executor_that_loses_all_ends_the_search(tmp_path):
    blur = small_blur()
    with farm.LocalProcesses() as executor:
        lost = farm.Farm(executor, program=program(tmp_path, "", every_time="kill -9 $$"))
        with pytest.raises(ts.RunError, match="no worker has measured the bundle: measure.sh: it ended with the status -9"):
            ts.tune(blur, 4, progress=False, executor=lost)
    assert "vectorize" not in blur.schedule_as_cpp()


def test_a_template_by_an_executor(tmp_path):
    blur, x = small_blur(), ts.Var("x")
    with farm.LocalProcesses() as executor:
        found = ts.tune_template(blur, lambda k: blur.vectorize(x, k.choose("lanes", [4, 8])), progress=False, parallelism=1,
                                 executor=executor)
    assert len(found.trials) == 2 and found.milliseconds > 0


def test_a_search_by_an_executor_is_interrupted():
    interrupt = Interrupt(2)
    with farm.LocalProcesses() as executor:
        with pytest.raises(KeyboardInterrupt) as caught:
            ts.tune(small_blur(), 10_000, progress=interrupt, parallelism=1, executor=executor)
    interrupt.check()
    assert caught.value.partial.trials >= 2


def test_a_search_by_dask_one_of_whose_workers_is_killed(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, resources={"box": 1},
                                  dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        with farm.Dask(client) as executor:
            assert executor.resources() == {"boxes": 2}
            check_search(executor, tmp_path, boxes=2, program=program(tmp_path, "kill -9 $PPID"))
    assert (tmp_path / "was_here").is_dir()


def test_a_search_by_ray(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    ray.init(num_cpus=2, resources={"box": 2}, include_dashboard=False)
    try:
        with farm.Ray() as executor:
            assert executor.resources() == {"boxes": 2}
            check_search(executor, tmp_path, boxes=2, program=program(tmp_path, "kill -9 $PPID"))
    finally:
        ray.shutdown()
    assert (tmp_path / "was_here").is_dir()
