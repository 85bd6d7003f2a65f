package zcodec;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;

/**
 * One read of one stored object, a chunk or a shard. It says which bytes it needs, all of a stage at once; the program
 * fetches them as it likes and supplies them; each is decoded to its place at once.
 *
 * <p>The elements of a heap buffer are copied there when {@link #next} has returned an empty list; a direct buffer is
 * written at once. Until then nothing else may write to the memory of the views, nor between their elements.
 *
 * <p>Several threads may {@link #supply} at the same time; the other methods wait for one another. Callbacks must not
 * use the plan that runs them.
 */
public final class Plan extends StagedRead {
  private final StagedViews memory;
  private boolean complete;

  private Plan(long pointer, CallOptions options, Callbacks.Call call, StagedViews memory) {
    super(pointer, options, call);
    this.memory = memory;
  }

  static Plan make(
      Chain chain,
      boolean callbacks,
      List<Box> boxes,
      List<View> views,
      long objectSize,
      ShardIndex index,
      CallOptions options) {
    if (boxes.size() != views.size()) {
      throw new IllegalArgumentException(boxes.size() + " boxes, but " + views.size() + " views");
    }
    Check.sizeOrUnknown("objectSize", objectSize);
    int ndim = chain.kind() == Kind.BYTES_TO_BYTES ? 0 : chain.ndim();
    Callbacks.Call call = callbacks ? new Callbacks.Call(options.callData) : null;
    StagedViews memory = new StagedViews();
    boolean made = false;
    try (Invocation in = new Invocation(chain)) {
      long indexPointer = index == null ? 0 : index.acquire();
      try {
        memory.stage(views, true);
        in.check(
            C.zcodec_plan_new(
                in.handle,
                options.write(in.arena, call == null ? 0 : call.key),
                boxes(in.arena, boxes, ndim),
                views(in.arena, views, memory),
                boxes.size(),
                objectSize,
                indexPointer,
                in.out,
                in.error));
      } finally {
        if (index != null) {
          index.release();
        }
      }
      made = true;
      return new Plan(in.result(), options, call, memory);
    } finally {
      if (!made) {
        memory.close();
        if (call != null) {
          call.close();
        }
      }
    }
  }

  private static long boxes(Arena arena, List<Box> boxes, int ndim) {
    long all = arena.zeros(Math.multiplyExact(Box.STRUCT_SIZE, boxes.size()));
    for (int i = 0; i < boxes.size(); i++) {
      Box box = boxes.get(i) == null ? Box.of(new long[ndim], null) : boxes.get(i);
      box.write(arena, all + (long) Box.STRUCT_SIZE * i);
    }
    return all;
  }

  private static long views(Arena arena, List<View> views, StagedViews memory) {
    long all = arena.zeros(Math.multiplyExact(View.STRUCT_SIZE, views.size()));
    for (int i = 0; i < views.size(); i++) {
      views.get(i).write(arena, all + (long) View.STRUCT_SIZE * i, memory.address(i));
    }
    return all;
  }

  /**
   * The bytes of all ranges of this stage, decoded by as many threads as the options allow.
   *
   * @param bytes as many as {@link #next} gave ranges, each as for {@link #supply}
   * @throws IllegalArgumentException there are more or fewer
   * @throws ZcodecException as for {@link #supply}; {@link Status#INVALID_ARGUMENT} also after a supply of this stage
   */
  public void supplyAll(List<ByteBuffer> bytes) {
    List<Staged> staged = new ArrayList<>(bytes.size());
    Lock alone = lockAlone();
    try (Invocation in = new Invocation(null)) {
      if (bytes.size() != stageSize()) {
        throw new IllegalArgumentException(bytes.size() + " buffers, but this stage has " + stageSize() + " ranges");
      }
      long pointers = in.arena.zeros(Math.multiplyExact(8, bytes.size()));
      long sizes = in.arena.zeros(8 * bytes.size());
      for (int i = 0; i < bytes.size(); i++) {
        staged.add(Staged.input(bytes.get(i)));
        in.arena.putLong(pointers + 8L * i, staged.get(i).address);
        in.arena.putLong(sizes + 8L * i, staged.get(i).size);
      }
      check(in, C.zcodec_plan_supply_all(open(), pointers, sizes, in.error));
    } finally {
      alone.unlock();
      staged.forEach(Staged::close);
    }
  }

  /**
   * The index of the shard, once it is known.
   *
   * @return the index, to be closed by the program; null: the chain has none, or a codec before the shard needs the
   *     whole of it
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if it has not been supplied, was not needed, as every box
   *     is empty, or an error has ended the plan
   */
  public ShardIndex index() {
    Lock alone = lockAlone();
    try (Invocation in = new Invocation(null)) {
      in.check(C.zcodec_plan_index(open(), in.out, in.error));
      return in.result() == 0 ? null : new ShardIndex(in.result());
    } finally {
      alone.unlock();
    }
  }

  @Override
  void supplyBatch(int first, List<ByteBuffer> batch) {
    if (batch.size() == stageSize()) {
      supplyAll(batch);
    } else {
      super.supplyBatch(first, batch);
    }
  }

  @Override
  int nextOf(long pointer, long ranges, long count, long error) {
    return C.zcodec_plan_next(pointer, ranges, count, error);
  }

  @Override
  int supplyOf(long pointer, int i, long bytes, long size, long error) {
    return C.zcodec_plan_supply(pointer, i, bytes, size, error);
  }

  /** Heap buffers get their elements when all are there. */
  @Override
  void completed() {
    if (!complete) {
      complete = true;
      memory.copyOut();
    }
  }

  @Override
  void free(long pointer) {
    C.zcodec_plan_free(pointer);
    memory.close();
  }
}
