import type { Deps } from '../../platform/deps.ts'

/**
 * Why a call to a partner was made; Traffic shows it.
 * - `notice`: the partner's notice of that kind made a pull due
 * - `schedule`: a job asks or tells again, until an order is decided or a message has arrived
 * - `operator`: with a command, on a page of the console or over the admin API
 * - `step`: this step of the test run
 * - `playground`: somebody of the partner tried an order or a body there
 * - `replay`: somebody of the partner made the call with this id again, in Traffic
 * - `new-secret`: whether a new secret is known to the partner, before calls are signed with it
 */
export type CallCause =
  | { readonly kind: 'notice'; readonly ref: string }
  | { readonly kind: 'schedule'; readonly ref: string }
  | { readonly kind: 'operator'; readonly ref: 'command' | 'console' | 'api' }
  | { readonly kind: 'step'; readonly ref: string }
  | { readonly kind: 'playground'; readonly ref: null }
  | { readonly kind: 'replay'; readonly ref: string }
  | { readonly kind: 'new-secret'; readonly ref: null }

export const CALL_CAUSES = [
  'notice',
  'schedule',
  'operator',
  'step',
  'playground',
  'replay',
  'new-secret',
] as const satisfies readonly CallCause['kind'][]

export const BY_COMMAND: CallCause = { kind: 'operator', ref: 'command' }
export const BY_CONSOLE: CallCause = { kind: 'operator', ref: 'console' }
/** An operator asks for it, by the surface that Deps names. */
export const byOperator = ({ actor }: Pick<Deps, 'actor'>): CallCause => ({
  kind: 'operator',
  ref: actor?.by ?? 'api',
})

export const BY_PLAYGROUND: CallCause = { kind: 'playground', ref: null }
