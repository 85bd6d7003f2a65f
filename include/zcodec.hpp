/*
 * zcodec for C++17: the functions of zcodec.h with owners and exceptions, and nothing else.
 *
 * zcodec.h says what each function means, which sizes it takes and which statuses it returns. The differences are:
 *
 * - Handles free what they own. They move, and what is left throws ZCODEC_STATUS_NULL_ARGUMENT when it is used; `Index`
 *   and `Executor`, which are shared, copy as well.
 * - A status other than ZCODEC_STATUS_OK is thrown as `Error`.
 * - `encode` and `decode` into a new vector throw std::bad_alloc or std::length_error if there is no room for it.
 * - That vector is allocated before the chunk is read: set `ChainOptions::max_decoded_size` for foreign metadata.
 * - Each side of a chunk is a pointer and a size in bytes (of a `View`, a pointer to elements and their number), or a
 *   `std::vector` of elements; in C++20 also a `std::span`.
 * - Elements have a type, which must be that of the chain: see `Chain::require_element`.
 * - A callback is any callable. If it throws, the call fails with a status; exceptions never pass through the library.
 *
 * The sections are those of zcodec.h, after what C++ must see first.
 *
 * The thread rule is that of zcodec.h: const member functions of one object may run in any number of threads at once.
 *
 *     zcodec::Chain chain(R"(["bytes", "zstd"])", R"({"data_type": "uint8", "shape": [64, 64], "fill_value": 0})");
 *     std::vector<std::uint8_t> encoded = chain.encode(pixels);
 *     pixels = chain.decode(encoded);
 */
#ifndef ZCODEC_HPP
#define ZCODEC_HPP

#if !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#error "zcodec.hpp reports errors by exceptions, which are off; zcodec.h does without them"
#endif

#include "zcodec.h"

#include <algorithm>
#include <atomic>
#include <complex>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if __cplusplus >= 202002L || (defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#include <span>
/** 1 if the overloads for std::span exist. */
#define ZCODEC_HPP_HAS_SPAN 1
#else
#define ZCODEC_HPP_HAS_SPAN 0
#endif

namespace zcodec {

/** Bytes of a stored object: `offset` and `size`. */
using Range = zcodec_range;

/** An offset or a size that is not known. */
inline constexpr std::uint64_t size_unknown = ZCODEC_SIZE_UNKNOWN;

/** What a callback that threw returns to the library; the message of the call's `Error` quotes it. */
inline constexpr std::int32_t callback_threw = INT32_MIN;

/* ---- Errors, as exceptions ----------------------------------------------------------------- */

/** A status other than OK, as an exception. `what()` is the message of the library. */
class Error : public std::runtime_error {
 public:
  /** Copies the content of `error`, which may be NULL and still belongs to the caller. */
  explicit Error(zcodec_status status, const zcodec_error *error = nullptr, std::size_t needed_size = 0)
      : std::runtime_error(error != nullptr ? zcodec_error_message(error) : zcodec_status_name(status)),
        status_(status),
        codec_index_(zcodec_error_codec_index(error)),
        element_index_(zcodec_error_element_index(error)),
        needed_size_(needed_size) {
    if (error != nullptr) {
      texts_ = std::make_shared<const Texts>(Texts{zcodec_error_code(error), zcodec_error_path(error)});
    }
  }

  /** An error that this header found before it called the library. */
  Error(zcodec_status status, const std::string &message)
      : std::runtime_error(message), status_(status), codec_index_(-1), element_index_(-1), needed_size_(0) {}

  /** The kind of the failure. */
  zcodec_status status() const noexcept { return status_; }
  /** The reason for programs: a word that never changes; docs/errors.md lists them. "" if there is none. */
  std::string_view code() const noexcept { return texts_ ? std::string_view(texts_->code) : std::string_view(); }
  /** The place of the codec at fault: a JSON Pointer into the codecs, such as "/0/configuration/codecs/1"; "": none. */
  std::string_view path() const noexcept { return texts_ ? std::string_view(texts_->path) : std::string_view(); }
  /** The index in the chain of the codec at fault; -1: none. */
  std::int64_t codec_index() const noexcept { return codec_index_; }
  /** The index of the first element at fault, in C order of the whole array that enters that codec; -1: none. */
  std::int64_t element_index() const noexcept { return element_index_; }
  /** After ZCODEC_STATUS_BUFFER_TOO_SMALL: the capacity in bytes that is needed; otherwise 0. */
  std::size_t needed_size() const noexcept { return needed_size_; }

 private:
  struct Texts {
    std::string code;
    std::string path;
  };

  zcodec_status status_;
  std::int64_t codec_index_;
  std::int64_t element_index_;
  std::size_t needed_size_;
  std::shared_ptr<const Texts> texts_;  // shared, because copying an exception must not throw
};

/* ---- What the sections below share --------------------------------------------------------- */

namespace detail {

/** Names and paths of C end at a NUL. */
inline void require_no_nul(const char *what, const std::string &text) {
  if (text.find('\0') != std::string::npos) {
    throw Error(ZCODEC_STATUS_INVALID_ARGUMENT, std::string(what) + " contains a NUL");
  }
}

struct Free {
  void operator()(zcodec_chain *chain) const noexcept { zcodec_chain_free(chain); }
  void operator()(zcodec_buffer *buffer) const noexcept { zcodec_buffer_free(buffer); }
  void operator()(zcodec_error *error) const noexcept { zcodec_error_free(error); }
  void operator()(zcodec_index *index) const noexcept { zcodec_index_free(index); }
  void operator()(zcodec_plan *plan) const noexcept { zcodec_plan_free(plan); }
  void operator()(zcodec_writer *writer) const noexcept { zcodec_writer_free(writer); }
  void operator()(zcodec_registry *registry) const noexcept { zcodec_registry_free(registry); }
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

/** Whether vectors of T hold their elements as the library reads them. */
template <class T>
constexpr bool is_element = std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>;

/** The number of elements of type T that hold `size` bytes. */
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
      const Result result = callable(arguments...);
      const auto code = static_cast<std::int32_t>(result);
      return result != 0 && code == 0 ? 1 : code;  // a failure, however it is cut
    }
  } catch (...) {
    return callback_threw;
  }
}

/** Whether a callable is a null function pointer. */
template <class Callable>
bool is_null(const Callable &callable) noexcept {
  if constexpr (std::is_pointer_v<Callable>) {
    return callable == nullptr;
  } else {
    return false;
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

  zcodec_padding_fn generate_fn() const noexcept {
    if constexpr (std::is_null_pointer_v<Generate>) {
      return nullptr;
    } else {
      return is_null(generate) ? nullptr : run_generate;
    }
  }
  zcodec_padding_check_fn check_fn() const noexcept {
    if constexpr (std::is_null_pointer_v<Check>) {
      return nullptr;
    } else {
      return is_null(check) ? nullptr : run_check;
    }
  }
};

/** What an element is, as far as the types of C++ tell elements apart. */
struct ElementType {
  enum Kind : std::uint8_t { bytes, boolean, signed_integer, unsigned_integer, floating, complex, other };

  Kind kind = bytes;
  std::uint8_t digits = 0;  // of the significand of floating and complex; tells float16 from bfloat16
  std::size_t size = 0;     // in bytes; 0: any
};

template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {
  static constexpr int digits = std::numeric_limits<T>::digits;
};

/** What a T is. `bytes` is any data type, and `other` any of its size. */
template <class T>
constexpr ElementType element_type() noexcept {
  using U = std::remove_cv_t<T>;
  using Kind = ElementType::Kind;
  Kind kind = Kind::other;
  int digits = 0;
  if constexpr (std::is_same_v<U, std::uint8_t> || std::is_same_v<U, std::byte> || std::is_same_v<U, char>) {
    kind = Kind::bytes;
  } else if constexpr (std::is_same_v<U, bool>) {
    kind = Kind::boolean;
  } else if constexpr (std::is_integral_v<U>) {
    kind = std::is_signed_v<U> ? Kind::signed_integer : Kind::unsigned_integer;
  } else if constexpr (std::is_floating_point_v<U>) {
    kind = Kind::floating;
    digits = std::numeric_limits<U>::digits;
  } else if constexpr (IsComplex<U>::value) {
    kind = Kind::complex;
    digits = IsComplex<U>::digits;
  }
  return {kind, static_cast<std::uint8_t>(digits), sizeof(U)};
}

/** Digits of the significand of the floating types that C++ has or may have; 0: none has them. */
inline std::uint8_t float_digits(std::string_view name) noexcept {
  constexpr std::pair<std::string_view, std::uint8_t> types[] = {
      {"float16", 11}, {"bfloat16", 8}, {"float32", 24}, {"float64", 53}};
  for (const auto &[type, digits] : types) {
    if (name == type) {
      return digits;
    }
  }
  return 0;
}

/** What the elements of this data type are: the `data_type` of an input_json, without quotes. */
inline ElementType element_type_of(std::string_view name, std::size_t size) noexcept {
  using Kind = ElementType::Kind;
  const auto begins = [name](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; };
  if (name == "bool") {
    return {Kind::boolean, 0, size};
  }
  if (begins("int")) {
    return {Kind::signed_integer, 0, size};
  }
  if (begins("uint")) {
    return {Kind::unsigned_integer, 0, size};
  }
  if (begins("complex")) {
    const std::string_view part = name == "complex64"    ? "float32"
                                  : name == "complex128" ? "float64"
                                                         : name.substr(sizeof "complex_" - 1);
    return {Kind::complex, float_digits(part), size};
  }
  if (begins("float") || begins("bfloat")) {
    return {Kind::floating, float_digits(name), size};
  }
  return {Kind::other, 0, size};  // raw bits, times, texts, structs
}

/** Whether memory of `given` elements may hold elements of the chain. */
constexpr bool is_compatible(const ElementType &given, const ElementType &chain) noexcept {
  using Kind = ElementType::Kind;
  if (given.kind == Kind::bytes || chain.kind == Kind::bytes) {
    return true;
  }
  const bool same_kind = given.kind == Kind::other || chain.kind == Kind::other ||
                         (given.kind == chain.kind && given.digits == chain.digits);
  return same_kind && given.size == chain.size;
}

/** For messages. */
inline std::string describe(const ElementType &type) {
  static constexpr std::string_view names[] = {"byte",     "bool",    "signed integer", "unsigned integer",
                                               "floating", "complex", "other"};
  return std::string(names[type.kind]) + " elements of " + std::to_string(type.size) + " bytes";
}

/** Leaves elements without an initial value where a vector would set them to zero. */
template <class T>
struct Uninitialized : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Uninitialized<U>;
  };

  Uninitialized() noexcept = default;
  template <class U>
  Uninitialized(const Uninitialized<U> &) noexcept {}

  template <class U>
  void construct(U *element) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void *>(element)) U;
  }
  template <class U, class... Arguments>
  void construct(U *element, Arguments &&...arguments) {
    ::new (static_cast<void *>(element)) U(std::forward<Arguments>(arguments)...);
  }
};

}  // namespace detail

