# The collector and the sandbox in one image. The embedded ClickHouse (540 MB) is left out: containers have a ClickHouse of their own.
FROM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY console ./console
RUN node console/build-page.ts dist/page
RUN npm prune --omit=dev --no-audit --no-fund && rm -rf node_modules/chdb node_modules/@chdb

FROM node:24.21.0-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist/page ./dist/page
COPY --from=build /app/console/server ./console/server
COPY package.json LICENSE ./
COPY schemas ./schemas
COPY collector ./collector
COPY store ./store
COPY alerts ./alerts
COPY jobs ./jobs
COPY operate ./operate
COPY cli ./cli
COPY sandbox ./sandbox
COPY dashboards/out ./dashboards/out
USER node
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.GATEWATCH_HTTP_PORT ?? 8080}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=8"]
CMD ["cli/main.ts", "run"]
