import type { Deps } from '../../platform/deps.ts'
import { action } from '../../platform/lib/action.ts'
import { aboutWhat, explain, explainRequest, oneRequest } from './explain.ts'
import { withoutOthersWords } from './masked.ts'

/** What operators look up when somebody asks why a request was refused. */
export const EXPLAIN_ACTIONS = [
  action({
    route: 'GET /requests/:request_id',
    role: 'viewer',
    input: oneRequest,
    run: (deps: Deps, { request_id }) => explainRequest(deps, request_id),
    masked: withoutOthersWords,
  }),
  action({
    route: 'GET /explain',
    command: 'explain',
    arguments: ['about'],
    role: 'support',
    input: aboutWhat,
    run: (deps: Deps, { about }) => explain(deps, about),
  }),
]
