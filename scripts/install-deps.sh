#!/bin/sh
# Installs what gpubench is built from and runs on: Debian 12 and Ubuntu 24.04, through apt.
#
#   scripts/install-deps.sh [--tests] [--dry-run]
#
# --tests    also what the tests need
# --dry-run  say what would be installed, and install nothing
#
# Whatever is there already is left alone; when all is there, nothing happens.
set -eu

usage() {
    sed -n '2,8s/^# \{0,1\}//p' "$0"
}

tests=no dry_run=no
for option; do
    case $option in
    --tests) tests=yes ;;
    --dry-run) dry_run=yes ;;
    -h | --help) usage; exit 0 ;;
    *) echo "install-deps.sh: unknown option $option" >&2; usage >&2; exit 2 ;;
    esac
done

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        echo "install-deps.sh: not root, and there is no sudo: run as root: $*" >&2
        exit 1
    fi
}

missing=
# want PACKAGE REASON CHECK...: the package is missing where the check fails.
want() {
    package=$1 reason=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        missing="$missing $package"
        printf '  %-20s %s\n' "$package" "$reason"
    fi
}

pc() { pkg-config --exists "$1"; }

# Whether the dynamic linker would find it: its cache has sonames, its directories full names, too.
library() {
    ldconfig -p 2>/dev/null | grep -q "[[:space:]]$1 " && return 0
    for directory in /lib /usr/lib /usr/local/lib /lib64 /usr/lib64 /usr/lib/*-linux-gnu; do
        [ -e "$directory/$1" ] && return 0
    done
    return 1
}

# An ICD file names its driver's library, with or without a path.
opencl_driver() {
    for icd in "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd; do
        [ -r "$icd" ] || continue
        driver=$(head -n 1 "$icd")
        case $driver in
        /*) [ -e "$driver" ] && return 0 ;;
        ?*) library "$driver" && return 0 ;;
        esac
    done
    return 1
}

# The tests are about PoCL, whatever else is there.
opencl_device() {
    if [ $tests = yes ]; then test -e /etc/OpenCL/vendors/pocl.icd; else opencl_driver; fi
}

PATH=$PATH:/usr/sbin:/sbin # ldconfig

# Containers are often given NVIDIA's driver without the file that tells the OpenCL loader of it.
nvidia=libnvidia-opencl.so.1
if library "$nvidia" && ! grep -qs nvidia-opencl /etc/OpenCL/vendors/*.icd; then
    echo "registering NVIDIA's OpenCL driver in /etc/OpenCL/vendors/nvidia.icd"
    if [ $dry_run = no ]; then
        as_root sh -c "mkdir -p /etc/OpenCL/vendors && echo $nvidia > /etc/OpenCL/vendors/nvidia.icd"
    fi
fi

want gcc "C compiler with OpenMP" command -v gcc
want libc6-dev "C library headers" test -e /usr/include/stdio.h
want make "build" command -v make
want pkg-config "finds the libraries" command -v pkg-config
want libcjson-dev "JSON" pc libcjson
want libpng-dev "pictures to fit and to write" pc libpng
want libhwloc-dev "cores, caches, NUMA" pc hwloc
want ocl-icd-opencl-dev "OpenCL loader" pc OpenCL
want opencl-c-headers "OpenCL headers" test -e /usr/include/CL/cl.h
want pocl-opencl-icd "OpenCL on the CPU, an OpenCL device for everybody" opencl_device
if [ $tests = yes ]; then
    want libcmocka-dev "unit tests" pc cmocka
    want python3 "test runner" test -x /usr/bin/python3
    want python3-pytest "tests of the command line" /usr/bin/python3 -c 'import pytest'
    want python3-jsonschema "results files against their schema" /usr/bin/python3 -c 'import jsonschema'
    want oclgrind "kernels under a memory and race checker" command -v oclgrind
    want clang "a second compiler, for kernels, too" command -v clang
    want libclang-rt-dev "make fuzz" sh -c 'ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-x*.a'
    want libomp-dev "OpenMP for clang" sh -c 'ls /usr/lib/llvm-*/lib/libomp.so'
    want valgrind "make check-valgrind" command -v valgrind
    want shellcheck "scripts" command -v shellcheck
    want mandoc "man pages" command -v mandoc
    want locales "a locale with a decimal comma" test -e /usr/share/i18n/locales/de_DE
    want git "revision in results files, make dist" command -v git
fi

needed=$missing missing=
# Ubuntu's is a snap, which containers do not have.
if [ $tests = yes ] && grep -qs '^ID=debian' /etc/os-release; then
    want chromium "the HTML report, drawn" command -v chromium
    want fonts-dejavu-core "its letters" test -e /usr/share/fonts/truetype/dejavu
fi
optional=$missing missing=$needed$missing

[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "install-deps.sh: only Debian and Ubuntu (apt) are known here; please install the above," >&2
    echo "named there:$missing" >&2
    exit 1
fi
[ $dry_run = no ] || exit 0

install() {
    [ $# -eq 0 ] || as_root apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
}

as_root apt-get update -qq
# shellcheck disable=SC2086 # lists of words
{
    install $needed
    install $optional || echo "install-deps.sh: going on without$optional: their tests are skipped" >&2
}
