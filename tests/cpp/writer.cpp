// Writers of shards.
#include "shard.h"

#include <algorithm>
#include <thread>

namespace {

using Bytes = std::vector<std::uint8_t>;

// The object after the pieces have been written to the old one (APPEND), or in its place (PACKED).
Bytes apply(const zcodec::Writer::Object &made, const Bytes &old, zcodec_layout layout) {
  Bytes object = layout == ZCODEC_LAYOUT_APPEND ? old : Bytes();
  for (const zcodec::Piece &piece : made.pieces) {
    const std::uint8_t *data =
        piece.data != nullptr ? static_cast<const std::uint8_t *>(piece.data) : old.data() + piece.source_offset;
    object.resize(std::max<std::size_t>(object.size(), static_cast<std::size_t>(piece.offset + piece.size)));
    std::copy(data, data + piece.size, object.begin() + static_cast<std::ptrdiff_t>(piece.offset));
  }
  CHECK(object.size() == made.size);
  return object;
}

zcodec::Index index_of(const zcodec::Chain &chain, const Bytes &shard) {
  return zcodec::Index::decode(chain, shard.data() + shard.size() - index_size, index_size, shard.size());
}

void a_new_shard_is_what_encode_makes() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  const std::vector<std::int8_t> elements = shard_elements();
  zcodec::Writer writer(chain);
  writer.put({}, elements);
  CHECK(writer.get() != nullptr && writer.next().empty());
  CHECK(apply(writer.finish(ZCODEC_LAYOUT_PACKED), {}, ZCODEC_LAYOUT_PACKED) == chain.encode(elements));

  std::vector<std::int8_t> columns(24);
  chain.decode_view(chain.encode(elements), {}, zcodec::View(columns, {1, 4}));
  zcodec::Writer halves(chain);
  halves.put({{0, 0}, {4, 3}}, zcodec::View(columns.data(), 12, {1, 4}));
  halves.put({{0, 3}, {4, 3}}, zcodec::View(columns.data() + 12, 12, {1, 4}));
  zcodec::Writer moved = std::move(halves);
  moved.next();
  CHECK(apply(moved.finish(ZCODEC_LAYOUT_APPEND), {}, ZCODEC_LAYOUT_APPEND) == chain.encode(elements));
}

