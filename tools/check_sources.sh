#!/usr/bin/env bash
# Reads every source by itself, as the tests `tidy` and `alone` read those that a change
# touches, and notes the commit at which all passed: half an hour of processor time.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -n "$(git status --porcelain)" ]; then
    echo "check_sources: commit first: what passes is noted as a commit" >&2
    exit 1
fi
system_include=$(llvm-config-22 --includedir)
mkdir -p build
python3 tools/check_alone.py . --all --system-include "$system_include" \
    --cache build/alone.json
python3 tools/check_tidy.py . --all --system-include "$system_include" \
    --cache build/tidied_sources.json
git rev-parse HEAD > tools/checked_commit
echo "check_sources: all passed; tools/checked_commit is to be committed"
