package zcodec.imagej;

import ij.CompositeImage;
import ij.IJ;
import ij.ImageListener;
import ij.ImagePlus;
import ij.gui.GenericDialog;
import ij.measure.Calibration;
import ij.plugin.PlugIn;
import java.awt.EventQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/** File > Import > Zarr (zcodec)...: opens an array or an OME-Zarr image as a virtual stack. */
public final class ZarrImport implements PlugIn {
  private static String lastPath = "";

  /** For ImageJ, which makes plugins without arguments. */
  public ZarrImport() {}

  @Override
  public void run(String argument) {
    GenericDialog dialog = new GenericDialog("Import Zarr (zcodec)");
    dialog.addDirectoryField("Path", lastPath, 40);
    dialog.addNumericField("Level of resolution", 0, 0);
    dialog.addMessage("A Zarr array or an OME-Zarr image; level 0 is the finest.");
    dialog.showDialog();
    if (dialog.wasCanceled()) {
      return;
    }
    String path = dialog.getNextString().trim();
    double level = dialog.getNextNumber();
    if (dialog.invalidNumber()) {
      IJ.error("Zarr (zcodec)", dialog.getErrorMessage());
      return;
    }
    if (path.isEmpty()) {
      IJ.error("Zarr (zcodec)", "No folder was chosen.");
      return;
    }
    try {
      IJ.showStatus("Opening " + path);
      open(Paths.get(path), level(level)).show();
      lastPath = path;
    } catch (IOException | RuntimeException | LinkageError e) {
      IJ.error("Zarr (zcodec)", Json.why(e));
    }
  }

  static int level(double number) {
    if (number != (int) number) {
      throw new IllegalArgumentException("the level of resolution is " + number + ", expected a whole number");
    }
    return (int) number;
  }

  /**
   * Opens an array or an OME-Zarr image. The memory of the library is freed when the image's window is closed. An image
   * without a window must be closed by {@link ImagePlus#flush}, because {@link ImagePlus#close} then tells no listener.
   *
   * @param folder its folder
   * @param level which of the image's arrays; 0: the finest
   * @return the image, whose planes are read when they are needed
   * @throws IOException it cannot be opened
   */
  public static ImagePlus open(Path folder, int level) throws IOException {
    ImagePlus image = openUnwatched(folder, level);
    ImagePlus.addImageListener(new Closing(image));
    return image;
  }

  /** As {@link #open}, for a caller that closes the array of the image's {@link ZarrStack} itself. */
  static ImagePlus openUnwatched(Path folder, int level) throws IOException {
    OmeImage ome = OmeImage.open(folder);
    if (level < 0 || level >= ome.levels.size()) {
      throw new IOException("there is no level " + level + "; " + folder + " has " + ome.levels.size());
    }
    OmeImage.Level chosen = ome.levels.get(level);
    ZarrArray array = ZarrArray.open(chosen.folder);
    boolean opened = false;
    try {
      ImagePlus image = image(ome, chosen, array);
      opened = true;
      return image;
    } catch (IOException | RuntimeException e) { // such as a shape that is too large for ImageJ
      throw ZarrArray.unreadable(chosen.folder, e);
    } finally {
      if (!opened) {
        array.close();
      }
    }
  }

  private static ImagePlus image(OmeImage ome, OmeImage.Level level, ZarrArray array) throws IOException {
    Dimensions dimensions = new Dimensions(ome.axesOf(array));
    ZarrStack stack = new ZarrStack(array, dimensions);
    int channels = Dimensions.size(array.shape, dimensions.c());
    int slices = Dimensions.size(array.shape, dimensions.z());
    int frames = Dimensions.size(array.shape, dimensions.t());
    ImagePlus image = new ImagePlus(ome.name, stack);
    image.setDimensions(channels, slices, frames);
    image.setOpenAsHyperStack(stack.getSize() > 1);
    image.setCalibration(calibration(ome, level, dimensions, stack.isSigned16()));
    image.setProperty("Info", array.folder + "\n" + array.dataType + "\n" + array.codecs());
    boolean composite = channels > 1 && channels <= CompositeImage.MAX_CHANNELS;
    return composite ? new CompositeImage(image, CompositeImage.COMPOSITE) : image;
  }

  private static Calibration calibration(OmeImage ome, OmeImage.Level level, Dimensions dimensions, boolean signed) {
    Calibration calibration = new Calibration();
    if (signed) {
      calibration.setSigned16BitCalibration();
    }
    if (level.scale == null) {
      return calibration;
    }
    calibration.pixelWidth = scale(level, dimensions.x);
    calibration.pixelHeight = scale(level, dimensions.y);
    calibration.pixelDepth = scale(level, dimensions.z());
    calibration.setXUnit(unit(Units.SPACE, ome.units, dimensions.x, "pixel"));
    calibration.setYUnit(unit(Units.SPACE, ome.units, dimensions.y, "pixel"));
    calibration.setZUnit(unit(Units.SPACE, ome.units, dimensions.z(), "pixel"));
    double interval = scale(level, dimensions.t());
    String timeUnit = unit(Units.TIME, ome.units, dimensions.t(), "");
    calibration.frameInterval = dimensions.t() >= 0 && (!timeUnit.isEmpty() || interval != 1) ? interval : 0;
    boolean isUnknown = timeUnit.isEmpty() && calibration.frameInterval != 0; // perhaps not in seconds
    calibration.setTimeUnit(isUnknown ? "frame" : timeUnit.isEmpty() ? "sec" : timeUnit);
    return calibration;
  }

  /** The size of a pixel along a dimension; 1 if none is there, or if it is none. */
  private static double scale(OmeImage.Level level, int dimension) {
    double scale = dimension < 0 || dimension >= level.scale.length ? 1 : level.scale[dimension];
    return scale > 0 && scale < Double.POSITIVE_INFINITY ? scale : 1;
  }

  private static String unit(Units kind, List<String> units, int dimension, String otherwise) {
    String unit = dimension < 0 || dimension >= units.size() ? "" : units.get(dimension);
    return unit.isEmpty() ? otherwise : kind.toImageJ(unit);
  }

  /** Frees the memory of the library when the last image with a stack is closed. */
  private static final class Closing implements ImageListener {
    private final ZarrStack stack;
    /** Known before they are closed: ImageJ takes the stack from an image before it tells. */
    private final Set<ImagePlus> images = Collections.newSetFromMap(new WeakHashMap<>());

    Closing(ImagePlus image) {
      stack = (ZarrStack) image.getStack();
      images.add(image);
    }

    /** Another image may show the same stack, such as a hyperstack that ImageJ makes of this one. */
    @Override
    public synchronized void imageOpened(ImagePlus image) {
      if (image.hasImageStack() && image.getStack() == stack) {
        images.add(image);
      }
    }

    @Override
    public void imageUpdated(ImagePlus image) {}

    @Override
    public synchronized void imageClosed(ImagePlus image) {
      if (images.remove(image) && images.isEmpty()) {
        stack.array.close();
        EventQueue.invokeLater(() -> ImagePlus.removeImageListener(this)); // ImageJ is going through its listeners
      }
    }
  }
}
