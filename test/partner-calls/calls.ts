import * as calls from '../../src/ticketing/partner-calls/call-partner.ts'
import { BY_COMMAND, type CallOptions } from '../../src/ticketing/partner-calls/index.ts'

/** Calls with the cause of an operator's command, unless a test gives another one. */

type Options = Partial<CallOptions>
type Given<Call extends (...args: never) => unknown> =
  Parameters<Call> extends [infer Deps, infer Partner, ...unknown[]] ? [Deps, Partner] : never

export const callPartner = <Name extends Parameters<typeof calls.callPartner>[2]>(
  ...[deps, partner, name, body, options]: [
    ...Given<typeof calls.callPartner>,
    Name,
    calls.RequestOf<Name>,
    options?: Options,
  ]
) => calls.callPartner(deps, partner, name, body, { cause: BY_COMMAND, ...options })

export const callAsWritten = (
  ...[deps, partner, name, text, options]: [
    ...Given<typeof calls.callAsWritten>,
    Parameters<typeof calls.callAsWritten>[2],
    string,
    options?: Options,
  ]
) => calls.callAsWritten(deps, partner, name, text, { cause: BY_COMMAND, ...options })
