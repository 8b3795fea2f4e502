import { FACTORS, type UserKey } from '../../account/index.ts'
import { parseInput } from '../../lib/json/input.ts'
import type { Action, Cell, PageContext } from '../page-model.ts'
import { count, text, time } from '../texts.ts'
import { keyOf, pageOf, personOf } from './people.ts'

/** The second factor of one person. */

const { show: showFactors, remove: removeFactors } = FACTORS

const REMOVE = 'POST /users/remove-factors'

export const factorLinks = (key: UserKey, { t }: PageContext) => [
  { operation: REMOVE, href: pageOf(key, 'remove-factors'), text: t('console.users.remove_factors') },
]

/** What a person has besides the password, in words. */
export async function factorsInWords({ deps, t }: PageContext, key: UserKey): Promise<Cell[]> {
  const { totp_since, recovery_codes, passkeys } = await showFactors(deps, key)
  const ofKeys = text(t('console.users.passkeys', { count: count(passkeys) }))
  if (totp_since === null) return [text(t('console.users.no_factors')), ofKeys]
  return [
    text(t('console.users.authenticator_since')),
    time(totp_since),
    text(t('console.users.recovery_codes', { count: count(recovery_codes) })),
    ofKeys,
  ]
}

export const removeFactorsAction: Action = {
  path: '/users/remove-factors',
  operation: REMOVE,
  title: 'console.users.remove_factors',
  back: (context) => pageOf(keyOf(context)),
  confirm: async (context) => {
    const { t } = context
    const key = keyOf(context)
    return {
      says: [t('console.users.remove_factors_says', { person: personOf(key) })],
      facts: [{ name: t('console.users.factors'), cells: await factorsInWords(context, key) }],
      fields: [{ name: 'reason', label: t('console.field.reason'), kind: 'text', required: true, most: 500 }],
      back: pageOf(key),
    }
  },
  run: async (context) => {
    await removeFactors(
      context.deps,
      parseInput(removeFactors.input, { ...keyOf(context), reason: context.fields.reason }),
    )
    return undefined
  },
}
