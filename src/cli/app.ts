import type { Command } from 'commander'
import { z } from 'zod'
import { rotation, type SecretDates } from '../lib/crypto/generated-secret.ts'
import {
  approveMicroApp,
  createMicroApp,
  listMicroApps,
  MICRO_APP_FIELDS,
  type MicroApp,
  rotateSecret,
  showMicroApp,
  suspendMicroApp,
  updateMicroApp,
} from '../registry/index.ts'
import { appWebhookCommands, webhookSecretText } from './app-webhook.ts'
import type { CliContext } from './context.ts'
import { endTokensCommand } from './ending.ts'
import { fieldsFrom, flagsOf, withFieldOptions } from './field-options.ts'
import { defineListCommand } from './list.ts'
import { defineCommand } from './operation.ts'
import { aligned, numberIfOne, readable } from './text.ts'

const NAMED = { app_key: 'app_key' }
const one = z.strictObject({ app_key: z.string() })

/** `gatehouse app …`: micro-apps, as over /admin/v1/apps. */
export function appCommands(program: Command, context: CliContext): void {
  const app = program.command('app').description('micro-apps: which apps may ask users for which data')
  createCommand(app, context)
  endTokensCommand(app, context)
  listCommand(app, context)
  updateCommand(app, context)
  rotateSecretCommand(app, context)
  appWebhookCommands(app, context)
  const byKey = { input: one, inputFrom: (_: unknown, app_key: string | undefined) => ({ app_key }), flags: NAMED }
  defineCommand(withKeyArgument(app, 'show', 'one micro-app and the dates of its secrets'), context, {
    ...byKey,
    run: (deps, { app_key }) => showMicroApp(deps, app_key),
    text: details,
  })
  defineCommand(withKeyArgument(app, 'approve', 'let it ask users for consent; also ends a suspension'), context, {
    ...byKey,
    run: (deps, { app_key }) => approveMicroApp(deps, app_key),
    text: details,
  })
  defineCommand(withKeyArgument(app, 'suspend', 'no consent, no tokens, no data until it is approved again'), context, {
    ...byKey,
    run: (deps, { app_key }) => suspendMicroApp(deps, app_key),
    text: details,
  })
}

// In brackets for commander, so that a missing key is reported together with all other problems.
const withKeyArgument = (app: Command, name: string, description: string): Command =>
  app.command(name).description(description).argument('[app_key]').usage('<app_key> [options]')

function createCommand(app: Command, context: CliContext): void {
  const command = app.command('create').description('register a micro-app; shows its app_secret, if it has one, once')
  withFieldOptions(command, MICRO_APP_FIELDS, 'created')
  defineCommand(command, context, {
    input: createMicroApp.input,
    inputFrom: (options) => fieldsFrom(options, MICRO_APP_FIELDS, 'created'),
    run: (deps, input) => createMicroApp(deps, input),
    text: withSecret,
    flags: flagsOf(MICRO_APP_FIELDS),
  })
}

function listCommand(app: Command, context: CliContext): void {
  const command = app
    .command('list')
    .description('micro-apps, oldest first')
    .option('--app-key <beginning>', 'only those whose app_key begins with this')
    .option('--name <beginning>', 'only those whose name begins with this')
    .option('--status <status>', 'approved, pending or suspended')
  defineListCommand(command, context, {
    plural: 'apps',
    input: listMicroApps.input,
    inputFrom: ({ appKey, name, status }) => ({ app_key: appKey, name, status }),
    page: listMicroApps,
    table,
  })
}

function updateCommand(app: Command, context: CliContext): void {
  const command = withKeyArgument(app, 'update', 'change the given fields; a list replaces the whole list')
  withFieldOptions(command, MICRO_APP_FIELDS, 'changed')
  defineCommand(command, context, {
    input: updateMicroApp.input.extend(one.shape),
    inputFrom: (options, app_key) => ({ ...fieldsFrom(options, MICRO_APP_FIELDS, 'changed'), app_key }),
    run: (deps, { app_key, ...changes }) => updateMicroApp(deps, app_key, changes),
    text: (shown) => details(shown) + webhookSecretText(shown.webhook_secret),
    flags: { ...flagsOf(MICRO_APP_FIELDS), ...NAMED },
  })
}

function rotateSecretCommand(app: Command, context: CliContext): void {
  const command = withKeyArgument(
    app,
    'rotate-secret',
    'issue a new app_secret; the old one keeps working for a while',
  ).option('--overlap <seconds>', 'how long the old one still works (default: 86400)', numberIfOne)
  defineCommand(command, context, {
    input: rotation.extend(one.shape),
    inputFrom: (options, app_key) => ({ overlap_s: options.overlap, app_key }),
    run: (deps, { app_key, ...input }) => rotateSecret(deps, app_key, input),
    text: withSecret,
    flags: { ...NAMED, overlap_s: '--overlap' },
  })
}

type Shown = MicroApp & { secrets?: readonly SecretDates[]; app_secret?: string | null; webhook_secret?: string }

function details({ secrets = [], app_secret: _, webhook_secret: __, ...app }: Shown): string {
  const rows = Object.entries(app).map(([field, value]) => [field, readable(value)])
  const dates = secrets.map((secret) => [
    'secret',
    `since ${readable(secret.created_at)}, ends ${readable(secret.ends_at)}, last used ${readable(secret.last_used_at)}`,
  ])
  return aligned([...rows, ...dates])
}

const withSecret = (app: Shown): string =>
  (app.app_secret === null
    ? details(app)
    : `${details(app)}\n\napp_secret  ${app.app_secret}\n\nThe secret is shown only once. Keep it on the server; never give it to a client.`) +
  webhookSecretText(app.webhook_secret)

function table(apps: readonly MicroApp[]): string {
  if (apps.length === 0) return 'no micro-apps yet'
  const rows = apps.map((app) => [app.app_key, app.status, readable(app.scopes), readable(app.hosts), app.name])
  return aligned([['APP_KEY', 'STATUS', 'SCOPES', 'HOSTS', 'NAME'], ...rows])
}
