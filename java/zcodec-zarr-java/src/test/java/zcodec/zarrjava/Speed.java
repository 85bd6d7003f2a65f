package zcodec.zarrjava;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Collections;
import zcodec.Box;
import zcodec.CallOptions;
import zcodec.Chain;
import zcodec.Plan;
import zcodec.Range;
import zcodec.ShardIndex;
import zcodec.View;

/**
 * CPU time compared with zarr-java: `java/speed.sh`. Both sides take turns, and each row is the median of many rounds.
 * Data: the nuclei of tests/data, as int16. Shards are compared by the CPU time of the process: zarr-java reads them
 * with many threads.
 */
final class Speed {
  private static final int ROUNDS = 41;
  private static final ByteBuffer ENCODED = ByteBuffer.allocateDirect(2 << 20);
  private static final ByteBuffer DECODED = ByteBuffer.allocateDirect(1 << 20).order(ByteOrder.nativeOrder());
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
  private static final com.sun.management.OperatingSystemMXBean PROCESS =
      (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final String LITTLE = "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}";

  private Speed() {}

  /** Something to time. */
  interface Work {
    void run() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    Path repository = Paths.get(arguments[0]);
    byte[] file = Files.readAllBytes(repository.resolve("tests/data/nuclei_uint16_8x256x256.npy"));
    byte[] nuclei = Arrays.copyOfRange(file, 128, file.length);
    Path folder = Files.createTempDirectory("speed");
    call();
    for (String codec :
        new String[] {
          "{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":false}}",
          "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"zstd\",\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":2,\"blocksize\":0}}",
          "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":2,\"blocksize\":0}}",
          "{\"name\":\"gzip\",\"configuration\":{\"level\":6}}"
        }) {
      chunk(folder, codec, nuclei);
    }
    shard(folder, nuclei);
  }

  /** What a call costs besides its work. */
  private static void call() throws Exception {
    String input = "{\"data_type\":\"uint8\",\"shape\":[16],\"fill_value\":0}";
    try (Chain chain = Chain.of("[\"bytes\"]", input)) {
      ByteBuffer from = ByteBuffer.allocateDirect(16);
      ByteBuffer to = ByteBuffer.allocateDirect(16);
      byte[] array = new byte[16];
      int calls = 20000;
      row("ask for the number of codecs", 1e9 / calls, "ns", () -> repeat(calls, chain::codecCount));
      row(
          "decode 16 bytes, direct buffers",
          1e9 / calls,
          "ns",
          () ->
              repeat(
                  calls,
                  () -> {
                    from.clear();
                    to.clear();
                    chain.decode(from, to);
                  }));
      row("decode 16 bytes, arrays", 1e9 / calls, "ns", () -> repeat(calls, () -> chain.decode(array)));
      View view = View.of(ByteBuffer.allocateDirect(16), 0, 1);
      Box box = Box.of(new long[] {0}, new long[] {16});
      row(
          "decode a box of 16 bytes to a view",
          1e9 / calls,
          "ns",
          () ->
              repeat(
                  calls,
                  () -> {
                    from.clear();
                    chain.decodeView(from, box, view, CallOptions.DEFAULT);
                  }));
    }
  }

  private static void repeat(int times, Work work) throws Exception {
    for (int i = 0; i < times; i++) {
      work.run();
    }
  }

  private static Path array(Path folder, String name, String codecs, byte[] elements) throws IOException {
    String document =
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[8,256,256],\"data_type\":\"int16\",\"fill_value\":0,"
            + "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[8,256,256]}},"
            + "\"chunk_key_encoding\":{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}},\"codecs\":" + codecs + "}";
    Path array = folder.resolve(name);
    Files.createDirectories(array.resolve("c/0/0"));
    Files.write(array.resolve("zarr.json"), document.getBytes(StandardCharsets.UTF_8));
    try (Chain chain = Chain.ofZarrJson(document)) {
      Files.write(array.resolve("c/0/0/0"), chain.encode(elements));
    }
    return array;
  }

  /** A chunk of 1 MiB in a file, to an array of short. */
  private static void chunk(Path folder, String codec, byte[] elements) throws Exception {
    String codecs = "[" + LITTLE + "," + codec + "]";
    Path place = array(folder, "a" + codec.hashCode(), codecs, elements);
    dev.zarr.zarrjava.v3.Array its = dev.zarr.zarrjava.v3.Array.open(place);
    short[] wanted = (short[]) its.readChunk(new long[3]).copyTo1DJavaArray();
    try (Chain chain = Chain.ofZarrJson(new String(Files.readAllBytes(place.resolve("zarr.json")), StandardCharsets.UTF_8))) {
      short[] found = read(chain, place.resolve("c/0/0/0"));
      same(wanted, found);
      String name = codec.replaceAll("[^a-z0-9 ]+", " ").replaceAll("name|configuration|typesize 2|blocksize 0|checksum false", "");
      both("chunk of 1 MiB," + name.replaceAll(" +", " "), () -> its.readChunk(new long[3]), () -> read(chain, place.resolve("c/0/0/0")));
    }
  }

  /** As a reader would that keeps its buffers: new native memory takes as long as a fast codec. */
  private static short[] read(Chain chain, Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      ENCODED.clear();
      while (channel.read(ENCODED) > 0) {
        // until the end of the file
      }
    }
    ENCODED.flip();
    DECODED.clear();
    chain.decode(ENCODED, DECODED);
    DECODED.flip();
    short[] elements = new short[DECODED.remaining() / 2];
    DECODED.asShortBuffer().get(elements);
    return elements;
  }

  /** A whole shard, and one plane of it. */
  private static void shard(Path folder, byte[] elements) throws Exception {
    String blosc =
        "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"zstd\",\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":2,\"blocksize\":0}}";
    String codecs =
        "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[1,64,64],\"codecs\":[" + LITTLE + "," + blosc
            + "],\"index_codecs\":[" + LITTLE + ",{\"name\":\"crc32c\"}]}}]";
    Path place = array(folder, "shard", codecs, elements);
    try (Chain chain = Chain.ofZarrJson(new String(Files.readAllBytes(place.resolve("zarr.json")), StandardCharsets.UTF_8));
        FileChannel file = FileChannel.open(place.resolve("c/0/0/0"), StandardOpenOption.READ)) {
      Path path = place.resolve("c/0/0/0");
      row("whole shard of 1 MiB", 1e6, "us", () -> read(chain, path));
      row("one plane of it, by a plan", 1e6, "us", () -> plane(chain, file, null));
      try (Plan plan = plan(chain, null, ByteBuffer.allocateDirect(2 * 256 * 256))) {
        plan.read(file);
        try (ShardIndex index = plan.index()) {
          row("one plane of it, by a plan with the index", 1e6, "us", () -> plane(chain, file, index));
        }
      }
      dev.zarr.zarrjava.v3.Array its = dev.zarr.zarrjava.v3.Array.open(place);
      same((short[]) its.read().copyTo1DJavaArray(), read(chain, path));
      same((short[]) itsPlane(its).copyTo1DJavaArray(), plane(chain, path));
      shards("whole shard of 1 MiB", 40, its::read, () -> read(chain, path));
      shards("one plane of it", 200, () -> itsPlane(its), () -> plane(chain, path));
    }
  }

  private static Plan plan(Chain chain, ShardIndex index, ByteBuffer target) {
    Box box = Box.of(new long[] {3, 0, 0}, new long[] {1, 256, 256});
    return chain.plan(
        Collections.singletonList(box),
        Collections.singletonList(View.of(target, 3)),
        Range.UNKNOWN,
        index,
        CallOptions.DEFAULT);
  }

  private static ucar.ma2.Array itsPlane(dev.zarr.zarrjava.v3.Array array) throws Exception {
    return array.read(new long[] {3, 0, 0}, new int[] {1, 256, 256});
  }

  /** As zarr-java does it: the file is opened and the index is read each time. */
  private static short[] plane(Chain chain, Path path) throws IOException {
    ByteBuffer target = ByteBuffer.allocateDirect(2 * 256 * 256).order(ByteOrder.nativeOrder());
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ); Plan plan = plan(chain, null, target)) {
      plan.read(file);
    }
    short[] elements = new short[256 * 256];
    target.asShortBuffer().get(elements);
    return elements;
  }

  private static void same(short[] wanted, short[] found) {
    if (!Arrays.equals(wanted, found)) {
      throw new AssertionError("they differ");
    }
  }

  /** Many of each at once, because the clock of the process has steps of 10 ms. */
  private static void shards(String name, int repeats, Work theirs, Work ours) throws Exception {
    double[] ratios = new double[ROUNDS];
    for (int i = -10; i < ROUNDS; i++) {
      double mine = processSeconds(repeats, ours);
      ratios[Math.max(i, 0)] = processSeconds(repeats, theirs) / mine;
    }
    Arrays.sort(ratios);
    System.out.printf("%-50s %8.2f times zarr-java (%.2f to %.2f)%n", name, median(ratios), ratios[ROUNDS / 4], ratios[ROUNDS * 3 / 4]);
  }

  private static double processSeconds(int repeats, Work work) throws Exception {
    long start = PROCESS.getProcessCpuTime();
    repeat(repeats, work);
    return (PROCESS.getProcessCpuTime() - start) / 1e9;
  }

  private static void plane(Chain chain, FileChannel file, ShardIndex index) throws IOException {
    try (Plan plan = plan(chain, index, ByteBuffer.allocateDirect(2 * 256 * 256))) {
      plan.read(file);
    }
  }

  private static void row(String name, double scale, String unit, Work work) throws Exception {
    System.out.printf("%-50s %8.1f %s%n", name, median(times(work, null)) * scale, unit);
  }

  private static void both(String name, Work theirs, Work ours) throws Exception {
    double[] ratios = times(ours, theirs);
    System.out.printf("%-50s %8.2f times zarr-java (%.2f to %.2f)%n", name, median(ratios), ratios[ROUNDS / 4], ratios[ROUNDS * 3 / 4]);
  }

  /** Sorted seconds of each round; with another work, how many times as long that takes. */
  private static double[] times(Work work, Work other) throws Exception {
    double[] times = new double[ROUNDS];
    for (int i = -ROUNDS; i < ROUNDS; i++) { // as many rounds to warm up
      double mine = seconds(work);
      times[Math.max(i, 0)] = other == null ? mine : seconds(other) / mine;
    }
    Arrays.sort(times);
    return times;
  }

  private static double seconds(Work work) throws Exception {
    long start = CLOCK.getCurrentThreadCpuTime(); // which other programs on the machine disturb least
    work.run();
    return (CLOCK.getCurrentThreadCpuTime() - start) / 1e9;
  }

  private static double median(double[] sorted) {
    return sorted[sorted.length / 2];
  }
}
