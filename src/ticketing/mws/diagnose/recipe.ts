import type { MistakeName } from './mistakes.ts'

/** A keyed hash; `bytes` is the length of its output. */
export interface Digest {
  readonly bytes: number
  readonly compute: (key: string | Buffer, text: string) => Buffer
}

/** One way to sign, part by part. The digest covers the parts from method to end, joined. */
export interface Signing {
  readonly method: string
  readonly space: string
  readonly path: string
  readonly newline: string
  readonly date: string
  readonly end: string
  readonly key: string | Buffer
  readonly digest: Digest
  /** The digest decoded from the header, so that trying an encoding computes no digest; null if unreadable. */
  readonly received: Buffer | null
}

/** A call with a wrong signature. */
export interface Evidence {
  readonly method: string
  /** The path as sent or percent-decoded; both are right. */
  readonly path: string
  /** With the question mark; empty without a query. */
  readonly query: string
  readonly host: string | undefined
  /** The mount paths of the endpoints, from MTP_PATH_PREFIXES. */
  readonly mounts: readonly string[]
  readonly date: string
  readonly clientId: string
  readonly partnerId: string
  readonly secret: string
  readonly signature: string
}

/** A mistake in one part of a Signing, and the wrong values that it may give the part. */
interface RecipeOf<Part extends keyof Signing> {
  readonly name: MistakeName
  readonly part: Part
  readonly how: (evidence: Evidence) => readonly Signing[Part][]
}

export type Recipe = { readonly [Part in keyof Signing]: RecipeOf<Part> }[keyof Signing]

export const mistakesIn = <Part extends keyof Signing>(
  part: Part,
  mistakes: { readonly [Name in MistakeName]?: RecipeOf<Part>['how'] },
): readonly RecipeOf<Part>[] =>
  Object.entries(mistakes).map(([name, how]) => ({ name: name as MistakeName, part, how }))
