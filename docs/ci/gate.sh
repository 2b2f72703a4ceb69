#!/bin/sh
# Is this branch worse, does it take more work, is it slower than where it left its target?
#
# Copy this into a project with solvers for orthobench, and call it in a clone of the project:
#
#     SUITE=my-suite sh gate.sh
#
# Exit code 0: no regression; 1: a regression; 2: no comparison was possible. Everything is in
# gate/: comparison.txt, comparison.md (for a comment, which a script finds again by its first line,
# an invisible marker), comparison.xml (JUnit). GitLab:
#
#     script: SUITE=my-suite sh gate.sh
#     artifacts: { when: always, paths: [gate/comparison.*], reports: { junit: gate/comparison.xml } }
#
# and Jenkins: sh 'SUITE=my-suite sh gate.sh', then junit 'gate/comparison.xml'. Both have to clone
# the history, not only the newest commit (GitLab: GIT_DEPTH: 0).
#
#   SUITE       which cells are compared: a suite of the plugin, or a file
#   TARGET      branch that the change goes into      [GitLab's or Jenkins' variable, else main]
#   BASE, HEAD  the revisions themselves              [where HEAD left origin/TARGET, HEAD]
#   ORTHOBENCH  what pip installs as orthobench: where the package index has none,
#               "orthobench @ git+https://HOST/OWNER/orthobench@v0.1.0", or a clone  [orthobench]
#   PYTHON      interpreter                           [python3]
#   OUT         folder for what this writes           [gate]
#
# Arguments are passed on: sh gate.sh --tolerance time=5% --budget 300.
#
# Copy it from the target, and run it where a stranger's change may do no harm: HEAD is code.
set -eu

target=${TARGET:-${CI_MERGE_REQUEST_TARGET_BRANCH_NAME:-${CHANGE_TARGET:-main}}}
head=${HEAD:-HEAD}
out=${OUT:-gate}
base=${BASE:-$(git merge-base "origin/$target" "$head")} || {
    echo "gate.sh: $head and origin/$target have no commit in common; fetch the whole history" >&2
    exit 2
}

work=$(mktemp -d) || exit 2
trap 'git worktree remove --force "$work/base" 2> "$work/log"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# First BASE, from the target, before anything of HEAD is run: its wheel is what HEAD is compared
# with, and brings the dependencies that both sides share.
project=$(git rev-parse --show-prefix)
git worktree add --quiet --force --detach "$work/base" "$base" || exit 2
"${PYTHON:-python3}" -m venv "$work/environment" || exit 2
python=$work/environment/bin/python
"$python" -m pip wheel --quiet --no-deps --wheel-dir "$work/wheel" "$work/base/$project" || exit 2
"$python" -m pip install --quiet "${ORTHOBENCH:-orthobench}" "$work"/wheel/*.whl || {
    echo "gate.sh: pip cannot install ${ORTHOBENCH:-orthobench}; ORTHOBENCH says where it is" >&2
    exit 2
}

# Then HEAD.
mkdir -p "$out" || exit 2
status=0
"$work/environment/bin/orthobench" compare "$work"/wheel/*.whl "$head" ${SUITE:+--suite "$SUITE"} \
    --markdown "$out/comparison.md" --junit "$out/comparison.xml" "$@" \
    > "$out/comparison.txt" || status=$?
cat "$out/comparison.txt"
exit "$status"
