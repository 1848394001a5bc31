"""The stubs are written by nanobind's generator, in the environment of whoever builds."""
import importlib.util
import os
import pathlib
import subprocess


def test_the_packages_of_the_builder_are_found(monkeypatch, tmp_path):
    # pip builds in an environment whose packages are found by PYTHONPATH alone.
    path = pathlib.Path(__file__).parent.parent / "typing" / "make_stubs.py"
    spec = importlib.util.spec_from_file_location("make_stubs", path)
    make_stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_stubs)
    seen = []
    monkeypatch.setenv("PYTHONPATH", "packages")
    monkeypatch.setattr(subprocess, "run", lambda command, check, env: seen.append(env["PYTHONPATH"]))
    make_stubs.generated(tmp_path)
    assert seen == [os.pathsep.join([str(tmp_path), "packages"])]
