package zcodec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.Platform;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which library is loaded. */
class LibraryTest {
  /** As ELF and PE number them. */
  private static final int ELF_X86_64 = 62;
  private static final int ELF_AARCH64 = 183;
  private static final int PE_X86_64 = 0x8664;

  @TempDir Path folder;

  @Test
  void eachPlatformHasItsFile() {
    assertEquals("/zcodec/native/linux-x86-64/libzcodec.so", Library.resource("linux-x86-64"));
    assertEquals("/zcodec/native/linux-aarch64/libzcodec.so", Library.resource("linux-aarch64"));
    assertEquals("/zcodec/native/win32-x86-64/zcodec.dll", Library.resource("win32-x86-64"));
    assertEquals("/zcodec/native/darwin-aarch64/libzcodec.dylib", Library.resource("darwin-aarch64"));
    String here = Library.resource(Platform.RESOURCE_PREFIX);
    assertEquals(System.mapLibraryName("zcodec"), here.substring(here.lastIndexOf('/') + 1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"linux-x86-64", "linux-aarch64", "win32-x86-64"})
  void theFileIsALibraryForItsPlatform(String platform) throws IOException {
    byte[] library = resource(Library.resource(platform));
    assumeTrue(library != null, "the jar was built without the library for " + platform + " (make dist)");
    ByteBuffer bytes = ByteBuffer.wrap(library).order(ByteOrder.LITTLE_ENDIAN);
    if (platform.startsWith("win32")) {
      int header = bytes.getInt(0x3C);
      assertEquals(0x00004550, bytes.getInt(header)); // "PE"
      assertEquals(PE_X86_64, bytes.getShort(header + 4) & 0xFFFF);
    } else {
      assertEquals(0x464C457F, bytes.getInt(0)); // ELF
      assertEquals(platform.endsWith("x86-64") ? ELF_X86_64 : ELF_AARCH64, bytes.getShort(18));
    }
    assertTrue(new String(library, StandardCharsets.ISO_8859_1).contains("zcodec_writer_new"), "not zcodec, or too old");
  }

  @ParameterizedTest
  @ValueSource(strings = {"linux-x86-64", "linux-aarch64", "win32-x86-64"})
  void theLicencesOfWhatIsLinkedAreBesideTheLibrary(String platform) throws IOException {
    assumeTrue(resource(Library.resource(platform)) != null, "the jar was built without the library for " + platform);
    byte[] licences = resource("/zcodec/native/" + platform + "/LICENCES.txt");
    assertNotNull(licences);
    String text = new String(licences, StandardCharsets.UTF_8);
    assertTrue(text.contains("zstd"), "not of what zcodec contains");
    assertTrue(!platform.startsWith("win32") || text.contains("winpthreads"), "not of what the compiler adds");
  }

  private static byte[] resource(String path) throws IOException {
    try (InputStream in = Library.class.getResourceAsStream(path)) {
      if (in == null) {
        return null;
      }
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      byte[] some = new byte[1 << 16];
      for (int count = in.read(some); count >= 0; count = in.read(some)) {
        all.write(some, 0, count);
      }
      return all.toByteArray();
    }
  }

  @Test
  void aPlatformWithoutALibrarySaysSo() {
    UnsatisfiedLinkError e = assertThrows(UnsatisfiedLinkError.class, () -> Library.extract("plan9-sparc"));
    assertTrue(e.getMessage().contains("no library for plan9-sparc"), e.getMessage());
    assertTrue(e.getMessage().contains(Zcodec.LIBRARY_PROPERTY), e.getMessage());
  }

  @Test
  void thePropertyChoosesAnotherLibrary() throws Exception {
    Path copy = folder.resolve(System.mapLibraryName("zcodec"));
    Files.copy(Library.extract(Platform.RESOURCE_PREFIX).toPath(), copy, StandardCopyOption.REPLACE_EXISTING);
    String version = Zcodec.version();
    assertEquals(version, run().get(0));
    List<String> byPath = run("-Dzcodec.library=" + copy);
    assertEquals(Arrays.asList(version, copy.toRealPath().toString()), byPath);
    List<String> ofSystem = run("-Dzcodec.library=system", "-Djna.library.path=" + folder);
    assertEquals(Arrays.asList(version, copy.toRealPath().toString()), ofSystem);
    List<String> missing = run("-Dzcodec.library=" + folder.resolve("nothing.so"));
    assertTrue(missing.toString().contains("UnsatisfiedLinkError"), missing.toString());
    assertTrue(missing.toString().contains("nothing.so"), missing.toString());
    Path other = folder.resolve("libother.so");
    Files.copy(anotherLibrary(), other);
    List<String> wrong = run("-Dzcodec.library=" + other);
    assertTrue(wrong.toString().contains("libother.so is older than 0.2: it has no zcodec_version"), wrong.toString());
  }

  /** Of a jar: a folder of classes has the library as a file. Nothing runs when that Java ends. */
  @Test
  void theUnpackedLibraryDoesNotStayBehind() throws Exception {
    Path jar = folder.resolve("zcodec.jar");
    String resource = Library.resource(Platform.RESOURCE_PREFIX);
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      out.setLevel(1);
      out.putNextEntry(new JarEntry(resource.substring(1)));
      Files.copy(Library.extract(Platform.RESOURCE_PREFIX).toPath(), out);
    }
    Path temporary = Files.createDirectory(folder.resolve("temporary"));
    List<String> loaded = runWith(jar + File.pathSeparator, "-Djna.tmpdir=" + temporary, "-Dzcodec.test.halt=true");
    assertEquals(Zcodec.version(), loaded.get(0));
    try (Stream<Path> files = Files.list(temporary)) {
      files.forEach(file -> assertTrue(file.toString().endsWith(".x") || Files.exists(Paths.get(file + ".x")), file + ""));
    }
  }

  @Test
  void aLibraryThatCannotBeDeletedIsMarked() throws IOException {
    Path library = Files.createDirectory(folder.resolve("jna1.dll")); // as Windows does not delete what is loaded
    Files.createFile(library.resolve("file"));
    Library.discard(library.toFile());
    assertTrue(Files.exists(folder.resolve("jna1.dll.x")));
    Files.delete(library.resolve("file"));
    Library.discard(library.toFile());
    assertFalse(Files.exists(library));
  }

  /** A native library that is not zcodec: JNA's own. */
  private static Path anotherLibrary() throws IOException {
    String name = System.mapLibraryName("jnidispatch");
    return com.sun.jna.Native.extractFromResourcePath("/com/sun/jna/" + Platform.RESOURCE_PREFIX + "/" + name).toPath();
  }

  /** What another Java says of the library that it loads. */
  private static List<String> run(String... properties) throws Exception {
    return runWith("", properties);
  }

  /** With more of a class path before the classes. */
  private static List<String> runWith(String first, String... properties) throws Exception {
    String classes = first + System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
    Collections.addAll(command, properties);
    Collections.addAll(command, "-cp", classes, "zcodec.LoadedLibrary");
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    for (int next = process.getInputStream().read(); next >= 0; next = process.getInputStream().read()) {
      output.write(next);
    }
    process.waitFor();
    List<String> lines = new ArrayList<>(Arrays.asList(output.toString("UTF-8").trim().split("\\R")));
    lines.removeIf(line -> line.startsWith("WARNING: ") || line.isEmpty()); // of Java 24 and later, about native calls
    return lines;
  }
}
