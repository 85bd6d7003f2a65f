// Reads the .npy files of tests/data that hold uint16 in C order.
#ifndef ZCODEC_EXAMPLE_NPY_HPP
#define ZCODEC_EXAMPLE_NPY_HPP

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

struct Volume {
  std::vector<std::uint64_t> shape;
  std::vector<std::uint16_t> elements;
};

// Version 1 of the format: magic, the size of the header, a dictionary of Python, the elements.
inline Volume read_npy(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (file.compare(0, 7, "\x93NUMPY\x01") != 0 || file.size() < 10) {
    throw std::runtime_error(path + " is no .npy file of version 1");
  }
  const auto byte = [&](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(file[at])); };
  const std::size_t begin = 10 + byte(8) + 256 * byte(9);
  const std::string header = file.substr(10, begin - 10);
  if (header.find("'descr': '<u2'") == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos) {
    throw std::runtime_error(path + " does not hold uint16 in C order");
  }
  Volume volume;
  std::size_t count = 1;
  for (std::size_t at = header.find("'shape': (") + 10; header[at] >= '0' && header[at] <= '9';) {
    char *end = nullptr;
    volume.shape.push_back(std::strtoull(&header[at], &end, 10));
    count *= volume.shape.back();
    at = header.find_first_not_of(", ", static_cast<std::size_t>(end - header.data()));
  }
  if (file.size() < begin || file.size() - begin != 2 * count) {
    throw std::runtime_error(path + " has another size than its shape says");
  }
  for (std::size_t i = 0; i < count; i++) {
    volume.elements.push_back(static_cast<std::uint16_t>(byte(begin + 2 * i) | byte(begin + 2 * i + 1) << 8));
  }
  return volume;
}

#endif
