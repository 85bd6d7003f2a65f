// Boxes and views, and the types of their elements.
#include "shard.h"

#include <algorithm>
#include <complex>
#include <string>

namespace {

zcodec::Chain chain_of(const std::string &data_type, const char *fill_value = "0") {
  return zcodec::Chain(R"([{"name": "bytes", "configuration": {"endian": "little"}}])",
                       R"({"data_type": ")" + data_type + R"(", "shape": [2, 3], "fill_value": )" + fill_value + "}");
}

void a_box_goes_where_the_view_says() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  const std::vector<std::int8_t> elements = shard_elements();
  const std::vector<std::uint8_t> encoded = chain.encode(elements);
  std::vector<std::int8_t> columns(24, 99);
  chain.decode_view(encoded, {}, zcodec::View(columns, {1, 4}));  // Fortran order
  for (std::size_t i = 0; i < 24; i++) {
    CHECK(columns[i] == elements[i % 4 * 6 + i / 4]);
  }
  zcodec::CallOptions options;
  options.max_threads = 2;
  std::int8_t row[3] = {};
  chain.decode_view(encoded.data(), encoded.size(), {{3, 1}, {1, 3}}, zcodec::View(row, 3, {-1, -1}, 2), options);
  CHECK(row[0] == 22 && row[1] == 21 && row[2] == 20);
  std::int8_t last = 0;
  chain.decode_view(encoded, {{3, 5}, {}}, zcodec::View(&last, 1));
  CHECK(last == 24);
  chain.decode_view(encoded, {{}, {0, 0}}, {});

  CHECK(std::equal(encoded.begin(), encoded.end(), chain.encode_view({}, zcodec::View(columns, {1, 4})).begin()));
  std::vector<std::uint8_t> again(encoded.size());
  CHECK(chain.encode_view({}, elements, again.data(), again.size()) == encoded.size() && again == encoded);
  const zcodec::Error error = thrown_by([&] { chain.encode_view({}, elements, again.data(), 10); });
  CHECK(error.status() == ZCODEC_STATUS_BUFFER_TOO_SMALL && error.needed_size() >= encoded.size());
}

void a_part_is_encoded_with_the_fill_value_around_it() {
  const zcodec::Chain chain = chain_of("uint16", "7");
  const std::vector<std::uint16_t> part = {1, 2};
  const zcodec::Vector<std::uint8_t> encoded = chain.encode_view({{0, 1}, {2, 1}}, part);
  CHECK((chain.decode<std::uint16_t>(encoded) == std::vector<std::uint16_t>{7, 1, 7, 7, 2, 7}));
}

