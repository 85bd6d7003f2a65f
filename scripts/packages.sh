# needs PACKAGE...: installs missing Debian packages, as root or with sudo, after any other installation that goes on.
needs() {
  local states root=(env)
  states=$(dpkg-query --show --showformat='${db:Status-Status}\n' "$@" 2>/dev/null) &&
    ! grep --quiet --invert-match --line-regexp installed <<<"$states" && return
  [ "$(id -u)" = 0 ] || root=(sudo)
  "${root[@]}" apt-get update --quiet
  "${root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install --quiet --yes --no-install-recommends "$@"
}
