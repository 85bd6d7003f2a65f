"""The command `zcodec`: looks at stores, verifies them, and rewrites arrays."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

import zcodec


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns 0 for success, 1 for damaged or different data, 2 for failure."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names may have characters that the terminal lacks
    try:
        run = _command(options.command)
        if run is None:
            return 2
        status = run(options)
        if sys.stdout is not None:  # None if the command was started with stdout closed
            sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `zcodec inspect STORE | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        print(f"zcodec: {_text_of(error)}", file=sys.stderr)
        return 2


def _command(name: str) -> Callable[[argparse.Namespace], int] | None:
    """The function of a command; None, with a message, if something that it needs is not installed."""
    try:
        import_module("zcodec.zarr")  # first, because it says which zarr it needs
        from zcodec.cli import convert, inspect, verify
    except ModuleNotFoundError as error:
        print(f"zcodec: {error}; install zcodec with its extra 'cli', which the command needs", file=sys.stderr)
        return None
    except ImportError as error:
        print(f"zcodec: {error}", file=sys.stderr)
        return None
    return {"inspect": inspect.run, "verify": verify.run, "convert": convert.run}[name]


def _text_of(error: Exception) -> str:
    """One line. Other errors come from a remote store or are bugs; the name of the type helps."""
    text = " ".join(str(error).splitlines())
    if not text or not isinstance(error, ValueError | TypeError | OSError | KeyError | ImportError):
        text = f"{type(error).__name__}: {text}".removesuffix(": ")
    return text + "".join(f" ({note})" for note in getattr(error, "__notes__", ()))  # which chunk it is about


_MOST = 1 << 16  # threads: more would only take memory


def _count(text: str) -> int:
    count = int(text) if text.isdecimal() else 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, not {text!r}")
    return min(count, _MOST)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="zcodec", description="Inspect, verify and convert Zarr arrays.")
    parser.add_argument("--version", action="version", version=f"zcodec {zcodec.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    store = "a path or a URL that fsspec knows, of an array or a group"
    inspect = commands.add_parser("inspect", help="the chain of each array, its sizes and warnings")
    inspect.add_argument("store", help=store)
    inspect.add_argument("--json", action="store_true", help="one JSON object per array and line")
    verify = commands.add_parser("verify", help="decode every chunk, and list those that do not decode")
    verify.add_argument("store", help=store)
    convert = commands.add_parser("convert", help="rewrite an array with another chain, and compare")
    convert.add_argument("source", help="a path or URL of an array")
    convert.add_argument("target", help="where the new array goes")
    convert.add_argument("--codecs", required=True, help="the new chain, as in a zarr.json; @FILE reads it from a file")
    convert.add_argument("--chunks", help="the new chunk shape, such as 64,64; with sharding_indexed that of the shards")
    convert.add_argument("--lossy", action="store_true", help="values may change; the largest difference is printed")
    convert.add_argument("--overwrite", action="store_true", help="delete everything at the target first")
    for command in (verify, convert):
        command.add_argument("--workers", type=_count, default=None, help="threads; default: the processors")
        command.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser

