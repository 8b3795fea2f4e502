import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { checkText, type RefusedRow, refusingCheckOf } from '../refusals/index.ts'
import type { showMicroApp } from '../registry/index.ts'
import { mendOf } from './failure-texts.ts'

type App = Pick<OutputOf<typeof showMicroApp>, 'redirect_uris' | 'hosts' | 'scopes'>

/** Beside what was sent, what is registered for the same parameter. */
function registered(name: string, { redirect_uris, hosts, scopes }: App): readonly string[] {
  if (name === 'redirect_uri') return redirect_uris.length > 0 ? redirect_uris : hosts
  return name === 'scope' ? scopes : []
}

/** Why a request was refused, or would be: which check, what was received beside what is registered, how to fix it. */
export function reasonOf(refused: RefusedRow, app: App | undefined, t: Translate) {
  const { endpoint, rescode, failure, received } = refused
  const found = refusingCheckOf(refused)
  return {
    endpoint,
    rescode,
    failure,
    row: found?.row ?? null,
    check: found ? checkText(found.check, t.locale) : null,
    compared: Object.entries(received ?? {}).map(([name, sent]) => ({
      name,
      sent,
      known: app ? registered(name, app) : [],
    })),
    mend: mendOf(refused, t),
  }
}
