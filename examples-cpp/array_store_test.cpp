#include "array_store_test.hpp"

#include "array_store.hpp"
#include "checks.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <future>
#include <numeric>

namespace {

// Memory that holds a box with random strides: any order of the axes, either direction, gaps between elements.
struct Scattered {
  std::vector<std::uint8_t> memory;
  std::vector<std::int64_t> strides;
  std::size_t offset = 0;

  Scattered(Random &random, const Index &shape, std::size_t element_size) : strides(shape.size()) {
    std::vector<std::size_t> order(shape.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::shuffle(order.begin(), order.end(), random);
    std::uint64_t stride = element_size;
    for (const std::size_t axis : order) {
      stride += below(random, 4) == 0 ? below(random, 9) : 0;
      strides[axis] = static_cast<std::int64_t>(stride);
      stride *= shape[axis];
    }
    memory.assign(static_cast<std::size_t>(stride), 0xA5);
    for (std::size_t axis = 0; axis < shape.size(); axis++) {
      if (below(random, 3) == 0) {
        offset += static_cast<std::size_t>(strides[axis]) * static_cast<std::size_t>(shape[axis] - 1);
        strides[axis] = -strides[axis];
      }
    }
  }

  zcodec::View view() { return zcodec::View(memory, strides, offset); }
};

struct Box {
  Index start;
  Index shape;
};

// Half of the boxes are small; some are whole rows, or all.
Box random_box(Random &random, const Index &start, const Index &shape) {
  Box box;
  const bool is_small = below(random, 2) == 0;
  for (std::size_t i = 0; i < shape.size(); i++) {
    const std::uint64_t most = is_small ? std::min<std::uint64_t>(shape[i], 24) : shape[i];
    const std::uint64_t size = below(random, 6) == 0 ? shape[i] : 1 + below(random, most);
    box.start.push_back(start[i] + below(random, shape[i] - size + 1));
    box.shape.push_back(size);
  }
  return box;
}

// An array on disk and the same in memory.
class Twin {
 public:
  Twin(const std::string &directory, const Metadata &metadata, std::size_t element_size, unsigned threads,
       std::size_t cache_size)
      : store(directory, metadata, threads, cache_size),
        element_size_(element_size),
        reference_(static_cast<std::size_t>(product(metadata.shape)) * element_size, 0) {}

  // Writes the box in `threads` parts at once. The values are the fill value, or few, or many.
  void write(Random &random, const Box &box, std::size_t threads) {
    const std::uint64_t kind = below(random, 4);
    std::vector<Box> parts;
    const std::size_t axis = below(random, box.shape.size());
    for (std::size_t i = 0; i < threads; i++) {
      Box part = box;
      const std::uint64_t begin = box.shape[axis] * i / threads, end = box.shape[axis] * (i + 1) / threads;
      part.start[axis] += begin;
      part.shape[axis] = end - begin;
      if (end > begin) {
        parts.push_back(part);
      }
    }
    std::vector<Scattered> sources;
    for (const Box &part : parts) {
      sources.emplace_back(random, part.shape, element_size_);
      std::uint8_t value = 0;
      for (std::uint8_t &byte : sources.back().memory) {
        value = kind == 0 ? 0 : kind == 1 ? 1 : static_cast<std::uint8_t>(value + random() % 3);
        byte = value;
      }
    }
    std::vector<std::future<void>> writers;
    for (std::size_t i = 0; i < parts.size(); i++) {
      writers.push_back(
          std::async(std::launch::async, [&, i] { store.write(parts[i].start, parts[i].shape, sources[i].view()); }));
    }
    for (std::future<void> &writer : writers) {
      writer.get();
    }
    for (std::size_t i = 0; i < parts.size(); i++) {
      copy(sources[i].view(), subview(reference(), parts[i].start), parts[i].shape, element_size_);
    }
  }

  // Reads the box, and compares every byte of the memory, those between the elements included.
  void read(Random &random, const Box &box) {
    Scattered found(random, box.shape, element_size_);
    Scattered expected = found;
    store.read(box.start, box.shape, found.view());
    copy(subview(reference(), box.start), expected.view(), box.shape, element_size_);
    expect(found.memory == expected.memory, "a box that is read has the elements of the array in memory");
  }

  std::size_t size_of(const Box &box) const { return static_cast<std::size_t>(product(box.shape)) * element_size_; }

  ArrayStore store;

 private:
  zcodec::View reference() { return zcodec::View(reference_, c_strides(store.shape(), element_size_)); }

