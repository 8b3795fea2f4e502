import { parseInput } from '../../../platform/lib/json/input.ts'
import { noSuchPath, RescodeError } from '../../../platform/lib/web/rescode.ts'
import { actionOf, rowsIn } from '../../actions/index.ts'
import { type ExplainedRequest, explainRequest, oneRequest, withoutOthersWords } from '../../explain/index.ts'
import { listTable } from '../action-values.ts'
import { followedTable, noticeFacts, refusalFacts, refusalTable, rejectedFacts } from '../explained.ts'
import type { PageContext, Section, Table } from '../page-model.ts'
import { mayDo, PERSONAL_DATA } from '../permissions.ts'
import { perform } from '../placed.ts'

const MAX_EVENTS = 50
const AUDIT = actionOf('GET /audit')

/** What is kept of a request by its id; undefined where nothing is. */
export async function knownRequest(context: PageContext, id: string) {
  const [found, audit] = await Promise.all([
    explainRequest(context.deps, id).catch((error: unknown): ExplainedRequest => {
      if (error instanceof RescodeError && error.failure.status === 404) return {}
      throw error
    }),
    perform(AUDIT, context, { request_id: id, limit: MAX_EVENTS }),
  ])
  const events = rowsIn(audit, 'events')
  return Object.keys(found).length > 0 || events.length > 0 ? { found, events } : undefined
}

async function readOne(context: PageContext) {
  const { t, params } = context
  const id = parseInput(oneRequest, { request_id: params.request_id }).request_id
  const known = await knownRequest(context, id)
  if (!known) throw noSuchPath()
  const { refusal, registered, followed, rejected_call, notice } = mayDo(context.role, PERSONAL_DATA)
    ? known.found
    : withoutOthersWords(known.found)
  const tables: Table[] = [
    ...(followed
      ? [
          refusalTable(
            followed.refusals,
            { title: t('console.explain.followed'), none: t('console.explain.nothing_followed') },
            context,
          ),
          followedTable(followed.audit, context),
        ]
      : []),
    { ...listTable(AUDIT, known.events, t, context.deps.clock.now()), title: t('console.explain.events') },
  ]
  return {
    title: t('console.explain.request', { id }),
    facts: [
      ...(refusal ? refusalFacts(refusal, registered, context) : []),
      ...(rejected_call ? rejectedFacts(rejected_call, context) : []),
      ...(notice ? noticeFacts(notice, context) : []),
    ],
    ...(refusal || rejected_call || notice ? {} : { notice: t('console.explain.only_audit') }),
    tables,
    actions: [],
  }
}

/** Without lists, so it is not in the navigation: lists and the search lead here. */
export const requests: Section = {
  id: 'requests',
  title: 'console.search.request',
  operation: 'GET /requests/:request_id',
  details: [{ path: '/requests/:request_id', operation: 'GET /requests/:request_id', read: readOne }],
}