void views_are_filled_and_compared() {
  const zcodec::Chain chain = chain_of("uint16", "513");
  std::vector<std::uint16_t> rows(8, 1);
  chain.fill_view({2, 3}, zcodec::View(rows, {8, 2}));
  CHECK((rows == std::vector<std::uint16_t>{513, 513, 513, 1, 513, 513, 513, 1}));
  CHECK(chain.is_fill_view({2, 3}, zcodec::ConstView(rows, {8, 2})));
  CHECK(!chain.is_fill_view({2, 4}, rows));
  CHECK(thrown_by([&] { chain.fill_view({6}, rows); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
  const zcodec::Chain bytes(R"(["gzip"])");
  CHECK(thrown_by([&] { bytes.fill_view({6}, rows); }).status() == ZCODEC_STATUS_UNSUPPORTED);
}

void what_does_not_fit_is_told() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  const std::vector<std::uint8_t> encoded = chain.encode(shard_elements());
  std::vector<std::int8_t> elements(24);
  const auto status = [&](const zcodec::Box &box, const zcodec::View &view) {
    return thrown_by([&] { chain.decode_view(encoded, box, view); }).status();
  };
  CHECK(status({{0, 0}, {1}}, elements) == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(status({{0}, {1}}, elements) == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(status({{4, 0}, {1, 1}}, elements) == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(status({}, zcodec::View(elements.data(), 23)) == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(status({}, zcodec::View(elements, {1})) == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(status({}, {}) != ZCODEC_STATUS_OK);
}

void shapes() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  CHECK((chain.shape() == std::vector<std::uint64_t>{4, 6}) && chain.ndim() == 2 && chain.element_size() == 1);
  CHECK((chain.granularity() == std::vector<std::uint64_t>{2, 3}));
  CHECK((chain.with_shape({8, 6}).shape() == std::vector<std::uint64_t>{8, 6}));
  const zcodec::Chain flat = zcodec::Chain(R"(["bytes"])", shard_input).with_shape({3});
  CHECK(flat.ndim() == 1 && flat.shape() == std::vector<std::uint64_t>{3} && flat.granularity().size() == 1);
  std::vector<std::int8_t> three(3);
  flat.decode_view(flat.encode(std::vector<std::int8_t>{7, 8, 9}), {}, three);
  CHECK((three == std::vector<std::int8_t>{7, 8, 9}));
  CHECK(chain.input_json() == R"({"data_type":"int8","shape":[4,6],"fill_value":0})");
  const zcodec::Chain scalar(R"([{"name": "bytes", "configuration": {"endian": "big"}}])",
                             R"({"data_type": "float64", "shape": [], "fill_value": 0.0})");
  CHECK(scalar.shape().empty() && scalar.granularity().empty() && scalar.element_size() == 8);
  double value = 0;
  scalar.decode_view(scalar.encode(std::vector<double>{1.5}), {}, zcodec::View(&value, 1));
  CHECK(value == 1.5);
  scalar.fill_view({}, zcodec::View(&value, 1));
  CHECK(value == 0);
  const zcodec::Chain bytes(R"(["gzip"])");
  CHECK(bytes.ndim() == 0);
  CHECK(thrown_by([&] { bytes.shape(); }).status() == ZCODEC_STATUS_UNSUPPORTED);
  CHECK(thrown_by([&] { bytes.granularity(); }).status() == ZCODEC_STATUS_UNSUPPORTED);
  CHECK(thrown_by([&] { bytes.element_size(); }).status() == ZCODEC_STATUS_UNSUPPORTED);
}

// Whether elements of a T are those of the data type.
template <class T>
bool holds(const std::string &data_type, const char *fill_value = "0") {
  const zcodec::Chain chain = chain_of(data_type, fill_value);
  try {
    chain.require_element<T>();
    return true;
  } catch (const zcodec::Error &error) {
    CHECK(error.status() == ZCODEC_STATUS_INVALID_ARGUMENT);
    CHECK(std::string(error.what()).find(data_type) != std::string::npos);
    return false;
  }
}

struct Half {
  std::uint16_t bits;
};
enum class Colour : std::uint16_t { red };

void element_types_are_those_of_the_chain() {
  CHECK(holds<std::uint16_t>("uint16") && !holds<std::int16_t>("uint16") && !holds<std::uint32_t>("uint16"));
  CHECK(!holds<float>("uint32") && holds<float>("float32") && holds<double>("float64") && !holds<float>("float64"));
  CHECK(!holds<std::uint16_t>("float16") && holds<Half>("float16") && holds<Half>("bfloat16"));
  CHECK(!holds<Half>("float32") && holds<Colour>("uint16") && !holds<Colour>("uint8"));
  CHECK(holds<std::int8_t>("int4") && holds<std::int8_t>("int2") && !holds<std::int8_t>("uint8"));
  CHECK(holds<bool>("bool", "false") && !holds<bool>("uint8") && !holds<std::int8_t>("bool", "false"));
  CHECK(holds<std::complex<float>>("complex64", "[0, 0]") && holds<std::complex<double>>("complex128", "[0, 0]"));
  CHECK(!holds<std::complex<float>>("complex128", "[0, 0]") && holds<std::complex<float>>("complex_float32", "[0, 0]"));
  CHECK(!holds<double>("complex64", "[0, 0]"));
  for (const char *data_type : {"uint8", "int64", "float16", "float64", "float8_e4m3"}) {
    CHECK(holds<std::uint8_t>(data_type) && holds<std::byte>(data_type) && holds<char>(data_type));
  }
  CHECK(holds<std::uint32_t>("r32", "[0, 0, 0, 0]") && !holds<std::uint16_t>("r32", "[0, 0, 0, 0]"));
  zcodec::Chain(R"(["gzip"])").require_element<double>();
}

void wrong_element_types_are_refused_everywhere() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  std::vector<float> floats(24);
  const std::vector<std::uint8_t> encoded = chain.encode(shard_elements());
  const auto refused = [](auto call) { return thrown_by(call).status() == ZCODEC_STATUS_INVALID_ARGUMENT; };
  CHECK(refused([&] { chain.encode(floats); }));
  CHECK(refused([&] { chain.encode_vector(floats); }));
  CHECK(refused([&] { chain.decode<std::uint16_t>(encoded); }));
  CHECK(refused([&] { chain.decode_vector<std::uint16_t>(encoded); }));
  CHECK(refused([&] { chain.decode_view(encoded, {}, floats); }));
  CHECK(refused([&] { chain.encode_view({}, floats); }));
  CHECK(refused([&] { chain.fill_view({4, 6}, floats); }));
  CHECK(refused([&] { chain.is_fill_view({4, 6}, floats); }));
  CHECK(refused([&] { zcodec::Plan(chain, {{}, floats}); }));
  std::vector<zcodec::DecodeTask> tasks(1);
  tasks[0].chain = &chain;
  tasks[0].view = floats;
  CHECK(refused([&] { zcodec::decode_tasks(tasks); }));
}

void vectors_that_are_not_zeroed() {
  const zcodec::Chain chain = chain_of("uint16");
  zcodec::Vector<std::uint16_t> elements(6);
  for (std::size_t i = 0; i < 6; i++) {
    elements[i] = static_cast<std::uint16_t>(1000 * i);
  }
  const zcodec::Vector<std::uint8_t> encoded = chain.encode_vector(elements);
  CHECK(encoded.size() == 12 && chain.encode_vector(elements.data(), 12) == encoded);
  CHECK(chain.decode_vector<std::uint16_t>(encoded) == elements);
  CHECK(chain.decode_vector<std::uint16_t>(encoded.data(), encoded.size()) == elements);
  CHECK(chain.decode<std::uint16_t>(encoded)[5] == 5000);
  const zcodec::Chain bytes(R"(["gzip"])");
  CHECK(bytes.decode_vector(bytes.encode_vector(std::vector<std::uint8_t>(100000, 7))).size() == 100000);
}

}  // namespace

int main() {
  a_box_goes_where_the_view_says();
  a_part_is_encoded_with_the_fill_value_around_it();
  views_are_filled_and_compared();
  what_does_not_fit_is_told();
  shapes();
  element_types_are_those_of_the_chain();
  wrong_element_types_are_refused_everywhere();
  vectors_that_are_not_zeroed();
  return check_result("view");
}
