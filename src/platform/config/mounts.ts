/**
 * MTP_PATH_PREFIXES. Each entry is a prefix in front of /mtp/api, such as `/rhone`, or says that a path stands for
 * another one: `/sandbox/api/dispatch=/mtp/api`, `/rhone-doc=/rhone`. Partners keep the paths that their programs have;
 * a signature covers the path as it was sent, so no proxy can rewrite it; of a path that stands for another one either is
 * taken.
 */

/** Where partners call, below a prefix. */
export const MOUNT = '/mtp/api'

// `:` and `*` would be a pattern to the router, which nothing that is signed as it was sent can match.
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

/** The prefix before `/mtp/api` in a mount, all of which is for partners' programs; undefined if there is none. */
export const prefixOf = (mount: string): string | undefined =>
  mount.endsWith(MOUNT) && mount !== MOUNT ? mount.slice(0, -MOUNT.length) : undefined

/** An endpoint such as `/mtp/api/order/pay/notice` with another mount in place of MOUNT. */
export const endpointAt = (mount: string, endpoint: string): string => mount + endpoint.slice(MOUNT.length)

/**
 * The one spelling of a path in a request line: a prefix that is not ASCII is percent-encoded there, and nothing else
 * is. The router would accept `/consum%65/notice` too, and a signature over one path would be valid for many.
 */
export const spelled = (path: string): string => new URL(path, 'http://host').pathname

/** An endpoint's paths, below each of MTP_PATH_PREFIXES. */
export const spellings = (prefixes: readonly string[], tail: string): string[] =>
  mountsOf(prefixes).map((mount) => spelled(mount + tail))

/** Whether a path as sent is for partners' programs alone: below a mount, or below a prefix. */
export function isForPartners(prefixes: readonly string[]): (path: string) => boolean {
  const own = mountsOf(prefixes).flatMap((mount) => [mount, prefixOf(mount) ?? mount])
  const below = [...new Set(own)].map((path) => `${spelled(path)}/`)
  return (path) => below.some((start) => `${path}/`.startsWith(start))
}

/**
 * The path that this one stands for, such as `/mtp/api/x` for `/dispatch/x`; undefined for all but mapped paths. A
 * mapping that only takes a beginning away is a prefix, and nobody may sign a path without its prefix.
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

/** What is wrong with an entry; undefined for a right one. */
export function prefixProblem(entry: string, all: readonly string[]): string | undefined {
  const [path, standsFor] = pairOf(entry)
  if (entry.split('=').length > 2 || !PATH.test(path) || !PATH.test(standsFor)) {
    return `has "${entry.slice(0, 80)}": write a prefix such as /rhone, or a path and the path that it replaces, such as /dispatch=/mtp/api`
  }
  if (entry.startsWith('=')) return `has "${entry.slice(0, 80)}", which has no path before the =`
  // Each answers unknown paths below it by itself, and only one can do that for a path.
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
