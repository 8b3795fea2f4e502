import type { Command } from 'commander'
import { z } from 'zod'
import { listAppEvents } from '../app-events/index.ts'
import type { OutputOf } from '../lib/json/input.ts'
import { rotateAppWebhookSecret } from '../registry/index.ts'
import type { CliContext } from './context.ts'
import { defineListCommand } from './list.ts'
import { defineCommand } from './operation.ts'
import { aligned, readable } from './text.ts'

const NAMED = { app_key: 'app_key' }
const one = z.strictObject({ app_key: z.string() })

/** What is printed of an app with the secret of its webhook. */
export const webhookSecretText = (secret: string | undefined): string =>
  secret === undefined
    ? ''
    : `\n\nwebhook_secret  ${secret}\n\nIt signs what the app is told (Standard Webhooks), and is shown only once.`

/** `gatehouse app rotate-webhook-secret` and `gatehouse app events`. */
export function appWebhookCommands(app: Command, context: CliContext): void {
  const command = (name: string, description: string) =>
    app.command(name).description(description).argument('[app_key]').usage('<app_key> [options]')
  const rotate = "issue a new secret that signs calls to the app's webhook from now on; shown once"
  defineCommand(command('rotate-webhook-secret', rotate), context, {
    input: one,
    inputFrom: (_, app_key) => ({ app_key }),
    run: (deps, { app_key }) => rotateAppWebhookSecret(deps, app_key),
    text: ({ app_key, webhook_url, webhook_secret }) =>
      aligned([
        ['app_key', app_key],
        ['webhook_url', readable(webhook_url)],
      ]) + webhookSecretText(webhook_secret),
    flags: NAMED,
  })
  defineListCommand(command('events', 'what the app was told over its webhook, newest first'), context, {
    plural: 'events',
    input: listAppEvents.input,
    inputFrom: (_, app_key) => ({ app_key }),
    page: listAppEvents,
    table,
    flags: NAMED,
  })
}

function table(events: Readonly<OutputOf<typeof listAppEvents>['events']>): string {
  if (events.length === 0) return 'no events'
  const rows = events.map((event) => [
    event.event_id,
    event.type,
    event.reason,
    event.state,
    readable(event.attempts),
    readable(event.created_at),
    readable(event.last_error),
  ])
  return aligned([['EVENT_ID', 'TYPE', 'REASON', 'STATE', 'ATTEMPTS', 'CREATED', 'LAST ERROR'], ...rows])
}
