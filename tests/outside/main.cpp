#include <zcodec.hpp>

int main() {
  const zcodec::Chain chain(R"(["bytes", "gzip"])", R"({"data_type": "uint8", "shape": [5], "fill_value": 0})");
  const std::vector<std::uint8_t> decoded = {1, 2, 3, 4, 5};
  return chain.decode(chain.encode(decoded)) == decoded ? 0 : 1;
}
