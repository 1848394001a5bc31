"""Compiled pipelines are kept on disk for the next run of a script."""
import os
import subprocess
import sys
import textwrap

import pytest

import tessera as ts

PACKAGE = os.path.dirname(os.path.dirname(ts.__file__))

SCRIPT = textwrap.dedent(
    """
    import sys
    import numpy as np
    import tessera as ts

    x, y, xi, yi = ts.vars("x y xi yi")
    image = ts.BoundaryConditions.repeat_edge(np.arange(48 * 64, dtype=np.uint8).reshape(48, 64))
    blur_x, blur = ts.funcs("blur_x blur")
    blur_x[x, y] = (ts.u16(image[x - 1, y]) + image[x, y] + image[x + 1, y]) / 3
    blur[x, y] = ts.u8((blur_x[x, y - 1] + blur_x[x, y] + blur_x[x, y + 1]) / 3)
    blur.tile(x, y, xi, yi, 32, 8).vectorize(xi, 16).parallel(y)
    blur_x.compute_at(blur, x).vectorize(x, 16)
    result = blur.realize([64, 48]).numpy()
    counts = ts.cache_info()
    print(counts["compiled"], counts["found_on_disk"], int(result.astype(np.int64).sum()))
    """
)


def run(tmp_path, script=SCRIPT, **variables):
    path = tmp_path / "blur.py"
    path.write_text(script)
    environment = {**os.environ, "PYTHONPATH": PACKAGE, "TESSERA_CACHE_DIR": str(tmp_path / "kept"), **variables}
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done


def kept(tmp_path):
    folder = tmp_path / "kept"
    return sorted(folder.glob("*.pipeline")) if folder.exists() else []


def test_the_second_run_compiles_nothing_and_computes_the_same(tmp_path):
    first = run(tmp_path).stdout.split()
    assert first[:2] == ["1", "0"] and len(kept(tmp_path)) == 1
    second = run(tmp_path).stdout.split()
    assert second[:2] == ["0", "1"] and second[2] == first[2]


def test_a_changed_script_is_compiled(tmp_path):
    run(tmp_path)
    assert run(tmp_path, SCRIPT.replace("32, 8", "32, 16")).stdout.split()[:2] == ["1", "0"]
    assert len(kept(tmp_path)) == 2


def test_one_variable_switches_it_off(tmp_path):
    for _ in range(2):
        assert run(tmp_path, TESSERA_CACHE_DIR="").stdout.split()[:2] == ["1", "0"]
    assert run(tmp_path, SCRIPT.replace("\nx, y, xi", "\nts.keep_on_disk(False)\nx, y, xi")).stdout.split()[:2] == ["1", "0"]
    assert not kept(tmp_path)


def test_many_processes_share_it(tmp_path):
    path = tmp_path / "blur.py"
    path.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": PACKAGE, "TESSERA_CACHE_DIR": str(tmp_path / "kept")}
    processes = [subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, text=True, env=environment) for _ in range(6)]
    outputs = [p.communicate()[0].split() for p in processes]
    assert all(p.returncode == 0 for p in processes)
    assert len({words[2] for words in outputs}) == 1
    assert all(sorted(words[:2]) == ["0", "1"] for words in outputs)
    assert len(kept(tmp_path)) == 1 and not [f for f in os.listdir(tmp_path / "kept") if f.startswith(".tessera-")]


def test_warnings_come_in_each_run(tmp_path):
    script = textwrap.dedent(
        """
        import tessera as ts
        x, y = ts.vars("x y")
        f = ts.Func("f")
        f[x, y] = x
        f[x, 0] += 1
        f.vectorize(x, 4)
        f.realize([8, 8])
        """
    )
    for _ in range(2):
        assert "has no schedule" in run(tmp_path, script).stderr
    assert not kept(tmp_path)


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path):
    (tmp_path / "file").write_text("")
    assert run(tmp_path, TESSERA_CACHE_DIR=str(tmp_path / "file")).stdout.split()[:2] == ["1", "0"]


def test_counts_of_this_process():
    x = ts.Var("x")
    f = ts.Func("counted")
    f[x] = x * 17
    was = ts.keep_on_disk(False)
    try:
        before = ts.cache_info()
        f.realize([3])
        assert ts.cache_info()["compiled"] == before["compiled"] + 1
        ts.clear_cache()
        assert ts.cache_info()["bytes"] == 0
    finally:
        ts.keep_on_disk(was)
