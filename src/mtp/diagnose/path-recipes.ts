import { ENDPOINTS } from '../endpoints.ts'
import type { Evidence, Recipe } from './recipe.ts'

/** Splits `/rhone/mtp/api/…` into the environment's prefix and the rest; null for a path that is not ours. */
function splitPrefix(path: string): { prefix: string; rest: string } | null {
  const at = path.indexOf('/mtp/api/')
  return at < 0 ? null : { prefix: path.slice(0, at), rest: path.slice(at) }
}

function fullUrls({ host, path, query }: Evidence): string[] {
  if (host === undefined) return []
  const hosts = [...new Set([host, host.replace(/:\d+$/, '')])]
  const origins = hosts.flatMap((name) => [`https://${name}`, `http://${name}`])
  return [...hosts.map((name) => name + path), ...origins.flatMap((origin) => [origin + path, origin + path + query])]
}

/** Other prefixes, and the older interface's `/lv/` in the place of `/mtp/api/`, which some partners still have. */
function otherEnvironments({ path, prefixes }: Evidence): string[] {
  const split = splitPrefix(path)
  if (split === null) return []
  const rests = [split.rest, split.rest.replace('/mtp/api/', '/lv/')]
  return prefixes.flatMap((prefix) => rests.map((rest) => prefix + rest)).filter((other) => other !== path)
}

function otherEndpoints({ path }: Evidence): string[] {
  const split = splitPrefix(path)
  return split === null ? [] : ENDPOINTS.map((rest) => split.prefix + rest).filter((other) => other !== path)
}

/** Mistakes in the path that was signed. */
export const pathRecipes: readonly Recipe[] = [
  {
    name: 'full-url-signed',
    part: 'path',
    explanation: 'The whole URL was signed; only its path is, without scheme, host and query.',
    how: fullUrls,
  },
  {
    name: 'query-signed',
    part: 'path',
    explanation: 'The query was signed; only the path is.',
    how: ({ path, query }) => [path + query, `${path}?`],
  },
  {
    name: 'path-of-another-environment',
    part: 'path',
    explanation: 'The path of another environment was signed; sign the path that you call, with its prefix.',
    how: otherEnvironments,
  },
  {
    name: 'path-of-another-endpoint',
    part: 'path',
    explanation: 'The path of another endpoint was signed; sign the path that you call.',
    how: otherEndpoints,
  },
  {
    name: 'path-slash',
    part: 'path',
    explanation: 'The path was signed with a slash too few or too many; sign it exactly as it is sent.',
    how: ({ path }) => [path.slice(1), `${path}/`, path.replace(/\/$/, ''), `/${path}`],
  },
]
