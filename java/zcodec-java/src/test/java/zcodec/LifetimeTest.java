package zcodec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Opening, closing, and threads. */
class LifetimeTest {
  private static final String INPUT = "{\"data_type\":\"uint16\",\"shape\":[32,32],\"fill_value\":0}";
  private static final String CODECS =
      "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
          + "{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":4,\"padding\":\"AAAAAA==\"}},"
          + "\"zstd\"]";

  @Test
  void aClosedObjectThrows() {
    Chain chain = Chain.of(CODECS, INPUT);
    byte[] encoded = chain.encode(new byte[2048]);
    Plan plan =
        chain.plan(
            Collections.singletonList(null),
            Collections.singletonList(View.of(ByteBuffer.allocateDirect(2048), 2)),
            encoded.length,
            null,
            CallOptions.DEFAULT);
    chain.close();
    chain.close();
    assertTrue(chain.isClosed());
    assertThrows(IllegalStateException.class, () -> chain.encode(new byte[2048]));
    assertThrows(IllegalStateException.class, () -> chain.setPadding(1, null));
    assertThrows(IllegalStateException.class, chain::codecsJson);
    assertThrows(IllegalStateException.class, chain::kind);
    assertEquals(1, plan.next().size()); // a plan outlives its chain
    plan.close();
    plan.close();
    assertThrows(IllegalStateException.class, plan::next);
    Registry registry = Registry.create();
    registry.close();
    assertThrows(IllegalStateException.class, () -> Chain.of(CODECS, INPUT, ChainOptions.DEFAULT.registry(registry)));
  }