/** A std::vector that does not set its elements to zero before they are written. */
template <class T>
using Vector = std::vector<T, detail::Uninitialized<T>>;

/**
 * Objects that a plan or a writer owns. Ranges are valid until its next `next()`, pieces until it is destroyed.
 */
template <class T>
class List {
 public:
  List() noexcept = default;
  List(const T *first, std::size_t count) noexcept : first_(first), count_(count) {}

  const T *data() const noexcept { return first_; }
  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  const T *begin() const noexcept { return first_; }
  const T *end() const noexcept { return first_ + count_; }
  const T &operator[](std::size_t i) const noexcept { return first_[i]; }

 private:
  const T *first_ = nullptr;
  std::size_t count_ = 0;
};

/* ---- Options of a call, executors ---------------------------------------------------------- */

/** One batch of jobs of the library, for as long as the `run` of an executor that got it. */
class Job {
 public:
  Job(zcodec_job_fn function, void *data) noexcept : function_(function), data_(data) {}

  /** Does job `i` as worker number `worker`. */
  void operator()(std::uint32_t i, std::uint32_t worker) const noexcept { function_(data_, i, worker); }

 private:
  zcodec_job_fn function_;
  void *data_;
};

namespace detail {

/** The callable of an executor and the C function that reaches it. */
template <class Run>
struct OwnedExecutor {
  Run run;
  zcodec_executor c = {};

  OwnedExecutor(std::uint32_t max_workers, Run callable) : run(std::move(callable)) {
    c.struct_size = sizeof c;
    c.user_data = this;
    c.max_workers = max_workers;
    c.run = [](void *user_data, zcodec_job_fn function, void *job_data, std::uint32_t count) noexcept {
      return call(static_cast<OwnedExecutor *>(user_data)->run, Job(function, job_data), count);
    };
  }
};

/** One batch on its way through a pool. Workers that start too late find nothing to do, and touch nothing else. */
class Batch {
 public:
  Batch(Job job, std::uint32_t count) noexcept : job_(job), count_(count) {}

  /** Does jobs until none is left. */
  void work(std::uint32_t worker) noexcept {
    std::uint32_t done = 0;
    for (std::uint64_t i = next_++; i < count_; i = next_++) {
      job_(static_cast<std::uint32_t>(i), worker);
      done++;
    }
    if (done > 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      done_ += done;
      if (done_ == count_) {
        all_done_.notify_all();
      }
    }
  }

  /** Waits until all jobs have returned, but not until all workers have started. */
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    all_done_.wait(lock, [this] { return done_ == count_; });
  }

 private:
  const Job job_;
  const std::uint32_t count_;
  std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable all_done_;
  std::uint32_t done_ = 0;
};

/** Gives batches to a pool that takes functions one by one. */
template <class Post>
struct PoolRun {
  std::uint32_t max_workers;
  Post post;

  void operator()(Job job, std::uint32_t count) {
    const auto batch = std::make_shared<Batch>(job, count);
    try {
      for (std::uint32_t worker = 1; worker < (std::min)(count, max_workers); worker++) {
        post([batch, worker]() noexcept { batch->work(worker); });
      }
    } catch (...) {
      // The workers that were posted run all the same, and this thread does the rest.
    }
    batch->work(0);
    batch->wait();
  }
};

}  // namespace detail

/** Threads of the host for the work of the library: zcodec_executor. Copies share one callable. */
class Executor {
 public:
  /** No executor: the library works on the calling thread, or on threads of its own. */
  Executor() noexcept = default;

  /** A C executor; the caller still owns it and what it refers to. */
  explicit Executor(const zcodec_executor *executor) noexcept : executor_(std::shared_ptr<void>(), executor) {}

  /**
   * `run(job, count)` calls `job(i, worker)` for each i < count, on any threads, and returns when all have returned; it
   * returns nothing, or an integer that is 0 on success. `worker` is below max_workers; two calls at the same time
   * never have the same worker. `run` may be called from several threads at once, but never from inside a job. It must
   * not throw before every job that it has begun has returned; the call then fails with
   * ZCODEC_STATUS_CALLBACK_FAILED.
   */
  template <class Run>
  Executor(std::uint32_t max_workers, Run &&run) {
    using Owned = detail::OwnedExecutor<std::decay_t<Run>>;
    const auto owned = std::make_shared<Owned>(max_workers, std::forward<Run>(run));
    executor_ = std::shared_ptr<const zcodec_executor>(owned, &owned->c);
  }

  /**
   * For a thread pool: `post(function)` lets one of its threads call `function()`, now or later. The calling thread
   * works, too, as one of `max_workers`, so a pool whose threads are all busy delays nothing: it does what no other
   * thread has begun. Several threads may call `post` at once. If it throws, the calling thread and those reached so
   * far do the work.
   */
  template <class Post>
  static Executor of_pool(std::uint32_t max_workers, Post &&post) {
    return Executor(max_workers, detail::PoolRun<std::decay_t<Post>>{max_workers, std::forward<Post>(post)});
  }

  /** The C struct, or NULL. This object and its copies own it. */
  const zcodec_executor *get() const noexcept { return executor_.get(); }

 private:
  std::shared_ptr<const zcodec_executor> executor_;
};

/** The options of a call: `zcodec_call_options` without its size member. */
struct CallOptions {
  /** Passed to the callbacks of this call. */
  void *call_data = nullptr;
  /** 0 or 1: the calling thread only. */
  std::uint32_t max_threads = 0;
  /**
   * Threads of the host, instead of the library's own; `max_threads` is then ignored. Plans and writers keep a copy.
   */
  Executor executor = {};
  /** ZCODEC_CALL_STORE_EMPTY, or 0. */
  std::uint64_t flags = 0;
};

namespace detail {

inline zcodec_call_options c_options(const CallOptions &options) noexcept {
  zcodec_call_options c = {};
  c.struct_size = sizeof c;
  c.call_data = options.call_data;
  c.max_threads = options.max_threads;
  c.executor = options.executor.get();
  c.flags = options.flags;
  return c;
}

}  // namespace detail

/* ---- Boxes and views: what they are -------------------------------------------------------- */

/** A part of a decoded chunk. Both members empty: all of it. */
struct Box {
  /** Where it begins. Empty: zeros. */
  std::vector<std::uint64_t> start = {};
  /** Its size along each dimension. Empty: from `start` to the end of the chunk. */
  std::vector<std::uint64_t> shape = {};
};

/**
 * Where the elements of a box lie in memory of the caller: `View` to write them, `ConstView` to read them.
 *
 * Element (0, .., 0) begins `offset` bytes after the start of the memory; neighbours along dimension i are `strides[i]`
 * bytes apart, which may be negative. No strides: C order, back to back.
 */
