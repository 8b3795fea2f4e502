import { expect, it } from 'vitest'
import { contentWarnings } from '../../../src/ticketing/mws/diagnose/warnings.ts'

it.each([
  ['{"partnerId":7001,"body":{}}', []],
  ['{"partnerId":"7001","body":{}}', []],
  ['{"partnerId":7002,"body":{}}', ['body-partner-id-mismatch']],
  ['{"partnerId":{"toString":1},"body":{}}', ['body-partner-id-mismatch']],
  ['{"partnerId":null,"body":{}}', ['body-partner-id-missing']],
])('a body %s causes the warnings %j', (body, warnings) => {
  const content = { type: 'application/json', encryption: undefined, bytes: () => Buffer.from(body) }
  expect(contentWarnings({ partner_id: 7001n, aes_key: null }, content)).toEqual(warnings)
})
