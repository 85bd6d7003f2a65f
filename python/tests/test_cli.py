"""The command `zcodec`."""

import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

zarr = pytest.importorskip("zarr")

from zarr.core.metadata import ArrayV3Metadata

import zcodec

from zcodec.cli import main
from zcodec.cli import convert, stored
from zcodec.cli.boxes import Boxes
from zcodec.cli.grid import Grid
from zcodec.cli.store import OUTDATED
from zcodec.zarr import stats

VALUES = np.arange(100 * 90, dtype=np.uint16).reshape(100, 90)
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
SHARDS = json.dumps([{
    "name": "sharding_indexed",
    "configuration": {
        "chunk_shape": [10, 10], "codecs": [LITTLE, {"name": "crc32c"}], "index_codecs": [LITTLE, {"name": "crc32c"}],
    },
}])  # fmt: skip


@pytest.fixture(autouse=True)
def configuration():
    with zarr.config.set({}):
        yield
    zarr.config.reset()


@pytest.fixture
def store(tmp_path):
    group = zarr.create_group(tmp_path / "store.zarr")
    image = group.create_array("images/a", shape=VALUES.shape, chunks=(30, 40), dtype="uint16", attributes={"unit": "m"},
                               compressors=[zarr.codecs.ZstdCodec(checksum=True)])  # fmt: skip
    image[...] = VALUES
    old = zarr.create_array(tmp_path / "store.zarr", name="names", shape=(4,), dtype=str)
    old[...] = np.array(list("abcd"))
    return tmp_path / "store.zarr"


def damage(path):
    raw = bytearray(path.read_bytes())
    raw[8:12] = b"\xff\xff\xff\xff"
    path.write_bytes(raw)


