"""Makes what notebooks show of Funcs, Pipelines, statements and Buffers. It is imported when something is shown."""
import base64
import html
import re

from . import _tessera

# A page of a notebook should stay small: details are left out beyond this.
_MOST_BYTES = 95_000
_WIDEST_PICTURE = 1024

_STYLE = """
.tessera-graph { background: var(--paper); border: 1px solid var(--rule); border-radius: 6px; margin: .3em 0;
  max-width: 100%; overflow-x: auto }
.tessera-graph svg { display: block; margin: auto;
  font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
.tessera-graph rect { fill: var(--shade); stroke: var(--dim) }
.tessera-graph text { fill: var(--text); text-anchor: middle }
.tessera-graph .output rect { stroke: var(--vector); stroke-width: 2 }
.tessera-graph .image rect { stroke-dasharray: 4 3 }
.tessera-graph .inlined rect { stroke: var(--rule) } .tessera-graph .inlined text { fill: var(--dim) }
.tessera-graph path { fill: none; stroke: var(--dim) }
.tessera-graph marker path { fill: var(--dim); stroke: none }
.tessera-graph .small { font-size: 10px; fill: var(--dim) }
.tessera h4 { margin: .8em 0 .2em 0; font: 600 13px system-ui, sans-serif; color: var(--text) }
.tessera table { border-collapse: collapse; color: var(--text); background: none }
.tessera td, .tessera th { padding: .1em .9em .1em 0; text-align: left; border: none; background: none }
.tessera th { color: var(--dim); font-weight: normal }
.tessera figure { margin: .3em 1.2em .3em 0; display: inline-table; vertical-align: top; min-width: 14em }
.tessera figcaption { color: var(--dim); font-size: 12px; display: table-caption; caption-side: bottom }
.tessera figcaption strong { color: var(--text); display: block }
.tessera img { image-rendering: pixelated; display: block; max-width: 100% }
.tessera .directive { padding-left: 2.2em; color: var(--dim) }
.tessera .error { color: var(--parallel); white-space: pre-wrap }
"""


def _page(body):
    return f'<style>{_tessera._html_style()}{_STYLE}</style>\n<div class="tessera">\n{body}</div>\n'


class Statement(str):
    """The text of a statement. Notebooks show it with loops that fold."""

    _html: str

    def __new__(cls, text, html):
        self = super().__new__(cls, text)
        self._html = html
        return self

    def _repr_html_(self):
        return self._html

    def __reduce__(self):
        return Statement, (str(self), self._html)


# ---- The graph of stages ----


def _ranks(nodes, sources):
    """Returns how many stages there are above each; the order of `nodes` has sources before what reads them."""
    rank = {}
    for name in nodes:
        rank[name] = 1 + max((rank[s] for s in sources[name] if s in rank), default=-1)
    return rank


def _rows(nodes, sources):
    """Returns the rows of the graph, and each edge as what it passes: where it crosses a row, that has a gap for it.

    Within a row, each stands below what it reads, as far as that is possible.
    """
    rank = _ranks(nodes, sources)
    # An image stands right above the first stage that reads it.
    for name in nodes:
        readers = [rank[n] for n in nodes if name in sources[n]]
        if not sources[name] and readers:
            rank[name] = max(0, min(readers) - 1)
    rows = [[n for n in nodes if rank[n] == r] for r in range(1 + max(rank.values(), default=0))]
    pairs = [(s, n) for n in nodes for s in sources[n] if s != n and s in rank]
    has_gaps = sum(rank[n] - rank[s] for s, n in pairs) < 300
    above, edges = {n: list(sources[n]) for n in nodes}, []
    for s, n in pairs:
        gaps = [(s, n, r) for r in range(rank[s] + 1, rank[n])] if has_gaps else []
        for gap, before in zip(gaps, [s, *gaps]):
            rows[gap[2]].append(gap)
            above[gap] = [before]
        edges.append([s, *gaps, n])
    place = {}
    for row in rows:
        def wanted(name):
            places = [place[s] for s in above[name] if s in place]
            return sum(places) / len(places) if places else 0

        row.sort(key=wanted)
        for i, name in enumerate(row):
            place[name] = i - (len(row) - 1) / 2
    return rows, edges


_HEIGHT, _GAP_X, _GAP_Y = 36, 16, 28


def _placed(rows, width):
    """Returns the middle of the upper side of each node, and the size of the picture."""
    width = {**{gap: 6 for row in rows for gap in row}, **width}
    row_width = [sum(width[n] for n in row) + _GAP_X * (len(row) - 1) for row in rows]
    total = max(row_width) + 16
    at = {}
    for y, row in enumerate(rows):
        left = (total - row_width[y]) / 2
        for n in row:
            at[n] = (left + width[n] / 2, 8 + y * (_HEIGHT + _GAP_Y))
            left += width[n] + _GAP_X
    return at, total, 16 + len(rows) * (_HEIGHT + _GAP_Y) - _GAP_Y


