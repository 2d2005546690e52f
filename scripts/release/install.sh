#!/bin/sh
# Installs the programs of Cardea for one user, without root:
#
#   curl -fsSL https://github.com/cardea-dev/cardea/releases/latest/download/install.sh | sh
#
# Variables:
#   CARDEA_VERSION   the version to install, such as 1.2.3. The default is the latest.
#   CARDEA_BIN       the folder for the programs. The default is ~/.local/bin.
#   CARDEA_BASE_URL  another address for the releases: https://, or http://127.0.0.1:PORT.
#
# All of it is in functions, so that a download that breaks off does nothing.
set -eu

repository=https://github.com/cardea-dev/cardea
programs="cardea-engine cardea-hook cardea"

fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# fetch URL FILE: the program for it must check certificates and follow no redirect to http.
fetch() {
  if has curl; then
    curl -fsSL --proto "=$scheme" --proto-redir =https --retry 2 -o "$2" "$1" || fail "cannot download $1"
    return
  fi
  url=$1 hops=0
  until wget -nv -S --max-redirect=0 -O "$2" "$url" 2>"$work/headers"; do
    url=$(sed -n 's/^ *[Ll]ocation: *\([^ ]*\).*/\1/p' "$work/headers" | tr -d '\r' | tail -n 1) hops=$((hops + 1))
    case $url in https://*) ;; *) fail "cannot download $1" ;; esac
    [ "$hops" -lt 6 ] || fail "cannot download $1: too many redirects"
  done
}

# digest FILE prints the SHA-256 of a file in 64 hex digits.
digest() {
  if has sha256sum; then sha256sum <"$1"; elif has shasum; then shasum -a 256 <"$1"; else openssl dgst -sha256 -r <"$1"; fi | cut -c 1-64
}

# platform prints the operating system and the processor as the names of archives have them.
platform() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail "there is no archive for $(uname -s) here; on Windows use Scoop or npm: $repository" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no archive for $(uname -m); build it: $repository" ;;
  esac
  # A shell under Rosetta sees another processor.
  if [ "$os" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then arch=arm64; fi
  printf '%s_%s\n' "$os" "$arch"
}

# needs checks what has to be on the machine.
needs() {
  for tool in tar gzip mktemp sed awk cut; do has "$tool" || fail "$tool is missing"; done
  has sha256sum || has shasum || has openssl || fail "one of sha256sum, shasum and openssl is needed to verify the download"
  has curl || { has wget && wget --version 2>/dev/null | grep -q 'GNU Wget'; } || fail "curl or GNU wget is needed"
}

# named CHECKSUMS VERSION PLATFORM prints the digest and the version of the only archive for the platform.
named() {
  awk -v version="$2" -v platform="$3" '
    $1 ~ /^[0-9a-f]+$/ && length($1) == 64 && NF == 2 {
      name = $2; head = "cardea_"; tail = "_" platform ".tar.gz"
      if (substr(name, 1, 7) != head || length(name) <= 7 + length(tail) || substr(name, length(name) - length(tail) + 1) != tail) next
      v = substr(name, 8, length(name) - 7 - length(tail))
      if (v !~ /^[0-9][0-9A-Za-z.+-]*$/ || version != "" && v != version) next
      found++; line = $1 " " v
    }
    END { if (found != 1) exit 1; print line }' "$1"
}

# place moves the programs from the work folder to their folder, all or none.
place() {
  for p in $programs; do
    [ ! -d "$bin/$p" ] || fail "$bin/$p is a folder"
    if [ -e "$bin/$p" ]; then cp -p "$bin/$p" "$work/old-$p"; fi
  done
  trap '' INT TERM HUP
  for p in $programs; do
    mv -f "$work/$p" "$bin/$p" && continue
    for q in $programs; do
      if [ -e "$work/old-$q" ]; then mv -f "$work/old-$q" "$bin/$q"; elif [ ! -e "$work/$q" ]; then rm -f "$bin/$q"; fi
    done
    fail "cannot write $bin/$p; everything is as it was"
  done
}

# next says what to type now.
next() {
  printf 'Cardea %s is installed in %s\n\n' "$version" "$bin"
  command=cardea
  if [ "$(command -v cardea || :)" != "$bin/cardea" ]; then
    command=$(printf '%s/cardea' "$bin" | sed "s/'/'\\\\''/g; s/.*/'&'/")
    case ":$PATH:" in
      *":$bin:"*) printf 'Your PATH finds another cardea first: %s\n\n' "$(command -v cardea)" ;;
      *) printf 'Your PATH has no %s. Add it in the file that your shell reads at its start.\n\n' "$bin" ;;
    esac
  fi
  printf 'Next:\n  %s try "rm -rf ~"\n  %s install claude\n' "$command" "$command"
}

main() {
  umask 022
  needs
  base=${CARDEA_BASE_URL:-$repository/releases}
  case $base in
    *@*) fail "CARDEA_BASE_URL has an @" ;;
    https://*) scheme=https ;;
    http://127.0.0.1:*) scheme=http ;;
    *) fail "CARDEA_BASE_URL must begin with https://" ;;
  esac
  version=${CARDEA_VERSION:-}
  version=${version#v}
  case $version in *[!0-9A-Za-z.+-]*) fail "CARDEA_VERSION is not a version" ;; esac
  bin=${CARDEA_BIN:-${HOME:+$HOME/.local/bin}}
  case $bin in
    /*) ;;
    '') fail "HOME is not set; set CARDEA_BIN to the folder for the programs" ;;
    *) fail "the folder for the programs must begin with /: $bin" ;;
  esac
  target=$(platform)

  mkdir -p "$bin" || fail "cannot make $bin"
  case $(ls -ldL "$bin") in ????????w*) fail "everybody can write $bin" ;; esac
  work=$(mktemp -d "$bin/.cardea-install.XXXXXX") || fail "cannot write $bin"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' INT TERM HUP

  if [ -n "$version" ]; then from=download/v$version; else from=latest/download; fi
  fetch "$base/$from/checksums.txt" "$work/checksums.txt"
  entry=$(named "$work/checksums.txt" "$version" "$target") || fail "checksums.txt does not name one archive for $target"
  version=${entry#* }
  archive=cardea_${version}_$target.tar.gz
  fetch "$base/download/v$version/$archive" "$work/archive"
  [ "$(digest "$work/archive")" = "${entry%% *}" ] || fail "the checksum of $archive is wrong; nothing was installed"

  # What tar prints goes to files that are named here: no name in the archive is used.
  tar -tzf "$work/archive" >"$work/names" || fail "$archive is broken"
  for p in $programs; do
    [ "$(grep -cx "$p" "$work/names")" = 1 ] || fail "$archive does not have $p once"
    tar -xzOf "$work/archive" "$p" >"$work/$p" && [ -s "$work/$p" ] || fail "$archive has no program $p"
    chmod 755 "$work/$p"
  done
  "$work/cardea" version >/dev/null || fail "the program does not run on this machine; nothing was installed"
  place
  next
}

main "$@"
