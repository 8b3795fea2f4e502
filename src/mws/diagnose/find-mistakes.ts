import { timingSafeEqual } from 'node:crypto'
import { dateRecipes } from './date-recipes.ts'
import { digestRecipes, rightDigest } from './digest-recipes.ts'
import { encodingRecipes, fromBase64 } from './encoding-recipes.ts'
import { keyRecipes } from './key-recipes.ts'
import { pathRecipes } from './path-recipes.ts'
import type { Evidence, Recipe, Signing } from './recipe.ts'
import { textRecipes } from './text-recipes.ts'

/** Every known signing mistake, likelier ones first: if two explain a signature, the first is named. */
export const RECIPES: readonly Recipe[] = [
  ...textRecipes,
  ...pathRecipes,
  ...encodingRecipes,
  ...digestRecipes,
  ...keyRecipes,
  ...dateRecipes,
]

interface Departure {
  readonly recipe: Recipe
  readonly value: Signing[keyof Signing]
}

const rightly = ({ method, path, date, secret, signature }: Evidence): Signing => ({
  method,
  space: ' ',
  path,
  newline: '\n',
  date,
  end: '',
  key: secret,
  digest: rightDigest,
  received: fromBase64(signature),
})

export const signedText = ({ method, space, path, newline, date, end }: Signing): string =>
  method + space + path + newline + date + end

/** Lengths first: most digests of another kind are ruled out before they are computed. */
function fits(signing: Signing): boolean {
  const { received, digest, key } = signing
  if (received === null || received.length !== digest.bytes) return false
  return timingSafeEqual(digest.compute(key, signedText(signing)), received)
}

function departuresFrom(right: Signing, evidence: Evidence, recipes: readonly Recipe[]): Departure[] {
  return recipes.flatMap((recipe) =>
    [...new Set<Signing[keyof Signing]>(recipe.how(evidence))]
      .filter((value) => value !== right[recipe.part])
      .map((value) => ({ recipe, value })),
  )
}

const depart = (signing: Signing, { recipe, value }: Departure): Signing => ({ ...signing, [recipe.part]: value })

/** How a call was signed, and the recipes that explain it: none, one, or two of different parts. */
export interface ExplainedSignature {
  readonly recipes: readonly Recipe[]
  readonly signing: Signing
}

/** Recomputes the signature under every recipe, then under every pair; null when nothing explains it. */
export function explainSignature(evidence: Evidence, recipes: readonly Recipe[] = RECIPES): ExplainedSignature | null {
  const right = rightly(evidence)
  if (fits(right)) return { recipes: [], signing: right }
  const departures = departuresFrom(right, evidence, recipes)
  for (const departure of departures) {
    const signing = depart(right, departure)
    if (fits(signing)) return { recipes: [departure.recipe], signing }
  }
  for (const [index, first] of departures.entries()) {
    const once = depart(right, first)
    for (const second of departures.slice(index + 1)) {
      if (second.recipe.part === first.recipe.part) continue
      const signing = depart(once, second)
      if (fits(signing)) return { recipes: [first.recipe, second.recipe], signing }
    }
  }
  return null
}

/** Whether only the holder of the secret could have signed the call in this way: another secret does not explain it. */
export const needsSecret = (evidence: Evidence, { recipes }: ExplainedSignature): boolean =>
  explainSignature({ ...evidence, secret: `not ${evidence.secret.length} characters` }, recipes) === null
