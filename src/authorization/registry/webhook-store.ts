import { z } from 'zod'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

const webhook = z.object({ webhook_url: z.string(), webhook_secret: z.instanceof(Buffer).nullable() })

/** A sealed secret that was moved to another row must not open there. */
export const webhookSecretContext = (appKey: string): string => `webhook_secret of app ${appKey}`

/** Undefined for an app without a webhook. */
export const findWebhook = (db: Db, appKey: string): Promise<z.output<typeof webhook> | undefined> =>
  db.maybe(
    webhook,
    sql`select webhook_url, webhook_secret from micro_app where app_key = ${appKey} and webhook_url is not null`,
  )

/** Null takes it away. */
export const setWebhookSecret = (db: Db, appKey: string, sealed: Buffer | null): Promise<number> =>
  db.exec(sql`update micro_app set webhook_secret = ${sealed} where app_key = ${appKey}`)

/** What this room keeps sealed. */
export const REGISTRY_SEALED: readonly SealedColumn[] = [
  {
    table: 'micro_app',
    column: 'webhook_secret',
    key: ['app_key'],
    contextOf: ([appKey = '']) => webhookSecretContext(appKey),
  },
]
