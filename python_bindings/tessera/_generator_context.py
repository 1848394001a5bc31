"""The target and the autoscheduler that generators are made for."""
from __future__ import annotations

import threading
from typing import Optional, Union

from . import _tessera
from ._tessera import AutoschedulerParams, Target


class GeneratorContext:
    """The target and the autoscheduler that generators are made for.

    >>> with ts.GeneratorContext("x86-64-linux-avx2"):
    ...     ts.GeneratorContext.current().target()
    Target("x86-64-linux-avx2")
    """

    _of_thread = threading.local()

    def __init__(
        self,
        target: Union[Target, str, None] = None,
        autoscheduler: Union[AutoschedulerParams, str, None] = None,
        *,
        autoscheduler_params: Optional[AutoschedulerParams] = None,  # Halide's name of it
    ) -> None:
        autoscheduler = autoscheduler_params if autoscheduler is None else autoscheduler
        target = Target(target) if isinstance(target, str) else target
        self._target = _tessera.get_target_from_environment() if target is None else target
        if isinstance(autoscheduler, str):
            autoscheduler = AutoschedulerParams(autoscheduler)
        self._autoscheduler = autoscheduler or AutoschedulerParams()

    def target(self) -> Target:
        """Returns the target.

        >>> ts.GeneratorContext("x86-64-linux").target()
        Target("x86-64-linux")
        """
        return self._target

    def autoscheduler_params(self) -> AutoschedulerParams:
        """Returns the AutoschedulerParams; without a name where the generator schedules by itself.

        >>> ts.GeneratorContext("x86-64-linux", "Mullapudi2016").autoscheduler_params()
        <AutoschedulerParams autoscheduler=Mullapudi2016>
        """
        return self._autoscheduler

    def __enter__(self) -> GeneratorContext:
        self._stack().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack().pop()

    @classmethod
    def _stack(cls) -> list[GeneratorContext]:
        if not hasattr(cls._of_thread, "stack"):
            cls._of_thread.stack = []
        stack: list[GeneratorContext] = cls._of_thread.stack
        return stack

    @classmethod
    def current(cls) -> GeneratorContext:
        """Returns the innermost context of this thread; without one that of the environment, or of this machine.

        >>> with ts.GeneratorContext("x86-64-linux"):
        ...     ts.GeneratorContext.current().target()
        Target("x86-64-linux")
        """
        return cls._stack()[-1] if cls._stack() else cls()


def active_generator_context() -> GeneratorContext:
    """Returns the GeneratorContext of the innermost `with` of this thread, or that of this machine.

    >>> with ts.GeneratorContext(ts.Target("arm-64-linux")):
    ...     str(ts.active_generator_context().target())
    'arm-64-linux'
    """
    return GeneratorContext.current()
