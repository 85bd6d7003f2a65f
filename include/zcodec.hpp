/*
 * zcodec for C++17: the functions of zcodec.h with owners and exceptions, and nothing else.
 *
 * zcodec.h says what each function means, which sizes it takes and which statuses it has. These are the differences:
 *
 * - `Chain`, `Buffer` and `Error` free what they own. `Chain` and `Buffer` move and do not copy.
 * - A status other than ZCODEC_STATUS_OK is thrown as `Error`.
 * - Each side of a chunk is a pointer and a size in bytes, or a `std::vector` of elements.
 * - A callback is any callable. If it throws, the call fails with a status; exceptions never pass through the library.
 *
 * The thread rule is that of zcodec.h: const member functions of one chain may run in any number of threads at once.
 *
 *     zcodec::Chain chain(R"(["bytes", "zstd"])", R"({"data_type": "uint8", "shape": [64, 64], "fill_value": 0})");
 *     std::vector<std::uint8_t> encoded = chain.encode(pixels);
 *     pixels = chain.decode(encoded);
 */
#ifndef ZCODEC_HPP
#define ZCODEC_HPP

#include "zcodec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace zcodec {

/** A status other than OK, as an exception. `what()` is the message of the library. */
class Error : public std::runtime_error {
 public:
  /** Copies what `error` says. It may be NULL, and the caller still owns it. `needed_size`: see the member function. */
  explicit Error(zcodec_status status, const zcodec_error *error = nullptr, std::size_t needed_size = 0)
      : std::runtime_error(error != nullptr ? zcodec_error_message(error) : zcodec_status_name(status)),
        status_(status),
        codec_index_(zcodec_error_codec_index(error)),
        element_index_(zcodec_error_element_index(error)),
        needed_size_(needed_size) {}

  zcodec_status status() const noexcept { return status_; }
  /** Index in the chain of the codec at fault; -1: none. */
  std::int64_t codec_index() const noexcept { return codec_index_; }
  /** Index, in C order, of the first element at fault; -1: none. */
  std::int64_t element_index() const noexcept { return element_index_; }
  /** After ZCODEC_STATUS_BUFFER_TOO_SMALL: the capacity in bytes that is needed. Else 0. */
  std::size_t needed_size() const noexcept { return needed_size_; }

 private:
  zcodec_status status_;
  std::int64_t codec_index_;
  std::int64_t element_index_;
  std::size_t needed_size_;
};

/** What a call gets beyond the chunk: `zcodec_call_options` without its size member. */
struct CallOptions {
  /** Passed to the callbacks of this call. */
  void *call_data = nullptr;
  /** 0 or 1: the calling thread only. */
  std::uint32_t max_threads = 0;
};

/** What a callback that threw returns to the library; the message of the call's `Error` quotes it. */
inline constexpr std::int32_t callback_threw = INT32_MIN;

namespace detail {

struct Free {
  void operator()(zcodec_chain *chain) const noexcept { zcodec_chain_free(chain); }
  void operator()(zcodec_buffer *buffer) const noexcept { zcodec_buffer_free(buffer); }
  void operator()(zcodec_error *error) const noexcept { zcodec_error_free(error); }
};

template <class Handle>
using Owned = std::unique_ptr<Handle, Free>;

/** Throws unless `status` is OK, and frees `error` in any case. */
inline void require(zcodec_status status, zcodec_error *error = nullptr, std::size_t needed_size = 0) {
  const Owned<zcodec_error> owned(error);
  if (status != ZCODEC_STATUS_OK) {
    throw Error(status, owned.get(), needed_size);
  }
}

inline zcodec_call_options c_options(const CallOptions &options) noexcept {
  zcodec_call_options c = {};
  c.struct_size = sizeof c;
  c.call_data = options.call_data;
  c.max_threads = options.max_threads;
  return c;
}

/** Whether vectors of T hold their elements as the library reads them. */
template <class T>
constexpr bool is_element = std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>;

/** How many elements of type T hold `size` bytes. */
template <class T>
constexpr std::size_t element_count(std::size_t size) noexcept {
  return size / sizeof(T) + (size % sizeof(T) != 0 ? 1 : 0);
}

/** Calls `callable`, which returns nothing (success) or an integer (0 is success). */
template <class Callable, class... Arguments>
std::int32_t call(Callable &callable, Arguments... arguments) noexcept {
  using Result = std::invoke_result_t<Callable &, Arguments...>;
  static_assert(std::is_void_v<Result> || (std::is_integral_v<Result> && !std::is_same_v<Result, bool>),
                "a callback returns void or an integer that is 0 on success; a bool could be read both ways");
  try {
    if constexpr (std::is_void_v<Result>) {
      callable(arguments...);
      return 0;
    } else {
      return static_cast<std::int32_t>(callable(arguments...));
    }
  } catch (...) {
    return callback_threw;
  }
}

/** The two callables of one padding codec, owned by the chain, and the C functions that reach them. */
template <class Generate, class Check>
struct Padding {
  Generate generate;
  Check check;

