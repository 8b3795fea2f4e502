import type { SandboxRefusal } from '../../certification/errors.ts'
import type { Translate } from '../../lib/web/locale.ts'

/** Texts of refusals that a page may be asked to show, by the address that a refused form leads to. */
const TEXTS = [
  'sandbox.refusal.no_run',
  'sandbox.refusal.run_over',
  'sandbox.refusal.not_current',
  'sandbox.refusal.not_passed',
  'sandbox.refusal.running',
  'sandbox.refusal.signature_first',
]

const PREFIX = 'sandbox.refusal.'

/** `refused=not_passed`: goes into the address of the page that is shown again. */
export const refusedQuery = ({ text }: SandboxRefusal): string => `refused=${text.slice(PREFIX.length)}`

/** What to tell the person; empty when the address names no refusal. */
export function refusalText(refused: string | undefined, t: Translate): string {
  const known = TEXTS.find((text) => text === PREFIX + refused)
  return known ? t(known) : ''
}
