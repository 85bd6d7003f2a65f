// Codecs of the host as C++ classes, and options of chains.
#include "shard.h"

#include <memory>
#include <stdexcept>
#include <string>

namespace {

constexpr const char *input = R"({"data_type": "uint8", "shape": [8], "fill_value": 0})";

int alive = 0;  // codecs that were made and not yet destroyed

// bytes->bytes: a letter before the bytes. 0xFF is refused.
class Letter : public zcodec::Codec {
 public:
  explicit Letter(char letter) : letter_(static_cast<std::uint8_t>(letter)) { alive++; }
  ~Letter() override { alive--; }

  std::string output_json() const override { return R"({"size": null})"; }
  std::uint64_t encoded_bound(std::uint64_t decoded_size) const noexcept override { return decoded_size + 1; }

  std::size_t encode(const void *decoded, std::size_t decoded_size, void *encoded, std::size_t capacity,
                     void *call_data) const override {
    const std::uint8_t *from = static_cast<const std::uint8_t *>(decoded);
    std::uint8_t *to = static_cast<std::uint8_t *>(encoded);
    if (call_data != nullptr) {
      ++*static_cast<int *>(call_data);
    }
    if (decoded_size > 0 && from[0] == 0xFF) {
      throw std::runtime_error("0xFF has no letter");
    }
    if (capacity < decoded_size + 1) {
      return zcodec::more_room;
    }
    to[0] = letter_;
    memcpy(to + 1, from, decoded_size);
    return decoded_size + 1;
  }

  std::size_t decode(const void *encoded, std::size_t encoded_size, void *decoded, std::size_t capacity,
                     void *) const override {
    const std::uint8_t *from = static_cast<const std::uint8_t *>(encoded);
    if (encoded_size == 0 || from[0] != letter_) {
      throw 17;  // no std::exception
    }
    if (capacity >= encoded_size - 1) {
      memcpy(decoded, from + 1, encoded_size - 1);
    }
    return encoded_size - 1;
  }

 private:
  std::uint8_t letter_;
};

zcodec::Registry letters() {
  zcodec::Registry registry;
  registry.add("letter", ZCODEC_KIND_BYTES_TO_BYTES,
               [](std::string_view configuration, std::string_view) -> std::unique_ptr<zcodec::Codec> {
                 const std::size_t at = configuration.find("\"is\":\"");
                 if (configuration.find("nothing") != std::string_view::npos) {
                   return nullptr;
                 }
                 if (at == std::string_view::npos) {
                   throw std::invalid_argument("is: a letter is missing");
                 }
                 return std::make_unique<Letter>(configuration[at + 6]);
               });
  return registry;
}

zcodec::Chain chain_of(const std::string &codecs, const zcodec::Registry &registry) {
  zcodec::ChainOptions options;
  options.registry = &registry;
  return zcodec::Chain(options, codecs, input);
}

constexpr const char *with_letter = R"(["bytes", {"name": "letter", "configuration": {"is":"z"}}])";

void a_class_is_a_codec() {
  const std::vector<std::uint8_t> decoded = {1, 2, 3, 4, 5, 6, 7, 8};
  {
    const zcodec::Chain chain = chain_of(with_letter, letters());  // the chain keeps what it uses
    int calls = 0;
    zcodec::CallOptions options;
    options.call_data = &calls;
    const std::vector<std::uint8_t> encoded = chain.encode(decoded, options);
    CHECK(encoded.size() == 9 && encoded[0] == 'z' && calls == 1 && chain.encoded_bound(8) == 9);
    CHECK(chain.decode(encoded) == decoded);
    CHECK(alive == 1);
    const zcodec::Buffer buffer = chain.encode_to_buffer(decoded.data(), decoded.size(), options);
    CHECK(buffer.size() == 9 && calls == 2);
    CHECK(chain.decode_to_buffer(buffer.data(), buffer.size(), options).size() == 8);
  }
  CHECK(alive == 0);
}

void it_works_inside_a_shard() {
  const zcodec::Registry registry = letters();
  zcodec::ChainOptions options;
  options.registry = &registry;
  const zcodec::Chain chain = zcodec::Chain::from_zarr_json(
      R"({"zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "uint8", "fill_value": 0,
          "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8]}},
          "chunk_key_encoding": {"name": "default"}, "attributes": {}, "codecs":
          [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "index_location": "start", "codecs":
            ["bytes", {"name": "letter", "configuration": {"is":"y"}}], "index_codecs":
            [{"name": "bytes", "configuration": {"endian": "little"}}]}}]})",
      options);
  const std::vector<std::uint8_t> decoded = {1, 2, 3, 4, 5, 6, 0, 0};
  std::vector<std::uint8_t> encoded = chain.encode(decoded);
  CHECK(encoded.size() == 4 * 16 + 3 * 3 && encoded[64] == 'y');
  CHECK(chain.decode(encoded) == decoded);
  encoded[64] = 'x';
  const zcodec::Error error = thrown_by([&] { chain.decode(encoded); });
  CHECK(error.status() == ZCODEC_STATUS_CORRUPT_DATA && error.path() == "/0/configuration/codecs/1");
  CHECK(std::string(error.what()).find("not a std::exception") != std::string::npos);
}

