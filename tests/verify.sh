#!/bin/sh
# gpubench verify on the golden cases, as one test in TAP: under sanitizers, with the OpenCL devices at hand. PoCL
# compiles each kernel, as if for the first time.
#
#   verify.sh GPUBENCH
set -u
POCL_CACHE_DIR=$(mktemp -d) || exit 1
export POCL_CACHE_DIR
trap 'rm -rf "$POCL_CACHE_DIR"' EXIT
echo 1..1
if output=$("$1" verify --golden tests/golden --no-progress 2>&1); then
    echo "ok 1 - verify"
else
    printf '%s\n' "$output"
    echo "not ok 1 - verify"
    exit 1
fi
