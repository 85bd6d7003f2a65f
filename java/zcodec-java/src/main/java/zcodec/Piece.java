package zcodec;

import com.sun.jna.Pointer;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** Bytes of a new object, made by a {@link Writer}, or bytes of the old one. Readable until the writer is closed. */
public final class Piece {
  static final int STRUCT_SIZE = 32;
  private static final int BLOCK = 1 << 20;

  private final Writer writer;
  private final long offset;
  private final long size;
  private final long sourceOffset;
  private final long data;

  Piece(Writer writer, long offset, long size, long sourceOffset, long data) {
    this.writer = writer;
    this.offset = offset;
    this.size = size;
    this.sourceOffset = sourceOffset;
    this.data = data;
  }

  /**
   * Where the bytes go.
   *
   * @return the offset in the new object
   */
  public long offset() {
    return offset;
  }

  /**
   * The number of bytes.
   *
   * @return the size
   */
  public long size() {
    return size;
  }

  /**
   * Whether these are bytes of the old object.
   *
   * @return true: the {@link #size} bytes at {@link #sourceOffset} of the old object
   */
  public boolean isOld() {
    return data == 0;
  }

  /**
   * Where the bytes lie in the old object, if {@link #isOld()}.
   *
   * @return the offset
   */
  public long sourceOffset() {
    return sourceOffset;
  }

  /**
   * A copy of the bytes.
   *
   * @return the bytes of a piece that is not old
   * @throws IllegalStateException these are bytes of the old object, or the writer is closed
   * @throws ArithmeticException there are 2 GiB or more
   */
  public byte[] bytes() {
    if (isOld()) {
      throw new IllegalStateException("these are bytes of the old object");
    }
    return writer.whileOpen(() -> new Pointer(data).getByteArray(0, Math.toIntExact(size)));
  }

  /**
   * Writes the piece to its place in a file.
   *
   * @param file the new object
   * @param old the old object, needed if {@link #isOld}; when appending, it may be {@code file} itself
   * @throws IOException a file cannot be written or read, or the old object ends too early
   * @throws IllegalStateException the writer is closed, and the bytes are not those of the old object
   */
  public void writeTo(FileChannel file, FileChannel old) throws IOException {
    for (long done = 0; done < size; ) {
      int count = (int) Math.min(BLOCK, size - done);
      long from = done;
      if (isOld()) {
        copy(old, sourceOffset + from, file, offset + from, count);
      } else {
        writer.whileOpen(
            () -> {
              writeAll(file, new Pointer(data).getByteBuffer(from, count), offset + from);
              return null;
            });
      }
      done += count;
    }
  }

  private static void copy(FileChannel old, long sourceOffset, FileChannel file, long offset, int count)
      throws IOException {
    ByteBuffer block = Scratch.take(count);
    try {
      ((java.nio.Buffer) block).clear().limit(count);
      while (block.hasRemaining()) {
        if (old.read(block, sourceOffset + block.position()) < 0) {
          throw new EOFException("the old object has fewer bytes than its index says");
        }
      }
      ((java.nio.Buffer) block).flip();
      writeAll(file, block, offset);
    } finally {
      Scratch.give(block);
    }
  }

  private static void writeAll(FileChannel file, ByteBuffer bytes, long offset) throws IOException {
    while (bytes.hasRemaining()) {
      file.write(bytes, offset + bytes.position());
    }
  }
}
