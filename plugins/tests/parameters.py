"""Parameters of the filters, as plugins/netcdf/parameters.h describes them."""

import json
import struct

# The filters' numbers; those of codecs with a registered filter take numbers, all others JSON as text.
NUMBERS = {
    "zlib": 1,
    "shuffle": 2,
    "fletcher32": 3,
    "bz2": 307,
    "blosc": 32001,
    "zstd": 32015,
    "gzip": 62301,
    "lz4": 62302,
    "lzma": 62303,
    "crc32": 62304,
    "crc32c": 62305,
    "adler32": 62306,
    "jenkins_lookup3": 62307,
    "zfpy": 62308,
    "pcodec": 62309,
}
REGISTERED = {"zlib", "shuffle", "fletcher32", "bz2", "blosc", "zstd"}


def text(configuration):
    """A configuration, an object or text, as parameters."""
    encoded = (configuration if isinstance(configuration, str) else json.dumps(configuration)).encode()
    count = -(-len(encoded) // 4)
    return (len(encoded), *struct.unpack(f"<{count}I", encoded.ljust(4 * count, b"\0")))


def of(configuration):
    """The parameters of a configuration of numcodecs."""
    codec = configuration["id"]
    if codec == "zstd":
        return (configuration["level"] & 0xFFFFFFFF, int(configuration.get("checksum", False)))
    if codec == "blosc":
        names = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]
        name, shuffle = names.index(configuration["cname"]), configuration["shuffle"] & 0xFFFFFFFF
        return (2, 2, 0, configuration["blocksize"], configuration["clevel"], shuffle, name)
    if codec in REGISTERED:
        return tuple(configuration[member] for member in ("level", "elementsize") if member in configuration)
    return text({member: value for member, value in configuration.items() if member != "id"})
