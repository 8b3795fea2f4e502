import { z } from 'zod'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

const sealed = z.instanceof(Buffer).nullable()
const webhook = z.object({
  webhook_url: z.string(),
  webhook_secret: sealed,
  /** Null too where it has ended. */
  former_webhook_secret: sealed,
})

/** A sealed secret that was moved to another row must not open there; it does in the other column of its row. */
export const webhookSecretContext = (appKey: string): string => `webhook_secret of app ${appKey}`

export const findWebhook = (db: Db, appKey: string, now: Date): Promise<z.output<typeof webhook> | undefined> =>
  db.maybe(
    webhook,
    sql`select webhook_url, webhook_secret,
          case when former_webhook_secret_ends_at > ${now} then former_webhook_secret end as former_webhook_secret
        from micro_app where app_key = ${appKey} and webhook_url is not null`,
  )

/** In place of all that there were; null takes them away. */
export const setWebhookSecret = (db: Db, appKey: string, secret: Buffer | null): Promise<number> =>
  db.exec(
    sql`update micro_app
        set webhook_secret = ${secret}, former_webhook_secret = null, former_webhook_secret_ends_at = null
        where app_key = ${appKey}`,
  )

/** The one so far signs too, until its end; one from before it no longer. */
export const replaceWebhookSecret = (db: Db, appKey: string, secret: Buffer, formerEndsAt: Date): Promise<number> =>
  db.exec(
    sql`update micro_app set webhook_secret = ${secret}, former_webhook_secret = webhook_secret,
          former_webhook_secret_ends_at = ${formerEndsAt}
        where app_key = ${appKey}`,
  )

/** What this room keeps sealed. */
export const REGISTRY_SEALED: readonly SealedColumn[] = ['webhook_secret', 'former_webhook_secret'].map((column) => ({
  table: 'micro_app',
  column,
  key: ['app_key'],
  contextOf: ([appKey = '']) => webhookSecretContext(appKey),
}))