  std::size_t element_size_;
  std::vector<std::uint8_t> reference_;
};

// The system forgets what it has of these files in memory, so that reads of them go through the queue.
void forget(const std::string &directory) {
#ifdef POSIX_FADV_DONTNEED
  for (const auto &entry : std::filesystem::recursive_directory_iterator(directory)) {
    const int descriptor = entry.is_regular_file() ? ::open(entry.path().c_str(), O_RDONLY) : -1;
    if (descriptor >= 0) {
      ::fdatasync(descriptor);
      ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
      ::close(descriptor);
    }
  }
#else
  (void)directory;
#endif
}

struct Kind {
  const char *name;
  Index chunk_shape;
  const char *data_type;
  std::size_t element_size;
  const char *codecs;
};

const Kind kinds[] = {
    {"shards", {32, 64, 48}, "uint16", 2, R"([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [8, 16, 16], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "zstd", "configuration": {"level": 1, "checksum": false}}], "index_codecs":
        [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}}])"},
    {"shards, index first, big-endian, uncompressed", {300, 200}, "int32", 4, R"([{"name": "sharding_indexed",
        "configuration": {"chunk_shape": [50, 40], "codecs": [{"name": "bytes", "configuration": {"endian": "big"}},
        "crc32c"], "index_location": "start", "index_codecs":
        [{"name": "bytes", "configuration": {"endian": "little"}}]}}])"},
    {"shards, transposed", {40, 24, 60}, "uint8", 1, R"([{"name": "transpose", "configuration": {"order": [2, 0, 1]}},
        {"name": "sharding_indexed", "configuration": {"chunk_shape": [20, 8, 12], "codecs": ["bytes", "gzip"],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}}])"},
    {"shards in shards",
     {64, 64},
     "uint64",
     8,
     R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [32, 32],
        "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [16, 8], "codecs":
        [{"name": "bytes", "configuration": {"endian": "little"}}, "zstd"], "index_codecs":
        [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}}], "index_codecs":
        [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}}])"},
    {"compressed chunks, transposed", {31, 17, 43}, "uint16", 2, R"([{"name": "transpose", "configuration":
        {"order": [2, 1, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}},
        {"name": "zstd", "configuration": {"level": 1, "checksum": true}}])"},
    {"uncompressed chunks", {100, 75}, "uint32", 4, R"([{"name": "bytes", "configuration": {"endian": "little"}}])"},
};

void test_kind(const std::string &directory, const Kind &kind, std::uint64_t size, unsigned threads, Random &random) {
  Metadata metadata = {{}, kind.chunk_shape, kind.data_type, "0", kind.codecs};
  for (const std::uint64_t edge : kind.chunk_shape) {
    metadata.shape.push_back(edge + 1 + below(random, 3 * edge));  // two to four chunks, the last one over the border
  }
  remove_array(directory);
  const Clock::time_point begin = Clock::now();
  std::uint64_t moved = 0, reads = 0, writes = 0;
  Box all = {Index(metadata.shape.size(), 0), metadata.shape};
  {
    // A cache that is too small for all, and every fifth time none.
    Twin twin(directory, metadata, kind.element_size, threads, below(random, 5) == 0 ? 0 : 200000);
    while (moved < size) {
      if (below(random, 3) == 0) {
        // The lower half of the array is written while the upper half is read: they share shards.
        Index half = metadata.shape, rest = metadata.shape, from(half.size(), 0);
        half[0] /= 2;
        from[0] = half[0];
        rest[0] -= half[0];
        const Box written = random_box(random, all.start, half);
        std::exception_ptr error;
        Random reader_random(random());
        std::atomic<bool> is_writing{true};
        std::atomic<std::uint64_t> concurrent{0};
        std::thread reader([&] {
          try {
            do {
              const Box box = random_box(reader_random, from, rest);
              twin.read(reader_random, box);
              concurrent += twin.size_of(box);
            } while (is_writing);
          } catch (...) {
            error = std::current_exception();
          }
        });
        try {
          twin.write(random, written, 1 + below(random, 4));
        } catch (...) {
          error = std::current_exception();
        }
        is_writing = false;
        reader.join();
        if (error != nullptr) {
          std::rethrow_exception(error);
        }
        moved += twin.size_of(written) + concurrent;
        writes++;
      }
      if (below(random, 16) == 0) {
        forget(directory);
      }
      const Box box = random_box(random, all.start, all.shape);
      twin.read(random, box);
      moved += twin.size_of(box);
      reads++;
    }
    twin.read(random, all);
    // What another process would see.
    ArrayStore again(directory, metadata, 1, 0);
    Scattered found(random, all.shape, kind.element_size), expected = found;
    again.read(all.start, all.shape, found.view());
    twin.store.read(all.start, all.shape, expected.view());
    expect(found.memory == expected.memory, "a store that is opened again has the same elements");
  }
  std::printf("  %-46s %6.0f MB in %llu reads and %llu writes, %.0f MB/s, equal\n", kind.name,
              1e-6 * static_cast<double>(moved), static_cast<unsigned long long>(reads),
              static_cast<unsigned long long>(writes), 1e-6 * static_cast<double>(moved) / seconds_since(begin));
  remove_array(directory);
}