  @Test
  void closingWhileOthersWorkDoesNotCrash() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try {
      for (int round = 0; round < 50; round++) {
        Chain chain = Chain.of(CODECS, INPUT);
        CountDownLatch started = new CountDownLatch(4);
        List<Future<Integer>> counts = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          counts.add(pool.submit(() -> useUntilClosed(chain, started)));
        }
        started.await();
        chain.close();
        for (Future<Integer> count : counts) {
          assertTrue(count.get() > 0);
        }
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private static int useUntilClosed(Chain chain, CountDownLatch started) {
    byte[] decoded = new byte[2048];
    for (int rounds = 0; ; rounds++) {
      try {
        assertArrayEquals(decoded, chain.decode(chain.encode(decoded)));
      } catch (IllegalStateException e) {
        return rounds;
      }
      if (rounds == 0) {
        started.countDown();
      }
    }
  }

  @Test
  void aThousandRoundsDoNotGrow() throws IOException {
    AtomicBoolean failed = new AtomicBoolean();
    for (int i = 0; i < 1000; i++) {
      openAndClose(failed);
    }
    int objects = Callbacks.count();
    long before = residentKib();
    for (int i = 0; i < 1000; i++) {
      openAndClose(failed);
    }
    long grown = residentKib() - before;
    assertEquals(objects, Callbacks.count(), "callbacks that nobody uses");
    assertTrue(!failed.get());
    assertTrue(grown < 16 << 10, "1,000 rounds took " + grown + " KiB"); // a leak of a scratch buffer takes more
  }

  private static void openAndClose(AtomicBoolean failed) {
    byte[] decoded = new byte[2048];
    try (Chain chain = Chain.of(CODECS, INPUT)) {
      chain.setPadding(
          1,
          Padding.of(
              (call, chunk, padding) -> padding.putInt(7), (call, chunk, padding) -> padding.getInt() == 7));
      try (Chain other = chain.withShape(16, 64)) {
        byte[] encoded = other.encode(decoded);
        failed.compareAndSet(false, chain.decode(encoded).length != decoded.length);
        assertThrows(ZcodecException.class, () -> other.decode(new byte[3]));
      }
    }
  }

  private static long residentKib() throws IOException {
    Path status = Paths.get("/proc/self/status");
    if (!Files.exists(status)) {
      return 0;
    }
    for (String line : Files.readAllLines(status)) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new AssertionError("no VmRSS");
  }

  @Test
  void oneChainServesManyThreads() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try (Chain chain = Chain.of(CODECS, INPUT)) {
      List<Future<?>> results = new ArrayList<>();
      for (int thread = 0; thread < 8; thread++) {
        byte value = (byte) thread;
        results.add(
            pool.submit(
                () -> {
                  byte[] decoded = new byte[2048];
                  java.util.Arrays.fill(decoded, value);
                  for (int i = 0; i < 200; i++) {
                    assertArrayEquals(decoded, chain.decode(chain.encode(decoded)));
                  }
                }));
      }
      for (Future<?> result : results) {
        result.get();
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void callsWithoutOptionsLeaveNothingInUse() {
    int before = Callbacks.count();
    try (Chain chain = Chain.of(CODECS, INPUT)) {
      chain.setPadding(1, Padding.of((call, chunk, padding) -> {}, null));
      byte[] decoded = new byte[2048];
      assertThrows(NullPointerException.class, () -> chain.encode(decoded, null));
      View view = View.of(ByteBuffer.wrap(decoded), 2);
      Task task = Task.encode(chain, null, view, ByteBuffer.allocate(4096));
      assertThrows(NullPointerException.class, () -> Task.run(Collections.singletonList(task), null));
      List<View> views = Collections.singletonList(view);
      List<Box> all = Collections.singletonList(null);
      assertThrows(NullPointerException.class, () -> chain.plan(all, views, 100, null, null));
      assertThrows(NullPointerException.class, () -> chain.writer(null, 0, null));
      chain.setPadding(1, null); // what no call may be using
    }
    assertEquals(before, Callbacks.count());
  }

  @Test
  void callsOfAClosedChainLeaveNothingInUse() {
    int before = Callbacks.count();
    long mark = Arena.local().mark();
    Chain chain = Chain.of(CODECS, INPUT);
    chain.setPadding(1, Padding.of((call, chunk, padding) -> {}, null));
    chain.close();
    assertThrows(IllegalStateException.class, () -> chain.encode(new byte[2048]));
    assertEquals(before, Callbacks.count());
    assertEquals(mark, Arena.local().mark());
  }

  @Test
  void argumentsThatNoBufferHoldsAreRefused() {
    Arena arena = Arena.local();
    long mark = arena.mark();
    try {
      assertThrows(ArithmeticException.class, () -> arena.zeros(Integer.MAX_VALUE - 6));
      assertThrows(ArithmeticException.class, () -> arena.zeros(Integer.MAX_VALUE));
      assertEquals(mark, arena.mark());
      arena.reset(mark);
    } finally {
      arena.reset(mark);
    }
  }

  @Test
  void aRegistryThatRefusedNullIsNotInUse() {
    int before = Callbacks.count();
    try (Registry registry = Registry.create()) {
      assertThrows(NullPointerException.class, () -> registry.add("name", Kind.BYTES_TO_BYTES, null));
      HostCodec codec = (configuration, input) -> null;
      assertThrows(NullPointerException.class, () -> registry.add(null, Kind.BYTES_TO_BYTES, codec));
      assertThrows(NullPointerException.class, () -> registry.add("name", null, codec));
      assertThrows(ZcodecException.class, () -> registry.add("name", Kind.UNKNOWN, codec));
      registry.add("name", Kind.BYTES_TO_BYTES, codec);
    }
    assertEquals(before, Callbacks.count());
  }

  @Test
  void callbacksOfAChainAreFreedWithIt() {
    int before = Callbacks.count();
    Chain chain = Chain.of(CODECS, INPUT);
    chain.setPadding(1, Padding.of((call, chunk, padding) -> {}, null));
    assertEquals(before + 1, Callbacks.count());
    chain.setPadding("/1", Padding.of((call, chunk, padding) -> {}, null));
    assertEquals(before + 1, Callbacks.count());
    Chain other = chain.withShape(2, 2);
    chain.close();
    assertEquals(before + 1, Callbacks.count());
    other.close();
    assertEquals(before, Callbacks.count());
    try (Chain failing = Chain.of(CODECS, INPUT)) {
      assertThrows(ZcodecException.class, () -> failing.setPadding(0, Padding.of((call, chunk, padding) -> {}, null)));
    }
    assertEquals(before, Callbacks.count());
  }
}
