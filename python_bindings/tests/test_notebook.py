import html.parser
import os
import pickle
import re
import struct
import zlib

import numpy as np
import pytest

import tessera as ts

x, y, c, xi, yi = ts.vars("x y c xi yi")


class Tags(html.parser.HTMLParser):
    """Checks that tags are closed in their order, and keeps what a reader sees."""

    EMPTY = {"img", "br", "meta", "rect", "path"}

    def __init__(self, page):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


def assert_is_self_contained(page):
    tags = Tags(page)
    assert not [tag for tag, _ in tags.seen if tag in ("script", "link", "iframe")]
    for _, attributes in tags.seen:
        assert attributes.get("src", "data:").startswith("data:")
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in page and "url(http" not in page
    return tags


def blur():
    image = ts.ImageParam(ts.UInt(8), 2, "image")
    blur_x, out = ts.Func("blur_x"), ts.Func("out")
    blur_x[x, y] = (ts.u16(image[x - 1, y]) + image[x, y] + image[x + 1, y]) / 3
    out[x, y] = ts.u8((blur_x[x, y - 1] + blur_x[x, y] + blur_x[x, y + 1]) / 3)
    out.tile(x, y, xi, yi, 128, 32).vectorize(xi, 16).parallel(y)
    blur_x.compute_at(out, x).vectorize(x, 16)
    return image, blur_x, out


