package zcodec;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * One chunk of many that are decoded or encoded in one call. The results of a task are those of the last call that ran
 * it.
 */
public final class Task {
  private static final int STRUCT_SIZE = 88;
  private static final int MISSING = 1;

  private final Chain chain;
  private final ByteBuffer encoded;
  private final Box box;
  private final View view;
  private final boolean encodes;
  private volatile ZcodecException error;
  private volatile long encodedSize;

  private Task(Chain chain, ByteBuffer encoded, Box box, View view, boolean encodes) {
    this.chain = Objects.requireNonNull(chain, "chain");
    this.encoded = encoded == null ? null : encoded.duplicate();
    this.box = box;
    this.view = Objects.requireNonNull(view, "view");
    this.encodes = encodes;
  }

  /**
   * Decodes a box of a chunk.
   *
   * @param chain the chain of the chunk
   * @param encoded exactly one chunk, from the buffer's position to its limit; null: there is no such chunk, and its
   *     view is filled with the fill value
   * @param box the part; null: all
   * @param view where its elements go; no byte of an element may belong to the view of another task, but their elements
   *     may interleave in one buffer or array. If the task fails, its elements are unspecified
   * @return the task
   */
  public static Task decode(Chain chain, ByteBuffer encoded, Box box, View view) {
    return new Task(chain, encoded, box, view, false);
  }

  /**
   * Encodes a chunk of which the program holds a box.
   *
   * @param chain the chain of the chunk
   * @param box the part; null: all
   * @param view where its elements lie
   * @param encoded where the encoded chunk goes, from the buffer's position on
   * @return the task
   */
  public static Task encode(Chain chain, Box box, View view, ByteBuffer encoded) {
    return new Task(chain, Objects.requireNonNull(encoded, "encoded"), box, view, true);
  }

  /**
   * Why the task failed.
   *
   * @return the exception, which was not thrown; null: it did not fail
   */
  public ZcodecException error() {
    return error;
  }

  /**
   * Of a task that encodes, the size of what was written.
   *
   * @return the size in bytes; for {@link Status#BUFFER_TOO_SMALL} what would be enough
   */
  public long encodedSize() {
    return encodedSize;
  }

  /**
   * Runs all tasks, whatever becomes of some: {@link #error} tells. Threads share tasks, and parts of tasks. If the
   * executor fails, that is the error of every task that it ran for: of all tasks if the threads share them.
   *
   * @param tasks either all decode or all encode
   * @param options threads, data for callbacks
   * @return true if every task succeeded
   */
  public static boolean run(List<Task> tasks, CallOptions options) {
    if (tasks.isEmpty()) {
      return true;
    }
    try (Batch batch = new Batch(tasks, options)) {
      return batch.run();
    }
  }

  /** The native tasks of one call, and what they keep in use. */
  private static final class Batch implements AutoCloseable {
    private final List<Task> tasks;
    private final CallOptions options;
    private final Arena arena = Arena.local();
    private final long mark;
    private final List<Callbacks.Call> calls = new ArrayList<>(); // one for each task
    private final List<Chain> chains = new ArrayList<>();
    private final List<Staged> chunks = new ArrayList<>(); // encoded, one for each task
    private final StagedViews elements = new StagedViews(); // those of each task
    private final Set<Staged> decoded = new HashSet<>(); // elements of tasks that did not fail; tasks may share them

    Batch(List<Task> tasks, CallOptions options) {
      this.tasks = tasks;
      this.options = Objects.requireNonNull(options, "options");
      mark = arena.mark();
    }

    boolean run() {
      Stack.reserve();
      boolean encodes = tasks.get(0).encodes;
      long structs = arena.zeros(Math.multiplyExact(STRUCT_SIZE, tasks.size()));
      List<View> views = new ArrayList<>(tasks.size());
      for (Task task : tasks) {
        if (task.encodes != encodes) {
          throw new IllegalArgumentException("tasks must either all decode or all encode");
        }
        views.add(task.view);
      }
      elements.stage(views, !encodes);
      for (int i = 0; i < tasks.size(); i++) {
        write(i, structs + (long) STRUCT_SIZE * i);
      }
      long given = options.write(arena, 0);
      int status =
          encodes
              ? C.zcodec_encode_tasks(structs, tasks.size(), given)
              : C.zcodec_decode_tasks(structs, tasks.size(), given);
      boolean reported = false;
      for (int i = 0; i < tasks.size(); i++) {
        reported |= !read(i, structs + (long) STRUCT_SIZE * i);
      }
      decoded.forEach(Staged::copyOut);
      if (status != 0 && !reported) { // of the call as a whole
        throw ZcodecException.take(status, 0, 0, null);
      }
      return status == 0;
    }

    private void write(int i, long struct) {
      Task task = tasks.get(i);
      long chain = task.chain.acquire();
      chains.add(task.chain);
      Callbacks.Call call = new Callbacks.Call(options.callData);
      calls.add(call);
      ByteBuffer encoded = task.encoded == null ? ByteBuffer.allocate(0) : task.encoded;
      Staged chunk = task.encodes ? Staged.output(encoded) : Staged.input(encoded);
      chunks.add(chunk);
      long view = arena.zeros(View.STRUCT_SIZE);
      task.view.write(arena, view, elements.address(i));
      arena.putLong(struct, STRUCT_SIZE);
      arena.putLong(struct + 8, chain);
      arena.putLong(struct + 16, call.key);
      arena.putLong(struct + (task.encodes ? 40 : 24), chunk.address);
      arena.putLong(struct + (task.encodes ? 48 : 32), chunk.size);
      arena.putLong(struct + 56, arena.box(task.box));
      arena.putLong(struct + 64, view);
      arena.putInt(struct + 72, task.encoded == null ? MISSING : 0);
    }

    /** Takes the results of a task; false if it failed. */
    private boolean read(int i, long struct) {
      Task task = tasks.get(i);
      int status = arena.getInt(struct + 76);
      long size = task.encodes ? arena.getLong(struct + 32) : 0;
      task.encodedSize = size;
      if (status != 0) {
        task.error = ZcodecException.take(status, arena.getLong(struct + 80), size, calls.get(i).failure());
        return false;
      }
      task.error = null;
      if (task.encodes) {
        chunks.get(i).copyOut(size);
      } else {
        decoded.add(elements.region(i));
      }
      return true;
    }

    @Override
    public void close() {
      arena.reset(mark);
      chunks.forEach(Staged::close);
      elements.close();
      chains.forEach(Chain::release);
      calls.forEach(Callbacks.Call::close);
      Fence.keep(Arrays.asList(options, tasks));
    }
  }
}