template <class Void>
class BasicView {
 public:
  /** No memory: for boxes without elements. */
  BasicView() noexcept = default;

  /** Memory of any type: a pointer and a size in bytes. */
  BasicView(Void *memory, std::size_t memory_size, std::vector<std::int64_t> strides = {}, std::size_t offset = 0)
      : memory_(memory), memory_size_(memory_size), strides_(std::move(strides)), offset_(offset) {}

  /**
   * A pointer to elements and their *number*, where all other functions take bytes: `View(p, sizeof p)` of an array of
   * std::uint16_t would claim twice its memory. Strides and offset are in bytes here, too.
   */
  template <class T, class = std::enable_if_t<!std::is_void_v<T> && std::is_convertible_v<T *, Void *>>>
  BasicView(T *elements, std::size_t count, std::vector<std::int64_t> strides = {}, std::size_t offset = 0)
      : BasicView(static_cast<Void *>(elements), count * sizeof(T), std::move(strides), offset) {
    static_assert(std::is_trivially_copyable_v<T>, "elements are plain values");
    type_ = detail::element_type<T>();
  }

  /** The elements of a vector, which must outlive the view. */
  template <class T, class Allocator>
  BasicView(std::vector<T, Allocator> &elements, std::vector<std::int64_t> strides = {}, std::size_t offset = 0)
      : BasicView(elements.data(), elements.size(), std::move(strides), offset) {
    static_assert(detail::is_element<T>, "elements are plain values; a vector<bool> has none");
  }

  /** The same to read. It also takes a temporary, which lives only until the end of the expression: as an argument. */
  template <class T, class Allocator, class V = Void, class = std::enable_if_t<std::is_const_v<V>>>
  BasicView(const std::vector<T, Allocator> &elements, std::vector<std::int64_t> strides = {}, std::size_t offset = 0)
      : BasicView(elements.data(), elements.size(), std::move(strides), offset) {
    static_assert(detail::is_element<T>, "elements are plain values; a vector<bool> has none");
  }

#if ZCODEC_HPP_HAS_SPAN
  template <class T, std::size_t N, class = std::enable_if_t<std::is_convertible_v<T *, Void *>>>
  BasicView(std::span<T, N> elements, std::vector<std::int64_t> strides = {}, std::size_t offset = 0)
      : BasicView(elements.data(), elements.size(), std::move(strides), offset) {}
#endif

  /** A view to write may also be read. */
  template <class V = Void, class = std::enable_if_t<std::is_const_v<V>>>
  BasicView(const BasicView<void> &other)
      : memory_(other.memory()),
        memory_size_(other.memory_size()),
        strides_(other.strides()),
        offset_(other.offset()),
        type_(other.type()) {}

  Void *memory() const noexcept { return memory_; }
  /** In bytes. */
  std::size_t memory_size() const noexcept { return memory_size_; }
  const std::vector<std::int64_t> &strides() const noexcept { return strides_; }
  std::size_t offset() const noexcept { return offset_; }
  detail::ElementType type() const noexcept { return type_; }

 private:
  Void *memory_ = nullptr;
  std::size_t memory_size_ = 0;
  std::vector<std::int64_t> strides_;
  std::size_t offset_ = 0;
  detail::ElementType type_;
};

using View = BasicView<void>;
using ConstView = BasicView<const void>;

/** A box of a chunk and where its elements go. */
struct Part {
  Box box = {};
  View view = {};
};

namespace detail {

/** `ndim` of the box is that of its members; NULL if there are none. `c` and `box` must outlive the result. */
inline const zcodec_box *c_box(const Box &box, zcodec_box &c) {
  if (!box.start.empty() && !box.shape.empty() && box.start.size() != box.shape.size()) {
    throw Error(ZCODEC_STATUS_INVALID_ARGUMENT, "box: start has " + std::to_string(box.start.size()) +
                                                    " dimensions, shape has " + std::to_string(box.shape.size()));
  }
  c = {};
  c.struct_size = sizeof c;
  c.ndim = (std::max)(box.start.size(), box.shape.size());
  c.start = box.start.empty() ? nullptr : box.start.data();
  c.shape = box.shape.empty() ? nullptr : box.shape.data();
  return c.ndim > 0 ? &c : nullptr;
}

/** `ndim` is for a view without strides. The view must outlive the result. */
template <class Void>
zcodec_view c_view(const BasicView<Void> &view, std::size_t ndim) noexcept {
  zcodec_view c = {};
  c.struct_size = sizeof c;
  c.memory = const_cast<void *>(view.memory());  // the library only reads it where it takes a ConstView
  c.memory_size = view.memory_size();
  c.offset = view.offset();
  c.ndim = view.strides().empty() ? ndim : view.strides().size();
  c.strides = view.strides().empty() ? nullptr : view.strides().data();
  return c;
}

}  // namespace detail

/* ---- Buffers ------------------------------------------------------------------------------- */

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

/* ---- Codecs of the host -------------------------------------------------------------------- */

/** What `Codec::encode` and `Codec::decode` return if they need more room and do not know how much. */
inline constexpr std::size_t more_room = SIZE_MAX;

/**
 * A codec of the host, bound to what enters it on encode: the base class of yours. The functions run in several threads
 * at once. What they throw becomes a status, with `what()` in its message.
 */
class Codec {
 public:
  virtual ~Codec() = default;

  /** What leaves on encode, as JSON: an array like the input, or {"size": n}, or {"size": null}. */
  virtual std::string output_json() const = 0;

  /** The most bytes that `decoded_size` bytes may encode to; UINT64_MAX: not known. */
  virtual std::uint64_t encoded_bound(std::uint64_t /* decoded_size */) const noexcept { return UINT64_MAX; }

  /**
   * Encodes a chunk and returns the number of bytes written. If the capacity is too small, returns the capacity that is
   * needed, or `more_room`; the call is then repeated. If it throws: ZCODEC_STATUS_OUT_OF_RANGE.
   */
  virtual std::size_t encode(const void *decoded, std::size_t decoded_size, void *encoded, std::size_t encoded_capacity,
                             void *call_data) const = 0;

  /** Decodes a chunk, in the same way. If it throws: ZCODEC_STATUS_CORRUPT_DATA. */
  virtual std::size_t decode(const void *encoded, std::size_t encoded_size, void *decoded, std::size_t decoded_capacity,
                             void *call_data) const = 0;

 protected:
  Codec() = default;
  Codec(const Codec &) = default;
  Codec &operator=(const Codec &) = default;
};

namespace detail {

/** Writes text to a sink. The library itself reports it if there is no memory for the text. */
inline void write(zcodec_sink *sink, std::string_view text) noexcept {
  static_cast<void>(zcodec_sink_write(sink, text.data(), text.size()));
}

/** Calls `work`, which returns 0 or another number. The text of an exception goes to `message`. */
template <class Work>
std::int32_t tell(zcodec_sink *message, Work work) noexcept {
  try {
    return work();
  } catch (const std::exception &exception) {
    write(message, exception.what());
  } catch (...) {
    write(message, "an exception that is not a std::exception");
  }
  return callback_threw;
}

/** The C functions of a codec that is a `Codec`; `Make` makes them. */
template <class Make>
struct HostCodec {
  Make make;

  static std::int32_t bind(void *user_data, const char *configuration, std::size_t configuration_size,
                           const char *input, std::size_t input_size, zcodec_sink *output, zcodec_sink *message,
                           void **state) noexcept {
    return tell(message, [&] {
      std::unique_ptr<Codec> codec = static_cast<HostCodec *>(user_data)->make(
          std::string_view(configuration, configuration_size), std::string_view(input, input_size));
      if (codec == nullptr) {
        throw std::runtime_error("no codec was made");
      }
      write(output, codec->output_json());
      *state = codec.release();
      return 0;
    });
  }

  static std::uint64_t encoded_bound(void *state, std::uint64_t decoded_size) noexcept {
    return static_cast<const Codec *>(state)->encoded_bound(decoded_size);
  }

  static std::int32_t encode(void *state, void *call_data, const void *decoded, std::size_t decoded_size, void *encoded,
                             std::size_t encoded_capacity, std::size_t *encoded_size, zcodec_sink *message) noexcept {
    return tell(message, [&] {
      return result(
          static_cast<const Codec *>(state)->encode(decoded, decoded_size, encoded, encoded_capacity, call_data),
          encoded_capacity, encoded_size);
    });
  }

  static std::int32_t decode(void *state, void *call_data, const void *encoded, std::size_t encoded_size, void *decoded,
                             std::size_t decoded_capacity, std::size_t *decoded_size, zcodec_sink *message) noexcept {
    return tell(message, [&] {
      return result(
          static_cast<const Codec *>(state)->decode(encoded, encoded_size, decoded, decoded_capacity, call_data),
          decoded_capacity, decoded_size);
    });
  }

