// Runs the recipes of docs/engine.md on shards in memory.
#include "check.h"
#include "engine_host.h"
#include "zcodec.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace host {

std::map<std::string, std::vector<std::uint8_t>> objects;
std::size_t bytes_read = 0;
std::size_t rounds = 0;

std::uint64_t size(const std::string &key) { return objects.at(key).size(); }

std::vector<std::uint8_t> read(const std::string &key, const zcodec::Range &range) {
  const std::vector<std::uint8_t> &object = objects.at(key);
  const std::uint64_t begin = range.offset == zcodec::size_unknown ? object.size() - range.size : range.offset;
  const auto first = object.begin() + static_cast<std::ptrdiff_t>(begin);
  bytes_read += static_cast<std::size_t>(range.size);
  return std::vector<std::uint8_t>(first, first + static_cast<std::ptrdiff_t>(range.size));
}

void put(const std::string &key, const std::vector<std::uint8_t> &bytes) { objects[key] = bytes; }

void write_at(const std::string &key, std::uint64_t offset, const void *data, std::uint64_t size) {
  std::vector<std::uint8_t> &object = objects.at(key);
  const std::uint8_t *bytes = static_cast<const std::uint8_t *>(data);
  object.resize(std::max<std::size_t>(object.size(), static_cast<std::size_t>(offset + size)));
  std::copy(bytes, bytes + size, object.begin() + static_cast<std::ptrdiff_t>(offset));
}

struct KeyedRange {
  std::string key;
  zcodec::Range range;
};

std::vector<std::vector<std::uint8_t>> read_many(const std::vector<KeyedRange> &wanted) {
  std::vector<std::vector<std::uint8_t>> all;
  rounds++;
  for (const KeyedRange &one : wanted) {
    all.push_back(read(one.key, one.range));
  }
  return all;
}

// Reads are answered by threads, in any order, once all of a stage have been asked for.
std::mutex mutex;
std::vector<std::thread> threads;

// The first byte of the inner chunk that cannot be read, and of the one whose read cannot be started.
std::uint64_t unreadable = zcodec::size_unknown, refused = zcodec::size_unknown;

void read_async(const std::string &key, const zcodec::Range &range,
                std::function<void(std::exception_ptr, const std::vector<std::uint8_t> &)> done) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (range.offset != zcodec::size_unknown && range.offset == refused) {
    throw std::runtime_error("refused");
  }
  const bool fails = range.offset != zcodec::size_unknown && range.offset == unreadable;
  threads.emplace_back([bytes = read(key, range), done, fails] {
    fails ? done(std::make_exception_ptr(std::runtime_error("unreadable")), {}) : done(nullptr, bytes);
  });
}

void join_all() {
  for (;;) {
    std::thread thread;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (threads.empty()) {
        return;
      }
      thread = std::move(threads.back());
      threads.pop_back();
    }
    thread.join();
  }
}

// A pool whose threads are made for each function.
class Pool {
 public:
  explicit Pool(std::uint32_t size) : size_(size) {}
  ~Pool() {
    for (std::thread &thread : threads_) {
      thread.join();
    }
  }
  std::uint32_t size() const { return size_; }
  void post(std::function<void()> function) { threads_.emplace_back(std::move(function)); }

 private:
  std::uint32_t size_;
  std::vector<std::thread> threads_;
};

}  // namespace host

uint64_t host_size(const char *key) { return host::size(key); }

const void *host_read(const char *key, zcodec_range range) {
  static std::vector<std::uint8_t> bytes;
  bytes = host::read(key, range);
  return bytes.data();
}

#include "engine_snippets_cpp.h"

namespace {

constexpr const char *codecs = R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [16, 16],
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "zstd"],
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}}])";
constexpr const char *input = R"({"data_type": "uint16", "shape": [64, 64], "fill_value": 0})";

// Element (i, j) of a shard; the first inner chunk has none.
std::uint16_t element(std::size_t i, std::size_t j) {
  return static_cast<std::uint16_t>(i < 16 && j < 16 ? 0 : 64 * i + j);
}

std::vector<std::uint16_t> elements_of(std::size_t i, std::size_t j, std::size_t rows, std::size_t columns) {
  std::vector<std::uint16_t> elements;
  for (std::size_t at = 0; at < rows * columns; at++) {
    elements.push_back(element(i + at / columns, j + at % columns));
  }
  return elements;
}

void the_synchronous_reader(const zcodec::Chain &chain) {
  const std::uint64_t start[2] = {10, 20}, shape[2] = {3, 5};
  std::vector<std::uint16_t> read(15);
  zcodec_box box = {sizeof box, 2, start, shape};
  zcodec_view view = {sizeof view, read.data(), 30, 0, 2, nullptr};
  zcodec_index *index = nullptr;
  host::bytes_read = 0;
  CHECK_OK(read_box(chain.get(), "a", &box, &view, &index, &error));
  CHECK(read == elements_of(10, 20, 3, 5) && index != nullptr);
  const std::size_t first = host::bytes_read;
  CHECK(first < host::size("a") / 2);
  CHECK_OK(read_box(chain.get(), "a", &box, &view, &index, &error));
  CHECK(host::bytes_read - first == first - static_cast<std::size_t>(chain.index_range().size));
  zcodec_index_free(index);
}

