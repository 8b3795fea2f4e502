import { type OutputOf, parseInput } from '../../lib/json/input.ts'
import { maskedMail } from '../../lib/web/admin-auth.ts'
import { listMembers } from '../../members/index.ts'
import { listNotices } from '../../mtp/index.ts'
import { CONTACT_ROLES, listPartners, type showPartner } from '../../partners/index.ts'
import { trafficTexts } from '../../sandbox/index.ts'
import { trafficLink } from '../explained.ts'
import type { PageContext, Section } from '../page-model.ts'
import { mayDo, PERSONAL_DATA } from '../permissions.ts'
import { at, code, link, orDash, stateCell, stateChoices, text, time, yesNo } from '../texts.ts'
import { actionsOf, idOf, pageOf, partnerActions, shownPartnerOf } from './partner-actions.ts'
import { reachLinks, reachPages } from './partner-reach.ts'
import { runPage, runTable } from './partner-runs.ts'

type ShownPartner = OutputOf<typeof showPartner>

const readPage = async ({ deps, t, fields }: PageContext) => {
  const { partners, next } = await listPartners(deps, parseInput(listPartners.input, fields))
  return {
    table: {
      head: [
        t('console.field.partner'),
        'PartnerId',
        'clientId',
        t('console.field.stage'),
        t('console.field.state'),
        t('console.field.created'),
      ],
      rows: partners.map((partner) => [
        link(partner.name, pageOf(partner.partner_id)),
        code(String(partner.partner_id)),
        code(partner.client_id),
        stateCell(partner.stage, t),
        stateCell(partner.status, t),
        time(partner.created_at),
      ]),
      none: t('console.partners.none'),
    },
    next,
  }
}

const SHOWN_NOTICES = 20

async function readOne(context: PageContext) {
  const { deps, t } = context
  const partner = await shownPartnerOf(context)
  const texts = trafficTexts(context.locale)
  const notices = await listNotices(
    deps,
    parseInput(listNotices.input, { partner_id: idOf(context), limit: SHOWN_NOTICES }),
  )
  return {
    title: partner.name,
    facts: factsOf(partner, context),
    tables: [
      {
        title: t('console.partners.contacts'),
        head: [t('console.field.role'), t('console.field.name'), t('console.field.mail'), t('console.field.webhook')],
        rows: CONTACT_ROLES.flatMap((role) => {
          const contact = partner.contacts[role]
          return contact
            ? [
                [
                  text(t(`sandbox.told.${role}`)),
                  text(contact.name),
                  mailCell(contact.mail, context),
                  orDash(contact.webhook_url),
                ],
              ]
            : []
        }),
        none: t('console.partners.no_contacts'),
      },
      {
        title: t('console.partners.urls'),
        head: [t('console.field.interface'), 'URL'],
        rows: Object.entries(partner.interface_urls).map(([name, url]) => [code(name), code(url)]),
        none: t('console.partners.no_urls'),
      },
      {
        title: t('console.partners.secrets'),
        head: [
          t('console.field.signs'),
          t('console.field.created'),
          t('console.field.ends'),
          t('console.field.last_used'),
        ],
        rows: partner.secrets.map((secret) => [
          yesNo(secret.signs, t),
          time(secret.created_at),
          time(secret.ends_at),
          time(secret.last_used_at),
        ]),
        none: t('console.partners.no_secrets'),
      },
      await membersOf(partner, context),
      await runTable(context),
      {
        title: t('console.partners.notices'),
        head: [t('console.field.at'), t('console.field.path'), t('console.field.outcome')],
        rows: notices.map((notice) => [
          time(notice.received_at),
          link(notice.path, trafficLink(idOf(context), notice.refused === null ? 'notice' : 'rejected', notice.id)),
          notice.refused === null
            ? stateCell('done', t)
            : { text: texts.reasonBegins(notice.refused), tone: 'bad' as const },
        ]),
        none: t('console.partners.no_notices'),
      },
    ],
    actions: actionsOf(partner, context),
  }
}

/** A viewer is not shown whole addresses. */
const mailCell = (mail: string, { role }: PageContext) => text(mayDo(role, PERSONAL_DATA) ? mail : maskedMail(mail))

async function membersOf({ partner_id }: ShownPartner, context: PageContext) {
  const { deps, t } = context
  const members = await listMembers(deps, partner_id)
  return {
    title: t('console.partners.members'),
    head: [t('console.field.mail'), t('console.field.role'), t('console.field.joined')],
    rows: members.map((member) => [
      mailCell(member.mail, context),
      text(t(`sandbox.members.role.${member.role}`)),
      time(member.joined_at),
    ]),
    none: t('console.partners.no_members'),
  }
}

const factsOf = (partner: ShownPartner, { t, role }: PageContext) => [
  { name: 'PartnerId', cells: [code(String(partner.partner_id))] },
  { name: 'clientId', cells: [code(partner.client_id)] },
  { name: t('console.field.stage'), cells: [stateCell(partner.stage, t)] },
  { name: t('console.field.state'), cells: [stateCell(partner.status, t)] },
  { name: t('console.field.base_url'), cells: [orDash(partner.base_url)] },
  { name: t('console.field.aes_key'), cells: [time(partner.aes_key_set_at)] },
  { name: t('console.field.encrypts'), cells: [yesNo(partner.encrypts_calls, t)] },
  { name: t('console.field.created'), cells: [time(partner.created_at)] },
  { name: t('console.field.changed'), cells: [time(partner.updated_at)] },
  {
    name: t('console.field.more'),
    cells: [
      link(t('action.product_list'), at('partners', String(partner.partner_id), 'products')),
      link(
        t('console.orders.title'),
        `${at('orders')}?${new URLSearchParams({ partner_id: String(partner.partner_id) })}`,
      ),
      link(
        t('console.traffic.title'),
        `${at('traffic')}?${new URLSearchParams({ partner_id: String(partner.partner_id) })}`,
      ),
      ...(mayDo(role, 'GET /explain')
        ? [link(t('console.explain.refused'), `${at('search')}?${new URLSearchParams({ q: partner.client_id })}`)]
        : []),
      link(
        t('console.field.history'),
        `${at('audit')}?${new URLSearchParams({ target: `partner:${partner.partner_id}` })}`,
      ),
    ],
  },
]

export const partners: Section = {
  id: 'partners',
  title: 'console.partners.title',
  operation: 'GET /partners',
  lists: [
    {
      path: '/partners',
      operation: 'GET /partners',
      title: 'console.partners.title',
      lead: 'console.partners.lead',
      filters: ({ t }) => [
        { name: 'name', label: t('console.field.name_begins'), kind: 'text', most: 100 },
        { name: 'client_id', label: t('console.field.client_id_begins'), kind: 'text', most: 128 },
        {
          name: 'stage',
          label: t('console.field.stage'),
          kind: 'choice',
          choices: stateChoices(['sandbox', 'live'], t),
        },
        {
          name: 'status',
          label: t('console.field.state'),
          kind: 'choice',
          choices: stateChoices(['active', 'suspended'], t),
        },
      ],
      read: readPage,
      actions: reachLinks,
    },
    ...reachPages,
  ],
  details: [{ path: '/partners/:partner_id', operation: 'GET /partners/:partner_id', read: readOne }, runPage],
  actions: partnerActions,
}
