"""The plugins in the netCDF-C of netCDF4's wheel: arrays of Zarr v2 as NCZarr. HDF5_PLUGIN_PATH names their directory."""

import ctypes
import json
import lzma
import os
import shutil
import sys
import tempfile
import unittest

import numpy as np

import arrays
import numcodecs
import parameters
import zarr

import netCDF4

netcdf = ctypes.CDLL(arrays.loaded_library("libnetcdf"))


class Outcome:
    """What became of reading all of the array "array", and what was logged: netCDF-C writes its log to file 2."""

    def __init__(self, path):
        with tempfile.TemporaryFile() as log:
            stderr = os.dup(2)
            os.dup2(log.fileno(), 2)
            try:
                with netCDF4.Dataset(url(path)) as dataset:
                    dataset["array"][:]
                self.error = None
            except Exception as error:
                self.error = f"{type(error).__name__}: {error}"
            finally:
                os.dup2(stderr, 2)
                os.close(stderr)
            log.seek(0)
            self.log = log.read().decode()


def url(path):
    return f"file://{path}#mode=zarr,file"


def text_attribute(variable, name):
    size = ctypes.c_size_t()
    if netcdf.nc_inq_attlen(variable._grpid, variable._varid, name, ctypes.byref(size)):
        return None
    content = ctypes.create_string_buffer(size.value + 1)
    status = netcdf.nc_get_att_text(variable._grpid, variable._varid, name, content)
    return content.value.decode() if status == 0 else None


def listing(path):
    """What `ncdump -s` says of an array, by netCDF-C."""
    with netCDF4.Dataset(url(path)) as dataset:
        variable = dataset["array"]
        sizes = [f"{name} = {len(dimension)} ;" for name, dimension in dataset.dimensions.items()]
        codecs = json.loads(text_attribute(variable, b"_Codecs"))
        return [
            *sorted(sizes),
            f"{variable.dtype.str} array({', '.join(variable.dimensions)}) ;",
            f"_ChunkSizes = {variable.chunking()} ;",
            *(f"_Codec = {json.dumps(codec, sort_keys=True)}" for codec in codecs),
            str(np.asarray(variable[:]).tolist()),
        ]


def expected_listing(path):
    """The same, by zarr-python."""
    array = zarr.open(os.path.join(path, "array"), mode="r")
    with open(os.path.join(path, "array", ".zarray")) as file:
        document = json.load(file)
    codecs = [*(document["filters"] or []), document["compressor"]]
    return [
        *sorted(f"{name} = {size} ;" for name, size in zip("yx", array.shape)),
        f"{array.dtype.str} array(y, x) ;",
        f"_ChunkSizes = {list(array.chunks)} ;",
        *(f"_Codec = {json.dumps(codec, sort_keys=True)}" for codec in codecs),
        str(array[:].tolist()),
    ]


def define_filter(variable, number, values):
    values = (ctypes.c_uint * len(values))(*values)
    return netcdf.nc_def_var_filter(variable._grpid, variable._varid, number, ctypes.c_size_t(len(values)), values)


