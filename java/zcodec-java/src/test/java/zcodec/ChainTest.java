package zcodec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What a chain says of itself, errors, callbacks, views. */
class ChainTest {
  private static final String LITTLE = "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}";
  private static final String INPUT = "{\"data_type\":\"uint16\",\"shape\":[3,4],\"fill_value\":9}";
  private static final String PAD =
      "{\"name\":\"pad\",\"configuration\":{\"location\":\"start\",\"nbytes\":2,\"padding\":\"AAA=\"}}";

  @Test
  void aKindOfALaterLibraryIsUnknown() {
    for (Kind kind : Kind.values()) {
      assertEquals(kind, Kind.of(kind.number()));
    }
    assertEquals(Kind.UNKNOWN, Kind.of(0));
    assertEquals(Kind.UNKNOWN, Kind.of(4));
  }

  @Test
  void aChainSaysWhatItIs() {
    try (Chain chain = Chain.of("[" + LITTLE + ",\"crc32c\"]", INPUT)) {
      assertEquals(Kind.ARRAY_TO_BYTES, chain.kind());
      assertEquals(2, chain.codecCount());
      assertEquals(24, chain.decodedSize());
      assertEquals(28, chain.encodedBound(24));
      assertEquals(2, chain.elementSize());
      assertArrayEquals(new long[] {3, 4}, chain.shape());
      assertEquals(2, chain.granularity().length);
      assertEquals("{\"size\":28}", chain.outputJson().replace(" ", ""));
      assertTrue(chain.inputJson().contains("uint16"));
      assertEquals("[]", chain.warningsJson());
      try (Chain again = Chain.of(chain.codecsJson(), chain.inputJson())) {
        assertEquals(chain.codecsJson(), again.codecsJson());
      }
    }
    assertTrue(Zcodec.supportedJson().contains("\"packbits\""));
    assertFalse(Zcodec.version().isEmpty());
  }

