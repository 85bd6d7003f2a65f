package zcodec;

import com.sun.jna.Pointer;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * One read of one stored object, a chunk or a shard. It says which bytes it needs, all of a stage at once; the program
 * fetches them as it likes and supplies them; each is decoded to its place at once.
 *
 * <p>Several threads may {@link #supply} at the same time; the other methods wait for one another. Callbacks must not use
 * the plan that runs them.
 */
public final class Plan implements AutoCloseable {
  private final Object owner; // keeps the options and their executor alive
  private final Callbacks.Call call;
  private final List<Staged> memory;
  private final int ndim;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private long pointer;
  private boolean complete;
  /** The ranges of this stage. */
  private List<Range> stage = Collections.emptyList();

  private Plan(long pointer, Object owner, Callbacks.Call call, List<Staged> memory, int ndim) {
    this.pointer = pointer;
    this.owner = owner;
    this.call = call;
    this.memory = memory;
    this.ndim = ndim;
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
    int ndim = chain.kind() == Kind.BYTES_TO_BYTES ? 0 : chain.ndim();
    Callbacks.Call call = callbacks ? new Callbacks.Call(options.callData) : null;
    List<Staged> memory = new ArrayList<>(views.size());
    boolean made = false;
    try (Invocation in = new Invocation(chain)) {
      long indexPointer = index == null ? 0 : index.acquire();
      try {
        for (View view : views) {
          memory.add(Staged.partial(view.memory));
        }
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
      return new Plan(in.result(), options, call, memory, ndim);
    } finally {
      if (!made) {
        memory.forEach(Staged::close);
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

  private static long views(Arena arena, List<View> views, List<Staged> memory) {
    long all = arena.zeros(Math.multiplyExact(View.STRUCT_SIZE, views.size()));
    for (int i = 0; i < views.size(); i++) {
      views.get(i).write(arena, all + (long) View.STRUCT_SIZE * i, memory.get(i));
    }
    return all;
  }

  /**
   * The ranges of the next stage, once the last stage has been supplied.
   *
   * @return the ranges, sorted by offset; empty: the views are complete
   */
  public List<Range> next() {
    Lock alone = lockAlone();
    try (Invocation in = new Invocation(null)) {
      long count = in.arena.out();
      check(in, C.zcodec_plan_next(open(), in.out, count, in.error));
      stage = ranges(in.result(), in.arena.getLong(count));
      if (stage.isEmpty() && !complete) {
        complete = true;
        memory.forEach(staged -> staged.copyOut(staged.size));
      }
      return stage;
    } finally {
      alone.unlock();
    }
  }

  static List<Range> ranges(long address, long count) {
    if (count == 0) {
      return Collections.emptyList();
    }
    long[] numbers = new Pointer(address).getLongArray(0, Math.toIntExact(2 * count));
    List<Range> ranges = new ArrayList<>(numbers.length / 2);
    for (int i = 0; i < numbers.length; i += 2) {
      ranges.add(new Range(numbers[i], numbers[i + 1]));
    }
    return Collections.unmodifiableList(ranges);
  }

  /**
   * The bytes of one range of this stage. Any failure except {@link Status#INVALID_ARGUMENT} ends the plan.
   *
   * @param i the number of the range in the list of {@link #next}
   * @param bytes from the buffer's position to its limit; both stay as they are
   */
  public void supply(int i, ByteBuffer bytes) {
    if (lock.isWriteLockedByCurrentThread()) {
      throw new IllegalStateException("a callback must not use the plan that runs it");
    }
    lock.readLock().lock();
    try (Invocation in = new Invocation(null);
        Staged from = Staged.input(bytes)) {
      check(in, C.zcodec_plan_supply(open(), i, from.address, from.size, in.error));
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * The bytes of all ranges of this stage, decoded by as many threads as the options allow.
   *
   * @param bytes as many as {@link #next} gave ranges, each as for {@link #supply}
   */
  public void supplyAll(List<ByteBuffer> bytes) {
    List<Staged> staged = new ArrayList<>(bytes.size());
    Lock alone = lockAlone();
    try (Invocation in = new Invocation(null)) {
      if (bytes.size() != stage.size()) {
        throw new IllegalArgumentException(bytes.size() + " buffers, but this stage has " + stage.size() + " ranges");
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
   * @return the index, to be closed by the program; null: the chain has none
   */
  public ShardIndex index() {
    Lock alone = lockAlone();
    try (Invocation in = new Invocation(null)) {
      in.check(C.zcodec_plan_index(open(), in.out, in.error));
      return in.result() == 0 ? null : new ShardIndex(in.result(), ndim);
    } finally {
      alone.unlock();
    }
  }

  /**
   * Runs the whole plan on a file: reads what each stage asks for, and nothing else.
   *
   * @param file the stored object; its position stays as it is
   * @throws IOException the file cannot be read, or ends too early
   */
  public void read(FileChannel file) throws IOException {
    for (List<Range> ranges = next(); !ranges.isEmpty(); ranges = next()) {
      for (int i = 0; i < ranges.size(); i++) {
        supplyFrom(file, i, ranges.get(i));
      }
    }
  }

  private void supplyFrom(FileChannel file, int i, Range range) throws IOException {
    long end = file.size();
    long offset = range.offset() == Range.UNKNOWN ? Math.max(0, end - range.size()) : range.offset();
    long size = range.size() == Range.UNKNOWN ? Math.max(0, end - offset) : range.size();
    if (offset < 0 || size < 0 || size > Math.max(0, end - offset)) {
      throw new EOFException("the file has " + end + " bytes, too few for " + range);
    }
    ByteBuffer bytes = Scratch.take(Math.toIntExact(size));
    try {
      ((java.nio.Buffer) bytes).clear().limit((int) size);
      while (bytes.hasRemaining()) {
        if (file.read(bytes, offset + bytes.position()) < 0) {
          throw new EOFException("the file became shorter while it was read");
        }
      }
      ((java.nio.Buffer) bytes).flip();
      supply(i, bytes);
    } finally {
      Scratch.give(bytes);
    }
  }

  /** As {@link Invocation#check}, with what a callback of the plan has thrown. */
  private void check(Invocation in, int status) {
    if (status != 0) {
      throw ZcodecException.take(status, in.arena.getLong(in.error), 0, call == null ? null : call.failure());
    }
  }

  private Lock lockAlone() {
    if (lock.getReadHoldCount() > 0 || lock.isWriteLockedByCurrentThread()) {
      throw new IllegalStateException("a callback must not use the plan that runs it");
    }
    lock.writeLock().lock();
    return lock.writeLock();
  }

  private long open() {
    if (pointer == 0) {
      throw new IllegalStateException("Plan is closed");
    }
    return pointer;
  }

  /** Frees the plan. Closing again does nothing. */
  @Override
  public void close() {
    Lock alone = lockAlone();
    try {
      if (pointer != 0) {
        C.zcodec_plan_free(pointer);
        pointer = 0;
        memory.forEach(Staged::close);
        if (call != null) {
          call.close();
        }
        Fence.keep(owner);
      }
    } finally {
      alone.unlock();
    }
  }
}
