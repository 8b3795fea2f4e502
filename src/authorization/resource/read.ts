import type { Deps } from '../../platform/deps.ts'
import type { Scope } from '../../platform/lib/scope.ts'
import { readParameters } from '../oauth/index.ts'
import type { AccessKind } from './access-ledger.ts'
import { type FoundAccessToken, readWithToken, verifyAccessToken } from './bearer.ts'
import { resourceFailure } from './failures.ts'
import { type PhoneResult, userInfoResult } from './wire.ts'

/** A4 and A5, each from its URL on. */

interface Read {
  readonly scope: Scope
  readonly resultOf: (found: FoundAccessToken) => object
}

export const READS: Readonly<Record<AccessKind, Read>> = {
  phone: { scope: 'PHONE_NUMBER', resultOf: phoneResult },
  profile: { scope: 'USER_INFO', resultOf: userInfoResult },
}

/** Not async: failures that need no database are thrown without a promise; a rejected one costs more than all the checks. */
export const readByUrl = (deps: Deps, url: string, { scope }: Read): Promise<FoundAccessToken> =>
  readWithToken(deps, verifyAccessToken(deps, readParameters(url)), scope)

/** For who wants to know what would come of a request: nothing is given away, so nobody's read is counted. */
export async function checkRead(deps: Deps, url: string, kind: AccessKind): Promise<void> {
  const read = READS[kind]
  read.resultOf(await readByUrl(deps, url, read))
}

function phoneResult({ phone_number }: FoundAccessToken): PhoneResult {
  if (phone_number === null) throw resourceFailure('no_phone_number')
  return { phone_number }
}
