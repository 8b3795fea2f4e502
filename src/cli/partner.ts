import type { Command } from 'commander'
import { z } from 'zod'
import type { ServiceDeps } from '../jobs/index.ts'
import { rotation } from '../lib/crypto/generated-secret.ts'
import type { OutputOf } from '../lib/json/input.ts'
import {
  activatePartner,
  CONTACT_ROLES,
  createPartner,
  listPartners,
  PARTNER_FIELDS,
  retireSecret,
  rotatePartnerSecret,
  rotateWebhookSecret,
  setContact,
  setStage,
  showPartner,
  suspendPartner,
  switchSigning,
  type TestCallWith,
  updatePartner,
} from '../partners/index.ts'
import type { CliContext } from './context.ts'
import { fieldsFrom, flagsOf, withFieldOptions } from './field-options.ts'
import { defineListCommand } from './list.ts'
import { defineCommand } from './operation.ts'
import { keyCommands, NAMED, one, runsOnPartner, second, withKeyArgument } from './partner-key.ts'
import { memberCommands } from './partner-members.ts'
import { noticesCommand } from './partner-notices.ts'
import { reachCommands } from './partner-reach.ts'
import { details, table, warned, withSecret, withWebhookSecret } from './partner-text.ts'
import { numberIfOne } from './text.ts'

const { role, ...who } = setContact.input.shape
const contactOfOne = z.strictObject({ ...who, ...one.shape, role })

/** `gatehouse partner …`: as over /admin/v1/partners. */
export function partnerCommands(program: Command, context: CliContext, testCallWith: TestCallWith<ServiceDeps>): void {
  const partner = program.command('partner').description('ticket sellers that are integrated over signed calls')
  createCommand(partner, context)
  listCommand(partner, context)
  const simple = (
    name: string,
    description: string,
    run: (deps: ServiceDeps, id: bigint) => Promise<OutputOf<typeof showPartner>>,
  ) => runsOnPartner(withKeyArgument(partner, name, description), context, run, details)
  simple('show', 'one partner and the dates of its secrets', showPartner)
  updateCommand(partner, context)
  rotateSecretCommand(partner, context)
  simple('switch-signing', 'sign our calls with the newest secret, if a test call with it passes', (deps, id) =>
    switchSigning(deps, id, testCallWith(deps)),
  )
  simple('retire-secret', 'end the old secret now, not after its overlap', retireSecret)
  simple('suspend', 'refuse its notices until it is active again', suspendPartner)
  simple('activate', 'end a suspension', activatePartner)
  stageCommand(partner, context)
  contactCommand(partner, context)
  webhookSecretCommand(partner, context)
  noticesCommand(withKeyArgument(partner, 'notices', 'its newest notices, accepted and refused'), context)
  keyCommands(partner, context)
  memberCommands(partner, context)
  reachCommands(partner, context)
}

function createCommand(partner: Command, context: CliContext): void {
  const command = partner.command('create').description('register a partner; shows its clientSecret once')
  withFieldOptions(command, PARTNER_FIELDS, 'created')
  defineCommand(command, context, {
    input: createPartner.input,
    inputFrom: (options) => fieldsFrom(options, PARTNER_FIELDS, 'created'),
    run: (deps, input) => createPartner(deps, input),
    after: (partner) => warned(context, partner),
    text: withSecret,
    flags: flagsOf(PARTNER_FIELDS),
  })
}

function listCommand(partner: Command, context: CliContext): void {
  const command = partner
    .command('list')
    .description('partners, oldest first')
    .option('--name <beginning>', 'only those whose name begins with this')
    .option('--client-id <beginning>', 'only those whose clientId begins with this')
    .option('--stage <stage>', 'sandbox or live')
    .option('--status <status>', 'active or suspended')
  defineListCommand(command, context, {
    plural: 'partners',
    input: listPartners.input,
    inputFrom: ({ name, clientId, stage, status }) => ({ name, client_id: clientId, stage, status }),
    page: listPartners,
    table,
  })
}

function updateCommand(partner: Command, context: CliContext): void {
  const command = withKeyArgument(partner, 'update', 'change the given fields; a list replaces the whole list')
  withFieldOptions(command, PARTNER_FIELDS, 'changed')
  defineCommand(command, context, {
    input: updatePartner.input.extend(one.shape),
    inputFrom: (options, partner_id) => ({ ...fieldsFrom(options, PARTNER_FIELDS, 'changed'), partner_id }),
    run: (deps, { partner_id, ...changes }) => updatePartner(deps, partner_id, changes),
    after: (partner) => warned(context, partner),
    text: details,
    flags: { ...flagsOf(PARTNER_FIELDS), ...NAMED },
  })
}

function rotateSecretCommand(partner: Command, context: CliContext): void {
  const command = withKeyArgument(
    partner,
    'rotate-secret',
    'issue a new clientSecret beside the one that signs our calls',
  ).option('--overlap <seconds>', 'how long the old one works after switch-signing (default: 86400)', numberIfOne)
  defineCommand(command, context, {
    input: rotation.extend(one.shape),
    inputFrom: (options, partner_id) => ({ overlap_s: options.overlap, partner_id }),
    run: (deps, { partner_id, ...input }) => rotatePartnerSecret(deps, partner_id, input),
    text: withSecret,
    flags: { ...NAMED, overlap_s: '--overlap' },
  })
}

function stageCommand(partner: Command, context: CliContext): void {
  const command = withKeyArgument(partner, 'stage', 'move it to the sandbox or live', 'stage')
  defineCommand(command, context, {
    input: setStage.input.extend(one.shape),
    inputFrom: (_, partner_id) => ({ partner_id, stage: second(command) }),
    run: (deps, { partner_id, ...change }) => setStage(deps, partner_id, change),
    text: details,
    flags: NAMED,
  })
}

/** The schema has checked it. */
const roleIn = (role: unknown): string => z.enum(CONTACT_ROLES).parse(role)

function contactCommand(partner: Command, context: CliContext): void {
  const command = withKeyArgument(partner, 'contact', 'set or replace its product or business contact', 'role')
    .option('--name <name>', 'name of the person or team')
    .option('--mail <address>', 'email address for notifications')
    .option('--webhook-url <url>', 'URL that also gets the notifications')
  defineCommand(command, context, {
    input: contactOfOne,
    inputFrom: ({ name, mail, webhookUrl }, partner_id) => ({
      partner_id,
      role: second(command),
      name,
      mail,
      webhook_url: webhookUrl,
    }),
    route: ({ role, ...fields }) => ({ route: `PUT /partners/:partner_id/contacts/${roleIn(role)}`, fields }),
    run: (deps, { partner_id, ...contact }) => setContact(deps, partner_id, contact),
    after: (partner) => warned(context, partner),
    text: withWebhookSecret,
    flags: NAMED,
  })
}

function webhookSecretCommand(partner: Command, context: CliContext): void {
  const description = "issue a new secret that signs calls to a contact's webhook from now on; shown once"
  const command = withKeyArgument(partner, 'rotate-webhook-secret', description, 'role')
  defineCommand(command, context, {
    input: one.extend({ role }),
    inputFrom: (_, partner_id) => ({ partner_id, role: second(command) }),
    route: ({ role, ...fields }) => ({
      route: `POST /partners/:partner_id/contacts/${roleIn(role)}/rotate-webhook-secret`,
      fields,
    }),
    run: (deps, { partner_id, role }) => rotateWebhookSecret(deps, partner_id, role),
    text: withWebhookSecret,
    flags: NAMED,
  })
}
