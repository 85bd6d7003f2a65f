/*
 * An array of Zarr v3 on disk, as a library such as tensorstore has one: chunks or shards, a cache, threads of its own,
 * reads and writes of any box in any number of threads.
 *
 * - A read makes one plan for each object that its box touches; all of them are fed by one queue of reads. The thread
 * that reads takes part in the work.
 * - The cache has cells: inner chunks of shards, or chunks. Without a cache, what the box touches of them is decoded
 * straight to memory of the caller.
 * - Writes of one shard at the same time share one writer, and the last of them commits it for all. A commit appends;
 * after some commits it packs the shard again, into a new file.
 * - A reader keeps the state of an object that it began with: an append moves no byte, and a new file leaves the old
 * one open. Cells of the cache carry the number of the state they come from.
 */
#ifndef ZCODEC_EXAMPLE_ARRAY_STORE_HPP
#define ZCODEC_EXAMPLE_ARRAY_STORE_HPP

#include "array_metadata.hpp"
#include "boxes.hpp"
#include "cell_cache.hpp"
#include "files.hpp"
#include "thread_pool.hpp"
#include "zcodec.hpp"

#include <filesystem>
#include <fstream>
#include <map>

class ArrayStore {
 public:
  // `cache_size` is in bytes; 0: no cache. `threads` 1: everything happens on the calling thread.
  ArrayStore(std::string directory, const Metadata &metadata, unsigned threads, std::size_t cache_size)
      : directory_(std::move(directory)),
        shape_(metadata.shape),
        chain_(zcodec::Chain::from_zarr_json(metadata.zarr_json())),
        chunk_shape_(chain_.shape()),
        element_size_(chain_.element_size()),
        threads_(threads),
        cache_(cache_size),
        io_(threads > 1 ? threads : 0),
        workers_(threads > 1 ? threads - 1 : 0) {
    Metadata stored = metadata;
    stored.codecs = chain_.codecs_json();  // canonical, which every reader understands
    make_or_open(stored.zarr_json());
    try {
      index_size_ = chain_.index_range().size;
      cell_shape_ = chain_.granularity();
    } catch (const zcodec::Error &error) {
      if (error.status() != ZCODEC_STATUS_UNSUPPORTED) {
        throw;
      }
      cell_shape_ = chunk_shape_;
    }
    if (threads > 1) {
      options_.executor = zcodec::Executor::of_pool(
          threads, [this](std::function<void()> function) { workers_.post(std::move(function)); });
    }
  }

  const Index &shape() const { return shape_; }

  // Reads a box of the array to where the view says, which has strides.
  void read(const Index &start, const Index &shape, const zcodec::View &target) {
    require_inside(start, shape);
    ThreadPool::Pending pending(workers_);
    std::vector<Copy> cached;
    for (const Touched &part : cells_of(chunk_shape_, start, shape)) {
      try {
        read_object(part, subview(target, part.in_box), pending, cached);
      } catch (...) {
        pending.add();
        pending.done(std::current_exception());
        break;
      }
    }
    post_copies(std::move(cached), pending);
    pending.wait();  // whatever failed: plans write to the target until they end
  }

  // Writes a box of the array from where the view says, which has strides. When it returns, every read has it.
  void write(const Index &start, const Index &shape, const zcodec::ConstView &source) {
    require_inside(start, shape);
    for (const Touched &part : cells_of(chunk_shape_, start, shape)) {
      Object &object = object_of(part.cell);
      const zcodec::ConstView view = subview(source, part.in_box);
      index_size_ > 0 ? write_shard(object, part, view) : write_chunk(object, part, view);
    }
  }

 private:
  // Makes a new array, or opens one that was made with the same metadata.
  void make_or_open(const std::string &json) const {
    const std::string path = directory_ + "/zarr.json";
    if (std::filesystem::exists(path)) {
      if (text_of(path) != json) {
        throw std::runtime_error(path + " is that of another array");
      }
      return;
    }
    std::filesystem::create_directories(directory_);
    std::ofstream file(path);
    if (!(file << json << std::flush)) {
      throw std::runtime_error(path + " cannot be written");
    }
  }

