import { maskedReason } from '../../../platform/lib/masked-reason.ts'
import { timelineOf, trafficTexts } from '../../../sandbox/portal/index.ts'
import type { Values } from '../../actions/index.ts'
import type { Cell, PageContext, Table } from '../page-model.ts'
import { mayDo, PERSONAL_DATA } from '../permissions.ts'
import { code, count, link, text, time } from '../texts.ts'
import { outcomeCell, trafficLink, wayOf } from './traffic-entry.ts'

/** Every call in either direction, every notice and every state that the order or a refund came to, oldest first. */
export async function orderTimeline(context: PageContext, record: Values): Promise<readonly Table[]> {
  const { deps, t, locale } = context
  const [partnerId, orderId] = [BigInt(String(record.partner_id)), BigInt(String(record.order_id))]
  const { moments, isCut } = await timelineOf(deps, partnerId, orderId)
  const texts = trafficTexts(locale)
  const table = {
    title: t('console.orders.timeline'),
    head: [t('console.field.at'), t('console.field.what'), t('console.field.outcome'), t('console.field.detail')],
    rows: moments.map((moment): Cell[] => {
      if (moment.kind === 'state') {
        const what = moment.record === 'order' ? t('console.orders.order_moved') : t('console.orders.refund_moved')
        const moved = `${moment.from ?? '–'} → ${moment.to}`
        return [time(moment.at), text(what), code(moved), text(moment.record === 'order' ? '' : moment.id)]
      }
      const { line } = moment
      const outcome = outcomeCell(line.outcome, context)
      const codeText = line.code === null ? '' : ` · code ${line.code}`
      return [
        time(moment.at),
        link(`${wayOf(line.direction, context)}${texts.name(line.name)}`, trafficLink(partnerId, line.kind, line.id)),
        { ...outcome, text: `${outcome.text}${codeText}` },
        text(
          texts.reasonBegins(
            mayDo(context.role, PERSONAL_DATA) ? (line.detail ?? '') : maskedReason(line.detail ?? ''),
          ),
        ),
      ]
    }),
    none: t('console.orders.nothing_yet'),
    ...(isCut ? { note: t('console.orders.cut', { most: count(moments.length) }) } : {}),
  }
  return [table]
}
