"""The chunks of a request, divided among threads. None of them outlives the call."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from zarr.core.config import config

from zcodec.callbacks import processors

Item = TypeVar("Item")

# Fewer bytes are not worth another thread: as in the library.
WORTH_A_THREAD = 512 << 10
# At most this many bytes are coded on the thread of the event loop: for so few, another thread would cost as much.
SMALL = 256 << 10


_cancelled: contextvars.ContextVar[threading.Event | None] = contextvars.ContextVar("cancelled", default=None)


def is_cancelled() -> bool:
    """Whether the request that this thread works for was cancelled."""
    cancelled = _cancelled.get()
    return cancelled is not None and cancelled.is_set()


def max_threads() -> int:
    """As in zarr-python: "codec_pipeline.max_workers", or the number of processors. Something else than a number may
    come from the environment; a warning names it."""
    workers = config.get("codec_pipeline.max_workers", None)
    if workers is None:
        return processors()
    try:
        return max(1, int(workers))
    except (TypeError, ValueError, OverflowError):
        says = f"codec_pipeline.max_workers is {workers!r}, expected a number of threads; zcodec uses all processors"
        warnings.warn(says, stacklevel=2)
        return processors()


def for_each(items: Sequence[Item], work: Callable[[Item, int], None], size: int) -> None:
    """Calls `work(item, threads)` for every item, on as many threads as `size` bytes in all are worth. `threads` is how
    many each call may use: more than one if there are fewer items left than threads.

    Raises the first exception. Items that nobody has begun are left then, and also when the request is cancelled.
    """
    threads = max_threads()
    count = min(threads, len(items), 1 + size // WORTH_A_THREAD)
    waiting = iter(range(len(items)))
    lock = threading.Lock()
    errors: list[BaseException] = []

    def run() -> None:
        while not errors and not is_cancelled():
            with lock:
                i = next(waiting, None)
            if i is None:
                return
            try:
                work(items[i], threads // min(count, len(items) - i))
            except BaseException as error:
                errors.append(error)

    helpers = _started(run, count - 1)
    run()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]


async def in_thread(work: Callable[..., Any], *arguments: Any) -> Any:
    """As `asyncio.to_thread`. If this is cancelled, `is_cancelled` tells the work, and this first waits for what has
    begun: that may be filling memory of the caller. Work that still waits for a thread never begins."""
    cancelled, begun, lock = threading.Event(), threading.Event(), threading.Lock()

    def run() -> Any:
        _cancelled.set(cancelled)
        with lock:
            if cancelled.is_set():
                return None
            begun.set()
        return work(*arguments)

    job = asyncio.get_running_loop().run_in_executor(None, contextvars.copy_context().run, run)
    while not job.done():
        try:
            await asyncio.wait([job])
        except asyncio.CancelledError:
            with lock:
                cancelled.set()
            if not begun.is_set():
                raise
    if cancelled.is_set():
        job.exception()  # nobody else asks for it
        raise asyncio.CancelledError
    return job.result()


async def in_thread_if_large(size: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """Calls `work`, which codes `size` bytes: in another thread if that would hold up the event loop."""
    return work(*arguments) if size <= SMALL else await in_thread(work, *arguments)


def _started(run: Callable[[], None], count: int) -> list[threading.Thread]:
    """Starts threads, fewer if the system has no more. Each has the settings of this thread, such as those of numpy."""
    started = []
    for _ in range(count):
        thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="zcodec")
        try:
            thread.start()
        except RuntimeError:
            break
        started.append(thread)
    return started
