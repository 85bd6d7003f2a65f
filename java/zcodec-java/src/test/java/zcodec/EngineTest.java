package zcodec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Shards: plans, indices, tasks, executors, codecs of the program. */
class EngineTest {
  private static final int SIDE = 64;
  private static final int LARGE = 1024;
  private static final String INPUT = "{\"data_type\":\"uint8\",\"shape\":[64,64],\"fill_value\":0}";

  private static final String LARGE_INPUT = "{\"data_type\":\"uint8\",\"shape\":[1024,1024],\"fill_value\":0}";

  private static String shard(String inner) {
    return shard(16, inner);
  }

  private static String shard(int side, String inner) {
    return "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[" + side + "," + side
        + "],\"codecs\":[" + inner
        + "],\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},\"crc32c\"]}}]";
  }

  private static final String SHARD_OF_CUBES =
      "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[8,8,8],\"codecs\":[\"bytes\"],"
          + "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}}";
  private static final String SHARD = shard("\"bytes\",\"zstd\"");

  private static final String PAD =
      "{\"name\":\"pad\",\"configuration\":{\"location\":\"end\",\"nbytes\":1,\"padding\":\"AA==\"}}";

  private static final Padding THROWS =
      Padding.of(
          null,
          (call, chunk, padding) -> {
            throw new IllegalStateException("not this one");
          });

