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

/** What plans and writers have in common: ranges of a stored object are asked for in stages, and supplied. */
abstract class StagedRead implements AutoCloseable {
  /** What is read before threads share it: enough for them, and still in a cache. */
  private static final int BATCH_SIZE = 8 << 20;

  private final CallOptions options; // keeps their executor alive
  private final Callbacks.Call call;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private long pointer;
  /** The ranges of this stage. */
  private List<Range> stage = Collections.emptyList();

  StagedRead(long pointer, CallOptions options, Callbacks.Call call) {
    this.pointer = pointer;
    this.options = options;
    this.call = call;
  }

  abstract int nextOf(long pointer, long ranges, long count, long error);

  abstract int supplyOf(long pointer, int i, long bytes, long size, long error);

  /** The last stage is done. */
  void completed() {}

  abstract void free(long pointer);

  /**
   * The ranges of the next stage, once the last stage has been supplied.
   *
   * @return the ranges, sorted by offset; empty: nothing more is needed
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if a range has not been supplied, or an error has ended the
   *     plan or the writer; {@link Status#CORRUPT_DATA} if the index names a range that cannot be, or an inner chunk is
   *     missing that has no fill value. Of a writer also what encoding throws, as {@link Writer#put} does, and {@link
   *     Status#UNSUPPORTED} if only a part of a new inner chunk was put and the chain has no fill value
   */
  public List<Range> next() {
    Lock alone = lockAlone();
    try (Invocation in = new Invocation(null)) {
      long count = in.arena.out();
      check(in, nextOf(open(), in.out, count, in.error));
      stage = ranges(in.result(), in.arena.getLong(count));
      if (stage.isEmpty()) {
        completed();
      }
      return stage;
    } finally {
      alone.unlock();
    }
  }

  private static List<Range> ranges(long address, long count) {
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
   * The bytes of one range of this stage; several threads may supply different ranges at once. Any failure except {@link
   * Status#INVALID_ARGUMENT} ends the plan or the writer: it can only be closed. When one of several threads fails, the
   * others may get INVALID_ARGUMENT, perhaps before its call throws: the other exception is the cause.
   *
   * @param i the number of the range in the list of {@link #next}
   * @param bytes from the buffer's position to its limit; both stay as they are
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if there is no such range, it was supplied before, or an
   *     error has ended the plan or the writer; {@link Status#CORRUPT_DATA} if the size is not that of the range, or
   *     the bytes do not decode; otherwise what {@link Chain#decode(ByteBuffer, ByteBuffer)} throws and, of a writer,
   *     {@link Chain#encode(ByteBuffer, ByteBuffer)}
   */
  public void supply(int i, ByteBuffer bytes) {
    Check.notNegative("i", i);
    Lock shared = lockShared();
    try (Invocation in = new Invocation(null);
        Staged from = Staged.input(bytes)) {
      check(in, supplyOf(open(), i, from.address, from.size, in.error));
    } finally {
      shared.unlock();
    }
  }

  /**
   * Reads from a file what each stage asks for, and nothing else, until nothing more is needed. If the options allow
   * several threads, they share the ranges, of which 8 MiB or one are in memory at a time.
   *
   * @param file the stored object; its position stays as it is
   * @throws IOException the file cannot be read, or ends too early
   * @throws ZcodecException as for {@link #next} and {@link #supply}
   */
  public void read(FileChannel file) throws IOException {
    for (List<Range> ranges = next(); !ranges.isEmpty(); ranges = next()) {
      for (int done = 0; done < ranges.size(); ) {
        done += supplyFrom(file, done, ranges.subList(done, ranges.size()));
      }
    }
  }

  /** Reads and supplies the first of these ranges; returns how many. */
  private int supplyFrom(FileChannel file, int first, List<Range> ranges) throws IOException {
    long room = options.workers() > 1 ? BATCH_SIZE : 0;
    List<ByteBuffer> batch = new ArrayList<>();
    try {
      for (Range range : ranges) {
        Range known = inFile(file, range);
        room -= Math.max(known.size(), Scratch.SMALLEST);
        if (room < 0 && !batch.isEmpty()) {
          break;
        }
        batch.add(readRange(file, known));
      }
      supplyBatch(first, batch);
      return batch.size();
    } finally {
      batch.forEach(Scratch::give);
    }
  }

  /** Supplies neighbouring ranges of this stage. */
  void supplyBatch(int first, List<ByteBuffer> batch) {
    if (batch.size() == 1) {
      supply(first, batch.get(0));
    } else {
      options.share(batch.size(), (i, worker) -> supply(first + i, batch.get(i)));
    }
  }

  private static Range inFile(FileChannel file, Range range) throws IOException {
    long end = file.size();
    long offset = range.offset() == Range.UNKNOWN ? Math.max(0, end - range.size()) : range.offset();
    long size = range.size() == Range.UNKNOWN ? Math.max(0, end - offset) : range.size();
    if (offset < 0 || size < 0 || size > Math.max(0, end - offset)) {
      throw new EOFException("the file has " + end + " bytes, too few for " + range);
    }
    if (size > Integer.MAX_VALUE) {
      throw new IOException("a range of " + size + " bytes is more than a ByteBuffer holds");
    }
    return new Range(offset, size);
  }

  private static ByteBuffer readRange(FileChannel file, Range range) throws IOException {
    ByteBuffer bytes = Scratch.take((int) range.size());
    boolean read = false;
    try {
      ((java.nio.Buffer) bytes).clear().limit((int) range.size());
      while (bytes.hasRemaining()) {
        if (file.read(bytes, range.offset() + bytes.position()) < 0) {
          throw new EOFException("the file became shorter while it was read");
        }
      }
      ((java.nio.Buffer) bytes).flip();
      read = true;
      return bytes;
    } finally {
      if (!read) {
        Scratch.give(bytes);
      }
    }
  }

  /** As {@link Invocation#check}, with what a callback has thrown. */
  final void check(Invocation in, int status) {
    if (status != 0) {
      boolean ran = call != null && status != Status.INVALID_ARGUMENT.number(); // such a call has run no callbacks
      throw ZcodecException.take(status, in.arena.getLong(in.error), 0, ran ? call.takeFailure() : null);
    }
  }

  final int stageSize() {
    return stage.size();
  }

  final Lock lockAlone() {
    return locked(lock.writeLock());
  }

  final Lock lockShared() {
    return locked(lock.readLock());
  }

  private Lock locked(Lock one) {
    if (call != null) {
      Stack.reserve();
    }
    boolean isHeld = lock.isWriteLockedByCurrentThread() || (one == lock.writeLock() && lock.getReadHoldCount() > 0);
    if (isHeld || (call != null && call.runsHere())) { // threads of the library hold no lock
      throw new IllegalStateException("a callback or an executor must not use the plan or writer that runs it");
    }
    one.lock();
    return one;
  }

  final long open() {
    if (pointer == 0) {
      throw new IllegalStateException(getClass().getSimpleName() + " is closed");
    }
    return pointer;
  }

  /**
   * Waits for calls of other threads on this object, then frees the native memory. Closing again does nothing.
   *
   * @throws IllegalStateException in a callback or an executor of this plan or writer
   */
  @Override
  public void close() {
    Lock alone = lockAlone();
    try {
      if (pointer != 0) {
        free(pointer);
        pointer = 0;
        if (call != null) {
          call.close();
        }
        Fence.keep(options);
      }
    } finally {
      alone.unlock();
    }
  }
}
