import type { Command } from 'commander'
import { z } from 'zod'
import { type SettingInForce, settingsInForce } from '../config/in-force.ts'
import type { CliContext } from './context.ts'
import { defineCommand } from './operation.ts'
import { aligned } from './text.ts'

/** `gatehouse settings`: as over /admin/v1/settings, of the process that answers; without GATEHOUSE_URL of this machine. */
export function settingsCommand(program: Command, context: CliContext): void {
  const command = program.command('settings').description('settings as in force; secrets are not shown')
  defineCommand(command, context, {
    input: z.strictObject({}),
    inputFrom: () => ({}),
    run: async ({ config }) => settingsInForce(config),
    text: ({ settings }) => aligned([['SETTING', 'VALUE'], ...settings.map((one) => [one.name, shown(one)])]),
  })
}

const shown = ({ value, secret }: SettingInForce): string => {
  if (secret) return 'set, not shown'
  return value === null ? 'not set' : String(value)
}