def test_inspect(store, capsys):
    assert main(["inspect", str(store)]) == 0
    out = capsys.readouterr().out
    assert "images/a: uint16 (100, 90), Zarr v3" in out
    assert "1 zstd" in out and "ratio" in out
    assert "names" in out and "not supported" in out
    assert main(["inspect", str(store), "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["path"] for each in found] == ["images/a", "names"]
    assert [codec["name"] for codec in found[0]["codecs"]] == ["bytes", "zstd"]
    assert found[0]["decoded_size"] == VALUES.nbytes


def test_inspect_counts_any_number_of_chunks(store, capsys):
    zarr.create_array(store, name="huge", shape=(10**12, 10**12), chunks=(100, 100), dtype="uint8")
    assert main(["inspect", str(store)]) == 0
    out = capsys.readouterr().out
    assert f"{10**20} of them" in out and "images/a: uint16 (100, 90)" in out


def test_inspect_shows_warnings(tmp_path, capsys):
    from zcodec.zarr import CastValue

    zarr.create_array(tmp_path, shape=(4,), dtype="int64", filters=[CastValue("float64")])
    assert main(["inspect", str(tmp_path)]) == 0
    assert "lossy_int_to_float" in capsys.readouterr().out


def test_verify(store, capsys):
    assert main(["verify", str(store)]) == 0
    assert "13 chunks of 2 arrays, 0 damaged" in capsys.readouterr().out
    damage(store / "images/a/c/1/2")
    assert main(["verify", str(store), "--workers", "1"]) == 1
    out = capsys.readouterr().out
    assert 'images/a/c/1/2: codecs[1] "zstd"' in out
    assert "13 chunks of 2 arrays, 1 damaged" in out


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_verify_names_what_is_no_chunk(tmp_path, capsys, zarr_format):
    """zarr-python takes all of it for chunks that are not there."""
    array = zarr.create_array(tmp_path, shape=(10,), chunks=(2,), dtype="int16", fill_value=1, zarr_format=zarr_format)
    array[:8] = 5
    places = [tmp_path / array.metadata.encode_chunk_key((i,)) for i in range(5)]
    assert main(["verify", str(tmp_path)]) == 0
    assert "4 chunks of 1 array, 0 damaged" in capsys.readouterr().out
    for place in places[1:4]:
        place.unlink()
    places[1].mkdir()
    places[2].symlink_to("nowhere")
    assert main(["verify", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    name = array.metadata.encode_chunk_key
    assert f"{name((1,))}: cannot be read: a directory has its name\n" in out
    assert f"{name((2,))}: cannot be read: a link that leads nowhere has its name\n" in out
    assert "3 chunks of 1 array, 2 damaged" in out
    arguments = ["convert", str(tmp_path), f"{tmp_path}-new", "--codecs", json.dumps([LITTLE]), "--workers", "1"]
    places[2].unlink()
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert f"{name((1,))}: cannot be read: a directory has its name" in error
    assert "has no zarr.json" in error
    places[1].rmdir()
    places[2].symlink_to("nowhere")
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert f"{name((2,))}: cannot be read: a link that leads nowhere has its name" in error
    assert "has no zarr.json" in error
    places[2].unlink()
    assert main(arguments) == 0


@pytest.mark.parametrize("lost", ["c", "c/1"])
def test_a_folder_of_chunks_that_leads_nowhere_is_not_missing(tmp_path, capsys, lost):
    """Such as one on a disk that is not there."""
    array = zarr.create_array(tmp_path / "a", shape=(4, 2), chunks=(1, 1), dtype="int16", fill_value=1)
    array[:2] = 5
    (tmp_path / "a" / lost).rename(tmp_path / "disk")
    (tmp_path / "a" / lost).symlink_to(tmp_path / "nowhere")
    assert main(["verify", str(tmp_path / "a")]) == 1
    assert "c/1/0: cannot be read: the folder " in capsys.readouterr().out
    arguments = ["convert", str(tmp_path / "a"), str(tmp_path / "b"), "--codecs", json.dumps([LITTLE])]
    assert main(arguments) == 2
    assert "is a link that leads nowhere" in capsys.readouterr().err
    assert not (tmp_path / "b" / "zarr.json").exists()
    (tmp_path / "nowhere").symlink_to(tmp_path / "disk")
    assert main(["verify", str(tmp_path / "a")]) == 0
    assert main(arguments) == 0
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b")[...], array[...])


def test_an_array_without_elements_may_have_chunks_of_size_0(tmp_path, capsys):
    zarr.create_array(tmp_path / "empty", shape=(0, 3), chunks=(1, 3), dtype="uint16")
    document = json.loads((tmp_path / "empty/zarr.json").read_text())
    document["chunk_grid"]["configuration"]["chunk_shape"] = [0, 3]
    (tmp_path / "empty/zarr.json").write_text(json.dumps(document))
    assert main(["verify", "--quiet", str(tmp_path / "empty")]) == 0
    assert capsys.readouterr().out == "0 chunks of 1 array, 0 damaged\n"
    assert main(["inspect", str(tmp_path / "empty")]) == 0
    assert "0 of them" in capsys.readouterr().out
    convert = ["convert", "--quiet", str(tmp_path / "empty"), str(tmp_path / "new"), "--codecs", json.dumps([LITTLE])]
    assert main(convert) == 0
    assert main(["verify", "--quiet", str(tmp_path / "new")]) == 0
    document["shape"] = [1, 3]
    (tmp_path / "empty/zarr.json").write_text(json.dumps(document))
    # zarr-python reads a size of 0 as 1 from 3.4 on, and no chunks are stored.
    is_read_as_1 = zarr.open_array(tmp_path / "empty").chunks == (1, 3)
    assert main(["verify", "--quiet", str(tmp_path / "empty")]) == (0 if is_read_as_1 else 1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_verify_does_not_wait_for_a_pipe(tmp_path, capsys):
    zarr.create_array(tmp_path, shape=(4,), chunks=(2,), dtype="int16")
    (tmp_path / "c").mkdir()
    os.mkfifo(tmp_path / "c" / "1")
    assert main(["verify", str(tmp_path), "--workers", "9" * 30]) == 1
    assert "c/1: cannot be read: something that is no regular file has its name\n" in capsys.readouterr().out


def test_verify_names_a_directory_by_url(tmp_path, capsys):
    pytest.importorskip("fsspec")
    zarr.create_array(tmp_path, shape=(4,), chunks=(2,), dtype="int16")
    (tmp_path / "c" / "1").mkdir(parents=True)
    assert main(["verify", f"file://{tmp_path}"]) == 1
    assert "c/1: cannot be read: a directory has its name\n" in capsys.readouterr().out


def test_verify_names_a_file_above_chunks(tmp_path, capsys):
    array = zarr.create_array(tmp_path, shape=(4, 4), chunks=(2, 2), dtype="int16")
    array[2:] = 5
    (tmp_path / "c" / "0").write_bytes(b"")
    assert main(["verify", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "c/0/1: cannot be read: a file has the name of a directory above it\n" in out
    assert "4 chunks of 1 array, 2 damaged" in out


def spoil(path, member):
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, **member}))


UNKNOWN = {"data_type": "nothing_like_it"}


def test_arrays_that_cannot_be_read_do_not_stop_the_others(store, capsys):
    for name in "bcdx":
        zarr.create_array(store, name=f"images/{name}", shape=(4,), chunks=(2,), dtype="int16")[...] = 1
    spoil(store / "images/b/zarr.json", UNKNOWN)
    (store / "images/c/zarr.json").write_text("{")
    spoil(store / "images/d/zarr.json", {"codecs": [{"name": "nothing.like.it"}]})
    damage(store / "images/a/c/1/2")
    assert main(["verify", str(store)]) == 1
    out = capsys.readouterr().out
    assert "images/b: cannot be read: No Zarr data type found that matches 'nothing_like_it'" in out
    assert "images/c: cannot be read: not JSON" in out and re.search("images/d: cannot be read: .*nothing.like.it", out)
    assert 'images/a/c/1/2: codecs[1] "zstd"' in out
    assert "15 chunks of 3 arrays, 1 damaged, 3 more cannot be read" in out
    assert main(["inspect", str(store)]) == 1
    out = capsys.readouterr().out
    assert "images/a: uint16" in out and "images/x: int16" in out and "images/b: cannot be read: No Zarr" in out
    assert main(["inspect", str(store), "--json"]) == 1
    found = {line["path"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert found.keys() == {"names", *(f"images/{name}" for name in "abcdx")}
    assert [path for path, line in found.items() if "unreadable" in line] == ["images/b", "images/c", "images/d"]


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_consolidated_metadata_with_an_array_that_cannot_be_read(store, capsys):
    zarr.consolidate_metadata(store)
    assert main(["verify", str(store)]) == 0
    spoil(store / "names/zarr.json", UNKNOWN)
    document = json.loads((store / "zarr.json").read_text())
    document["consolidated_metadata"]["metadata"]["names"].update(UNKNOWN)
    (store / "zarr.json").write_text(json.dumps(document))
    capsys.readouterr()
    assert main(["verify", str(store)]) == 1
    out = capsys.readouterr().out
    assert "names: cannot be read: No Zarr data type" in out
    assert "12 chunks of 1 array, 0 damaged, 1 more cannot be read" in out


def consolidated(store, name, change):
    """Changes what the consolidated metadata of a group say of an array."""
    zarr.consolidate_metadata(store)
    path = next(path for path in (store / ".zmetadata", store / "zarr.json") if path.exists())
    document = json.loads(path.read_text())
    arrays = document.get("metadata") or document["consolidated_metadata"]["metadata"]
    arrays[name].update(change)
    path.write_text(json.dumps(document))


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_arrays_that_consolidated_metadata_lacks(tmp_path, capsys, zarr_format):
    group = zarr.create_group(tmp_path, zarr_format=zarr_format)
    group.create_array("a", shape=(6,), chunks=(4,), dtype="float64")[...] = 1
    zarr.consolidate_metadata(tmp_path)
    group = zarr.open_group(tmp_path, use_consolidated=False)
    group.create_array("b", shape=(4,), chunks=(4,), dtype="float64")[...] = 1
    group.create_array("c/d", shape=(4,), chunks=(4,), dtype="float64")[...] = 1
    (tmp_path / "other").mkdir()
    key = ("b/0", "b/c/0")[zarr_format - 2]
    (tmp_path / key).write_bytes(b"damaged")
    assert main(["verify", str(tmp_path)]) == 1
    says = "the consolidated metadata of a group above is out of date; zarr.consolidate_metadata renews it\n"
    found = capsys.readouterr().out
    assert found.startswith(f"b: {says}c: {says}") and f"\n{key}: " in found
    assert found.endswith("4 chunks of 3 arrays, 1 damaged\n")


@pytest.mark.parametrize("name", ["run#1", "run?1", "run;1"])
def test_names_with_characters_of_urls(tmp_path, capsys, name):
    if sys.platform == "win32" and "?" in name:
        pytest.skip("no file of Windows has this name")
    for root in (tmp_path / "group", tmp_path / name):
        group = zarr.create_group(root)
        group.create_array(name, shape=(4,), chunks=(4,), dtype="uint8")[...] = 1
        (root / name / "c/0").write_bytes(b"damaged")
        assert main(["verify", str(root)]) == 1
        assert f"{name}/c/0: " in capsys.readouterr().out
    archive = shutil.make_archive(str(tmp_path / "archive"), "zip", tmp_path / "group")
    for store in (f"zip://::{archive}", f"file://{tmp_path}/group"):
        assert main(["verify", store]) == 1
        assert f"{name}/c/0: " in capsys.readouterr().out


def test_names_that_the_output_cannot_show(tmp_path):
    group = zarr.create_group(tmp_path)
    for name in ("a\N{SNOWMAN}", "b"):
        group.create_array(name, shape=(4,), chunks=(4,), dtype="uint8")[...] = 1
    environment = {**os.environ, "PYTHONIOENCODING": "ascii:strict"}
    command = [sys.executable, "-m", "zcodec", "inspect", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0 and "a\\u2603: uint8" in run.stdout and "b: uint8" in run.stdout


def test_a_progress_bar_leaves_the_output_alone(store, tmp_path):
    pty = pytest.importorskip("pty")
    pytest.importorskip("rich")
    damage(store / "images/a/c/0/0")
    bar, terminal = pty.openpty()
    with open(tmp_path / "output", "wb") as output:
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "40"}
        command = [sys.executable, "-m", "zcodec", "verify", str(store)]
        with subprocess.Popen(command, stdout=output, stderr=terminal, env=environment) as run:
            os.close(terminal)
            with contextlib.suppress(OSError):  # at its end
                while os.read(bar, 4096):
                    pass
        assert run.returncode == 1
    os.close(bar)
    lines = (tmp_path / "output").read_text().splitlines()
    assert [line.split(": ")[0] for line in lines[:-1]] == ["images/a/c/0/0"] and ", 1 damaged" in lines[-1]


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_that_is_out_of_date(tmp_path, capsys, zarr_format):
    group = zarr.create_group(tmp_path, zarr_format=zarr_format)
    for name, fill_value in (("a", 0), ("b", float("nan"))):
        group.create_array(name, shape=(6,), chunks=(4,), dtype="float64", fill_value=fill_value)[...] = 1
    change = {"a/.zarray": {"dtype": "<f4"}, "a": {"data_type": "float32"}}
    consolidated(tmp_path, *list(change.items())[zarr_format - 2])
    assert main(["verify", str(tmp_path)]) == 1
    says = "a: the consolidated metadata of a group above is out of date; zarr.consolidate_metadata renews it\n"
    assert capsys.readouterr().out == f"{says}4 chunks of 2 arrays, 0 damaged\n"
    assert main(["inspect", str(tmp_path)]) == 0
    found = capsys.readouterr()
    assert "a: float64 (6,)" in found.out and found.err == f"zcodec: {says}"
    zarr.consolidate_metadata(tmp_path)
    assert main(["verify", str(tmp_path)]) == 0
    shutil.rmtree(tmp_path / "b")
    assert main(["verify", str(tmp_path)]) == 0
    assert "2 chunks of 2 arrays, 0 damaged" in capsys.readouterr().out


def test_arrays_that_only_zcodec_reads(store, tmp_path, capsys):
    """zarr-python 3.1 asks whether inner chunks divide a shard before the transpose, and not after it."""
    values = np.arange(24, dtype="int16").reshape(4, 6)
    shard = {"chunk_shape": [2, 3], "codecs": [LITTLE], "index_codecs": [LITTLE]}
    codecs = [{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "sharding_indexed", "configuration": shard}]
    chain = zcodec.Chain(codecs, data_type="int16", shape=(3, 2), fill_value=0)
    array = zarr.create_array(store, name="turned", shape=(4, 6), chunks=(3, 2), dtype="int16")
    array[...] = values
    spoil(store / "turned/zarr.json", {"codecs": codecs})
    old = zarr.create_array(tmp_path / "old", shape=(4, 6), chunks=(4, 3), dtype="int16", zarr_format=2, compressors=None)
    old[...] = values
    filters = [{"id": "fletcher32"}, {"id": "astype", "decode_dtype": "<i2", "encode_dtype": "<i2", "more": 1}]
    spoil(tmp_path / "old/.zarray", {"filters": filters})
    pad = np.zeros((3, 2), "int16")
    for i in range(2):
        for j in range(3):
            part = values[3 * i : 3 * i + 3, 2 * j : 2 * j + 2]
            pad[:] = 0
            pad[: len(part)] = part
            (store / f"turned/c/{i}/{j}").write_bytes(chain.encode(pad))
    with pytest.raises(Exception, match="chunk_shape|not divisible"):
        zarr.open_array(store / "turned")[...]
    assert main(["verify", str(store)]) == 0
    assert "19 chunks of 3 arrays, 0 damaged" in capsys.readouterr().out
    assert main(["verify", str(store / "turned")]) == 0
    assert "6 chunks of 1 array, 0 damaged" in capsys.readouterr().out
    assert main(["inspect", str(store)]) == 0
    assert "turned: int16 (4, 6), Zarr v3\n  chunks    (3, 2), 6 of them\n  size      48 bytes" in capsys.readouterr().out
    assert main(["convert", str(store / "turned"), str(tmp_path / "new"), "--codecs", json.dumps([LITTLE])]) == 2
    assert "turned cannot be read: zarr-python" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "old")]) == 2
    assert "(zcodec: " in capsys.readouterr().err


def test_sizes_are_those_of_chunks(tmp_path, capsys):
    zarr.create_array(tmp_path, shape=(1000,), chunks=(10,), dtype="int16")
    assert main(["inspect", str(tmp_path)]) == 0
    assert "size      2.0 KiB, stored 0 bytes\n" in capsys.readouterr().out


def test_the_document_counts_as_it_is_stored(tmp_path, capsys):
    """zarr-python 3.1 adds what is missing; programs that read by the library cannot."""
    zarr.create_array(tmp_path, shape=(4,), chunks=(4,), dtype="int16", compressors=None)[...] = 1
    spoil(tmp_path / "zarr.json", {"codecs": [{"name": "bytes"}]})
    status, found = main(["inspect", str(tmp_path)]), capsys.readouterr()
    if status == 2:  # zarr-python 3.4 does not open it
        assert "cannot be read: " in found.err and '(zcodec: codecs[0] "bytes": endian is missing' in found.err
        return
    assert status == 0 and "not supported: codecs[0] \"bytes\": " in found.out
    assert main(["verify", str(tmp_path)]) == 0


def test_metadata_that_lacks_a_member(store, capsys):
    path = store / "images/a/zarr.json"
    document = json.loads(path.read_text())
    del document["shape"]
    path.write_text(json.dumps(document))
    assert main(["verify", str(store)]) == 1
    assert "images/a: cannot be read: 'shape' is missing" in capsys.readouterr().out
    assert main(["inspect", str(path.parent)]) == 2
    assert capsys.readouterr().err == f"zcodec: {path.parent} cannot be read: 'shape' is missing\n"


def test_convert_needs_an_array_that_can_be_read(tmp_path, capsys):
    group, array = tmp_path / "group", tmp_path / "group/images/a"

    def says(source):
        assert main(["convert", str(source), str(tmp_path / "new"), "--codecs", json.dumps([LITTLE])]) == 2
        return capsys.readouterr().err

    zarr.create_group(group)
    assert says(group) == f"zcodec: {group} is a group; it has no arrays\n"
    zarr.create_array(group, name="images/a", shape=(4,), chunks=(2,), dtype="int16")
    assert says(group) == f"zcodec: {group} is a group; name one of its arrays: images/a\n"
    spoil(array / "zarr.json", UNKNOWN)
    assert f"zcodec: {group} is a group; its array images/a cannot be read: No Zarr data type" in says(group)
    assert f"zcodec: {array} cannot be read: No Zarr data type" in says(array)


def test_an_interruption_while_modules_are_imported(store, monkeypatch):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(zcodec.cli, "import_module", interrupted)
    assert main(["verify", str(store)]) == 130


@pytest.mark.parametrize("document", ["[]", "5", '"x"'])
def test_metadata_that_is_no_object(store, capsys, document):
    (store / "images/a/zarr.json").write_text(document)
    assert main(["verify", str(store / "images/a")]) == 2
    assert f"(zcodec: zarr.json is {document}, expected an object)" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["{}/nothing", "{}/images/a/c", "memory://zcodec-test/nothing"])
def test_a_place_without_a_store(store, place, capsys):
    if "://" in place:
        pytest.importorskip("fsspec")
    place = place.format(store)
    for command in ("inspect", "verify"):
        assert main([command, place]) == 2
        assert capsys.readouterr().err == f"zcodec: there is no array and no group at {place}\n"


def test_verify_through_fsspec(capsys):
    pytest.importorskip("fsspec")
    array = zarr.create_array("memory://zcodec-test/a.zarr", shape=(50,), chunks=(10,), dtype="int32", overwrite=True)
    array[:30] = 1
    assert main(["verify", "memory://zcodec-test/a.zarr"]) == 0
    assert "3 chunks of 1 array, 0 damaged" in capsys.readouterr().out


@pytest.mark.parametrize("inside", ["", "images"])
def test_verify_in_a_zip_file(store, tmp_path, inside, capsys):
    """Groups inside groups are found, too."""
    pytest.importorskip("fsspec")
    group = zarr.open_group(store)
    for name in ("images/old/b", "images/images/images"):
        group.create_array(name, shape=(4,), chunks=(2,), dtype="int16")[...] = 1
    (store / "images" / "README").write_text("not of Zarr")
    archive = shutil.make_archive(tmp_path / "packed", "zip", store)
    assert main(["verify", f"zip://{inside}::{archive}"]) == 0
    found = {"": "17 chunks of 4 arrays", "images": "16 chunks of 3 arrays"}
    assert f"{found[inside]}, 0 damaged" in capsys.readouterr().out
    assert main(["verify", archive]) == 2
    says = f"zcodec: there is no array and no group at {archive}; zip://::{archive} is what the zip file contains\n"
    assert capsys.readouterr().err == says


class Unlisted(Exception):
    """What a store raises is often of a kind of its own."""


@pytest.fixture
def unlisted(monkeypatch):
    """An array in a store that does not list what it has, as those of HTTP."""
    pytest.importorskip("fsspec")
    place = "memory://zcodec-test/unlisted"
    zarr.create_group(place, overwrite=True).create_array("a", shape=(6,), chunks=(2,), dtype="int32")[...] = np.arange(6)

    def refuse(*_, **__):
        raise Unlisted("403,\nForbidden")

    for name in ("ls", "find"):
        monkeypatch.setattr(f"fsspec.implementations.memory.MemoryFileSystem.{name}", refuse)
    return place


def test_inspect_of_what_is_not_listed(unlisted, capsys):
    assert main(["inspect", f"{unlisted}/a"]) == 0
    assert "size      24 bytes, stored unknown\n" in capsys.readouterr().out
    assert main(["inspect", f"{unlisted}/a", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stored_size"] is None


def test_convert_of_what_is_not_listed(unlisted, tmp_path, capsys):
    assert main(["convert", f"{unlisted}/a", str(tmp_path / "a"), "--codecs", json.dumps([LITTLE])]) == 0
    assert capsys.readouterr() == ("verified: every value is the same\n", "")
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], np.arange(6))


@pytest.mark.parametrize("command", ["inspect", "verify"])
def test_a_group_that_is_not_listed(unlisted, command, capsys):
    """A status of 1 would say that something is damaged."""
    assert main([command, unlisted]) == 2
    assert capsys.readouterr() == ("", "zcodec: Unlisted: 403, Forbidden\n")


def test_convert(store, tmp_path, capsys):
    target = tmp_path / "new.zarr"
    arguments = ["convert", str(store / "images/a"), str(target), "--codecs", SHARDS]
    assert main([*arguments, "--chunks", "50,90"]) == 0
    assert "every value is the same" in capsys.readouterr().out
    made = zarr.open_array(target)
    np.testing.assert_array_equal(made[...], VALUES)
    assert (made.shards, made.chunks, dict(made.attrs)) == ((50, 90), (10, 10), {"unit": "m"})
    assert main([*arguments, "--chunks", "50,90"]) == 2
    assert main([*arguments, "--chunks", "100,90", "--overwrite"]) == 0
    assert zarr.open_array(target).shards == (100, 90)


@pytest.mark.parametrize("codecs", ["crc32c", "gzip", "numcodecs.zlib", "in a shard"])
@pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3")
def test_convert_to_codecs_in_short_form(store, tmp_path, capsys, codecs):
    shards = SHARDS.replace('{"name": "crc32c"}', '"crc32c"')
    text = shards if codecs == "in a shard" else json.dumps([LITTLE, codecs])
    target = tmp_path / "new.zarr"
    assert main(["convert", str(store / "images/a"), str(target), "--chunks", "50,90", "--codecs", text]) == 0
    assert "verified" in capsys.readouterr().out
    np.testing.assert_array_equal(zarr.open_array(target)[...], VALUES)


@pytest.mark.filterwarnings("ignore:The data type")
@pytest.mark.parametrize(("fields", "fill_value", "values"), [
    ([("s", ">U2")], ("é",), [("ab",), ("é",), ("c",)]),
    ([("a", ">i4"), ("b", "u1")], (7, 1), [(1, 2), (7, 1), (3, 4)]),
])  # fmt: skip
def test_convert_of_structs_in_big_endian_order(tmp_path, capsys, fields, fill_value, values):
    dtype = np.dtype(fields)
    source = zarr.create_array(
        tmp_path / "a", shape=(4,), chunks=(1,), dtype=dtype, zarr_format=2, compressors=None,
        fill_value=np.array(fill_value, dtype)[()],
    )  # fmt: skip
    source[:3] = np.array(values, dtype)
    assert main(["convert", str(tmp_path / "a"), str(tmp_path / "b"), "--codecs", json.dumps([LITTLE]), "--quiet"]) == 0
    made = zarr.open_array(tmp_path / "b")
    native = dtype.newbyteorder("=")
    assert made[...].astype(native).tolist() == [*values, fill_value]
    assert made.fill_value.tolist() == fill_value
    capsys.readouterr()
    stored = (tmp_path / "b/c/0").read_bytes()
    assert stored == np.array(values[0], dtype.newbyteorder("<")).tobytes()


@pytest.mark.filterwarnings("ignore:The data type")
def test_convert_of_structs_to_big_endian_order(tmp_path, capsys):
    """zarr-python 3.1 drops the byte order of structs."""
    dtype = np.dtype([("a", "<i2"), ("b", "<f8")])
    zarr.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype=dtype)[...] = np.array([(1, 2.5)] * 4, dtype)
    codecs = [{"name": "bytes", "configuration": {"endian": "big"}}]
    status = main(["convert", str(tmp_path / "a"), str(tmp_path / "b"), "--codecs", json.dumps(codecs), "--quiet"])
    if status == 0:
        assert (tmp_path / "b/c/0").read_bytes()[:2] == b"\0\1"
    else:
        assert status == 2 and not (tmp_path / "b").exists()
        says = r"--codecs asks for the byte order 'big', but zarr-python \S+ makes 'little' of it for .*'a'"
        assert re.search(says, capsys.readouterr().err)


def test_convert_verifies_what_others_will_open(tmp_path, capsys, monkeypatch):
    """The document says another byte order than the array that wrote the chunks has."""
    source = zarr.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype="uint16", zarr_format=2)
    source[...] = [1, 2, 3, 4]
    files_of = ArrayV3Metadata.to_buffer_dict

    def wrong(self, prototype):
        document = files_of(self, prototype)["zarr.json"].to_bytes().replace(b'"little"', b'"big"')
        return {"zarr.json": prototype.buffer.from_bytes(document)}

    monkeypatch.setattr(ArrayV3Metadata, "to_buffer_dict", wrong)
    assert main(["convert", str(tmp_path / "a"), str(tmp_path / "b"), "--codecs", json.dumps([LITTLE])]) == 1
    assert "4 values differ, by 1020 at most; the first in c/0" in capsys.readouterr().out
    assert zarr.open_array(tmp_path / "b")[0] == 256


