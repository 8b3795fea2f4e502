/**
 * MTP_PATH_PREFIXES. Each entry is a prefix of /mtp/api, such as `/rhone`, or an alias:
 * `/sandbox/api/dispatch=/mtp/api`, `/rhone-doc=/rhone`. Partners keep the paths that their programs use: a signature
 * covers the path as sent, so no proxy can rewrite it. Under an alias, a signature over either path is accepted.
 */

/** Where partners call, below a prefix. */
export const MOUNT = '/mtp/api'

// `:` and `*` are patterns to the router, and a signed path must match literally.
const PATH = /^(\/[^\s/?#%:*]+)*$/

const pairOf = (entry: string): [path: string, standsFor: string] => {
  const [path = '', standsFor = path] = entry.split('=')
  return [path, standsFor]
}

const mountOf = (entry: string): string => {
  const [path, standsFor] = pairOf(entry)
  return standsFor.endsWith(MOUNT) ? path : path + MOUNT
}

/** The paths below which the endpoints of area B are, `/mtp/api` among them. */
export const mountsOf = (prefixes: readonly string[]): string[] => [...new Set(prefixes.map(mountOf))]

/** What precedes `/mtp/api` in a mount, reserved for partners' programs; undefined if nothing does. */
export const prefixOf = (mount: string): string | undefined =>
  mount.endsWith(MOUNT) && mount !== MOUNT ? mount.slice(0, -MOUNT.length) : undefined

/** An endpoint such as `/mtp/api/order/pay/notice` with another mount in place of MOUNT. */
export const endpointAt = (mount: string, endpoint: string): string => mount + endpoint.slice(MOUNT.length)

/**
 * The one spelling of a path that is accepted in a request line: only non-ASCII prefixes are percent-encoded. The
 * router alone would also accept `/consum%65/notice`, and a signature over one path would be valid for many.
 */
export const spelled = (path: string): string => new URL(path, 'http://host').pathname

/** All paths of an endpoint, one per mount. */
export const spellings = (prefixes: readonly string[], tail: string): string[] =>
  mountsOf(prefixes).map((mount) => spelled(mount + tail))

/** Whether a path as sent is reserved for partners' programs: below a mount or a prefix. */
export function isForPartners(prefixes: readonly string[]): (path: string) => boolean {
  const own = mountsOf(prefixes).flatMap((mount) => [mount, prefixOf(mount) ?? mount])
  const below = [...new Set(own)].map((path) => `${spelled(path)}/`)
  return (path) => below.some((start) => `${path}/`.startsWith(start))
}

/**
 * The path that an alias stands for, such as `/mtp/api/x` for `/dispatch/x`; undefined for all other paths. A mapping
 * that only strips the start of a path is a prefix, and a path must not be signed without its prefix.
 */
export function pathMeant(prefixes: readonly string[], path: string): string | undefined {
  const [nearest] = prefixes
    .filter((entry) => entry.includes('='))
    .map((entry) => pairOf(entry).map(spelledBeginning) as [string, string])
    .filter(([from, to]) => path.startsWith(`${from}/`) && !from.endsWith(to))
    .sort(([one], [other]) => other.length - one.length)
  return nearest && nearest[1] + path.slice(nearest[0].length)
}

const spelledBeginning = (path: string): string => (path === '' ? '' : spelled(path))

/** What is wrong with an entry; undefined for a valid one. */
export function prefixProblem(entry: string, all: readonly string[]): string | undefined {
  const [path, standsFor] = pairOf(entry)
  if (entry.split('=').length > 2 || !PATH.test(path) || !PATH.test(standsFor)) {
    return `has "${entry.slice(0, 80)}": write a prefix such as /rhone, or a path and the path that it replaces, such as /dispatch=/mtp/api`
  }
  if (entry.startsWith('=')) return `has "${entry.slice(0, 80)}", which has no path before the =`
  // Each mount has its own not-found handler, and a path can have only one.
  const mount = mountOf(entry)
  if (mountsOf(all).some((other) => prefixOf(other) === mount)) {
    return `has "${entry.slice(0, 80)}", and ${mount} is also a prefix`
  }
  if (path === standsFor) return undefined
  const known = mountsOf(['', ...all.filter((one) => !one.includes('='))])
  const meant = standsFor.endsWith(MOUNT) ? standsFor : standsFor + MOUNT
  return known.includes(meant)
    ? undefined
    : `has "${entry.slice(0, 80)}", and ${standsFor} is neither ${MOUNT} nor a prefix`
}