def _edge(points):
    """Returns the curve from the lower side of the first through gaps to the upper side of the last."""
    x, y = points[0]
    path, y = f"M{x:.0f} {y + _HEIGHT:.0f}", y + _HEIGHT
    for i, (x1, y1) in enumerate(points[1:], 2):
        is_last = i == len(points)
        y1 -= 5 * is_last
        bend = (y1 - y) / 2
        path += f"C{x:.0f} {y + bend:.0f} {x1:.0f} {y1 - bend:.0f} {x1:.0f} {y1:.0f}"
        if not is_last:
            path += f"v{_HEIGHT}"
            y1 += _HEIGHT
        x, y = x1, y1
    return f'<path d="{path}" marker-end="url(#ts-arrow)"/>'


def _node(name, stage, x, y, width):
    if stage is None:
        kind = "image"
    elif stage["is_output"]:
        kind = "output"
    else:
        kind = "inlined" if stage["level"] == "inlined" else "stage"
    return (f'<g class="{kind}"><rect x="{x - width / 2:.0f}" y="{y:.0f}" width="{width:.0f}" height="{_HEIGHT}" '
            f'rx="6"/><text x="{x:.0f}" y="{y + 15:.0f}">{html.escape(_short(name))}</text>'
            f'<text class="small" x="{x:.0f}" y="{y + 29:.0f}">{html.escape(_kind(stage))}</text></g>')


def _graph(stages):
    """Returns the graph of stages as SVG: what is read above what reads it."""
    images = list(dict.fromkeys(i for s in stages for i in s["images"]))
    by_name = {s["name"]: s for s in stages}
    sources = {i: [] for i in images}
    sources.update({s["name"]: s["images"] + [c for c in s["callees"] if c in by_name] for s in stages})
    nodes = images + [s["name"] for s in stages]
    if len(nodes) > 150:
        return f"<p>The graph has {len(nodes)} stages: too many to be drawn.</p>"
    width = {n: max(60, 8 * len(_short(n)) + 18, 6.5 * len(_kind(by_name.get(n))) + 14) for n in nodes}
    rows, edges = _rows(nodes, sources)
    at, total, full = _placed(rows, width)
    parts = [_edge([at[n] for n in edge]) for edge in edges]
    parts += [_node(n, by_name.get(n), *at[n], width[n]) for n in nodes]
    graph = (f'<div class="tessera-graph"><svg width="{total:.0f}" height="{full:.0f}" '
            f'viewBox="0 0 {total:.0f} {full:.0f}" role="img"><defs><marker id="ts-arrow" viewBox="0 0 8 8" '
            'refX="4" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>'
            f'{"".join(parts)}</svg></div>\n')
    if len(nodes) <= 40:
        return graph
    return f'<details><summary><span class="code">the graph of {len(nodes)} stages</span></summary>{graph}</details>\n'


def _short(name):
    return name if len(name) <= 24 else name[:22] + "…"


def _kind(stage):
    if stage is None:
        return "input"
    if stage["is_output"]:
        return "output"
    return stage["level"] if stage["level"] in ("inlined", "root") else "at " + stage["level"]


# ---- Definitions and schedules ----


def _plain(expression):
    """Leaves out the types of constants and of what is read, which are clear to a reader."""
    text = re.sub(r"(?<=[\w)\]]):(?:u?int|float|bfloat|bool)\d*(?:_e\dm\d)?(?:x\d+)?", "", expression)
    return re.sub(r"\bimage (?=\w)", "", text).replace("$", ".")


_DECLARED = re.compile(r"(?:Func )?(\w+) = pipeline\.get_func\((\d+)\)")
_OTHER_DECLARATION = re.compile(r"(?:Var|RVar|ImageParam|Expr) |\w+ = (?:ts\.|pipeline\.)|import |//|#|[{}]?$")
_DIRECTIVE = re.compile(r"((?:(?:Func|Stage) )?(?:\w+ = )?(?P<subject>\w+)(?:\.update\(\d+\))?)\.(?P<rest>.*)")


