# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Sourced by quickstart, check and .ci/run: what the three share. Runs in the repository's root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What the build and the tests need, by Debian's names. All of it is in Debian 12 itself.
packages=(
    g++ cmake ninja-build ccache protobuf-compiler libprotobuf-dev libcli11-dev libfmt-dev
    nlohmann-json3-dev libexpected-dev catch2 librapidcheck-dev libbenchmark-dev)

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

# as_root COMMAND …: as it is for root, else by sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "Not root, and there is no sudo. Please run as root: $*" >&2
        exit 1
    fi
}

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# install_packages NAME …: installs those that are missing; touches no network when none is.
install_packages() {
    local missing=() name
    if ! command -v dpkg-query >/dev/null; then
        echo "This is not a Debian system: nothing is installed. The build needs: $*"
        return
    fi
    for name in "$@"; do
        is_installed "$name" || missing+=("$name")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        return
    fi
    say "Installing by apt-get: ${missing[*]}"
    as_root apt-get -qq update
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
        -o Dpkg::Use-Pty=0 install "${missing[@]}" >/dev/null
}

# build PRESET [TARGET …]: configures build/PRESET and builds the targets, everything without any.
build() {
    local preset=$1
    shift
    say "Building build/$preset"
    mkdir -p build
    cmake --preset "$preset" >build/configure.log 2>&1 || {
        cat build/configure.log
        return 1
    }
    cmake --build --preset "$preset" ${1+--target "$@"}
}
