#!/bin/sh
# From a fresh clone to a first answer: installs what is missing, builds, and measures where the device
# begins to win on this machine. Leaves a results file in results/.
set -eu
cd "$(dirname "$0")/.."

scripts/install-deps.sh
make -s -j"$(nproc)"
exec ./gpubench sweep configs/crossover.json "$@"