@pytest.mark.filterwarnings("ignore:The data type")
def test_convert_makes_no_array_that_cannot_be_opened(tmp_path, capsys):
    """zarr-python 3.1 cannot open what it writes for datetime64 without a unit."""
    zarr.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype="<M8", zarr_format=2, fill_value=None)
    status = main(["convert", str(tmp_path / "a"), str(tmp_path / "b"), "--codecs", json.dumps([LITTLE])])
    if status == 0:
        assert zarr.open_array(tmp_path / "b").shape == (4,)
    else:
        assert status == 2 and not (tmp_path / "b").exists()
        assert re.search("zarr-python 3.* cannot open .* datetime64 ", capsys.readouterr().err)


def test_convert_says_what_is_lost(tmp_path, capsys):
    source = zarr.create_array(tmp_path / "a", shape=(100,), chunks=(50,), dtype="float32")
    source[...] = np.linspace(0, 1, 100, dtype=np.float32)
    codecs = tmp_path / "codecs.json"
    codecs.write_text(json.dumps([{"name": "bitround", "configuration": {"keepbits": 4}}, LITTLE]))
    arguments = ["convert", str(tmp_path / "a"), str(tmp_path / "b"), "--codecs", f"@{codecs}"]
    assert main(arguments) == 1
    assert main([*arguments, "--overwrite", "--lossy"]) == 0
    assert "98 values differ, by 0.0154672 at most; the first in c/0" in capsys.readouterr().out
    source[0] = np.nan
    cast = [{"name": "cast_value", "configuration": {"data_type": "uint8", "scalar_map": {"encode": [["NaN", 1]]}}}]
    arguments[-1] = json.dumps([*cast, "bytes"])
    assert main([*arguments, "--overwrite", "--lossy"]) == 0
    assert "99 values differ, by 0.49495 at most, 1 of them NaN before or after; the first in c/0" in capsys.readouterr().out