class Plugins(unittest.TestCase):
    def setUp(self):
        self.path = tempfile.mkdtemp(suffix=".zarr")
        self.addCleanup(shutil.rmtree, self.path, ignore_errors=True)

    def write(self, name, filters=None):
        zarr.create_group(self.path, zarr_format=2, overwrite=True)
        attributes = {"_ARRAY_DIMENSIONS": ["y", "x"]}
        return arrays.write(os.path.join(self.path, "array"), name, attributes, filters)

    def test_what_zarr_python_wrote_is_listed_and_read(self):
        for name in arrays.CODECS:
            with self.subTest(name):
                self.write(name)
                self.assertEqual(listing(self.path), expected_listing(self.path))

    def test_filters_and_a_compressor(self):
        checked = [numcodecs.Shuffle(elementsize=2), numcodecs.CRC32(location="end")]
        for filters in (checked, [numcodecs.pcodec.PCodec(level=2)]):
            self.write("bz2", filters)
            self.assertEqual(listing(self.path), expected_listing(self.path))

    def test_a_shuffle_by_0_is_by_the_size_of_an_element(self):
        elements = self.write("shuffle")
        path = os.path.join(self.path, "array", ".zarray")
        with open(path) as file:
            document = json.load(file)
        document["compressor"]["elementsize"] = 0
        with open(path, "w") as file:
            json.dump(document, file)
        with netCDF4.Dataset(url(self.path)) as dataset:
            np.testing.assert_array_equal(dataset["array"][:], elements)

    def test_metadata_of_gdal_and_of_other_plugins_are_read(self):
        for name, codec in [
            ("lzma", {"id": "lzma", "delta": 1}),
            ("blosc", {"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": "BIT", "blocksize": 0}),
            ("zstd", {"id": "zstd", "level": 4294967291, "checksum": "NO"}),
        ]:
            with self.subTest(name):
                elements = self.write(name)
                path = os.path.join(self.path, "array", ".zarray")
                with open(path) as file:
                    document = json.load(file)
                document["compressor"] = codec
                with open(path, "w") as file:
                    json.dump(document, file)
                if name == "lzma":
                    self.add_delta_filters()
                with netCDF4.Dataset(url(self.path)) as dataset:
                    np.testing.assert_array_equal(dataset["array"][:], elements)

    def add_delta_filters(self):
        filters = [{"id": lzma.FILTER_DELTA, "dist": 1}, {"id": lzma.FILTER_LZMA2, "preset": 1}]
        folder = os.path.join(self.path, "array")
        for name in os.listdir(folder):
            if not name.startswith("."):
                with open(os.path.join(folder, name), "r+b") as chunk:
                    elements = lzma.decompress(chunk.read())
                    chunk.seek(0)
                    chunk.truncate()
                    chunk.write(lzma.compress(elements, filters=filters))

    def test_zstd_is_that_of_netcdf(self):
        """`filters()` calls nc_inq_var_zstandard, which wants one parameter."""
        for name, level in [("zstd", 3), ("zstd_checksum", None)]:
            self.write(name)
            with netCDF4.Dataset(url(self.path)) as dataset:
                filters = dataset["array"].filters()
            self.assertEqual(filters["complevel"] if filters["zstd"] else None, level)

    def test_what_netcdf_wrote_is_read_by_zarr_python(self):
        for name, (codec, dtype) in arrays.CODECS.items():
            with self.subTest(name):
                shutil.rmtree(self.path)
                configuration = codec.get_config()
                with netCDF4.Dataset(url(self.path), "w") as dataset:
                    for dimension, size in zip("yx", arrays.SHAPE):
                        dataset.createDimension(dimension, size)
                    array = dataset.createVariable("array", dtype, ("y", "x"), chunksizes=arrays.CHUNKS, fill_value=0)
                    number = parameters.NUMBERS[configuration["id"]]
                    self.assertEqual(define_filter(array, number, parameters.of(configuration)), 0)
                    array[:] = arrays.elements(dtype)
                stored = zarr.open(os.path.join(self.path, "array"), mode="r")
                corner = arrays.corner(name)
                peer = arrays.decode(codec, codec.encode(corner), corner)
                np.testing.assert_array_equal(stored[:32, :40], peer)
                found = stored.compressors[0].get_config()
                known = {member: found[member] for member in found if member in configuration}
                self.assertEqual(known, {member: configuration[member] for member in known})

    def test_a_shuffle_of_netcdf_is_read_by_zarr_python(self):
        # netCDF-C gives shuffle no parameter, or 0.
        for dtype in ("i2", "u4", "f4", "f8"):
            for values in (None, (), (0,)):
                with self.subTest(dtype, values=values):
                    shutil.rmtree(self.path)
                    elements = np.arange(1000, 1021).astype(dtype)
                    with netCDF4.Dataset(url(self.path), "w") as dataset:
                        dataset.createDimension("x", 21)
                        options = {"zlib": True} if values is None else {"zlib": False}
                        array = dataset.createVariable("array", dtype, ("x",), chunksizes=(7,), **options)
                        if values is not None:
                            self.assertEqual(define_filter(array, parameters.NUMBERS["shuffle"], values), 0)
                        array[:] = elements
                    stored = zarr.open(os.path.join(self.path, "array"), mode="r")
                    np.testing.assert_array_equal(stored[:], elements)
                    with netCDF4.Dataset(url(self.path)) as dataset:
                        np.testing.assert_array_equal(dataset["array"][:], elements)

    def test_an_array_that_is_refused_leaves_the_others_readable(self):
        elements = self.write("bz2")
        bad = os.path.join(self.path, "bad")
        for change in (
            {"compressor": {"id": "bz2", "level": 33}},
            {"compressor": {"id": "zfpy"}, "dtype": {"little": ">", "big": "<"}[sys.byteorder] + "f4"},
            {"compressor": {"id": "zfpy"}, "filters": [{"id": "bz2", "level": 1}]},
        ):
            with self.subTest(change):
                shutil.rmtree(bad, ignore_errors=True)
                shutil.copytree(os.path.join(self.path, "array"), bad)
                with open(os.path.join(bad, ".zarray"), "r+") as file:
                    document = {**json.load(file), **change}
                    file.seek(0)
                    file.truncate()
                    json.dump(document, file)
                self.assertIsNone(Outcome(self.path).error)
                with netCDF4.Dataset(url(self.path)) as dataset:
                    np.testing.assert_array_equal(dataset["array"][:], elements)
                    with self.assertRaises(RuntimeError):
                        dataset["bad"][:]

    def test_a_codec_may_be_there_twice(self):
        for codec in (numcodecs.Zlib(1), numcodecs.Fletcher32(), numcodecs.CRC32()):
            with self.subTest(codec.codec_id):
                zarr.create_group(self.path, zarr_format=2, overwrite=True)
                elements = np.arange(20, dtype="i4").reshape(4, 5)
                array = zarr.create_array(
                    os.path.join(self.path, "array"), shape=(4, 5), chunks=(2, 5), dtype="i4", zarr_format=2,
                    filters=[codec], compressors=codec, attributes={"_ARRAY_DIMENSIONS": ["y", "x"]},
                )
                array[:] = elements
                with netCDF4.Dataset(url(self.path)) as dataset:
                    np.testing.assert_array_equal(dataset["array"][:], elements)

    def test_a_codec_of_numbers_takes_no_characters(self):
        shutil.rmtree(self.path)
        with self.assertRaises(RuntimeError):
            with netCDF4.Dataset(url(self.path), "w") as dataset:
                dataset.createDimension("x", 10)
                array = dataset.createVariable("array", "S1", ("x",), chunksizes=(5,))
                self.assertEqual(define_filter(array, parameters.NUMBERS["pcodec"], ()), 0)
                array[:] = np.array([b"a"] * 10)

    def test_damaged_chunks_are_errors_of_netcdf_with_our_message_in_its_log(self):
        for name in ("bz2", "lzma", "blosc", "zstd", "fletcher32", "crc32_end", "zfpy_rate", "pcodec"):
            self.write(name)
            file = arrays.chunk_file(os.path.join(self.path, "array"))
            with open(file, "rb") as chunk:
                intact = chunk.read()
            for damaged in (intact[: len(intact) // 2], intact[:3], b"\xff" + intact[1:], intact[:100] + intact):
                with self.subTest(name, size=len(damaged)):
                    with open(file, "wb") as chunk:
                        chunk.write(damaged)
                    outcome = Outcome(self.path)
                    self.assertIn("RuntimeError: NetCDF: ", outcome.error)
                    self.assertIn("ERR: zcodec: codecs", outcome.log)

    def test_a_chunk_of_another_size_is_an_error(self):
        # netCDF-C itself would read past the end of it.
        for name in sorted(arrays.CODECS):
            with self.subTest(name):
                self.write(name)
                codec, dtype = arrays.CODECS[name]
                file = arrays.chunk_file(os.path.join(self.path, "array"))
                with open(file, "wb") as chunk:
                    chunk.write(bytes(codec.encode(np.ones((2, 3), dtype))))
                outcome = Outcome(self.path)
                self.assertIn("RuntimeError: NetCDF: ", outcome.error)
                self.assertIn("zcodec: ", outcome.log)

    def test_wrong_metadata_are_errors_of_netcdf_with_our_message_in_its_log(self):
        self.write("bz2")
        document_file = os.path.join(self.path, "array", ".zarray")
        with open(document_file) as file:
            document = json.load(file)
        for codec, message in [
            ({"id": "bz2", "level": 33}, "level is 33"),
            ({"id": "bz2", "level": "high"}, '"level" is not an integer of 32 bits: "high"'),
            ({"id": "bz2", "levels": 3}, 'the codec has no member "levels"'),
            ({"id": "crc32", "location": "middle"}, 'location is "middle"'),
            ({"id": "zfpy", "mode": 7}, "mode is 7"),
            ({"id": "pcodec", "level": [1]}, "level is [1]"),
            ({"id": "lzma", "x" * 70000: 1}, "bytes, expected at most 65536"),
        ]:
            with self.subTest(codec=str(codec)[:60]):
                document["compressor"] = codec
                with open(document_file, "w") as file:
                    json.dump(document, file)
                outcome = Outcome(self.path)
                self.assertIsNotNone(outcome.error)
                self.assertIn(message, outcome.log)
        swapped = {"little": ">", "big": "<"}[sys.byteorder]
        for change in ({"filters": [{"id": "bz2", "level": 1}]}, {"filters": None, "dtype": f"{swapped}f4"}):
            document.update(compressor={"id": "zfpy"}, **change)
            with open(document_file, "w") as file:
                json.dump(document, file)
            message = '"zfpy": it must be the first filter, and takes numbers in the machine\'s byte order'
            self.assertIn(message, Outcome(self.path).log)

    def test_wrong_parameters_are_errors_of_netcdf(self):
        for codec, values in [
            ("bz2", (99,)),
            ("lz4", parameters.text("[1]")),
            ("lz4", parameters.text('{"acceleration": "x"')),
            ("lz4", (4000000000, 1)),
            ("pcodec", parameters.text({"level": 99})),
            ("pcodec", (8, 1)),
            ("blosc", (2, 2, 4, 0, 5, 1, 77)),
        ]:
            with self.subTest(codec, values=values):
                shutil.rmtree(self.path)
                code = (
                    "import sys, test_netcdf as t, netCDF4, arrays\n"
                    "dataset = netCDF4.Dataset(t.url(sys.argv[1]), 'w')\n"
                    "dataset.createDimension('x', 10)\n"
                    "array = dataset.createVariable('array', 'f4', ('x',), chunksizes=(5,))\n"
                    "assert t.define_filter(array, int(sys.argv[2]), eval(sys.argv[3])) == 0\n"
                    "array[:] = 7\n"
                    "dataset.close()\n"
                )
                number, here = str(parameters.NUMBERS[codec]), os.path.dirname(os.path.abspath(__file__))
                result = arrays.run(code, {"PYTHONPATH": here}, self.path, number, repr(values))
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("zcodec: ", result.stderr)
                self.assertIn("RuntimeError: NetCDF: Filter error", result.stderr)

    def test_the_plugins_twice_with_those_of_netcdf_and_another_zcodec(self):
        self.write("blosc", [numcodecs.Fletcher32()])
        directory = os.environ["HDF5_PLUGIN_PATH"]
        others = os.path.join(os.path.dirname(netCDF4.__file__), "plugins")
        with tempfile.TemporaryDirectory() as copy:
            shutil.copytree(directory, copy, dirs_exist_ok=True)
            for path in (f"{directory}:{copy}:{others}", f"{others}:{copy}:{directory}"):
                code = "import ctypes, os\nlibrary = os.environ.get('ZCODEC_LIBRARY')\n"
                code += "if library: ctypes.CDLL(library, ctypes.RTLD_GLOBAL)\n"
                code += "import sys, netCDF4\nnetCDF4.Dataset(sys.argv[1])['array'][:]\n"
                result = arrays.run(code, {"HDF5_PLUGIN_PATH": path}, url(self.path))
                self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
