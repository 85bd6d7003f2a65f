# needs PACKAGE...: installs missing Debian packages, as root or with sudo, after any other installation that goes on.
needs() {
  dpkg --status "$@" >/dev/null 2>&1 && return
  local root=(env)
  [ "$(id -u)" = 0 ] || root=(sudo)
  "${root[@]}" apt-get update --quiet
  "${root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install --quiet --yes --no-install-recommends "$@"
}
