import type { Command } from 'commander'
import { z } from 'zod'
import {
  approveMicroApp,
  createMicroApp,
  listMicroApps,
  showMicroApp,
  suspendMicroApp,
  updateMicroApp,
} from '../registry/micro-app.ts'
import { rotateSecret } from '../registry/secret.ts'
import { type MicroApp, microAppChanges, newMicroApp, rotation, type SecretDates } from '../registry/wire.ts'
import type { CliContext } from './context.ts'
import { runs } from './operation.ts'
import { aligned, collect, collectWords, numberIfOne, readable } from './text.ts'

const LISTS = { hosts: '--host', redirect_uris: '--redirect-uri', scopes: '--scope', http_allowed: '--http' }
const NAMED = { app_key: 'app_key' }
const one = z.strictObject({ app_key: z.string() })

/** `gatehouse app …`: micro-apps, as over /admin/v1/apps. */
export function appCommands(program: Command, context: CliContext): void {
  const app = program.command('app').description('micro-apps: who may ask users for what')
  createCommand(app, context)
  listCommand(app, context)
  updateCommand(app, context)
  rotateSecretCommand(app, context)
  const byKey = { input: one, typed: (_: unknown, app_key: string | undefined) => ({ app_key }), flags: NAMED }
  runs(named(app, 'show', 'one micro-app and the dates of its secrets'), context, {
    ...byKey,
    run: (deps, { app_key }) => showMicroApp(deps, app_key),
    text: details,
  })
  runs(named(app, 'approve', 'let it ask users for consent; also ends a suspension'), context, {
    ...byKey,
    run: (deps, { app_key }) => approveMicroApp(deps, app_key),
    text: details,
  })
  runs(named(app, 'suspend', 'no consent, no tokens, no data until it is approved again'), context, {
    ...byKey,
    run: (deps, { app_key }) => suspendMicroApp(deps, app_key),
    text: details,
  })
}

// In brackets for commander, so that a missing key is reported together with all other problems.
const named = (app: Command, name: string, description: string): Command =>
  app.command(name).description(description).argument('[app_key]').usage('<app_key> [options]')

function createCommand(app: Command, context: CliContext): void {
  const command = fieldOptions(app.command('create').description('register a micro-app; shows its app_secret once'))
    .option('--app-key <key>', 'its key (default: a new one)')
    .option('--status <status>', 'approved or pending (default: approved)')
  runs(command, context, {
    input: newMicroApp,
    typed: (options) => ({ ...fieldsOf(options), app_key: options.appKey, status: options.status }),
    run: (deps, input) => createMicroApp(deps, input),
    text: withSecret,
    flags: LISTS,
  })
}

function listCommand(app: Command, context: CliContext): void {
  runs(app.command('list').description('all micro-apps'), context, {
    input: z.strictObject({}),
    typed: () => ({}),
    run: async (deps) => ({ apps: await listMicroApps(deps) }),
    text: ({ apps }) => table(apps),
  })
}

function updateCommand(app: Command, context: CliContext): void {
  const command = fieldOptions(named(app, 'update', 'change what is given; a list replaces the whole list'))
    .option('--no-logo-url', 'without a logo')
    .option('--no-redirect-uri', 'any redirect URI on a registered host')
  runs(command, context, {
    input: microAppChanges.extend(one.shape),
    typed: (options, app_key) => ({ ...fieldsOf(options), app_key }),
    run: (deps, { app_key, ...changes }) => updateMicroApp(deps, app_key, changes),
    text: details,
    flags: { ...LISTS, ...NAMED },
  })
}

function rotateSecretCommand(app: Command, context: CliContext): void {
  const command = named(app, 'rotate-secret', 'a new app_secret at once; the old one works for a while yet').option(
    '--overlap <seconds>',
    'how long the old one still works (default: 86400)',
    numberIfOne,
  )
  runs(command, context, {
    input: rotation.extend(one.shape),
    typed: (options, app_key) => ({ overlap_s: options.overlap, app_key }),
    run: (deps, { app_key, ...input }) => rotateSecret(deps, app_key, input),
    text: withSecret,
    flags: { ...NAMED, overlap_s: '--overlap' },
  })
}

const fieldOptions = (command: Command): Command =>
  command
    .option('--name <name>', 'shown to users on the consent page')
    .option('--host <host>', 'where answers may go: host, host:port or *.host (repeat for more)', collect)
    .option('--scope <scope>', 'USER_INFO or PHONE_NUMBER (repeat for both)', collectWords)
    .option('--redirect-uri <uri>', 'only these exact URIs instead of whole hosts (repeat for more)', collect)
    .option('--logo-url <url>', 'shown to users on the consent page')
    .option('--refresh-days <days>', 'life of a refresh token: 7, 30, 60 or 90 (at first 30)', numberIfOne)
    .option('--refresh-policy <policy>', 'fixed or rotating (at first fixed)')
    .option('--http', 'allow redirect URIs without TLS (as at first)')
    .option('--no-http', 'https only; loopback hosts excepted')

const fieldsOf = (options: Readonly<Record<string, unknown>>) => ({
  name: options.name,
  logo_url: options.logoUrl === false ? null : options.logoUrl,
  hosts: options.host,
  redirect_uris: options.redirectUri === false ? [] : options.redirectUri,
  scopes: options.scope,
  refresh_days: options.refreshDays,
  refresh_policy: options.refreshPolicy,
  http_allowed: options.http,
})

type Shown = MicroApp & { secrets?: readonly SecretDates[]; app_secret?: string }

function details({ secrets = [], app_secret: _, ...app }: Shown): string {
  const rows = Object.entries(app).map(([field, value]) => [field, readable(value)])
  const dates = secrets.map((secret) => [
    'secret',
    `since ${readable(secret.created_at)}, ends ${readable(secret.ends_at)}, last used ${readable(secret.last_used_at)}`,
  ])
  return aligned([...rows, ...dates])
}

const withSecret = (app: Shown): string =>
  `${details(app)}\n\napp_secret  ${app.app_secret}\n\nThe secret is shown this once. Keep it on the server; never hand it to a client.`

function table(apps: readonly MicroApp[]): string {
  if (apps.length === 0) return 'no micro-apps yet'
  const rows = apps.map((app) => [app.app_key, app.status, readable(app.scopes), readable(app.hosts), app.name])
  return aligned([['APP_KEY', 'STATUS', 'SCOPES', 'HOSTS', 'NAME'], ...rows])
}
