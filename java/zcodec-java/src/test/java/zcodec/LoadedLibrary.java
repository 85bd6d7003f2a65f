package zcodec;

import java.io.IOException;

/** A program for LibraryTest: prints the version of the library, and its file. */
final class LoadedLibrary {
  private LoadedLibrary() {}

  public static void main(String[] arguments) throws IOException {
    System.out.println(Zcodec.version());
    if (Boolean.getBoolean("zcodec.test.halt")) {
      Runtime.getRuntime().halt(0);
    }
    System.out.println(Library.NATIVE.getFile().toPath().toRealPath());
  }
}
