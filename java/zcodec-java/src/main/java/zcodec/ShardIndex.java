package zcodec;

/** The index of a shard, decoded; for a cache of the program, and for any thread. */
public final class ShardIndex extends NativeHandle {
  ShardIndex(long pointer) {
    super(pointer);
  }

  @Override
  void free(long pointer) {
    C.zcodec_index_free(pointer);
  }

  /**
   * The memory that the index takes: its weight in a cache.
   *
   * @return the size in bytes
   */
  public long memory() {
    try (Invocation in = new Invocation(this)) {
      return C.zcodec_index_memory(in.handle);
    }
  }

  /**
   * Where an inner chunk lies in its shard.
   *
   * @param cell its coordinates in the grid of the array that {@code sharding_indexed} receives, after the codecs
   *     before it
   * @return the range; null: nowhere, because it is the fill value; in a chain without one the shard is damaged
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if there is no such inner chunk, {@link
   *     Status#CORRUPT_DATA} if the range lies outside the shard
   */
  public Range entry(long... cell) {
    try (Invocation in = new Invocation(this)) {
      long range = in.arena.zeros(Range.STRUCT_SIZE);
      long cells = in.arena.longs(Check.notNegative("cell", cell));
      in.check(C.zcodec_index_entry(in.handle, cells, cell.length, range, in.out, in.error));
      return in.arena.getInt(in.out) == 0 ? null : new Range(in.arena.getLong(range), in.arena.getLong(range + 8));
    }
  }
}