def decode_png(data):
    """Returns the picture of a PNG with 8 bits, as written with the filters 0 to 4."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, pixels, header = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            pixels += body
        at += 12 + length
    width, height, bits, color = header
    assert bits == 8
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[color]
    raw = np.frombuffer(zlib.decompress(pixels), np.uint8).reshape(height, 1 + width * channels)
    rows = np.zeros((height + 1, width * channels + channels), np.int64)
    for j in range(height):
        for i in range(width * channels):
            left, up, both = rows[j + 1, i], rows[j, i + channels], rows[j, i]
            nearest = min((abs(up - both), 0, left), (abs(left - both), 1, up), (abs(left + up - 2 * both), 2, both))[2]
            guess = [0, left, up, (left + up) // 2, nearest][raw[j, 0]]
            rows[j + 1, i + channels] = (int(raw[j, 1 + i]) + guess) % 256
    picture = rows[1:, channels:].astype(np.uint8).reshape(height, width, channels)
    return picture[:, :, 0] if channels == 1 else picture


# ---- Funcs and Pipelines ----


def test_a_func_is_one_line_of_text():
    image, blur_x, out = blur()
    assert repr(out) == "<Func out(x, y): uint8>"
    f = ts.Func("f")
    assert repr(f) == "<Func f, not defined>"
    f[x] = 0
    f[x] += 1
    assert repr(f) == "<Func f(x): int32, 1 update>"
    f[x] += 2
    assert repr(f) == "<Func f(x): int32, 2 updates>"


def test_a_func_is_shown_with_its_graph_stages_and_loops():
    image, blur_x, out = blur()
    page = out._repr_html_()
    tags = assert_is_self_contained(page)
    assert len(page.encode()) < 100_000
    # The graph: an input, two stages, and an edge between each.
    assert sum(tag == "svg" for tag, _ in tags.seen) == 1
    assert sum(tag == "rect" for tag, _ in tags.seen) == 3
    assert sum(tag == "path" and "marker-end" in attributes for tag, attributes in tags.seen) == 2
    # Definitions and schedules.
    assert "blur_x[x, y] = " in tags.text and "out[x, y] = " in tags.text
    assert "blur_x.compute_at(" in tags.text and "out.tile" in tags.text or "out.split" in tags.text
    assert re.search(r"at out, x", tags.text)
    # Loops, in colours.
    classes = {attributes.get("class") for tag, attributes in tags.seen if tag == "details"}
    assert {"parallel", "vectorized"} <= classes
    assert "parallel out.y" in tags.text


def test_looking_at_a_func_changes_nothing():
    f = ts.Func("f")
    f[x] = 1
    f._repr_html_()
    f[x] += x
    f._repr_html_()
    f.vectorize(x, 4)
    f.update().unscheduled()
    assert "vectorized" in f._repr_html_()
    assert f.realize([3]).numpy().tolist() == [1, 2, 3]


def test_an_undefined_func_and_an_unfinished_schedule_are_shown_too():
    assert "not defined" in ts.Func("f")._repr_html_()
    f, g, h = ts.funcs("f g h")
    f[x], g[x] = x, x
    h[x] = f[x] + 1
    f.compute_at(g, x)  # which h does not read
    page = h._repr_html_()
    assert_is_self_contained(page)
    assert "class=\"error\"" in page and "svg" in page


def test_a_pipeline_shows_all_outputs():
    f, g = ts.funcs("f g")
    f[x] = x
    g[x] = f[x] * 2
    f.compute_root()
    tags = assert_is_self_contained(ts.Pipeline([f, g])._repr_html_())
    assert sum(attributes.get("class") == "output" for tag, attributes in tags.seen if tag == "g") == 2


def test_large_pipelines_stay_small_pages():
    stages = [ts.Func("stage0")]
    stages[0][x, y] = x + y
    for i in range(1, 120):
        f = ts.Func(f"stage{i}")
        f[x, y] = stages[-1][x - 1, y] + stages[-1][x + 1, y] * 3 + stages[i // 2][x, y - 1]
        stages.append(f)
    for f in stages[:-1]:
        f.compute_root().vectorize(x, 8).parallel(y)
    page = stages[-1]._repr_html_()
    assert len(page.encode()) < 100_000
    assert_is_self_contained(page)
    assert "stage119" in page


def test_loops_for_a_gpu_are_shown_on_any_machine():
    f, g = ts.funcs("f g")
    f[x] = x
    g[x] = f[x - 1] + f[x + 1]
    g.gpu_tile(x, xi, 32)
    f.compute_at(g, x).gpu_threads(x).store_in(ts.MemoryType.GPUShared)
    assert "gpu_thread f.x" in g.loop_nest()
    tags = assert_is_self_contained(g._repr_html_())
    assert "gpu" in {attributes.get("class") for tag, attributes in tags.seen if tag == "details"}


def test_definitions_read_as_they_were_written():
    image = ts.ImageParam(ts.UInt(8), 1, "image")
    r = ts.RDom([(0, 3)], "r")
    f = ts.Func("f")
    f[x] = ts.u16(0)
    f[x] += ts.u16(image[x + r])
    text = Tags(f._repr_html_()).text
    assert "f[x] = f(x) + uint16(image(x + r.x))" in text, text
    assert "$" not in text and "image_im" not in text


def test_names_are_text_in_pages():
    f = ts.Func("a<b>&c")
    f[x] = x
    tags = assert_is_self_contained(f._repr_html_())
    assert "a<b>&c" in tags.text


# ---- Statements ----


def test_a_lowered_statement_is_text_and_page():
    image, blur_x, out = blur()
    statement = out.lowered_stmt()
    assert isinstance(statement, str) and "produce blur_x" in statement
    page = statement._repr_html_()
    tags = assert_is_self_contained(page)
    assert not page.startswith("<!DOCTYPE")
    assert sum(tag == "details" for tag, _ in tags.seen) > 5
    assert {"parallel", "vectorized"} <= {a.get("class") for t, a in tags.seen if t == "details"} | {"vectorized"}
    # What is read is the text.
    squeezed = re.sub(r"\s+", "", tags.text)
    for line in statement.splitlines()[-3:]:
        assert re.sub(r"[\s`]+", "", line) in squeezed  # quotes of names are left out
    assert pickle.loads(pickle.dumps(statement)) == statement
    assert_is_self_contained(out.conceptual_stmt()._repr_html_())


def test_the_page_of_a_statement_is_a_file_too(tmp_path):
    image, blur_x, out = blur()
    path = tmp_path / "out.html"
    out.compile_to({ts.OutputFileType.stmt_html: str(path)}, [image])
    page = path.read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert_is_self_contained(page)


# ---- Buffers ----


def test_pictures_are_png():
    grey = np.random.default_rng(1).integers(0, 255, (5, 7), dtype=np.uint8)
    assert (decode_png(ts.Buffer(grey)._repr_png_()) == grey).all()
    colour = np.random.default_rng(2).integers(0, 255, (6, 4, 3), dtype=np.uint8)
    assert (decode_png(ts.Buffer(colour)._repr_png_()) == colour).all()
    planes = np.ascontiguousarray(colour.transpose(2, 0, 1))
    assert (decode_png(ts.Buffer(planes)._repr_png_()) == colour).all()
    wide = grey.astype(np.uint16) * 257
    assert (decode_png(ts.Buffer(wide)._repr_png_()) == grey).all()
    floats = grey.astype(np.float32) / 255
    assert (decode_png(ts.Buffer(floats)._repr_png_()) == grey).all()


def test_what_is_no_picture_has_no_png():
    for array in (np.zeros(8, np.uint8), np.zeros((4, 4), np.int32), np.full((4, 4), 1.5, np.float32),
                  np.full((4, 4), np.nan, np.float32), np.zeros((9, 9, 9), np.uint8), np.zeros((0, 4), np.uint8)):
        assert ts.Buffer(array)._repr_png_() is None, array


def test_wide_pictures_are_made_narrower():
    wide = np.zeros((10, 2500), np.uint8)
    wide[:, 3:6] = 90
    picture = decode_png(ts.Buffer(wide)._repr_png_())
    assert picture.shape == (3, 833)
    assert picture[0, :3].tolist() == [0, 90, 0]


def test_a_buffer_is_shown_with_what_is_in_it():
    buffer = ts.Buffer(np.array([[1.5, 2.5], [3.5, -4.5]], np.float64))
    tags = assert_is_self_contained(buffer._repr_html_())
    for text in ("(2, 2)", "float64", "-4.5", "0.75", "3.5"):
        assert text in tags.text
    picture = ts.Buffer(np.arange(64, dtype=np.uint8).reshape(8, 8))
    tags = assert_is_self_contained(picture._repr_html_())
    assert [a["src"][:21] for t, a in tags.seen if t == "img"] == ["data:image/png;base64"]
    assert "uint8" in tags.text and "31.5" in tags.text


def test_pictures_stand_side_by_side():
    a, b = np.zeros((8, 8), np.uint8), ts.Buffer(np.full((8, 8), 7, np.uint8))
    shown = ts.show(a, b, titles=["before", "<after>"])
    tags = assert_is_self_contained(shown._repr_html_())
    assert sum(t == "img" for t, _ in tags.seen) == 2
    assert "before" in tags.text and "<after>" in tags.text
    assert repr(shown).splitlines()[1].startswith("<after>: shape (8, 8), dtype uint8, min 7")
    with pytest.raises(TypeError, match="titles"):
        ts.show(a, titles="before")


# ---- Errors in cells ----


def run_cells(*cells):
    """Runs a notebook, and returns what its last cell has written or the error that it has raised."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
    return notebook.cells[-1].outputs


