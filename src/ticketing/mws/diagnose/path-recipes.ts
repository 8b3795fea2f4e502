import { MOUNT } from '../../../platform/config/mounts.ts'
import { PATH } from '../../mws-wire/index.ts'
import { type Evidence, mistakesIn, type SigningMistake } from './recipe.ts'

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

/** Also occurs in calls of live partners, which are accepted with a warning. */
export const QUERY_SIGNED: SigningMistake = {
  name: 'query-signed',
  explanation: 'The query was signed; sign only the path.',
}

export const pathRecipes = mistakesIn('path', [
  {
    name: 'full-url-signed',
    explanation: 'The whole URL was signed; sign only its path, without scheme, host and query.',
    how: fullUrls,
  },
  {
    ...QUERY_SIGNED,
    how: ({ path, query }) => [path + query, `${path}?`],
  },
  {
    name: 'path-of-another-environment',
    explanation: 'The path of another environment was signed; sign the path that you call, with its prefix.',
    how: otherEnvironments,
  },
  {
    name: 'path-of-another-endpoint',
    explanation: 'The path of another endpoint was signed; sign the path that you call.',
    how: otherEndpoints,
  },
  {
    name: 'path-slash',
    explanation: 'The path was signed with a missing or extra slash; sign it exactly as it is sent.',
    how: ({ path }) => [path.slice(1), `${path}/`, path.replace(/\/$/, ''), `/${path}`],
  },
  {
    name: 'path-encoded',
    explanation: 'The path was signed percent-encoded, its slashes as %2F; sign it exactly as it is sent.',
    how: ({ path }) => {
      const encoded = encodeURIComponent(path)
      return [encoded, encoded.replaceAll('%2F', '%2f')]
    },
  },
])