GAP = np.dtype([("a", "i1"), ("b", "<i4")], align=True)
NAN, PAYLOAD, INF = np.nan, np.array(0x7FF8000000000001, "u8").view("f8")[()], np.inf


@pytest.mark.parametrize(
    ("expected", "found", "says"),
    [
        ([NAN, PAYLOAD, 1], [NAN, PAYLOAD, 1], "verified"),
        ([NAN, 1.5], [7.0, 1.0], "2 values differ, by 0.5 at most, 1 of them NaN before or after;"),
        ([7.0], [NAN], "1 values differ, 1 of them NaN"),
        ([NAN], [PAYLOAD], "1 values differ, 1 of them NaN"),
        ([INF, 1], [INF, -INF], "1 values differ, by inf at most;"),
        ([complex(NAN, 1), 1], [complex(NAN, 2), 1 + 2j], "2 values differ, by 2 at most, 1 of them NaN"),
        ([complex(NAN, 1)], [complex(NAN, 1)], "verified"),
        ([complex(INF, 1)], [complex(INF, 2)], "1 values differ, by inf at most;"),
        (np.array(["NaT", 1], "M8[s]"), np.array(["NaT", 1], "M8[s]"), "verified"),
        (np.array(["NaT"], "M8[s]"), np.array([1], "M8[s]"), "1 values differ; the first in c/1"),
        (np.array([(NAN, 1)], "f8,i4"), np.array([(NAN, 1)], "f8,i4"), "verified"),
        (np.array([(NAN, 1)], "f8,i4"), np.array([(NAN, 2)], "f8,i4"), "1 values differ;"),
        (np.array(["a" * 20, "b"], object), np.array(["c" * 20, "b"], object), "1 values differ;"),
        (np.array([NAN, 2], ">f8"), np.array([NAN, 3], "<f8"), "1 values differ, by 1 at most;"),
        (np.array([PAYLOAD], ">f8"), np.array([NAN], "<f8"), "1 values differ, 1 of them NaN"),
        ([0.0, -0.0], [0.0, -0.0], "verified"),
        ([0.0, -0.0, 1, 2], [-0.0, -0.0, 1, 2.5], "2 values differ, by 0.5 at most, 1 of them zeros of the other sign;"),
        ([-0.0], [0.0], "1 values differ, 1 of them zeros of the other sign;"),
        ([complex(0.0, -0.0)], [complex(0.0, 0.0)], "1 values differ, 1 of them zeros of the other sign;"),
        (np.array([(-0.0, 1)], "f8,i4"), np.array([(0.0, 1)], "f8,i4"), "1 values differ;"),
        (np.array([(1, 2)], GAP), np.frombuffer(b"\1\xff\xff\xff\2\0\0\0", GAP), "verified"),
        (np.array([([1, 2],)], [("a", "i2", 2)]), np.array([([1, 3],)], [("a", "i2", 2)]), "1 values differ;"),
        (np.array([1, 2], ">i8").view(">M8"), np.array([1, 2]).view("<M8"), "verified"), (np.array([], "f4"), np.array([], "f4"), "verified"),
        (np.array(["a", "bc"]), np.array(["a", "b"]), "1 values differ;"), (np.array(-0.0), np.array(-0.0), "verified"),
    ],
)  # fmt: skip
def test_what_differs(tmp_path, capsys, expected, found, says):
    from zcodec.cli import convert

    differences = convert.Differences()
    differences.compare((1,), np.array(expected), np.array(found))
    target = zarr.create_array(tmp_path, shape=(4,), chunks=(1,), dtype="int8")
    assert convert._verdict(differences, target, lossy=False) == (says != "verified")
    assert says in capsys.readouterr().out


@pytest.mark.parametrize("dtype", ["<i8", ">i8", "u8", "i1"])
def test_differences_of_integers_are_exact(monkeypatch, dtype):
    """Also where long doubles are doubles, which have 53 bits."""
    from zcodec.cli.differences import Differences

    monkeypatch.setattr(np, "longdouble", np.float64)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    one, both = Differences(), Differences()
    one.compare((0,), np.array([high, high - 1], dtype), np.array([high - 1, high], dtype))
    both.compare((0,), np.array([low, high], dtype), np.array([high, high], dtype))
    assert (one.largest, both.largest) == (1, float(high - low))


@pytest.mark.parametrize(("chunks", "count"), [("4", 3), ("10", 5)])  # with 4 the last chunk is the fill value, and not stored
def test_convert_compares_bits(tmp_path, capsys, chunks, count):
    """Zeros of either sign and NaN come back as they are; through a type without them they do not."""
    source = zarr.create_array(tmp_path / "a", shape=(10,), chunks=(4,), dtype="float64", fill_value=-0.0)
    source[:8] = expected = np.array([0.0, -0.0, NAN, PAYLOAD, 1, 2, -0.0, -0.0])
    arguments = ["convert", str(tmp_path / "a"), str(tmp_path / "b"), "--chunks", chunks, "--codecs"]
    assert main([*arguments, SHARDS.replace("10, 10", "2")]) == 0
    assert "verified: every value is the same" in capsys.readouterr().out
    found = zarr.open_array(tmp_path / "b")[...]
    assert found[:8].tobytes() == expected.tobytes() and np.signbit(found[8:]).all()
    source[2:4] = 3
    cast = {"name": "cast_value", "configuration": {"data_type": "int32"}}
    for options, status in (([], 1), (["--lossy"], 0)):
        assert main([*arguments, json.dumps([cast, LITTLE]), "--overwrite", *options]) == status
        assert f"{count} values differ, {count} of them zeros of the other sign; the first in c/0" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [["inspect", "/no/such/store"], ["verify", "/no/such/store"], ["convert", "{}", "{}-new", "--codecs", "[]"]],
)
def test_what_cannot_be_done(store, arguments, capsys):
    assert main([each.format(store) for each in arguments]) == 2
    assert capsys.readouterr().err.startswith("zcodec: ")
    for codecs in ("{}", "[", '["nothing"]'):
        assert main(["convert", str(store / "images/a"), str(store) + "-x", "--codecs", codecs]) == 2


@pytest.mark.parametrize(
    "target",
    [
        "{}/images/a", "{}/images/../images/a/", "file://{}/images/a", "{}", "{}/images/a/b", "local://{}/images/a",
        "local://{}", "file://{}/images/../images/a/c", "simplecache::file://{}/images/a", "dir://images/a::file://{}",
        "{}/link", "{}/link/c",
    ],
)  # fmt: skip
def test_an_array_is_not_converted_onto_itself(store, target, capsys):
    (store / "link").symlink_to(store / "images/a")
    arguments = ["convert", str(store / "images/a"), target.format(store), "--codecs", json.dumps([LITTLE]), "--overwrite"]
    assert main(arguments) == 2
    assert "share a place" in capsys.readouterr().err
    np.testing.assert_array_equal(zarr.open_array(store / "images/a")[...], VALUES)


@pytest.mark.parametrize("target", ["/zcodec-test/a", "zcodec-test/a/c", "zcodec-test", "zcodec-test//a"])
def test_an_array_of_a_url_is_not_converted_onto_itself(target, capsys):
    pytest.importorskip("fsspec")
    source = "memory://zcodec-test/a"
    zarr.create_array(source, shape=(6,), chunks=(2,), dtype="int32", overwrite=True)[...] = np.arange(6)
    assert main(["convert", source, f"memory://{target}", "--codecs", json.dumps([LITTLE]), "--overwrite"]) == 2
    assert "share a place" in capsys.readouterr().err
    np.testing.assert_array_equal(zarr.open_array(source, mode="r")[...], np.arange(6))


