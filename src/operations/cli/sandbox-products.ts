/** What was typed as products of a run: `DEMO-OPEN`, `later=DEMO-CASTLE`, or several with commas between. */

const ROLES = ['main', 'later', 'review', 'level', 'sold_out']

export interface TypedProducts {
  readonly products: Readonly<Record<string, string>>
  /** What could be understood in two ways, or not at all. */
  readonly problems: readonly string[]
}

export function readProducts(typed: readonly string[]): TypedProducts {
  const products = new Map<string, string>()
  const problems: string[] = []
  for (const part of typed.flatMap((text) => text.split(',')).map((text) => text.trim())) {
    const [, named, given] = /^([^=]*)=(.*)$/s.exec(part) ?? []
    const role = named === undefined ? 'main' : named.trim().replace('-', '_')
    const id = (given ?? part).trim()
    if (!ROLES.includes(role)) {
      problems.push(`"${part}" must begin with ${ROLES.join('=, ')}=; an id with "=" is written main=${part}`)
    } else if (id === '') {
      problems.push(`"${part}" names no product`)
    } else if (products.has(role)) {
      problems.push(`"${part}" would be a second ${role} product; commas separate products, so no id has one here`)
    } else {
      products.set(role, id)
    }
  }
  return { products: Object.fromEntries(products), problems }
}