  static std::int32_t run_generate(void *user_data, void *call_data, const std::uint8_t *chunk, std::size_t chunk_size,
                                   std::uint8_t *padding, std::size_t padding_size) noexcept {
    return call(static_cast<Padding *>(user_data)->generate, chunk, chunk_size, padding, padding_size, call_data);
  }
  static std::int32_t run_check(void *user_data, void *call_data, const std::uint8_t *chunk, std::size_t chunk_size,
                                const std::uint8_t *padding, std::size_t padding_size) noexcept {
    return call(static_cast<Padding *>(user_data)->check, chunk, chunk_size, padding, padding_size, call_data);
  }
  static void destroy(void *user_data) noexcept { delete static_cast<Padding *>(user_data); }

  static constexpr zcodec_padding_fn generate_fn() noexcept {
    if constexpr (std::is_null_pointer_v<Generate>) {
      return nullptr;
    } else {
      return run_generate;
    }
  }
  static constexpr zcodec_padding_check_fn check_fn() noexcept {
    if constexpr (std::is_null_pointer_v<Check>) {
      return nullptr;
    } else {
      return run_check;
    }
  }
};

}  // namespace detail

/** Memory that the library allocated. */
class Buffer {
 public:
  /** Takes ownership of `buffer`. */
  explicit Buffer(zcodec_buffer *buffer) noexcept : buffer_(buffer) {}

  const std::uint8_t *data() const noexcept { return zcodec_buffer_data(buffer_.get()); }
  std::size_t size() const noexcept { return zcodec_buffer_size(buffer_.get()); }
  const std::uint8_t *begin() const noexcept { return data(); }
  const std::uint8_t *end() const noexcept { return data() + size(); }

 private:
  detail::Owned<zcodec_buffer> buffer_;
};

/** A run of Zarr v3 codecs, bound to the representation of what enters it on encode. */
class Chain {
 public:
  /** An empty `input_json` stands for NULL: a chain of bytes->bytes codecs. */
  explicit Chain(std::string_view codecs_json, std::string_view input_json = {}) {
    zcodec_chain *chain = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status =
        zcodec_chain_new(codecs_json.data(), codecs_json.size(), input_json.empty() ? nullptr : input_json.data(),
                         input_json.size(), &chain, &error);
    detail::require(status, error);
    chain_.reset(chain);
  }

  /** Takes ownership of a chain from the C functions. */
  explicit Chain(zcodec_chain *chain) noexcept : chain_(chain) {}

  static Chain from_zarr_json(std::string_view zarr_json) {
    zcodec_chain *chain = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_chain_from_zarr_json(zarr_json.data(), zarr_json.size(), &chain, &error);
    detail::require(status, error);
    return Chain(chain);
  }

  /** The handle, for functions that only zcodec.h has. This object still owns it. */
  const zcodec_chain *get() const noexcept { return chain_.get(); }
  zcodec_chain *get() noexcept { return chain_.get(); }

  /* ---- Encoding and decoding one chunk ---- */

  /** Encodes into memory of the caller; returns the encoded size in bytes. */
  std::size_t encode(const void *decoded, std::size_t decoded_size, void *encoded, std::size_t encoded_capacity,
                     const CallOptions &options = {}) const {
    const zcodec_call_options c_options = detail::c_options(options);
    std::size_t encoded_size = 0;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_encode_with(chain_.get(), &c_options, decoded, decoded_size, encoded,
                                                    encoded_capacity, &encoded_size, &error);
    detail::require(status, error, encoded_size);
    return encoded_size;
  }