def test_an_array_in_an_archive_is_not_converted_onto_the_archive(store, capsys):
    pytest.importorskip("fsspec")
    place = store / "run"
    shutil.make_archive(str(place / "a"), "zip", store / "images/a")
    for target in (place, store):
        arguments = ["convert", f"zip://::{place}/a.zip", str(target), "--codecs", json.dumps([LITTLE]), "--overwrite"]
        assert main(arguments) == 2
        assert "share a place" in capsys.readouterr().err
        assert (place / "a.zip").exists()
    assert main(["convert", f"zip://::{place}/a.zip", str(store / "out"), "--codecs", json.dumps([LITTLE])]) == 0
    np.testing.assert_array_equal(zarr.open_array(store / "out")[...], VALUES)


@pytest.mark.parametrize("inside", ["", "/c", "/c/0"])
def test_names_that_do_not_tell_delete_nothing_of_the_source(store, inside, capsys, monkeypatch):
    """Such as two mounts of one disk."""
    from zcodec.cli import place

    monkeypatch.setattr(place, "_local", lambda path: place.Place(None, path))
    (store / "other").symlink_to(store / "images/a")
    before, target = files_in(store), f"{store}/other{inside}"
    arguments = ["convert", str(store / "images/a"), target, "--codecs", json.dumps([LITTLE]), "--overwrite"]
    assert main(arguments) == 2
    assert "share a place" in capsys.readouterr().err
    assert files_in(store) == before


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--codecs", "bytes"], "--codecs is not a JSON list: Expecting value"),
        (["--codecs", "{}"], "--codecs must be a JSON list, not '{}'"),
        (["--chunks", "abc"], "--chunks is 'abc', expected sizes such as 64,64"),
        (["--chunks", "3,-4"], "--chunks is '3,-4', expected sizes"),
        (["--chunks", "3"], "--chunks is '3': expected a size for each of the 2 dimensions of the array"),
        (["--chunks", "0,4"], "--chunks is '0,4', but a chunk has at least one element"),
        (["--chunks", ""], "--chunks is '': expected a size for each"),
        (["--chunks", "9999999,99999999"], "--chunks is '9999999,99999999', and a chunk has 1999999780000002 bytes"),
        (["--workers", "0"], "argument --workers: expected a number of 1 or more, not '0'"),
        (["--workers", "-2"], "argument --workers: expected a number of 1 or more, not '-2'"),
        (["--workers", "many"], "argument --workers: expected a number of 1 or more, not 'many'"),
    ],
)  # fmt: skip
def test_wrong_options_are_named_and_delete_nothing(store, tmp_path, capsys, wrong, says):
    (tmp_path / "new.zarr").mkdir()
    (tmp_path / "new.zarr/notes.txt").write_text("")
    arguments = ["convert", str(store / "images/a"), str(tmp_path / "new.zarr"), "--overwrite"]
    try:
        status = main([*arguments, "--codecs", json.dumps([LITTLE]), *wrong])
    except SystemExit as exit:
        status = exit.code
    assert status == 2
    assert says in capsys.readouterr().err
    assert files_in(tmp_path / "new.zarr") == ["notes.txt"]


@pytest.mark.parametrize("target", ["{}/new.zip", "file://{}/new.ZIP", "zip://::{}/new.zip", "zip://in::{}/new.zip"])
def test_convert_does_not_write_zip_files(store, tmp_path, capsys, target):
    target = target.format(tmp_path)
    assert main(["convert", str(store / "images/a"), target, "--codecs", json.dumps([LITTLE]), "--overwrite"]) == 2
    assert f"zcodec: {target} is a zip file, which convert cannot write" in capsys.readouterr().err
    assert not any(tmp_path.glob("new.*"))


@pytest.mark.parametrize("sizes", [[0], [[2, 0]]])
def test_chunks_without_elements_are_named(sizes):
    """Later versions of zarr-python open no such array, or not as it is stored."""
    grid = {"name": "rectilinear", "configuration": {"chunk_shapes": sizes}}
    with pytest.raises(ValueError, match=re.escape(f"chunk_shape is {sizes}, but a chunk has at least one")):
        Grid({"shape": [4], "chunk_grid": grid})


def test_an_unfinished_target_is_named(store, tmp_path, capsys):
    damage(store / "images/a/c/1/1")
    target = str(tmp_path / "new.zarr")
    arguments = ["convert", str(store / "images/a"), target, "--codecs", json.dumps([LITTLE])]
    assert main(arguments) == 2
    found = capsys.readouterr().err
    assert f"{target} is incomplete" in found
    assert re.search(r'zcodec: codecs\[1\] "zstd": .* \(chunk .*/images/a/c/1/1(, and \d others)?\)\n', found)
    with pytest.raises(FileNotFoundError):
        zarr.open_array(target, mode="r")
    for wrong in (["--chunks", "0,0"], ["--chunks", "10"]):
        assert main([*arguments, *wrong, "--overwrite"]) == 2
    assert main([*arguments[:-1], json.dumps([{"name": "transpose", "configuration": {"order": [1, 0]}}])]) == 2


def test_what_was_left_is_converted_again(store, tmp_path, capsys):
    chunk, target = store / "images/a/c/1/1", str(tmp_path / "new.zarr")
    whole = chunk.read_bytes()
    damage(chunk)
    arguments = ["convert", str(store / "images/a"), target, "--codecs", json.dumps([LITTLE])]
    assert main([*arguments, "--chunks", "10,10"]) == 2
    chunk.write_bytes(whole)
    assert main(arguments) == 0
    np.testing.assert_array_equal(zarr.open_array(target)[...], VALUES)
    chunk.unlink()
    assert main(arguments) == 2
    assert "exists" in capsys.readouterr().err
    np.testing.assert_array_equal(zarr.open_array(target)[...], VALUES)
    assert main([*arguments, "--overwrite"]) == 0
    assert not zarr.open_array(target)[30:60, 40:80].any()


def test_an_interrupted_target_is_no_array(store, tmp_path):
    """Also if nothing is done after the signal."""
    script = (
        "import os, sys\n"
        "from zcodec.cli import convert, main\n"
        "convert.Differences.compare = lambda *_: os._exit(9)\n"
        "main(sys.argv[1:])\n"
    )
    target = tmp_path / "new.zarr"
    arguments = ["convert", str(store / "images/a"), str(target), "--codecs", json.dumps([LITTLE])]
    assert subprocess.run([sys.executable, "-c", script, *arguments]).returncode == 9
    assert (target / "c").exists() and not (target / "zarr.json").exists()
    assert main(arguments) == 0
    assert "zcodec-convert-unfinished" not in files_in(target)


@pytest.mark.skipif(sys.platform == "win32", reason="targets are not locked there")
def test_a_target_belongs_to_one_process(store, tmp_path, capsys):
    """Another convert took what a running one had written for the rest of an interrupted one."""
    script = (
        "import sys, time\n"
        "from zcodec.cli import convert, main\n"
        "def compare(*_):\n"
        "    print('begun', flush=True)\n"
        "    time.sleep(600)\n"
        "convert.Differences.compare = compare\n"
        "main(sys.argv[1:])\n"
    )
    target = tmp_path / "new.zarr"
    arguments = ["convert", str(store / "images/a"), str(target), "--codecs", json.dumps([LITTLE])]
    alone = [*arguments, "--workers", "1"]  # which now writes nothing more
    with subprocess.Popen([sys.executable, "-c", script, *alone], stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout.readline() == b"begun\n"
            before = files_in(target)
            for more in ([], ["--overwrite"]):
                assert main([*arguments, *more]) == 2
                assert f"another process is converting to {target}" in capsys.readouterr().err
            assert files_in(target) == before
        finally:
            running.kill()
    assert main(arguments) == 0
    np.testing.assert_array_equal(zarr.open_array(target)[...], VALUES)


def test_a_target_that_another_process_took_is_not_called_verified(store, tmp_path, capsys, monkeypatch):
    """Stores elsewhere have no locks."""
    from zcodec.cli import convert, target

    monkeypatch.setattr(target, "fcntl", None)
    arguments = ["convert", str(store / "images/a"), str(tmp_path / "new.zarr"), "--codecs", json.dumps([LITTLE])]
    compare = convert.Differences.compare

    def interrupted(self, *values):
        monkeypatch.setattr(convert.Differences, "compare", compare)
        assert main(arguments) == 0
        compare(self, *values)

    monkeypatch.setattr(convert.Differences, "compare", interrupted)
    assert main([*arguments, "--workers", "1"]) == 2
    said = capsys.readouterr()
    assert said.out.count("verified") == 1
    assert "another process changed" in said.err
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "new.zarr")[...], VALUES)


@pytest.mark.parametrize("above", ["{", "[1]", '{"consolidated_metadata": true}', '{"consolidated_metadata": {}}'])
def test_what_is_above_a_target_is_no_matter(store, tmp_path, above):
    (tmp_path / "zarr.json").write_text(above)
    target = tmp_path / "new.zarr"
    assert main(["convert", str(store / "images/a"), str(target), "--codecs", json.dumps([LITTLE])]) == 0


def test_names_of_dimensions_that_xarray_keeps_in_attributes(tmp_path):
    old = zarr.create_array(tmp_path / "old", shape=(4, 6), chunks=(2, 3), dtype="int16", zarr_format=2,
                            attributes={"_ARRAY_DIMENSIONS": ["y", "x"], "unit": "m"})  # fmt: skip
    old[...] = 5
    assert main(["convert", str(tmp_path / "old"), str(tmp_path / "new"), "--codecs", json.dumps([LITTLE])]) == 0
    new = zarr.open_array(tmp_path / "new", mode="r")
    assert new.metadata.dimension_names == ("y", "x")
    assert dict(new.attrs) == {"unit": "m"}


