# Copies a source tree out of an image: run in that image as  sh -c TEXT tau-source SOURCE DESTINATION [ENTRYPOINT]
# It needs only sh, cp and chmod. Exit code 66: the source or the entrypoint is not there.
# The destination is the root of a volume, whose own mode only its owner may change; so only its content is opened.
set -eu
if [ ! -d "$1" ]; then
    echo "tau: the source directory $1 is not in this image" >&2
    exit 66
fi
cp -R -P "$1/." "$2/"
for item in "$2"/* "$2"/.[!.]* "$2"/..?*; do
    if [ -e "$item" ] && [ ! -L "$item" ]; then chmod -R a+rX "$item"; fi
done
if [ -n "${3:-}" ]; then
    if [ ! -f "$2/$3" ]; then
        echo "tau: the entrypoint $3 is not in the source directory $1" >&2
        exit 66
    fi
    chmod a+rx "$2/$3"
fi
