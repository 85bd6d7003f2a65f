package zcodec;

import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.Lock;

/**
 * Makes or changes a shard by its inner chunks: boxes are put; then old inner chunks that were put in part are supplied
 * ({@code next} and {@code supply}, or {@code read}); then {@link #finish} gives the pieces to write.
 *
 * <p>Several threads may put or supply at the same time; the other methods wait for one another. Callbacks must not use
 * the writer that runs them.
 */
public final class Writer extends StagedRead {
  private final long oldSize;
  private long objectSize;

  private Writer(long pointer, long oldSize, CallOptions options, Callbacks.Call call) {
    super(pointer, options, call);
    this.oldSize = oldSize;
  }

  static Writer make(Chain chain, boolean callbacks, ShardIndex oldIndex, long oldSize, CallOptions options) {
    Check.notNegative("oldSize", oldSize);
    Callbacks.Call call = callbacks ? new Callbacks.Call(options.callData) : null;
    boolean made = false;
    try (Invocation in = new Invocation(chain)) {
      long given = options.write(in.arena, call == null ? 0 : call.key);
      long index = oldIndex == null ? 0 : oldIndex.acquire();
      try {
        in.check(C.zcodec_writer_new(in.handle, given, index, oldSize, in.out, in.error));
      } finally {
        if (oldIndex != null) {
          oldIndex.release();
        }
      }
      made = true;
      return new Writer(in.result(), oldSize, options, call);
    } finally {
      if (!made && call != null) {
        call.close();
      }
    }
  }

  /**
   * Puts a box of the shard's array, any number of times, in any order; what was put last wins.
   *
   * @param box the part; null: all
   * @param elements where its elements lie; needed for the call only
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if the box or the view does not fit, {@link #next} has been
   *     called, or the writer is finished or has failed; it is then as before. Any other failure, as of {@link
   *     Chain#encode(ByteBuffer, ByteBuffer)}, ends the writer: it can only be closed
   */
  public void put(Box box, View elements) {
    Lock shared = lockShared();
    try (Invocation in = new Invocation(null);
        Staged from = Staged.input(elements.memory)) {
      long view = in.arena.zeros(View.STRUCT_SIZE);
      elements.write(in.arena, view, from.address);
      check(in, C.zcodec_writer_put(open(), in.arena.box(box), view, in.error));
    } finally {
      shared.unlock();
    }
  }

  /**
   * The pieces of the new object. Once only.
   *
   * @param layout all of the object, or only what changes
   * @return the pieces, in the order to write them; readable until the writer is closed
   * @throws ZcodecException {@link Status#INVALID_ARGUMENT} if a range has not been supplied, old bytes are needed and
   *     {@link #next} has not been called, or the writer is finished or has failed; {@link Status#CORRUPT_DATA} if the
   *     old index has an inner chunk outside the old object; otherwise as for {@link #put}, and it ends the writer as
   *     well
   */
  public List<Piece> finish(Layout layout) {
    Lock alone = lockAlone();
    try (Invocation in = new Invocation(null)) {
      long count = in.arena.out();
      long size = in.arena.out();
      check(in, C.zcodec_writer_finish(open(), layout.ordinal(), in.out, count, size, in.error));
      objectSize = in.arena.getLong(size);
      return pieces(in.result(), in.arena.getLong(count));
    } finally {
      alone.unlock();
    }
  }

  private List<Piece> pieces(long address, long count) {
    List<Piece> pieces = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      Pointer piece = new Pointer(address + Piece.STRUCT_SIZE * i);
      pieces.add(new Piece(this, piece.getLong(0), piece.getLong(8), piece.getLong(16), piece.getLong(24)));
    }
    return Collections.unmodifiableList(pieces);
  }

  /**
   * The size of the new object, after {@link #finish}. If every inner chunk is left out, it is that of the index, and
   * the object may be deleted.
   *
   * @return the size in bytes
   */
  public long objectSize() {
    Lock shared = lockShared();
    try {
      open();
      return objectSize;
    } finally {
      shared.unlock();
    }
  }

  /**
   * Does the rest for a file: reads what is needed, appends what changed, and the index last, after the file system has
   * the inner chunks. Until then the file, cut back to its old size, is the old shard; with an index at the start, a
   * torn write of it can lose the shard. A new shard is written in the order of its bytes: one with its index at the
   * start must not be read before this method returns.
   *
   * @param file the old shard, or an empty file for a new one; not opened with {@link
   *     java.nio.file.StandardOpenOption#APPEND}, with which some systems ignore positions
   * @throws IOException the file cannot be read or written
   * @throws IllegalArgumentException the file has another size than the old shard
   * @throws ZcodecException as for {@link #next}, {@link #supply} and {@link #finish}
   */
  public void append(FileChannel file) throws IOException {
    if (file.size() != oldSize) {
      throw new IllegalArgumentException("the file has " + file.size() + " bytes, but the old shard has " + oldSize);
    }
    read(file);
    List<Piece> pieces = finish(Layout.APPEND);
    for (int i = 0; i < pieces.size(); i++) {
      if (i == pieces.size() - 1) {
        file.force(false);
      }
      pieces.get(i).writeTo(file, file);
    }
  }

  /** Something done with the writer's memory. */
  interface Use<T, E extends Exception> {
    T run() throws E;
  }

  <T, E extends Exception> T whileOpen(Use<T, E> use) throws E {
    Lock shared = lockShared();
    try {
      open();
      return use.run();
    } finally {
      shared.unlock();
    }
  }

  @Override
  int nextOf(long pointer, long ranges, long count, long error) {
    return C.zcodec_writer_next(pointer, ranges, count, error);
  }

  @Override
  int supplyOf(long pointer, int i, long bytes, long size, long error) {
    return C.zcodec_writer_supply(pointer, i, bytes, size, error);
  }

  @Override
  void free(long pointer) {
    C.zcodec_writer_free(pointer);
  }
}
