#!/bin/sh
# Cleans a table of events and splits it: duplicates and broken lines go, one row in five becomes validation data.
# Which rows those are depends on their content only, so preparing the data again gives the same split.
set -eu
raw=$TAU_DATA_DIR/raw/events.csv
[ -f "$raw" ] || raw=sample.csv
out=$TAU_OUTPUT_DIR

header=$(head -n 1 "$raw")
tail -n +2 "$raw" | awk -F, -v want="$(echo "$header" | awk -F, '{print NF}')" 'NF == want' | sort -u >"$out/clean.tmp"

echo "$header" >"$out/train.csv"
echo "$header" >"$out/validation.csv"
while IFS= read -r row; do
    number=$(printf %s "$row" | cksum | cut -d ' ' -f 1)
    if [ $((number % 5)) -eq 0 ]; then set_name=validation; else set_name=train; fi
    printf '%s\n' "$row" >>"$out/$set_name.csv"
done <"$out/clean.tmp"
rm "$out/clean.tmp"

for set_name in train validation; do
    echo "$set_name: $(($(wc -l <"$out/$set_name.csv") - 1)) rows"
done
