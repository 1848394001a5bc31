"""Searches measured on other processes and machines: a Farm gives bundles of candidates to an Executor.

>>> import tessera as ts, tessera.farm
>>> f.set_estimates([(0, 640), (0, 480)])
<Func f(x, y): int32>
>>> with ts.farm.LocalProcesses() as executor:
...     found = ts.tune(f, trials=2, progress=False, executor=executor)
>>> found.milliseconds > 0
True

A bundle is a folder with shared libraries and a manifest; a task unpacks it, starts `tessera-measure`, which needs no
compiler, with a time limit, and returns the lines of the log. So whatever a candidate does, it harms no worker. One
task at a time measures on a machine.
"""
import concurrent.futures
import contextlib
import fcntl
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from typing import Any, Dict, List, Protocol, runtime_checkable

from ._errors import RunError
from ._tune import measure_program

_MANIFEST = "manifest.json"


@runtime_checkable
class Executor(Protocol):
    """Runs measure_bundle(bundle, options) somewhere.

    >>> isinstance(ts.farm.LocalProcesses(), ts.farm.Executor)
    True
    """

    def submit(self, bundle: bytes, options: Dict[str, Any]) -> "concurrent.futures.Future[List[str]]":
        """Starts a task that measures a bundle, and returns its Future, whose result is the lines of the log.

        >>> ts.export_bundle(f.set_estimates([(0, 64), (0, 64)]), "bundle", candidates=1)
        1
        >>> with ts.farm.LocalProcesses() as executor:
        ...     lines = executor.submit(ts.farm.pack("bundle"), {"timeout": 60}).result()
        >>> len(lines) >= 1
        True
        """

    def resources(self) -> Dict[str, int]:
        """Returns what there is to measure with: {"boxes": machines, or parts of one, that measure at once}.

        >>> ts.farm.LocalProcesses(2).resources()
        {'boxes': 2}
        """

    def close(self) -> None:
        """Ends what the executor has started.

        >>> ts.farm.LocalProcesses().close()
        """


# ---- A task ----


def pack(folder, libraries=None):
    """Returns the files of a bundle as the bytes of an archive: those of the manifest, or these libraries.

    >>> ts.export_bundle(f.set_estimates([(0, 64), (0, 64)]), "bundle", candidates=1)
    1
    >>> type(ts.farm.pack("bundle")).__name__
    'bytes'
    """
    with open(os.path.join(folder, _MANIFEST)) as file:
        manifest = json.load(file)
    if libraries is not None:
        manifest["candidates"] = [c for c in manifest["candidates"] if c["library"] in libraries]
    manifest.pop("keeps_reference", None)
    text = json.dumps(manifest).encode()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:xz", preset=1) as tar:
        info = tarfile.TarInfo(_MANIFEST)
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
        for library in [manifest["reference"]] + [c["library"] for c in manifest["candidates"]]:
            tar.add(os.path.join(folder, library), library)
    return archive.getvalue()


def _unpack(bundle, folder):
    with tarfile.open(fileobj=io.BytesIO(bundle), mode="r:xz") as tar:
        for member in tar:
            # Plain files of this folder, whoever has sent it.
            if not member.isfile() or os.path.basename(member.name) != member.name:
                raise RunError(f"the bundle has a file that does not belong there: {member.name}")
            with open(os.path.join(folder, member.name), "wb") as file:
                file.write(tar.extractfile(member).read())
            os.chmod(os.path.join(folder, member.name), 0o700)


@contextlib.contextmanager
def _a_box(boxes):
    """Waits until one of the boxes of this machine is free, and takes it: its number.

    That is a file that is locked, so that it is free when whoever has it ends in whatever way.
    """
    path = os.path.join(tempfile.gettempdir(), f"tessera_measure_{os.getuid()}_")
    while True:
        for box in range(boxes):
            file = open(f"{path}{box}.lock", "a")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                continue
            with file:
                yield box
            return
        time.sleep(0.02)


