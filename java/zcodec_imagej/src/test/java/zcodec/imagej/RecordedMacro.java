package zcodec.imagej;

import ij.IJ;
import ij.ImageJ;
import ij.WindowManager;
import ij.gui.GenericDialog;
import ij.plugin.frame.Recorder;
import java.awt.Button;
import java.awt.TextField;
import java.awt.Window;
import java.awt.event.ActionEvent;
import java.util.function.Supplier;

/**
 * A program for scripts/imagej.sh: chooses the command in ImageJ's menu, fills in its dialog, and looks at the macro that
 * ImageJ has recorded.
 */
final class RecordedMacro {
  private RecordedMacro() {}

  public static void main(String[] arguments) throws InterruptedException {
    String folder = arguments[0];
    new ImageJ();
    Recorder recorder = new Recorder();
    IJ.doCommand("Zarr (zcodec)..."); // as the menu does: in a thread of its own, and recorded
    GenericDialog dialog = waitFor("the dialog", RecordedMacro::dialog);
    ((TextField) dialog.getStringFields().get(0)).setText(folder);
    Button ok = dialog.getButtons()[0];
    dialog.actionPerformed(new ActionEvent(ok, ActionEvent.ACTION_PERFORMED, ok.getLabel()));
    waitFor("the image", WindowManager::getCurrentImage);
    String wanted = "run(\"Zarr (zcodec)...\", \"path=" + folder + " level=0\");";
    waitFor("the macro " + wanted + ", not " + recorder.getText(), () -> recorder.getText().contains(wanted) ? wanted : null);
    System.out.println("recorded: " + wanted);
    System.exit(0);
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
    for (int i = 0; i < 200; i++) {
      T found = supplier.get();
      if (found != null) {
        return found;
      }
      Thread.sleep(50);
    }
    System.err.println("there was no sign of " + what);
    System.exit(1);
    throw new AssertionError();
  }
}