def test_codecs_that_zarr_python_lacks(store, tmp_path, capsys, monkeypatch):
    arguments = ["convert", str(store / "images/a"), str(tmp_path / "new"), "--codecs"]
    with monkeypatch.context() as patch:  # a version that has no class for one of them
        patch.setitem(convert.__dict__, "get_codec_class", {"bytes": zarr.codecs.BytesCodec}.__getitem__)
        assert main([*arguments, json.dumps([LITTLE, "numcodecs.lz4"])]) == 2
    assert "has no class for the codec 'numcodecs.lz4'" in capsys.readouterr().err
    ignored = {"name": "unknown.x", "must_understand": False}
    assert main([*arguments, json.dumps([LITTLE, ignored])]) == 0
    assert len(zarr.open_array(tmp_path / "new", mode="r").metadata.codecs) == 1


def test_why_zarr_python_opens_no_source(tmp_path, capsys):
    """Data types that it lacks, for example. They can be verified."""
    zarr.create_array(tmp_path / "old", shape=(4,), chunks=(4,), dtype="int8", compressors=None)[...] = 1
    spoil(tmp_path / "old/zarr.json", {"data_type": "int4", "codecs": ["packbits"]})
    (tmp_path / "old/c/0").write_bytes(b"\x21\x43")
    arguments = ["convert", str(tmp_path / "old"), str(tmp_path / "new"), "--codecs", json.dumps([LITTLE])]
    assert main(arguments) == 2 and not (tmp_path / "new").exists()
    says = capsys.readouterr().err
    assert re.search(r"old cannot be read: zarr-python \S+ does not open it: .*int4", says) and says.count("\n") == 1
    assert main(["verify", str(tmp_path / "old")]) == 0


@pytest.mark.parametrize("shards", [False, True])
def test_elements_that_are_wider_than_those_of_the_array(tmp_path, capsys, shards):
    """zarr-python before 3.3 drops their byte order."""
    cast = {"name": "cast_value", "configuration": {"data_type": "int16", "rounding": "nearest-even"}}
    codecs = [cast, {"name": "bytes", "configuration": {"endian": "big"}}]
    if shards:
        codecs = [{"name": "sharding_indexed",
                   "configuration": {"chunk_shape": [2], "codecs": codecs, "index_codecs": [LITTLE]}}]  # fmt: skip
    zarr.create_array(tmp_path / "old", shape=(4,), chunks=(4,), dtype="uint8")[...] = [1, 2, 3, 4]
    drops = r'"bytes": endian is missing, .*; zarr-python \S+ drops it .*; zarr 3\.3 or later'
    if main(["convert", str(tmp_path / "old"), str(tmp_path / "new"), "--codecs", json.dumps(codecs)]):
        assert re.search(drops, capsys.readouterr().err) and not (tmp_path / "new").exists()
    # An array of another library.
    (tmp_path / "other/c").mkdir(parents=True)
    document = {**json.loads((tmp_path / "old/zarr.json").read_text()), "codecs": codecs}
    (tmp_path / "other/zarr.json").write_text(json.dumps(document))
    chunk = zcodec.Chain.from_zarr_json(document).encode(np.arange(4, dtype="uint8"))
    (tmp_path / "other/c/0").write_bytes(chunk)
    assert main(["verify", str(tmp_path / "other")]) == 0
    if main(["convert", str(tmp_path / "other"), str(tmp_path / "copy"), "--codecs", json.dumps(["bytes"])]):
        says = f"cannot be read: zarr-python {zarr.__version__} does not open it: .*{drops}"
        assert re.search(says, capsys.readouterr().err) and not (tmp_path / "copy").exists()
    else:
        assert list(zarr.open_array(tmp_path / "copy")[...]) == [0, 1, 2, 3]


def test_a_zarr_that_is_too_old_is_to_be_upgraded(tmp_path):
    script = "import sys, zarr\nsys.modules['zarr.dtype'] = None\nfrom zcodec.cli import main\nsys.exit(main(['verify', '.']))"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    says = r"zcodec: zcodec\.zarr needs zarr 3\.1 or later, and this is \S+; pip install --upgrade zarr .*\n"
    assert re.fullmatch(says, done.stderr)


def files_in(place):
    return sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())


def test_nothing_is_left_of_another_grid(store, tmp_path):
    """Chunks of a smaller grid would come back when the array grows, and count as stored."""
    chunk, target = store / "images/a/c/1/1", tmp_path / "new.zarr"
    whole = chunk.read_bytes()
    damage(chunk)
    arguments = ["convert", str(store / "images/a"), str(target), "--codecs", json.dumps([LITTLE])]
    assert main([*arguments, "--chunks", "10,10", "--workers", "1"]) == 2
    left = files_in(target)
    assert "c/2/8" in left and "zarr.json" not in left
    chunk.write_bytes(whole)
    assert main([*arguments, "--chunks", "50,45"]) == 0
    assert files_in(target) == ["c/0/0", "c/0/1", "c/1/0", "c/1/1", "zarr.json"]


@pytest.mark.parametrize("name", ["c/7/7", "notes.txt", "a/zarr.json", "0.0"])
def test_only_what_convert_left_is_deleted_without_overwrite(store, tmp_path, capsys, name):
    target = tmp_path / "new.zarr"
    (target / name).parent.mkdir(parents=True)
    (target / name).write_text("{}")
    arguments = ["convert", str(store / "images/a"), str(target), "--codecs", json.dumps([LITTLE])]
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"zcodec: something exists at {target}; --overwrite deletes it\n"
    assert main([*arguments[:-1], '["nothing"]', "--overwrite"]) == 2
    assert main([*arguments, "--overwrite", "--chunks", "2,0"]) == 2
    assert files_in(target) == [name]  # what cannot be done deletes nothing
    assert main([*arguments, "--overwrite"]) == 0
    assert files_in(target)[-1] == "zarr.json" and name not in files_in(target)


def test_convert_through_fsspec(store, capsys):
    fsspec = pytest.importorskip("fsspec")
    target = "memory://zcodec-test/converted.zarr"
    arguments = ["convert", str(store / "images/a"), target, "--codecs", json.dumps([LITTLE])]
    assert main(arguments) == 0
    assert "verified" in capsys.readouterr().out
    assert main(arguments) == 2
    fsspec.filesystem("memory").pipe("/zcodec-test/converted.zarr/c/9/9", b"left")
    assert main([*arguments, "--overwrite"]) == 0
    np.testing.assert_array_equal(zarr.open_array(target, mode="r")[...], VALUES)
    assert not fsspec.filesystem("memory").exists("/zcodec-test/converted.zarr/c/9/9")


@pytest.mark.parametrize("place", ["{}/store.zarr", "memory://zcodec-test/consolidated"])
@pytest.mark.filterwarnings("ignore:Consolidated metadata is currently not part")
def test_consolidated_metadata_that_is_out_of_date_is_named(place, tmp_path, capsys):
    pytest.importorskip("fsspec")
    root = place.format(tmp_path)
    group = zarr.create_group(root, overwrite=True)
    for name in ("a", "in/a", "source"):
        group.create_array(name, shape=(6,), chunks=(2,), dtype="int32")[...] = np.arange(6)
    arguments = ["convert", f"{root}/source", "--codecs", json.dumps([LITTLE]), "--overwrite"]
    assert main([*arguments, f"{root}/a"]) == 0
    assert capsys.readouterr().err == ""
    zarr.consolidate_metadata(root)
    for name in ("a", "in/a", "new"):
        assert main([*arguments, f"{root}/{name}", "--chunks", "3"]) == 0
        says = f"zcodec: the consolidated metadata of {root} is out of date; zarr.consolidate_metadata renews it\n"
        assert capsys.readouterr().err == says
    zarr.consolidate_metadata(root)
    for name in ("a", "in/a", "new"):
        assert main([*arguments, f"{root}/{name}", "--chunks", "3"]) == 0
        assert capsys.readouterr().err == ""
        np.testing.assert_array_equal(zarr.open_group(root, mode="r")[name][...], np.arange(6))


