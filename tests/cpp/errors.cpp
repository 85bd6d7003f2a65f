// Statuses as exceptions.
#include "check.h"
#include "zcodec.hpp"

#include <string>

namespace {

constexpr const char *input = R"({"data_type": "uint16", "shape": [4], "fill_value": 0})";
const std::vector<std::uint16_t> decoded = {1, 255, 256, 257};

// The error that `call` throws; a call that throws nothing fails the check.
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

void metadata_errors_carry_the_codec() {
  const zcodec::Error error = thrown_by([] {
    zcodec::Chain(R"(["bytes", {"name": "gzip", "configuration": {"level": 77}}])",
                  R"({"data_type": "uint8", "shape": [4], "fill_value": 0})");
  });
  CHECK(error.status() == ZCODEC_STATUS_INVALID_METADATA);
  CHECK(error.codec_index() == 1);
  CHECK(error.element_index() == -1);
  CHECK(error.needed_size() == 0);
  CHECK(std::string(error.what()).find("level") != std::string::npos);
  CHECK(thrown_by([] { zcodec::Chain::from_zarr_json("{}"); }).status() == ZCODEC_STATUS_INVALID_METADATA);
}

void range_errors_carry_the_element() {
  const zcodec::Chain chain(R"([{"name": "cast_value", "configuration": {"data_type": "uint8"}}, "bytes"])", input);
  const zcodec::Error error = thrown_by([&] { chain.encode(decoded); });
  CHECK(error.status() == ZCODEC_STATUS_OUT_OF_RANGE);
  CHECK(error.codec_index() == 0);
  CHECK(error.element_index() == 2);
}

void a_small_buffer_carries_the_size_that_would_do() {
  const zcodec::Chain chain(R"([{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"])", input);
  std::uint8_t encoded[12];
  zcodec::Error error = thrown_by([&] { chain.encode(decoded.data(), 8, encoded, 11); });
  CHECK(error.status() == ZCODEC_STATUS_BUFFER_TOO_SMALL && error.needed_size() == 12);
  chain.encode(decoded.data(), 8, encoded, 12);
  std::uint16_t back[4];
  error = thrown_by([&] { chain.decode(encoded, 12, back, 7); });
  CHECK(error.status() == ZCODEC_STATUS_BUFFER_TOO_SMALL && error.needed_size() == 8);
}

void calls_without_an_error_object_carry_the_name_of_the_status() {
  const zcodec::Chain chain(R"(["crc32c"])");
  const zcodec::Error error = thrown_by([&] { static_cast<void>(chain.decoded_size()); });
  CHECK(error.status() == ZCODEC_STATUS_UNKNOWN_SIZE);
  CHECK(error.what() == std::string("ZCODEC_STATUS_UNKNOWN_SIZE"));
  CHECK(thrown_by([&] { static_cast<void>(chain.encoded_bound(SIZE_MAX)); }).status() ==
        ZCODEC_STATUS_INVALID_ARGUMENT);
}

void every_member_function_throws() {
  const zcodec::Chain chain(R"(["bytes", "crc32c"])", R"({"data_type": "uint8", "shape": [4], "fill_value": 0})");
  zcodec::Chain bytes(R"(["crc32c"])");
  const std::vector<std::uint8_t> garbage(8, 1);
  const auto status = [](auto call) { return thrown_by(call).status(); };
  CHECK(status([&] { chain.encode(garbage); }) == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(status([&] { chain.decode(garbage); }) == ZCODEC_STATUS_CORRUPT_DATA);
  CHECK(status([&] { chain.encode_to_buffer(garbage.data(), 8); }) == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(status([&] { chain.decode_to_buffer(garbage.data(), 8); }) == ZCODEC_STATUS_CORRUPT_DATA);
  CHECK(status([&] { bytes.with_shape({1}); }) == ZCODEC_STATUS_UNSUPPORTED);
  CHECK(status([&] { bytes.encode_view({}, zcodec::ConstView(garbage)); }) == ZCODEC_STATUS_UNSUPPORTED);
  CHECK(status([&] { bytes.set_padding(0, nullptr, nullptr); }) == ZCODEC_STATUS_INVALID_ARGUMENT);
}

void a_chain_that_was_moved_from_is_null() {
  zcodec::Chain chain(R"(["crc32c"])");
  const zcodec::Chain other = std::move(chain);
  const std::vector<std::uint8_t> bytes(4);
  const auto status = [](auto call) { return thrown_by(call).status(); };
  CHECK(status([&] { chain.encode(bytes); }) == ZCODEC_STATUS_NULL_ARGUMENT);
  CHECK(status([&] { chain.decode(bytes); }) == ZCODEC_STATUS_NULL_ARGUMENT);
  CHECK(status([&] { static_cast<void>(chain.output_json()); }) == ZCODEC_STATUS_NULL_ARGUMENT);
  CHECK(status([&] { static_cast<void>(chain.codecs_json()); }) == ZCODEC_STATUS_NULL_ARGUMENT);
  CHECK(status([&] { static_cast<void>(chain.warnings_json()); }) == ZCODEC_STATUS_NULL_ARGUMENT);
}

}  // namespace

int main() {
  metadata_errors_carry_the_codec();
  range_errors_carry_the_element();
  a_small_buffer_carries_the_size_that_would_do();
  calls_without_an_error_object_carry_the_name_of_the_status();
  every_member_function_throws();
  a_chain_that_was_moved_from_is_null();
  return check_result("errors");
}