void a_part_is_changed(zcodec_layout layout) {
  const zcodec::Chain chain(shard_codecs, shard_input);
  std::vector<std::int8_t> elements = shard_elements();
  const Bytes old = chain.encode(elements);
  const std::vector<std::int8_t> ones = {-1, -2, -3, -4};
  zcodec::Writer writer(chain, index_of(chain, old), old.size());
  writer.put({{2, 1}, {1, 4}}, ones);  // of two inner chunks
  zcodec::List<zcodec::Range> ranges = writer.next();
  CHECK(ranges.size() == 2);
  CHECK(thrown_by([&] { writer.put({{2, 1}, {1, 4}}, ones); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(thrown_by([&] { writer.finish(layout); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
  for (std::size_t i = 0; i < ranges.size(); i++) {
    const auto begin = old.begin() + static_cast<std::ptrdiff_t>(ranges[i].offset);
    writer.supply(i, Bytes(begin, begin + static_cast<std::ptrdiff_t>(ranges[i].size)));
  }
  CHECK(writer.next().empty());
  CHECK(thrown_by([&] { writer.finish(static_cast<zcodec_layout>(7)); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
  const Bytes changed = apply(writer.finish(layout), old, layout);
  std::copy(ones.begin(), ones.end(), elements.begin() + 13);
  CHECK(chain.decode<std::int8_t>(changed) == elements);
  if (layout == ZCODEC_LAYOUT_APPEND) {
    zcodec::Writer packs(chain, index_of(chain, changed), changed.size());  // without the bytes that are dead now
    packs.next();
    CHECK(apply(packs.finish(ZCODEC_LAYOUT_PACKED), changed, ZCODEC_LAYOUT_PACKED) == chain.encode(elements));
    CHECK(changed.size() > old.size() && std::equal(old.begin(), old.end(), changed.begin()));
  } else {
    CHECK(changed == chain.encode(elements));
  }
  CHECK(thrown_by([&] { writer.next(); }).status() == ZCODEC_STATUS_INVALID_ARGUMENT);
}

void nothing_or_only_the_fill_value() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  const Bytes old = chain.encode(shard_elements());
  zcodec::Writer nothing(chain, index_of(chain, old), old.size());
  CHECK(nothing.next().empty() && nothing.finish(ZCODEC_LAYOUT_APPEND).pieces.empty());
  const std::vector<std::int8_t> zeros(24);
  zcodec::Writer empty(chain);
  empty.put({}, zeros);
  empty.next();
  CHECK(empty.finish(ZCODEC_LAYOUT_PACKED).size == index_size);
  zcodec::CallOptions options;
  options.flags = ZCODEC_CALL_STORE_EMPTY;
  zcodec::Writer stored(chain, options);
  stored.put({}, zeros);
  stored.next();
  CHECK(stored.finish(ZCODEC_LAYOUT_PACKED).size == 4 * 8 + index_size);
}

void threads_put_at_once() {
  const zcodec::Chain chain = zcodec::Chain(shard_codecs, shard_input).with_shape({64, 48});
  const std::vector<std::int8_t> elements(64 * 48, 3);
  zcodec::CallOptions options;
  options.executor = zcodec::Executor(2, [](zcodec::Job job, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; i++) {
      job(i, i % 2);
    }
  });
  zcodec::Writer writer(chain, options);
  options.executor = {};  // the writer keeps it
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; i++) {
    threads.emplace_back(
        [&, i] { writer.put({{16 * i, 0}, {16, 48}}, zcodec::ConstView(&elements[16 * 48 * i], 768)); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  writer.next();
  CHECK(apply(writer.finish(ZCODEC_LAYOUT_PACKED), {}, ZCODEC_LAYOUT_PACKED) == chain.encode(elements));
}

// A callback of a call may put into the writer that runs it: either of the two wins, and both end.
void a_callback_puts_as_well() {
  zcodec::Chain chain(
      R"([{"name":"sharding_indexed","configuration":{"chunk_shape":[4],"codecs":["bytes",
          {"name":"pad","configuration":{"location":"end","nbytes":2}}],
          "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}}])",
      R"({"data_type":"uint8","shape":[8],"fill_value":0})");
  const Bytes first = {1, 2, 3, 4, 5, 6, 7, 8}, second = {11, 12, 13, 14, 15, 16, 17, 18};
  zcodec::Writer *putting = nullptr;
  int checks = 0;
  chain.set_padding_at("/0/configuration/codecs/1", nullptr,
                       [&](const std::uint8_t *, std::size_t, const std::uint8_t *, std::size_t, void *) {
                         checks++;
                         if (putting != nullptr) putting->put({}, second);
                       });
  zcodec::Writer writer(chain);
  writer.put({}, first);
  putting = &writer;
  writer.put({{1}, {2}}, zcodec::ConstView(first.data(), 2));  // decodes the inner chunk
  putting = nullptr;
  CHECK(checks == 1);
  writer.next();
  const Bytes made = chain.decode(apply(writer.finish(ZCODEC_LAYOUT_PACKED), {}, ZCODEC_LAYOUT_PACKED));
  CHECK(made[0] == 11 && made[3] == 14 && made[4] == 15 && made[7] == 18);
  CHECK((made[1] == 12 && made[2] == 13) || (made[1] == 1 && made[2] == 2));
}

void what_is_wrong_is_told() {
  const zcodec::Chain chain(shard_codecs, shard_input);
  const std::vector<std::int8_t> elements = shard_elements();
  const std::vector<float> floats(24);
  zcodec::Writer writer(chain);
  const auto status = [](auto call) { return thrown_by(call).status(); };
  CHECK(status([&] { writer.put({{4, 0}, {1, 1}}, elements); }) == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(status([&] { writer.put({}, zcodec::ConstView(elements.data(), 5)); }) == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(status([&] { writer.put({}, floats); }) == ZCODEC_STATUS_INVALID_ARGUMENT);
  CHECK(status([&] { zcodec::Writer(zcodec::Chain(R"(["bytes"])", shard_input)); }) == ZCODEC_STATUS_UNSUPPORTED);
  const Bytes old = chain.encode(elements);
  CHECK(status([&] { zcodec::Writer(chain, index_of(chain, old), zcodec::size_unknown); }) ==
        ZCODEC_STATUS_INVALID_ARGUMENT);
  zcodec::Writer damaged(chain, index_of(chain, old), old.size());
  damaged.put({{0, 3}, {1, 1}}, zcodec::ConstView(elements.data(), 1));
  CHECK(damaged.next().size() == 1);
  CHECK(status([&] { damaged.supply(0, old.data(), 1); }) == ZCODEC_STATUS_CORRUPT_DATA);
}

}  // namespace

int main() {
  a_new_shard_is_what_encode_makes();
  a_part_is_changed(ZCODEC_LAYOUT_APPEND);
  a_part_is_changed(ZCODEC_LAYOUT_PACKED);
  nothing_or_only_the_fill_value();
  threads_put_at_once();
  a_callback_puts_as_well();
  what_is_wrong_is_told();
  return check_result("writer");
}
