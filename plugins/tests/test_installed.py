"""What `cmake --install` makes, moved elsewhere, works with one variable set: CMAKE BUILD_DIR LIBDIR [gdal] [hdf5]."""

import os
import subprocess
import sys
import tempfile

import arrays
import zarr

GDAL = """
import sys, rasterio
print(rasterio.open(f'ZARR:"{sys.argv[1]}/array"').read(1).astype("f8").sum())
"""
NETCDF = """
import sys, netCDF4
print(netCDF4.Dataset(f"file://{sys.argv[1]}#mode=zarr,file")["array"][:].astype("f8").sum())
"""
HDF5 = """
import sys, h5py, arrays
with h5py.File(f"{sys.argv[1]}/file.h5", "w") as file:
    file.create_dataset("array", data=arrays.elements("f4"), chunks=arrays.CHUNKS, compression=62309)
print(h5py.File(f"{sys.argv[1]}/file.h5")["array"][:].astype("f8").sum())
"""


def main(cmake, build, libdir, *hosts):
    with tempfile.TemporaryDirectory() as directory:
        before, after = os.path.join(directory, "before"), os.path.join(directory, "after")
        subprocess.run([cmake, "--install", build, "--prefix", before], check=True, stdout=subprocess.DEVNULL)
        os.rename(before, after)
        group = os.path.join(directory, "group.zarr")
        zarr.create_group(group, zarr_format=2)
        expected = arrays.write(os.path.join(group, "array"), "pcodec").astype("f8").sum()
        plugins, here = os.path.join(after, libdir, "zcodec"), os.path.dirname(os.path.abspath(__file__))
        runs = {
            "gdal": [(GDAL, {"GDAL_DRIVER_PATH": os.path.join(plugins, "gdal")})],
            "hdf5": [(code, {"HDF5_PLUGIN_PATH": os.path.join(plugins, "hdf5")}) for code in (NETCDF, HDF5)],
        }
        for host in hosts:
            for code, variable in runs[host]:
                result = arrays.run(code, {**variable, "PYTHONPATH": here}, group)
                assert result.returncode == 0, result.stderr
                assert float(result.stdout) == expected, result.stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
