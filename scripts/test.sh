#!/bin/sh
# Installs what the tests need, builds, and runs every test. The last line is "N passed, N failed".
set -eu
cd "$(dirname "$0")/.."

scripts/install-deps.sh --tests
CFLAGS="-O2 -g -Werror" exec /usr/bin/python3 tests/run.py