  static std::int32_t result(std::size_t returned, std::size_t capacity, std::size_t *size) noexcept {
    *size = returned == more_room ? 0 : returned;
    return returned > capacity ? ZCODEC_CODEC_TOO_SMALL : 0;
  }

  static void free_state(void *state) noexcept { delete static_cast<Codec *>(state); }
  static void destroy(void *user_data) noexcept { delete static_cast<HostCodec *>(user_data); }
};

}  // namespace detail

/** The built-in codecs, and those that were added. Chains keep what they use. */
class Registry {
 public:
  Registry() {
    zcodec_registry *registry = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_registry_new(&registry, &error);
    detail::require(status, error);
    registry_.reset(registry);
  }

  /** Takes ownership of a registry from the C functions. */
  explicit Registry(zcodec_registry *registry) noexcept : registry_(registry) {}

  /** Adds a codec from C functions, as zcodec_registry_add does; fills in `struct_size`. */
  void add(zcodec_codec codec) {
    codec.struct_size = sizeof codec;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_registry_add(registry_.get(), &codec, &error);
    detail::require(status, error);
  }

  /**
   * Adds a codec: `make(configuration, input)`, two string_views of JSON, returns a std::unique_ptr<Codec>. If it
   * throws, the chain cannot be made: ZCODEC_STATUS_INVALID_METADATA, with `what()` in the message. The registry and
   * all chains, plans and writers that use the codec share one copy of `make`; any of their threads may call it, and
   * destroy it.
   */
  template <class Make>
  void add(const std::string &name, zcodec_kind kind, Make &&make) {
    using Host = detail::HostCodec<std::decay_t<Make>>;
    detail::require_no_nul("name", name);
    std::unique_ptr<Host> host(new Host{std::forward<Make>(make)});
    zcodec_codec codec = {};
    codec.name = name.c_str();
    codec.kind = kind;
    codec.user_data = host.get();
    codec.free_user_data = Host::destroy;
    codec.bind = Host::bind;
    codec.free_state = Host::free_state;
    codec.encoded_bound = Host::encoded_bound;
    codec.encode = Host::encode;
    codec.decode = Host::decode;
    add(codec);
    static_cast<void>(host.release());  // the registry owns it now; after a failure we still would
  }

  /** The handle, for functions that only zcodec.h has. This object still owns it. */
  const zcodec_registry *get() const noexcept { return registry_.get(); }
  zcodec_registry *get() noexcept { return registry_.get(); }

 private:
  detail::Owned<zcodec_registry> registry_;
};

/** Options for creating a chain: `zcodec_chain_options` without its size member. */
struct ChainOptions {
  /** The codecs. NULL: the built-in ones. Needed only while the chain is made. */
  const Registry *registry = nullptr;
  /** The most bytes that a chunk may decode to; 0: no limit. */
  std::uint64_t max_decoded_size = 0;
};

namespace detail {

inline zcodec_chain_options c_options(const ChainOptions &options) noexcept {
  zcodec_chain_options c = {};
  c.struct_size = sizeof c;
  c.registry = options.registry != nullptr ? options.registry->get() : nullptr;
  c.max_decoded_size = options.max_decoded_size;
  return c;
}

}  // namespace detail

/* ---- Chains -------------------------------------------------------------------------------- */

/** A run of Zarr v3 codecs, bound to the representation of what enters it on encode. */
class Chain {
 public:
  /** An empty `input_json` means NULL: a chain of bytes->bytes codecs. */
  explicit Chain(std::string_view codecs_json, std::string_view input_json = {})
      : Chain(ChainOptions(), codecs_json, input_json) {}

  /** The same, with codecs of the host or a limit. */
  explicit Chain(const ChainOptions &options, std::string_view codecs_json, std::string_view input_json = {}) {
    const zcodec_chain_options c_options = detail::c_options(options);
    zcodec_chain *chain = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status =
        zcodec_chain_new_with(&c_options, codecs_json.data(), codecs_json.size(),
                              input_json.empty() ? nullptr : input_json.data(), input_json.size(), &chain, &error);
    detail::require(status, error);
    chain_.reset(chain);
    learn_elements();
  }

  /** Takes ownership of a chain from the C functions. */
  explicit Chain(zcodec_chain *chain) noexcept : chain_(chain) { learn_elements(); }

  /** The chain of a whole array document, a zarr.json or a .zarray. */
  static Chain from_zarr_json(std::string_view zarr_json, const ChainOptions &options = {}) {
    const zcodec_chain_options c_options = detail::c_options(options);
    zcodec_chain *chain = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status =
        zcodec_chain_from_zarr_json_with(&c_options, zarr_json.data(), zarr_json.size(), &chain, &error);
    detail::require(status, error);
    return Chain(chain);
  }

  /** The same codecs and callbacks for a chunk of another shape. */
  Chain with_shape(const std::uint64_t *shape, std::size_t ndim) const {
    zcodec_chain *reshaped = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_chain_with_shape(chain_.get(), shape, ndim, &reshaped, &error);
    detail::require(status, error);
    return Chain(reshaped, elements_, ndim);
  }
  Chain with_shape(std::initializer_list<std::uint64_t> shape) const { return with_shape(shape.begin(), shape.size()); }
  Chain with_shape(const std::vector<std::uint64_t> &shape) const { return with_shape(shape.data(), shape.size()); }
#if ZCODEC_HPP_HAS_SPAN
  Chain with_shape(std::span<const std::uint64_t> shape) const { return with_shape(shape.data(), shape.size()); }
#endif

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

  /**
   * Encodes into a vector, whose capacity is the bound of the encoded size. Without a bound, as some codecs of the host
   * have none, the chunk may be encoded several times, and its callbacks run again; `encode_to_buffer` runs them once.
   */
  std::vector<std::uint8_t> encode(const void *decoded, std::size_t decoded_size,
                                   const CallOptions &options = {}) const {
    return encode_as<std::vector<std::uint8_t>>(decoded, decoded_size, options);
  }

  template <class T, class Allocator>
  std::vector<std::uint8_t> encode(const std::vector<T, Allocator> &decoded, const CallOptions &options = {}) const {
    return encode(decoded.data(), bytes_of(decoded), options);
  }

  /** Encodes into a vector that is not zeroed first. */
  Vector<std::uint8_t> encode_vector(const void *decoded, std::size_t decoded_size,
                                     const CallOptions &options = {}) const {
    return encode_as<Vector<std::uint8_t>>(decoded, decoded_size, options);
  }

  template <class T, class Allocator>
  Vector<std::uint8_t> encode_vector(const std::vector<T, Allocator> &decoded, const CallOptions &options = {}) const {
    return encode_vector(decoded.data(), bytes_of(decoded), options);
  }

  /**
   * Decodes into a vector of elements. Throws std::length_error if the decoded size is not a multiple of sizeof(T).
   * The decoded size of a bytes->bytes chain is not known: a chunk that is larger than four times its encoding is
   * decoded twice, and its check callbacks run twice.
   */
  template <class T = std::uint8_t>
  std::vector<T> decode(const void *encoded, std::size_t encoded_size, const CallOptions &options = {}) const {
    return decode_as<std::vector<T>>(encoded, encoded_size, options);
  }

  template <class T = std::uint8_t, class Allocator = std::allocator<std::uint8_t>>
  std::vector<T> decode(const std::vector<std::uint8_t, Allocator> &encoded, const CallOptions &options = {}) const {
    return decode<T>(encoded.data(), encoded.size(), options);
  }

  /** Decodes into a vector that is not zeroed first. Otherwise like `decode`. */
  template <class T = std::uint8_t>
  Vector<T> decode_vector(const void *encoded, std::size_t encoded_size, const CallOptions &options = {}) const {
    return decode_as<Vector<T>>(encoded, encoded_size, options);
  }

  template <class T = std::uint8_t, class Allocator = std::allocator<std::uint8_t>>
  Vector<T> decode_vector(const std::vector<std::uint8_t, Allocator> &encoded, const CallOptions &options = {}) const {
    return decode_vector<T>(encoded.data(), encoded.size(), options);
  }

#if ZCODEC_HPP_HAS_SPAN
  /** Encodes elements into memory of the caller; returns the encoded size in bytes. */
  template <class T, std::size_t N, class Byte, std::size_t M>
  std::size_t encode(std::span<T, N> decoded, std::span<Byte, M> encoded, const CallOptions &options = {}) const {
    require_element<T>();
    return encode(decoded.data(), decoded.size_bytes(), encoded.data(), encoded.size_bytes(), options);
  }

  /** Decodes into elements of the caller; returns the decoded size in bytes. */
  template <class Byte, std::size_t N, class T, std::size_t M>
  std::size_t decode(std::span<Byte, N> encoded, std::span<T, M> decoded, const CallOptions &options = {}) const {
    require_element<T>();
    return decode(encoded.data(), encoded.size_bytes(), decoded.data(), decoded.size_bytes(), options);
  }

