# The images of both services, a stage each: `docker build --target admission .` and `--target controller`.
# Asks nothing of BuildKit, so the classic builder does, too, and has nothing of a processor in it: see deploy/compose/README.md.
#
#   PROFILE    what cargo builds: release, or quick for trials
#   PROGRAMS   a folder with programs that are built already: nothing is compiled. They must run on Debian 12
#   VERSION    goes into the labels, with REVISION

# As in rust-toolchain.toml, which is not copied: it also asks for tools that no build needs.
ARG RUST=1.95.0
# Without OpenSSL, which nothing of ours uses. What Rust needs beside it, libgcc, comes from the builder.
ARG BASE=gcr.io/distroless/base-nossl-debian12:nonroot

# Only what says which crates there are, so that the stage after it stays as it is while only our code changes.
FROM rust:${RUST}-slim-bookworm AS manifests
WORKDIR /source
COPY . .
RUN sh deploy/image/manifests.sh /manifests

FROM rust:${RUST}-slim-bookworm AS programs
WORKDIR /source
ARG PROFILE=release
ARG PROGRAMS=
# Everybody else's crates: a layer that is made anew only when a manifest or the lock file changes.
COPY --from=manifests /manifests .
RUN sh deploy/image/build.sh
COPY . .
RUN sh deploy/image/build.sh /programs

FROM ${BASE} AS admission
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="vestibule-admission" \
      org.opencontainers.image.description="Vestibule's admission: answers visitors and gateways" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="gcr.io/distroless/base-nossl-debian12:nonroot"
COPY --from=programs /programs/libgcc_s.so.1 /usr/lib/libgcc_s.so.1
COPY --from=programs /programs/vestibule-admission /usr/local/bin/vestibule-admission
# By number, as Kubernetes wants it to tell that it is not root. Nothing is written: the root may be read-only.
USER 65532:65532
EXPOSE 8080 9080
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 \
    CMD ["/usr/local/bin/vestibule-admission", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/vestibule-admission"]

FROM ${BASE} AS controller
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="vestibule-controller" \
      org.opencontainers.image.description="Vestibule's controller: moves the lines along, answers operators" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="gcr.io/distroless/base-nossl-debian12:nonroot"
COPY --from=programs /programs/libgcc_s.so.1 /usr/lib/libgcc_s.so.1
COPY --from=programs /programs/vestibule-controller /usr/local/bin/vestibule-controller
USER 65532:65532
EXPOSE 8081 9081
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 \
    CMD ["/usr/local/bin/vestibule-controller", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/vestibule-controller"]
