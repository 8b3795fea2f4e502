import { parseInput } from '../../../platform/lib/json/input.ts'
import { ifFound, noSuchPath } from '../../../platform/lib/web/rescode.ts'
import { actionOf, rowsIn } from '../../actions/index.ts'
import { explainRequest, oneRequest, withoutPartnerTexts } from '../../explain/index.ts'
import { tableOf } from '../action-values.ts'
import type { PageContext, Section } from '../page-model.ts'
import { mayDo, PERSONAL_DATA } from '../permissions.ts'
import { perform } from '../placed.ts'
import { recordParts } from '../record-parts.ts'

const MAX_EVENTS = 50
const AUDIT = actionOf('GET /audit')
export const EXPLAIN = actionOf('GET /explain')

/** Everything stored about a request; undefined if there is nothing. */
export async function knownRequest(context: PageContext, id: string) {
  const [found = {}, audit] = await Promise.all([
    ifFound(explainRequest(context.deps, id)),
    perform(AUDIT, context, { request_id: id, limit: MAX_EVENTS }),
  ])
  const events = rowsIn(audit, 'events')
  return Object.keys(found).length > 0 || events.length > 0 ? { found, events } : undefined
}

async function readOne(context: PageContext) {
  const { t, params, role } = context
  const id = parseInput(oneRequest, { request_id: params.request_id }).request_id
  const known = await knownRequest(context, id)
  if (!known) throw noSuchPath()
  const found = mayDo(role, PERSONAL_DATA) ? known.found : withoutPartnerTexts(known.found)
  const { facts, tables } = recordParts(EXPLAIN, { ...found }, context)
  return {
    title: t('console.explain.request', { id }),
    facts,
    ...(facts.length > 0 ? {} : { notice: t('console.explain.only_audit') }),
    tables: [
      ...tables,
      {
        ...tableOf(AUDIT, AUDIT.list?.columns ?? [], known.events, context),
        title: t('console.explain.events'),
        none: t('console.home.none'),
      },
    ],
    actions: [],
  }
}

/** Not in the navigation, as it has no lists: other lists and the search link here. */
export const requests: Section = {
  id: 'requests',
  title: 'console.search.request',
  operation: 'GET /requests/:request_id',
  details: [{ path: '/requests/:request_id', operation: 'GET /requests/:request_id', read: readOne }],
}
