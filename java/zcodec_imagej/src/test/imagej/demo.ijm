// Exports the nuclei and their mask, imports both, and takes a picture of the screen. Arguments: the folder of tests/data,
// a folder for the results.
folders = split(getArgument(), ";");
data = folders[0];
work = folders[1];

// Where the log window will be. To move it later takes a window manager.
call("ij.Prefs.set", "log.loc", "20,395");
call("ij.Prefs.set", "log.width", "660");
call("ij.Prefs.set", "log.height", "135");

run("Raw...", "open=" + data + "/nuclei_uint16_8x256x256.npy image=[16-bit Unsigned] width=256 height=256 offset=128 number=8 little-endian");
run("Properties...", "channels=1 slices=8 frames=1 pixel_width=0.26 pixel_height=0.26 voxel_depth=0.29 unit=micron");
run("Zarr (zcodec)... ", "path=" + work + "/nuclei.zarr chain=[Lossless (shards of blosc zstd)]");
close();
run("Raw...", "open=" + data + "/nuclei_labels_uint8_8x256x256.npy image=8-bit width=256 height=256 offset=128 number=8");
run("Macro...", "code=[if (v>0) v=255;] stack");
run("Zarr (zcodec)... ", "path=" + work + "/mask.zarr chain=[Packed mask (1 bit per pixel)]");
close();

run("Zarr (zcodec)...", "path=" + work + "/nuclei.zarr level=0");
check("nuclei", 16, "microns");
setSlice(4);
run("Enhance Contrast", "saturated=0.35");
getStatistics(area, mean);
setLocation(20, 85);
run("Zarr (zcodec)...", "path=" + work + "/mask.zarr level=0");
check("mask", 8, "pixels");
setSlice(4);
setLocation(330, 85);

// A chunk that is cut short gives a message, and the other planes stay.
run("Zarr (zcodec)...", "path=" + work + "/damaged.zarr level=0");
setSlice(3);
getStatistics(area, damaged);
setSlice(2);
getStatistics(area, good);
if (damaged != 0 || good == 0)
  exit("a damaged plane has the mean " + damaged + ", the one before " + good);
close();
if (indexOf(getInfo("log"), "plane 3, c/2/0/0") < 0)
  exit("the log says nothing: " + getInfo("log"));
wait(1000);
run("Capture Screen");
saveAs("PNG", work + "/screen.png");
File.saveString("mean " + mean + "\n", work + "/passed");
run("Quit");

function check(title, depth, unit) {
  getDimensions(width, height, channels, slices, frames);
  getVoxelSize(w, h, d, found);
  if (width != 256 || slices != 8 || bitDepth() != depth || !is("Virtual Stack"))
    exit(title + " is " + width + " wide, with " + slices + " slices of " + bitDepth() + " bits");
  if (depth == 16 && (abs(w - 0.26) > 1e-9 || abs(d - 0.29) > 1e-9))
    exit(title + " has pixels of " + w + " " + found);
}
