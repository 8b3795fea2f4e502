import { z } from 'zod'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

const sealed = z.instanceof(Buffer).nullable()
const webhook = z.object({
  webhook_url: z.string(),
  webhook_secret: sealed,
  /** Also null if it has ended. */
  former_webhook_secret: sealed,
})

/** Binds a sealed secret to its row, so that it cannot be opened in another one; both columns of a row share it. */
export const webhookSecretContext = (appKey: string): string => `webhook_secret of app ${appKey}`

export const findWebhook = (db: Db, appKey: string, now: Date): Promise<z.output<typeof webhook> | undefined> =>
  db.maybe(
    webhook,
    sql`select webhook_url, webhook_secret,
          case when former_webhook_secret_ends_at > ${now} then former_webhook_secret end as former_webhook_secret
        from micro_app where app_key = ${appKey} and webhook_url is not null`,
  )

/** Replaces all secrets of the webhook; null removes them. */
export const setWebhookSecret = (db: Db, appKey: string, secret: Buffer | null): Promise<number> =>
  db.exec(
    sql`update micro_app
        set webhook_secret = ${secret}, former_webhook_secret = null, former_webhook_secret_ends_at = null
        where app_key = ${appKey}`,
  )

/** The current secret becomes the former one, which also signs until `formerEndsAt`. */
export const replaceWebhookSecret = (db: Db, appKey: string, secret: Buffer, formerEndsAt: Date): Promise<number> =>
  db.exec(
    sql`update micro_app set webhook_secret = ${secret}, former_webhook_secret = webhook_secret,
          former_webhook_secret_ends_at = ${formerEndsAt}
        where app_key = ${appKey}`,
  )

export const REGISTRY_SEALED: readonly SealedColumn[] = ['webhook_secret', 'former_webhook_secret'].map((column) => ({
  table: 'micro_app',
  column,
  key: ['app_key'],
  contextOf: ([appKey = '']) => webhookSecretContext(appKey),
}))
