#!/usr/bin/env bash
# Builds the wheel and the source distribution of the last commit twice, in two folders, and fails
# unless they are equal to the byte; then writes a bill of materials, check sums, a conda recipe and
# the entry for r-universe.
# Usage: .ci/dist.sh PYTHON, from the root of the sources.
set -euo pipefail
umask 022
python=$1
epoch=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH=$epoch
tools=build/release-tools  # builds and describes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -z "$(git status --porcelain)" ] ||
    echo "what is built is the last commit, without the changes that are not committed" >&2
[ -x "$tools/bin/cyclonedx-py" ] && "$tools/bin/python" -c "import rattler_build" 2>/dev/null || {
    "$python" -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check \
        'build>=1.2' 'cyclonedx-bom>=7' 'py-rattler-build>=0.70'
}

# setuptools writes the present time into source distributions, so they are packed anew.
repack() {
    local name
    name=$(basename "$1" .tar.gz)
    tar -xzf "$1" -C "$2"
    tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
        --format=ustar -cf - -C "$2" "$name" | gzip -9 -n >"$1"
}

for run in one two; do
    mkdir -p "$work/$run/source" "$work/$run/unpacked"
    git archive HEAD | tar -x -C "$work/$run/source"
    "$tools/bin/python" -m build --outdir "$work/$run/dist" "$work/$run/source" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
    repack "$work/$run/dist/"*.tar.gz "$work/$run/unpacked"
done
diff -r "$work/one/dist" "$work/two/dist" || { echo "the two builds differ" >&2; exit 1; }

rm -rf dist build/release
mkdir -p dist build/release
cp "$work/one/dist/"* dist/
"$python" -m venv "$work/installed"
"$work/installed/bin/python" -m pip install --quiet --disable-pip-version-check dist/*.whl
"$work/installed/bin/python" -m pip uninstall --quiet --yes pip setuptools
name=$(basename dist/*.tar.gz .tar.gz)
"$tools/bin/cyclonedx-py" environment --pyproject pyproject.toml --mc-type library \
    --output-reproducible --output-file "build/release/$name.cdx.json" "$work/installed/bin/python"
(cd dist && sha256sum -- *) >build/release/SHA256SUMS

sum=$(sed -n 's/ .*\.tar\.gz$//p' build/release/SHA256SUMS)
sed "s|@VERSION@|${name#dpstats-}|; s|@SHA256@|$sum|" .ci/recipe.yaml >build/release/recipe.yaml
# as conda-forge's program reads it, which is installed without conda's packages here
"$tools/bin/python" - build/release/recipe.yaml "${name#dpstats-}" <<'EOF'
import sys
from rattler_build import RenderConfig, Stage0Recipe, VariantConfig

(rendered,) = Stage0Recipe.from_file(sys.argv[1]).render(VariantConfig(), RenderConfig())
assert str(rendered.recipe.package.version) == sys.argv[2], "the recipe has another version"
EOF
if repository=$(git remote get-url origin 2>/dev/null); then
    sed "s|@REPOSITORY@|$repository|" .ci/packages.json >build/release/packages.json
else
    echo "packages.json was left out: this repository has no remote named origin"
fi

echo "dist has the wheel and the source distribution, equal in two builds; build/release has the"
echo "bill of materials ($name.cdx.json), recipe.yaml for conda-forge and SHA256SUMS:"
cat build/release/SHA256SUMS
