/*
 * Fills an array in Fortran order from many chunks of an array in C order, and reads planes of it through a chunk
 * cache.
 *
 *     array_view VOLUME.npy [THREADS]
 *
 * Shows: decode_tasks with the threads of the program as executor, views with strides, border chunks, fill values.
 */
#include "npy.hpp"
#include "thread_pool.hpp"
#include "zcodec.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <list>
#include <map>

namespace {

using Index3 = std::array<std::uint64_t, 3>;

constexpr Index3 chunk_shape = {3, 64, 100};  // does not divide the shape of the volume: there are border chunks
constexpr const char *codecs = R"([{"name": "bytes", "configuration": {"endian": "little"}},
    {"name": "numcodecs.shuffle", "configuration": {"elementsize": 2}},
    {"name": "zstd", "configuration": {"level": 1, "checksum": false}}])";

zcodec::Chain make_chain() {
  std::string shape;
  for (const std::uint64_t size : chunk_shape) {
    shape += (shape.empty() ? "" : ", ") + std::to_string(size);
  }
  return zcodec::Chain(codecs, R"({"data_type": "uint16", "fill_value": 0, "shape": [)" + shape + "]}");
}

// Where elements of an array lie: a pointer to the first one, and strides in elements.
struct Strided {
  std::uint16_t *first;
  std::array<std::int64_t, 3> strides;

  std::uint16_t *at(const Index3 &index) const {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < 3; i++) {
      offset += static_cast<std::int64_t>(index[i]) * strides[i];
    }
    return first + offset;
  }
};

Strided c_order(std::uint16_t *first, const Index3 &shape) {
  return {first, {static_cast<std::int64_t>(shape[1] * shape[2]), static_cast<std::int64_t>(shape[2]), 1}};
}
Strided fortran_order(std::uint16_t *first, const Index3 &shape) {
  return {first, {1, static_cast<std::int64_t>(shape[0]), static_cast<std::int64_t>(shape[0] * shape[1])}};
}

// A view of a box of this shape, whose strides are all positive here.
zcodec::View view_of(const Strided &elements, const Index3 &shape) {
  std::vector<std::int64_t> strides;
  Index3 last;
  for (std::size_t i = 0; i < 3; i++) {
    strides.push_back(2 * elements.strides[i]);
    last[i] = shape[i] - 1;
  }
  const std::size_t count = static_cast<std::size_t>(elements.at(last) - elements.first) + 1;
  return zcodec::View(elements.first, count, strides);
}

// The part of a chunk that a box of the array touches.
struct Touched {
  Index3 cell;      // the chunk, in the grid
  Index3 in_chunk;  // where the part begins in the chunk
  Index3 in_box;    // where it begins in the box
  Index3 shape;
};

std::vector<Touched> chunks_of(const Index3 &start, const Index3 &shape) {
  std::vector<Touched> all(1);
  for (std::size_t i = 0; i < 3; i++) {
    std::vector<Touched> next;
    for (const Touched &before : all) {
      for (std::uint64_t cell = start[i] / chunk_shape[i]; cell * chunk_shape[i] < start[i] + shape[i]; cell++) {
        const std::uint64_t begin = std::max(start[i], cell * chunk_shape[i]);
        const std::uint64_t end = std::min(start[i] + shape[i], (cell + 1) * chunk_shape[i]);
        Touched touched = before;
        touched.cell[i] = cell;
        touched.in_chunk[i] = begin - cell * chunk_shape[i];
        touched.in_box[i] = begin - start[i];
        touched.shape[i] = end - begin;
        next.push_back(touched);
      }
    }
    all = next;
  }
  return all;
}

zcodec::Box box_of(const Touched &touched) {
  return {{touched.in_chunk.begin(), touched.in_chunk.end()}, {touched.shape.begin(), touched.shape.end()}};
}

// An array of encoded chunks in memory; in a real host they are in files or in an object store.
struct Array {
  Index3 shape;
  zcodec::Chain chain = make_chain();
  std::map<Index3, zcodec::Vector<std::uint8_t>> chunks;
};

