import { MOUNT } from '../../../platform/config/mounts.ts'
import { PATH } from '../../mws-wire/index.ts'
import { type Evidence, mistakesIn } from './recipe.ts'

/** Splits `/rhone/mtp/api/…` into prefix and endpoint; undefined for any other path. */
function split({ path, mounts }: Evidence): { mount: string; tail: string } | undefined {
  const mount = mounts.find((candidate) => path.startsWith(`${candidate}/`))
  return mount === undefined ? undefined : { mount, tail: path.slice(mount.length) }
}

function fullUrls({ host, path, query }: Evidence): string[] {
  if (host === undefined) return []
  const hosts = [...new Set([host, host.replace(/:\d+$/, '')])]
  const origins = hosts.flatMap((name) => [`https://${name}`, `http://${name}`])
  return [...hosts.map((name) => name + path), ...origins.flatMap((origin) => [origin + path, origin + path + query])]
}

/** Other environments, and the older interface's `/lv/` instead of `/mtp/api/`, which some partners still use. */
function otherEnvironments(evidence: Evidence): string[] {
  const { path, mounts } = evidence
  const tail = split(evidence)?.tail
  if (tail === undefined) return []
  const older = mounts.filter((mount) => mount.endsWith(MOUNT)).map((mount) => `${mount.slice(0, -MOUNT.length)}/lv`)
  return [...mounts, ...older].map((mount) => mount + tail).filter((other) => other !== path)
}

function otherEndpoints(evidence: Evidence): string[] {
  const mount = split(evidence)?.mount
  if (mount === undefined) return []
  return Object.values(PATH)
    .map((tail) => mount + tail)
    .filter((other) => other !== evidence.path)
}

export const pathRecipes = mistakesIn('path', {
  'full-url-signed': fullUrls,
  'query-signed': ({ path, query }) => [path + query, `${path}?`],
  'path-of-another-environment': otherEnvironments,
  'path-of-another-endpoint': otherEndpoints,
  'path-slash': ({ path }) => [path.slice(1), `${path}/`, path.replace(/\/$/, ''), `/${path}`],
  'path-encoded': ({ path }) => {
    const encoded = encodeURIComponent(path)
    return [encoded, encoded.replaceAll('%2F', '%2f')]
  },
})
