// C++20: the overloads for std::span.
#include "shard.h"

#include <algorithm>
#include <span>

static_assert(ZCODEC_HPP_HAS_SPAN, "this program is for C++20");

namespace {

void chunks_are_spans() {
  const zcodec::Chain chain(R"([{"name": "bytes", "configuration": {"endian": "big"}}])",
                            R"({"data_type": "uint16", "shape": [2, 2], "fill_value": 0})");
  const std::uint16_t decoded[4] = {1, 2, 3, 4};
  const std::span<const std::uint16_t> elements(decoded);
  const std::vector<std::uint8_t> encoded = chain.encode(elements);
  const zcodec::Vector<std::uint8_t> vector = chain.encode_vector(std::span(decoded));
  CHECK(encoded.size() == 8 && std::equal(vector.begin(), vector.end(), encoded.begin()));
  std::byte bytes[8];
  CHECK(chain.encode(elements, std::span(bytes)) == 8);
  std::uint16_t back[4] = {};
  CHECK(chain.decode(std::span<const std::byte>(bytes), std::span(back)) == 8);
  CHECK(std::equal(decoded, decoded + 4, back));
  CHECK(chain.decode<std::uint16_t>(std::span(encoded))[3] == 4);
  CHECK(chain.decode_vector<std::uint16_t>(std::span(encoded))[2] == 3);
  float floats[2];
  CHECK(thrown_by([&] { chain.decode(std::span(bytes), std::span(floats)); }).status() ==
        ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(thrown_by([&] { chain.encode(std::span(floats)); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
  const std::uint64_t shape[2] = {1, 2};
  CHECK(chain.with_shape(std::span<const std::uint64_t>(shape)).decoded_size() == 4);
  CHECK(chain.with_shape({1, 2}).decoded_size() == 4);
  CHECK(chain.with_shape({}).decoded_size() == 2);
}

void views_and_buffers_are_spans() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  const std::vector<std::int8_t> elements = shard_elements();
  std::vector<std::uint8_t> shard(chain.encoded_bound(24));
  shard.resize(chain.encode_view({}, std::span(elements), std::span(shard)));
  const zcodec::Buffer buffer = chain.encode_to_buffer(elements.data(), elements.size());
  CHECK(std::ranges::equal(std::span<const std::uint8_t>(buffer), shard));

  std::int8_t column[4] = {};
  chain.decode_view(std::span(shard), {{0, 5}, {4, 1}}, std::span(column));
  CHECK(column[0] == 6 && column[3] == 24);

  const zcodec::Index index =
      zcodec::Index::decode(chain, std::span<const std::uint8_t>(shard).last(index_size), shard.size());
  std::int8_t row[6] = {};
  zcodec::Plan plan(chain, {{{3, 0}, {1, 6}}, std::span(row)}, shard.size(), index);
  const std::span<const zcodec::Range> ranges = plan.next();
  for (std::size_t i = 0; i < ranges.size(); i++) {
    plan.supply(i, std::span(shard).subspan(ranges[i].offset, ranges[i].size));
  }
  CHECK(plan.next().empty() && std::equal(row, row + 6, elements.end() - 6));
}

}  // namespace

int main() {
  chunks_are_spans();
  views_and_buffers_are_spans();
  return check_result("span");
}
