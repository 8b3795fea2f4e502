import type { Command } from 'commander'
import { z } from 'zod'
import { positiveId } from '../../platform/lib/json/fields.ts'
import { findPartner } from '../../ticketing/partners/index.ts'
import { addOptions } from './action-options.ts'
import type { CliContext } from './context.ts'
import { defineCommand } from './operation.ts'
import { answerLimit, type SandboxCaller, SandboxClient } from './sandbox-client.ts'

const address = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
  .refine((text) => !/[?#@]/.test(text), 'must not have a query, a fragment or a user name')

/** Options that say as which partner a command acts. */
export const callerFields = {
  partner: positiveId.optional().describe('as this partner of the database; its clientSecret is read there'),
  client_id: z
    .string()
    .min(1)
    .optional()
    .describe('as this partner without a database; its clientSecret is in CLIENT_SECRET'),
  partner_id: positiveId.optional().describe('with --client-id: its PartnerId, which only live partners may leave out'),
  url: address.optional().describe('of the platform (default: PARTNER_URL, http://localhost:3000)'),
}

interface CallerInput {
  readonly partner?: bigint | undefined
  readonly client_id?: string | undefined
  readonly partner_id?: bigint | undefined
  readonly url?: string | undefined
}

/** For superRefine: there must be exactly one source of the partner's secret. */
export function oneCaller({ partner, client_id, partner_id }: CallerInput, context: z.core.$RefinementCtx): void {
  if ((partner === undefined) === (client_id === undefined)) {
    context.addIssue({ code: 'custom', path: ['partner'], message: 'or --client-id is required, and only one of them' })
  }
  if (partner !== undefined && partner_id !== undefined) {
    context.addIssue({ code: 'custom', path: ['partner_id'], message: 'goes with --client-id only' })
  }
}

/** Defines a command that acts as a partner. Its options are the fields of `input`, with their descriptions as help. */
export function callerCommand<Input extends CallerInput>(
  command: Command,
  context: CliContext,
  input: z.ZodType<Input>,
  act: (input: Input, json: boolean, client: () => Promise<SandboxClient>) => Promise<void>,
): void {
  const { typed, flags } = addOptions(command, input)
  const takesRun = command.registeredArguments.length > 0
  const inputFrom = (options: Readonly<Record<string, unknown>>, run_id?: string) => ({
    ...typed(options),
    ...(takesRun ? { run_id } : {}),
  })
  defineCommand(command, { input, inputFrom, flags: { ...flags, run_id: 'run_id' } }, (given, json) =>
    act(given, json, async () => new SandboxClient(await credentialsOf(context, given), answerLimit())),
  )
}

export interface FoundCredentials extends SandboxCaller {
  /** Base URL of the partner's interfaces; only the database knows it. */
  readonly baseUrl: string | null
}

const DEFAULT_URL = 'http://localhost:3000'

export async function credentialsOf(context: CliContext, input: CallerInput): Promise<FoundCredentials> {
  const { partner, client_id, partner_id, url } = input
  if (partner !== undefined) {
    return context.withDeps(async (deps) => {
      const registered = await findPartner(deps, partner)
      const secret = registered?.secrets.find(({ signs }) => signs) ?? registered?.secrets[0]
      if (!registered || !secret) throw new Error(`partner ${partner} does not exist`)
      const { client_id: clientId, base_url: baseUrl } = registered
      return {
        url: url ?? deps.config.PARTNER_URL,
        clientId,
        clientSecret: secret.secret,
        partnerId: String(partner),
        baseUrl,
      }
    })
  }
  const { CLIENT_SECRET: clientSecret } = context.terminal.env
  if (!clientSecret) throw new Error('--client-id needs the clientSecret in the environment: CLIENT_SECRET')
  return {
    url: url ?? DEFAULT_URL,
    clientId: client_id ?? '',
    clientSecret,
    partnerId: partner_id?.toString(),
    baseUrl: null,
  }
}
