/** A grant holds scopes of both dialects: `profile` implies USER_INFO, for A5. Each dialect answers with its own names. */

export const SCOPES = ['USER_INFO', 'PHONE_NUMBER'] as const

export type Scope = (typeof SCOPES)[number]

export const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text)

/** The standard dialect's scopes, each with the contract scope that it implies. */
export const STANDARD_SCOPES = {
  openid: undefined,
  profile: 'USER_INFO',
  phone: 'PHONE_NUMBER',
  offline_access: undefined,
} as const satisfies Readonly<Record<string, Scope | undefined>>

const STANDARD: readonly (readonly [name: string, contract: Scope | undefined])[] = Object.entries(STANDARD_SCOPES)

/** The key of its text; a standard scope that implies a contract one has the text of that. */
export const scopeTextKey = (scope: string): string =>
  `scope.${(STANDARD.find(([name]) => name === scope)?.[1] ?? scope).toLowerCase()}`

export function scopeTexts(scope: string, t: (key: string) => string) {
  const key = scopeTextKey(scope)
  return { title: t(key), detail: t(`${key}.detail`) }
}

/** Adds the contract scopes that standard ones among them imply. */
export const withContractScopes = (asked: readonly string[]): string[] => [
  ...new Set([
    ...asked,
    ...STANDARD.flatMap(([name, contract]) => (contract && asked.includes(name) ? [contract] : [])),
  ]),
]

/** Cache: by the app's scopes, of which there are few combinations; read for every refresh. */
const grantable = new Map<string, readonly string[]>()

/** All scopes that a grant may hold for an app with these contract scopes. */
export function grantableScopes(ofApp: readonly Scope[]): readonly string[] {
  const key = ofApp.join()
  const known = grantable.get(key)
  if (known) return known
  const all = [...ofApp, ...STANDARD.flatMap(([name, of]) => (of === undefined || ofApp.includes(of) ? [name] : []))]
  grantable.set(key, all)
  return all
}

export const contractNames = (granted: readonly string[]): string[] => granted.filter(isScope)

/** Names in the standard dialect: a contract scope is left out if a standard one implies it. */
export const standardNames = (granted: readonly string[]): string[] =>
  granted.filter((scope) => !STANDARD.some(([name, contract]) => contract === scope && granted.includes(name)))