@pytest.mark.parametrize("place", ["{}/store.zarr", "memory://zcodec-test/old"])
@pytest.mark.filterwarnings("ignore:Consolidated metadata", "ignore:Object at a is not recognized")
def test_groups_of_zarr_v2_do_not_show_what_is_made_in_them(place, tmp_path, capsys):
    pytest.importorskip("fsspec")
    root = place.format(tmp_path)
    zarr.create_group(root, overwrite=True, zarr_format=2)
    for name in ("a", "in/a"):
        zarr.create_array(root, name=name, shape=(6,), chunks=(2,), dtype="int32", zarr_format=2)[...] = np.arange(6)
    source = str(tmp_path / "source")
    zarr.create_array(source, shape=(6,), chunks=(2,), dtype="int32")[...] = np.arange(6)
    arguments = ["convert", source, "--codecs", json.dumps([LITTLE]), "--overwrite"]
    hidden, renews = "of Zarr v3, and its group of Zarr v2 does not show it", "zarr.consolidate_metadata renews it"
    consolidated = f"zcodec: the consolidated metadata of {root}"
    for is_consolidated in (False, True):
        if is_consolidated:
            zarr.create_array(root, name="a", shape=(6,), chunks=(2,), dtype="int32", zarr_format=2, overwrite=True)
            zarr.consolidate_metadata(root, zarr_format=2)
        assert main([*arguments, f"{root}/a"]) == 0
        says = f"zcodec: {root} is a group of Zarr v2, and does not show the new array, which is of Zarr v3\n"
        stale = f"{consolidated} still has what was there, of which readers get the fill value; {renews}\n"
        assert capsys.readouterr().err == says + is_consolidated * stale
        assert main(["verify", root]) == 1
        found = capsys.readouterr().out
        assert found.startswith(f"a: is {hidden}\n") and (f"a: {OUTDATED}" in found) == is_consolidated
        assert found.endswith("6 chunks of 2 arrays, 0 damaged\n")
        assert main(["inspect", root]) == 0
        assert f"zcodec: a: is {hidden}\n" in capsys.readouterr().err
    zarr.consolidate_metadata(root, zarr_format=2)
    assert main([*arguments, f"{root}/in/b"]) == 0
    assert capsys.readouterr().err == says.replace(root, f"{root}/in")
    assert main(["verify", root]) == 1
    assert capsys.readouterr().out == f"a: is {hidden}\nin/b: is {hidden}\n9 chunks of 3 arrays, 0 damaged\n"


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_groups_above_a_group_of_zarr_v2(tmp_path, capsys):
    """No consolidated metadata of Zarr v3 can have what is in it."""
    group = zarr.create_group(tmp_path / "g")
    group.create_array("a", shape=(4,), chunks=(2,), dtype="uint8")[...] = 1
    zarr.consolidate_metadata(tmp_path / "g")
    zarr.create_group(tmp_path / "g/old", zarr_format=2)
    arguments = ["convert", str(tmp_path / "g/a"), str(tmp_path / "g/old/a"), "--codecs", json.dumps([LITTLE])]
    assert main(arguments) == 0
    assert capsys.readouterr().err.count("\n") == 1
    (tmp_path / "g/old/a/c/1").write_bytes(b"damaged")
    assert main(["verify", str(tmp_path / "g")]) == 1
    found = capsys.readouterr().out
    assert "old: is of Zarr v2, and its group of Zarr v3 does not show it\n" in found
    assert "old/a/c/1: " in found and found.endswith("4 chunks of 2 arrays, 1 damaged\n")


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_where_consolidated_metadata_has_a_group(store, tmp_path, capsys, zarr_format):
    root = tmp_path / "g"
    zarr.create_group(root, zarr_format=zarr_format).create_group("in").create_array("a", shape=(4,), dtype="uint8")
    zarr.consolidate_metadata(root, zarr_format=zarr_format)
    arguments = ["convert", str(store / "images/a"), str(root / "in"), "--codecs", json.dumps([LITTLE]), "--overwrite"]
    assert main(arguments) == 0
    says = ("still has what was there", "is out of date")[zarr_format - 2]
    assert f"zcodec: the consolidated metadata of {root} {says}" in capsys.readouterr().err
    assert main(["verify", str(root)]) == 1
    found = capsys.readouterr().out
    assert f"in: {OUTDATED}\n" in found and found.endswith("12 chunks of 1 array, 0 damaged\n")


@pytest.mark.parametrize("protocol", ["file://", "local://", "simplecache::file://"])
def test_convert_to_a_local_url(store, tmp_path, capsys, protocol):
    pytest.importorskip("fsspec")
    target = tmp_path / "new/a.zarr"
    arguments = ["convert", str(store / "images/a"), f"{protocol}{target}", "--codecs", json.dumps([LITTLE])]
    for more in ([], ["--overwrite", "--chunks", "50,45"]):
        assert main([*arguments, *more]) == 0
        assert "verified" in capsys.readouterr().out
        np.testing.assert_array_equal(zarr.open_array(target)[...], VALUES)
    assert files_in(target) == ["c/0/0", "c/0/1", "c/1/0", "c/1/1", "zarr.json"]


def test_as_a_program(store):
    run = subprocess.run([sys.executable, "-m", "zcodec", "verify", str(store)], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_nobody_reads_the_output(store):
    """`zcodec inspect STORE | head` is no error to report."""
    with subprocess.Popen(
        [sys.executable, "-m", "zcodec", "inspect", str(store)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.wait() == 141
        assert process.stderr.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_a_group_above_that_cannot_be_read_changes_nothing(store, tmp_path, capsys):
    group = tmp_path / "group"
    group.mkdir()
    (group / "zarr.json").symlink_to(group / "zarr.json")
    assert main(["convert", str(store / "images/a"), str(group / "a"), "--codecs", json.dumps([LITTLE])]) == 0
    assert "verified" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_closed_outputs(store):
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        command = f'exec "$0" -m zcodec verify "$1" {closed}'
        run = subprocess.run(["sh", "-c", command, sys.executable, str(store)], capture_output=True, text=True)
        assert (run.returncode, run.stderr) == (0, "")


def test_rectilinear_grids(tmp_path, capsys):
    """Every chunk has a shape of its own."""
    zarr.config.set({"array.rectilinear_chunks": True})
    source, target = tmp_path / "a.zarr", tmp_path / "b.zarr"
    try:
        array = zarr.create_array(
            source, shape=(100, 90), chunks=[[30, 20, 50], [10, 70, 10]], dtype="uint16",
            compressors=[zarr.codecs.ZstdCodec(checksum=True)],
        )  # fmt: skip
    except Exception as error:
        pytest.skip(f"this zarr-python has no rectilinear grids: {error}")
    array[...] = VALUES
    zarr.config.reset()
    assert main(["verify", str(source)]) == 0
    assert "9 chunks of 1 array, 0 damaged" in capsys.readouterr().out
    assert main(["inspect", str(source), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["chunk_shape"], found["chunks"]) == ([[30, 20, 50], [10, 70, 10]], 9)
    assert main(["inspect", str(source)]) == 0
    assert "(20 to 50, 10 to 70), 9 of them" in capsys.readouterr().out
    assert main(["convert", str(source), str(target), "--codecs", json.dumps([LITTLE, {"name": "crc32c"}])]) == 0
    assert "verified" in capsys.readouterr().out
    assert json.loads((target / "zarr.json").read_text())["chunk_grid"]["name"] == "rectilinear"
    assert main(["convert", str(target), str(tmp_path / "c.zarr"), "--codecs", SHARDS, "--chunks", "50,30"]) == 0
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "c.zarr")[...], VALUES)
    damage(source / "c" / "1" / "2")
    assert main(["verify", str(source)]) == 1
    assert "c/1/2: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "target", "most", "expected"),
    [
        ([30, 40], [30, 40], 1, [[0, 1, 2, 3], [0, 1, 2]]),
        ([50, 90], [10, 10], 10**6, [[0, 5], [0]]),
        ([50, 90], [10, 10], 900, [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [0]]),
        ([50, 90], [10, 10], 2000, [[0, 2, 4, 5, 7, 9], [0]]),
        ([50, 90], [10, 10], 1, [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 1, 2, 3, 4, 5, 6, 7, 8]]),
        ([30, 40], [20, 30], 10**6, [[0, 3], [0]]),
        ([10, 10], [50, 90], 1, [[0, 1], [0]]),
        ([[30, 20, 50], 45], [[10, 40, 50], 15], 10**6, [[0, 2], [0, 3]]),
        ([1000, 1000], [30, 30], 10**6, [[0], [0]]),
    ],
)
def test_boxes_of_chunks(source, target, most, expected):
    """Where they begin, in chunks of the target."""

    def grid(shapes):
        return Grid({"shape": [100, 90], "chunk_grid": {"name": "rectilinear", "configuration": {"chunk_shapes": shapes}}})

    source, target = grid(source), grid(target)
    boxes = Boxes(source, target, most)
    sides = boxes.sides
    assert [[part[0] for part in parts] for parts in sides] == expected
    for parts, axis in zip(sides, target.sizes, strict=True):
        assert [i for part in parts for i in part] == list(range(axis.count))
    assert [boxes.numbered(numbers) for numbers in boxes.numbers()] == list(boxes)
    assert len(list(boxes)) == boxes.count
    for coordinates in source:
        touched = [overlap(source.region(coordinates), target.region_of(box)) for box in boxes]
        expected = list(itertools.compress(boxes.numbers(), touched))
        assert list(boxes.numbers_with(coordinates)) == expected