  template <class T, std::size_t N>
  std::vector<std::uint8_t> encode(std::span<T, N> decoded, const CallOptions &options = {}) const {
    require_element<T>();
    return encode(decoded.data(), decoded.size_bytes(), options);
  }

  template <class T = std::uint8_t, class Byte, std::size_t N>
  std::vector<T> decode(std::span<Byte, N> encoded, const CallOptions &options = {}) const {
    return decode<T>(encoded.data(), encoded.size_bytes(), options);
  }

  template <class T, std::size_t N>
  Vector<std::uint8_t> encode_vector(std::span<T, N> decoded, const CallOptions &options = {}) const {
    require_element<T>();
    return encode_vector(decoded.data(), decoded.size_bytes(), options);
  }

  template <class T = std::uint8_t, class Byte, std::size_t N>
  Vector<T> decode_vector(std::span<Byte, N> encoded, const CallOptions &options = {}) const {
    return decode_vector<T>(encoded.data(), encoded.size_bytes(), options);
  }
#endif

  /** Encodes into memory that the library allocates. */
  Buffer encode_to_buffer(const void *decoded, std::size_t decoded_size, const CallOptions &options = {}) const {
    const zcodec_call_options c_options = detail::c_options(options);
    zcodec_buffer *encoded = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status =
        zcodec_encode_to_buffer_with(chain_.get(), &c_options, decoded, decoded_size, &encoded, &error);
    detail::require(status, error);
    return Buffer(encoded);
  }

  /** Decodes into memory that the library allocates. */
  Buffer decode_to_buffer(const void *encoded, std::size_t encoded_size, const CallOptions &options = {}) const {
    const zcodec_call_options c_options = detail::c_options(options);
    zcodec_buffer *decoded = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status =
        zcodec_decode_to_buffer_with(chain_.get(), &c_options, encoded, encoded_size, &decoded, &error);
    detail::require(status, error);
    return Buffer(decoded);
  }

  /* ---- Boxes and views ---- */

  /** Decodes a box of a chunk to where the caller wants it. */
  void decode_view(const void *encoded, std::size_t encoded_size, const Box &box, const View &decoded,
                   const CallOptions &options = {}) const {
    zcodec_box c_box = {};
    const zcodec_box *part = detail::c_box(box, c_box);
    const zcodec_view view = c_view(decoded);
    const zcodec_call_options c_options = detail::c_options(options);
    zcodec_error *error = nullptr;
    const zcodec_status status =
        zcodec_decode_view(chain_.get(), &c_options, encoded, encoded_size, part, &view, &error);
    detail::require(status, error);
  }

  template <class Allocator>
  void decode_view(const std::vector<std::uint8_t, Allocator> &encoded, const Box &box, const View &decoded,
                   const CallOptions &options = {}) const {
    decode_view(encoded.data(), encoded.size(), box, decoded, options);
  }

  /**
   * Encodes a chunk of which the caller holds the box, into memory of the caller; returns the encoded size in bytes.
   */
  std::size_t encode_view(const Box &box, const ConstView &decoded, void *encoded, std::size_t encoded_capacity,
                          const CallOptions &options = {}) const {
    zcodec_box c_box = {};
    const zcodec_box *part = detail::c_box(box, c_box);
    const zcodec_view view = c_view(decoded);
    const zcodec_call_options c_options = detail::c_options(options);
    std::size_t encoded_size = 0;
    zcodec_error *error = nullptr;
    const zcodec_status status =
        zcodec_encode_view(chain_.get(), &c_options, part, &view, encoded, encoded_capacity, &encoded_size, &error);
    detail::require(status, error, encoded_size);
    return encoded_size;
  }

  /** The same into a vector that is not zeroed first; its capacity is the bound of the encoded size. */
  Vector<std::uint8_t> encode_view(const Box &box, const ConstView &decoded, const CallOptions &options = {}) const {
    const std::size_t bound = elements_.size == 0 ? 0 : encoded_capacity(decoded_size());
    return grow<Vector<std::uint8_t>>(bound, [&](void *encoded, std::size_t capacity) {
      return encode_view(box, decoded, encoded, capacity, options);
    });
  }

#if ZCODEC_HPP_HAS_SPAN
  template <class Byte, std::size_t N>
  void decode_view(std::span<Byte, N> encoded, const Box &box, const View &decoded,
                   const CallOptions &options = {}) const {
    decode_view(encoded.data(), encoded.size_bytes(), box, decoded, options);
  }

  template <class Byte, std::size_t N>
  std::size_t encode_view(const Box &box, const ConstView &decoded, std::span<Byte, N> encoded,
                          const CallOptions &options = {}) const {
    return encode_view(box, decoded, encoded.data(), encoded.size_bytes(), options);
  }
#endif

  /** Fills a view of this shape with the fill value: a chunk that does not exist. */
  void fill_view(const std::vector<std::uint64_t> &shape, const View &decoded) const {
    const zcodec_view view = c_view(decoded, shape);
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_fill_view(chain_.get(), shape.data(), &view, &error);
    detail::require(status, error);
  }

  /** Whether every element of a view of this shape equals the fill value bit for bit: the chunk need not be stored. */
  bool is_fill_view(const std::vector<std::uint64_t> &shape, const ConstView &decoded) const {
    const zcodec_view view = c_view(decoded, shape);
    std::int32_t is_fill = 0;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_is_fill_view(chain_.get(), shape.data(), &view, &is_fill, &error);
    detail::require(status, error);
    return is_fill != 0;
  }

  /** The smallest box that is worth decoding alone. */
  std::vector<std::uint64_t> granularity() const {
    std::vector<std::uint64_t> shape(ndim_);
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_chain_granularity(chain_.get(), not_null(shape), shape.size(), &error);
    detail::require(status, error);
    return shape;
  }

  /** The shape of a decoded chunk. Throws ZCODEC_STATUS_UNSUPPORTED for a bytes->bytes chain. */
  std::vector<std::uint64_t> shape() const {
    std::vector<std::uint64_t> shape(ndim_);
    std::size_t ndim = 0;
    detail::require(zcodec_chain_shape(chain_.get(), not_null(shape), shape.size(), &ndim));
    return shape;
  }

  /** The number of dimensions of a decoded chunk; 0 for a bytes->bytes chain. */
  std::size_t ndim() const noexcept { return ndim_; }

  /** The bytes that one element takes in memory. Throws ZCODEC_STATUS_UNSUPPORTED for a bytes->bytes chain. */
  std::size_t element_size() const {
    std::size_t size = 0;
    detail::require(zcodec_chain_element_size(chain_.get(), &size));
    return size;
  }

  /**
   * Throws ZCODEC_STATUS_INVALID_ARGUMENT unless elements of the chain lie in memory as a T does. All functions that
   * know the type of their elements check this:
   *
   * - std::uint8_t, std::byte and char are bytes, which hold every data type;
   * - the other numbers, bool and std::complex hold their own data type: std::uint16_t that of uint16, float that of
   *   float32; int2 and int4 are std::int8_t;
   * - other classes and enumerations hold every data type of their size: a struct of one std::uint16_t, say, holds
   *   float16 where C++ has no such type;
   * - a chain of bytes->bytes codecs takes every type; and data types that are not numbers, such as times, every type
   *   of their size.
   */
  template <class T>
  void require_element() const {
    static_assert(std::is_trivially_copyable_v<T>, "elements are plain values");
    require_element(detail::element_type<T>());
  }

  /** The same for the elements of a view; one that was made of a void pointer has no type. */
  template <class Void>
  void require_element(const BasicView<Void> &view) const {
    require_element(view.type());
  }

  /** What the elements of a decoded chunk are, as far as this header checks it. */
  detail::ElementType element_type() const noexcept { return elements_; }

  /* ---- Shards ---- */

  /** The chain of the inner chunks of a shard, whose elements are those after the codecs before sharding_indexed. */
  Chain inner() const {
    zcodec_chain *inner = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_chain_inner(chain_.get(), &inner, &error);
    detail::require(status, error);
    return Chain(inner);
  }

  /** The byte range of the index in a shard. */
  Range index_range() const {
    Range range = {};
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_chain_index_range(chain_.get(), &range, &error);
    detail::require(status, error);
    return range;
  }

  /* ---- Asking a chain ---- */

  /** The size of a decoded chunk in bytes. Throws ZCODEC_STATUS_UNKNOWN_SIZE for a bytes->bytes chain. */
  std::size_t decoded_size() const {
    std::size_t size = 0;
    detail::require(zcodec_chain_decoded_size(chain_.get(), &size));
    return size;
  }

  /** A capacity in bytes that always suffices to encode a chunk of this many bytes. */
  std::size_t encoded_bound(std::size_t decoded_size) const {
    std::size_t bound = 0;
    detail::require(zcodec_chain_encoded_bound(chain_.get(), decoded_size, &bound));
    return bound;
  }

