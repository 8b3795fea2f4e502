import type { UserRowKey } from '../db/personal-rows.ts'
import type { Actor, Deps } from '../deps.ts'
import { insertEvent } from './store.ts'

/** The person as the actor; address and request id are taken from `actor`. */
export const asPerson = (
  actor: Actor | undefined,
  { cid, userId }: { readonly cid: number; readonly userId: string },
): Actor => ({ ...actor, kind: 'user', name: `${cid}/${userId}` })

/** An event that operators or investigators may ask about later. `detail` holds ids and codes, never a secret. */
export interface AuditEvent {
  readonly event: string
  /** Overrides the actor in Deps. */
  readonly actor?: Actor
  /** What was changed, if it does not follow from the keys below. */
  readonly target?: string
  readonly routingKey?: number
  readonly appKey?: string
  readonly partnerId?: bigint
  readonly cid?: number
  readonly userId?: string
  /** Set if it was not done. */
  readonly outcome?: 'refused' | 'failed'
  readonly detail?: object
}

type Recording = Pick<Deps, 'db' | 'clock' | 'actor'>

/** Call it in the transaction of the change, so that a crash leaves both or neither. */
export function recordAudit({ db, clock, actor: defaultActor }: Recording, event: AuditEvent): Promise<number> {
  const { kind, name, address, requestId } = event.actor ?? defaultActor ?? { kind: 'system' }
  return insertEvent(db, {
    routing_key: event.routingKey ?? 0,
    at: clock.now(),
    event: event.event,
    actor: kind,
    actor_name: name ?? null,
    target: event.target ?? targetOf(event),
    app_key: event.appKey ?? null,
    partner_id: event.partnerId?.toString() ?? null,
    cid: event.cid ?? null,
    user_id: event.userId ?? null,
    address: address ?? null,
    request_id: requestId ?? null,
    outcome: event.outcome ?? 'done',
    detail: { ...event.detail },
  })
}

export function recordByPerson(deps: Recording, person: UserRowKey, event: string, detail: object = {}) {
  const { routingKey, cid, userId } = person
  return recordAudit(deps, { event, actor: asPerson(deps.actor, person), routingKey, cid, userId, detail })
}

/** Only for operators: what jobs and test runs do is in the record's history and in the calls. */
export async function recordIfOperator(deps: Recording, event: AuditEvent): Promise<void> {
  if (deps.actor?.kind === 'operator' || deps.actor?.kind === 'cli') await recordAudit(deps, event)
}

function targetOf({ appKey, partnerId, cid, userId }: AuditEvent): string | null {
  if (userId !== undefined) return `user:${cid}/${userId}`
  if (partnerId !== undefined) return `partner:${partnerId}`
  return appKey === undefined ? null : `app:${appKey}`
}