  @Test
  void negativeNumbersAreNamed() {
    try (Chain chain = Chain.of("[" + LITTLE + "]", INPUT)) {
      ByteBuffer memory = ByteBuffer.allocate(24);
      List<Box> boxes = Collections.singletonList(null);
      List<View> views = Collections.singletonList(View.of(memory, 2));
      Executable[] calls = {
        () -> chain.encodedBound(-7),
        () -> Box.of(new long[] {0, -7}, null),
        () -> Box.of(null, new long[] {-7, 1}),
        () -> chain.setPadding(-7, null),
        () -> chain.plan(boxes, views, -7, null, CallOptions.DEFAULT),
        () -> chain.writer(null, -7, CallOptions.DEFAULT),
        () -> chain.withShape(-7, 4),
        () -> chain.fillView(new long[] {3, -7}, views.get(0)),
        () -> chain.isFillView(new long[] {-7, 4}, views.get(0)),
        () -> chain.decodeIndex(memory, -7),
        () -> View.of(memory, -7, 1, 1),
        () -> {
          try (Plan plan = chain.plan(boxes, views, 24, null, CallOptions.DEFAULT)) {
            plan.supply(-7, memory);
          }
        },
      };
      for (Executable call : calls) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, call);
        assertTrue(e.getMessage().endsWith(" is -7, expected 0 or more"), e.getMessage());
      }
    }
  }

  @Test
  void aBufferIsNotItsOwnResult() {
    try (Chain chain = Chain.of("[" + LITTLE + ",\"crc32c\"]", INPUT)) {
      ByteBuffer both = ByteBuffer.allocate(28);
      assertThrows(IllegalArgumentException.class, () -> chain.encode(both, both));
      assertArrayEquals(new byte[28], both.array());
    }
  }

  /** At the end of its stack a thread gets an error, and no padding that nobody has checked. */
  @Test
  void noCheckIsLeftOutAtTheEndOfTheStack() throws InterruptedException {
    for (int shards : new int[] {0, 4}) { // more stack for each
      checksAreRun(shards);
    }
  }

  private static void checksAreRun(int shards) throws InterruptedException {
    String codecs = LITTLE + "," + PAD;
    String path = "/1";
    for (int i = 0; i < shards; i++) {
      codecs =
          "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[3,4],\"codecs\":[" + codecs
              + "],\"index_codecs\":[" + LITTLE + "]}}";
      path = "/0/configuration/codecs" + path;
    }
    try (Chain chain = Chain.of("[" + codecs + "]", INPUT)) {
      AtomicInteger checks = new AtomicInteger();
      AtomicInteger accepted = new AtomicInteger();
      AtomicInteger others = new AtomicInteger();
      byte[] encoded = chain.encode(new byte[24]);
      chain.setPadding(
          path,
          Padding.of(
              null,
              (data, chunk, padding) -> {
                checks.incrementAndGet();
                return false;
              }));
      for (int depth = 0; depth < 6000; depth += 3) {
        int frames = depth;
        Runnable deep = () -> decodeBelow(frames, chain, encoded, accepted);
        Thread thread = new Thread(null, deep, "deep", 256 << 10);
        thread.setUncaughtExceptionHandler((same, thrown) -> others.addAndGet(isStackOverflow(thrown) ? 0 : 1));
        thread.start();
        thread.join();
      }
      assertTrue(checks.get() > 0, "no check ran");
      assertEquals(0, accepted.get());
      assertEquals(0, others.get());
    }
  }

  private static boolean isStackOverflow(Throwable thrown) {
    return thrown instanceof StackOverflowError;
  }

  private static void decodeBelow(int frames, Chain chain, byte[] encoded, AtomicInteger accepted) {
    if (frames > 0) {
      decodeBelow(frames - 1, chain, encoded, accepted);
      return;
    }
    try {
      chain.decode(encoded);
      accepted.incrementAndGet();
    } catch (ZcodecException | StackOverflowError e) {
      // The check says no, or there is no room for it.
    }
  }

  @Test
  void errorsSayWhatAndWhere() {
    ZcodecException unknown = assertThrows(ZcodecException.class, () -> Chain.of("[\"packbit\"]", INPUT));
    assertEquals(Status.UNSUPPORTED, unknown.status());
    assertEquals("unknown_codec", unknown.code());
    assertEquals("/0", unknown.path());
    String cast = "{\"name\":\"cast_value\",\"configuration\":{\"data_type\":\"uint8\"}}";
    try (Chain chain = Chain.of("[" + cast + ",\"bytes\"]", INPUT)) {
      ByteBuffer decoded = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder());
      decoded.putShort(10, (short) 300);
      ZcodecException e = assertThrows(ZcodecException.class, () -> chain.encode(decoded.array()));
      assertEquals(Status.OUT_OF_RANGE, e.status());
      assertEquals(0, e.codecIndex());
      assertEquals(5, e.elementIndex());
      assertEquals("out_of_range", e.code());
      assertTrue(e.getMessage().contains("300"), e.getMessage());
      ZcodecException small =
          assertThrows(ZcodecException.class, () -> chain.decode(ByteBuffer.allocate(12), ByteBuffer.allocate(5)));
      assertEquals(Status.BUFFER_TOO_SMALL, small.status());
      assertEquals(24, small.neededSize());
      assertThrows(
          ReadOnlyBufferException.class,
          () -> chain.decode(ByteBuffer.allocate(12), ByteBuffer.allocate(24).asReadOnlyBuffer()));
    }
  }

  @Test
  void wrongArgumentsAreRefusedBeforeTheCall() {
    assertThrows(IllegalArgumentException.class, () -> View.of(ByteBuffer.allocate(24), -1));
    assertThrows(IllegalArgumentException.class, () -> Chain.of("[\"\ud800\"]", INPUT));
    assertThrows(IllegalArgumentException.class, () -> Chain.ofZarrJson("{\"\udc00\":1}"));
  }

  @Test
  void whatACallbackThrowsIsTheCause() {
    try (Chain chain = Chain.of("[" + LITTLE + "," + PAD + "]", INPUT)) {
      Exception thrown = new Exception("no header today");
      chain.setPadding(
          1,
          Padding.of(
              (call, chunk, padding) -> {
                throw thrown;
              },
              (call, chunk, padding) -> false));
      ZcodecException e = assertThrows(ZcodecException.class, () -> chain.encode(new byte[24]));
      assertEquals(Status.CALLBACK_FAILED, e.status());
      assertSame(thrown, e.getCause());
      assertEquals(Status.CORRUPT_DATA, assertThrows(ZcodecException.class, () -> chain.decode(new byte[26])).status());
    }
  }

  @Test
  void callbacksMayUseTheLibrary() {
    try (Chain inner = Chain.of("[\"crc32c\"]", null);
        Chain chain = Chain.of("[" + LITTLE + "," + PAD + "]", INPUT)) {
      chain.setPadding(
          1,
          Padding.of(
              (call, chunk, padding) -> {
                byte[] bytes = new byte[chunk.remaining()];
                chunk.get(bytes);
                padding.put((byte) inner.encode(bytes).length).put((Byte) call);
                assertThrows(IllegalStateException.class, () -> chain.setPadding(1, null));
              },
              null));
      byte[] encoded = chain.encode(new byte[24], CallOptions.DEFAULT.callData((byte) 5));
      assertEquals(28, encoded[0]);
      assertEquals(5, encoded[1]);
    }
  }

  @Test
  void viewsTakeAnyOrder() {
    ByteBuffer elements = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder());
    for (int i = 0; i < 12; i++) {
      elements.putShort(2 * i, (short) i);
    }
    for (boolean direct : new boolean[] {false, true}) {
      try (Chain chain = Chain.of("[" + LITTLE + "]", INPUT)) {
        byte[] encoded = chain.encode(elements.array());
        ByteBuffer memory = (direct ? ByteBuffer.allocateDirect(40) : ByteBuffer.allocate(40)).order(ByteOrder.nativeOrder());
        for (int i = 0; i < 20; i++) {
          memory.putShort(2 * i, (short) 77);
        }
        memory.position(4);
        Box box = Box.of(new long[] {1, 1}, new long[] {2, 3});
        // Fortran order, backwards along the second dimension, with a gap after each column
        chain.decodeView(ByteBuffer.wrap(encoded), box, View.of(memory, 16, 2, -8), CallOptions.DEFAULT);
        short[] found = new short[20];
        memory.position(0);
        memory.asShortBuffer().get(found);
        short[] wanted = {77, 77, 7, 11, 77, 77, 6, 10, 77, 77, 5, 9, 77, 77, 77, 77, 77, 77, 77, 77};
        assertArrayEquals(wanted, found);
        memory.position(4);
        ByteBuffer part = direct ? ByteBuffer.allocateDirect(24) : ByteBuffer.allocate(24);
        assertEquals(24, chain.encodeView(box, View.of(memory, 16, 2, -8), part, CallOptions.DEFAULT));
        part.order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(9, part.getShort(0));
        assertEquals(11, part.getShort(22));
        ByteBuffer filled = ByteBuffer.allocate(24);
        assertFalse(chain.isFillView(new long[] {3, 4}, View.of(filled, 2)));
        chain.fillView(new long[] {3, 4}, View.of(filled, 2));
        assertTrue(chain.isFillView(new long[] {3, 4}, View.of(filled, 2)));
        assertThrows(IllegalArgumentException.class, () -> chain.fillView(new long[] {3}, View.of(filled, 2)));
        ZcodecException e =
            assertThrows(
                ZcodecException.class,
                () -> chain.decodeView(ByteBuffer.wrap(encoded), null, View.of(filled, 3), CallOptions.DEFAULT));
        assertEquals(Status.INVALID_ARGUMENT, e.status());
      }
    }
  }
}
