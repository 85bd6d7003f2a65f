package zcodec;

import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** One call of the library: the object in use, the options, places for a result and an error. */
final class Invocation implements AutoCloseable {
  final Arena arena = Arena.local();
  /** The native object; alive until this is closed. */
  final long handle;
  /** The {@code zcodec_call_options}, or 0. */
  final long options;
  /** Where a pointer or a size comes back. */
  final long out;
  /** Where an error comes back. */
  final long error;

  private final NativeHandle owner;
  private final CallOptions given;
  private final Callbacks.Call call;
  private final long mark;

  Invocation(NativeHandle owner) {
    this(owner, CallOptions.DEFAULT, false);
  }

  /** With {@code callbacks}, what they throw becomes the cause of the exception. */
  Invocation(NativeHandle owner, CallOptions given, boolean callbacks) {
    this.owner = owner;
    this.given = Objects.requireNonNull(given, "options"); // before anything is taken that close() gives back
    if (callbacks) {
      Stack.reserve();
    }
    mark = arena.mark();
    call = callbacks ? new Callbacks.Call(given.callData) : null;
    boolean made = false;
    try {
      options = given.write(arena, call == null ? 0 : call.key);
      out = arena.out();
      error = arena.out();
      handle = owner == null ? 0 : owner.acquire(); // last: nobody would release it
      made = true;
    } finally {
      if (!made) {
        giveBack();
      }
    }
  }

  void check(int status) {
    if (status != 0) {
      long needed = status == Status.BUFFER_TOO_SMALL.number() ? arena.getLong(out) : 0;
      throw ZcodecException.take(status, arena.getLong(error), needed, call == null ? null : call.failure());
    }
  }

  /** The result of a successful call. */
  long result() {
    return arena.getLong(out);
  }

  /** The content of a {@code zcodec_buffer} that came back, which is freed. */
  byte[] takeBuffer() {
    long buffer = result();
    try {
      long size = C.zcodec_buffer_size(buffer);
      if (size > Integer.MAX_VALUE - 8) {
        throw new OutOfMemoryError("an array does not hold " + size + " bytes");
      }
      return size == 0 ? new byte[0] : new Pointer(C.zcodec_buffer_data(buffer)).getByteArray(0, (int) size);
    } finally {
      C.zcodec_buffer_free(buffer);
    }
  }

  String takeText() {
    return new String(takeBuffer(), StandardCharsets.UTF_8);
  }

  private void giveBack() {
    arena.reset(mark);
    if (call != null) {
      call.close();
    }
  }

  @Override
  public void close() {
    giveBack();
    if (owner != null) {
      owner.release();
    }
    Fence.keep(given);
  }
}
