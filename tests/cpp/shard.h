// A shard of 2 x 2 inner chunks, and what several tests ask of it.
#ifndef ZCODEC_TESTS_SHARD_H
#define ZCODEC_TESTS_SHARD_H

#include "check.h"
#include "zcodec.hpp"

// Inner chunks of 8 bytes, in which a padding comes first, and an index of 68 bytes at the end.
constexpr const char *shard_codecs = R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 3],
    "codecs": ["bytes", {"name": "pad", "configuration": {"location": "start", "nbytes": 2}}],
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}}])";
constexpr const char *shard_input = R"({"data_type": "int8", "shape": [4, 6], "fill_value": 0})";
constexpr std::uint64_t index_size = 4 * 16 + 4;

// 4 x 6 elements: i + 1, except in the first inner chunk, which is the fill value.
inline std::vector<std::int8_t> shard_elements() {
  std::vector<std::int8_t> elements(24);
  for (std::size_t i = 0; i < elements.size(); i++) {
    elements[i] = static_cast<std::int8_t>(i / 6 < 2 && i % 6 < 3 ? 0 : i + 1);
  }
  return elements;
}

// What `call` throws; a call that throws nothing fails the check.
template <class Call>
zcodec::Error thrown_by(Call call) {
  try {
    call();
  } catch (const zcodec::Error &error) {
    return error;
  }
  CHECK(!"it threw");
  return zcodec::Error(ZCODEC_STATUS_OK);
}

// Supplies every stage of a plan or a writer from the stored object.
template <class Reader>
void supply_from(Reader &reader, const std::vector<std::uint8_t> &object) {
  for (zcodec::List<zcodec::Range> ranges = reader.next(); !ranges.empty(); ranges = reader.next()) {
    for (std::size_t i = 0; i < ranges.size(); i++) {
      const zcodec::Range range = ranges[i];
      const std::uint64_t begin = range.offset == zcodec::size_unknown ? object.size() - range.size : range.offset;
      const std::uint64_t size = range.size == zcodec::size_unknown ? object.size() - begin : range.size;
      reader.supply(i, object.data() + begin, static_cast<std::size_t>(size));
    }
  }
}

#endif
