import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { fieldReference } from '../../src/sandbox/portal/docs/reference.ts'
import { jsonSchemas } from '../../src/sandbox/portal/exports/json-schema.ts'
import { INTERFACES } from '../../src/ticketing/interfaces/index.ts'
import { readAnswer } from '../../src/ticketing/interfaces/read-answer.ts'
import { orderRefund } from '../../src/ticketing/interfaces/refund.ts'

describe('the body of an answer', () => {
  const { notices, interfaces } = fieldReference('en')
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(jsonSchemas([...notices, ...interfaces]), 'schemas')
  const envelope = { code: 200, describe: 'success', partnerId: '7001' }

  it.each(INTERFACES.filter(({ answer }) => 'body' in answer.shape))(
    'of $name is required by the reference and the schemas exactly when the checks need it',
    (entry) => {
      const isNeeded = readAnswer(entry, envelope).outcome !== 'success'
      const section = interfaces.find(({ name }) => name === entry.name)
      const body = section?.parts[1]?.fields.find(({ path }) => path === 'body')
      expect(body?.required).toBe(isNeeded)
      const name = `${entry.name.replace(/(?:^|-)(\w)/g, (_all, letter: string) => letter.toUpperCase())}Response`
      const fits = ajv.compile({ $ref: `schemas#/$defs/${name}` })
      expect(fits(envelope)).toBe(!isNeeded)
      expect(fits(JSON.parse(section?.parts[1]?.example ?? ''))).toBe(true)
    },
  )

  it('of a refund may be left out', () => {
    expect(readAnswer(orderRefund, envelope).outcome).toBe('success')
  })
})