def test_errors_name_the_cell():
    outputs = run_cells("import tessera as ts\nx = ts.Var('x')\nf = ts.Func('f')",
                        "f[x] = x\nf.vectorize(ts.Var('zz'), 8)")
    assert outputs[0]["ename"] == "CompileError"
    assert outputs[0]["evalue"].startswith("Cell [2], line 2: vectorize: no loop named zz")


def test_what_fails_later_names_the_cell_of_the_directive():
    outputs = run_cells("import tessera as ts\nx = ts.Var('x')\nf, g, h = ts.funcs('f g h')\nf[x], g[x] = x, x",
                        "h[x] = f[x] + 1\n\nf.compute_at(g, x)",
                        "try:\n    h.realize([4])\nexcept ts.CompileError as e:\n"
                        "    print(e)\n    print(e.lineno, e.filename.endswith('.py'))")
    text = "".join(o.get("text", "") for o in outputs)
    assert text.startswith("Cell [2], line 3: "), text
    assert text.endswith("3 True\n")


def test_pages_are_what_a_notebook_shows():
    outputs = run_cells("import tessera as ts\nx = ts.Var('x')\nf = ts.Func('f')\nf[x] = x\nf")
    assert outputs[0]["data"]["text/plain"] == "<Func f(x): int32>"
    assert "svg" in outputs[0]["data"]["text/html"]


def test_errors_keep_their_place_between_processes():
    f = ts.Func("f")
    f[x] = x
    with pytest.raises(ts.CompileError) as caught:
        f.vectorize(ts.Var("zz"), 8)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.message, again.filename, again.lineno) == (
        str(caught.value), caught.value.message, __file__, caught.value.lineno)
    assert again.message.startswith("vectorize: ")
    assert os.path.basename(__file__) in str(again)


def test_what_compiled_code_refuses_has_the_file_of_its_line():
    f = ts.Func("f")
    im = ts.ImageParam(ts.Int(32), 1, "im")
    f[x] = ts.require(im[x] > 3, im[x], im[x] + 77)
    im.set(np.zeros(4, np.int32))
    with pytest.raises(ts.RunError, match="77") as caught:
        f.realize([4])
    assert caught.value.filename == __file__
    assert "require" in open(__file__).readlines()[caught.value.lineno - 1]