def _directives(pipeline):
    """Returns the statements of the schedule, as Python or else as C++, by the name of the Func that they are about."""
    source = getattr(pipeline, "schedule_as_python", pipeline.schedule_as_cpp)()
    source = re.sub(r"\s*\n\s*\.(?=\w)", ".", source)  # the lines of a chain
    source = re.sub(r", (?:ts\.)?TailStrategy(?:\.|::)Auto\b", "", source)
    funcs, found, last = {}, {}, None
    for line in source.splitlines():
        statement = line.strip().rstrip(";")
        declared, directive = _DECLARED.match(statement), _DIRECTIVE.match(statement)
        if declared:
            funcs[declared[1]] = pipeline.get_func(int(declared[2])).name()
        if declared or not directive or _OTHER_DECLARATION.match(statement):
            continue
        subject = directive["subject"]
        statements = found.setdefault(funcs.get(subject, subject), [])
        if statements and directive[1] == last and "=" not in last:
            statements[-1] += "." + directive["rest"]
        else:
            statements.append(statement)
        last = directive[1]
    return found


def _code(text, most=None):
    if most is not None and len(text) > most:
        text = text[:most] + " …"
    return html.escape(text)


def _stage_details(stage, directives, most):
    lines = []
    for left, right in stage["definitions"]:
        for alias, image in stage["aliases"]:
            right = re.sub(rf"(?<![\w.]){re.escape(alias)}(?=\()", lambda _: image, right)
        definition = f"{_code(_plain(left))} = {_code(_plain(right), most)}"
        lines.append(f'<div class="line"><span class="code">{definition}</span></div>\n')
    if stage["is_extern"]:
        lines.append('<div class="line dim">computed by a function in C</div>\n')
    for directive in directives:
        lines.append(f'<div class="directive">{_code(directive, most)}</div>\n')
    head = f'<b>{html.escape(stage["name"])}</b>({", ".join(map(html.escape, stage["args"]))})'
    types = ", ".join(stage["types"])
    return (f'<details open><summary><span class="code">{head}: {html.escape(types)}</span>'
            f'<span class="func">{html.escape(_kind(stage))}</span></summary><div class="body">\n'
            f'{"".join(lines)}</div></details>\n')


_CLASSES = {"parallel": "parallel", "vectorized": "vectorized", "unrolled": "unrolled", "mma": "tensor",
            "wgmma": "tensor"}


def _nest(text):
    """Returns a loop nest with bodies that fold."""
    lines, depth, left_out = [], [], []
    for line in text.replace("$", ".").splitlines():
        indentation = (len(line) - len(line.lstrip())) // 2
        while left_out and left_out[-1] >= indentation:
            left_out.pop()
        if line.endswith(".outermost in [0, 0]:"):  # runs once, and is there for compute_at alone
            left_out.append(indentation)
        else:
            lines.append(line)
            depth.append(indentation - len(left_out))
    parts, open_bodies = [], []
    for i, line in enumerate(lines):
        while open_bodies and open_bodies[-1] >= depth[i]:
            parts.append("</div></details>\n")
            open_bodies.pop()
        word, _, rest = line.strip().partition(" ")
        shown = f'<span class="code"><b>{html.escape(word)}</b> {_numbers(rest)}</span>'
        if i + 1 < len(lines) and depth[i + 1] > depth[i]:
            kind = _CLASSES.get(word) or ("gpu" if word.startswith("gpu_") else "")
            kind = f' class="{kind}"' if kind else ""
            parts.append(f'<details open{kind}><summary>{shown}</summary><div class="body">\n')
            open_bodies.append(depth[i])
        elif rest.endswith("= ..."):
            parts.append(f'<div class="line"><span class="code">{html.escape(line.strip())}</span></div>\n')
        else:
            parts.append(f'<div class="line">{shown}</div>\n')
    parts.extend("</div></details>\n" for _ in open_bodies)
    return "".join(parts)


def _numbers(text):
    return re.sub(r"(?<![\w.])-?\d+", lambda number: f"<i>{number[0]}</i>", html.escape(text))


def of_pipeline(pipeline):
    """Returns the page of a pipeline: its graph, each stage with its definition and schedule, and its loops."""
    stages = _tessera._stages(pipeline)
    try:
        nest = pipeline.loop_nest()
        loops = _nest(nest)
        directives = _directives(pipeline)
    except Exception as error:  # A schedule may be unfinished: the rest is shown all the same.
        nest, loops, directives = "", f'<div class="error">{html.escape(str(error))}</div>\n', {}
    for most in (400, 100, 20):
        details = "".join(_stage_details(s, directives.get(s["name"], []), most) for s in reversed(stages))
        page = _page(f"{_graph(stages)}<h4>Stages</h4>\n{details}<h4>Loops</h4>\n{loops}")
        if len(page.encode()) < _MOST_BYTES:
            return page
    shortened = _nest("\n".join(nest.splitlines()[:200]))
    page = _page(f"{_graph(stages)}<h4>Loops, the first 200 lines</h4>\n{shortened}")
    return page if len(page.encode()) < _MOST_BYTES else _page(f"<p>{len(stages)} stages: too many to be shown.</p>")


