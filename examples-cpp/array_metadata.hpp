/* The metadata of an array of Zarr v3. */
#ifndef ZCODEC_EXAMPLE_ARRAY_METADATA_HPP
#define ZCODEC_EXAMPLE_ARRAY_METADATA_HPP

#include "boxes.hpp"

#include <string>

struct Metadata {
  Index shape;
  Index chunk_shape;
  std::string data_type;
  std::string fill_value;
  std::string codecs;

  std::string zarr_json() const {
    return R"({"zarr_format": 3, "node_type": "array", "shape": )" + list(shape) + R"(, "data_type": ")" + data_type +
           R"(", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": )" + list(chunk_shape) +
           R"(}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": )" +
           fill_value + R"(, "codecs": )" + codecs + R"(, "attributes": {)" + made_by + "}}";
  }

  // An attribute of each array that is made by this store.
  static constexpr char made_by[] = R"("made_by": "array_store")";

  static std::string list(const Index &numbers) {
    std::string text;
    for (const std::uint64_t number : numbers) {
      text += (text.empty() ? "" : ", ") + std::to_string(number);
    }
    return "[" + text + "]";
  }
};

#endif
