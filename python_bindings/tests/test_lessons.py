"""Runs the lessons: each as a program, and as a notebook where the packages for that are installed."""
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parent.parent / "lessons"
LESSONS = sorted(FOLDER.glob("lesson_*.py"))


def test_there_are_ten_lessons():
    assert [path.name[:9] for path in LESSONS] == [f"lesson_{i:02}" for i in range(1, 11)]


def test_the_page_of_lessons_names_each_of_them():
    page = (FOLDER.parent.parent / "docs" / "lessons" / "README.md").read_text()
    assert all(path.name in page for path in LESSONS)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_as_a_program(path, tmp_path):
    run = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout[-1000:] + run.stderr[-3000:]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_runs_as_a_notebook(path, tmp_path):
    jupytext = pytest.importorskip("jupytext")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = jupytext.read(path)
    assert len(notebook.cells) >= 4 and notebook.cells[0].cell_type == "markdown"
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                                     resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert any(cell.get("outputs") for cell in notebook.cells)