// Encodes all chunks in one call. What a border chunk has outside the array is the fill value.
void write(Array &array, const Strided &source, const zcodec::CallOptions &options) {
  const std::vector<Touched> touched = chunks_of({0, 0, 0}, array.shape);
  std::vector<zcodec::EncodeTask> tasks;
  for (const Touched &part : touched) {
    zcodec::Vector<std::uint8_t> &encoded = array.chunks[part.cell];
    encoded.resize(array.chain.encoded_bound(array.chain.decoded_size()));
    zcodec::EncodeTask task;
    task.chain = &array.chain;
    task.box = box_of(part);
    task.view = view_of({source.at(part.in_box), source.strides}, part.shape);
    task.encoded = encoded.data();
    task.encoded_capacity = encoded.size();
    tasks.push_back(std::move(task));
  }
  zcodec::encode_tasks(tasks, options);
  for (std::size_t i = 0; i < tasks.size(); i++) {
    array.chunks[touched[i].cell].resize(tasks[i].encoded_size);
  }
}

// Decodes a chunk or a part of it to `view`; a chunk that does not exist is the fill value.
zcodec::DecodeTask decode_task(const Array &array, const Index3 &cell, zcodec::Box box, zcodec::View view) {
  zcodec::DecodeTask task;
  task.chain = &array.chain;
  task.box = std::move(box);
  task.view = std::move(view);
  const auto chunk = array.chunks.find(cell);
  task.is_missing = chunk == array.chunks.end();
  if (!task.is_missing) {
    task.encoded = chunk->second.data();
    task.encoded_size = chunk->second.size();
  }
  return task;
}

// Reads a box straight into the memory of the caller: each chunk is decoded to where its elements belong.
void read(const Array &array, const Index3 &start, const Index3 &shape, const Strided &target,
          const zcodec::CallOptions &options) {
  std::vector<zcodec::DecodeTask> tasks;
  for (const Touched &part : chunks_of(start, shape)) {
    tasks.push_back(
        decode_task(array, part.cell, box_of(part), view_of({target.at(part.in_box), target.strides}, part.shape)));
  }
  zcodec::decode_tasks(tasks, options);
}

// Decoded chunks, the least recently used one last.
class ChunkCache {
 public:
  explicit ChunkCache(std::size_t capacity) : capacity_(capacity) {}

  // The same result as `read`. All chunks of the box that are not here are decoded in one call.
  void read(const Array &array, const Index3 &start, const Index3 &shape, const Strided &target,
            const zcodec::CallOptions &options) {
    const std::vector<Touched> touched = chunks_of(start, shape);
    try {
      decode_missing(array, touched, options);
    } catch (...) {
      chunks_.clear();  // some are not decoded
      throw;
    }
    for (const Touched &part : touched) {
      copy(part, target);
    }
    while (chunks_.size() > capacity_) {
      chunks_.pop_back();
    }
  }

  std::size_t hits = 0;
  std::size_t misses = 0;

 private:
  void decode_missing(const Array &array, const std::vector<Touched> &touched, const zcodec::CallOptions &options) {
    std::vector<zcodec::DecodeTask> tasks;
    for (const Touched &part : touched) {
      const auto found =
          std::find_if(chunks_.begin(), chunks_.end(), [&](const Chunk &c) { return c.cell == part.cell; });
      if (found != chunks_.end()) {
        chunks_.splice(chunks_.begin(), chunks_, found);
        hits++;
        continue;
      }
      misses++;
      chunks_.push_front({part.cell, zcodec::Vector<std::uint16_t>(array.chain.decoded_size() / 2)});
      tasks.push_back(decode_task(array, part.cell, {}, chunks_.front().elements));
    }
    zcodec::decode_tasks(tasks, options);
  }

  struct Chunk {
    Index3 cell;
    zcodec::Vector<std::uint16_t> elements;
  };

