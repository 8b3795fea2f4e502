import { parseInput } from '../../lib/json/input.ts'
import { listAllTraffic, trafficTexts } from '../../sandbox/index.ts'
import { partnerLink, trafficLink } from '../explained.ts'
import type { Cell, PageContext, Section } from '../page-model.ts'
import { link, orDash, text, time } from '../texts.ts'
import { entryPage, outcomeCell, unmask, wayOf } from './traffic-entry.ts'

const readPage = async (context: PageContext) => {
  const { deps, t, locale, fields } = context
  const { traffic, next } = await listAllTraffic(deps, parseInput(listAllTraffic.input, fields))
  const texts = trafficTexts(locale, 'operator')
  return {
    table: {
      head: [
        t('console.field.at'),
        'PartnerId',
        t('console.field.what'),
        t('sandbox.traffic.cause'),
        t('console.field.outcome'),
        'code',
        t('console.field.detail'),
      ],
      rows: traffic.map((line): Cell[] => [
        time(line.at),
        partnerLink(line.partner_id),
        line.left_out === null
          ? link(
              `${wayOf(line.direction, context)}${texts.name(line.name)}`,
              trafficLink(line.partner_id, line.kind, line.id),
            )
          : text(texts.leftOut(line)),
        text(texts.cause(line)),
        outcomeCell(line.outcome, context),
        orDash(line.code),
        text(line.detail === null ? '' : texts.reasonBegins(line.detail)),
      ]),
      none: next === null ? t('console.traffic.none') : t('console.traffic.none_so_far'),
    },
    next,
  }
}

export const traffic: Section = {
  id: 'traffic',
  title: 'console.traffic.title',
  operation: 'GET /traffic',
  lists: [
    {
      path: '/traffic',
      operation: 'GET /traffic',
      title: 'console.traffic.title',
      lead: 'console.traffic.lead',
      filters: ({ t }) => [
        { name: 'partner_id', label: 'PartnerId', kind: 'text', most: 19 },
        { name: 'path', label: t('console.traffic.path_holds'), kind: 'text', most: 128 },
        { name: 'code', label: 'code', kind: 'text', most: 9 },
        { name: 'from', label: t('console.field.from'), kind: 'date' },
        { name: 'to', label: t('console.field.to'), kind: 'date' },
      ],
      read: readPage,
    },
  ],
  details: [entryPage],
  actions: [unmask],
}
