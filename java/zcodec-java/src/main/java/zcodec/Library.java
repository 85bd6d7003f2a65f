package zcodec;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import java.io.File;
import java.io.IOException;

/** Finds and loads the native library, once. */
final class Library {
  /** How JNA names the files that it unpacks, and those that mark them. */
  private static final String UNPACKED = "jna";
  private static final String MARK = ".x";

  static final NativeLibrary NATIVE = load(System.getProperty(Zcodec.LIBRARY_PROPERTY, ""));

  private Library() {}

  private static NativeLibrary load(String wanted) {
    if (Native.POINTER_SIZE != 8) {
      throw new UnsatisfiedLinkError("zcodec needs a 64-bit Java; this one has " + 8 * Native.POINTER_SIZE + " bits");
    }
    if (wanted.isEmpty()) {
      File file = extract(Platform.RESOURCE_PREFIX);
      NativeLibrary library = NativeLibrary.getInstance(file.getAbsolutePath());
      if (file.getName().startsWith(UNPACKED)) { // not a file of a folder of classes
        discard(file);
      }
      return checked(library, "the jar's library");
    }
    String name = wanted.equals("system") ? "zcodec" : wanted;
    return checked(NativeLibrary.getInstance(name), Zcodec.LIBRARY_PROPERTY + "=" + wanted);
  }

  /** Where the jar has the library of a platform, which is named as JNA names it. */
  static String resource(String platform) {
    String name = "libzcodec.so";
    if (platform.startsWith("win32")) {
      name = "zcodec.dll";
    } else if (platform.startsWith("darwin")) {
      name = "libzcodec.dylib";
    }
    return "/zcodec/native/" + platform + "/" + name;
  }

  static File extract(String platform) {
    try {
      return Native.extractFromResourcePath(resource(platform), Library.class.getClassLoader());
    } catch (IOException e) {
      throw (UnsatisfiedLinkError)
          new UnsatisfiedLinkError(
                  "zcodec: this jar has no library for "
                      + platform
                      + "; install one and set the property "
                      + Zcodec.LIBRARY_PROPERTY
                      + " to its path, or to \"system\"")
              .initCause(e);
    }
  }

  /**
   * Deletes the file of a library that is loaded. Windows refuses that, also when Java ends: JNA deletes the files that
   * are marked so when it is loaded the next time.
   */
  static void discard(File library) {
    if (!Boolean.getBoolean("jnidispatch.preserve") && !library.delete()) {
      try {
        new File(library.getPath() + MARK).createNewFile();
      } catch (IOException e) {
        // The file stays in the temporary folder.
      }
    }
  }

  /** JNA names only the first symbol that is missing, which tells nobody that the library is too old. */
  private static NativeLibrary checked(NativeLibrary library, String what) {
    for (String name : new String[] {"zcodec_version", "zcodec_registry_add", "zcodec_writer_new"}) {
      try {
        library.getFunction(name);
      } catch (UnsatisfiedLinkError e) {
        throw (UnsatisfiedLinkError)
            new UnsatisfiedLinkError("zcodec: " + what + " is older than 0.2: it has no " + name).initCause(e);
      }
    }
    return library;
  }
}
