#!/usr/bin/env bash
# Runs a statically linked program in Bochs, on an emulated Ice Lake; fails if the program does, or if Linux sees no
# AVX-512 there.
#
#     tests/cross/bochs.sh PROGRAM ARGUMENTS...
#
# The program runs alone on Debian's kernel, from an initial file system that otherwise contains only a shell. Its
# output is shown when it ends. On a plain Debian 12, as root.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/packages.sh
needs bochs bochsbios vgabios isolinux syslinux-common genisoimage busybox-static cpio
work=$PWD/target/cross/bochs
program=$1
shift

if [ ! -e "$work/kernel" ]; then
  mkdir -p "$work"
  package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p')
  (cd "$work" && apt-get download "$package" && dpkg-deb --fsys-tarfile linux-image-*.deb | tar -x)
  cp "$work"/boot/vmlinuz-* "$work/kernel"
fi

rm -rf "$work/files" "$work/disk"
mkdir -p "$work/files/dev" "$work/files/proc" "$work/disk/isolinux"
mknod "$work/files/dev/console" c 5 1
cp /bin/busybox "$work/files/"
strip -o "$work/files/program" "$program"
cat >"$work/files/init" <<EOF
#!/busybox sh
/busybox mount -t proc proc /proc
/busybox grep -qw avx512_vbmi2 /proc/cpuinfo && /program $*
echo "returned \$?"
/busybox sleep 1
/busybox poweroff -f
EOF
chmod +x "$work/files/init"
(cd "$work/files" && find . | cpio --create --format=newc --quiet) >"$work/disk/files"
cp "$work/kernel" "$work/disk/"
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$work/disk/isolinux/"
# Bochs has no compact XSAVE areas that Linux would accept (321, 323), nor protection keys in them (515, 516); and fast
# short string moves (580), which Linux takes for a sign of fast long ones, but without those.
cat >"$work/disk/isolinux/isolinux.cfg" <<EOF
default linux
label linux
  kernel /kernel
  append initrd=/files console=ttyS0 quiet panic=-1 nokaslr mitigations=off clearcpuid=321,323,515,516,580
EOF
genisoimage -quiet -o "$work/disk.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat -no-emul-boot -boot-load-size 4 \
  -boot-info-table "$work/disk"

cat >"$work/bochsrc" <<EOF
config_interface: textconfig
display_library: rfb, options="timeout=0"
sound: driver=dummy
cpu: model=corei7_icelake_u, ips=1000000000, ignore_bad_msrs=1
memory: guest=512, host=512
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path="$work/disk.iso", status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev="$work/output"
log: "$work/bochs.log"
panic: action=fatal
error: action=ignore
EOF
# Debian's Bochs is one for debugging, which waits for a command. Power off is a panic to it. Tests take ten minutes.
rm -f "$work/output"
timeout 45m bochs -q -f "$work/bochsrc" -rc <(echo continue) </dev/null >"$work/bochs.out" 2>&1 || true
tr -d '\r' <"$work/output"
grep -q '^returned 0' <(tr -d '\r' <"$work/output")
