// Plans, indices, tasks, executors, paddings inside shards.
#include "shard.h"

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

void a_plan_reads_what_a_box_needs() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  const std::vector<std::uint8_t> shard = chain.encode(shard_elements());
  CHECK(shard.size() == 24 + index_size);
  std::vector<std::int8_t> row(3, 9);
  zcodec::Plan plan(chain, {{{1, 1}, {1, 3}}, row}, shard.size());
  CHECK(thrown_by([&] { plan.index(); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
  zcodec::List<zcodec::Range> ranges = plan.next();
  CHECK(ranges.size() == 1 && ranges[0].offset == 24 && ranges.begin()->size == index_size);
  CHECK(thrown_by([&] { plan.next(); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(thrown_by([&] { plan.supply(1, shard); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
  plan.supply(0, shard.data() + 24, index_size);
  const zcodec::Index index = plan.index();
  ranges = plan.next();
  CHECK(ranges.size() == 1 && ranges.end() == ranges.data() + 1);
  std::vector<std::vector<std::uint8_t>> all;
  for (const zcodec::Range &range : ranges) {
    all.emplace_back(shard.begin() + static_cast<std::ptrdiff_t>(range.offset),
                     shard.begin() + static_cast<std::ptrdiff_t>(range.offset + range.size));
  }
  all.emplace_back();
  CHECK(thrown_by([&] { plan.supply_all(all); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
  all.pop_back();
  plan.supply_all(all);
  CHECK(plan.next().empty() && plan.get() != nullptr);
  CHECK((row == std::vector<std::int8_t>{0, 0, 10}));

  std::vector<std::int8_t> left(4), right(4);
  zcodec::Plan two(chain, {{{{2, 0}, {2, 2}}, left}, {{{2, 4}, {2, 2}}, right}}, zcodec::size_unknown, index);
  supply_from(two, shard);
  CHECK((left == std::vector<std::int8_t>{13, 14, 19, 20}) && (right == std::vector<std::int8_t>{17, 18, 23, 24}));
  std::vector<std::int8_t> whole(24);
  zcodec::Plan moved = zcodec::Plan(chain, {{}, whole});
  supply_from(moved, shard);
  CHECK(whole == shard_elements());
  const std::vector<zcodec::Part> none;
  CHECK(zcodec::Plan(chain, none, shard.size()).next().empty());
  zcodec::Plan cut(chain, {{}, whole}, shard.size(), index);
  cut.next();
  CHECK(thrown_by([&] { cut.supply(0, shard.data(), 2); }).status() == ZCODEC_STATUS_CORRUPT_DATA);
}

void an_index_is_shared() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  const std::vector<std::uint8_t> shard = chain.encode(shard_elements());
  const zcodec::Range at = chain.index_range();
  CHECK(at.offset == zcodec::size_unknown && at.size == index_size);
  zcodec::Index copy;
  CHECK(!copy && copy.memory() == 0);
  {
    const zcodec::Index index = zcodec::Index::decode(chain, shard.data() + 24, index_size, shard.size());
    copy = index;
    CHECK(index && index.memory() >= 4 * 16);
  }
  CHECK(!copy.entry({0, 0}));
  const std::optional<zcodec::Range> entry = copy.entry({0, 1});
  CHECK(entry && entry->offset == 0 && entry->size == 8);
  const zcodec::Index moved = std::move(copy);
  CHECK(thrown_by([&] { moved.entry({2, 0}); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(thrown_by([&] { zcodec::Index::decode(chain, shard.data(), index_size, shard.size()); }).status() ==
        ZCODEC_STATUS_CORRUPT_DATA);
  CHECK(chain.inner().codec_count() == 2 && (chain.inner().shape() == std::vector<std::uint64_t>{2, 3}));
  const zcodec::Chain plain(R"(["bytes"])", shard_input);
  CHECK(thrown_by([&] { plain.inner(); }).status() == ZCODEC_STATUS_UNSUPPORTED);
  CHECK(thrown_by([&] { plain.index_range(); }).status() == ZCODEC_STATUS_UNSUPPORTED);
  std::vector<std::int8_t> elements(24);
  CHECK(!zcodec::Plan(plain, {{}, elements}, 24).index());
}

// A thread for each function that is posted.
struct Threads {
  std::vector<std::thread> threads;
  void operator()(std::function<void()> function) { threads.emplace_back(std::move(function)); }
  ~Threads() {
    for (std::thread &thread : threads) {
      thread.join();
    }
  }
};

// Enough elements for several threads.
constexpr const char *large_input = R"({"data_type": "int8", "shape": [256, 4096], "fill_value": 0})";

// Chunks of which element i of chunk n is i + n.
struct Chunks {
  const zcodec::Chain chain = zcodec::Chain(R"(["bytes", "crc32c"])", large_input).with_shape({128, 192});
  std::vector<std::vector<std::int8_t>> decoded;
  std::vector<zcodec::Vector<std::uint8_t>> encoded;

  explicit Chunks(const zcodec::CallOptions &options) {
    std::vector<zcodec::EncodeTask> tasks(50);
    for (std::size_t i = 0; i < tasks.size(); i++) {
      decoded.emplace_back(chain.decoded_size());
      for (std::size_t at = 0; at < decoded[i].size(); at++) {
        decoded[i][at] = static_cast<std::int8_t>(at + i);
      }
      encoded.emplace_back(chain.encoded_bound(chain.decoded_size()));
    }
    for (std::size_t i = 0; i < tasks.size(); i++) {
      tasks[i].chain = &chain;
      tasks[i].view = decoded[i];
      tasks[i].encoded = encoded[i].data();
      tasks[i].encoded_capacity = encoded[i].size();
    }
    zcodec::encode_tasks(tasks, options);
    for (std::size_t i = 0; i < tasks.size(); i++) {
      CHECK(!tasks[i].error);
      encoded[i].resize(tasks[i].encoded_size);
    }
  }

  void check_decode(const zcodec::CallOptions &options) const {
    std::vector<std::vector<std::int8_t>> results(decoded.size(), std::vector<std::int8_t>(chain.decoded_size()));
    std::vector<zcodec::DecodeTask> tasks(decoded.size());
    for (std::size_t i = 0; i < tasks.size(); i++) {
      tasks[i].chain = &chain;
      tasks[i].encoded = encoded[i].data();
      tasks[i].encoded_size = encoded[i].size();
      tasks[i].view = results[i];
    }
    zcodec::decode_tasks(tasks, options);
    CHECK(results == decoded);
  }
};

void tasks_run_on_any_executor() {
  zcodec::CallOptions options;
  Chunks(options).check_decode(options);
  options.max_threads = 2;
  Chunks(options).check_decode(options);

  std::atomic<int> runs{0};
  options.executor = zcodec::Executor(3, [&](const zcodec::Job &job, std::uint32_t count) {
    runs++;
    while (count-- > 0) {
      job(count, 0);
    }
  });
  CHECK(options.executor.get()->max_workers == 3);
  Chunks(options).check_decode(options);
  CHECK(runs >= 2);

  {
    Threads threads;
    options.executor = zcodec::Executor::of_pool(3, std::ref(threads));
    Chunks(options).check_decode(options);
    CHECK(!threads.threads.empty());
  }
  // Functions that run long after the call find nothing to do.
  std::vector<std::function<void()>> later;
  options.executor = zcodec::Executor::of_pool(4, [&](std::function<void()> function) { later.push_back(function); });
  Chunks(options).check_decode(options);
  CHECK(!later.empty());
  for (const std::function<void()> &function : later) {
    function();
  }
  // A pool that takes nothing leaves the work to the caller.
  options.executor =
      zcodec::Executor::of_pool(4, [](const std::function<void()> &) { throw std::runtime_error("closed"); });
  Chunks(options).check_decode(options);

  const zcodec::Executor owner = options.executor;
  options.executor = zcodec::Executor(owner.get());  // of C
  CHECK(options.executor.get()->max_workers == 4);
}

zcodec::Chain large_shard() {
  return zcodec::Chain(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [64, 512],
      "codecs": ["bytes", "crc32c"], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}])",
                       large_input);
}

void what_an_executor_throws_is_a_status() {
  const zcodec::Chain chain = large_shard();
  std::vector<std::int8_t> elements(chain.decoded_size(), 1);
  const std::vector<std::uint8_t> encoded = chain.encode(elements);
  zcodec::CallOptions options;
  options.executor = zcodec::Executor(2, [](zcodec::Job, std::uint32_t) { throw std::runtime_error("no threads"); });
  CHECK(thrown_by([&] { chain.decode_view(encoded, {}, elements, options); }).status() ==
        ZCODEC_STATUS_CALLBACK_FAILED);
  options.executor = zcodec::Executor(2, [](zcodec::Job, std::uint32_t) { return 5; });
  CHECK(thrown_by([&] { chain.decode_view(encoded, {}, elements, options); }).status() ==
        ZCODEC_STATUS_CALLBACK_FAILED);
  options.executor = zcodec::Executor(0, [](zcodec::Job, std::uint32_t) {});
  CHECK(thrown_by([&] { chain.decode_view(encoded, {}, elements, options); }).status() ==
        ZCODEC_STATUS_INVALID_ARGUMENT);
}

void a_plan_keeps_its_executor() {
  const zcodec::Chain chain = large_shard();
  std::vector<std::int8_t> elements(chain.decoded_size());
  const std::vector<std::uint8_t> shard = chain.encode(std::vector<std::int8_t>(elements.size(), 3));
  const auto runs = std::make_shared<int>(0);
  const auto make = [&] {
    zcodec::CallOptions options;
    options.executor = zcodec::Executor(2, [runs](zcodec::Job job, std::uint32_t count) {
      ++*runs;
      for (std::uint32_t i = 0; i < count; i++) {
        job(i, 0);
      }
    });
    return zcodec::Plan(chain, {{}, elements}, shard.size(), {}, options);
  };
  {
    zcodec::Plan plan = make();
    plan.next();
    plan.supply(0, shard.data() + elements.size() + 32 * 4, 32 * 16);
    std::vector<const void *> bytes;
    std::vector<std::size_t> sizes;
    for (const zcodec::Range &range : plan.next()) {
      bytes.push_back(shard.data() + range.offset);
      sizes.push_back(static_cast<std::size_t>(range.size));
    }
    plan.supply_all(bytes.data(), sizes.data());
    CHECK(plan.next().empty() && elements[7] == 3 && *runs > 0 && runs.use_count() == 2);
  }
  CHECK(runs.use_count() == 1);
}

void tasks_report_each_by_itself() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  const std::vector<std::uint8_t> shard = chain.encode(shard_elements());
  std::vector<std::int8_t> all(24), cut(24), missing(24, 9), box(2);
  std::vector<zcodec::DecodeTask> tasks(4);
  std::vector<std::int8_t> *results[] = {&all, &cut, &missing, &box};
  for (std::size_t i = 0; i < tasks.size(); i++) {
    tasks[i].chain = &chain;
    tasks[i].encoded = shard.data();
    tasks[i].encoded_size = i == 1 ? 10 : shard.size();
    tasks[i].view = *results[i];
  }
  tasks[2].is_missing = true;
  tasks[3].box = {{3, 4}, {1, 2}};
  CHECK(thrown_by([&] { zcodec::decode_tasks(tasks); }).status() == ZCODEC_STATUS_CORRUPT_DATA);
  CHECK(!tasks[0].error && all == shard_elements());
  CHECK(tasks[1].error && tasks[1].error->status() == ZCODEC_STATUS_CORRUPT_DATA);
  CHECK(!tasks[2].error && missing == std::vector<std::int8_t>(24, 0));
  CHECK(!tasks[3].error && box[0] == 23 && box[1] == 24);

  std::vector<std::uint8_t> small(10);
  zcodec::EncodeTask task;
  task.chain = &chain;
  task.view = all;
  task.encoded = small.data();
  task.encoded_capacity = small.size();
  const zcodec::Error error = thrown_by([&] { zcodec::encode_tasks(&task, 1); });
  CHECK(error.status() == ZCODEC_STATUS_BUFFER_TOO_SMALL && error.needed_size() >= shard.size());
  CHECK(task.encoded_size == error.needed_size() && task.error->needed_size() == error.needed_size());
  task.chain = nullptr;
  CHECK(thrown_by([&] { zcodec::encode_tasks(&task, 1); }).status() == ZCODEC_STATUS_NULL_ARGUMENT);
  CHECK(!task.error && task.encoded_size == 0);  // it did not run
}

void paddings_inside_a_shard() {
  zcodec::Chain chain(shard_codecs, shard_input);
  const std::string path = "/0/configuration/codecs/1";
  const auto generate = [](const std::uint8_t *chunk, std::size_t, std::uint8_t *padding, std::size_t size,
                           void *data) {
    for (std::size_t i = 0; i < size; i++) {
      padding[i] = static_cast<std::uint8_t>(chunk[0] ^ *static_cast<std::uint8_t *>(data));
    }
  };
  const auto check = [](const std::uint8_t *chunk, std::size_t, const std::uint8_t *padding, std::size_t, void *data) {
    return padding[0] == (chunk[0] ^ *static_cast<std::uint8_t *>(data)) ? 0 : 1;
  };
  chain.set_padding_at(path, generate, check);
  std::uint8_t key = 0x55;
  zcodec::CallOptions options;
  options.call_data = &key;
  const std::vector<std::uint8_t> shard = chain.encode(shard_elements(), options);
  CHECK(shard[0] == (shard[2] ^ key) && shard[1] == shard[0]);
  CHECK(chain.decode<std::int8_t>(shard, options) == shard_elements());
  key = 0x56;
  const zcodec::Error error = thrown_by([&] { chain.decode(shard, options); });
  CHECK(error.status() == ZCODEC_STATUS_CORRUPT_DATA && error.path() == path && error.codec_index() == 0);
  CHECK(thrown_by([&] { chain.set_padding_at("/0", generate, check); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
}

}  // namespace

int main() {
  a_plan_reads_what_a_box_needs();
  an_index_is_shared();
  tasks_run_on_any_executor();
  what_an_executor_throws_is_a_status();
  a_plan_keeps_its_executor();
  tasks_report_each_by_itself();
  paddings_inside_a_shard();
  return check_result("shard");
}