void what_it_throws_is_told() {
  const zcodec::Registry registry = letters();
  const zcodec::Error made = thrown_by([&] { chain_of(R"(["bytes", "letter"])", registry); });
  CHECK(made.status() == ZCODEC_STATUS_INVALID_METADATA && made.codec_index() == 1);
  CHECK(std::string(made.what()).find("a letter is missing") != std::string::npos);
  const zcodec::Error null =
      thrown_by([&] { chain_of(R"(["bytes", {"name": "letter", "configuration": {"is": "nothing"}}])", registry); });
  CHECK(null.status() == ZCODEC_STATUS_INVALID_METADATA);
  const zcodec::Chain chain = chain_of(with_letter, registry);
  const zcodec::Error encoded = thrown_by([&] { chain.encode(std::vector<std::uint8_t>(8, 0xFF)); });
  CHECK(encoded.status() == ZCODEC_STATUS_OUT_OF_RANGE && encoded.path() == "/1");
  CHECK(std::string(encoded.what()).find("0xFF has no letter") != std::string::npos);
  const std::vector<std::uint8_t> wrong(9, 'a');
  CHECK(thrown_by([&] { chain.decode(wrong); }).status() == ZCODEC_STATUS_CORRUPT_DATA);
  std::uint8_t small[8];
  CHECK(thrown_by([&] { chain.encode(wrong.data(), 8, small, sizeof small); }).status() ==
        ZCODEC_STATUS_BUFFER_TOO_SMALL);
}

void a_name_is_taken_once() {
  zcodec::Registry registry = letters();
  const auto owned = std::make_shared<int>(1);
  const auto make = [owned](std::string_view, std::string_view) { return std::unique_ptr<zcodec::Codec>(); };
  CHECK(thrown_by([&] { registry.add(std::string("a\0b", 3), ZCODEC_KIND_BYTES_TO_BYTES, make); }).status() ==
        ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(thrown_by([&] { registry.add("letter", ZCODEC_KIND_BYTES_TO_BYTES, make); }).status() ==
        ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(thrown_by([&] { registry.add("gzip", ZCODEC_KIND_BYTES_TO_BYTES, make); }).status() ==
        ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(owned.use_count() == 2);  // here and in `make`
  registry.add("other", ZCODEC_KIND_BYTES_TO_BYTES, make);
  CHECK(owned.use_count() == 3 && registry.get() != nullptr);
  registry = zcodec::Registry();
  CHECK(owned.use_count() == 2);
  CHECK(thrown_by([&] { registry.add(zcodec_codec()); }).status() != ZCODEC_STATUS_OK);
}

void a_chain_has_a_limit() {
  zcodec::ChainOptions options;
  options.max_decoded_size = 7;
  CHECK(thrown_by([&] { zcodec::Chain(options, R"(["bytes"])", input); }).status() == ZCODEC_STATUS_UNSUPPORTED);
  const zcodec::Chain chain(options, R"(["gzip"])");
  const std::vector<std::uint8_t> encoded = zcodec::Chain(R"(["gzip"])").encode(std::vector<std::uint8_t>(8));
  CHECK(thrown_by([&] { chain.decode(encoded); }).status() == ZCODEC_STATUS_CORRUPT_DATA);
}

void errors_have_codes() {
  const zcodec::Error error = thrown_by([] { zcodec::Chain(R"(["bytes", "gzop"])", input); });
  CHECK(error.code() == "unknown_codec" && error.path() == "/1");
  const zcodec::Error copy = error;
  CHECK(copy.code() == error.code() && copy.path() == error.path());
  CHECK(zcodec::Error(ZCODEC_STATUS_INTERNAL).code().empty() && zcodec::Error(ZCODEC_STATUS_INTERNAL).path().empty());
}

}  // namespace

int main() {
  a_class_is_a_codec();
  it_works_inside_a_shard();
  what_it_throws_is_told();
  a_name_is_taken_once();
  a_chain_has_a_limit();
  errors_have_codes();
  CHECK(alive == 0);
  return check_result("host_codec");
}