// A shard that is damaged is an error of the reads that touch what is damaged, and of no others.
void test_damage(const std::string &directory, unsigned threads) {
  const Kind &kind = kinds[0];
  const Metadata metadata = {{64, 64, 48}, kind.chunk_shape, kind.data_type, "0", kind.codecs};
  remove_array(directory);
  std::vector<std::uint16_t> elements(static_cast<std::size_t>(product(metadata.shape)));
  std::iota(elements.begin(), elements.end(), std::uint16_t(0));
  ArrayStore(directory, metadata, threads, 0)
      .write({0, 0, 0}, metadata.shape, zcodec::View(elements, c_strides(metadata.shape, 2)));
  const std::string shard = directory + "/c/0/0/0";
  const auto size = std::filesystem::file_size(shard);
  std::vector<std::uint16_t> found(8 * 64 * 48);
  const Index shape = {8, 64, 48};
  const zcodec::View view(found, c_strides(shape, 2));
  const auto fails = [&](const Index &start, std::size_t cache_size) {
    ArrayStore store(directory, metadata, threads, cache_size);
    for (int i = 0; i < 3; i++) {
      try {
        store.read(start, shape, view);
      } catch (const std::exception &) {
        continue;
      }
      return false;
    }
    return true;
  };
  for (const std::size_t cache_size : {0, 1000000}) {
    File::open(shard)->write(0, "damaged", 7);  // the first inner chunk
    expect(fails({0, 0, 0}, cache_size), "a damaged inner chunk is an error");
    expect(!fails({8, 0, 0}, cache_size), "the inner chunks beside it can be read");
    expect(std::equal(found.begin(), found.end(), elements.begin() + 8 * 64 * 48), "they are as they were written");
  }
  for (const std::uintmax_t left : {size - 1, size / 2, std::uintmax_t(3), std::uintmax_t(0)}) {
    std::filesystem::resize_file(shard, left);
    expect(fails({8, 0, 0}, 0), "a shard that is cut is an error");
    expect(!fails({40, 0, 0}, 0), "other shards can be read");
  }
  std::printf("  damaged shards are errors\n");
  remove_array(directory);
}

// A box outside the array is refused; an array without dimensions is one element.
void test_bounds(const std::string &directory, unsigned threads) {
  const std::string bytes = R"([{"name": "bytes", "configuration": {"endian": "little"}}])";
  std::vector<std::uint16_t> elements(100, 7);
  remove_array(directory);
  {
    ArrayStore store(directory, {{5, 5}, {4, 4}, "uint16", "0", bytes}, threads, 1000);
    const zcodec::View view(elements, c_strides({10, 10}, 2));
    for (const Box &box : {Box{{0, 0}, {10, 10}}, Box{{5, 0}, {1, 5}}, Box{{0}, {1}}}) {
      for (const bool is_write : {false, true}) {
        bool is_refused = false;
        try {
          is_write ? store.write(box.start, box.shape, view) : store.read(box.start, box.shape, view);
        } catch (const std::out_of_range &) {
          is_refused = true;
        }
        expect(is_refused, "a box outside the array is refused");
      }
    }
  }
  remove_array(directory);
  ArrayStore scalar(directory, {{}, {}, "uint16", "0", bytes}, threads, 1000);
  const zcodec::View one(elements.data(), 2, {});
  scalar.write({}, {}, one);
  elements[0] = 0;
  scalar.read({}, {}, one);
  expect(elements[0] == 7, "an array without dimensions has one element");
  remove_array(directory);
}

}  // namespace

void test_store(const std::string &directory, std::uint64_t megabytes, unsigned threads, std::uint64_t seed) {
  test_damage(directory, threads);
  test_bounds(directory, threads);
  Random random(seed);
  // Arrays of many shapes: none takes more than 50 MB.
  constexpr std::uint64_t count = sizeof kinds / sizeof kinds[0];
  const std::uint64_t size = megabytes * 1000000 / count;
  for (const Kind &kind : kinds) {
    std::uint64_t left = size;
    while (left > 0) {
      const std::uint64_t step = std::min<std::uint64_t>(left, 200000000);
      test_kind(directory, kind, step, threads, random);
      left -= step;
    }
  }
}
