#!/bin/sh
# Do the results that others submit come out again, and what does the atlas say with them?
#
# Copy this into the repository of an atlas, and call it with submissions, as `orthobench submit`
# makes them:
#
#     sudo sh atlas.sh submissions/*.zip
#
# Exit code 0: all that was drawn came out again; 1: a value did not; 2: something could not be
# checked. In atlas/: for each FILE what was said (FILE.txt) and its tiers (FILE.tiers.json), and the
# site of all of them (site/index.html). Tiers that are beside a FILE already are added to.
#
#   SHARE       of the cells of each that are computed again;
#               0: none, the site of those with tiers is made     [0.1]
#   SEED        of the draw: one that no submitter can know       [random]
#   TIMEOUT     seconds that one cell may take                    [300]
#   MEMORY      that one process may take                         [4GiB]
#   HOURS       that one submission may take                      [2]
#   ORTHOBENCH  what pip installs: orthobench, and plugins        [orthobench]
#   CONTAINER   image with orthobench to verify in, by digest     [none: a virtual environment]
#   PYTHON      its interpreter, which everybody may run: not one
#               in the home of root                               [python3]
#   OUT         folder for what this writes                       [atlas]
#   ORTHOBENCH_DATA  folder with data sets that were downloaded before, which everybody may read;
#               cells on others are not checked                   [none]
#
# A submission is data. It is read by a process that has no network, no other process to see, nothing
# to write to but a folder of its own and, if root calls this, no rights: it is nobody's. Without root
# it keeps your rights to read files. Room on the disk is limited a file, and not in all.
#
# A plugin is code, and runs as soon as it is installed: whoever wrote it decides what is "recomputed"
# with it. A solver that is not installed is "not checked". Add a stranger's plugin to ORTHOBENCH only
# when you have read it, pinned (name==1.2 --hash=sha256:...), on a machine that keeps nothing from one
# job to the next and has no secrets; and verify the submissions that need it apart from all others.
set -eu

out=${OUT:-atlas}
nobody=65534
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 711 "$work"
data=
if [ -n "${ORTHOBENCH_DATA:-}" ]; then data=$(cd "$ORTHOBENCH_DATA" && pwd) || exit 2; fi
mkdir -p "$out" || exit 2

# Everything is installed before anything of a submission is read: afterwards there is no network.
if [ -z "${CONTAINER:-}" ]; then
    "${PYTHON:-python3}" -m venv "$work/environment" || exit 2
    # shellcheck disable=SC2086 # several words
    "$work/environment/bin/python" -m pip install --quiet ${ORTHOBENCH:-orthobench} || exit 2
    chmod -R go+rX "$work/environment"
fi

# Run by a process that may mount, in a namespace of its own: nothing but the box can be written, and
# no service has a socket there that could be asked, say to look up a name elsewhere.
shut='
    set -eu
    trap "exit 125" EXIT # until the command is in the place of this
    box=$1
    shift
    mount --make-rprivate /
    mount --bind "$box" "$box"
    while read -r _ _ _ _ point options _; do
        point=$(printf %b "$point")
        case $point,$options in
            "$box",* | *,ro | *,ro,*) ;;
            *) mount -o "remount,bind,ro${options#rw}" "$point" ;;
        esac
    done < /proc/self/mountinfo
    mount -t tmpfs -o nosuid,nodev,noexec,mode=755,size=1m tmpfs /run
    mount -t tmpfs -o nosuid,nodev,noexec,mode=1777,size=256m tmpfs /dev/shm
    cd "$box"
    exec prlimit --core=0 --fsize=4294967296 --nproc=512 "$@"'

