"""The plugins in the machine's own GDAL, and in the HDF5 that it has, by the command gdalmdimtranslate. GDAL_DRIVER_PATH and
HDF5_PLUGIN_PATH, if they are tested, name their directories."""

import os
import subprocess
import tempfile
import unittest

import numpy as np

import arrays
import h5py
import parameters
import zarr


def translate(source, target, *options, environment=None):
    command = ["gdalmdimtranslate", "-q", "-of", "Zarr", "-co", "FORMAT=ZARR_V2", *options, source, target]
    merged = {**os.environ, **(environment or {})}
    return subprocess.run(command, env=merged, text=True, capture_output=True, timeout=300)


class Tools(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def group(self, name):
        path = os.path.join(self.directory.name, f"{name}.zarr")
        zarr.create_group(path, zarr_format=2)
        return path

    def test_what_zarr_python_wrote_is_read(self):
        for name in arrays.CODECS:
            if name in ("lzma_alone", "shuffle"):
                continue  # as in test_gdal.py
            with self.subTest(name):
                source, target = self.group(name), os.path.join(self.directory.name, f"{name}-plain.zarr")
                expected = arrays.write(os.path.join(source, "array"), name)
                result = translate(source, target)
                self.assertEqual(result.returncode, 0, result.stderr)
                np.testing.assert_array_equal(zarr.open(target, mode="r")["array"][:], expected)

    def test_what_gdal_wrote_is_read_by_numcodecs(self):
        source = self.group("source")
        zarr.create_array(os.path.join(source, "array"), data=arrays.elements("<f8"), zarr_format=2, compressors=None)
        chunk = {"ZCODEC_DATA_TYPE": "float64", "ZCODEC_CHUNK_SHAPE": "32,40"}
        for codec in ("bz2", "fletcher32", "crc32", "crc32c", "adler32", "jenkins_lookup3", "zfpy", "pcodec"):
            with self.subTest(codec):
                target = os.path.join(self.directory.name, f"{codec}.zarr")
                options = ["-co", f"ARRAY:COMPRESS={codec}", "-co", "ARRAY:BLOCKSIZE=32,40"]
                result = translate(source, target, *options, environment=chunk)
                self.assertEqual(result.returncode, 0, result.stderr)
                array = zarr.open(target, mode="r")["array"]
                self.assertEqual(array.compressors[0].codec_id, codec)
                np.testing.assert_array_equal(array[:], arrays.elements("<f8"))

    def test_a_damaged_chunk_is_an_error_of_gdal_with_our_message(self):
        source = self.group("damaged")
        arrays.write(os.path.join(source, "array"), "fletcher32")
        with open(os.path.join(source, "array", "0.0"), "r+b") as chunk:
            chunk.write(b"\xff")
        result = translate(source, os.path.join(self.directory.name, "target.zarr"))
        # GDAL 3.6 says so, and exits with 0 all the same.
        self.assertIn('ERROR 1: zcodec: codecs[0] "numcodecs.fletcher32": the checksum stored is', result.stderr)
        self.assertIn("ERROR 1: Decompression of tile", result.stderr)

    @unittest.skipUnless("HDF5_PLUGIN_PATH" in os.environ, "the plugins for HDF5 are not built")
    def test_what_h5py_wrote_is_read_by_the_hdf5_of_gdal(self):
        source = os.path.join(self.directory.name, "file.h5")
        for name in ("bz2", "lzma", "crc32_end", "zfpy_accuracy", "pcodec"):
            codec, dtype = arrays.CODECS[name]
            configuration = codec.get_config()
            number, values = parameters.NUMBERS[configuration["id"]], parameters.of(configuration)
            with self.subTest(name):
                data = {"data": arrays.elements(dtype), "chunks": arrays.CHUNKS}
                with h5py.File(source, "w", libver=("earliest", "v110")) as file:
                    file.create_dataset("array", compression=number, compression_opts=values, **data)
                with h5py.File(source) as file:
                    expected = file["array"][:]
                target = os.path.join(self.directory.name, f"{name}.zarr")
                result = translate(source, target)
                self.assertEqual(result.returncode, 0, result.stderr)
                np.testing.assert_array_equal(zarr.open(target, mode="r")["array"][:], expected)


if __name__ == "__main__":
    unittest.main()
