package zcodec.imagej;

import ij.IJ;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where an export writes. It replaces nothing, and knows what it has made: only that is removed if the export fails,
 * for another program may write here at the same time.
 */
final class ExportFolder {
  final Path folder;

  /** Files and folders, in the order in which they were made. */
  private final List<Path> made = new ArrayList<>();

  /** A folder that is empty, or does not exist yet. */
  ExportFolder(Path folder) throws IOException {
    this.folder = folder;
    if (Files.isDirectory(folder)) {
      try (Stream<Path> content = Files.list(folder)) {
        if (content.findAny().isPresent()) {
          throw new IOException(folder + " is not empty; nothing was written");
        }
      }
    }
  }

  /** Makes a folder in this one, which must not be there yet: of two exports at once only one can make it. */
  void claim(String name) throws IOException {
    makeFolders(folder);
    Path claimed = folder.resolve(name);
    try {
      makeFolder(claimed);
    } catch (FileAlreadyExistsException e) {
      throw new IOException(claimed + " is there already; another export seems to write here", e);
    }
  }

  /** Writes a new file. */
  void write(String name, ByteBuffer content) throws IOException {
    Path file = folder.resolve(name);
    makeFolders(file.getParent());
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      made.add(file);
      while (content.hasRemaining()) {
        channel.write(content);
      }
    }
  }

  private void makeFolders(Path wanted) throws IOException {
    if (wanted == null || Files.isDirectory(wanted)) {
      return;
    }
    makeFolders(wanted.getParent());
    try {
      makeFolder(wanted);
    } catch (FileAlreadyExistsException e) { // such as "..", or what another program has made just now
      if (!Files.isDirectory(wanted)) {
        throw new IOException(wanted + " is there already, and is no folder", e);
      }
    }
  }

  private void makeFolder(Path wanted) throws IOException {
    Files.createDirectory(wanted);
    made.add(wanted);
  }

  /** Removes what was written: it would pass for the image, and be in the way of another try. */
  void remove() {
    IOException why = null;
    for (int i = made.size() - 1; i >= 0; i--) { // what is in a folder was made after it
      try {
        Files.delete(made.get(i));
      } catch (NoSuchFileException | DirectoryNotEmptyException e) {
        continue; // somebody else has removed it, or has put something into it
      } catch (IOException e) {
        why = e;
      }
    }
    made.clear();
    if (why != null) {
      IJ.log("Zarr (zcodec): what was written to " + folder + " cannot be removed: " + Json.why(why));
    }
  }
}