void the_asynchronous_reader(const zcodec::Chain &chain) {
  std::vector<std::uint16_t> read(64 * 64);
  bool is_done = false;
  const auto done = [&](std::exception_ptr error) { is_done = error == nullptr; };
  std::make_shared<AsyncRead>(chain, "a", zcodec::Part{{}, read}, done)->start_stage();
  host::join_all();
  CHECK(is_done && read == elements_of(0, 0, 64, 64));

  std::exception_ptr found;
  const auto fails = [&](std::exception_ptr error) { found = error; };
  std::make_shared<AsyncRead>(chain, "damaged", zcodec::Part{{}, read}, fails)->start_stage();
  host::join_all();
  try {
    std::rethrow_exception(found);
  } catch (const zcodec::Error &error) {
    CHECK(error.status() == ZCODEC_STATUS_CORRUPT_DATA);
  }

  const auto index_bytes = host::read("a", chain.index_range());
  const auto index = zcodec::Index::decode(chain, index_bytes.data(), index_bytes.size(), host::size("a"));
  for (std::uint64_t *place : {&host::unreadable, &host::refused}) {
    *place = index.entry({3, 3})->offset;
    found = nullptr;
    std::make_shared<AsyncRead>(chain, "a", zcodec::Part{{}, read}, fails)->start_stage();
    host::join_all();
    *place = zcodec::size_unknown;
    bool has_failed = false;
    try {
      CHECK(found != nullptr);
      std::rethrow_exception(found);
    } catch (const std::runtime_error &error) {
      has_failed = error.what() == std::string(place == &host::refused ? "refused" : "unreadable");
    }
    CHECK(has_failed);
  }
}

void inner_chunks(const zcodec::Chain &chain) {
  std::vector<std::uint16_t> read(16 * 16, 7);
  read_inner_chunk(chain, "a", {1, 2}, read);
  CHECK(read == elements_of(16, 32, 16, 16));
  read_inner_chunk(chain, "a", {0, 0}, read);
  CHECK(read == elements_of(0, 0, 16, 16));
}

void two_rounds(const zcodec::Chain &chain) {
  std::vector<std::uint16_t> left(40), right(24);
  read_blocks(chain, {{"a", {{{30, 0}, {10, 4}}, left}}, {"b", {{{0, 14}, {4, 6}}, right}}});
  CHECK(host::rounds == 2 && left == elements_of(30, 0, 10, 4) && right == elements_of(0, 14, 4, 6));
}

void blocks_of_n5() {
  const zcodec::Chain chain = n5_chain();
  const std::vector<std::uint16_t> elements = elements_of(20, 20, 5, 7);
  std::vector<std::uint16_t> read(35);
  read_border_block(chain, encode_border_block(chain, {5, 7}, elements), {5, 7}, read);
  CHECK(read == elements);
}

void writers(const zcodec::Chain &chain) {
  const std::vector<std::uint8_t> old = host::objects.at("a");
  for (const zcodec_layout layout : {ZCODEC_LAYOUT_APPEND, ZCODEC_LAYOUT_PACKED}) {
    std::vector<std::uint16_t> expected = elements_of(0, 0, 64, 64);
    const std::vector<std::uint16_t> row(40, 9);
    std::copy(row.begin(), row.end(), expected.begin() + 64 * 7 + 3);
    host::objects["written"] = old;
    write_box(chain, "written", {{7, 3}, {1, 40}}, row, layout);
    const std::vector<std::uint8_t> &written = host::objects.at("written");
    CHECK(chain.decode<std::uint16_t>(written) == expected);
    CHECK(std::equal(old.begin(), old.end(), written.begin()) == (layout == ZCODEC_LAYOUT_APPEND));
    CHECK((written == chain.encode(expected)) == (layout == ZCODEC_LAYOUT_PACKED));
  }
}

void many_chunks(const zcodec::Chain &chain) {
  std::vector<std::vector<std::uint8_t>> encoded(200, host::objects.at("a"));
  encoded[3] = {1, 2, 3};
  encoded[4].clear();
  std::vector<std::vector<std::uint16_t>> decoded(200, std::vector<std::uint16_t>(64 * 64, 1));
  host::Pool pool(3), empty(0);
  CHECK(decode_all(chain, encoded, decoded, pool) == 1);
  CHECK(decoded[199] == elements_of(0, 0, 64, 64) && decoded[4] == std::vector<std::uint16_t>(64 * 64));
  bool is_refused = false;
  try {
    decode_all(chain, encoded, decoded, empty);
  } catch (const zcodec::Error &error) {
    is_refused = error.status() == ZCODEC_STATUS_INVALID_ARGUMENT;
  }
  CHECK(is_refused);
}

void a_codec_of_the_host() {
  const zcodec::Chain chain = chain_with_inverted(R"(["bytes", "example.inverted"])",
                                                  R"({"data_type": "uint8", "shape": [3], "fill_value": 0})");
  const std::vector<std::uint8_t> decoded = {0, 1, 255};
  CHECK((chain.encode(decoded) == std::vector<std::uint8_t>{255, 254, 0}) &&
        chain.decode(chain.encode(decoded)) == decoded);
}

}  // namespace

int main() {
  const zcodec::Chain chain(codecs, input);
  host::objects["a"] = host::objects["b"] = host::objects["damaged"] = chain.encode(elements_of(0, 0, 64, 64));
  host::objects["damaged"].back() ^= 1;  // the checksum of the index
  the_synchronous_reader(chain);
  the_asynchronous_reader(chain);
  inner_chunks(chain);
  two_rounds(chain);
  blocks_of_n5();
  writers(chain);
  many_chunks(chain);
  a_codec_of_the_host();
  return check_result("engine");
}
