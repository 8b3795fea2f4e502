import { rotation } from '../../lib/crypto/generated-secret.ts'
import { positiveId } from '../../lib/json/fields.ts'
import { InvalidInput, type OutputOf, parseInput } from '../../lib/json/input.ts'
import { resetBreaker } from '../../partner-reach/index.ts'
import { activatePartner, rotatePartnerSecret, setStage, showPartner, suspendPartner } from '../../partners/index.ts'
import type { Action, PageContext } from '../page-model.ts'
import { at, code, stateCell } from '../texts.ts'

type ShownPartner = OutputOf<typeof showPartner>

export const pageOf = (id: bigint, ...more: string[]): string => at('partners', String(id), ...more)

export const idOf = ({ params }: PageContext): bigint => parseInput(positiveId, params.partner_id)
export const shownPartnerOf = (context: PageContext): Promise<ShownPartner> => showPartner(context.deps, idOf(context))

export const actionsOf = ({ partner_id, status, stage }: ShownPartner, { t }: PageContext) => [
  status === 'active'
    ? { operation: `${ONE}/suspend`, href: pageOf(partner_id, 'suspend'), text: t('console.partners.suspend') }
    : { operation: `${ONE}/activate`, href: pageOf(partner_id, 'activate'), text: t('console.partners.activate') },
  {
    operation: `${ONE}/stage`,
    href: pageOf(partner_id, 'stage'),
    text: stage === 'live' ? t('console.partners.to_sandbox') : t('console.partners.to_live'),
  },
  { operation: `${ONE}/rotate-secret`, href: pageOf(partner_id, 'rotate-secret'), text: t('console.partners.rotate') },
  { operation: RESET, href: pageOf(partner_id, 'reset-breaker'), text: t('console.partners.reset') },
]

const ONE = 'POST /partners/:partner_id'
const RESET = `${ONE}/reset-breaker`

const simple = (
  what: string,
  texts: { readonly title: string; readonly says: string },
  run: (context: PageContext) => Promise<unknown>,
): Action => ({
  path: `/partners/:partner_id/${what}`,
  operation: `${ONE}/${what}`,
  title: texts.title,
  confirm: async (context) => {
    const { name, partner_id } = await shownPartnerOf(context)
    return { says: [context.t(texts.says, { name })], back: pageOf(partner_id) }
  },
  run: async (context) => {
    await run(context)
    return undefined
  },
})

const rotate: Action = {
  path: '/partners/:partner_id/rotate-secret',
  operation: `${ONE}/rotate-secret`,
  title: 'console.partners.rotate',
  confirm: async (context) => {
    const { t } = context
    const { name, partner_id } = await shownPartnerOf(context)
    const overlap = { name: 'overlap_s', label: t('console.field.overlap'), kind: 'number' as const, required: true }
    return {
      says: [t('console.partners.rotate_says', { name })],
      fields: [{ ...overlap, value: '86400', hint: t('console.partners.overlap_hint') }],
      back: pageOf(partner_id),
    }
  },
  run: async (context) => {
    const input = parseInput(rotation, { overlap_s: Number(context.fields.overlap_s) })
    const { client_secret } = await rotatePartnerSecret(context.deps, idOf(context), input)
    return { note: context.t('console.once.note'), values: [{ name: 'clientSecret', cells: [code(client_secret)] }] }
  },
}

/** The stage that the partner is not in. */
const otherStage = ({ stage }: ShownPartner) => (stage === 'live' ? 'sandbox' : 'live')

const moveStage: Action = {
  path: '/partners/:partner_id/stage',
  operation: `${ONE}/stage`,
  title: 'console.partners.move',
  confirm: async (context) => {
    const { t } = context
    const partner = await shownPartnerOf(context)
    const to = otherStage(partner)
    return {
      says: [t('console.partners.move_says', { name: partner.name, stage: stateCell(to, t).text })],
      fields: [{ name: 'stage', label: t('console.partners.move'), kind: 'hidden', value: to }],
      back: pageOf(partner.partner_id),
    }
  },
  run: async (context) => {
    const change = parseInput(setStage.input, { stage: context.fields.stage })
    if (change.stage !== otherStage(await shownPartnerOf(context)))
      throw new InvalidInput([{ field: 'stage', problem: 'is already set to this; nothing was changed' }])
    await setStage(context.deps, idOf(context), change)
    return undefined
  },
}

export const partnerActions: readonly Action[] = [
  simple('suspend', { title: 'console.partners.suspend', says: 'console.partners.suspend_says' }, (context) =>
    suspendPartner(context.deps, idOf(context)),
  ),
  simple('activate', { title: 'console.partners.activate', says: 'console.partners.activate_says' }, (context) =>
    activatePartner(context.deps, idOf(context)),
  ),
  moveStage,
  rotate,
  simple('reset-breaker', { title: 'console.partners.reset', says: 'console.partners.reset_says' }, (context) =>
    resetBreaker(context.deps, idOf(context)),
  ),
]
