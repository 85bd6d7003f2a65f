/* Boxes of arrays: the cells of a regular grid that they touch, views of them, and copies between views. */
#ifndef ZCODEC_EXAMPLE_BOXES_HPP
#define ZCODEC_EXAMPLE_BOXES_HPP

#include "zcodec.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

using Index = std::vector<std::uint64_t>;

// Part of a box that lies in one cell of a regular grid.
struct Touched {
  Index cell;
  Index in_cell;  // where the part begins in the cell
  Index in_box;   // where it begins in the box
  Index shape;
};

inline std::vector<Touched> cells_of(const Index &cell_shape, const Index &start, const Index &shape) {
  const std::size_t ndim = shape.size();
  std::vector<Touched> all;
  Index first(ndim), last(ndim);
  for (std::size_t i = 0; i < ndim; i++) {
    if (shape[i] == 0) {
      return all;
    }
    first[i] = start[i] / cell_shape[i];
    last[i] = (start[i] + shape[i] - 1) / cell_shape[i];
  }
  for (Index cell = first;;) {
    Touched touched = {cell, Index(ndim), Index(ndim), Index(ndim)};
    for (std::size_t i = 0; i < ndim; i++) {
      const std::uint64_t begin = std::max(start[i], cell[i] * cell_shape[i]);
      const std::uint64_t end = std::min(start[i] + shape[i], (cell[i] + 1) * cell_shape[i]);
      touched.in_cell[i] = begin - cell[i] * cell_shape[i];
      touched.in_box[i] = begin - start[i];
      touched.shape[i] = end - begin;
    }
    all.push_back(std::move(touched));
    std::size_t axis = ndim;
    while (axis > 0 && ++cell[axis - 1] > last[axis - 1]) {
      cell[axis - 1] = first[axis - 1];
      axis--;
    }
    if (axis == 0) {
      return all;
    }
  }
}

inline std::vector<std::int64_t> c_strides(const Index &shape, std::size_t element_size) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = static_cast<std::int64_t>(element_size);
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= static_cast<std::int64_t>(shape[i]);
  }
  return strides;
}

inline std::uint64_t product(const Index &shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) {
    count *= size;
  }
  return count;
}

// The view of what begins at `start` in another view, which has strides.
template <class Void>
zcodec::BasicView<Void> subview(const zcodec::BasicView<Void> &view, const Index &start) {
  std::int64_t offset = static_cast<std::int64_t>(view.offset());
  for (std::size_t i = 0; i < start.size(); i++) {
    offset += static_cast<std::int64_t>(start[i]) * view.strides()[i];
  }
  return zcodec::BasicView<Void>(view.memory(), view.memory_size(), view.strides(), static_cast<std::size_t>(offset));
}

// Requests a cache line, which need not exist: it changes nothing but how long a later read takes.
inline void prefetch(std::uintptr_t address) {
#ifdef __GNUC__
  __builtin_prefetch(reinterpret_cast<const void *>(address));
#else
  (void)address;
#endif
}

// Copies the elements of a box from one view to another; both have strides.
inline void copy(const zcodec::ConstView &from, const zcodec::View &to, const Index &shape, std::size_t element_size) {
  const std::vector<std::int64_t> &sources = from.strides(), &targets = to.strides();
  // Elements that lie back to back on both sides are copied together.
  std::size_t ndim = shape.size(), block = element_size;
  if (ndim > 0 && sources[ndim - 1] == targets[ndim - 1] &&
      targets[ndim - 1] == static_cast<std::int64_t>(element_size)) {
    ndim--;
    block *= static_cast<std::size_t>(shape[ndim]);
  }
  // Cells of the cache lie anywhere in memory; while a plane is copied, the next one is on its way.
  const std::int64_t to_next_plane = ndim > 1 ? sources[ndim - 2] : 0;
  const auto copy_axis = [&](const auto &self, std::size_t axis, const char *source, char *target) -> void {
    for (std::uint64_t i = 0; i < shape[axis]; i++) {
      if (axis + 1 == ndim) {
        prefetch(reinterpret_cast<std::uintptr_t>(source) + static_cast<std::uintptr_t>(to_next_plane));
        std::memcpy(target, source, block);
      } else {
        self(self, axis + 1, source, target);
      }
      source += sources[axis];
      target += targets[axis];
    }
  };
  const char *const source = static_cast<const char *>(from.memory()) + from.offset();
  char *const target = static_cast<char *>(to.memory()) + to.offset();
  if (ndim == 0) {
    std::memcpy(target, source, block);
  } else {
    copy_axis(copy_axis, 0, source, target);
  }
}

#endif
