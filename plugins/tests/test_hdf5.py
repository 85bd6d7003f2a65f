"""The plugins as filters of HDF5, in the HDF5 of h5py's wheel. HDF5_PLUGIN_PATH names their directory."""

import bz2
import ctypes
import os
import shutil
import tempfile
import unittest

import numpy as np

import arrays
import h5py
import parameters

# HDF5 has these itself, and asks for no plugin.
OF_HDF5 = {"zlib", "shuffle", "fletcher32"}


class Filters(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "file.h5")

    def write(self, codec, values, data, chunks=arrays.CHUNKS, **options):
        with h5py.File(self.path, "w") as file:
            number = parameters.NUMBERS[codec]
            file.create_dataset("array", data=data, chunks=chunks, compression=number, compression_opts=values, **options)

    def read(self):
        with h5py.File(self.path, "r") as file:
            return file["array"][:]

    def test_elements_come_back_as_numcodecs_gives_them(self):
        for name, (codec, dtype) in arrays.CODECS.items():
            configuration = codec.get_config()
            if configuration["id"] in OF_HDF5:
                continue
            with self.subTest(name):
                data = arrays.elements(dtype)
                self.write(configuration["id"], parameters.of(configuration), data)
                corner = arrays.corner(name)
                peer = arrays.decode(codec, codec.encode(corner), corner)
                np.testing.assert_array_equal(self.read()[:32, :40], peer)

    def test_chunks_are_those_of_numcodecs(self):
        for name, (codec, dtype) in arrays.CODECS.items():
            configuration = codec.get_config()
            if configuration["id"] in OF_HDF5:
                continue
            with self.subTest(name):
                data = arrays.elements(dtype)
                self.write(configuration["id"], parameters.of(configuration), data)
                corner = arrays.corner(name)
                with h5py.File(self.path, "r+") as file:
                    _, chunk = file["array"].id.read_direct_chunk((0, 0))
                    decoded = arrays.decode(codec, chunk, corner)
                    file["array"].id.write_direct_chunk((0, 0), bytes(codec.encode(corner)))
                np.testing.assert_array_equal(self.read()[:32, :40], decoded)

    def test_no_parameters_are_the_standard(self):
        data = arrays.elements("f4")
        for codec in set(parameters.NUMBERS) - OF_HDF5 - {"blosc"}:
            with self.subTest(codec):
                self.write(codec, (), data)
                np.testing.assert_array_equal(self.read(), data)

    def test_with_filters_of_hdf5(self):
        data = arrays.elements("i4")
        for codec in ("bz2", "lz4", "crc32"):
            with self.subTest(codec):
                self.write(codec, (), data, shuffle=True, fletcher32=True)
                np.testing.assert_array_equal(self.read(), data)

    def test_wrong_parameters_are_errors_of_hdf5_with_our_message(self):
        data = arrays.elements("f4")
        for codec, values, message in [
            ("bz2", (99,), "level is 99"),
            ("blosc", (0, 0, 0, 0, 5, 1, 77), "cname is 77"),
            ("lz4", parameters.text("[1]"), '"lz4": the filter\'s parameters are not a JSON object'),
            ("lz4", (4000000000, 1), "the filter's parameters are not a JSON object"),
            ("crc32", parameters.text({"location": "middle"}), 'location is "middle"'),
            ("pcodec", parameters.text({"level": 99}), "level is 99"),
        ]:
            with self.subTest(codec, values=values[:2]):
                with self.assertRaises((OSError, ValueError, RuntimeError)) as caught:
                    self.write(codec, values, data)
                self.assertIn(message, str(caught.exception))

    def test_a_configuration_that_is_too_long_is_an_error(self):
        # 990 bytes of text are 256 parameters only with the array that is stored with them.
        for is_first, size in ((True, 2000), (False, 2000), (True, 990)):
            with self.subTest(is_first=is_first, size=size):
                properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                properties.set_chunk((10,))
                if not is_first:
                    properties.set_shuffle()
                properties.set_filter(parameters.NUMBERS["gzip"], 0, parameters.text({"level": 3, "x" * size: 1}))
                space = h5py.h5s.create_simple((20,))
                with h5py.File(self.path, "w") as file:
                    with self.assertRaises((OSError, ValueError, RuntimeError)) as caught:
                        h5py.h5d.create(file.id, b"array", h5py.h5t.NATIVE_INT32, space, properties)
                self.assertIn("zcodec: the configuration is longer", str(caught.exception))

    def test_the_parameters_of_another_dataset_may_be_used_again(self):
        data = np.arange(4000, dtype="i4").reshape(40, 100)
        with h5py.File(self.path, "w") as file:
            first = file.create_dataset("first", data=data, chunks=(10, 20), compression=parameters.NUMBERS["lz4"])
            number, _, values, _ = first.id.get_create_plist().get_filter(0)
            other = file.create_dataset(
                "other", data=data, chunks=(20, 25), shuffle=True, compression=number, compression_opts=values
            )
            file.flush()
            mask, chunk = other.id.read_direct_chunk((0, 0))
            self.assertEqual(mask, 0, "a chunk was stored without its filter")
            self.assertLess(len(chunk), 2000)
            np.testing.assert_array_equal(other[:], data)

    def test_types_that_the_codec_does_not_take_are_errors_of_hdf5(self):
        for dtype in (">f4", "S3", [("a", "<f4")], "f2"):
            with self.subTest(dtype=dtype), self.assertRaises((OSError, ValueError, RuntimeError)) as caught:
                self.write("zfpy", (), np.zeros(arrays.SHAPE, dtype))
            self.assertIn("zcodec: ", str(caught.exception))
        with self.assertRaises((OSError, ValueError, RuntimeError)) as caught:
            self.write("zfpy", (), np.zeros(arrays.SHAPE, "f4"), shuffle=True)
        self.assertIn("must be the first filter", str(caught.exception))

    def test_damaged_chunks_are_errors_of_hdf5_with_our_message(self):
        for name in ("bz2", "lzma", "gzip", "zstd_checksum", "crc32", "adler32", "jenkins_lookup3", "zfpy_rate", "pcodec"):
            codec, dtype = arrays.CODECS[name]
            configuration = codec.get_config()
            self.write(configuration["id"], parameters.of(configuration), arrays.elements(dtype))
            with h5py.File(self.path, "r") as file:
                _, intact = file["array"].id.read_direct_chunk((0, 0))
            expected = self.read()
            for what, damaged in arrays.damages(intact):
                if not damaged:
                    continue  # HDF5 has no such chunk
                with self.subTest(name, damage=what):
                    with h5py.File(self.path, "r+") as file:
                        file["array"].id.write_direct_chunk((0, 0), damaged)
                    try:
                        data = self.read()
                    except OSError as error:
                        self.assertIn("zcodec: ", str(error))
                    else:
                        # The time in the header of gzip is no damage; zfp and pco cannot see all.
                        seen = name in {"zfpy_rate", "pcodec"} or np.array_equal(data, expected)
                        self.assertTrue(seen, "damage was not seen")

    def test_damaged_chunks_are_read_if_the_caller_wants_no_checks(self):
        transfer = h5py.h5p.create(h5py.h5p.DATASET_XFER)
        with open("/proc/self/maps") as maps:
            library = next(line.split()[-1] for line in maps if "/libhdf5-" in line)
        disable = 0  # H5Z_DISABLE_EDC; h5py has no function for it
        self.assertGreaterEqual(ctypes.CDLL(library).H5Pset_edc_check(ctypes.c_int64(transfer.id), disable), 0)
        for codec, configurations in [
            ("crc32", [{}, {"location": "start"}, {"location": "end"}]),
            ("crc32c", [{}, {"location": "start"}, {"location": "end"}]),
            ("adler32", [{}, {"location": "start"}, {"location": "end"}]),
            ("jenkins_lookup3", [{}, {"initval": 5}]),
        ]:
            for configuration in configurations:
                with self.subTest(codec, **configuration):
                    data = arrays.elements("i4")
                    self.write(codec, parameters.text(configuration), data)
                    with h5py.File(self.path, "r+") as file:
                        dataset = file["array"].id
                        _, chunk = dataset.read_direct_chunk((0, 0))
                        damaged = bytearray(chunk)
                        damaged[len(chunk) // 2] ^= 1
                        dataset.write_direct_chunk((0, 0), bytes(damaged))
                    with h5py.File(self.path, "r") as file:
                        found = np.zeros_like(data)
                        file["array"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, found, dxpl=transfer)
                    self.assertEqual(np.count_nonzero(found != data), 1)
                    with self.assertRaises(OSError):
                        self.read()

    def test_a_chunk_of_another_size_is_an_error(self):
        for name in ("lzma", "gzip", "lz4", "crc32", "zfpy_rate", "pcodec"):
            with self.subTest(name):
                codec, dtype = arrays.CODECS[name]
                configuration = codec.get_config()
                self.write(configuration["id"], parameters.of(configuration), arrays.elements(dtype))
                with h5py.File(self.path, "r+") as file:
                    file["array"].id.write_direct_chunk((0, 0), bytes(codec.encode(np.ones((2, 3), dtype))))
                with self.assertRaises(OSError) as caught:
                    self.read()
                self.assertIn("zcodec: ", str(caught.exception))

    def test_an_empty_chunk_is_an_error_with_our_message(self):
        for codec, empty in (("bz2", bz2.compress(b"")), ("zstd", bytes(arrays.CODECS["zstd"][0].encode(b"")))):
            with self.subTest(codec):
                self.write(codec, (), arrays.elements("f4"))
                with h5py.File(self.path, "r+") as file:
                    file["array"].id.write_direct_chunk((0, 0), empty)
                with self.assertRaises(OSError) as caught:
                    self.read()
                self.assertIn(f'zcodec: "{codec}": the chunk is empty', str(caught.exception))

    def test_the_plugins_twice_and_another_zcodec_and_netcdf_in_the_process(self):
        directory = os.environ["HDF5_PLUGIN_PATH"]
        copy = os.path.join(self.directory, "copy")
        shutil.copytree(directory, copy)
        self.write("pcodec", (), arrays.elements("f4"))
        code = (
            "import ctypes, os, sys\n"
            "library = os.environ.get('ZCODEC_LIBRARY')\n"
            "if library: ctypes.CDLL(library, ctypes.RTLD_GLOBAL)\n"
            "import netCDF4, h5py\n"
            "one = h5py.File(sys.argv[1])['array'][:]\n"
            "other = netCDF4.Dataset(sys.argv[1])['array'][:]\n"
            "assert (one == other).all()\n"
        )
        result = arrays.run(code, {"HDF5_PLUGIN_PATH": f"{copy}:{directory}"}, self.path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
