import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { enqueue } from '../../platform/db/jobs-store.ts'
import { pageNamed } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { InvalidInput, operation, parseInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { SCOPES } from '../../platform/lib/scope.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { isLoopbackHost } from '../../platform/lib/web/web-url.ts'
import { countWithin } from '../../platform/throttle/index.ts'
import { ACCOUNT_MESSAGES } from '../account/index.ts'
import { tellApp } from '../app-events/index.ts'
import { lockMicroApp, putLive, showMicroApp, updateMicroApp } from '../registry/index.ts'
import { changeApp, originsOf } from './app.ts'
import * as store from './app-store.ts'
import { notFound, TeamRefusal } from './errors.ts'
import { ownersOf } from './store.ts'
import { type AppFields, appFields, keptTeamFields, remark, requestFilter } from './wire.ts'

/** Requests of teams to operators. What is in force stays until they decide. */

/** Requests a day of one team: each is a mail to operators, and kept for more than a year. */
const MAX_PER_DAY = 20

/** Validates the fields first: operators may have set values that a team could not request. */
async function makeRequest(
  deps: Deps,
  { team_id, app_key }: store.AppAccess,
  { kind, based_on }: Pick<store.AppRequest, 'kind' | 'based_on'>,
  given: AppFields,
) {
  const asked = parseInput(appFields, given)
  const request_id = randomUUID()
  const request = { request_id, app_key, kind, based_on, asked }
  if ((await store.insertRequest(deps.db, request, deps.clock.now())) === 0) throw new TeamRefusal('asked')
  if (await countWithin(deps, DAY_S, [{ kind: 'app-request', name: team_id, most: MAX_PER_DAY }])) {
    throw new TeamRefusal('requests')
  }
  // In the transaction: exactly one mail, and none if the request is rolled back.
  if (deps.config.OPERATORS_MAIL) await enqueue(deps.db, 'send-request-mail', { requestId: request_id })
  await recordAudit(deps, { event: 'app_request_made', appKey: app_key, detail: { request_id, kind } })
}

/** Whether the app is reachable from other machines. */
const reachesPeople = ({ hosts, redirect_uris }: AppFields): boolean =>
  hosts.some((host) => !isLoopbackHost(host.replace(/:\d+$/, ''))) ||
  redirect_uris.some((uri) => !isLoopbackHost(new URL(uri).hostname))

/** Requests that an app in development goes live as it is now. */
const requestApproval = (deps: Deps, appKey: string, person: UserRowKey): Promise<void> =>
  changeApp(deps, appKey, { person, role: 'owner' }, async (inside, access) => {
    const app = await showMicroApp(inside, appKey)
    if (app.stage !== 'development') throw new TeamRefusal('live')
    const asked = { ...keptTeamFields.parse(app), kind: access.kind, reasons: access.reasons }
    if (!reachesPeople(asked)) throw new TeamRefusal('loopback_only')
    await makeRequest(inside, access, { kind: 'live', based_on: app.updated_at }, asked)
  })

const changesOf = (asked: object, inForce: Readonly<Record<string, unknown>>) =>
  Object.entries(asked)
    .filter(([field, to]) => JSON.stringify(to) !== JSON.stringify(inForce[field]))
    .map(([field, to]) => ({ field, in_force: inForce[field], asked: to as unknown }))

/** Requests a change of a live app. */
const requestChange = operation(
  appFields,
  (deps: Deps, appKey: string, asked: AppFields, person: UserRowKey): Promise<void> =>
    changeApp(deps, appKey, { person, role: 'owner' }, async (inside, access) => {
      const app = await showMicroApp(inside, appKey)
      if (app.stage !== 'live') throw notFound()
      if (access.kind !== asked.kind)
        throw new InvalidInput([{ field: 'kind', problem: localized('cannot-be-changed') }])
      const { kind: _, reasons, ...fields } = asked
      const isUnchanged = SCOPES.every((scope) => reasons[scope] === access.reasons[scope])
      if (isUnchanged && changesOf(fields, app).length === 0) throw new TeamRefusal('unchanged')
      await makeRequest(inside, access, { kind: 'change', based_on: app.updated_at }, asked)
    }),
)

const withdrawRequest = (deps: Deps, appKey: string, person: UserRowKey): Promise<void> =>
  changeApp(deps, appKey, { person, role: 'owner' }, async (inside) => {
    const found = await store.latestRequest(inside.db, appKey)
    if (found?.state !== 'open') throw new TeamRefusal('decided')
    await store.closeRequest(inside.db, found.request_id, { state: 'withdrawn', remark: null }, inside.clock.now())
    await recordAudit(inside, { event: 'app_request_withdrawn', appKey, detail: { request_id: found.request_id } })
  })

/** What the mail to operators says; undefined once the request is decided or withdrawn. */
async function openRequest({ db }: Deps, requestId: string) {
  const found = await store.findRequest(db, requestId)
  return found?.state === 'open' ? { name: found.asked.name, kind: found.kind, at: found.asked_at } : undefined
}

export const APP_REQUESTS = {
  open: openRequest,
  latest: store.latestRequest,
  ask: requestApproval,
  change: requestChange,
  withdraw: withdrawRequest,
}

// ---- operators

export const oneRequest = z.strictObject({ request_id: z.string() })
type OneRequest = z.output<typeof oneRequest>

const noSuchRequest = () => invalidRequest(localized('no-request'), { status: 404 })

export const listRequests = operation(requestFilter, ({ db }: Deps, filter) =>
  pageNamed('requests', store.listRequests(db, filter)),
)

/** A request with the current values: `changes` has each field that would change. */
export async function showRequest(deps: Deps, { request_id }: OneRequest) {
  const found = await store.findRequest(deps.db, request_id)
  if (!found) throw noSuchRequest()
  const { asked, based_on: _, ...request } = found
  const app = await showMicroApp(deps, found.app_key)
  const { reasons, kind, ...fields } = asked
  return { ...request, runs_on: kind, ...fields, reasons, changes: changesOf(fields, app) }
}

async function decide(
  deps: Deps,
  requestId: string,
  { state, remark }: { readonly state: 'approved' | 'refused' | 'returned'; readonly remark: string | null },
  work: (inside: Deps, request: store.AppRequest) => Promise<unknown>,
) {
  return inTransaction(deps, async (inside, db) => {
    const before = await store.findRequest(db, requestId)
    if (!before) throw noSuchRequest()
    await lockMicroApp(db, before.app_key) // first, in the same order as changes by teams
    const found = (await store.findRequest(db, requestId)) ?? before
    if (!(await store.closeRequest(db, found.request_id, { state, remark }, deps.clock.now()))) {
      throw new TeamRefusal('decided')
    }
    await work(inside, found)
    for (const owner of await ownersOf(db, found.app_key)) await ACCOUNT_MESSAGES.tell(inside, owner, `app_${state}`)
    return { request_id: found.request_id, app_key: found.app_key, state }
  })
}

/** The app goes live, or gets the requested changes. */
export const approveRequest = (deps: Deps, { request_id }: OneRequest) =>
  decide(deps, request_id, { state: 'approved', remark: null }, async (inside, request) => {
    const { app_key, kind, asked, asked_at, based_on } = request
    const { kind: runsOn, reasons, ...fields } = asked
    // A page may call from its own origins; everything else that operators have set stays.
    const changes = parseInput(
      updateMicroApp.input,
      runsOn === 'page' ? { ...fields, cors_origins: originsOf(asked) } : fields,
    )
    const admit = ({ updated_at }: { readonly updated_at: Date }) => {
      // Changes by operators since the request would be silently undone.
      const isUnchanged = based_on ? updated_at.getTime() === based_on.getTime() : updated_at <= asked_at
      if (!isUnchanged) throw new TeamRefusal('changed_since')
    }
    await putLive(inside, app_key, changes, { requestId: request_id, admit })
    await store.setReasons(inside.db, app_key, reasons)
    await tellApp(inside, { appKey: app_key, type: 'app.approved', detail: { request_id, kind } })
  })

const closing = (state: 'refused' | 'returned') =>
  operation(oneRequest.extend({ remark }), (deps: Deps, { request_id, remark }) =>
    decide(deps, request_id, { state, remark }, (inside, { app_key }) =>
      recordAudit(inside, { event: `app_request_${state}`, appKey: app_key, detail: { request_id, remark } }),
    ),
  )

/** The team reads the reason. */
export const refuseRequest = closing('refused')

/** With a question to the team, which may request again. */
export const returnRequest = closing('returned')
