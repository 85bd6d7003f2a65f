package zcodec;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;

/**
 * The remaining bytes of a buffer as native memory: a direct buffer's own, or a copy of a heap buffer. Keeps the memory
 * alive until it is closed.
 */
final class Staged implements AutoCloseable {
  final long address;
  final long size;
  /** What the user gave; its position and limit are never changed here. */
  private final ByteBuffer user;
  /** Native memory with the copy, or null. */
  private final ByteBuffer copy;

  private Staged(ByteBuffer user, ByteBuffer copy) {
    this.user = user;
    this.copy = copy;
    size = user.remaining();
    address = copy != null ? Arena.address(copy) : Arena.address(user) + user.position();
  }

  /** Bytes that the library only reads. */
  static Staged input(ByteBuffer buffer) {
    Staged staged = new Staged(buffer, buffer.isDirect() ? null : Scratch.take(buffer.remaining()));
    staged.copyIn();
    return staged;
  }

  /** Bytes that the library writes, all from the first. */
  static Staged output(ByteBuffer buffer) {
    refuseReadOnly(buffer);
    return new Staged(buffer, buffer.isDirect() ? null : Scratch.take(buffer.remaining()));
  }

  /** Bytes of which the library writes some: a copy must have the others, too. */
  static Staged partial(ByteBuffer buffer) {
    refuseReadOnly(buffer);
    return input(buffer);
  }

  private static void refuseReadOnly(ByteBuffer buffer) {
    if (buffer.isReadOnly()) {
      throw new ReadOnlyBufferException();
    }
  }

  private void copyIn() {
    if (copy != null) {
      ((java.nio.Buffer) copy).clear();
      copy.put(user.duplicate());
    }
  }

  /** Copies all bytes to where the user wants them. */
  void copyOut() {
    copyOut(size);
  }

  /** Copies what the library wrote, the first {@code written} bytes, to where the user wants it. */
  void copyOut(long written) {
    if (copy != null) {
      ((java.nio.Buffer) copy).clear().limit((int) written);
      user.duplicate().put(copy);
    }
  }

  @Override
  public void close() {
    Fence.keep(user);
    if (copy != null) {
      Scratch.give(copy);
    }
  }
}
