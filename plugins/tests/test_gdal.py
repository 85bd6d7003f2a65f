"""gdal_zcodec.so in the GDAL of rasterio's wheel. GDAL_DRIVER_PATH names its directory."""

import ctypes
import json
import os
import shutil
import tempfile
import threading
import unittest

import numpy as np

import arrays
import numcodecs
import rasterio
import zarr
from rasterio.errors import RasterioIOError

# Prints what a GDAL without the plugin has itself.
LIST = """
import ctypes, sys, arrays, rasterio
library = ctypes.CDLL(arrays.loaded_library("libgdal"))
library.CPLGetDecompressor.restype = ctypes.c_void_p
codecs = {arrays.codec_id(name) for name in arrays.CODECS}
print(*(codec for codec in codecs if library.CPLGetDecompressor(codec.encode())))
"""
OF_GDAL = set(arrays.run(LIST, {"GDAL_DRIVER_PATH": "disable", "PYTHONPATH": os.path.dirname(__file__)}).stdout.split())


def messages(error):
    """The texts of an exception and of those that it came from: rasterio hands GDAL's errors over as causes."""
    texts = []
    while error is not None:
        texts.append(str(error))
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


def read(path, **options):
    with rasterio.Env(**options), rasterio.open(f'ZARR:"{path}"') as dataset:
        return dataset.read(1)


def write(path, data, codec, options=None, environment=None):
    creation = {"FORMAT": "ZARR_V2", "COMPRESS": codec, "BLOCKSIZE": ",".join(map(str, arrays.CHUNKS)), **(options or {})}
    height, width = data.shape
    profile = {"width": width, "height": height, "count": 1, "dtype": data.dtype.name}
    with rasterio.Env(**(environment or {})), rasterio.open(path, "w", driver="Zarr", **profile, **creation) as dataset:
        dataset.write(data, 1)
    group, _, _ = next(entry for entry in os.walk(path) if ".zarray" in entry[2])
    with open(os.path.join(group, ".zarray")) as file:
        return group, json.load(file)


