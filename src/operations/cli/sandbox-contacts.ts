import type { Command } from 'commander'
import { z } from 'zod'
import { setContact } from '../../ticketing/partners/index.ts'
import type { CliContext } from './context.ts'
import { print } from './report.ts'
import { callerCommand, callerFields, oneCaller } from './sandbox-caller.ts'
import { contactsAnswer, type ShownContacts } from './sandbox-wire.ts'
import { aligned } from './text.ts'

const { name, mail } = setContact.input.shape
const input = z
  .strictObject({
    ...callerFields,
    product_name: name.optional().describe('name of the product contact'),
    product_mail: mail.optional().describe('its email address'),
    business_name: name.optional().describe('name of the business contact'),
    business_mail: mail.optional().describe('its email address'),
  })
  .superRefine((given, context) => {
    oneCaller(given, context)
    for (const role of ['product', 'business'] as const) {
      const [named, mailed] = [`${role}_name`, `${role}_mail`] as const
      const missing = given[named] === undefined ? named : mailed
      if ((given[named] === undefined) !== (given[mailed] === undefined)) {
        context.addIssue({ code: 'custom', path: [missing], message: 'is required too' })
      }
    }
  })

/** `gatehouse sandbox contacts`: shows the partner's contacts, which acceptance needs, after setting those given. */
export function contactsCommand(sandbox: Command, context: CliContext): void {
  const command = sandbox
    .command('contacts')
    .description('contacts notified when a run passes; acceptance needs both. Sets those given')
  callerCommand(command, context, input, async (given, json, open) => {
    const client = await open()
    const person = (who?: string, where?: string) => (who && where ? { name: who, mail: where } : undefined)
    const product = person(given.product_name, given.product_mail)
    const business = person(given.business_name, given.business_mail)
    const { contacts, missing_contacts } =
      product || business
        ? await client.post(contactsAnswer, '/contacts', { body: { product, business } })
        : await client.get(contactsAnswer, '/contacts')
    print(context.terminal, json, { contacts, missing_contacts }, contactsText)
  })
}

function contactsText({ contacts, missing_contacts }: ShownContacts): string {
  const rows = Object.entries(contacts).map(([role, who]) => [role, who.name, who.mail])
  return aligned([...rows, ...missing_contacts.map((role) => [role, 'missing; acceptance needs it'])])
}
