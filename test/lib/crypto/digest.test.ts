import { createHash, createHmac, randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { hmacSha256, sha256 } from '../../../src/platform/lib/crypto/digest.ts'

const asNodeDoes = (key: Buffer, message: Buffer) => createHmac('sha256', key).update(message).digest()

it('HMAC-SHA256 equals that of node:crypto, for keys and messages of any length', () => {
  for (let length = 0; length <= 200; length++) {
    const key = randomBytes(length)
    const message = randomBytes(200 - length)
    expect(hmacSha256(key, message), `a key of ${length} bytes`).toEqual(asNodeDoes(key, message))
  }
})

it('an HMAC joins its parts to one message, with text as UTF-8', () => {
  const key = randomBytes(32)
  const bytes = randomBytes(27)
  const whole = Buffer.concat([Buffer.from('Prüfung 门票 🎫\n'), bytes])
  expect(hmacSha256(key, 'Prüfung 门票 ', '🎫\n', bytes)).toEqual(asNodeDoes(key, whole))
})

it('an HMAC covers the whole message, however long its parts and whatever was hashed before', () => {
  const key = randomBytes(32)
  for (const unit of ['a', 'ü', '门', '🎫', '\ud800']) {
    for (const length of [0, 1, 160, 170, 171, 400, 511, 512, 513, 2000]) {
      const [text, bytes] = [unit.repeat(length), randomBytes(length)]
      const whole = Buffer.concat([Buffer.from(text), bytes, Buffer.from('end')])
      expect(hmacSha256(key, text, bytes, 'end'), `${length} of ${unit}`).toEqual(asNodeDoes(key, whole))
      expect(hmacSha256(key, 'short')).toEqual(asNodeDoes(key, Buffer.from('short')))
    }
  }
})

it('an HMAC is repeatable, and differs under another key', () => {
  const [one, other] = [randomBytes(32), randomBytes(32)]
  expect(hmacSha256(one, 'text')).toEqual(hmacSha256(one, 'text'))
  expect(hmacSha256(one, 'text')).not.toEqual(hmacSha256(other, 'text'))
})

it('a hash equals that of node:crypto, for text and bytes', () => {
  for (const data of ['', '门票', randomBytes(300)]) {
    expect(sha256(data)).toEqual(createHash('sha256').update(data).digest())
  }
})
