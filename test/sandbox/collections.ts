import { createHmac } from 'node:crypto'
import { runInNewContext } from 'node:vm'
import { crc32 } from 'node:zlib'
import bruLang from '@usebruno/lang'
import { expect } from 'vitest'

/** Runs the requests of a collection as Postman and Bruno do: script before, request over HTTP, tests after. */

export type Variables = Readonly<Record<string, string>>

/** The part of `crypto-js` that both programs offer to scripts. */
const cryptoJs = {
  enc: { Base64: 'base64' },
  HmacSHA1: (text: string, key: string) => ({
    toString: (encoding: 'base64') => createHmac('sha1', key).update(text).digest(encoding),
  }),
}
const require = (name: string) => {
  if (name !== 'crypto-js') throw new Error(`no ${name} in the sandbox of a collection`)
  return cryptoJs
}

const filled = (text: string, variables: Variables): string =>
  text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => variables[name] ?? whole)

export interface Ran {
  readonly name: string
  readonly answer: { readonly code: unknown; readonly describe?: unknown }
  /** Names of the tests that passed. */
  readonly passed: readonly string[]
}

async function send(url: string, headers: Record<string, string>, body: string) {
  const response = await fetch(url, { method: 'POST', headers, body })
  return { status: response.status, json: JSON.parse(await response.text()) }
}

export interface PostmanItem {
  readonly name: string
  readonly request: {
    readonly method: string
    readonly header: readonly { readonly key: string; readonly value: string }[]
    readonly url: { readonly raw: string }
    readonly body: { readonly raw: string }
  }
}
export interface Postman {
  readonly info: { readonly schema: string }
  readonly variable: readonly { readonly key: string; readonly value: string }[]
  readonly event: readonly { readonly listen: string; readonly script: { readonly exec: readonly string[] } }[]
  readonly item: readonly { readonly name: string; readonly item: readonly PostmanItem[] }[]
}

export async function runPostman({ event }: Postman, item: PostmanItem, variables: Variables): Promise<Ran> {
  const { request, name } = item
  const headers = Object.fromEntries(request.header.map(({ key, value }) => [key, value]))
  const script = (listen: string) => event.find((one) => one.listen === listen)?.script.exec.join('\n') ?? ''
  const passed: string[] = []
  const pm = {
    variables: { get: (key: string) => variables[key], replaceIn: (text: string) => filled(text, variables) },
    request: {
      method: request.method,
      url: { toString: () => request.url.raw },
      headers: { upsert: ({ key, value }: { key: string; value: string }) => Object.assign(headers, { [key]: value }) },
    },
    expect,
    test: (title: string, check: () => void) => {
      check()
      passed.push(title)
    },
  }
  // Postman itself declares CryptoJS.
  runInNewContext(`let CryptoJS\n${script('prerequest')}`, { pm, require })
  const { status, json } = await send(filled(request.url.raw, variables), headers, filled(request.body.raw, variables))
  const response = { to: { have: { status: (wanted: number) => expect(status).toBe(wanted) } }, json: () => json }
  runInNewContext(script('test'), { pm: { ...pm, response } })
  return { name, answer: json, passed }
}

export async function runBruno(script: string, name: string, text: string, variables: Variables): Promise<Ran> {
  const { http, headers: given, body, tests } = bruLang.bruToJsonV2(text)
  const headers = Object.fromEntries(given.map((header) => [header.name, header.value]))
  const passed: string[] = []
  const req = {
    getUrl: () => http.url,
    getMethod: () => http.method.toUpperCase(),
    setHeader: (header: string, value: string) => Object.assign(headers, { [header]: value }),
  }
  runInNewContext(script, { req, bru: { getEnvVar: (key: string) => variables[key] }, require })
  const { status, json } = await send(filled(http.url, variables), headers, filled(body.json, variables))
  const test = (title: string, check: () => void) => {
    check()
    passed.push(title)
  }
  runInNewContext(tests, { res: { getStatus: () => status, getBody: () => json }, expect, test })
  return { name, answer: json, passed }
}

/** The files of a zip with uncompressed entries, read through its central directory. */
export function unzipped(zip: Buffer): Map<string, string> {
  const files = new Map<string, string>()
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'))
  let at = zip.readUInt32LE(end + 16)
  for (let count = zip.readUInt16LE(end + 10); count > 0; count--) {
    const [size, nameLength, offset] = [zip.readUInt32LE(at + 24), zip.readUInt16LE(at + 28), zip.readUInt32LE(at + 42)]
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    const start = offset + 30 + zip.readUInt16LE(offset + 26)
    const data = zip.subarray(start, start + size)
    expect(crc32(data), name).toBe(zip.readUInt32LE(at + 16))
    files.set(name, data.toString())
    at += 46 + nameLength
  }
  return files
}
