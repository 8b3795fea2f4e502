import { type Cause, OPERATOR } from '../../platform/history/index.ts'
import type { CallCause } from '../partner-calls/index.ts'

/**
 * What the history says of changes that are made before a call: a job by its id, and whoever else acts for the platform.
 */
export const changedBy = ({ kind, ref }: CallCause): Cause =>
  kind === 'schedule' ? { kind: 'job', id: ref } : OPERATOR
