/*
 * Tries a store of arrays on disk, which is in array_store.hpp.
 *
 *     array_store test DIRECTORY MEGABYTES [THREADS] [SEED]
 *         random boxes of arrays of several kinds are written and read until MEGABYTES have moved, and compared with
 *         an array in memory
 *     array_store write VOLUME.npy DIRECTORY
 *         (both replace an array that this program has made, and nothing else)
 *         the volume, repeated to 256^3, in shards of 128^3 with inner chunks of 32^3
 *     array_store read VOLUME.npy DIRECTORY EDGE COUNT [THREADS] [CACHE]
 *         reads random boxes of it, with a cache of CACHE bytes, compares them, and prints the throughput
 */
#include "array_store.hpp"
#include "array_store_test.hpp"
#include "checks.hpp"
#include "npy.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <stdexcept>

namespace {

// The volume, repeated along z to 256 planes.
Volume tiled(const std::string &path) {
  Volume volume = read_npy(path);
  expect(volume.shape == Index({8, 256, 256}), "the volume has the shape 8, 256, 256");
  const std::vector<std::uint16_t> once = volume.elements;
  while (volume.elements.size() < 32 * once.size()) {
    volume.elements.insert(volume.elements.end(), once.begin(), once.end());
  }
  volume.shape[0] = 256;
  return volume;
}

const Metadata nuclei = {{256, 256, 256}, {128, 128, 128}, "uint16", "0", R"([{"name": "sharding_indexed",
    "configuration": {"chunk_shape": [32, 32, 32], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
    {"name": "zstd", "configuration": {"level": 3, "checksum": false}}], "index_codecs":
    [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"], "index_location": "end"}}])"};

void write_volume(const std::string &path, const std::string &directory) {
  Volume volume = tiled(path);
  remove_array(directory);
  ArrayStore store(directory, nuclei, 2, 0);
  const Clock::time_point begin = Clock::now();
  store.write({0, 0, 0}, volume.shape, zcodec::View(volume.elements, c_strides(volume.shape, 2)));
  std::printf("  written: %.0f MB/s\n", 2e-6 * static_cast<double>(volume.elements.size()) / seconds_since(begin));
}

void read_volume(const std::string &path, const std::string &directory, std::uint64_t edge, std::uint64_t count,
                 unsigned threads, std::size_t cache_size) {
  Volume volume = tiled(path);
  if (edge < 1 || edge > 256) {
    throw std::invalid_argument("EDGE is " + std::to_string(edge) + ", expected 1 to 256");
  }
  if (!std::filesystem::exists(directory + "/zarr.json")) {
    throw std::runtime_error("there is no array at " + directory);
  }
  const zcodec::View reference(volume.elements, c_strides(volume.shape, 2));
  ArrayStore store(directory, nuclei, threads, cache_size);
  {
    std::vector<std::uint16_t> all(volume.elements.size());  // the cache begins with what it can hold
    store.read({0, 0, 0}, volume.shape, zcodec::View(all, c_strides(volume.shape, 2)));
    expect(all == volume.elements, "the volume is as it was written");
  }
  Random random(1);
  const Index shape(3, edge);
  std::vector<std::uint16_t> found(static_cast<std::size_t>(product(shape))), expected = found;
  double seconds = 0;
  for (std::uint64_t i = 0; i < count; i++) {
    const Index start = {below(random, 257 - edge), below(random, 257 - edge), below(random, 257 - edge)};
    const Clock::time_point begin = Clock::now();
    store.read(start, shape, zcodec::View(found, c_strides(shape, 2)));
    seconds += seconds_since(begin);
    copy(subview(reference, start), zcodec::View(expected, c_strides(shape, 2)), shape, 2);
    expect(found == expected, "a box of the volume is as it was written");
  }
  const double megabytes = 2e-6 * static_cast<double>(product(shape) * count);
  std::printf("  %llu boxes of %llu^3, %u threads, cache of %zu bytes: %.0f MB/s, equal\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(edge), threads, cache_size,
              megabytes / seconds);
}

int run(const std::vector<std::string> &arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  const auto number = [&](std::size_t i, std::uint64_t otherwise) {
    if (i >= arguments.size()) {
      return otherwise;
    }
    const std::string &text = arguments[i];
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw std::invalid_argument("\"" + text + "\" is not a number");
    }
    return value;
  };
  const auto threads = [&](std::size_t i) {
    const std::uint64_t count = number(i, 2);
    if (count > 1024) {
      throw std::invalid_argument("THREADS is " + std::to_string(count) + ", expected up to 1024");
    }
    return std::max(1U, static_cast<unsigned>(count));
  };
  if (command == "test" && arguments.size() >= 3) {
    test_store(arguments[1], number(2, 0), threads(3), number(4, 1));
  } else if (command == "write" && arguments.size() == 3) {
    write_volume(arguments[1], arguments[2]);
  } else if (command == "read" && arguments.size() >= 5) {
    read_volume(arguments[1], arguments[2], number(3, 64), number(4, 1), threads(5),
                static_cast<std::size_t>(number(6, 0)));
  } else {
    std::fprintf(stderr,
                 "usage: array_store test DIRECTORY MEGABYTES [THREADS] [SEED]\n"
                 "       array_store write VOLUME.npy DIRECTORY\n"
                 "       array_store read VOLUME.npy DIRECTORY EDGE COUNT [THREADS] [CACHE]\n");
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char **argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception &exception) {
    std::fprintf(stderr, "error: %s\n", exception.what());
    return EXIT_FAILURE;
  }
}
