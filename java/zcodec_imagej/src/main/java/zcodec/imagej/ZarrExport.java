package zcodec.imagej;

import ij.IJ;
import ij.ImagePlus;
import ij.gui.GenericDialog;
import ij.plugin.PlugIn;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;

/** File > Export > Zarr (zcodec)...: writes the image as OME-Zarr, reads it again and compares. */
public final class ZarrExport implements PlugIn {
  private static String lastPath = "";
  private static String lastChain = ExportChain.LOSSLESS.label;

  /** For ImageJ, which makes plugins without arguments. */
  public ZarrExport() {}

  @Override
  public void run(String argument) {
    ImagePlus image = IJ.getImage(); // says so itself if there is none
    GenericDialog dialog = new GenericDialog("Export Zarr (zcodec)");
    dialog.addDirectoryField("Path", lastPath, 40);
    dialog.addChoice("Chain", ExportChain.labels(), lastChain);
    dialog.addNumericField("Tolerance (zfp only)", 1, 3);
    dialog.addMessage("The folder must be empty, or not exist yet.");
    dialog.showDialog();
    if (dialog.wasCanceled()) {
      return;
    }
    String path = dialog.getNextString().trim();
    String chain = dialog.getNextChoice();
    double tolerance = dialog.getNextNumber();
    if (path.isEmpty()) {
      IJ.error("Zarr (zcodec)", "No folder was chosen.");
      return;
    }
    try {
      save(image, Paths.get(path), chain, tolerance);
      lastPath = path;
      lastChain = chain;
      IJ.showStatus(path + " was written and verified");
    } catch (IOException | RuntimeException | LinkageError e) {
      IJ.error("Zarr (zcodec)", Json.why(e));
    }
  }

  /**
   * Writes an image, reads it again and compares.
   *
   * @param image 8-bit, 16-bit or float
   * @param folder a folder that is empty or does not exist
   * @param chain one of the labels of the dialog
   * @param tolerance for zfp, the largest difference of a pixel
   * @throws IOException it cannot be written, or what is read differs
   */
  public static void save(ImagePlus image, Path folder, String chain, double tolerance) throws IOException {
    new ZarrWriter(image, ExportChain.of(chain), tolerance).write(folder);
  }
}