  void require_inside(const Index &start, const Index &shape) const {
    bool is_inside = start.size() == shape_.size() && shape.size() == shape_.size();
    for (std::size_t i = 0; is_inside && i < shape_.size(); i++) {
      is_inside = start[i] <= shape_[i] && shape[i] <= shape_[i] - start[i];
    }
    if (!is_inside) {
      throw std::out_of_range("the box is not inside the array");
    }
  }

  // An object at one time. It never changes, except that its index is learned.
  struct State {
    std::shared_ptr<const File> file;
    std::uint64_t size;
    std::uint64_t number;
    std::uint32_t appends;  // since it was packed
    std::mutex mutex = {};
    zcodec::Index index = {};

    State(std::shared_ptr<const File> f, std::uint64_t s, std::uint64_t n, std::uint32_t a)
        : file(std::move(f)), size(s), number(n), appends(a) {}
  };

  // Writes of a shard that are committed together.
  struct Session {
    explicit Session(zcodec::Writer w) : writer(std::move(w)) {}
    zcodec::Writer writer;
    std::size_t active = 0;
    std::size_t puts = 0;
    bool is_committed = false;
    std::exception_ptr error;
  };

  struct Object {
    std::string path;
    std::mutex mutex;
    std::condition_variable changed;
    bool is_known = false;
    std::shared_ptr<State> state;  // NULL: there is no such object
    std::shared_ptr<Session> open;
    bool is_committing = false;
  };

  // A copy of a part of a cell to the target of a read.
  struct Copy {
    Cache::Key key;
    Cache::Cell cell;
    Index cell_shape;
    Touched touched;
    zcodec::View target;
  };

  // Divides the copies among the threads.
  void post_copies(std::vector<Copy> copies, ThreadPool::Pending &pending) {
    const auto all = std::make_shared<const std::vector<Copy>>(std::move(copies));
    const std::size_t count = all->size(), parts = std::min<std::size_t>(threads_, count);
    for (std::size_t part = 0; part < parts; part++) {
      pending.add();
      workers_.post([this, all, begin = count * part / parts, end = count * (part + 1) / parts, &pending] {
        for (std::size_t i = begin; i < end; i++) {
          const Copy &one = (*all)[i];
          const zcodec::ConstView from(one.cell->data(), one.cell->size(), c_strides(one.cell_shape, element_size_));
          copy(subview(from, one.touched.in_cell), one.target, one.touched.shape, element_size_);
        }
        pending.done(nullptr);
      });
    }
  }