  /** The number of codecs. */
  std::size_t codec_count() const noexcept { return zcodec_chain_codec_count(chain_.get()); }
  /** The kind of the chain. */
  zcodec_kind kind() const noexcept { return zcodec_chain_kind(chain_.get()); }

  /** What enters on encode. */
  std::string input_json() const { return json(zcodec_chain_input_json); }
  /** What leaves on encode. */
  std::string output_json() const { return json(zcodec_chain_output_json); }
  /** The codecs in canonical form. */
  std::string codecs_json() const { return json(zcodec_chain_codecs_json); }
  /** Warnings: valid metadata that is likely to cause trouble. */
  std::string warnings_json() const { return json(zcodec_chain_warnings_json); }

  /* ---- Dynamic padding ---- */

  /**
   * Sets the callables of the pad or offset codec at `codec_index`; nullptr, also in a variable, means none.
   *
   *     generate(const uint8_t *chunk, size_t chunk_size, uint8_t *padding, size_t padding_size, void *call_data)
   *     check(const uint8_t *chunk, size_t chunk_size, const uint8_t *padding, size_t padding_size, void *call_data)
   *
   * Each returns nothing, or an integer that is 0 on success. Throwing is failure, too: with
   * ZCODEC_STATUS_CALLBACK_FAILED for `generate`, and ZCODEC_STATUS_CORRUPT_DATA for `check`. The chain, the chains
   * that `with_shape` and `inner` make from it, its plans and its writers share one copy of both callables. All threads
   * that use one of these objects may call them at the same time. The last of the objects destroys them; their
   * destructors must not throw.
   */
  template <class Generate, class Check>
  void set_padding(std::size_t codec_index, Generate &&generate, Check &&check) {
    set_callables(std::forward<Generate>(generate), std::forward<Check>(check),
                  [&](auto... callbacks) { return zcodec_chain_set_padding(chain_.get(), codec_index, callbacks...); });
  }

  /** The same for a codec anywhere, also inside a shard: `path` is a JSON Pointer, as `Error::path` gives it. */
  template <class Generate, class Check>
  void set_padding_at(const std::string &path, Generate &&generate, Check &&check) {
    detail::require_no_nul("path", path);
    set_callables(std::forward<Generate>(generate), std::forward<Check>(check), [&](auto... callbacks) {
      return zcodec_chain_set_padding_at(chain_.get(), path.c_str(), callbacks...);
    });
  }

 private:
  Chain(zcodec_chain *chain, const detail::ElementType &elements, std::size_t ndim) noexcept
      : chain_(chain), elements_(elements), ndim_(ndim) {}

  /** Finds out once what every call with elements needs. What cannot be known is checked by the library alone. */
  void learn_elements() noexcept {
    std::size_t size = 0;
    if (zcodec_chain_element_size(chain_.get(), &size) != ZCODEC_STATUS_OK) {
      return;
    }
    static_cast<void>(zcodec_chain_shape(chain_.get(), nullptr, 0, &ndim_));
    zcodec_buffer *buffer = nullptr;
    if (zcodec_chain_input_json(chain_.get(), &buffer, nullptr) == ZCODEC_STATUS_OK) {
      const Buffer json(buffer);
      elements_ = detail::element_type_of(data_type(text_of(json)), size);
    }
  }

  static std::string_view text_of(const Buffer &json) noexcept {
    return std::string_view(reinterpret_cast<const char *>(json.data()), json.size());
  }

  /** The name of the data type in an input_json; "" if the data type is an object. */
  static std::string_view data_type(std::string_view input_json) noexcept {
    constexpr std::string_view key = "\"data_type\":";
    const std::size_t at = input_json.find(key);
    // The first one: those of the fields of a struct are inside it.
    if (at == std::string_view::npos || input_json.substr(at + key.size(), 1) != "\"") {
      return {};
    }
    const std::string_view rest = input_json.substr(at + key.size() + 1);
    return rest.substr(0, rest.find('"'));
  }

  void require_element(const detail::ElementType &given) const {
    if (!detail::is_compatible(given, elements_)) {
      throw Error(ZCODEC_STATUS_INVALID_ARGUMENT, detail::describe(given) + " given; the chain takes " + input_json());
    }
  }

  template <class Void>
  zcodec_view c_view(const BasicView<Void> &view) const {
    require_element(view);
    return detail::c_view(view, ndim_);
  }

  /** A view of a shape; both have the dimensions of the chain. */
  template <class Void>
  zcodec_view c_view(const BasicView<Void> &view, const std::vector<std::uint64_t> &shape) const {
    if (elements_.size != 0 && shape.size() != ndim_) {
      throw Error(ZCODEC_STATUS_INVALID_ARGUMENT,
                  "shape has " + std::to_string(shape.size()) + " dimensions, the chain has " + std::to_string(ndim_));
    }
    return c_view(view);
  }

  /** Memory for `ndim` numbers, which may be 0: an empty vector has none. */
  static std::uint64_t *not_null(std::vector<std::uint64_t> &numbers) {
    numbers.reserve(1);
    return numbers.data();
  }

  template <class T, class Allocator>
  std::size_t bytes_of(const std::vector<T, Allocator> &decoded) const {
    static_assert(detail::is_element<T>, "elements are plain values; a vector<bool> has none");
    require_element<T>();
    return decoded.size() * sizeof(T);
  }

  template <class Result>
  Result encode_as(const void *decoded, std::size_t decoded_size, const CallOptions &options) const {
    return grow<Result>(encoded_capacity(decoded_size), [&](void *encoded, std::size_t capacity) {
      return encode(decoded, decoded_size, encoded, capacity, options);
    });
  }

  template <class Result>
  Result decode_as(const void *encoded, std::size_t encoded_size, const CallOptions &options) const {
    static_assert(detail::is_element<typename Result::value_type>,
                  "elements are plain values; a vector<bool> has none");
    require_element<typename Result::value_type>();
    return grow<Result>(decoded_capacity(encoded_size), [&](void *decoded, std::size_t capacity) {
      return decode(encoded, encoded_size, decoded, capacity, options);
    });
  }

  /** What `run(memory, capacity)` writes, as elements. Runs again if `capacity` was too small. */
  template <class Result, class Run>
  static Result grow(std::size_t capacity, Run run) {
    using T = typename Result::value_type;
    Result elements(detail::element_count<T>(capacity));
    std::size_t size = 0;
    for (;;) {
      try {
        size = run(elements.data(), elements.size() * sizeof(T));
        break;
      } catch (const Error &error) {
        if (error.status() != ZCODEC_STATUS_BUFFER_TOO_SMALL || error.needed_size() <= elements.size() * sizeof(T)) {
          throw;
        }
        // A codec of the host may ask for a little more again and again.
        capacity = (std::max)(error.needed_size(), elements.size() * sizeof(T) * 2);
      }
      elements = Result(detail::element_count<T>(capacity));
    }
    if (size % sizeof(T) != 0) {
      throw std::length_error(std::to_string(size) + " bytes are not a whole number of elements of " +
                              std::to_string(sizeof(T)) + " bytes");
    }
    elements.resize(size / sizeof(T));
    return elements;
  }

  /** A capacity that suffices; 0 if encoding itself will report what is wrong. */
  std::size_t encoded_capacity(std::size_t decoded_size) const noexcept {
    std::size_t bound = 0;
    return zcodec_chain_encoded_bound(chain_.get(), decoded_size, &bound) == ZCODEC_STATUS_OK ? bound : 0;
  }

  /** The decoded size of an array, otherwise a guess. */
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

  /** `set(generate, check, user_data, free_user_data, error)` sets them at their codec. */
  template <class Generate, class Check, class Set>
  static void set_callables(Generate &&generate, Check &&check, Set set) {
    using Padding = detail::Padding<std::decay_t<Generate>, std::decay_t<Check>>;
    std::unique_ptr<Padding> padding(new Padding{std::forward<Generate>(generate), std::forward<Check>(check)});
    zcodec_error *error = nullptr;
    const zcodec_status status =
        set(padding->generate_fn(), padding->check_fn(), static_cast<void *>(padding.get()), Padding::destroy, &error);
    detail::require(status, error);
    static_cast<void>(padding.release());  // the chain owns it now; after a failure we still would
  }

  detail::Owned<zcodec_chain> chain_;
  detail::ElementType elements_;  // of a decoded chunk
  std::size_t ndim_ = 0;
};

/* ---- Indices of shards --------------------------------------------------------------------- */

/** The index of a shard, decoded. Immutable; copies are references to one index. */
class Index {
 public:
  /** None. */
  Index() noexcept = default;
  /** Takes ownership of a reference from the C functions. */
  explicit Index(zcodec_index *index) noexcept : index_(index) {}

