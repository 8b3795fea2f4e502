import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, fromEpochMilliseconds } from '../../platform/lib/clock.ts'
import { openSealedText, sealedText } from '../../platform/lib/crypto/carried-text.ts'
import { hmacSha256, sha256 } from '../../platform/lib/crypto/digest.ts'

/**
 * The way of one browser to the provider and back. What the browser takes along is `state`: the way itself, encrypted for
 * this browser, so that whoever begins any number of them leaves nothing behind. Its cookie, one for all its tabs, says which
 * browser that is. Nonce and PKCE verifier are made of both, so they are kept nowhere.
 */

/** How long a person may take, seconds. */
export const FLOW_S = 1_800
/** With it the provider's address, and ours that the browser comes back to, are no longer than servers take. */
const LONGEST_STATE = 6_000

export interface Flow {
  /** A path of ours, or for a sign-out the address of the client that asked. */
  readonly goOn: string
  /** Which app has asked, as the sign-in page is told. */
  readonly app: string
  /** Seconds; null where the person may have signed in at any time. */
  readonly maxAge: number | null
  readonly beganAt: Date
}

type FlowPurpose = 'sign-in' | 'sign-out'

/** What goes with the browser, and what only it can make. */
export interface FlowProof {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** The value of a browser's cookie. */
export const newBrowserMark = (): string => randomBytes(32).toString('base64url')

const made = (mark: string, of: string, state: string): string =>
  hmacSha256(Buffer.from(mark), `${of}\n${state}`).toString('base64url')

const proofOf = (mark: string, state: string): FlowProof => ({
  state,
  nonce: made(mark, 'nonce', state),
  verifier: made(mark, 'verifier', state),
})

const carried = z.object({ goOn: z.string(), app: z.string(), maxAge: z.number().nullable(), at: z.number() })

const sealedFor = (purpose: FlowPurpose, mark: string): string => `${purpose} at the provider\n${mark}`

/** Undefined where the way back is too long to be taken along. */
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

interface OpenedFlow {
  readonly flow: Flow
  readonly proof: FlowProof
  /** By which its first answer is noted. */
  readonly hash: Buffer
  readonly expiresAt: Date
}

/** The flow that this browser began; undefined for any other, and for one that is over. */
export function openFlow(
  { keys, clock }: Pick<Deps, 'keys' | 'clock'>,
  purpose: FlowPurpose,
  mark: string | undefined,
  state: string | undefined,
): OpenedFlow | undefined {
  if (!mark || !state) return undefined
  const found = openSealedText(keys, sealedFor(purpose, mark), carried, state)
  if (!found) return undefined
  const { at, ...flow } = found
  const beganAt = fromEpochMilliseconds(at)
  const expiresAt = addSeconds(beganAt, FLOW_S)
  if (expiresAt <= clock.now()) return undefined
  return { flow: { ...flow, beganAt }, proof: proofOf(mark, state), hash: sha256(state), expiresAt }
}
