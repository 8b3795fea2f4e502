import { timingSafeEqual } from 'node:crypto'
import { ALONE, dateRecipes } from './date-recipes.ts'
import type { Evidence, Recipe, Signing } from './recipe.ts'
import {
  digestRecipes,
  encodingRecipes,
  fromCanonicalBase64,
  keyRecipes,
  pathRecipes,
  rightDigest,
  textRecipes,
} from './recipes.ts'

/** Every known signing mistake, likelier ones first: of two that explain a signature, the first is named. */
export const RECIPES: readonly Recipe[] = [
  ...textRecipes,
  ...pathRecipes,
  ...encodingRecipes,
  ...digestRecipes,
  ...keyRecipes,
  ...dateRecipes,
]

interface Deviation {
  readonly recipe: Recipe
  readonly value: Signing[keyof Signing]
}

const correctSigning = ({ method, path, date, secret, signature }: Evidence): Signing => ({
  method,
  space: ' ',
  path,
  newline: '\n',
  date,
  end: '',
  key: secret,
  digest: rightDigest,
  received: fromCanonicalBase64(signature),
})

export const signedText = ({ method, space, path, newline, date, end }: Signing): string =>
  method + space + path + newline + date + end

/** Compares lengths first, which rules out most other kinds of digest before they are computed. */
function matches(signing: Signing): boolean {
  const { received, digest, key } = signing
  if (received === null || received.length !== digest.bytes) return false
  return timingSafeEqual(digest.compute(key, signedText(signing)), received)
}

function deviationsFrom(right: Signing, evidence: Evidence, recipes: readonly Recipe[]): Deviation[] {
  return recipes.flatMap((recipe) =>
    [...new Set<Signing[keyof Signing]>(recipe.how(evidence))]
      .filter((value) => value !== right[recipe.part])
      .map((value) => ({ recipe, value })),
  )
}

const withDeviation = (signing: Signing, { recipe, value }: Deviation): Signing => ({
  ...signing,
  [recipe.part]: value,
})

/** How a call was signed, and the mistakes that explain it: none, one, or two in different parts. */
export interface ExplainedSignature {
  readonly recipes: readonly Recipe[]
  readonly signing: Signing
}

/** Recomputes the signature with every mistake, then with every pair; null if nothing explains it. */
export function explainSignature(evidence: Evidence, recipes: readonly Recipe[] = RECIPES): ExplainedSignature | null {
  const right = correctSigning(evidence)
  if (matches(right)) return { recipes: [], signing: right }
  const deviations = deviationsFrom(right, evidence, recipes)
  for (const deviation of deviations) {
    const signing = withDeviation(right, deviation)
    if (matches(signing)) return { recipes: [deviation.recipe], signing }
  }
  const combined = deviations.filter(({ recipe }) => recipe.name !== ALONE)
  for (const [index, first] of combined.entries()) {
    const once = withDeviation(right, first)
    for (const second of combined.slice(index + 1)) {
      if (second.recipe.part === first.recipe.part) continue
      const signing = withDeviation(once, second)
      if (matches(signing)) return { recipes: [first.recipe, second.recipe], signing }
    }
  }
  return null
}

/** Whether only a holder of the secret could have signed like this: with another secret nothing explains it. */
export const needsSecret = (evidence: Evidence, { recipes }: ExplainedSignature): boolean =>
  explainSignature({ ...evidence, secret: `not ${evidence.secret.length} characters` }, recipes) === null