def _share_of_cores(box, boxes):
    cores = sorted(os.sched_getaffinity(0))
    each = max(1, len(cores) // boxes)
    return cores[box * each:(box + 1) * each] or cores


def measure_bundle(bundle, options, started=lambda process: None):
    """Measures a bundle on this machine, and returns the lines of the log. RunError if nothing of it can be measured.

    Options: "timeout", seconds for all of it (600); "boxes", how many tasks may measure at once on this machine (1), each
    on its share of the cores; "program", the path of tessera-measure. `started` is given the process.

    >>> ts.export_bundle(f.set_estimates([(0, 64), (0, 64)]), "bundle", candidates=1)
    1
    >>> lines = ts.farm.measure_bundle(ts.farm.pack("bundle"), {"timeout": 60})
    >>> import json
    >>> json.loads(lines[-1])["outcome"]
    'measured'
    """
    boxes = options.get("boxes", 1)
    with tempfile.TemporaryDirectory(prefix="tessera_bundle_") as folder, _a_box(boxes) as box:
        _unpack(bundle, folder)
        program = options.get("program") or measure_program()
        # It ends when this process does, which holds the other end of its input.
        process = subprocess.Popen([program, folder, "--log", "-", "--end-with-input"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        timer = threading.Timer(options.get("timeout", 600), process.kill)
        errors = []
        reader = threading.Thread(target=lambda: errors.extend(process.stderr))
        with process:
            started(process)
            if boxes > 1:
                os.sched_setaffinity(process.pid, _share_of_cores(box, boxes))
            timer.start()
            reader.start()
            try:
                lines = [line.rstrip("\n") for line in process.stdout]
                status = process.wait()
            finally:
                timer.cancel()
                process.kill()
                reader.join()
    is_measured = bool(lines) and "reference" not in json.loads(lines[-1])
    if status == 0 or is_measured:
        return lines
    why = errors[-1].strip().removeprefix("error: ") if errors else f"it ended with the status {status}"
    raise RunError(f"{os.path.basename(program)}: {why}")


class Farm:
    """Measures the bundles of a search by an executor: in one part for each box, again where a worker is lost.

    `retries`: how often a part is given out again; `batch`: how many candidates are chosen at once, 4 for each box and
    at least 8 unless it is given. Other keywords are options of measure_bundle(), such as timeout=.

    >>> f.set_estimates([(0, 64), (0, 64)])
    <Func f(x, y): int32>
    >>> farm = ts.farm.Farm(ts.farm.LocalProcesses(), timeout=60)
    >>> ts.tune(f, trials=1, progress=False, executor=farm).milliseconds > 0
    True
    """

    def __init__(self, executor, *, retries=2, batch=None, **options):
        if not isinstance(executor, Executor):
            raise TypeError(f"a {type(executor).__name__} is no Executor: it has no submit(), resources() and close()")
        self.executor, self.retries, self.options = executor, retries, options
        self.batch = batch or max(8, 4 * self._boxes())

    def _boxes(self):
        return max(1, int(self.executor.resources().get("boxes", 1)))

    def measure(self, folder, stopped=lambda: False):
        """Measures the bundle in a folder, and yields the lines of the log; ends soon after stopped() is true.

        RunError if nothing of it was measured.

        >>> ts.export_bundle(f.set_estimates([(0, 64), (0, 64)]), "bundle", candidates=1)
        1
        >>> farm = ts.farm.Farm(ts.farm.LocalProcesses())
        >>> len(list(farm.measure("bundle"))) >= 1
        True
        """
        with open(os.path.join(folder, _MANIFEST)) as file:
            manifest = json.load(file)
        libraries = {c["record"]["schedule"]: c["library"] for c in manifest["candidates"]}
        in_turns = manifest.get("in_turns", False)
        count = 1 if in_turns else self._boxes()
        parts = [part for part in (list(libraries)[i::count] for i in range(count)) if part] or [[]]
        pending, failure, told = {}, None, False

        def give_out(part, attempt):
            bundle = pack(folder, {libraries[schedule] for schedule in part})
            pending[self.executor.submit(bundle, self.options)] = part, attempt

        try:
            for part in parts:
                give_out(part, 0)
            while pending:
                done, _ = concurrent.futures.wait(pending, timeout=0.02, return_when=concurrent.futures.FIRST_COMPLETED)
                if stopped():
                    return
                for future in done:
                    part, attempt = pending.pop(future)
                    lines = []
                    try:
                        lines = future.result()
                    except (Exception, concurrent.futures.CancelledError) as error:
                        failure = error
                    missing = set(part) - {json.loads(line).get("schedule") for line in lines}
                    if in_turns and missing:
                        lines, missing = [], part  # they are compared with one another
                    for line in lines:
                        told = True
                        yield line
                    if (missing or not lines) and attempt < self.retries:
                        give_out(list(missing), attempt + 1)
        finally:
            for future in pending:
                future.cancel()
        if not told:
            raise RunError(f"no worker has measured the bundle: {failure}") from failure


# ---- Executors ----


class _Closing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class _Relayed(concurrent.futures.Future):
    """The Future of a task that something else runs."""

    def __init__(self, cancel):
        super().__init__()
        self._cancel = cancel

    def cancel(self):
        is_cancelled = super().cancel()
        self._cancel()
        return is_cancelled

    def take(self, result):
        """Takes what a function returns or raises, unless it is cancelled."""
        try:
            value = result()
        except BaseException as error:
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                self.set_exception(error)
        else:
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                self.set_result(value)


class LocalProcesses(_Closing):
    """Measures on this machine, by as many processes at once as there are boxes, each on its share of the cores.

    >>> ts.farm.LocalProcesses(boxes=2).boxes
    2
    """

    def __init__(self, boxes=1):
        self.boxes = boxes
        self._threads = concurrent.futures.ThreadPoolExecutor(boxes, thread_name_prefix="tessera_farm")

    def submit(self, bundle, options):
        """Starts a task that measures a bundle, and returns its Future, whose result is the lines of the log.

        >>> ts.export_bundle(f.set_estimates([(0, 64), (0, 64)]), "bundle", candidates=1)
        1
        >>> with ts.farm.LocalProcesses() as executor:
        ...     lines = executor.submit(ts.farm.pack("bundle"), {"timeout": 60}).result()
        >>> len(lines) >= 1
        True
        """
        processes = []

        def started(process):
            processes.append(process)
            if future.cancelled():
                process.kill()

        def run():
            if not future.cancelled():
                future.take(lambda: measure_bundle(bundle, {"boxes": self.boxes, **options}, started))

        future = _Relayed(lambda: [process.kill() for process in processes])
        self._threads.submit(run)
        return future

    def resources(self):
        """Returns how many boxes there are.

        >>> ts.farm.LocalProcesses(2).resources()
        {'boxes': 2}
        """
        return {"boxes": self.boxes}

    def close(self):
        """Takes no more tasks, and drops those that have not begun.

        >>> ts.farm.LocalProcesses().close()
        """
        self._threads.shutdown(wait=False, cancel_futures=True)


class Futures(_Closing):
    """Measures by an executor of concurrent.futures: a pool, or a function that makes one.

    A pool of processes is broken for good when one of them is killed: the function makes the next one then.

    >>> import concurrent.futures
    >>> with ts.farm.Futures(lambda: concurrent.futures.ThreadPoolExecutor(1)) as executor:
    ...     executor.resources()
    {'boxes': 1}
    """

    def __init__(self, pool, boxes=1):
        self._make = None if hasattr(pool, "submit") else pool
        self._pool = self._make() if self._make else pool
        self.boxes = boxes
        self._lock = threading.Lock()

    def submit(self, bundle, options):
        """Starts a task that measures a bundle, and returns its Future, whose result is the lines of the log.

        >>> import concurrent.futures
        >>> ts.export_bundle(f.set_estimates([(0, 64), (0, 64)]), "bundle", candidates=1)
        1
        >>> with ts.farm.Futures(concurrent.futures.ThreadPoolExecutor(1)) as executor:
        ...     lines = executor.submit(ts.farm.pack("bundle"), {"timeout": 60}).result()
        >>> len(lines) >= 1
        True
        """
        options = {"boxes": self.boxes, **options}
        with self._lock:
            try:
                return self._pool.submit(measure_bundle, bundle, options)
            except concurrent.futures.BrokenExecutor:
                if not self._make:
                    raise
                self._pool = self._make()
                return self._pool.submit(measure_bundle, bundle, options)

    def resources(self):
        """Returns how many boxes there are.

        >>> import concurrent.futures
        >>> ts.farm.Futures(concurrent.futures.ThreadPoolExecutor(1)).resources()
        {'boxes': 1}
        """
        return {"boxes": self.boxes}

    def close(self):
        """Takes no more tasks, and drops those that have not begun.

        >>> import concurrent.futures
        >>> ts.farm.Futures(concurrent.futures.ThreadPoolExecutor(1)).close()
        """
        self._pool.shutdown(wait=False, cancel_futures=True)


class Dask(_Closing):
    """Measures by Dask's workers: those that have the resource, one task at a time where they have one of it.

    `client`: a distributed.Client, or the address of a scheduler. Workers are started with
    `dask worker ADDRESS --resources box=1 --nthreads 1`, where the package is installed.

    >>> with ts.farm.Dask("tcp://scheduler:8786") as executor:                # doctest: +SKIP
    ...     ts.tune(f, trials=200, executor=executor)
    """

    def __init__(self, client, resource="box"):
        from distributed import Client

        self._own = not isinstance(client, Client)
        self.client = Client(client) if self._own else client
        self.resource = resource

    def submit(self, bundle, options):
        """Starts a task that measures a bundle, and returns its Future, whose result is the lines of the log.

        >>> ts.farm.Dask("tcp://scheduler:8786").submit(bundle, {"timeout": 60}).result()   # doctest: +SKIP
        """
        task = self.client.submit(measure_bundle, bundle, options, resources={self.resource: 1}, pure=False)
        future = _Relayed(task.cancel)
        task.add_done_callback(lambda done: future.take(done.result))
        return future

    def resources(self):
        """Returns how many workers have the resource.

        >>> ts.farm.Dask("tcp://scheduler:8786").resources()                      # doctest: +SKIP
        {'boxes': 2}
        """
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return {"boxes": int(sum(w["resources"].get(self.resource, 0) for w in workers))}

    def close(self):
        """Closes the client, unless the caller has made it.

        >>> ts.farm.Dask("tcp://scheduler:8786").close()                          # doctest: +SKIP
        """
        if self._own:
            self.client.close()


class Ray(_Closing):
    """Measures by Ray's workers: on nodes that have the resource, one task at a time where they have one of it.

    Nodes are started with `ray start --address ADDRESS --resources '{"box": 1}'`. ray.init() is called before.

    >>> with ts.farm.Ray() as executor:                                       # doctest: +SKIP
    ...     ts.tune(f, trials=200, executor=executor)
    """

    def __init__(self, resource="box"):
        import ray

        self._ray, self.resource = ray, resource
        self._task = ray.remote(num_cpus=1, resources={resource: 1}, max_retries=2)(measure_bundle)

    def submit(self, bundle, options):
        """Starts a task that measures a bundle, and returns its Future, whose result is the lines of the log.

        >>> ts.farm.Ray().submit(bundle, {"timeout": 60}).result()                # doctest: +SKIP
        """
        task = self._task.remote(bundle, options)
        future = _Relayed(lambda: self._ray.cancel(task))
        task.future().add_done_callback(lambda done: future.take(done.result))
        return future

    def resources(self):
        """Returns how many nodes have the resource.

        >>> ts.farm.Ray().resources()                                             # doctest: +SKIP
        {'boxes': 2}
        """
        return {"boxes": int(self._ray.cluster_resources().get(self.resource, 0))}

    def close(self):
        """Does nothing: who has called ray.init() ends it.

        >>> ts.farm.Ray().close()                                                 # doctest: +SKIP
        """
        pass


def main():
    """Runs tessera-measure: the console script.

    >>> import subprocess, sys
    >>> words = [sys.executable, "-c", "import tessera.farm; tessera.farm.main()", "--help"]
    >>> "--log" in subprocess.run(words, capture_output=True, text=True).stdout
    True
    """
    program = measure_program()
    os.execv(program, [program] + sys.argv[1:])