  Index(const Index &other) noexcept : index_(zcodec_index_ref(other.get())) {}
  Index(Index &&) noexcept = default;
  Index &operator=(Index other) noexcept {
    index_ = std::move(other.index_);
    return *this;
  }

  /** Decodes the bytes of `Chain::index_range`. */
  static Index decode(const Chain &chain, const void *bytes, std::size_t size,
                      std::uint64_t object_size = size_unknown) {
    zcodec_index *index = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_index_decode(chain.get(), bytes, size, object_size, &index, &error);
    detail::require(status, error);
    return Index(index);
  }

#if ZCODEC_HPP_HAS_SPAN
  template <class Byte, std::size_t N>
  static Index decode(const Chain &chain, std::span<Byte, N> bytes, std::uint64_t object_size = size_unknown) {
    return decode(chain, bytes.data(), bytes.size_bytes(), object_size);
  }
#endif

  /**
   * The byte range of the inner chunk at these coordinates in the grid of the array that sharding_indexed receives;
   * nothing: the shard does not store it, because all its elements are the fill value; in a chain without a fill value
   * the shard is damaged.
   */
  std::optional<Range> entry(const std::vector<std::uint64_t> &cell) const {
    static constexpr std::uint64_t none = 0;  // for an array without dimensions
    Range range = {};
    std::int32_t present = 0;
    zcodec_error *error = nullptr;
    const zcodec_status status =
        zcodec_index_entry(index_.get(), cell.empty() ? &none : cell.data(), cell.size(), &range, &present, &error);
    detail::require(status, error);
    return present != 0 ? std::optional<Range>(range) : std::nullopt;
  }

  /** Its size in memory, in bytes, for a cache. */
  std::size_t memory() const noexcept { return zcodec_index_memory(index_.get()); }

  explicit operator bool() const noexcept { return index_ != nullptr; }
  const zcodec_index *get() const noexcept { return index_.get(); }

 private:
  detail::Owned<zcodec_index> index_;
};

/* ---- Plans: the bytes are somewhere else --------------------------------------------------- */

namespace detail {

inline zcodec_status next_stage(zcodec_plan *plan, const Range **ranges, std::size_t *count, zcodec_error **error) {
  return zcodec_plan_next(plan, ranges, count, error);
}

inline zcodec_status next_stage(zcodec_writer *writer, const Range **ranges, std::size_t *count, zcodec_error **error) {
  return zcodec_writer_next(writer, ranges, count, error);
}

inline zcodec_status supply_range(zcodec_plan *plan, std::size_t i, const void *bytes, std::size_t size,
                                  zcodec_error **error) {
  return zcodec_plan_supply(plan, i, bytes, size, error);
}

inline zcodec_status supply_range(zcodec_writer *writer, std::size_t i, const void *bytes, std::size_t size,
                                  zcodec_error **error) {
  return zcodec_writer_supply(writer, i, bytes, size, error);
}

/** An object that asks for ranges of bytes, in stages. */
template <class Handle>
class Staged {
 public:
  /** The ranges of the next stage, sorted by offset, valid until the next call. Empty: no more bytes are needed. */
  List<Range> next() {
    const Range *ranges = nullptr;
    std::size_t count = 0;
    zcodec_error *error = nullptr;
    const zcodec_status status = next_stage(handle_.get(), &ranges, &count, &error);
    require(status, error);
    range_count_ = count;
    return List<Range>(ranges, count);
  }

  /** The bytes of range `i` of this stage. Several threads may supply different ranges at once. */
  void supply(std::size_t i, const void *bytes, std::size_t size) {
    zcodec_error *error = nullptr;
    const zcodec_status status = supply_range(handle_.get(), i, bytes, size, &error);
    require(status, error);
  }

  template <class Allocator>
  void supply(std::size_t i, const std::vector<std::uint8_t, Allocator> &bytes) {
    supply(i, bytes.data(), bytes.size());
  }

#if ZCODEC_HPP_HAS_SPAN
  template <class Byte, std::size_t N>
  void supply(std::size_t i, std::span<Byte, N> bytes) {
    supply(i, bytes.data(), bytes.size_bytes());
  }
#endif

  /** The handle, for functions that only zcodec.h has. This object still owns it. */
  Handle *get() noexcept { return handle_.get(); }

 protected:
  explicit Staged(const Executor &executor) : executor_(executor) {}
  Staged(Staged &&) = default;
  /** Frees the handle before the executor that it uses. */
  Staged &operator=(Staged &&other) noexcept {
    handle_ = std::move(other.handle_);
    executor_ = std::move(other.executor_);
    range_count_ = other.range_count_;
    return *this;
  }

  Executor executor_;  // outlives the handle
  Owned<Handle> handle_;
  std::size_t range_count_ = 0;  // of this stage
};

}  // namespace detail

/**
 * One read of one stored object. It says which byte ranges it needs, one stage at a time:
 *
 *     zcodec::Plan plan(chain, {box, view}, object_size);
 *     for (auto ranges = plan.next(); !ranges.empty(); ranges = plan.next()) {
 *       for (std::size_t i = 0; i < ranges.size(); i++) {
 *         plan.supply(i, bytes_of(ranges[i]));  // any order, any number of threads
 *       }
 *     }
 *
 * The memory of the views and call_data must live as long as the plan; the plan keeps the executor itself.
 */
class Plan : public detail::Staged<zcodec_plan> {
 public:
  /** One box; `index` is what `index()` of an earlier plan of the same object gave, or none. */
  Plan(const Chain &chain, const Part &part, std::uint64_t object_size = size_unknown, const Index &index = {},
       const CallOptions &options = {})
      : Plan(chain, &part, 1, object_size, index, options) {}

  /** Any number of boxes. */
  Plan(const Chain &chain, const std::vector<Part> &parts, std::uint64_t object_size = size_unknown,
       const Index &index = {}, const CallOptions &options = {})
      : Plan(chain, parts.data(), parts.size(), object_size, index, options) {}

  Plan(const Chain &chain, const Part *parts, std::size_t count, std::uint64_t object_size = size_unknown,
       const Index &index = {}, const CallOptions &options = {})
      : Staged(options.executor) {
    std::vector<zcodec_box> boxes(count);
    std::vector<zcodec_view> views(count);
    for (std::size_t i = 0; i < count; i++) {
      if (detail::c_box(parts[i].box, boxes[i]) == nullptr) {
        boxes[i].ndim = chain.ndim();  // without start and shape: the whole chunk
      }
      chain.require_element(parts[i].view);
      views[i] = detail::c_view(parts[i].view, chain.ndim());
    }
    const zcodec_call_options c_options = detail::c_options(options);
    zcodec_plan *plan = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_plan_new(chain.get(), &c_options, boxes.data(), views.data(), count,
                                                 object_size, index.get(), &plan, &error);
    detail::require(status, error);
    handle_.reset(plan);
  }

  /** All ranges of this stage, on the threads of the options. */
  void supply_all(const void *const *bytes, const std::size_t *sizes) {
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_plan_supply_all(handle_.get(), bytes, sizes, &error);
    detail::require(status, error);
  }

  /**
   * The same, from anything that has `data()` and `size()` in bytes; one for each range. Throws
   * ZCODEC_STATUS_INVALID_ARGUMENT if there are more or fewer; the plan is unchanged.
   */
  template <class Bytes>
  void supply_all(const std::vector<Bytes> &all) {
    if (all.size() != range_count_) {
      throw Error(ZCODEC_STATUS_INVALID_ARGUMENT, "the stage has " + std::to_string(range_count_) + " ranges, but " +
                                                      std::to_string(all.size()) + " are supplied");
    }
    std::vector<const void *> bytes;
    std::vector<std::size_t> sizes;
    bytes.reserve(all.size());
    sizes.reserve(all.size());
    for (const Bytes &one : all) {
      static_assert(sizeof(*one.data()) == 1, "ranges are bytes");
      bytes.push_back(one.data());
      sizes.push_back(one.size());
    }
    supply_all(bytes.data(), sizes.data());
  }

  /** The index of the shard, once it is known; an empty Index if the chain has none. */
  Index index() const {
    zcodec_index *index = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_plan_index(handle_.get(), &index, &error);
    detail::require(status, error);
    return Index(index);
  }
};

/* ---- Writers: a shard is made and changed by its inner chunks ------------------------------ */

/** Bytes to write to an object: `size` bytes at `offset`, from `data` or from `source_offset` of the old object. */
using Piece = zcodec_piece;

/**
 * One write of a shard:
 *
 *     zcodec::Writer writer(chain, index, old_size);
 *     writer.put(box, view);  // any number
 *     for (auto ranges = writer.next(); !ranges.empty(); ranges = writer.next()) {
 *       for (std::size_t i = 0; i < ranges.size(); i++) {
 *         writer.supply(i, bytes_of(ranges[i]));
 *       }
 *     }
 *     for (const zcodec::Piece &piece : writer.finish(ZCODEC_LAYOUT_APPEND).pieces) {
 *       write(piece.offset, piece.data != nullptr ? piece.data : old_bytes(piece.source_offset), piece.size);
 *     }
 *
 * call_data must live as long as the writer; the writer keeps the executor itself.
 */
