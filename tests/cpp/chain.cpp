// Making chains and asking them.
#include "check.h"
#include "zcodec.hpp"

#include <type_traits>

namespace {

constexpr const char *input = R"({"data_type": "uint16", "shape": [2, 3], "fill_value": 258})";
constexpr const char *to_bytes = R"([{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"])";
constexpr const char *zarr_json = R"({"zarr_format": 3, "node_type": "array", "shape": [20, 30], "data_type": "uint16",
  "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}},
  "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
  "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]})";

static_assert(!std::is_copy_constructible_v<zcodec::Chain> && !std::is_copy_assignable_v<zcodec::Chain>);
static_assert(std::is_nothrow_move_constructible_v<zcodec::Chain> && std::is_nothrow_move_assignable_v<zcodec::Chain>);
static_assert(!std::is_copy_constructible_v<zcodec::Buffer> && std::is_nothrow_move_constructible_v<zcodec::Buffer>);
static_assert(std::is_nothrow_copy_constructible_v<zcodec::Error>);

void a_chain_answers_as_the_c_functions_do() {
  const zcodec::Chain chain(to_bytes, input);
  CHECK(chain.kind() == ZCODEC_KIND_ARRAY_TO_BYTES);
  CHECK(chain.codec_count() == 2);
  CHECK(chain.decoded_size() == 12);
  CHECK(chain.encoded_bound(12) == 16);
  CHECK(chain.output_json() == R"({"size":16})");
  CHECK(chain.warnings_json() == "[]");
  CHECK(zcodec_chain_codec_count(chain.get()) == 2);
  const zcodec::Chain again(chain.codecs_json(), input);
  CHECK(again.codecs_json() == chain.codecs_json());
}

void an_empty_input_is_for_bytes() {
  const zcodec::Chain chain(R"(["crc32c"])");
  CHECK(chain.kind() == ZCODEC_KIND_BYTES_TO_BYTES);
}

void a_zarr_json_makes_a_chain() { CHECK(zcodec::Chain::from_zarr_json(zarr_json).decoded_size() == 12); }

void another_shape_makes_another_chain() {
  const zcodec::Chain chain(to_bytes, input);
  const std::uint64_t shape[] = {5, 7};
  CHECK(chain.with_shape({4, 4}).decoded_size() == 32);
  CHECK(chain.with_shape(shape, 2).decoded_size() == 70);
  CHECK(chain.decoded_size() == 12);
}

void a_chain_moves() {
  zcodec::Chain first(to_bytes, input);
  zcodec::Chain second(std::move(first));
  CHECK(first.get() == nullptr && second.decoded_size() == 12);
  first = std::move(second);
  CHECK(second.get() == nullptr && first.decoded_size() == 12);
  CHECK(second.codec_count() == 0);
}

void a_chain_adopts_a_c_handle() {
  const zcodec::Chain chain(check_chain(to_bytes, input));
  CHECK(chain.decoded_size() == 12);
}

void the_library_names_itself() {
  CHECK(zcodec::version() == zcodec_version());
  CHECK(zcodec::supported_json().find(zcodec::version()) != std::string_view::npos);
  CHECK(zcodec::status_name(ZCODEC_STATUS_CORRUPT_DATA) == "ZCODEC_STATUS_CORRUPT_DATA");
}

}  // namespace

int main() {
  a_chain_answers_as_the_c_functions_do();
  an_empty_input_is_for_bytes();
  a_zarr_json_makes_a_chain();
  another_shape_makes_another_chain();
  a_chain_moves();
  a_chain_adopts_a_c_handle();
  the_library_names_itself();
  return check_result("chain");
}
