"""Many chunks in one call, on threads of the library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from zcodec._ffi import CALL_STORE_EMPTY, NULL, TASK_MISSING, ffi, lib
from zcodec.callbacks import Context, call_options, raise_late
from zcodec.coding import Source, Target, encoded_of
from zcodec.errors import Error, Status, status_name, take_error
from zcodec.sharing import refuse_shared
from zcodec.views import Array, Box, Buffer, from_buffer

if TYPE_CHECKING:
    from zcodec.chain import Chain

_TASK_SIZE = ffi.sizeof("zcodec_task")


class _Tasks:
    """An array of zcodec_task, and everything that must live until the call has returned."""

    def __init__(self, count: int) -> None:
        self.array = ffi.new("zcodec_task[]", count)
        self.contexts: list[Context | None] = []
        self.alive: list[Any] = []

    def add(self, chain: Chain) -> Any:
        task = self.array[len(self.contexts)]
        context = chain.context()
        handle = chain.handle
        self.contexts.append(context)
        self.alive.append(handle)
        task.struct_size = _TASK_SIZE
        task.chain = handle
        if context is not None:
            task.call_data = context.handle
        return task

    def run(self, function: Any, max_threads: int | None, flags: int = 0) -> list[Error | None]:
        """Runs all tasks. Returns the error of each, or None."""
        count = len(self.contexts)
        options = call_options(None, max_threads, flags)
        status = function(self.array, count, options)
        if not status:
            if any(self.contexts):
                raise_late()
            return [None] * count
        errors = [self._take_error(i) for i in range(count)]  # all before anything raises: this frees them
        if not any(errors):
            raise Error(f"the call for {count} tasks was refused ({status_name(status)})", Status(status))
        for error, context in zip(errors, self.contexts, strict=True):
            cause = None if error is None or context is None else context.take()
            if error is not None and cause is not None:
                if not isinstance(cause, Exception):
                    raise cause from error  # KeyboardInterrupt and the like
                error.__cause__ = cause
        return errors

    def _take_error(self, i: int) -> Error | None:
        task = self.array[i]
        if not task.status:
            return None
        handle, task.error = task.error, NULL
        return take_error(task.status, handle)


class DecodeTask:
    """A chunk to decode to a `Target`, or to what is like one. `buffer` None: the chunk does not exist, and its array is
    filled with the fill value."""

    __slots__ = ("buffer", "chain", "target")

    def __init__(self, chain: Chain, buffer: Buffer | None, target: Any) -> None:
        self.chain = chain
        self.buffer = buffer
        self.target = target


def run_decode(
    requests: Sequence[DecodeTask], max_threads: int | None = None
) -> tuple[list[Array], list[Error | None]]:
    """Decodes chunks of any chains in one call. Returns their arrays, and the error of each or None."""
    tasks = _Tasks(len(requests))
    targets, memories = [], []
    with ExitStack() as stack:
        for request in requests:
            task = tasks.add(request.chain)
            target = request.target
            if request.buffer is None:
                task.flags, encoded = TASK_MISSING, None
            else:
                encoded = stack.enter_context(from_buffer(encoded_of(request.chain, request.buffer)))
                task.encoded, task.encoded_size = encoded, ffi.sizeof(encoded)
                if target.filled is None:
                    target.refuse_shared(encoded)
            task.box, task.view = target.part_pointer, target.view_pointer
            targets.append(target)
            memories.append(encoded)
        refuse_shared([target.filled for target in targets], memories)
        errors = tasks.run(lib.zcodec_decode_tasks, max_threads)
    return [target.finish() for target in targets], errors


def decode_many(
    chain: Chain, buffers: Iterable[Buffer | None], out: Sequence[Any] | None, box: Any, max_threads: int | None
) -> list[Array]:
    buffers = list(buffers)
    outs = _each(out, len(buffers), "out")
    boxes = _each(box, len(buffers), "box") if isinstance(box, list) else [box] * len(buffers)
    requests = [
        DecodeTask(chain, buffer, Target(chain, out, box)) for buffer, out, box in zip(buffers, outs, boxes, strict=True)
    ]
    arrays, errors = run_decode(requests, max_threads)
    raise_first(errors)
    return arrays


def _each(values: Sequence[Any] | None, count: int, name: str) -> Sequence[Any]:
    if values is None:
        return [None] * count
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} items for {count} chunks")
    return values


def raise_first(errors: list[Error | None], names: Sequence[str] | None = None) -> None:
    """Raises the first error, with a note that names its chunk and counts the others."""
    failed = [(i, error) for i, error in enumerate(errors) if error is not None]
    if failed:
        first, error = failed[0]
        count = len(failed) - 1
        others = f", and {count} other{'s' if count > 1 else ''}" if count else ""
        error.add_note(f"chunk {f'{first} of {len(errors)}' if names is None else names[first]}{others}")
        raise error


class EncodeTask:
    """A chunk to encode, or the part of one that `box` names."""

    __slots__ = ("array", "box", "chain")

    def __init__(self, chain: Chain, array: Any, box: Box | None = None) -> None:
        self.chain = chain
        self.array = array
        self.box = box


def run_encode(
    requests: Sequence[EncodeTask], max_threads: int | None = None, *, store_empty: bool = False
) -> tuple[list[Array], list[Error | None]]:
    """Encodes chunks of any chains in one call. Returns arrays of bytes, and the error of each chunk or None."""
    tasks = _Tasks(len(requests))
    rooms = []
    for request in requests:
        if request.chain._shape is None:
            raise ValueError("a chain of bytes->bytes codecs encodes one chunk at a time")
        task = tasks.add(request.chain)
        source = Source(request.chain, request.array, request.box)
        assert source.view is not None
        room = np.empty(_room(request.chain), np.uint8)
        pointer = ffi.from_buffer(room)
        tasks.alive += (source, pointer)
        task.encoded_to, task.encoded_capacity = pointer, room.nbytes
        task.box, task.view = source.part_pointer, source.view.pointer
        rooms.append(room)
    flags = CALL_STORE_EMPTY if store_empty else 0
    errors = tasks.run(lib.zcodec_encode_tasks, max_threads, flags)
    encoded = [room[: tasks.array[i].encoded_size] for i, room in enumerate(rooms)]
    for i, error in enumerate(errors):
        if isinstance(error, Error) and error.status == Status.BUFFER_TOO_SMALL:
            request = requests[i]  # a codec of the host did not know the size of its result
            try:
                whole = Source(request.chain, request.array, request.box, flags).encode_bytes(max_threads)
                encoded[i], errors[i] = np.frombuffer(whole, np.uint8), None
            except Error as failed:
                errors[i] = failed
    return encoded, errors


def _room(chain: Chain) -> int:
    try:
        return chain.encoded_bound()
    except Error as error:
        if error.status != Status.UNKNOWN_SIZE:
            raise
        return chain.decoded_size + 1024


def encode_many(chain: Chain, arrays: Iterable[Any], max_threads: int | None) -> list[bytes]:
    encoded, errors = run_encode([EncodeTask(chain, array) for array in arrays], max_threads)
    raise_first(errors)
    return [chunk.tobytes() for chunk in encoded]