  /** Decodes into memory of the caller; returns the decoded size in bytes. */
  std::size_t decode(const void *encoded, std::size_t encoded_size, void *decoded, std::size_t decoded_capacity,
                     const CallOptions &options = {}) const {
    const zcodec_call_options c_options = detail::c_options(options);
    std::size_t decoded_size = 0;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_decode_with(chain_.get(), &c_options, encoded, encoded_size, decoded,
                                                    decoded_capacity, &decoded_size, &error);
    detail::require(status, error, decoded_size);
    return decoded_size;
  }

  /** Encodes into a vector, whose capacity is the bound of the encoded size. */
  std::vector<std::uint8_t> encode(const void *decoded, std::size_t decoded_size,
                                   const CallOptions &options = {}) const {
    return grow<std::uint8_t>(encoded_capacity(decoded_size), [&](void *encoded, std::size_t capacity) {
      return encode(decoded, decoded_size, encoded, capacity, options);
    });
  }

  template <class T>
  std::vector<std::uint8_t> encode(const std::vector<T> &decoded, const CallOptions &options = {}) const {
    static_assert(detail::is_element<T>, "elements are plain values; a vector<bool> has none");
    return encode(decoded.data(), decoded.size() * sizeof(T), options);
  }

  /**
   * Decodes into a vector of elements. Throws std::length_error if the decoded size is not a multiple of sizeof(T).
   * The decoded size of a bytes->bytes chain is not known: a chunk that is larger than four times its encoding is
   * decoded twice, and its check callbacks run twice.
   */
  template <class T = std::uint8_t>
  std::vector<T> decode(const void *encoded, std::size_t encoded_size, const CallOptions &options = {}) const {
    return grow<T>(decoded_capacity(encoded_size), [&](void *decoded, std::size_t capacity) {
      return decode(encoded, encoded_size, decoded, capacity, options);
    });
  }

  template <class T = std::uint8_t>
  std::vector<T> decode(const std::vector<std::uint8_t> &encoded, const CallOptions &options = {}) const {
    return decode<T>(encoded.data(), encoded.size(), options);
  }

  /** Encodes into memory that the library allocates. */
  Buffer encode_to_buffer(const void *decoded, std::size_t decoded_size) const {
    zcodec_buffer *encoded = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_encode_to_buffer(chain_.get(), decoded, decoded_size, &encoded, &error);
    detail::require(status, error);
    return Buffer(encoded);
  }

  /** Decodes into memory that the library allocates. */
  Buffer decode_to_buffer(const void *encoded, std::size_t encoded_size) const {
    zcodec_buffer *decoded = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_decode_to_buffer(chain_.get(), encoded, encoded_size, &decoded, &error);
    detail::require(status, error);
    return Buffer(decoded);
  }

  /* ---- Asking a chain ---- */

  /** Size in bytes of the decoded side. Throws ZCODEC_STATUS_UNKNOWN_SIZE for a bytes->bytes chain. */
  std::size_t decoded_size() const {
    std::size_t size = 0;
    detail::require(zcodec_chain_decoded_size(chain_.get(), &size));
    return size;
  }

  /** A capacity in bytes that is always enough to encode a decoded side of this many bytes. */
  std::size_t encoded_bound(std::size_t decoded_size) const {
    std::size_t bound = 0;
    detail::require(zcodec_chain_encoded_bound(chain_.get(), decoded_size, &bound));
    return bound;
  }

  /** What leaves on encode. */
  std::string output_json() const { return json(zcodec_chain_output_json); }
  /** The codecs in canonical form. */
  std::string codecs_json() const { return json(zcodec_chain_codecs_json); }
  /** Warnings: valid metadata that is likely to cause trouble. */
  std::string warnings_json() const { return json(zcodec_chain_warnings_json); }

  std::size_t codec_count() const noexcept { return zcodec_chain_codec_count(chain_.get()); }
  zcodec_kind kind() const noexcept { return zcodec_chain_kind(chain_.get()); }