def of_func(func):
    if not func.defined():
        return f"<code>{html.escape(repr(func))}</code>"
    return of_pipeline(_tessera.Pipeline(func))


# ---- Pictures ----


def _channels_last(array):
    """Returns a picture as (height, width) or (height, width, channels); None if it is none."""
    if array.ndim == 2:
        return array
    if array.ndim != 3:
        return None
    if 1 <= array.shape[0] <= 4:  # planes, as Tessera reads files
        return array.transpose(1, 2, 0)
    return array if 1 <= array.shape[2] <= 4 else None


def _eight_bits(array):
    """Returns what a screen shows of integers of 8 or 16 bits and of floats in [0, 1]; None for others."""
    import numpy as np

    if array.dtype == np.uint8:
        return array
    if array.dtype == np.uint16:
        return (array >> 8).astype(np.uint8)
    if array.dtype.kind != "f" and not array.dtype.name.startswith(("bfloat", "float8")):
        return None
    values = array.astype(np.float32)
    if not (np.isfinite(values).all() and values.min() >= 0 and values.max() <= 1):
        return None
    return (values * 255 + 0.5).astype(np.uint8)


def _narrowed(array):
    """Returns the picture at most 1,024 pixels wide: each of its pixels the mean of a square."""
    import numpy as np

    step = -(-array.shape[1] // _WIDEST_PICTURE)
    if step == 1:
        return array
    height, width = array.shape[0] // step * step, array.shape[1] // step * step
    if height == 0:
        return array[:, ::step]
    squares = array[:height, :width].reshape(height // step, step, width // step, step, *array.shape[2:])
    return np.rint(squares.mean(axis=(1, 3), dtype=np.float32)).astype(np.uint8)


def png_of(array):
    """Returns the bytes of a PNG that shows an array; None if it is no picture."""
    import numpy as np

    if array.size == 0:
        return None
    picture = _channels_last(array)
    if picture is None or min(picture.shape[:2]) < 2:
        return None
    picture = _eight_bits(picture)
    if picture is None:
        return None
    picture = _narrowed(picture)
    planes = picture if picture.ndim == 2 else picture.transpose(2, 0, 1)
    return _tessera._png(_tessera.Buffer(np.ascontiguousarray(planes)))


def png_of_buffer(buffer):
    return png_of(buffer.numpy())


def _facts(array):
    facts = {"shape": array.shape, "dtype": array.dtype.name}
    if array.size and array.dtype.kind in "biuf":
        values = array.astype("float64") if array.dtype.kind == "f" else array
        least, most = values.min(), values.max()
        if array.dtype.kind == "f":
            least, most = f"{least:.6g}", f"{most:.6g}"
        facts.update({"min": least, "mean": f"{values.mean(dtype='float64'):.6g}", "max": most})
    return facts


def _figure(array, title=""):
    png = png_of(array)
    facts = " · ".join(f"{name} {html.escape(str(value))}" for name, value in _facts(array).items())
    title = f"<strong>{html.escape(title)}</strong> " if title else ""
    if png is None:
        return f"<figure><figcaption>{title}{facts}</figcaption></figure>\n"
    small = max(1, 192 // max(_channels_last(array).shape[:2]))  # tiny ones are drawn larger
    width = f' width="{_channels_last(array).shape[1] * small}"' if small > 1 else ""
    return (f'<figure><img{width} alt="picture" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
            f"<figcaption>{title}{facts}</figcaption></figure>\n")


def _table(array):
    facts = _facts(array).items()
    rows = "".join(f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>" for name, value in facts)
    return f"<table>{rows}</table>\n"


def of_buffer(buffer):
    array = buffer.numpy()
    return _page(_figure(array) if png_of(array) is not None else _table(array))


class Shown:
    """Pictures side by side; what `show` returns."""

    def __init__(self, arrays, titles):
        self._arrays, self._titles = arrays, titles

    def _repr_html_(self):
        return _page("".join(_figure(a, t) for a, t in zip(self._arrays, self._titles)))

    def __repr__(self):
        lines = []
        for array, title in zip(self._arrays, self._titles):
            facts = ", ".join(f"{name} {value}" for name, value in _facts(array).items())
            lines.append(f"{title}: {facts}" if title else facts)
        return "\n".join(lines)


def show(*pictures, titles=()):
    import numpy as np

    if isinstance(titles, str) or len(titles) > len(pictures):
        raise TypeError(f"titles: a list of at most {len(pictures)} texts is wanted, not {titles!r}")
    arrays = [p.numpy() if isinstance(p, _tessera.Buffer) else np.asarray(p) for p in pictures]
    return Shown(arrays, [*titles, *[""] * (len(arrays) - len(titles))])

