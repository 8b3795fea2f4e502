// Run after any `npm install` that changed package-lock.json:  node .ci/complete-lockfile.mjs
//
// Some registry mirrors carry only the Linux builds of packages with one binary per platform. npm then leaves the other
// platforms out of the lock file, and `npm ci` rejects such a file. This adds an entry (without download or integrity)
// for each platform package that a dependency names but the lock file lacks.
import { readFileSync, writeFileSync } from 'node:fs'

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const systems = { win32: 'win32', windows: 'win32' }
const processors = {
  armeabi: 'arm',
  'arm-eabi': 'arm',
  'arm-gnueabihf': 'arm',
  'arm-musleabihf': 'arm',
  universal: undefined,
}

for (const entry of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`
    if (lock.packages[path]) continue
    const found = /(android|darwin|freebsd|linux|openharmony|openbsd|netbsd|sunos|aix|win32|wasm32)-?([a-z0-9]*)/.exec(
      name,
    )
    if (!found) continue
    const [, system, processor] = found
    const tail = name.slice(name.indexOf(system) + system.length + 1)
    const cpu = processors[tail] ?? processors[processor] ?? processor
    lock.packages[path] = {
      version,
      ...(cpu ? { cpu: [cpu] } : {}),
      ...(entry.dev ? { dev: true } : {}),
      ...(system === 'linux' ? { libc: [tail.includes('musl') ? 'musl' : 'glibc'] } : {}),
      optional: true,
      os: [systems[system] ?? system],
    }
    process.stdout.write(`added ${name}@${version}\n`)
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
