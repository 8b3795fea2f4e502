import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, fromEpochMilliseconds } from '../../platform/lib/clock.ts'
import { openSealedText, sealedText } from '../../platform/lib/crypto/carried-text.ts'
import { hmacSha256, sha256 } from '../../platform/lib/crypto/digest.ts'

/**
 * One browser's trip to the provider and back. `state` carries the whole flow, encrypted for this browser, so that starting
 * flows stores nothing here. A cookie, shared by all tabs, identifies the browser. Nonce and PKCE verifier are derived from
 * both, so they are not stored either.
 */

/** How long a person may take, seconds. */
export const FLOW_S = 1_800
/** Keeps the URLs of the provider and of our callback within what servers accept. */
const LONGEST_STATE = 6_000

export interface Flow {
  /** A path of ours, or for a sign-out the URL of the client that asked. */
  readonly goOn: string
  /** The app that asked, as passed to the sign-in page. */
  readonly app: string
  /** Seconds; null if the person may have signed in at any time. */
  readonly maxAge: number | null
  readonly beganAt: Date
}

type FlowPurpose = 'sign-in' | 'sign-out'

/** The `state` that the browser carries, and the values that only it can derive. */
export type FlowProof = Readonly<Record<'state' | 'nonce' | 'verifier', string>>

/** The value of a browser's cookie. */
export const newBrowserMark = (): string => randomBytes(32).toString('base64url')

const derive = (mark: string, purpose: string, state: string): string =>
  hmacSha256(Buffer.from(mark), `${purpose}\n${state}`).toString('base64url')

const proofOf = (mark: string, state: string): FlowProof => ({
  state,
  nonce: derive(mark, 'nonce', state),
  verifier: derive(mark, 'verifier', state),
})

const carried = z.object({ goOn: z.string(), app: z.string(), maxAge: z.number().nullable(), at: z.number() })

const sealedFor = (purpose: FlowPurpose, mark: string): string => `${purpose} at the provider\n${mark}`

/** Undefined if the flow is too long to be carried. */
export function beginFlow(
  { keys, clock }: Pick<Deps, 'keys' | 'clock'>,
  purpose: FlowPurpose,
  mark: string,
  flow: Omit<Flow, 'beganAt'>,
): FlowProof | undefined {
  const content: z.output<typeof carried> = { ...flow, at: clock.now().getTime() }
  const state = sealedText(keys, sealedFor(purpose, mark), content)
  return state.length > LONGEST_STATE ? undefined : proofOf(mark, state)
}

/**
 * The flow that this browser began; undefined for any other, and for one that is over. `hash` is recorded with the first
 * answer, so that it is used once.
 */
export function openFlow(
  { keys, clock }: Pick<Deps, 'keys' | 'clock'>,
  purpose: FlowPurpose,
  mark: string | undefined,
  state: string | undefined,
) {
  if (!mark || !state) return undefined
  const found = openSealedText(keys, sealedFor(purpose, mark), carried, state)
  if (!found) return undefined
  const { at, ...flow } = found
  const beganAt = fromEpochMilliseconds(at)
  const expiresAt = addSeconds(beganAt, FLOW_S)
  if (expiresAt <= clock.now()) return undefined
  return { flow: { ...flow, beganAt }, proof: proofOf(mark, state), hash: sha256(state), expiresAt }
}
