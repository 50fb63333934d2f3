# Everything there is to do here. Two of these are for everybody: `make run` and `make test`.

.PHONY: help run test images simulate fmt alerts lint docs deny bench openapi fuzz-api chaos helm helm-write

help: ## This list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/make \1|\2/' | \
		while IFS='|' read -r target what; do printf '%-16s %s\n' "$$target" "$$what"; done

run: ## A demo on this machine, until Ctrl-C
	@scripts/run.sh

test: ## Every test; gets Redis and Valkey if they are missing, and builds the previous release
	scripts/test.sh

images: ## Both services' images, vestibule-admission:local and vestibule-controller:local
	docker build --target admission --tag vestibule-admission:local --build-arg REVISION=$$(git rev-parse HEAD) .
	docker build --target controller --tag vestibule-controller:local --build-arg REVISION=$$(git rev-parse HEAD) .

simulate: ## A thousand nights of both services in virtual time, with faults, each by its seed
	cargo run --locked --release -p vestibule-crowd -- simulate --seeds 1000

chaos: ## A thousand faults, of every kind, on both services as real processes; most of an hour
	@scripts/chaos.sh

fmt: ## Whether everything is formatted
	cargo fmt --all --check

alerts: ## Whether each alarm fires when it should, and has a page; and whether the board is sound
	@scripts/alerts.sh

lint: ## Clippy, the direction of dependence between the crates, logs and links of the documents, no chance in the services
	scripts/check-layers.sh
	scripts/check-selects.sh
	scripts/check-logs.py
	scripts/check-links.py
	cargo clippy --locked --workspace --all-targets -- -D warnings

docs: ## Whether the documentation builds without a warning
	RUSTDOCFLAGS='-D warnings -A rustdoc::private-intra-doc-links' cargo doc --locked --workspace --no-deps --document-private-items

deny: ## Licences, sources and banned crates of the dependencies
	scripts/check-deps.sh

bench: ## Speed against a bare server, on this machine
	cargo run --locked --release -p vestibule-bench

openapi: ## Writes openapi/*.json anew from the code
	cargo run --locked --quiet -p vestibule-admission -- openapi > openapi/admission.json
	cargo run --locked --quiet -p vestibule-controller -- openapi > openapi/controller.json
	cargo run --locked --quiet -p vestibule-controller -- schema > openapi/config.schema.json

fuzz-api: ## Whether both services answer as openapi/*.json says, by made-up requests
	@scripts/fuzz-api.sh

helm: ## Whether the chart and the manifests for Kubernetes are as they must be; gets Helm
	@scripts/check-helm.sh

helm-write: ## Writes anew what is made from the chart: plain manifest, table of values, copies of rules
	@scripts/check-helm.sh --write