  /** Elements that say where they are; the first inner chunk is the fill value. */
  private static byte[] elements() {
    byte[] elements = new byte[SIDE * SIDE];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = i / SIDE < 16 && i % SIDE < 16 ? 0 : (byte) (i * 31 >> 3 & 0x3F);
    }
    return elements;
  }

  private static byte[] largeElements() {
    byte[] elements = new byte[LARGE * LARGE];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = (byte) (i * 31 >> 7);
    }
    return elements;
  }

  private static byte[] cut(byte[] elements, int y, int x, int height, int width) {
    byte[] part = new byte[height * width];
    for (int row = 0; row < height; row++) {
      System.arraycopy(elements, (y + row) * SIDE + x, part, row * width, width);
    }
    return part;
  }

  @Test
  void anIndexHasTheGridOfTheShard() {
    String reshaped = "[{\"name\":\"reshape\",\"configuration\":{\"shape\":[16,16,16]}}," + SHARD_OF_CUBES + "]";
    try (Chain chain = Chain.of(reshaped, INPUT)) {
      byte[] elements = elements();
      Arrays.fill(elements, 0, 8 * 256, (byte) 0);
      byte[] encoded = chain.encode(elements);
      int size = (int) chain.indexRange().size();
      ByteBuffer last = ByteBuffer.wrap(encoded, encoded.length - size, size);
      try (ShardIndex index = chain.decodeIndex(last, encoded.length)) {
        assertNull(index.entry(0, 1, 1));
        assertNotNull(index.entry(1, 0, 0));
        assertThrows(ZcodecException.class, () -> index.entry(0, 0));
      }
    }
  }

  @Test
  void aPlanReadsOnlyWhatABoxNeeds(@TempDir Path folder) throws IOException {
    byte[] elements = elements();
    try (Chain chain = Chain.of(SHARD, INPUT)) {
      byte[] encoded = chain.encode(elements);
      Path file = folder.resolve("shard");
      Files.write(file, encoded);
      Box box = Box.of(new long[] {20, 30}, new long[] {5, 20});
      ByteBuffer heap = ByteBuffer.allocate(100);
      ShardIndex index;
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
          Plan plan = chain.plan(list(box), list(View.of(heap, 2)), Range.UNKNOWN, null, CallOptions.DEFAULT)) {
        assertThrows(ZcodecException.class, plan::index); // not yet known
        plan.read(channel);
        index = plan.index();
      }
      assertArrayEquals(cut(elements, 20, 30, 5, 20), heap.array());
      assertNull(index.entry(0, 0));
      assertNotNull(index.entry(3, 3));
      assertTrue(index.memory() > 0);
      assertEquals(Status.INVALID_ARGUMENT, assertThrows(ZcodecException.class, () -> index.entry(1)).status());
      ByteBuffer direct = ByteBuffer.allocateDirect(100);
      try (Plan plan = chain.plan(list(box), list(View.of(direct, 2)), encoded.length, index, CallOptions.DEFAULT)) {
        List<Range> ranges = plan.next();
        assertEquals(3, ranges.size(), "three inner chunks, no index: " + ranges);
        List<ByteBuffer> bytes = new ArrayList<>();
        for (Range range : ranges) {
          bytes.add(ByteBuffer.wrap(encoded, (int) range.offset(), (int) range.size()));
        }
        assertThrows(IllegalArgumentException.class, () -> plan.supplyAll(bytes.subList(0, 1)));
        plan.supplyAll(bytes);
        assertEquals(0, plan.next().size());
        assertEquals(0, plan.next().size());
      }
      byte[] found = new byte[100];
      direct.get(found);
      assertArrayEquals(cut(elements, 20, 30, 5, 20), found);
      index.close();
      assertThrows(IllegalStateException.class, () -> index.entry(0, 0));
    }
  }

  /** Of 20 inner chunks of 1 MiB, which are more than a plan reads at once. */
  @Test
  void threadsShareWhatAPlanReadsFromAFile(@TempDir Path folder) throws IOException {
    String zstd = "{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":true}}";
    String codecs = shard(LARGE, "\"bytes\"," + zstd);
    String input = "{\"data_type\":\"uint8\",\"shape\":[20480,1024],\"fill_value\":0}";
    byte[] elements = new byte[20 * LARGE * LARGE];
    new Random(1).nextBytes(elements);
    Path file = folder.resolve("shard");
    ExecutorService pool = Executors.newFixedThreadPool(3);
    AtomicInteger jobs = new AtomicInteger();
    CallOptions ofPool =
        CallOptions.DEFAULT.executor(
            job -> {
              jobs.incrementAndGet();
              pool.execute(job);
            },
            4);
    try (Chain chain = Chain.of(codecs, input)) {
      byte[] encoded = chain.encode(elements);
      Files.write(file, encoded);
      for (CallOptions options : Arrays.asList(CallOptions.DEFAULT, CallOptions.DEFAULT.maxThreads(3), ofPool)) {
        assertArrayEquals(elements, read(chain, file, options));
      }
      assertEquals(9, jobs.get(), "three batches, each for three threads besides the caller");
      encoded[10 * LARGE * LARGE] ^= 1;
      Files.write(file, encoded);
      for (CallOptions options : Arrays.asList(CallOptions.DEFAULT.maxThreads(3), ofPool)) {
        ZcodecException e = assertThrows(ZcodecException.class, () -> read(chain, file, options));
        assertEquals(Status.CORRUPT_DATA, e.status(), e.getMessage());
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private static byte[] read(Chain chain, Path file, CallOptions options) throws IOException {
    byte[] found = new byte[(int) chain.decodedSize()];
    List<View> view = list(View.of(ByteBuffer.wrap(found), 2));
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        Plan plan = chain.plan(list((Box) null), view, channel.size(), null, options)) {
      plan.read(channel);
    }
    return found;
  }

  @Test
  void threadsOfTheProgramDecodeWhatAPlanReads(@TempDir Path folder) throws IOException {
    AtomicInteger jobs = new AtomicInteger();
    CallOptions options = CallOptions.DEFAULT.executor(job -> jobs.incrementAndGet(), 2);
    Path file = folder.resolve("shard");
    try (Chain chain = Chain.of(shard(128, "\"bytes\",\"zstd\""), LARGE_INPUT)) {
      Files.write(file, chain.encode(largeElements()));
      assertArrayEquals(largeElements(), read(chain, file, options));
    }
    assertTrue(jobs.get() > 0, "no job came");
  }

  @Test
  void theIndexOfAShardCanBeReadAlone() {
    try (Chain chain = Chain.of(SHARD, INPUT);
        Chain inner = chain.inner()) {
      byte[] elements = elements();
      byte[] encoded = chain.encode(elements);
      Range range = chain.indexRange();
      assertEquals(16 * 16 + 4, range.size());
      assertEquals(Range.UNKNOWN, range.offset());
      int size = (int) range.size();
      try (ShardIndex index =
          chain.decodeIndex(ByteBuffer.wrap(encoded, encoded.length - size, size), encoded.length)) {
        Range cell = index.entry(1, 2);
        byte[] chunk =
            Arrays.copyOfRange(encoded, (int) cell.offset(), (int) (cell.offset() + cell.size()));
        assertArrayEquals(cut(elements, 16, 32, 16, 16), inner.decode(chunk));
      }
    }
  }

  @Test
  void tasksTellWhichOfThemFailed() {
    byte[] elements = elements();
    try (Chain chain = Chain.of(SHARD, INPUT)) {
      for (boolean direct : new boolean[] {false, true}) {
        ByteBuffer from = direct ? ByteBuffer.allocateDirect(SIDE * SIDE) : ByteBuffer.allocate(SIDE * SIDE);
        from.put(elements).position(0);
        ByteBuffer encoded = direct ? ByteBuffer.allocateDirect(20000) : ByteBuffer.allocate(20000);
        Task encode = Task.encode(chain, null, View.of(from, 2), encoded);
        Task small = Task.encode(chain, null, View.of(from, 2), ByteBuffer.allocate(3));
        assertTrue(!Task.run(Arrays.asList(encode, small), CallOptions.DEFAULT.maxThreads(2)));
        assertNull(encode.error());
        assertEquals(Status.BUFFER_TOO_SMALL, small.error().status());
        assertEquals(small.error().neededSize(), small.encodedSize());
        encoded.limit((int) encode.encodedSize());
        ByteBuffer good = ByteBuffer.allocate(SIDE * SIDE);
        ByteBuffer missing = ByteBuffer.allocate(SIDE * SIDE);
        Arrays.fill(missing.array(), (byte) 3);
        Task bad = Task.decode(chain, ByteBuffer.allocate(7), null, View.of(ByteBuffer.allocate(SIDE * SIDE), 2));
        List<Task> tasks =
            Arrays.asList(
                Task.decode(chain, encoded, null, View.of(good, 2)),
                bad,
                Task.decode(chain, null, null, View.of(missing, 2)));
        assertTrue(!Task.run(tasks, CallOptions.DEFAULT));
        assertNull(tasks.get(0).error());
        assertEquals(Status.CORRUPT_DATA, bad.error().status());
        assertArrayEquals(elements, good.array());
        assertArrayEquals(new byte[SIDE * SIDE], missing.array());
      }
    }
  }

  /** The left and the right half of the chunk. */
  private static final List<Box> HALVES =
      Arrays.asList(
          Box.of(new long[] {0, 0}, new long[] {SIDE, SIDE / 2}),
          Box.of(new long[] {0, SIDE / 2}, new long[] {SIDE, SIDE / 2}));

  /**
   * Views of the two halves in C order, in an image of the chunk that begins {@code begin} bytes after the position:
   * one view of the whole buffer with an offset, and one of a slice that begins with its first element.
   */
  private static List<View> halves(ByteBuffer image, int begin) {
    ByteBuffer later = image.duplicate();
    later.position(image.position() + begin + SIDE / 2);
    return Arrays.asList(View.of(image, begin, SIDE, 1), View.of(later.slice(), 0, SIDE, 1));
  }

  private static ByteBuffer full(ByteBuffer buffer, byte value) {
    while (buffer.hasRemaining()) {
      buffer.put(value);
    }
    buffer.clear();
    return buffer;
  }

  private static byte[] content(ByteBuffer buffer) {
    byte[] content = new byte[buffer.remaining()];
    buffer.duplicate().get(content);
    return content;
  }

  /** The image between bytes that stay 5. */
  private static byte[] framed(byte[] image, int before, int after) {
    byte[] framed = new byte[before + image.length + after];
    Arrays.fill(framed, (byte) 5);
    System.arraycopy(image, 0, framed, before, image.length);
    return framed;
  }

  @Test
  void tasksDecodeSideBySideIntoOneBuffer() {
    byte[] elements = elements();
    try (Chain chain = Chain.of(SHARD, INPUT)) {
      ByteBuffer encoded = ByteBuffer.wrap(chain.encode(elements));
      ByteBuffer damaged = ByteBuffer.allocate(7);
      for (boolean direct : new boolean[] {false, true}) {
        int size = SIDE * SIDE + 30;
        ByteBuffer image = full(direct ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size), (byte) 5);
        image.position(7);
        List<View> views = halves(image.slice(), 10);
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
          tasks.add(Task.decode(chain, encoded, HALVES.get(i), views.get(i)));
        }
        assertTrue(Task.run(tasks, CallOptions.DEFAULT.maxThreads(2)));
        image.clear();
        assertArrayEquals(framed(elements, 17, 13), content(image), direct ? "direct" : "heap");
        for (int good = 0; good < 2; good++) { // and the other task fails
          full(image, (byte) 5);
          Task bad = Task.decode(chain, damaged, HALVES.get(1 - good), views.get(1 - good));
          List<Task> both = good == 0 ? Arrays.asList(tasks.get(0), bad) : Arrays.asList(bad, tasks.get(1));
          assertTrue(!Task.run(both, CallOptions.DEFAULT));
          assertEquals(Status.CORRUPT_DATA, bad.error().status());
          for (int y = 0; y < SIDE; y++) {
            for (int x = good * SIDE / 2; x < (good + 1) * SIDE / 2; x++) {
              assertEquals(elements[y * SIDE + x], image.get(17 + y * SIDE + x));
            }
          }
        }
      }
    }
  }

  @Test
  void aPlanDecodesSideBySideIntoOneBuffer() {
    byte[] elements = elements();
    try (Chain chain = Chain.of(SHARD, INPUT)) {
      byte[] encoded = chain.encode(elements);
      for (boolean direct : new boolean[] {false, true}) {
        int size = SIDE * SIDE + 30;
        ByteBuffer image = full(direct ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size), (byte) 5);
        try (Plan plan = chain.plan(HALVES, halves(image, 30), encoded.length, null, CallOptions.DEFAULT)) {
          for (List<Range> stage = plan.next(); !stage.isEmpty(); stage = plan.next()) {
            for (int i = 0; i < stage.size(); i++) {
              plan.supply(i, ByteBuffer.wrap(encoded, (int) stage.get(i).offset(), (int) stage.get(i).size()));
            }
          }
        }
        assertArrayEquals(framed(elements, 30, 0), content(image), direct ? "direct" : "heap");
      }
    }
  }

  @Test
  void tasksEncodePartsOfOneBuffer() {
    byte[] elements = elements();
    try (Chain chain = Chain.of("[\"bytes\"]", "{\"data_type\":\"uint8\",\"shape\":[64,32],\"fill_value\":0}")) {
      ByteBuffer heap = ByteBuffer.wrap(framed(elements, 9, 0));
      ByteBuffer direct = ByteBuffer.allocateDirect(heap.capacity());
      direct.put(heap.duplicate()).clear();
      for (ByteBuffer image : Arrays.asList(heap, heap.asReadOnlyBuffer(), direct)) {
        ByteBuffer left = ByteBuffer.allocate(SIDE * SIDE / 2);
        ByteBuffer right = ByteBuffer.allocate(SIDE * SIDE / 2);
        List<View> views = halves(image, 9);
        List<Task> tasks =
            Arrays.asList(
                Task.encode(chain, null, views.get(0), left), Task.encode(chain, null, views.get(1), right));
        assertTrue(Task.run(tasks, CallOptions.DEFAULT));
        assertArrayEquals(cut(elements, 0, 0, SIDE, SIDE / 2), left.array());
        assertArrayEquals(cut(elements, 0, SIDE / 2, SIDE, SIDE / 2), right.array());
      }
    }
  }

  /** What lies between two views of an array, and in neither, may change during the call. */
  @Test
  void theMemoryBetweenViewsStaysAsItIs() {
    String input = "{\"data_type\":\"uint8\",\"shape\":[10],\"fill_value\":0}";
    try (Chain chain = Chain.of("[\"bytes\"," + PAD + "]", input)) {
      byte[] encoded = chain.encode(new byte[10]);
      byte[] array = new byte[30];
      chain.setPadding(
          1,
          Padding.of(
              null,
              (call, chunk, padding) -> {
                array[15] = 7;
                return true;
              }));
      Arrays.fill(array, (byte) 5);
      List<Task> tasks = new ArrayList<>();
      for (int begin : new int[] {20, 0}) {
        tasks.add(Task.decode(chain, ByteBuffer.wrap(encoded), null, View.of(ByteBuffer.wrap(array, begin, 10), 1)));
      }
      assertTrue(Task.run(tasks, CallOptions.DEFAULT));
      byte[] wanted = new byte[30];
      Arrays.fill(wanted, 10, 20, (byte) 5);
      wanted[15] = 7;
      assertArrayEquals(wanted, array);
    }
  }

  @Test
  void tasksDoNotTellOfCallbacksOfOthers() {
    try (Chain chain = Chain.of("[\"bytes\"," + PAD + "]", INPUT)) {
      byte[] encoded = chain.encode(elements());
      chain.setPadding(1, THROWS);
      List<Task> tasks = new ArrayList<>();
      for (int size : new int[] {encoded.length, 0, encoded.length}) {
        ByteBuffer out = ByteBuffer.allocate(SIDE * SIDE);
        tasks.add(Task.decode(chain, ByteBuffer.wrap(encoded, 0, size), null, View.of(out, 2)));
      }
      int objects = Callbacks.count();
      assertTrue(!Task.run(tasks, CallOptions.DEFAULT));
      assertEquals(objects, Callbacks.count());
      for (Task task : tasks) {
        assertEquals(Status.CORRUPT_DATA, task.error().status());
      }
      assertTrue(tasks.get(0).error().getCause() instanceof IllegalStateException);
      assertNull(tasks.get(1).error().getCause());
      assertTrue(tasks.get(2).error().getCause() instanceof IllegalStateException);
      assertNotSame(tasks.get(0).error().getCause(), tasks.get(2).error().getCause());
    }
  }

  /** Supplies the index of a shard; the inner chunks that the plan asks for then. */
  private static List<ByteBuffer> innerChunks(Plan plan, byte[] encoded) {
    Range index = plan.next().get(0);
    plan.supply(0, ByteBuffer.wrap(encoded, (int) index.offset(), (int) index.size()));
    List<ByteBuffer> inner = new ArrayList<>();
    for (Range range : plan.next()) {
      inner.add(ByteBuffer.wrap(encoded, (int) range.offset(), (int) range.size()));
    }
    return inner;
  }

  @Test
  void anExecutorCannotUseThePlanThatRunsIt() {
    try (Chain chain = Chain.of(shard(128, "\"bytes\",\"zstd\""), LARGE_INPUT)) {
      byte[] encoded = chain.encode(largeElements());
      List<Consumer<Plan>> uses = Arrays.asList(Plan::next, Plan::close, Plan::index);
      for (Consumer<Plan> use : uses) {
        Plan[] running = new Plan[1];
        CallOptions options = CallOptions.DEFAULT.executor(job -> use.accept(running[0]), 2);
        View view = View.of(ByteBuffer.allocateDirect(LARGE * LARGE), 2);
        try (Plan plan = chain.plan(list((Box) null), list(view), encoded.length, null, options)) {
          running[0] = plan;
          List<ByteBuffer> inner = innerChunks(plan, encoded);
          ZcodecException e = assertThrows(ZcodecException.class, () -> plan.supplyAll(inner));
          assertTrue(e.getCause() instanceof IllegalStateException, String.valueOf(e.getCause()));
        }
      }
    }
  }

  /** On the calling thread and on those of the library, which would wait for ever. */
  @Test
  void aCallbackCannotUseThePlanThatRunsIt() {
    try (Chain chain = Chain.of(shard(128, "\"bytes\"," + PAD), LARGE_INPUT)) {
      byte[] encoded = chain.encode(largeElements());
      for (int threads = 1; threads <= 2; threads++) {
        Plan[] running = new Plan[1];
        Padding asking = Padding.of(null, (data, chunk, padding) -> running[0].next().isEmpty());
        chain.setPadding("/0/configuration/codecs/1", asking);
        CallOptions options = CallOptions.DEFAULT.maxThreads(threads);
        View view = View.of(ByteBuffer.allocateDirect(LARGE * LARGE), 2);
        try (Plan plan = chain.plan(list((Box) null), list(view), encoded.length, null, options)) {
          running[0] = plan;
          List<ByteBuffer> inner = innerChunks(plan, encoded);
          Executable supply = () -> plan.supplyAll(inner);
          ZcodecException e =
              assertTimeoutPreemptively(
                  Duration.ofSeconds(60), () -> assertThrows(ZcodecException.class, supply));
          assertTrue(e.getCause() instanceof IllegalStateException, String.valueOf(e.getCause()));
        }
      }
    }
  }

  @Test
  void errorsOfPlansDoNotTellOfCallbacksBefore() {
    try (Chain chain = Chain.of(shard("\"bytes\"," + PAD), INPUT)) {
      byte[] encoded = chain.encode(elements());
      chain.setPadding("/0/configuration/codecs/1", THROWS);
      ByteBuffer out = ByteBuffer.allocate(SIDE * SIDE);
      try (Plan plan = chain.plan(list((Box) null), list(View.of(out, 2)), encoded.length, null, CallOptions.DEFAULT)) {
        Range index = plan.next().get(0);
        plan.supply(0, ByteBuffer.wrap(encoded, (int) index.offset(), (int) index.size()));
        Range inner = plan.next().get(0);
        ByteBuffer bytes = ByteBuffer.wrap(encoded, (int) inner.offset(), (int) inner.size());
        ZcodecException first = assertThrows(ZcodecException.class, () -> plan.supply(0, bytes));
        assertTrue(first.getCause() instanceof IllegalStateException);
        ZcodecException second = assertThrows(ZcodecException.class, () -> plan.supply(0, bytes));
        assertEquals(Status.INVALID_ARGUMENT, second.status());
        assertNull(second.getCause());
      }
    }
  }

  @Test
  void threadsOfTheProgramDoTheWork() {
    ExecutorService pool = Executors.newFixedThreadPool(3);
    AtomicInteger jobs = new AtomicInteger();
    try (Chain chain = Chain.of(shard(128, "\"bytes\",\"zstd\""), LARGE_INPUT)) {
      byte[] elements = largeElements();
      CallOptions options =
          CallOptions.DEFAULT.executor(
              job -> {
                jobs.incrementAndGet();
                pool.execute(job);
              },
              4);
      byte[] encoded = chain.encode(elements);
      for (int i = 0; i < 10; i++) {
        assertArrayEquals(encoded, chain.encode(elements, options));
        assertArrayEquals(elements, chain.decode(encoded, options));
      }
      assertTrue(jobs.get() > 0, "no job came");
      // A pool that takes nothing makes the calling thread do it all.
      assertArrayEquals(elements, chain.decode(encoded, CallOptions.DEFAULT.executor(job -> {}, 4)));
      AssertionError bad = new AssertionError("a bad pool");
      CallOptions failing =
          CallOptions.DEFAULT.executor(
              job -> {
                throw bad;
              },
              4);
      ZcodecException failed = assertThrows(ZcodecException.class, () -> chain.decode(encoded, failing));
      assertEquals("executor", failed.code());
      assertSame(bad, failed.getCause());
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void callbacksInsideShardsRunOnThreadsOfTheLibrary() {
    Thread caller = Thread.currentThread();
    boolean isAlone = Runtime.getRuntime().availableProcessors() == 1;
    CountDownLatch another = new CountDownLatch(isAlone ? 0 : 1);
    try (Chain chain = Chain.of(shard(128, "\"bytes\",\"zstd\"," + PAD), LARGE_INPUT)) {
      Padding.Check check =
          (call, chunk, padding) -> {
            if (Thread.currentThread() != caller) {
              another.countDown();
            } else if (!another.await(20, TimeUnit.SECONDS)) { // it may do all by itself before the other one is awake
              throw new IllegalStateException("no other thread");
            }
            return padding.get() == (Byte) call;
          };
      chain.setPadding(
          "/0/configuration/codecs/2", Padding.of((call, chunk, padding) -> padding.put((Byte) call), check));
      byte[] elements = largeElements();
      byte[] encoded = chain.encode(elements, CallOptions.DEFAULT.callData((byte) 9).maxThreads(4));
      for (int i = 0; i < 20; i++) {
        assertArrayEquals(elements, chain.decode(encoded, CallOptions.DEFAULT.callData((byte) 9).maxThreads(4)));
      }
      assertThrows(ZcodecException.class, () -> chain.decode(encoded, CallOptions.DEFAULT.callData((byte) 8)));
      ByteBuffer out = ByteBuffer.allocate(LARGE * LARGE);
      CallOptions options = CallOptions.DEFAULT.callData((byte) 9);
      try (Plan plan = chain.plan(list((Box) null), list(View.of(out, 2)), encoded.length, null, options)) {
        for (List<Range> stage = plan.next(); !stage.isEmpty(); stage = plan.next()) {
          for (int i = 0; i < stage.size(); i++) {
            plan.supply(i, ByteBuffer.wrap(encoded, (int) stage.get(i).offset(), (int) stage.get(i).size()));
          }
        }
      }
      assertArrayEquals(elements, out.array());
    }
  }

  /** Adds a number to each byte. */
  private static final class Shift implements HostCodec {
    final AtomicInteger open = new AtomicInteger();

    @Override
    public Bound bind(String configuration, String input) {
      if (!configuration.contains("by")) {
        throw new IllegalArgumentException("\"by\" is missing");
      }
      int by = Integer.parseInt(configuration.replaceAll("\\D", ""));
      open.incrementAndGet();
      return new Bound() {
        @Override
        public String output() {
          return input;
        }

        @Override
        public void encode(Object callData, ByteBuffer decoded, ByteBuffer encoded) {
          while (decoded.hasRemaining()) {
            encoded.put((byte) (decoded.get() + by));
          }
        }

        @Override
        public void decode(Object callData, ByteBuffer encoded, ByteBuffer decoded) {
          while (encoded.hasRemaining()) {
            byte value = encoded.get();
            if (value == 99) {
              throw new IllegalStateException("99 is not allowed");
            }
            decoded.put((byte) (value - by));
          }
        }

        @Override
        public void close() {
          open.decrementAndGet();
        }
      };
    }
  }

  @Test
  void aCodecOfTheProgramWorksInsideAShard() {
    int objects = Callbacks.count();
    Shift shift = new Shift();
    Registry registry = Registry.create();
    registry.add("shift", Kind.ARRAY_TO_ARRAY, shift);
    assertThrows(ZcodecException.class, () -> registry.add("shift", Kind.ARRAY_TO_ARRAY, shift));
    ChainOptions options = ChainOptions.DEFAULT.registry(registry);
    String codec = "{\"name\":\"shift\",\"configuration\":{\"by\":3}}";
    Chain chain = Chain.of(shard(codec + ",\"bytes\""), INPUT, options);
    ZcodecException refused =
        assertThrows(ZcodecException.class, () -> Chain.of("[{\"name\":\"shift\"},\"bytes\"]", INPUT, options));
    assertTrue(refused.getMessage().contains("\"by\" is missing"), refused.getMessage());
    registry.close();
    byte[] elements = elements();
    byte[] encoded = chain.encode(elements);
    assertArrayEquals(elements, chain.decode(encoded));
    assertEquals(elements[SIDE * SIDE - 1] + 3, encoded[15 * 256 - 1]);
    byte[] damaged = encoded.clone();
    damaged[5] = 99;
    ZcodecException e = assertThrows(ZcodecException.class, () -> chain.decode(damaged));
    assertEquals(Status.CORRUPT_DATA, e.status());
    assertTrue(e.getMessage().contains("99 is not allowed"), e.getMessage());
    assertTrue(e.getCause() instanceof IllegalStateException);
    assertTrue(shift.open.get() > 0);
    chain.close();
    assertEquals(0, shift.open.get());
    assertEquals(objects, Callbacks.count());
  }

  @Test
  void aCodecWhoseOutputCannotBeToldIsClosed() {
    AtomicInteger open = new AtomicInteger();
    int objects = Callbacks.count();
    try (Registry registry = Registry.create()) {
      registry.add(
          "silent",
          Kind.BYTES_TO_BYTES,
          (configuration, input) -> {
            open.incrementAndGet();
            return new HostCodec.Bound() {
              @Override
              public String output() {
                throw new IllegalStateException("no output");
              }

              @Override
              public void encode(Object callData, ByteBuffer decoded, ByteBuffer encoded) {}

              @Override
              public void decode(Object callData, ByteBuffer encoded, ByteBuffer decoded) {}

              @Override
              public void close() {
                open.decrementAndGet();
                throw new IllegalStateException("nor an end");
              }
            };
          });
      ChainOptions options = ChainOptions.DEFAULT.registry(registry);
      ZcodecException e = assertThrows(ZcodecException.class, () -> Chain.of("[\"silent\"]", null, options));
      assertTrue(e.getMessage().contains("no output"), e.getMessage());
      assertEquals(0, open.get());
    }
    assertEquals(objects, Callbacks.count());
  }

  @Test
  void aCodecOfTheProgramMayAskForMoreRoom() {
    try (Registry registry = Registry.create()) {
      registry.add(
          "double",
          Kind.BYTES_TO_BYTES,
          (configuration, input) ->
              new HostCodec.Bound() {
                @Override
                public String output() {
                  return "{\"size\":null}";
                }

                @Override
                public void encode(Object callData, ByteBuffer decoded, ByteBuffer encoded) {
                  while (decoded.hasRemaining()) {
                    byte value = decoded.get();
                    encoded.put(value).put(value);
                  }
                }

                @Override
                public void decode(Object callData, ByteBuffer encoded, ByteBuffer decoded) {
                  while (encoded.hasRemaining()) {
                    decoded.put(encoded.get());
                    encoded.get();
                  }
                }
              });
      try (Chain chain = Chain.of("[\"double\"]", null, ChainOptions.DEFAULT.registry(registry))) {
        byte[] bytes = elements();
        byte[] encoded = chain.encode(bytes);
        assertEquals(2 * bytes.length, encoded.length);
        assertArrayEquals(bytes, chain.decode(encoded));
      }
    }
  }

  /** Of a buffer of its own, again and again. */
  private static final class Overflows implements HostCodec.Bound {
    private final String output;
    boolean encodes;

    Overflows(String output) {
      this.output = output;
    }

    @Override
    public String output() {
      return output;
    }

    @Override
    public void encode(Object callData, ByteBuffer decoded, ByteBuffer encoded) {
      encoded.put(decoded);
      if (!encodes) {
        ByteBuffer.allocate(1).putInt(1);
      }
    }

    @Override
    public void decode(Object callData, ByteBuffer encoded, ByteBuffer decoded) {
      ByteBuffer.allocate(1).putInt(1);
    }
  }

  @Test
  void anOverflowThatNoRoomHelpsIsTheCauseOfTheError() {
    try (Registry registry = Registry.create()) {
      Overflows[] bound = new Overflows[1];
      registry.add("wide", Kind.ARRAY_TO_ARRAY, (configuration, input) -> bound[0] = new Overflows(input));
      try (Chain chain = Chain.of("[\"wide\",\"bytes\"]", INPUT, ChainOptions.DEFAULT.registry(registry))) {
        ZcodecException e = assertThrows(ZcodecException.class, () -> chain.encode(elements()));
        assertEquals(Status.CALLBACK_FAILED, e.status());
        assertTrue(e.getCause() instanceof BufferOverflowException, String.valueOf(e.getCause()));
        bound[0].encodes = true;
        ZcodecException damaged = assertThrows(ZcodecException.class, () -> chain.decode(chain.encode(elements())));
        assertEquals(Status.CORRUPT_DATA, damaged.status());
        assertTrue(damaged.getCause() instanceof BufferOverflowException, String.valueOf(damaged.getCause()));
      }
    }
  }

  /** The library must not ask again, with ever more room that a buffer does not hold. */
  @Test
  void anOverflowOfTheLargestBufferIsAFailure() {
    ByteBuffer memory = ByteBuffer.allocateDirect(8);
    long address = Arena.address(memory);
    long state = Callbacks.put(new Overflows("{}"));
    try (Callbacks.Call call = new Callbacks.Call(null)) {
      long largest = Integer.MAX_VALUE;
      assertEquals(1, Registry.ENCODE.callback(state, call.key, address, 0, address, largest - 1, address, 0));
      assertEquals(2, Registry.ENCODE.callback(state, call.key, address, 0, address, largest, address, 0));
      assertEquals(2, Registry.ENCODE.callback(state, call.key, address, 0, address, 2 * largest, address, 0));
      assertTrue(call.failure() instanceof BufferOverflowException);
    } finally {
      Callbacks.remove(state);
      Fence.keep(memory);
    }
  }

  private static <T> List<T> list(T one) {
    return Collections.singletonList(one);
  }
}
