/** The codecs of zcodec for zarr-java: {@link zcodec.zarrjava.ZcodecCodecs#register()} makes it know them. */
package zcodec.zarrjava;