  void copy(const Touched &part, const Strided &target) {
    const auto chunk =
        std::find_if(chunks_.begin(), chunks_.end(), [&](const Chunk &c) { return c.cell == part.cell; });
    const Strided source = c_order(chunk->elements.data(), chunk_shape);
    for (std::uint64_t z = 0; z < part.shape[0]; z++) {
      for (std::uint64_t y = 0; y < part.shape[1]; y++) {
        for (std::uint64_t x = 0; x < part.shape[2]; x++) {
          *target.at({part.in_box[0] + z, part.in_box[1] + y, part.in_box[2] + x}) =
              *source.at({part.in_chunk[0] + z, part.in_chunk[1] + y, part.in_chunk[2] + x});
        }
      }
    }
  }

  std::size_t capacity_;
  std::list<Chunk> chunks_;
};

double seconds_of(const std::function<void()> &work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void expect(bool condition, const char *what) {
  if (!condition) {
    throw std::runtime_error(std::string("it is false that ") + what);
  }
}

void run(const std::string &path, unsigned threads) {
  Volume volume = read_npy(path);
  expect(volume.shape.size() == 3, "the volume has three dimensions");
  Array array;
  std::copy(volume.shape.begin(), volume.shape.end(), array.shape.begin());
  const Strided reference = c_order(volume.elements.data(), array.shape);
  const double megabytes = 2e-6 * static_cast<double>(volume.elements.size());

  ThreadPool pool(threads - 1);  // the thread that calls works, too
  zcodec::CallOptions options;
  options.executor =
      zcodec::Executor::of_pool(threads, [&](std::function<void()> function) { pool.post(std::move(function)); });

  const double written = seconds_of([&] { write(array, reference, options); });
  std::size_t stored = 0;
  for (const auto &chunk : array.chunks) {
    stored += chunk.second.size();
  }
  std::printf("  %zu chunks encoded: %.1f MB -> %.1f MB, %.0f MB/s, %u threads\n", array.chunks.size(), megabytes,
              1e-6 * static_cast<double>(stored), megabytes / written, threads);

  std::vector<std::uint16_t> columns(volume.elements.size());
  const Strided target = fortran_order(columns.data(), array.shape);
  const double filled = seconds_of([&] { read(array, {0, 0, 0}, array.shape, target, options); });
  const auto is_equal = [&] {
    for (std::uint64_t z = 0; z < array.shape[0]; z++) {
      for (std::uint64_t y = 0; y < array.shape[1]; y++) {
        for (std::uint64_t x = 0; x < array.shape[2]; x++) {
          if (*target.at({z, y, x}) != *reference.at({z, y, x})) {
            return false;
          }
        }
      }
    }
    return true;
  };
  expect(is_equal(), "the array in Fortran order has the elements of the volume");
  std::printf("  into an array in Fortran order: %.0f MB/s, equal\n", megabytes / filled);

  std::fill(columns.begin(), columns.end(), std::uint16_t(0));
  ChunkCache cache(16);
  const double planes = seconds_of([&] {
    for (std::uint64_t x = 0; x < array.shape[2]; x++) {
      cache.read(array, {0, 0, x}, {array.shape[0], array.shape[1], 1}, {target.at({0, 0, x}), target.strides},
                 options);
    }
  });
  expect(is_equal(), "the planes have the elements of the volume");
  expect(cache.hits > cache.misses, "a plane finds its chunks in the cache");
  std::printf("  %zu planes through a cache of 16 chunks: %.0f MB/s, %zu hits, %zu misses, equal\n",
              static_cast<std::size_t>(array.shape[2]), megabytes / planes, cache.hits, cache.misses);

  array.chunks.erase({0, 0, 0});
  read(array, {0, 0, 0}, array.shape, target, options);
  expect(*target.at({2, 63, 99}) == 0 && *target.at({0, 0, 100}) == *reference.at({0, 0, 100}),
         "a chunk that does not exist is the fill value");
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: array_view VOLUME.npy [THREADS]\n");
    return EXIT_FAILURE;
  }
  try {
    run(argv[1], argc == 3 ? std::max(1, std::atoi(argv[2])) : 2);
  } catch (const std::exception &exception) {
    std::fprintf(stderr, "error: %s\n", exception.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
