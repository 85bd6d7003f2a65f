"""Errors of the library as exceptions."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from zcodec._ffi import NULL, ffi, lib
from zcodec.callbacks import raise_late

if TYPE_CHECKING:
    from zcodec.callbacks import Context


class Status(IntEnum):
    """Why a call failed. The numbers are those of `zcodec_status`."""

    OK = 0
    NULL_ARGUMENT = 1
    INVALID_ARGUMENT = 2
    INVALID_METADATA = 3
    UNSUPPORTED = 4
    BUFFER_TOO_SMALL = 5
    UNKNOWN_SIZE = 6
    CORRUPT_DATA = 7
    OUT_OF_RANGE = 8
    CALLBACK_FAILED = 9
    OUT_OF_MEMORY = 10
    INTERNAL = 11

    @classmethod
    def _missing_(cls, value: object) -> Status:
        """INTERNAL for a status that a later version of the library adds."""
        return cls.INTERNAL


class Error(ValueError):
    """A call of the library failed. The text says which codec, which element, what was found and what was expected.

    `codec_index` counts from 0 in the chain; `element_index` counts in C order in the array that this codec received;
    `path` is a JSON Pointer into the codecs, and reaches into shards. `code` is a stable word for programs. If the
    error is not about a codec or an element, the indices are None, and `path` and `code` are "". After
    BUFFER_TOO_SMALL, `needed_size` is the size in bytes that is enough; otherwise None.
    """

    status: Status
    codec_index: int | None
    element_index: int | None
    path: str
    code: str
    needed_size: int | None

    def __init__(
        self,
        message: str,
        status: Status = Status.INVALID_ARGUMENT,
        codec_index: int | None = None,
        element_index: int | None = None,
        path: str = "",
        code: str = "",
        needed_size: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.codec_index = codec_index
        self.element_index = element_index
        self.path = path
        self.code = code
        self.needed_size = needed_size

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (str(self), self.status, self.codec_index, self.element_index, self.path, self.code)
        return type(self), arguments, self.__dict__.copy()  # which has the notes, and the size


def _index(value: int) -> int | None:
    return None if value < 0 else value


def status_name(status: int) -> str:
    """The name that the library has for a status, including those that a later version adds."""
    return str(ffi.string(lib.zcodec_status_name(status)).decode())


def take_error(status: int, handle: Any, size: Any = None) -> Error:
    """The exception for a failed call; frees the library's error, which may be NULL. `size` is where the call left the
    size of its result, or what it needs."""
    needed_size = int(size[0]) if size is not None and status == Status.BUFFER_TOO_SMALL else None
    if handle == NULL:
        return Error(status_name(status), Status(status), needed_size=needed_size)
    try:
        return Error(
            ffi.string(lib.zcodec_error_message(handle)).decode("utf-8", "replace"),
            Status(status),
            _index(lib.zcodec_error_codec_index(handle)),
            _index(lib.zcodec_error_element_index(handle)),
            ffi.string(lib.zcodec_error_path(handle)).decode("utf-8", "replace"),
            ffi.string(lib.zcodec_error_code(handle)).decode(),
            needed_size,
        )
    finally:
        lib.zcodec_error_free(handle)


def check(status: int, error: Any = None, size: Any = None) -> None:
    """Raises the error of a failed call. `error` is where the call left it; None for calls that give none. `size` is
    that of `take_error`."""
    if status:
        raise take_error(status, NULL if error is None else error[0], size)


def check_call(status: int, error: Any, context: Context | None, size: Any = None) -> None:
    """`check` for a call that may have run callbacks: an exception of a callback becomes the cause."""
    if not status:
        if context is not None:
            raise_late()
        return
    # A callback never causes INVALID_ARGUMENT. An exception that is kept then belongs to an earlier call.
    cause = None if context is None or status == Status.INVALID_ARGUMENT else context.take()
    check_caused(status, error, cause, size)


def check_caused(status: int, error: Any, cause: BaseException | None, size: Any = None) -> None:
    """`check` for a call that failed because of an exception, unless this is None."""
    try:
        check(status, error, size)
    except Error as failed:
        if cause is None:
            raise
        if not isinstance(cause, Exception):
            raise cause from failed  # KeyboardInterrupt and the like
        raise failed from cause
