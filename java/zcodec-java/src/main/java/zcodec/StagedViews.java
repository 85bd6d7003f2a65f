package zcodec;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The memory of several views as native memory. Views of one heap array whose bytes overlap share one copy: their
 * elements may interleave, and copies back of one view after the other would undo each other. What lies between views
 * that do not overlap is not copied.
 */
final class StagedViews implements AutoCloseable {
  /** Every piece of memory, once. */
  private final List<Staged> regions = new ArrayList<>();
  /** The region of each view, and its address there. */
  private Staged[] region = {};
  private long[] address = {};

  /**
   * Takes and copies the memory. Close this even if it throws.
   *
   * @param written the library writes to the views
   */
  void stage(List<View> views, boolean written) {
    region = new Staged[views.size()];
    address = new long[views.size()];
    Map<byte[], List<Integer>> byArray = new IdentityHashMap<>();
    for (int i = 0; i < region.length; i++) {
      ByteBuffer memory = views.get(i).memory;
      if (memory.hasArray()) {
        byArray.computeIfAbsent(memory.array(), array -> new ArrayList<>()).add(i);
      } else { // direct or read-only
        region[i] = add(memory, written);
        address[i] = region[i].address;
      }
    }
    byArray.forEach((array, numbers) -> stageArray(array, numbers, views, written));
  }

  private Staged add(ByteBuffer memory, boolean written) {
    Staged staged = written ? Staged.partial(memory) : Staged.input(memory);
    regions.add(staged);
    return staged;
  }

  /** Makes a region for each group of overlapping views of the array. */
  private void stageArray(byte[] array, List<Integer> numbers, List<View> views, boolean written) {
    numbers.sort(Comparator.comparingInt(i -> start(views.get(i))));
    for (int first = 0; first < numbers.size(); ) {
      int start = start(views.get(numbers.get(first)));
      int end = start;
      int next = first;
      do {
        end = Math.max(end, end(views.get(numbers.get(next))));
        next++;
      } while (next < numbers.size() && start(views.get(numbers.get(next))) < end);
      Staged shared = add(ByteBuffer.wrap(array, start, end - start), written);
      for (int i : numbers.subList(first, next)) {
        region[i] = shared;
        address[i] = shared.address + start(views.get(i)) - start;
      }
      first = next;
    }
  }

  /** Where the memory of a view begins in its array. */
  private static int start(View view) {
    return view.memory.arrayOffset() + view.memory.position();
  }

  private static int end(View view) {
    return start(view) + view.memory.remaining();
  }

  /** Where view {@code i} lies in native memory. */
  long address(int i) {
    return address[i];
  }

  /** The memory that view {@code i} shares with views that it overlaps. */
  Staged region(int i) {
    return region[i];
  }

  /** Copies everything that the library wrote to the heap buffers. */
  void copyOut() {
    regions.forEach(Staged::copyOut);
  }

  @Override
  public void close() {
    regions.forEach(Staged::close);
  }
}
