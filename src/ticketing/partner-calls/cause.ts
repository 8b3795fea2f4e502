import type { Deps } from '../../platform/deps.ts'

/**
 * Why a call to a partner was made; Traffic shows it.
 * - `notice`: the partner's notice of that kind made a pull due
 * - `schedule`: a job queries an order until it is decided, or repeats a message until it arrives
 * - `operator`: an operator made it with a command, in the console or over the admin API
 * - `step`: this step of the test run made it
 * - `playground`: somebody at the partner tried an order or a body there
 * - `replay`: somebody at the partner repeated the call with this id, in Traffic
 * - `new-secret`: tests whether the partner knows a new secret, before calls are signed with it
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
export const byOperator = ({ actor }: Pick<Deps, 'actor'>): CallCause => ({
  kind: 'operator',
  ref: actor?.by ?? 'api',
})

export const BY_PLAYGROUND: CallCause = { kind: 'playground', ref: null }
