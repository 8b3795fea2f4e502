import type { Retention } from '../../platform/db/retention.ts'
import { INVITATION_RETENTION } from './invitation-store.ts'
import { REQUEST_RETENTION } from './request-store.ts'

export const TEAM_RETENTION: readonly Retention[] = [...INVITATION_RETENTION, ...REQUEST_RETENTION]