class Plugin(unittest.TestCase):
    def setUp(self):
        self.path = tempfile.mkdtemp(suffix=".zarr")
        self.addCleanup(shutil.rmtree, self.path, ignore_errors=True)

    def test_what_zarr_python_wrote_is_read(self):
        for name in arrays.CODECS:
            if name in ("lzma_alone", "shuffle"):
                continue  # GDAL's own lzma reads .xz only; see test_a_compressor_that_cannot_be_decoded_is_an_error
            with self.subTest(name):
                expected = arrays.write(self.path, name)
                np.testing.assert_array_equal(read(self.path), expected)

    def test_what_gdal_wrote_is_read_by_numcodecs(self):
        for codec, options in [
            ("bz2", {}),
            ("bz2", {"BZ2_LEVEL": "9"}),
            ("shuffle", {"SHUFFLE_ELEMENTSIZE": "8"}),
            ("fletcher32", {}),
            ("jenkins_lookup3", {}),
            ("jenkins_lookup3", {"JENKINS_LOOKUP3_INITVAL": "12"}),
            ("crc32", {}),
            ("crc32", {"CRC32_LOCATION": "end"}),
            ("crc32c", {}),
            ("adler32", {}),
            ("zfpy", {}),
            ("zfpy", {"ZFPY_MODE": "3", "ZFPY_PRECISION": "18"}),
            ("pcodec", {}),
            ("pcodec", {"PCODEC_LEVEL": "3", "PCODEC_MODE_SPEC": "classic"}),
        ]:
            with self.subTest(codec=codec, options=options):
                data = arrays.elements("float64")
                shutil.rmtree(self.path)
                chunk = {"ZCODEC_DATA_TYPE": "float64", "ZCODEC_CHUNK_SHAPE": "32,40"}
                group, document = write(self.path, data, codec, options, chunk)
                self.assertEqual(document["compressor"]["id"], codec)
                stored = zarr.open(group, mode="r")[:]
                if codec == "zfpy" and options:
                    peer = numcodecs.zfpy.ZFPY(mode=3, precision=18)
                    corner = np.ascontiguousarray(data[:32, :40])
                    np.testing.assert_array_equal(stored[:32, :40], peer.decode(peer.encode(corner)))
                else:
                    np.testing.assert_array_equal(stored, data)

    def test_the_id_is_no_choice(self):
        shutil.rmtree(self.path)
        with self.assertRaises(RasterioIOError) as caught:
            write(self.path, arrays.elements("float64"), "bz2", {"BZ2_ID": "lz4"})
        self.assertIn("the option ID is the name of another codec", messages(caught.exception))

    def test_codecs_of_gdal_are_not_replaced(self):
        arrays.write(self.path, "bz2")
        read(self.path)
        library = ctypes.CDLL(arrays.loaded_library("libgdal"))
        self.assertLess({"zlib", "gzip", "zstd"}, OF_GDAL)
        for direction in ("CPLGetCompressor", "CPLGetDecompressor"):
            get = getattr(library, direction)
            get.restype, get.argtypes = ctypes.POINTER(Compressor), [ctypes.c_char_p]
            for codec in sorted({arrays.codec_id(name) for name in arrays.CODECS}):
                owner = owner_of(get(codec.encode()).contents.function)
                self.assertEqual("libgdal" in owner, codec in OF_GDAL, f"{direction} {codec}: {owner}")

    def test_results_are_given_in_each_way_that_gdal_documents(self):
        arrays.write(self.path, "bz2")
        read(self.path)
        library = ctypes.CDLL(arrays.loaded_library("rasterio.libs/libgdal"))
        library.VSIFree.argtypes = [ctypes.c_void_p]
        plain = bytes(range(256)) * 40
        for codec in sorted({arrays.codec_id(name) for name in arrays.CODECS} - OF_GDAL - {"shuffle", "zfpy", "pcodec"}):
            with self.subTest(codec):
                peer = numcodecs.get_codec({"id": codec})
                encoded = bytes(peer.encode(plain))
                for direction, data, expected in [
                    ("CPLGetCompressor", plain, encoded),
                    ("CPLGetDecompressor", encoded, plain),
                ]:
                    get = getattr(library, direction)
                    get.restype, get.argtypes = ctypes.POINTER(Compressor), [ctypes.c_char_p]
                    compressor = get(codec.encode()).contents
                    function = FUNCTION(compressor.function)

                    def call(output, size, data=data, function=function, compressor=compressor):
                        return function(data, len(data), output, ctypes.byref(size), None, compressor.user_data)

                    # The size alone: what would do.
                    size = ctypes.c_size_t(0)
                    self.assertTrue(call(None, size))
                    self.assertGreaterEqual(size.value, len(expected) if direction == "CPLGetDecompressor" else 1)
                    # New memory of GDAL's.
                    output, size = ctypes.c_void_p(), ctypes.c_size_t(0)
                    self.assertTrue(call(ctypes.byref(output), size))
                    result = ctypes.string_at(output, size.value)
                    library.VSIFree(output)
                    self.assertEqual(plain, result if data is encoded else bytes(peer.decode(result)))
                    # Memory that GDAL has; too little says how much would do.
                    memory = ctypes.create_string_buffer(2 * len(plain))
                    output, size = ctypes.c_void_p(ctypes.addressof(memory)), ctypes.c_size_t(len(memory))
                    self.assertTrue(call(ctypes.byref(output), size))
                    self.assertEqual(memory.raw[: size.value], result)
                    small = ctypes.c_size_t(10)
                    self.assertFalse(call(ctypes.byref(output), small))
                    self.assertGreaterEqual(small.value, size.value)
                    # No way at all.
                    self.assertFalse(call(ctypes.byref(output), ctypes.c_size_t(0)))

    def test_arrays_are_decoded_to_new_memory(self):
        arrays.write(self.path, "bz2")
        read(self.path)
        library = ctypes.CDLL(arrays.loaded_library("rasterio.libs/libgdal"))
        library.VSIFree.argtypes = [ctypes.c_void_p]
        for name, (codec, dtype) in arrays.CODECS.items():
            if arrays.codec_id(name) not in ("zfpy", "pcodec"):
                continue
            with self.subTest(name):
                corner = arrays.corner(name)
                encoded = bytes(codec.encode(corner))
                library.CPLGetDecompressor.restype = ctypes.POINTER(Compressor)
                compressor = library.CPLGetDecompressor(arrays.codec_id(name).encode()).contents
                function = FUNCTION(compressor.function)
                for data, is_right in [(encoded, True), (encoded[: len(encoded) // 2], False)]:
                    output, size = ctypes.c_void_p(), ctypes.c_size_t(0)
                    pointers = ctypes.byref(output), ctypes.byref(size)
                    self.assertEqual(function(data, len(data), *pointers, None, compressor.user_data), is_right)
                    if is_right:
                        found = np.frombuffer(ctypes.string_at(output, size.value), dtype)
                        np.testing.assert_array_equal(found, arrays.decode(codec, encoded, corner).ravel())
                        library.VSIFree(output)
                    else:
                        self.assertEqual((output.value, size.value), (None, 0))

    def test_filters_get_their_configuration(self):
        expected = arrays.write(self.path, "zlib", filters=[numcodecs.Shuffle(elementsize=2)])
        np.testing.assert_array_equal(read(self.path), expected)
        expected = arrays.write(self.path, "zlib", filters=[numcodecs.pcodec.PCodec(level=2)])
        np.testing.assert_array_equal(read(self.path), expected)
        # A checksum as a filter is larger than what GDAL holds for it: its limit, and its error.
        arrays.write(self.path, "zlib", filters=[numcodecs.CRC32(location="end")])
        with self.assertRaises(RasterioIOError):
            read(self.path)

    def test_a_compressor_that_cannot_be_decoded_is_an_error(self):
        arrays.write(self.path, "shuffle")  # GDAL does not say that elementsize is 8
        with self.assertRaises(RasterioIOError) as caught:
            read(self.path)
        self.assertIn("zcodec: GDAL tells a compressor none of its options", messages(caught.exception))

    def test_damaged_chunks_are_errors_of_gdal_with_our_message(self):
        for name in arrays.CODECS:
            if arrays.codec_id(name) in OF_GDAL | {"shuffle"}:
                continue
            expected = arrays.write(self.path, name)
            file = arrays.chunk_file(self.path)
            with open(file, "rb") as chunk:
                intact = chunk.read()
            for what, damaged in arrays.damages(intact):
                with self.subTest(name, damage=what):
                    with open(file, "wb") as chunk:
                        chunk.write(damaged)
                    try:
                        data = read(self.path)
                    except RasterioIOError as error:
                        if damaged:  # GDAL itself refuses an empty file
                            self.assertRegex(messages(error), "zcodec: ")
                    else:
                        # Without a checksum a wrong byte is another value, or none at all.
                        self.assertIn(arrays.codec_id(name), {"lz4", "zfpy", "pcodec"}, "damage was not seen")
                        self.assertEqual(data.shape, expected.shape)

    def test_wrong_options_are_errors_of_gdal_with_our_message(self):
        data = arrays.elements("float32")
        chunk = {"ZCODEC_DATA_TYPE": "float32", "ZCODEC_CHUNK_SHAPE": "32,40"}
        for codec, options, environment, message in [
            ("bz2", {"BZ2_LEVEL": "77"}, {}, "level is 77"),
            ("crc32", {"CRC32_LOCATION": "middle"}, {}, 'location is "middle"'),
            ("zfpy", {"ZFPY_MODE": "9"}, chunk, "mode is 9"),
            ("zfpy", {}, {}, "set ZCODEC_DATA_TYPE"),
            ("zfpy", {}, {**chunk, "ZCODEC_DATA_TYPE": "uint8"}, "uint8"),
            ("zfpy", {}, {**chunk, "ZCODEC_DATA_TYPE": '"}]'}, "ZCODEC_DATA_TYPE is not"),
            ("pcodec", {}, {**chunk, "ZCODEC_CHUNK_SHAPE": "32;40"}, "ZCODEC_CHUNK_SHAPE is not"),
            ("pcodec", {}, {**chunk, "ZCODEC_CHUNK_SHAPE": "32,41"}, "5120"),
            ("pcodec", {"PCODEC_MODE_SPEC": "none\n\"\\"}, chunk, "mode_spec is"),
            ("zlib", {"FILTER": "fletcher32"}, {}, "zcodec: "),
        ]:
            with self.subTest(codec=codec, options=options, environment=environment):
                shutil.rmtree(self.path, ignore_errors=True)
                with self.assertRaises(RasterioIOError) as caught:
                    write(self.path, data, codec, options, environment)
                self.assertIn(message, messages(caught.exception))

    def test_threads_read_at_once(self):
        expected = arrays.write(self.path, "pcodec")
        results = [None] * 8

        def work(index):
            results[index] = [np.array_equal(read(self.path), expected) for _ in range(5)]

        threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [[True] * 5] * 8)

    def test_the_plugin_twice_and_another_zcodec_in_the_process(self):
        expected = arrays.write(self.path, "bz2")
        with tempfile.TemporaryDirectory() as directory:
            copies = [os.path.join(directory, name) for name in "ab"]
            for copy in copies:
                shutil.copytree(os.environ["GDAL_DRIVER_PATH"], copy)
            code = (
                "import ctypes, os, sys\n"
                "library = os.environ.get('ZCODEC_LIBRARY')\n"
                "if library: ctypes.CDLL(library, ctypes.RTLD_GLOBAL)\n"
                "import rasterio\n"
                "data = rasterio.open(f'ZARR:\"{sys.argv[1]}\"').read(1)\n"
                "sys.stdout.write(str(data.astype('f8').sum()))"
            )
            result = arrays.run(code, {"GDAL_DRIVER_PATH": ":".join(copies)}, self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(float(result.stdout), expected.astype("f8").sum())

    def test_two_gdals_in_the_process_each_get_their_own_errors(self):
        intact, damaged = self.path, os.path.join(self.path, "damaged")
        arrays.write(intact, "bz2")
        arrays.write(damaged, "bz2")
        with open(arrays.chunk_file(damaged), "wb") as chunk:
            chunk.write(b"BZh")
        code = (
            "import sys, test_gdal as t, ctypes, arrays\n"
            "for step in sys.argv[3].split():\n"
            "    if step == 'pyogrio': import pyogrio; pyogrio.list_drivers()\n"
            "    if step == 'rasterio': t.read(sys.argv[1])\n"
            "library = ctypes.CDLL(arrays.loaded_library('pyogrio.libs/libgdal'))\n"
            "library.CPLGetDecompressor.restype = ctypes.c_void_p\n"
            "assert library.CPLGetDecompressor(b'bz2'), 'not in the GDAL of pyogrio'\n"
            "try: t.read(sys.argv[2])\n"
            "except t.RasterioIOError as error: print(t.messages(error))\n"
        )
        for order in ("rasterio pyogrio", "pyogrio rasterio"):
            with self.subTest(order):
                environment = {"PYTHONPATH": os.path.dirname(os.path.abspath(__file__))}
                result = arrays.run(code, environment, intact, damaged, order)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn('zcodec: codecs[0] "numcodecs.bz2"', result.stdout)


class Compressor(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int),
        ("id", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("metadata", ctypes.c_void_p),
        ("function", ctypes.c_void_p),
        ("user_data", ctypes.c_void_p),
    ]


FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_bool,
    ctypes.c_char_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


def owner_of(address):
    with open("/proc/self/maps") as maps:
        for line in maps:
            start, end = (int(number, 16) for number in line.split()[0].split("-"))
            if start <= address < end:
                return line.split()[-1]
    return "nothing"


if __name__ == "__main__":
    unittest.main()
