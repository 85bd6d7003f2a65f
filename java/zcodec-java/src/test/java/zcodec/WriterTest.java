package zcodec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shards that are made and changed by their inner chunks. */
class WriterTest {
  private static final String INPUT = "{\"data_type\":\"uint8\",\"shape\":[64,64],\"fill_value\":0}";
  private static final String SHARD =
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[16,16],\"codecs\":[\"bytes\",\"zstd\"],"
          + "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},\"crc32c\"]}}]";

  @TempDir Path folder;

  private static byte[] elements() {
    byte[] elements = new byte[64 * 64];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = (byte) (i * 31 >> 3 | 1);
    }
    return elements;
  }

  @Test
  @SuppressWarnings("try") // it is closed early
  void aNewShardIsWhatEncodeMakes() throws IOException {
    byte[] elements = elements();
    try (Chain chain = Chain.of(SHARD, INPUT);
        Writer writer = chain.writer(null, 0, CallOptions.DEFAULT)) {
      IntStream.range(0, 4)
          .parallel()
          .forEach(row -> writer.put(Box.of(new long[] {16 * row, 0}, new long[] {16, 64}), rows(elements, 16 * row, 16)));
      assertEquals(0, writer.next().size());
      assertThrows(ZcodecException.class, () -> writer.put(null, View.of(ByteBuffer.wrap(elements), 2)));
      List<Piece> pieces = writer.finish(Layout.PACKED);
      byte[] wanted = chain.encode(elements);
      assertEquals(wanted.length, writer.objectSize());
      byte[] found = new byte[wanted.length];
      for (Piece piece : pieces) {
        System.arraycopy(piece.bytes(), 0, found, (int) piece.offset(), (int) piece.size());
      }
      assertArrayEquals(wanted, found);
      writer.close();
      assertThrows(IllegalStateException.class, () -> pieces.get(0).bytes());
      assertThrows(IllegalStateException.class, writer::next);
    }
  }

  private static View rows(byte[] elements, int first, int count) {
    return View.of(ByteBuffer.wrap(elements, 64 * first, 64 * count), 2);
  }

  @Test
  void aFileIsChangedInPlace() throws IOException {
    byte[] elements = elements();
    Path file = folder.resolve("shard");
    try (Chain chain = Chain.of(SHARD, INPUT)) {
      byte[] before = chain.encode(elements);
      Files.write(file, before);
      for (int y = 20; y < 25; y++) {
        Arrays.fill(elements, 64 * y + 10, 64 * y + 20, (byte) 77);
      }
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
          ShardIndex index = index(chain, before);
          Writer writer = chain.writer(index, before.length, CallOptions.DEFAULT.maxThreads(2))) {
        ByteBuffer direct = ByteBuffer.allocateDirect(elements.length);
        direct.put(elements).position(0);
        writer.put(Box.of(new long[] {20, 10}, new long[] {5, 10}), View.of(direct, 64 * 20 + 10, 64, 1));
        writer.append(channel);
        assertEquals(writer.objectSize(), channel.size());
      }
      byte[] after = Files.readAllBytes(file);
      assertArrayEquals(elements, chain.decode(after));
      assertArrayEquals(before, Arrays.copyOf(after, before.length)); // a crash would have cost nothing
    }
  }

  @Test
  void aFileOfAnotherSizeIsNotChanged() throws IOException {
    byte[] before = new byte[1000];
    Path file = folder.resolve("other");
    Files.write(file, before);
    try (Chain chain = Chain.of(SHARD, INPUT);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Writer writer = chain.writer(null, 0, CallOptions.DEFAULT)) {
      writer.put(null, View.of(ByteBuffer.wrap(elements()), 2));
      assertThrows(IllegalArgumentException.class, () -> writer.append(channel));
    }
    assertArrayEquals(before, Files.readAllBytes(file));
  }

  private static ShardIndex index(Chain chain, byte[] shard) {
    int size = (int) chain.indexRange().size();
    return chain.decodeIndex(ByteBuffer.wrap(shard, shard.length - size, size), shard.length);
  }

  @Test
  void aFileIsRepacked() throws IOException {
    byte[] elements = elements();
    Path old = folder.resolve("old");
    Path packed = folder.resolve("packed");
    try (Chain chain = Chain.of(SHARD, INPUT)) {
      byte[] before = chain.encode(elements);
      Files.write(old, before);
      for (int y = 0; y < 16; y++) {
        Arrays.fill(elements, 64 * y, 64 * y + 16, (byte) 0);
      }
      try (FileChannel from = FileChannel.open(old, StandardOpenOption.READ);
          FileChannel to = FileChannel.open(packed, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          ShardIndex index = index(chain, before);
          Writer writer = chain.writer(index, before.length, CallOptions.DEFAULT)) {
        writer.put(Box.of(null, new long[] {16, 16}), View.of(ByteBuffer.allocate(256), 2));
        writer.read(from);
        List<Piece> pieces = writer.finish(Layout.PACKED);
        assertTrue(pieces.stream().anyMatch(Piece::isOld));
        for (Piece piece : pieces) {
          piece.writeTo(to, from);
        }
      }
      byte[] after = Files.readAllBytes(packed);
      assertArrayEquals(chain.encode(elements), after);
      try (ShardIndex index = index(chain, after)) {
        assertNull(index.entry(0, 0));
      }
    }
  }
}
