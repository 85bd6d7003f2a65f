package zcodec.imagej;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import zcodec.Box;
import zcodec.CallOptions;
import zcodec.Chain;
import zcodec.ChainOptions;
import zcodec.Plan;
import zcodec.ShardIndex;
import zcodec.Status;
import zcodec.View;
import zcodec.ZcodecException;

/** A Zarr array in a folder, of version 3 or 2. Reads boxes: of each chunk only the bytes that the box needs. */
final class ZarrArray implements Closeable {
  /** A chunk may claim any size; this is the most that is believed. */
  private static final long MAX_CHUNK_SIZE = Integer.MAX_VALUE;

  private static final int INDICES_KEPT = 64;

  final Path folder;
  final long[] shape;
  final String dataType;
  final String[] dimensionNames;
  final int elementSize;
  private final long[] chunkShape;
  private final String document;
  private Chain chain;
  private final String separator;
  private final String prefix;

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
    /** A chunk cannot be read; its part of the box stays as it was. */
    void damaged(Path chunk, Exception why);

    /** {@code done} of {@code count} chunks are done. */
    void progress(int done, int count);
  }

  private ZarrArray(Path folder, String document, JsonObject metadata) {
    this.folder = folder;
    this.document = document;
    shape = numbers(member(metadata, "shape"));
    chain = newChain();
    try {
      chunkShape = chain.shape();
      elementSize = chain.elementSize();
      dataType = JsonParser.parseString(chain.inputJson()).getAsJsonObject().get("data_type").getAsString();
      dimensionNames = new String[shape.length];
      if (metadata.get("zarr_format").getAsInt() == 2) {
        separator = metadata.has("dimension_separator") ? metadata.get("dimension_separator").getAsString() : ".";
        prefix = "";
      } else {
        JsonObject encoding = member(metadata, "chunk_key_encoding").getAsJsonObject();
        boolean isDefault = encoding.get("name").getAsString().equals("default");
        JsonObject configuration = encoding.getAsJsonObject("configuration");
        boolean hasSeparator = configuration != null && configuration.has("separator");
        separator = hasSeparator ? configuration.get("separator").getAsString() : isDefault ? "/" : ".";
        prefix = isDefault ? "c" : "";
        names(metadata.get("dimension_names"));
      }
    } catch (RuntimeException e) {
      chain.close();
      throw e;
    }
  }

  private Chain newChain() {
    return Chain.ofZarrJson(document, ChainOptions.DEFAULT.maxDecodedSize(MAX_CHUNK_SIZE));
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

  private void names(JsonElement names) {
    for (int i = 0; names != null && names.isJsonArray() && i < shape.length; i++) {
      JsonElement name = names.getAsJsonArray().get(i);
      dimensionNames[i] = name.isJsonNull() ? null : name.getAsString();
    }
  }

  /** Whether a folder holds an array. */
  static boolean isArray(Path folder) throws IOException {
    Path file = folder.resolve("zarr.json");
    if (Files.exists(folder.resolve(".zarray"))) {
      return true;
    }
    JsonElement type = Files.exists(file) ? document(file).get("node_type") : null;
    return type != null && type.isJsonPrimitive() && type.getAsString().equals("array");
  }

  static ZarrArray open(Path folder) throws IOException {
    Path file = folder.resolve("zarr.json");
    if (!Files.exists(file)) {
      file = folder.resolve(".zarray");
    }
    String document = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    try {
      return new ZarrArray(folder, document, document(file));
    } catch (RuntimeException e) {
      throw unreadable(file, e);
    }
  }

  /** What Gson, the library and this package throw at metadata that they cannot use, as an error of the file. */
  static IOException unreadable(Path file, Exception e) {
    return new IOException(file + ": " + (e.getMessage() == null ? e : e.getMessage()), e);
  }

  /** A file with a JSON object. */
  static JsonObject document(Path file) throws IOException {
    try {
      return JsonParser.parseString(new String(Files.readAllBytes(file), StandardCharsets.UTF_8)).getAsJsonObject();
    } catch (RuntimeException e) { // of Gson
      throw new IOException(file + " is not a JSON object: " + e.getMessage(), e);
    }
  }

  private static JsonElement member(JsonObject object, String name) {
    if (!object.has(name)) {
      throw new IllegalArgumentException("the metadata has no \"" + name + "\"");
    }
    return object.get(name);
  }

  private static long[] numbers(JsonElement list) {
    JsonArray array = list.getAsJsonArray();
    long[] numbers = new long[array.size()];
    Arrays.setAll(numbers, i -> array.get(i).getAsLong());
    return numbers;
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
    int ndim = shape.length;
    long[] first = new long[ndim];
    long[] counts = new long[ndim];
    int all = 1;
    for (int i = 0; i < ndim; i++) {
      first[i] = start[i] / chunkShape[i];
      counts[i] = (start[i] + size[i] - 1) / chunkShape[i] - first[i] + 1;
      all = Math.multiplyExact(all, Math.toIntExact(counts[i]));
    }
    for (int n = 0; n < all; n++) {
      long[] cell = new long[ndim];
      int rest = n;
      for (int i = ndim - 1; i >= 0; i--) {
        cell[i] = first[i] + rest % counts[i];
        rest /= (int) counts[i];
      }
      readChunk(cell, start, size, target, strides, observer);
      observer.progress(n + 1, all);
    }
  }

  private void readChunk(long[] cell, long[] start, long[] size, ByteBuffer target, long[] strides, Observer observer) {
    long[] boxStart = new long[cell.length];
    long[] boxShape = new long[cell.length];
    long offset = 0;
    for (int i = 0; i < cell.length; i++) {
      long chunkStart = cell[i] * chunkShape[i];
      long from = Math.max(start[i], chunkStart);
      boxStart[i] = from - chunkStart;
      boxShape[i] = Math.min(start[i] + size[i], chunkStart + chunkShape[i]) - from;
      offset += (from - start[i]) * strides[i];
    }
    View view = View.of(target, offset, strides);
    Path file = folder.resolve(key(cell));
    try {
      readFile(file, Box.of(boxStart, boxShape), view);
    } catch (NoSuchFileException e) {
      fill(boxShape, view, file, observer);
    } catch (IOException | ZcodecException e) {
      observer.damaged(file, e);
    }
  }

  private void fill(long[] boxShape, View view, Path file, Observer observer) {
    try {
      synchronized (this) {
        chain().fillView(boxShape, view);
      }
    } catch (ZcodecException e) {
      if (e.status() != Status.UNSUPPORTED) { // an array without a fill value: the elements stay 0
        observer.damaged(file, e);
      }
    }
  }

  private void readFile(Path file, Box box, View view) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long size = channel.size();
      long time = Files.getLastModifiedTime(file).toMillis();
      try (Plan plan = plan(file, size, time, box, view)) {
        plan.read(channel);
        keep(file, plan, size, time);
      }
    }
  }

  /** A plan outlives its chain and its index, which other threads may close. */
  private synchronized Plan plan(Path file, long size, long time, Box box, View view) {
    CallOptions options = CallOptions.DEFAULT.maxThreads(Runtime.getRuntime().availableProcessors());
    return chain()
        .plan(Collections.singletonList(box), Collections.singletonList(view), size, index(file, size, time), options);
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

  /** Where a chunk is stored, relative to the array. */
  private String key(long[] cell) {
    StringBuilder key = new StringBuilder(prefix);
    for (int i = 0; i < cell.length; i++) {
      key.append(i > 0 || !prefix.isEmpty() ? separator : "").append(cell[i]);
    }
    return key.length() == 0 ? "0" : key.toString();
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
