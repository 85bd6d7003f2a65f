// Padding from callables.
#include "check.h"
#include "zcodec.hpp"

#include <functional>
#include <memory>
#include <stdexcept>

namespace {

constexpr const char *pad = R"([{"name": "pad", "configuration": {"location": "start", "nbytes": 2}}])";
const std::vector<std::uint8_t> decoded = {10, 20, 30};

template <class Call>
zcodec_status thrown_by(Call call) {
  try {
    call();
  } catch (const zcodec::Error &error) {
    return error.status();
  }
  return ZCODEC_STATUS_OK;
}

void lambdas_write_and_check() {
  zcodec::Chain chain(pad);
  int checked = 0;
  chain.set_padding(
      0,
      [](const std::uint8_t *chunk, std::size_t chunk_size, std::uint8_t *padding, std::size_t padding_size,
         void *call_data) {
        CHECK(padding_size == 2 && call_data == nullptr);
        padding[0] = chunk[0];
        padding[1] = static_cast<std::uint8_t>(chunk_size);
      },
      [&checked](const std::uint8_t *, std::size_t chunk_size, const std::uint8_t *padding, std::size_t, void *) {
        ++checked;
        return padding[1] == chunk_size ? 0 : 1;
      });
  std::vector<std::uint8_t> encoded = chain.encode(decoded);
  CHECK((encoded == std::vector<std::uint8_t>{10, 3, 10, 20, 30}));
  CHECK(chain.decode(encoded) == decoded);
  CHECK(checked == 1);
  encoded[1] = 4;
  CHECK(thrown_by([&] { chain.decode(encoded); }) == ZCODEC_STATUS_CORRUPT_DATA);
}

void call_data_arrives() {
  zcodec::Chain chain(pad);
  chain.set_padding(
      0,
      [](const std::uint8_t *, std::size_t, std::uint8_t *padding, std::size_t, void *call_data) {
        padding[0] = *static_cast<std::uint8_t *>(call_data);
      },
      nullptr);
  std::uint8_t mark = 77;
  zcodec::CallOptions options;
  options.call_data = &mark;
  CHECK(chain.encode(decoded, options)[0] == 77);
}

void what_a_callable_throws_becomes_a_status() {
  zcodec::Chain chain(pad);
  chain.set_padding(
      0, [](const std::uint8_t *, std::size_t, std::uint8_t *, std::size_t, void *) { throw std::runtime_error("no"); },
      [](const std::uint8_t *, std::size_t, const std::uint8_t *, std::size_t, void *) { throw 1; });
  CHECK(thrown_by([&] { chain.encode(decoded); }) == ZCODEC_STATUS_CALLBACK_FAILED);
  CHECK(thrown_by([&] { chain.decode(decoded); }) == ZCODEC_STATUS_CORRUPT_DATA);
  try {
    chain.encode(decoded);
  } catch (const zcodec::Error &error) {
    CHECK(std::string(error.what()).find(std::to_string(zcodec::callback_threw)) != std::string::npos);
  }
}

std::int32_t write_marks(const std::uint8_t *, std::size_t, std::uint8_t *padding, std::size_t, void *) {
  padding[0] = padding[1] = 9;
  return 0;
}

void functions_and_std_functions_are_callables() {
  zcodec::Chain chain(pad);
  chain.set_padding(0, write_marks, nullptr);
  CHECK(chain.encode(decoded)[0] == 9);
  using Generate = std::function<int(const std::uint8_t *, std::size_t, std::uint8_t *, std::size_t, void *)>;
  chain.set_padding(0, Generate(write_marks), nullptr);
  CHECK(chain.encode(decoded)[1] == 9);
  chain.set_padding(0, Generate(), nullptr);  // an empty one throws when called
  CHECK(thrown_by([&] { chain.encode(decoded); }) == ZCODEC_STATUS_CALLBACK_FAILED);
  decltype(&write_marks) no_function = nullptr;
  chain.set_padding(0, no_function, nullptr);
  CHECK(chain.encode(decoded)[0] == 0);
  chain.set_padding(0, nullptr, nullptr);
  CHECK(chain.encode(decoded)[0] == 0);
}

void callables_are_destroyed_once() {
  const auto mark = std::make_shared<int>(5);
  const auto callable = [mark](const std::uint8_t *, std::size_t, std::uint8_t *padding, std::size_t, void *) {
    padding[0] = static_cast<std::uint8_t>(*mark);
  };
  {
    zcodec::Chain chain(R"(["bytes", {"name": "pad", "configuration": {"location": "start", "nbytes": 2}}])",
                        R"({"data_type": "uint8", "shape": [3], "fill_value": 0})");
    chain.set_padding(1, callable, nullptr);
    chain.set_padding(1, callable, nullptr);
    CHECK(mark.use_count() == 3);
    CHECK(thrown_by([&] { chain.set_padding(0, callable, nullptr); }) == ZCODEC_STATUS_INVALID_ARGUMENT);
    CHECK(mark.use_count() == 3);
    const zcodec::Chain reshaped = chain.with_shape({1});
    chain = zcodec::Chain(R"(["crc32c"])");
    CHECK(mark.use_count() == 3);
    CHECK(reshaped.encode(std::vector<std::uint8_t>{1})[0] == 5);
  }
  CHECK(mark.use_count() == 2);
}

void callables_that_only_move_are_taken() {
  zcodec::Chain chain(pad);
  auto mark = std::make_unique<std::uint8_t>(std::uint8_t{3});
  chain.set_padding(
      0,
      [mark = std::move(mark)](const std::uint8_t *, std::size_t, std::uint8_t *padding, std::size_t, void *) {
        padding[0] = *mark;
      },
      nullptr);
  CHECK(chain.encode(decoded)[0] == 3);
}

}  // namespace

int main() {
  lambdas_write_and_check();
  call_data_arrives();
  what_a_callable_throws_becomes_a_status();
  functions_and_std_functions_are_callables();
  callables_are_destroyed_once();
  callables_that_only_move_are_taken();
  return check_result("padding");
}
