package zcodec;

import com.sun.jna.Pointer;

/**
 * The native library as a whole.
 *
 * <p>It is loaded from the jar when it is first needed. The system property {@value #LIBRARY_PROPERTY} chooses another
 * one: the path of a file, or {@code system} for the one that the system finds under the name {@code zcodec}.
 */
public final class Zcodec {
  /** The system property that names another native library: {@value}. */
  public static final String LIBRARY_PROPERTY = "zcodec.library";

  private Zcodec() {}

  /**
   * The version of the native library.
   *
   * @return such as {@code 0.2.5}
   */
  public static String version() {
    return text(C.zcodec_version());
  }

  /**
   * What the native library supports.
   *
   * @return JSON: {@code {"version", "codecs": [{"name", "aliases": [..]}, ..], "data_types": [..]}}
   */
  public static String supportedJson() {
    return text(C.zcodec_supported_json());
  }

  static String text(long address) {
    return address == 0 ? "" : new Pointer(address).getString(0, "UTF-8");
  }
}
