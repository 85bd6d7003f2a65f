# needs PACKAGE...: installs Debian's packages that are not there, as root or by sudo.
needs() {
  dpkg --status "$@" >/dev/null 2>&1 && return
  local root=(env)
  [ "$(id -u)" = 0 ] || root=(sudo)
  "${root[@]}" apt-get update --quiet
  "${root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install --quiet --yes --no-install-recommends "$@"
}