# isolated BOX COMMAND...: run a command in a folder, which is all that it can write to.
isolated() {
    box=$1
    shift
    if [ -n "${CONTAINER:-}" ]; then
        called=$(basename "$work")
        ended=0
        # the client ends in time, and then the container, which outlives it
        timeout -k 10 "${HOURS:-2}h" docker run --rm --name "$called" --network none --read-only \
            --cap-drop ALL --security-opt no-new-privileges --user "$nobody:$nobody" \
            --pids-limit 512 --memory 8g --memory-swap 8g --ulimit core=0 \
            --ulimit fsize=4294967296 --tmpfs /tmp:exec --env HOME=/tmp --volume "$box:/box" \
            ${data:+--volume "$data:/data:ro" --env ORTHOBENCH_DATA=/data} \
            --workdir /box "$CONTAINER" "$@" || ended=$?
        docker rm --force "$called" > /dev/null 2>&1 || :
        return "$ended"
    fi
    if [ "$(id -u)" = 0 ]; then
        set -- --reuid "$nobody" --regid "$nobody" --clear-groups -- "$@"
        root=
    else
        set -- -- "$@" # your own rights, and none of those over its namespaces
        root="--user --map-root-user"
    fi
    # shellcheck disable=SC2086 # several words
    timeout -k 10 "${HOURS:-2}h" env -i HOME="$box" TMPDIR="$box" LC_ALL=C.UTF-8 \
        ORTHOBENCH_DATA="$data" \
        PATH="$work/environment/bin:/usr/local/bin:/usr/bin:/bin" \
        unshare $root --mount --net --ipc --pid --fork --kill-child --mount-proc \
        sh -c "$shut" sh "$box" setpriv --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
}

# taken FROM TO: move a file out of a box, unless it is something else by now.
taken() {
    [ -f "$1" ] && [ ! -L "$1" ] && cat "$1" > "$2"
}

boxed() {
    mkdir "$1"
    if [ "$(id -u)" = 0 ]; then chown "$nobody:$nobody" "$1"; fi
}

# verified FILE NAME: compute a share of it again; what it returns is an exit code of this script.
verified() {
    box=$work/box
    boxed "$box" && cat "$1" > "$box/$2" || exit 2 # "set -e" does not count in here
    if [ -f "$1.tiers.json" ]; then cat "$1.tiers.json" > "$box/tiers.json" || exit 2; fi
    if [ "$(id -u)" = 0 ]; then chown -R "$nobody:$nobody" "$box" || exit 2; fi
    code=0
    isolated "$box" orthobench verify "./$2" --share "${SHARE:-0.1}" --seed "$seed" \
        --timeout "${TIMEOUT:-300}" --memory-limit "${MEMORY:-4GiB}" --record tiers.json --quiet \
        > "$out/$2.txt" 2>&1 || code=$?
    printf '%s: exit code %s\n' "$2" "$code"
    cat "$out/$2.txt"
    taken "$box/tiers.json" "$work/site/$2.tiers.json" || code=2
    rm -rf "$box"
    case $code in
        0 | 1) return "$code" ;;
        *) return 2 ;; # also where it was killed, or isolating failed
    esac
}

seed=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
status=0
boxed "$work/site"
for file; do
    name=$(basename "$file")
    code=0
    if [ "${SHARE:-0.1}" != 0 ]; then
        verified "$file" "$name" || code=$?
    elif [ -f "$file.tiers.json" ]; then
        cat "$file.tiers.json" > "$work/site/$name.tiers.json"
    fi
    if [ -f "$work/site/$name.tiers.json" ]; then
        cat "$work/site/$name.tiers.json" > "$out/$name.tiers.json"
        cat "$file" > "$work/site/$name"
    fi
    if [ "$code" = 1 ] || [ "$status" = 0 ]; then status=$code; fi
done

# What cannot be read is in no site; what did not come out again is in it as withdrawn.
set -- "$work"/site/*.zip
if [ ! -e "$1" ]; then
    exit 2
fi
for file; do
    shift
    set -- "$@" "./$(basename "$file")"
done
isolated "$work/site" orthobench atlas "$@" --out site > "$out/site.txt" 2>&1 || {
    cat "$out/site.txt"
    exit 2
}
if [ -n "$(find "$work/site/site" ! -type f ! -type d)" ]; then
    echo "atlas.sh: the site has more than files" >&2
    exit 2
fi
rm -rf "$out/site"
cp -R "$work/site/site" "$out/site" || exit 2
exit "$status"
