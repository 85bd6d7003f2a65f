package zcodec.imagej;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import zcodec.CallOptions;
import zcodec.Chain;
import zcodec.Plan;
import zcodec.ShardIndex;
import zcodec.Status;
import zcodec.ZcodecException;

/** A Zarr array in a folder, of version 3 or 2. Reads boxes: of each chunk only the bytes that the box needs. */
final class ZarrArray implements Closeable {
  /** What is decoded at once may claim any size; this is the most that is believed. */
  private static final long MAX_PIECE_SIZE = Integer.MAX_VALUE;

  private static final int INDICES_KEPT = 64;

  /** The path of an error that leaves the other inner chunks of a shard readable. */
  private static final Pattern OF_AN_INNER_CHUNK = Pattern.compile("/\\d+/configuration/codecs/.*");

  final Path folder;
  final long[] shape;
  final String dataType;
  final String[] dimensionNames;
  final int elementSize;
  private final long[] chunkShape;
  /** The shape of the innermost inner chunks; null: chunks are no shards. */
  private final long[] innerShape;
  private final String document;
  private Chain chain;
  private final ChunkKeys keys;

  /** Indices of shards, the least recently used first. */
  private final Map<Path, Index> indices =
      new LinkedHashMap<Path, Index>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Path, Index> eldest) {
          if (size() > INDICES_KEPT) {
            eldest.getValue().index.close();
            return true;
          }
          return false;
        }
      };

  /** An index, and the file that it was read from. */
  private static final class Index {
    final ShardIndex index;
    final long size;
    final long time;

    Index(ShardIndex index, long size, long time) {
      this.index = index;
      this.size = size;
      this.time = time;
    }
  }

  /** Is told of each chunk that cannot be read, and how far a read has come. */
  interface Observer {
    /** A chunk or an inner chunk cannot be read; its part of the box is 0. */
    void damaged(Path chunk, Exception why);

    /** {@code done} of {@code count} chunks are done. */
    void progress(int done, int count);
  }

  private ZarrArray(Path folder, String document, JsonObject metadata) {
    this.folder = folder;
    this.document = document;
    shape = Json.integers(metadata, "shape");
    JsonObject grid = Json.object(metadata, "chunk_grid"); // null in Zarr version 2
    if (grid != null && !Json.text(grid, "name").equals("regular")) {
      throw new IllegalArgumentException("chunk_grid " + grid.get("name") + " is not supported, only \"regular\" is");
    }
    keys = ChunkKeys.of(metadata);
    chain = newChain();
    try {
      chunkShape = chain.shape();
      innerShape = innerShape();
      elementSize = chain.elementSize();
      long pieceSize = elementSize;
      for (long size : chain.granularity()) {
        pieceSize *= size;
      }
      if (pieceSize > MAX_PIECE_SIZE) {
        throw new IllegalArgumentException(
            "a part of " + pieceSize + " bytes must be decoded at once, and at most " + MAX_PIECE_SIZE + " can be");
      }
      JsonElement type = JsonParser.parseString(chain.inputJson()).getAsJsonObject().get("data_type");
      dataType = type.isJsonPrimitive() ? type.getAsString() : type.toString();
      dimensionNames = names(metadata);
    } catch (RuntimeException e) {
      chain.close();
      throw e;
    }
  }

  private Chain newChain() {
    return Chain.ofZarrJson(document);
  }

  private long[] innerShape() {
    try {
      chain.inner().close(); // throws unless chunks are shards
      return chain.granularity();
    } catch (ZcodecException e) {
      if (e.status() == Status.UNSUPPORTED) {
        return null;
      }
      throw e;
    }
  }

  /**
   * The chain; made again after {@link #close}, as images may share the planes of one that was closed. Who uses it
   * holds the lock: another thread may close it.
   */
  private Chain chain() {
    if (chain.isClosed()) {
      chain = newChain();
    }
    return chain;
  }

  private String[] names(JsonObject metadata) {
    String[] names = new String[shape.length];
    JsonArray list = Json.array(metadata, "dimension_names");
    if (list != null && list.size() != names.length) {
      throw new IllegalArgumentException("\"dimension_names\" is " + list + ", expected a list of " + names.length);
    }
    for (int i = 0; list != null && i < names.length; i++) {
      names[i] = list.get(i).isJsonNull() ? null : Json.textAt(list, "dimension_names", i);
    }
    return names;
  }

  /** Whether a folder holds an array. */
  static boolean isArray(Path folder) throws IOException {
    Path file = document(folder);
    if (file == null || file.endsWith(".zarray")) {
      return file != null;
    }
    JsonElement type = Json.read(file).get("node_type");
    return type != null && type.isJsonPrimitive() && type.getAsString().equals("array");
  }

  /** The metadata of a folder: of version 3 if it has those, too, and of version 2 only of an array; null: none. */
  private static Path document(Path folder) {
    for (String name : new String[] {"zarr.json", ".zarray"}) {
      Path file = folder.resolve(name);
      if (Files.exists(file)) {
        return file;
      }
    }
    return null;
  }

  static ZarrArray open(Path folder) throws IOException {
    Path file = document(folder);
    if (file == null) {
      throw new IOException(folder + " holds no Zarr array");
    }
    String document = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    try {
      return new ZarrArray(folder, document, Json.read(file));
    } catch (RuntimeException e) {
      throw unreadable(file, e);
    }
  }

  /** What Gson, the library and this package throw at metadata that they cannot use, as an error of the file. */
  static IOException unreadable(Path file, Exception e) {
    return new IOException(file + ": " + Json.why(e), e);
  }

  /** What the chunks are made with, for people. */
  synchronized String codecs() {
    return chain().codecsJson();
  }

  /**
   * Reads a box of the array, chunk by chunk. Damaged chunks are reported, and the others are read.
   *
   * @param start where it begins
   * @param size its size along each dimension
   * @param target native memory
   * @param strides the distances of neighbours in it, in bytes
   */
  void read(long[] start, long[] size, ByteBuffer target, long[] strides, Observer observer) {
    Part box = new Part(start, size, target, 0, strides);
    box.forEachCell(
        chunkShape,
        (cell, n, count) -> {
          readChunk(folder.resolve(keys.of(cell)), box.within(cell, chunkShape).relativeTo(cell, chunkShape), observer);
          observer.progress(n + 1, count);
        });
  }

  private void readChunk(Path file, Part part, Observer observer) {
    try {
      readFile(file, part);
    } catch (NoSuchFileException e) {
      if (isLost(file)) {
        part.clear(elementSize);
        observer.damaged(file, e);
      } else {
        fill(part, file, observer);
      }
    } catch (IOException e) {
      part.clear(elementSize);
      observer.damaged(file, e);
    } catch (ZcodecException e) {
      readUndamaged(file, part, e, observer);
    }
  }

  /** Whether a file is lost, and not a chunk that nobody wrote: a link leads nowhere, or the whole array is gone. */
  private boolean isLost(Path file) {
    for (Path place = file; place != null && !place.equals(folder); place = place.getParent()) {
      if (Files.isSymbolicLink(place) && !Files.exists(place)) {
        return true;
      }
    }
    return !Files.exists(folder.resolve("zarr.json")) && !Files.exists(folder.resolve(".zarray"));
  }

  /** Reads what can be read of a chunk that is damaged: one inner chunk after the other. */
  private void readUndamaged(Path file, Part part, ZcodecException why, Observer observer) {
    if (innerShape == null || !OF_AN_INNER_CHUNK.matcher(why.path()).matches()) { // or the index is damaged
      part.clear(elementSize);
      observer.damaged(file, why);
      return;
    }
    part.forEachCell(
        innerShape,
        (cell, n, count) -> {
          Part inner = part.within(cell, innerShape);
          try {
            readFile(file, inner);
          } catch (IOException | ZcodecException e) {
            inner.clear(elementSize);
            observer.damaged(file, e);
          }
        });
  }

  private void fill(Part part, Path file, Observer observer) {
    try {
      synchronized (this) {
        chain().fillView(part.shape, part.view());
      }
    } catch (ZcodecException e) {
      if (e.status() != Status.UNSUPPORTED) { // an array without a fill value: the elements stay 0
        observer.damaged(file, e);
      }
    }
  }

  /** An interrupt is kept for later: it would close the file, and the chunk would seem to be damaged. */
  private void readFile(Path file, Part part) throws IOException {
    boolean wasInterrupted = Thread.interrupted();
    try {
      for (; ; ) {
        try {
          readOpened(file, part);
          return;
        } catch (ClosedByInterruptException e) {
          wasInterrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void readOpened(Path file, Part part) throws IOException {
    BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
    if (attributes.isDirectory()) {
      throw new IOException("it is a folder");
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long size = channel.size();
      long time = attributes.lastModifiedTime().toMillis();
      try (Plan plan = plan(file, size, time, part)) {
        plan.read(channel);
        keep(file, plan, size, time);
      }
    }
  }

  /** A plan outlives its chain and its index, which other threads may close. */
  private synchronized Plan plan(Path file, long size, long time, Part part) {
    CallOptions options = CallOptions.DEFAULT.maxThreads(Runtime.getRuntime().availableProcessors());
    ShardIndex index = index(file, size, time);
    return chain()
        .plan(Collections.singletonList(part.box()), Collections.singletonList(part.view()), size, index, options);
  }

  private ShardIndex index(Path file, long size, long time) {
    Index found = indices.get(file);
    return found != null && found.size == size && found.time == time ? found.index : null;
  }

  private synchronized void keep(Path file, Plan plan, long size, long time) {
    if (!chain.isClosed() && index(file, size, time) == null) {
      ShardIndex index = plan.index();
      if (index != null) {
        Index old = indices.put(file, new Index(index, size, time));
        if (old != null) {
          old.index.close();
        }
      }
    }
  }

  /** Whether no chain is open; for tests. */
  synchronized boolean isClosed() {
    return chain.isClosed();
  }

  /** Frees the memory of the library. Reading makes it again. */
  @Override
  public synchronized void close() {
    indices.values().forEach(index -> index.index.close());
    indices.clear();
    chain.close();
  }
}
