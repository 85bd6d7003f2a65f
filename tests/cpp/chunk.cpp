// Encoding and decoding: pointers, vectors, buffers of the library.
#include "check.h"
#include "zcodec.hpp"

#include <algorithm>
#include <cstring>

namespace {

constexpr const char *input = R"({"data_type": "uint16", "shape": [2, 2], "fill_value": 0})";
constexpr const char *codecs = R"([{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"])";
const std::vector<std::uint16_t> decoded = {0x0102, 0x0304, 0x0506, 0xFFFE};
constexpr std::uint8_t big_endian[8] = {1, 2, 3, 4, 5, 6, 0xFF, 0xFE};

void pointers_and_sizes() {
  const zcodec::Chain chain(codecs, input);
  std::uint8_t encoded[12];
  std::uint16_t back[4] = {};
  CHECK(chain.encode(decoded.data(), 8, encoded, sizeof encoded) == 12);
  CHECK(std::equal(big_endian, big_endian + 8, encoded));
  CHECK(chain.decode(encoded, 12, back, sizeof back) == 8);
  CHECK(std::equal(decoded.begin(), decoded.end(), back));
}

void vectors_of_elements() {
  const zcodec::Chain chain(codecs, input);
  const std::vector<std::uint8_t> encoded = chain.encode(decoded);
  CHECK(encoded.size() == 12);
  CHECK(encoded == chain.encode(decoded.data(), 8));
  CHECK(chain.decode<std::uint16_t>(encoded) == decoded);
  CHECK(chain.decode<std::uint16_t>(encoded.data(), encoded.size()) == decoded);
  CHECK(chain.decode(encoded).size() == 8);
}

void vectors_of_bytes_of_unknown_size() {
  const zcodec::Chain chain(R"(["gzip"])");
  for (const std::size_t size : {0, 1, 100, 1000000}) {  // the last is far more than four times its encoding
    const std::vector<std::uint8_t> bytes(size, 7);
    CHECK(chain.decode(chain.encode(bytes)) == bytes);
  }
}

void elements_that_do_not_fit_the_size_are_told() {
  const zcodec::Chain chain(R"(["crc32c"])");
  const std::vector<std::uint8_t> encoded = chain.encode(std::vector<std::uint8_t>(6));
  try {
    chain.decode<std::uint32_t>(encoded);
    CHECK(false);
  } catch (const std::length_error &) {
    CHECK(true);
  }
}

void options_change_nothing_of_the_result() {
  const zcodec::Chain chain(codecs, input);
  zcodec::CallOptions options;
  options.max_threads = 4;
  const std::vector<std::uint8_t> encoded = chain.encode(decoded, options);
  CHECK(encoded == chain.encode(decoded));
  CHECK(chain.decode<std::uint16_t>(encoded, options) == decoded);
}

void buffers_of_the_library() {
  const zcodec::Chain chain(codecs, input);
  zcodec::Buffer encoded = chain.encode_to_buffer(decoded.data(), 8);
  CHECK(encoded.size() == 12 && std::equal(big_endian, big_endian + 8, encoded.begin()));
  const zcodec::Buffer moved = std::move(encoded);
  CHECK(encoded.size() == 0 && encoded.begin() == encoded.end());
  const zcodec::Buffer back = chain.decode_to_buffer(moved.data(), moved.size());
  CHECK(back.size() == 8 && std::memcmp(back.data(), decoded.data(), 8) == 0);
}

}  // namespace

int main() {
  pointers_and_sizes();
  vectors_of_elements();
  vectors_of_bytes_of_unknown_size();
  elements_that_do_not_fit_the_size_are_told();
  options_change_nothing_of_the_result();
  buffers_of_the_library();
  return check_result("chunk");
}