  /** The same codecs and callbacks for a chunk of another shape. */
  Chain with_shape(const std::uint64_t *shape, std::size_t ndim) const {
    zcodec_chain *reshaped = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_chain_with_shape(chain_.get(), shape, ndim, &reshaped, &error);
    detail::require(status, error);
    return Chain(reshaped);
  }
  Chain with_shape(const std::vector<std::uint64_t> &shape) const { return with_shape(shape.data(), shape.size()); }

  /* ---- Dynamic padding ---- */

  /**
   * Sets the callables of the pad or offset codec at `codec_index`; nullptr stands for none.
   *
   *     generate(const uint8_t *chunk, size_t chunk_size, uint8_t *padding, size_t padding_size, void *call_data)
   *     check(const uint8_t *chunk, size_t chunk_size, const uint8_t *padding, size_t padding_size, void *call_data)
   *
   * Each returns nothing, or an integer that is 0 on success. Throwing is failure, too: with
   * ZCODEC_STATUS_CALLBACK_FAILED for `generate`, and ZCODEC_STATUS_CORRUPT_DATA for `check`.
   * The chain, and every chain that `with_shape` makes from it, shares one copy of both. All threads that use these
   * chains may call it at the same time. The last chain destroys it; its destructor must not throw.
   */
  template <class Generate, class Check>
  void set_padding(std::size_t codec_index, Generate &&generate, Check &&check) {
    using Padding = detail::Padding<std::decay_t<Generate>, std::decay_t<Check>>;
    std::unique_ptr<Padding> padding(new Padding{std::forward<Generate>(generate), std::forward<Check>(check)});
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_chain_set_padding(chain_.get(), codec_index, Padding::generate_fn(),
                                                          Padding::check_fn(), padding.get(), Padding::destroy, &error);
    detail::require(status, error);
    static_cast<void>(padding.release());  // the chain owns it now; after a failure we still would
  }

 private:
  /** What `run(memory, capacity)` writes, as elements. Runs again if `capacity` was too small. */
  template <class T, class Run>
  static std::vector<T> grow(std::size_t capacity, Run run) {
    static_assert(detail::is_element<T>, "elements are plain values; a vector<bool> has none");
    std::vector<T> elements(detail::element_count<T>(capacity));
    std::size_t size = 0;
    try {
      size = run(elements.data(), elements.size() * sizeof(T));
    } catch (const Error &error) {
      if (error.status() != ZCODEC_STATUS_BUFFER_TOO_SMALL) {
        throw;
      }
      elements.resize(detail::element_count<T>(error.needed_size()));
      size = run(elements.data(), elements.size() * sizeof(T));
    }
    if (size % sizeof(T) != 0) {
      throw std::length_error(std::to_string(size) + " bytes are no whole number of elements of " +
                              std::to_string(sizeof(T)) + " bytes");
    }
    elements.resize(size / sizeof(T));
    return elements;
  }

  /** A capacity that is enough; 0 if the encode itself will report what is wrong. */
  std::size_t encoded_capacity(std::size_t decoded_size) const noexcept {
    std::size_t bound = 0;
    return zcodec_chain_encoded_bound(chain_.get(), decoded_size, &bound) == ZCODEC_STATUS_OK ? bound : 0;
  }

  /** The decoded size of an array, else a guess. */
  std::size_t decoded_capacity(std::size_t encoded_size) const noexcept {
    std::size_t size = 0;
    if (zcodec_chain_decoded_size(chain_.get(), &size) == ZCODEC_STATUS_OK) {
      return size;
    }
    return encoded_size > SIZE_MAX / 4 ? encoded_size : 4 * encoded_size;
  }

  std::string json(zcodec_status (*ask)(const zcodec_chain *, zcodec_buffer **, zcodec_error **)) const {
    zcodec_buffer *buffer = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = ask(chain_.get(), &buffer, &error);
    detail::require(status, error);
    const Buffer text(buffer);
    return std::string(text.begin(), text.end());
  }

  detail::Owned<zcodec_chain> chain_;
};

/** What this build supports, as JSON. Static text. */
inline std::string_view supported_json() noexcept { return zcodec_supported_json(); }
inline std::string_view version() noexcept { return zcodec_version(); }
/** "ZCODEC_STATUS_..." */
inline std::string_view status_name(zcodec_status status) noexcept { return zcodec_status_name(status); }

}  // namespace zcodec

#endif  // ZCODEC_HPP
