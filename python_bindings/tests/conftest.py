"""Compiled pipelines are kept in a folder of each run's own, so that no test finds what another run has left."""
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="tessera_tests_")
os.environ["TESSERA_CACHE_DIR"] = _folder


def pytest_sessionfinish():
    shutil.rmtree(_folder, ignore_errors=True)