class Writer : public detail::Staged<zcodec_writer> {
 public:
  /** The result of `finish`. */
  struct Object {
    /** Valid as long as the writer lives. */
    List<Piece> pieces;
    /** The size of the new object, in bytes. */
    std::uint64_t size;
  };

  /** Makes a new shard. */
  explicit Writer(const Chain &chain, const CallOptions &options = {}) : Writer(chain, Index(), 0, options) {}

  /** Changes a shard of `old_size` bytes: inner chunks that are not put keep their bytes. */
  Writer(const Chain &chain, const Index &old_index, std::uint64_t old_size, const CallOptions &options = {})
      : Staged(options.executor), ndim_(chain.ndim()), elements_(chain.element_type()) {
    const zcodec_call_options c_options = detail::c_options(options);
    zcodec_writer *writer = nullptr;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_writer_new(chain.get(), &c_options, old_index.get(), old_size, &writer, &error);
    detail::require(status, error);
    handle_.reset(writer);
  }

  /** Puts a box; later elements replace earlier ones. Any boxes, any number of times, by several threads at once. */
  void put(const Box &box, const ConstView &view) {
    if (!detail::is_compatible(view.type(), elements_)) {
      throw Error(ZCODEC_STATUS_INVALID_ARGUMENT,
                  detail::describe(view.type()) + " given; the chain takes " + detail::describe(elements_));
    }
    zcodec_box c_box = {};
    const zcodec_box *part = detail::c_box(box, c_box);
    const zcodec_view c_view = detail::c_view(view, ndim_);
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_writer_put(handle_.get(), part, &c_view, &error);
    detail::require(status, error);
  }

  /** The pieces to write, in ZCODEC_LAYOUT_PACKED or ZCODEC_LAYOUT_APPEND. */
  Object finish(zcodec_layout layout) {
    const Piece *pieces = nullptr;
    std::size_t count = 0;
    std::uint64_t object_size = 0;
    zcodec_error *error = nullptr;
    const zcodec_status status = zcodec_writer_finish(handle_.get(), layout, &pieces, &count, &object_size, &error);
    detail::require(status, error);
    return Object{List<Piece>(pieces, count), object_size};
  }

 private:
  std::size_t ndim_;
  detail::ElementType elements_;
};

/* ---- Many chunks in one call --------------------------------------------------------------- */

/** One chunk of many to decode. */
struct DecodeTask {
  /** The chain of the chunk, which must live until the call returns. */
  const Chain *chain = nullptr;
  /** Exactly one encoded chunk; not read if `is_missing`. */
  const void *encoded = nullptr;
  /** The size of `encoded` in bytes. */
  std::size_t encoded_size = 0;
  /** The part of the chunk that is decoded. Empty: all of it. */
  Box box = {};
  /** Where the elements go; no other task may use their bytes. Views may interleave. */
  View view = {};
  /** There is no such chunk: the view is filled with the fill value. */
  bool is_missing = false;
  /** Passed to the callbacks of this task. */
  void *call_data = nullptr;
  /** Set by `decode_tasks`: why this task failed; nothing if it did not. */
  std::optional<Error> error = {};
};

/** One chunk of many to encode. */
struct EncodeTask {
  /** The chain of the chunk, which must live until the call returns. */
  const Chain *chain = nullptr;
  /** The part of the chunk that `view` holds; the rest is the fill value. Empty: all of the chunk. */
  Box box = {};
  /** The elements of the box. */
  ConstView view = {};
  /** Where the encoded chunk goes. */
  void *encoded = nullptr;
  /** The number of bytes that `encoded` has room for. */
  std::size_t encoded_capacity = 0;
  /** Passed to the callbacks of this task. */
  void *call_data = nullptr;
  /** Set by `encode_tasks`: the encoded size in bytes; after BUFFER_TOO_SMALL, the capacity that is needed. */
  std::size_t encoded_size = 0;
  /** Set by `encode_tasks`: why this task failed; nothing if it did not. */
  std::optional<Error> error = {};
};

namespace detail {

/** The structs of C for tasks of either kind. */
template <class Task>
class Tasks {
 public:
  Tasks(Task *tasks, std::size_t count) : tasks_(tasks), boxes_(count), views_(count), c_(count) {
    for (std::size_t i = 0; i < count; i++) {  // what an earlier call set
      tasks[i].error.reset();
      if constexpr (std::is_same_v<Task, EncodeTask>) {
        tasks[i].encoded_size = 0;
      }
    }
    for (std::size_t i = 0; i < count; i++) {
      const Task &task = tasks[i];
      if (task.chain == nullptr) {
        throw Error(ZCODEC_STATUS_NULL_ARGUMENT, "chain of task " + std::to_string(i) + " is NULL");
      }
      task.chain->require_element(task.view);
      views_[i] = c_view(task.view, task.chain->ndim());
      c_[i].struct_size = sizeof c_[i];
      c_[i].chain = task.chain->get();
      c_[i].call_data = task.call_data;
      c_[i].box = c_box(task.box, boxes_[i]);
      c_[i].view = &views_[i];
      if constexpr (std::is_same_v<Task, DecodeTask>) {
        c_[i].encoded = task.encoded;
        c_[i].encoded_size = task.encoded_size;
        c_[i].flags = task.is_missing ? ZCODEC_TASK_MISSING : 0;
      } else {
        c_[i].encoded_to = task.encoded;
        c_[i].encoded_capacity = task.encoded_capacity;
      }
    }
  }
  Tasks(const Tasks &) = delete;
  Tasks &operator=(const Tasks &) = delete;
  ~Tasks() {
    for (const zcodec_task &task : c_) {
      zcodec_error_free(task.error);
    }
  }

  /** Runs all with the C function, sets the result of each, and throws the first failure. */
  void run(zcodec_status (*all)(zcodec_task *, std::size_t, const zcodec_call_options *), const CallOptions &options) {
    const zcodec_call_options c_options = detail::c_options(options);
    const zcodec_status status = all(c_.data(), c_.size(), &c_options);
    for (std::size_t i = 0; i < c_.size(); i++) {
      const zcodec_status own = static_cast<zcodec_status>(c_[i].status);
      const bool is_short = own == ZCODEC_STATUS_BUFFER_TOO_SMALL;
      tasks_[i].error.reset();
      if (own != ZCODEC_STATUS_OK) {
        tasks_[i].error.emplace(own, c_[i].error, is_short ? c_[i].encoded_size : 0);
      }
      if constexpr (std::is_same_v<Task, EncodeTask>) {
        tasks_[i].encoded_size = c_[i].encoded_size;
      }
    }
    for (std::size_t i = 0; i < c_.size(); i++) {
      if (tasks_[i].error) {
        throw Error(*tasks_[i].error);
      }
    }
    require(status);  // what is not about a task, such as the options
  }

 private:
  Task *tasks_;
  std::vector<zcodec_box> boxes_;
  std::vector<zcodec_view> views_;
  std::vector<zcodec_task> c_;
};

}  // namespace detail

/**
 * Decodes all tasks, even if some fail, and then throws the error of the first that failed. If a task has no chain,
 * elements of another type, or a box whose start and shape differ in rank, it throws before any task runs.
 */
inline void decode_tasks(DecodeTask *tasks, std::size_t count, const CallOptions &options = {}) {
  detail::Tasks<DecodeTask>(tasks, count).run(zcodec_decode_tasks, options);
}
inline void decode_tasks(std::vector<DecodeTask> &tasks, const CallOptions &options = {}) {
  decode_tasks(tasks.data(), tasks.size(), options);
}

/**
 * Encodes all tasks, even if some fail, and then throws the error of the first that failed. If a task has no chain,
 * elements of another type, or a box whose start and shape differ in rank, it throws before any task runs.
 */
inline void encode_tasks(EncodeTask *tasks, std::size_t count, const CallOptions &options = {}) {
  detail::Tasks<EncodeTask>(tasks, count).run(zcodec_encode_tasks, options);
}
inline void encode_tasks(std::vector<EncodeTask> &tasks, const CallOptions &options = {}) {
  encode_tasks(tasks.data(), tasks.size(), options);
}

/* ---- The library --------------------------------------------------------------------------- */

/** What this build supports, as JSON. Static text. */
inline std::string_view supported_json() noexcept { return zcodec_supported_json(); }
/** The version of the library, such as "0.2.5". */
inline std::string_view version() noexcept { return zcodec_version(); }
/** "ZCODEC_STATUS_..." */
inline std::string_view status_name(zcodec_status status) noexcept { return zcodec_status_name(status); }

}  // namespace zcodec

#endif  // ZCODEC_HPP
