"""Python functions that the library calls: paddings. Their exceptions become the cause of the error of the call."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from zcodec._ffi import NULL, ffi

Generate = Callable[[memoryview, memoryview], object]
Check = Callable[[memoryview, memoryview], object]

_OPTIONS_SIZE = ffi.sizeof("zcodec_call_options")


class Raised:
    """The exceptions of callbacks during a call, by thread."""

    def __init__(self) -> None:
        self._by_thread: dict[int, BaseException] = {}

    def keep(self, exception: BaseException) -> None:
        self._by_thread.setdefault(threading.get_ident(), exception)

    def take(self) -> BaseException | None:
        """The exception of a callback on this thread, or on a thread of the library."""
        key = threading.get_ident()
        if key not in self._by_thread:
            key = next(iter(self._by_thread), key)
        return self._by_thread.pop(key, None)


class Context:
    """The `call_data` of a call: keeps the exceptions of callbacks until the call has returned."""

    def __init__(self) -> None:
        self._raised = Raised()
        self.handle = ffi.new_handle(self._raised)  # not of this object: that would be a reference cycle

    def take(self) -> BaseException | None:
        """The exception that made the call fail."""
        late = take_late()
        return self._raised.take() if late is None else late


# ---- Exceptions that a callback cannot catch ---------------------------------------------------
# A signal that arrives while the library works is handled before the first statement of the next callback, and its
# handler may raise: KeyboardInterrupt, or the exception of a time limit.

_late = threading.local()


def keep_late(kind: type[BaseException], exception: BaseException, trace: Any) -> None:
    """`onerror` of callbacks."""
    if trace is None:  # the result was of a wrong type
        sys.excepthook(kind, exception, trace)
        return
    call = trace.tb_frame.f_locals.get("call")
    if call is None or call == NULL:
        _late.exception = exception
    else:
        raised: Raised = ffi.from_handle(call)
        raised.keep(exception)


def take_late() -> BaseException | None:
    """The exception of a callback on this thread that does not know its call."""
    exception: BaseException | None = getattr(_late, "exception", None)
    _late.exception = None
    return exception


def raise_late() -> None:
    """For a call that succeeded in spite of such an exception."""
    exception = take_late()
    if exception is not None:
        raise exception


_running = threading.local()


@contextmanager
def running() -> Iterator[None]:
    """Around what a callback does, on the thread that does it."""
    before = is_running()
    _running.is_true = True
    try:
        yield
    finally:
        _running.is_true = before


def is_running() -> bool:
    """Whether this thread is inside a callback."""
    return getattr(_running, "is_true", False)


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def call_options(context: Context | None, max_threads: int | None, flags: int = 0) -> Any:
    """A zcodec_call_options, or NULL if nothing differs from the defaults. `max_threads` None: all processors."""
    if max_threads is None:
        max_threads = processors()
    if context is None and max_threads == 1 and not flags:
        return NULL
    if max_threads < 0:
        raise ValueError(f"max_threads is {max_threads}, expected 0 or more")
    options = ffi.new("zcodec_call_options *")
    options.struct_size = _OPTIONS_SIZE
    options.call_data = NULL if context is None else context.handle
    options.max_threads = min(max_threads, 2**32 - 1)
    options.flags = flags
    return options


def run(call_data: Any, function: Callable[..., object], *memory: Any) -> object:
    """Calls `function` with memory of Python. An exception is kept for the call, and NotImplemented is returned."""
    raised: Raised | None = None if call_data == NULL else ffi.from_handle(call_data)
    try:
        with running():
            return function(*memory)
    except BaseException as exception:
        if raised is not None:
            raised.keep(exception)
        return NotImplemented


def copied(pointer: Any, size: int) -> memoryview:
    """Memory of the library as a read-only view that may outlive the call.

    A slice of a memoryview, or a numpy array on it, stays usable after the view is released. So Python gets a copy: the
    library's own memory is gone after the call.
    """
    return memoryview(bytes(ffi.buffer(pointer, size)))


class Padding:
    """The functions that `set_padding` got; the `user_data` of both."""

    def __init__(self, generate: Generate | None, check: Check | None) -> None:
        self.generate = generate
        self.check = check
        self.handle = ffi.new_handle(self)


@cache
def padding_functions() -> tuple[Any, Any]:
    """The C functions that call Python. Made on first use: some systems do not allow functions made at run time."""

    @ffi.callback("zcodec_padding_fn", error=1, onerror=keep_late)  # type: ignore[untyped-decorator]
    def generate(user: Any, call: Any, chunk: Any, chunk_size: int, padding: Any, padding_size: int) -> int:
        made = memoryview(bytearray(ffi.buffer(padding, padding_size)))  # the function cannot resize what has a view
        result = run(call, ffi.from_handle(user).generate, copied(chunk, chunk_size), memoryview(made))
        ffi.memmove(padding, made, padding_size)
        return 1 if result is NotImplemented else 0

    @ffi.callback("zcodec_padding_check_fn", error=1, onerror=keep_late)  # type: ignore[untyped-decorator]
    def check(user: Any, call: Any, chunk: Any, chunk_size: int, padding: Any, padding_size: int) -> int:
        function = ffi.from_handle(user).check

        def accepts() -> bool:
            result = function(copied(chunk, chunk_size), copied(padding, padding_size))
            return result is None or bool(result)  # which raises for an array of several elements

        return 0 if run(call, accepts) is True else 1

    return generate, check
