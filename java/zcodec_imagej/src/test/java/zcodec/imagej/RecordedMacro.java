package zcodec.imagej;

import ij.IJ;
import ij.ImageJ;
import ij.WindowManager;
import ij.gui.GenericDialog;
import ij.plugin.frame.Recorder;
import java.awt.Button;
import java.awt.EventQueue;
import java.awt.TextField;
import java.awt.Window;
import java.awt.event.ActionEvent;
import java.io.File;
import java.util.function.Supplier;

/**
 * A program for scripts/imagej.sh: chooses the commands in ImageJ's menus, fills in their dialogs, and looks at the macros
 * that ImageJ has recorded.
 */
final class RecordedMacro {
  private static final String IMPORT = "Zarr (zcodec)...";
  private static final String EXPORT = "Zarr (zcodec)... "; // ImageJ tells commands of the same name apart by blanks

  /** ExportChain's label; that class is in the plugin, which this program does not see. */
  private static final String LOSSLESS = "Lossless (shards of blosc zstd)";

  /** This many times 50 ms: a machine that is busy takes long to load Java's and ImageJ's classes. */
  private static final int PATIENCE = 1200;

  private RecordedMacro() {}

  public static void main(String[] arguments) throws InterruptedException {
    String folder = arguments[0];
    String copy = folder + ".copy";
    new ImageJ();
    Recorder recorder = new Recorder();
    choose(IMPORT, folder);
    waitFor("the image", WindowManager::getCurrentImage);
    expect(recorder, "run(\"" + IMPORT + "\", \"path=" + folder + " level=0\");");
    choose(EXPORT, copy);
    expect(recorder, "run(\"" + EXPORT + "\", \"path=" + copy + " chain=[" + LOSSLESS + "] tolerance=1.000\");");
    String macro = recorder.getText().replace(copy, copy + ".again");
    waitFor("the copy", () -> new File(copy, "zarr.json").exists() ? copy : null);
    WindowManager.getCurrentImage().close();
    IJ.runMacro(macro); // what was recorded runs
    if (!new File(copy + ".again", "zarr.json").exists()) {
      fail("the recorded macro wrote nothing: " + macro);
    }
    System.exit(0);
  }

  /** Chooses a command, as the menu does: in a thread of its own, and recorded. */
  private static void choose(String command, String path) throws InterruptedException {
    IJ.doCommand(command);
    GenericDialog dialog = waitFor("the dialog", RecordedMacro::dialog);
    EventQueue.invokeLater( // as a click does, when the dialog is really there
        () -> {
          ((TextField) dialog.getStringFields().get(0)).setText(path);
          Button ok = dialog.getButtons()[0];
          dialog.actionPerformed(new ActionEvent(ok, ActionEvent.ACTION_PERFORMED, ok.getLabel()));
        });
    waitFor("the end of the dialog", () -> dialog() == null ? path : null);
  }

  /** ImageJ forgets the command after it has written it down, and would then forget the next one if that had begun. */
  private static void expect(Recorder recorder, String macro) throws InterruptedException {
    for (int i = 0; i < PATIENCE && !(recorder.getText().contains(macro) && Recorder.getCommand() == null); i++) {
      Thread.sleep(50);
    }
    if (!recorder.getText().contains(macro)) {
      fail("recorded was not " + macro + ", but " + recorder.getText());
    }
    System.out.println("recorded: " + macro);
  }

  private static GenericDialog dialog() {
    for (Window window : Window.getWindows()) {
      if (window instanceof GenericDialog && window.isVisible()) {
        return (GenericDialog) window;
      }
    }
    return null;
  }

  private static <T> T waitFor(String what, Supplier<T> supplier) throws InterruptedException {
    for (int i = 0; i < PATIENCE; i++) {
      T found = supplier.get();
      if (found != null) {
        return found;
      }
      Thread.sleep(50);
    }
    throw fail("there was no sign of " + what);
  }

  private static AssertionError fail(String why) {
    System.err.println(why);
    for (Window window : Window.getWindows()) {
      System.err.println("window: " + window);
    }
    System.exit(1);
    return new AssertionError(why);
  }
}