def overlap(one, other):
    return all(a.start < b.stop and b.start < a.stop for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("most", [1, 7, 20, 10**6])
def test_boxes_of_chunks_of_one_size_are_those_of_lists(most):
    """Regular grids are computed."""

    def grid(size, axis):
        configuration = {"chunk_shapes": [axis]}
        return Grid({"shape": [size], "chunk_grid": {"name": "rectilinear", "configuration": configuration}})

    for size, source, target in itertools.product((1, 11, 24, 60), (1, 4, 6, 9, 70), (1, 3, 4, 10, 70)):
        lists = [source] * -(-size // source), [target] * -(-size // target)
        regular, listed = (Boxes(*(grid(size, axis) for axis in axes), most) for axes in ((source, target), lists))
        assert [i for (part,) in regular for i in part] == [i for (part,) in listed for i in part]
        ends = [{part[-1] for (part,) in boxes} for boxes in (regular, listed)]
        assert ends[0] >= ends[1] and len(ends[0] - ends[1]) <= 1  # a last chunk that is cut may be a box of its own


def test_boxes_of_any_number_of_chunks():
    grids = [Grid({"shape": [10**18], "chunks": [size]}) for size in (4, 6)]
    boxes = Boxes(*grids, 12)
    assert boxes.count == -(-(10**18) // 12) and next(iter(boxes)) == (range(2),)
    assert list(boxes.numbers_with((10**17 * 2,))) == [(10**17 * 8 // 12,)]


@pytest.mark.parametrize("shape", [(), (0,), (5, 0)])
def test_boxes_of_nothing(shape):
    grid = Grid({"shape": shape, "chunks": [3] * len(shape)})
    assert len(list(Boxes(grid, grid, 10))) == Boxes(grid, grid, 10).count == (not shape)


@pytest.mark.parametrize(("chunks", "count"), [("10,10", 90), ("25,90", 4), ("100,90", 1), ("30,30", 12)])
def test_convert_decodes_each_chunk_once(tmp_path, chunks, count):
    """Two chunks of the source, and those of the target to verify them."""
    source = zarr.create_array(tmp_path / "a.zarr", shape=VALUES.shape, chunks=(50, 90), dtype="uint16")
    source[...] = VALUES
    stats.reset()
    arguments = ["convert", str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr"), "--codecs", json.dumps([LITTLE])]
    assert main([*arguments, "--chunks", chunks]) == 0
    assert stats.decoded == 2 + count
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b.zarr")[...], VALUES)


@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize(("zarr_format", "chunks"), [(2, "30"), (2, "7"), (3, "30"), (3, "7"), (3, "1000")])
def test_convert_of_a_sparse_array_visits_what_is_stored(tmp_path, capsys, zarr_format, separator, chunks):
    encoding = {"name": ("v2", "default")[zarr_format - 2], "separator": separator}
    source = zarr.create_array(
        tmp_path / "a", shape=(10**12,), chunks=(30,), dtype="uint16", fill_value=7, zarr_format=zarr_format,
        chunk_key_encoding=encoding,
    )  # fmt: skip
    places = [slice(0, 5), slice(10**9 + 3, 10**9 + 200), slice(10**12 - 1, 10**12)]
    for place in places:
        source[place] = np.arange(place.stop - place.start) + 1
    (tmp_path / "a/c").mkdir(exist_ok=True)
    (tmp_path / "a/c/notes 1").write_text("")
    arguments = ["convert", str(tmp_path / "a"), str(tmp_path / "b"), "--codecs", json.dumps([LITTLE])]
    assert main([*arguments, "--chunks", chunks]) == 0
    assert "verified" in capsys.readouterr().out
    target = zarr.open_array(tmp_path / "b", mode="r")
    for place in places:
        around = slice(max(place.start - 40, 0), place.stop + 40)
        np.testing.assert_array_equal(target[around], source[around])


@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_verify_of_a_sparse_array_visits_what_is_stored(tmp_path, capsys, zarr_format, separator):
    encoding = {"name": ("v2", "default")[zarr_format - 2], "separator": separator}
    array = zarr.create_array(
        tmp_path, shape=(10**12, 10**6), chunks=(30, 10), dtype="uint16", zarr_format=zarr_format,
        chunk_key_encoding=encoding,
    )  # fmt: skip
    array[10**9 : 10**9 + 200, 3:30] = 1
    array[-1, -1] = 1
    assert main(["verify", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{7 * 3 + 1} chunks of 1 array, 0 damaged\n"
    key = array.metadata.encode_chunk_key((10**9 // 30 + 1, 2))
    (tmp_path / key).write_bytes(b"damaged")
    assert main(["verify", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{key}: ") and out.endswith("\n22 chunks of 1 array, 1 damaged\n")


@pytest.mark.parametrize("why", [None, "too many", "empty chunks", "fill values", "an unlisted folder", "keys"])
def test_convert_visits_all_chunks_where_it_must(tmp_path, capsys, monkeypatch, why):
    from zcodec.cli import convert

    counts, each = [], convert.each
    monkeypatch.setattr(convert, "each", lambda *arguments: (counts.append(arguments[2]), each(*arguments))[1])
    fill_value = -0.0 if why == "fill values" else 0.0
    source = zarr.create_array(tmp_path / "a", shape=(60,), chunks=(10,), dtype="float32", fill_value=fill_value)
    source[:30] = 1
    if why == "too many":
        monkeypatch.setattr(stored, "_MOST", 2)
    if why == "empty chunks":
        zarr.config.set({"array.write_empty_chunks": True})
    if why == "an unlisted folder":
        monkeypatch.setattr(os, "scandir", unlistable)
    if why == "keys":
        document = json.loads((tmp_path / "a/zarr.json").read_text())
        monkeypatch.setattr(stored, "document", lambda array: {**document, "chunk_key_encoding": {"name": "other"}})
    if why == "fill values":
        monkeypatch.setattr(convert, "reopened", lambda array: zarr.create_array(
            zarr.storage.MemoryStore(), shape=(60,), chunks=(10,), dtype="float32", fill_value=0.0))  # fmt: skip
    arguments = ["convert", str(tmp_path / "a"), str(tmp_path / "b"), "--codecs", json.dumps([LITTLE]), "--lossy"]
    assert main(arguments) == 0
    monkeypatch.undo()
    assert counts == [6 if why else 3]
    out = capsys.readouterr().out
    assert ("60 values differ" if why == "fill values" else "verified") in out
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b", mode="r")[...], source[...])
    assert len(files_in(tmp_path / "b")) == 1 + (6 if why == "empty chunks" else 3)


def unlistable(path):
    raise PermissionError(f"{path} cannot be listed")


def test_what_fails_before_a_conversion_deletes_nothing(store, tmp_path, capsys, monkeypatch):
    from zcodec.cli import convert

    def fails(*_):
        raise MemoryError

    monkeypatch.setattr(convert, "Boxes", fails)
    target = tmp_path / "new.zarr"
    zarr.create_array(target, shape=(2,), chunks=(2,), dtype="uint8")[...] = 7
    arguments = ["convert", str(store / "images/a"), str(target), "--codecs", json.dumps([LITTLE]), "--overwrite"]
    assert main(arguments) == 2
    assert "MemoryError" in capsys.readouterr().err
    assert (zarr.open_array(target, mode="r")[...] == 7).all()


@pytest.mark.parametrize(
    ("workers", "chunks", "threads"), [(1, "50,90", 1), (2, "50,90", 1), (4, "50,90", 2), (4, "100,90", 4)]
)
def test_workers_are_all_threads(tmp_path, monkeypatch, workers, chunks, threads):
    """Also those of the pipeline, which has the workers that have no boxes of their own."""
    from zcodec.zarr import read

    found, decode, before = set(), read.decode_window, zarr.config.get("codec_pipeline.max_workers", None)
    monkeypatch.setattr(read, "decode_window", lambda window, threads: (found.add(threads), decode(window, threads)))
    source = zarr.create_array(tmp_path / "a.zarr", shape=VALUES.shape, chunks=(50, 90), dtype="uint16")
    source[...] = VALUES
    arguments = ["convert", str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr"), "--codecs", json.dumps([LITTLE])]
    assert main([*arguments, "--chunks", chunks, "--workers", str(workers)]) == 0
    assert found == {threads}
    assert zarr.config.get("codec_pipeline.max_workers", None) == before


@pytest.mark.parametrize(("shape", "chunks"), [((), ()), ((0,), (3,)), ((7, 0), (3, 3))])
def test_convert_small_arrays(tmp_path, capsys, shape, chunks):
    source = zarr.create_array(tmp_path / "a.zarr", shape=shape, chunks=chunks, dtype="uint16")
    source[...] = 3
    assert main(["convert", str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr"), "--codecs", json.dumps([LITTLE])]) == 0
    assert "verified" in capsys.readouterr().out
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b.zarr")[...], np.full(shape, 3))


def test_grids():
    inline = {"kind": "inline", "chunk_shapes": [[[4, 2], 3, 9], 5]}
    grid = Grid({"shape": [12, 7], "chunk_grid": {"name": "rectilinear", "configuration": inline}})
    assert grid.chunks == [[4, 4, 3, 9], 5]
    assert grid.count == 8 and len(list(grid)) == 8
    assert grid.shape((3, 1)) == (9, 5) and grid.region((3, 1)) == (slice(11, 12), slice(5, 7))
    assert Grid({"shape": [8], "chunk_grid": {"name": "rectilinear", "configuration": {"chunk_shapes": [[4, 4, 4]]}}}).sizes[0].count == 2
    # As many chunks as no memory holds, beyond the array.
    for sizes, expected in (([[3, 10**12]], [3, 3]), ([2, [3, 10**12], 7], [2, 3]), ([[0, 5], 4], None)):
        document = {"shape": [5], "chunk_grid": {"name": "rectilinear", "configuration": {"chunk_shapes": [sizes]}}}
        if expected is None:
            with pytest.raises(ValueError, match="a chunk has at least one element"):
                Grid(document)
        else:
            assert Grid(document).chunks == [expected]
    assert list(Grid({"shape": [0, 5], "chunks": [3, 3]})) == []
    assert list(Grid({"shape": [], "chunks": []})) == [()]
    assert list(Grid({"shape": [2, 4], "chunks": [1, 2]})) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert next(iter(Grid({"shape": [10**18, 10**18], "chunks": [1, 1]}))) == (0, 0)


def test_what_convert_does_not_copy_is_named(tmp_path, capsys):
    zarr.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype="uint16")[...] = 5
    document = json.loads((tmp_path / "a/zarr.json").read_text())
    document["extension"] = {"must_understand": False}
    (tmp_path / "a/zarr.json").write_text(json.dumps(document))
    assert main(["convert", str(tmp_path / "a"), str(tmp_path / "b"), "--codecs", json.dumps([LITTLE])]) == 0
    assert "zcodec: the member 'extension' of the zarr.json is not copied" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:The ")
def test_the_size_of_texts_is_unknown(tmp_path, capsys):
    zarr.create_array(tmp_path / "a", shape=(6,), chunks=(2,), dtype=str)[...] = "text"
    assert main(["inspect", str(tmp_path / "a")]) == 0
    assert "size      unknown, stored " in capsys.readouterr().out
