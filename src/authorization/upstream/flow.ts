import { randomBytes } from 'node:crypto'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { hmacSha256, sha256 } from '../../platform/lib/crypto/digest.ts'
import { deleteFlow, type Flow, type FlowPurpose, insertFlow } from './flow-store.ts'

/**
 * The way of one browser to the provider and back. What the browser takes along is `state`, which works once; its cookie, one
 * for all its tabs, says which browser that was. Nonce and PKCE verifier are made of both, so they are kept nowhere.
 */

/** How long a person may take, seconds. */
export const FLOW_S = 1_800

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

export async function beginFlow(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  purpose: FlowPurpose,
  mark: string,
  flow: Omit<Flow, 'beganAt'>,
): Promise<FlowProof> {
  const beganAt = clock.now()
  const proof = proofOf(mark, newBrowserMark())
  const hashes = { flowHash: sha256(proof.state), browserHash: sha256(mark) }
  await insertFlow(db, { ...flow, ...hashes, purpose, beganAt, expiresAt: addSeconds(beganAt, FLOW_S) })
  return proof
}

/** The flow of this browser, which ends with that; undefined for any other. */
export async function endFlow(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  purpose: FlowPurpose,
  mark: string | undefined,
  state: string | undefined,
): Promise<{ readonly flow: Flow; readonly proof: FlowProof } | undefined> {
  if (mark === undefined || state === undefined) return undefined
  const hashes = { flowHash: sha256(state), browserHash: sha256(mark) }
  const flow = await deleteFlow(db, { ...hashes, purpose }, clock.now())
  return flow && { flow, proof: proofOf(mark, state) }
}
