import type { Command } from 'commander'
import { z } from 'zod'
import { partnerId } from '../registry/index.ts'

/** What commands about one partner have in common: `gatehouse partner <name> <partner_id> …`. */

export const one = z.strictObject({ partner_id: partnerId })

/** How the arguments are called in messages. */
export const NAMED = { partner_id: 'partner_id', stage: 'stage', role: 'role' }

// In brackets for commander, so that a missing id is reported together with all other problems.
export const named = (partner: Command, name: string, description: string, next?: string): Command => {
  const command = partner.command(name).description(description).argument('[partner_id]')
  if (next) command.argument(`[${next}]`)
  return command.usage(`<partner_id> ${next ? `<${next}> ` : ''}[options]`)
}

export const second = (command: Command): string | undefined => command.args.filter((text) => !text.startsWith('-'))[1]
