package zcodec.imagej;

import ij.CompositeImage;
import ij.IJ;
import ij.ImageListener;
import ij.ImagePlus;
import ij.gui.GenericDialog;
import ij.measure.Calibration;
import ij.plugin.PlugIn;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;

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
    int level = (int) dialog.getNextNumber();
    if (path.isEmpty()) {
      IJ.error("Zarr (zcodec)", "No folder was chosen.");
      return;
    }
    try {
      IJ.showStatus("Opening " + path);
      open(Paths.get(path), level).show();
      lastPath = path;
    } catch (IOException | ArithmeticException | LinkageError e) {
      IJ.error("Zarr (zcodec)", String.valueOf(e.getMessage()));
    }
  }

  /**
   * Opens an array or an OME-Zarr image.
   *
   * @param folder its folder
   * @param level which of the image's arrays; 0: the finest
   * @return the image, whose planes are read when they are needed
   * @throws IOException it cannot be opened
   */
  public static ImagePlus open(Path folder, int level) throws IOException {
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
    } finally {
      if (!opened) {
        array.close();
      }
    }
  }

  private static ImagePlus image(OmeImage ome, OmeImage.Level level, ZarrArray array) throws IOException {
    boolean named = ome.axes.size() == array.shape.length;
    Dimensions dimensions = new Dimensions(named ? ome.axes.toArray(new String[0]) : array.dimensionNames);
    ZarrStack stack = new ZarrStack(array, dimensions);
    int channels = Dimensions.size(array.shape, dimensions.c());
    int slices = Dimensions.size(array.shape, dimensions.z());
    int frames = Dimensions.size(array.shape, dimensions.t());
    ImagePlus image = new ImagePlus(ome.name, stack);
    image.setDimensions(channels, slices, frames);
    image.setOpenAsHyperStack(stack.getSize() > 1);
    image.setCalibration(calibration(ome, level, dimensions, stack.isSigned16()));
    image.setProperty("Info", array.folder + "\n" + array.dataType + "\n" + array.codecs());
    ImagePlus.addImageListener(new Closing(stack, array));
    return channels > 1 && channels <= CompositeImage.MAX_CHANNELS ? new CompositeImage(image, CompositeImage.COMPOSITE) : image;
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
    calibration.frameInterval = dimensions.t() < 0 ? 0 : scale(level, dimensions.t());
    calibration.setXUnit(unit(ome.units, dimensions.x, "pixel"));
    calibration.setYUnit(unit(ome.units, dimensions.y, "pixel"));
    calibration.setZUnit(unit(ome.units, dimensions.z(), "pixel"));
    calibration.setTimeUnit(unit(ome.units, dimensions.t(), "sec"));
    return calibration;
  }

  private static double scale(OmeImage.Level level, int dimension) {
    return dimension < 0 || dimension >= level.scale.length ? 1 : level.scale[dimension];
  }

  private static String unit(List<String> units, int dimension, String otherwise) {
    String unit = dimension < 0 || dimension >= units.size() ? "" : units.get(dimension);
    switch (unit) {
      case "":
        return otherwise;
      case "micrometer":
        return "\u00B5m";
      case "nanometer":
        return "nm";
      case "millimeter":
        return "mm";
      case "second":
        return "sec";
      default:
        return unit;
    }
  }

  /** Frees the memory of the library when an image is closed. */
  private static final class Closing implements ImageListener {
    private final ZarrStack stack;
    private final ZarrArray array;

    Closing(ZarrStack stack, ZarrArray array) {
      this.stack = stack;
      this.array = array;
    }

    @Override
    public void imageOpened(ImagePlus image) {}

    @Override
    public void imageUpdated(ImagePlus image) {}

    @Override
    public void imageClosed(ImagePlus image) {
      if (image.getStack() == stack) {
        array.close();
        ImagePlus.removeImageListener(this);
      }
    }
  }
}
