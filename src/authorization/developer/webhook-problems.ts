import type { Translate } from '../../platform/lib/web/locale.ts'
import { WEBHOOK_PROBLEMS } from '../../platform/outbound/index.ts'

/** By what is kept of a failed attempt: how the team reads it. */
const TEXTS: Readonly<Record<string, string>> = {
  [WEBHOOK_PROBLEMS.unreachable]: 'developer.webhook.problem.unreachable',
  [WEBHOOK_PROBLEMS.tls]: 'developer.webhook.problem.tls',
  [WEBHOOK_PROBLEMS.timeout]: 'developer.webhook.problem.timeout',
  [WEBHOOK_PROBLEMS['too-large']]: 'developer.webhook.problem.too_large',
  [WEBHOOK_PROBLEMS.broken]: 'developer.webhook.problem.broken',
  [WEBHOOK_PROBLEMS.none]: 'developer.webhook.problem.none',
}

/** Why an attempt failed that has no status; null where none did. */
export const webhookProblem = (kept: string | null, t: Translate): string | null =>
  kept && t(TEXTS[kept] ?? 'developer.webhook.problem.ours')
