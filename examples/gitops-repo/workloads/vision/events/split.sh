#!/bin/sh
# One row in five becomes validation data; which ones depends on their content only.
set -eu
cd "$(dirname "$0")"
mkdir -p "$TAU_OUTPUT_DIR"
tail -n +2 sample.csv | sort -u | while IFS= read -r row; do
    number=$(printf %s "$row" | cksum | cut -d ' ' -f 1)
    if [ $((number % 5)) -eq 0 ]; then part=validation; else part=train; fi
    printf '%s\n' "$row" >>"$TAU_OUTPUT_DIR/$part.csv"
done
wc -l "$TAU_OUTPUT_DIR"/*.csv