  Object &object_of(const Index &cell) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<Object> &object = objects_[cell];
    if (object == nullptr) {
      object = std::make_unique<Object>();
      object->path = directory_ + "/c";
      for (const std::uint64_t at : cell) {
        object->path += "/" + std::to_string(at);
      }
    }
    return *object;
  }

  // Call it under the lock of the object.
  std::shared_ptr<State> state_of(Object &object) {
    if (!object.is_known) {
      if (const std::shared_ptr<File> file = File::open(object.path)) {
        object.state = std::make_shared<State>(file, file->size(), ++number_, 0);
      }
      object.is_known = true;
    }
    return object.state;
  }

  // The part of a cell of a chunk that lies in the array.
  Index extent(const Index &chunk, const Index &cell, const Index &cell_shape) const {
    Index shape(cell.size());
    for (std::size_t i = 0; i < cell.size(); i++) {
      const std::uint64_t begin = chunk[i] * chunk_shape_[i] + cell[i] * cell_shape[i];
      const std::uint64_t in_chunk = chunk_shape_[i] - cell[i] * cell_shape[i];
      shape[i] = std::min({cell_shape[i], in_chunk, shape_[i] - begin});
    }
    return shape;
  }

  // The number of a cell in its chunk.
  std::uint64_t number_of(const Index &cell) const {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < cell.size(); i++) {
      number = number * ((chunk_shape_[i] + cell_shape_[i] - 1) / cell_shape_[i]) + cell[i];
    }
    return number;
  }

  // Starts the plan of what has to be decoded, and says what is to be copied from cells of the cache.
  void read_object(const Touched &part, const zcodec::View &target, ThreadPool::Pending &pending,
                   std::vector<Copy> &cached) {
    Object &object = object_of(part.cell);
    std::shared_ptr<State> state;
    {
      const std::lock_guard<std::mutex> lock(object.mutex);
      state = state_of(object);
    }
    if (state == nullptr) {
      return chain_.fill_view(part.shape, target);
    }
    if (cache_.is_empty()) {
      return start_plan(state, {{{part.in_cell, part.shape}, target}}, {}, pending);
    }
    std::vector<zcodec::Part> parts;
    std::vector<Copy> fresh;
    for (Touched &touched : cells_of(cell_shape_, part.in_cell, part.shape)) {
      const Cache::Key key(state->number, number_of(touched.cell));
      Index whole = extent(part.cell, touched.cell, cell_shape_);
      zcodec::View view = subview(target, touched.in_box);
      if (Cache::Cell cell = cache_.find(key)) {
        cached.push_back({key, std::move(cell), std::move(whole), std::move(touched), std::move(view)});
        continue;
      }
      const auto cell = std::make_shared<Bytes>(static_cast<std::size_t>(product(whole)) * element_size_);
      Index start = touched.cell;
      for (std::size_t i = 0; i < start.size(); i++) {
        start[i] *= cell_shape_[i];
      }
      parts.push_back({{std::move(start), whole}, zcodec::View(*cell)});
      fresh.push_back({key, cell, std::move(whole), std::move(touched), std::move(view)});
    }
    if (!parts.empty()) {
      start_plan(state, parts, std::move(fresh), pending);
    }
  }

  // `fresh`: what is copied from new cells after they are decoded.
  void start_plan(const std::shared_ptr<State> &state, const std::vector<zcodec::Part> &parts, std::vector<Copy> fresh,
                  ThreadPool::Pending &pending) {
    zcodec::Index index;
    {
      const std::lock_guard<std::mutex> lock(state->mutex);
      index = state->index;
    }
    const auto done = [this, state, fresh = std::move(fresh), &pending](zcodec::Plan plan,
                                                                        std::exception_ptr error) mutable {
      if (error == nullptr) {
        if (index_size_ > 0) {
          const std::lock_guard<std::mutex> lock(state->mutex);
          state->index = plan.index();
        }
        for (const Copy &one : fresh) {
          cache_.insert(one.key, one.cell);
        }
        post_copies(std::move(fresh), pending);
      }
      {
        const zcodec::Plan ended = std::move(plan);
      }  // before the memory that it writes to may go
      pending.done(error);
    };
    const auto plan = std::make_shared<AsyncPlan>(zcodec::Plan(chain_, parts, state->size, index, options_),
                                                  state->file, state->size, io_, workers_, done);
    pending.add();
    plan->start_stage();
  }

  // Joins the writes of the shard that are under way, or begins; the last one commits.
  void write_shard(Object &object, const Touched &part, const zcodec::ConstView &view) {
    std::unique_lock<std::mutex> lock(object.mutex);
    constexpr std::size_t most_puts = 64;  // who comes later waits, so that every session comes to its end
    object.changed.wait(
        lock, [&] { return !object.is_committing && (object.open == nullptr || object.open->puts < most_puts); });
    if (object.open == nullptr) {
      const std::shared_ptr<State> state = state_of(object);
      object.open =
          std::make_shared<Session>(state == nullptr ? zcodec::Writer(chain_, options_)
                                                     : zcodec::Writer(chain_, index_of(*state), state->size, options_));
    }
    const std::shared_ptr<Session> session = object.open;
    session->active++;
    session->puts++;
    lock.unlock();
    std::exception_ptr error;
    try {
      session->writer.put({part.in_cell, part.shape}, view);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error != nullptr) {
      session->error = error;
    }
    if (--session->active > 0) {
      object.changed.wait(lock, [&] { return session->is_committed; });
    } else {
      object.is_committing = true;
      object.open = nullptr;
      const std::shared_ptr<State> old = object.state;
      lock.unlock();
      std::shared_ptr<State> state = old;
      try {
        if (session->error == nullptr) {
          state = commit(object, *session, old);
        }
      } catch (...) {
        session->error = std::current_exception();
      }
      lock.lock();
      object.state = state;
      object.is_committing = false;
      session->is_committed = true;
      object.changed.notify_all();
    }
    if (session->error != nullptr) {
      std::rethrow_exception(session->error);
    }
  }

  zcodec::Index index_of(State &state) const {
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (!state.index) {
      const zcodec::Range range = chain_.index_range();
      const std::uint64_t begin = range.offset == zcodec::size_unknown ? state.size - range.size : range.offset;
      if (state.size < range.size) {
        throw std::runtime_error("a shard is smaller than its index");
      }
      Bytes bytes(static_cast<std::size_t>(range.size));
      state.file->read(begin, bytes.data(), bytes.size());
      state.index = zcodec::Index::decode(chain_, bytes.data(), bytes.size(), state.size);
    }
    return state.index;
  }

  // Only one thread commits an object at a time, and nobody puts.
  std::shared_ptr<State> commit(Object &object, Session &session, const std::shared_ptr<State> &old) {
    for (zcodec::List<zcodec::Range> ranges = session.writer.next(); !ranges.empty(); ranges = session.writer.next()) {
      for (std::size_t i = 0; i < ranges.size(); i++) {
        Bytes bytes(static_cast<std::size_t>(ranges[i].size));
        old->file->read(ranges[i].offset, bytes.data(), bytes.size());
        session.writer.supply(i, bytes);
      }
    }
    // With the index at the end, an append leaves all that a reader of the old state may ask for.
    constexpr std::uint32_t most_appends = 8;
    const bool appends =
        old != nullptr && old->appends < most_appends && chain_.index_range().offset == zcodec::size_unknown;
    const zcodec::Writer::Object made = session.writer.finish(appends ? ZCODEC_LAYOUT_APPEND : ZCODEC_LAYOUT_PACKED);
    if (made.size == index_size_ || made.pieces.empty()) {
      if (made.pieces.empty()) {
        return old;  // nothing has changed
      }
      std::filesystem::remove(object.path);  // all is the fill value
      return nullptr;
    }
    if (appends) {
      // After a crash before the last piece, the old shard is what is left when the file is cut to its old size: a host
      // that must survive that stores the size first. For a loss of power it calls fdatasync before the last piece, and
      // after it. Until then, only readers that have the old index may read the file.
      try {
        for (const zcodec::Piece &piece : made.pieces) {
          old->file->write(piece.offset, piece.data, static_cast<std::size_t>(piece.size));
        }
      } catch (...) {
        old->file->truncate(old->size);
        throw;
      }
      return std::make_shared<State>(old->file, made.size, ++number_, old->appends + 1);
    }
    const std::shared_ptr<File> file = create(object);
    for (const zcodec::Piece &piece : made.pieces) {
      if (piece.data != nullptr) {
        file->write(piece.offset, piece.data, static_cast<std::size_t>(piece.size));
      } else {
        Bytes bytes(static_cast<std::size_t>(piece.size));
        old->file->read(piece.source_offset, bytes.data(), bytes.size());
        file->write(piece.offset, bytes.data(), bytes.size());
      }
    }
    return publish(object, file, made.size);
  }

  // A chunk that is no shard is encoded as a whole. Writes of one chunk come one after the other.
  void write_chunk(Object &object, const Touched &part, const zcodec::ConstView &view) {
    std::unique_lock<std::mutex> lock(object.mutex);
    object.changed.wait(lock, [&] { return !object.is_committing; });
    const std::shared_ptr<State> old = state_of(object);
    object.is_committing = true;
    lock.unlock();
    std::shared_ptr<State> state = old;
    std::exception_ptr error;
    try {
      state = replace_chunk(object, part, view, old);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    object.state = state;
    object.is_committing = false;
    object.changed.notify_all();
    if (error != nullptr) {
      std::rethrow_exception(error);
    }
  }

  std::shared_ptr<State> replace_chunk(Object &object, const Touched &part, const zcodec::ConstView &view,
                                       const std::shared_ptr<State> &old) {
    const Index zeros(shape_.size(), 0);
    const Index whole = extent(part.cell, zeros, chunk_shape_);
    Bytes elements;
    zcodec::ConstView source = view;
    if (part.shape != whole) {
      elements.resize(static_cast<std::size_t>(product(whole)) * element_size_);
      const zcodec::View memory(elements, c_strides(whole, element_size_));
      if (old == nullptr) {
        chain_.fill_view(whole, memory);
      } else {
        Bytes encoded(static_cast<std::size_t>(old->size));
        old->file->read(0, encoded.data(), encoded.size());
        chain_.decode_view(encoded, {zeros, whole}, memory, options_);
      }
      copy(view, subview(memory, part.in_cell), part.shape, element_size_);
      source = memory;
    }
    if (chain_.is_fill_view(whole, source)) {
      std::filesystem::remove(object.path);
      return nullptr;
    }
    const Bytes encoded = chain_.encode_view({zeros, whole}, source, options_);
    const std::shared_ptr<File> file = create(object);
    file->write(0, encoded.data(), encoded.size());
    return publish(object, file, encoded.size());
  }

  std::shared_ptr<File> create(const Object &object) const {
    std::filesystem::create_directories(std::filesystem::path(object.path).parent_path());
    return File::create(object.path + ".new");
  }

  std::shared_ptr<State> publish(const Object &object, const std::shared_ptr<File> &file, std::uint64_t size) {
    // A host that must survive a loss of power calls fdatasync before this, and fsync of the directory after it.
    std::filesystem::rename(object.path + ".new", object.path);
    return std::make_shared<State>(file, size, ++number_, 0);
  }

  std::string directory_;
  Index shape_;
  zcodec::Chain chain_;
  Index chunk_shape_;
  Index cell_shape_;
  std::size_t element_size_;
  std::uint64_t index_size_ = 0;  // 0: chunks are no shards
  zcodec::CallOptions options_;
  unsigned threads_;
  Cache cache_;
  std::atomic<std::uint64_t> number_{0};
  std::mutex mutex_;
  std::map<Index, std::unique_ptr<Object>> objects_;
  ThreadPool io_;
  ThreadPool workers_;
};

// Removes an array that this store has made, and nothing else.
inline void remove_array(const std::string &directory) {
  if (!std::filesystem::exists(directory)) {
    return;
  }
  bool is_ours = std::filesystem::is_directory(directory);
  if (is_ours && !std::filesystem::is_empty(directory)) {
    is_ours = text_of(directory + "/zarr.json").find(Metadata::made_by) != std::string::npos;
    for (const std::filesystem::directory_entry &entry : std::filesystem::directory_iterator(directory)) {
      is_ours = is_ours && (entry.path().filename() == "zarr.json" || entry.path().filename() == "c");
    }
  }
  if (!is_ours) {
    throw std::runtime_error(directory + " is no array of this store; nothing was written");
  }
  std::filesystem::remove_all(directory);
}

#endif
