import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { readUtf8 } from '../../platform/lib/utf8.ts'
import type { Terminal } from './terminal.ts'

/** Reads secrets from a prompt without echo or from standard input: anybody who lists processes sees arguments. */

/** Standard input without the final line break that `echo` and editors add. */
async function fromStandardInput({ stdin }: Terminal, field: string): Promise<string> {
  const read = readUtf8(await buffer(stdin))
  if ('problem' in read) throw new InvalidInput([{ field: `--${field}-stdin`, problem: `is ${read.problem}` }])
  return read.text.replace(/\r?\n$/, '')
}

async function fromPrompt({ stdin, stderr }: Terminal, question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: silent, terminal: true })
  stderr.write(question)
  try {
    const line = once(lines, 'line')
    const ended = once(lines, 'close').then(() => undefined)
    const typed = await Promise.race([line, ended])
    if (!typed) throw new Error('nothing was typed')
    return String(typed[0])
  } finally {
    lines.close()
    stderr.write('\n')
  }
}

interface Prompt {
  /** The input field that the secret fills, such as `password`. */
  readonly field: string
  readonly question: string
  readonly fromInput: boolean
  /** Ask a person to type it again. */
  readonly twice?: boolean
}

/** What was typed or piped in; undefined if there is no terminal and standard input was not chosen by its option. */
export async function readSecret(
  terminal: Terminal,
  { field, question, fromInput, twice = false }: Prompt,
): Promise<string | undefined> {
  if (fromInput) return fromStandardInput(terminal, field)
  if (!terminal.stdin.isTTY) return undefined
  const typed = await fromPrompt(terminal, `${question}: `)
  if (twice && (await fromPrompt(terminal, `${question} again: `)) !== typed) {
    throw new InvalidInput([{ field: `--${field}`, problem: 'was typed differently the second time' }])
  }
  return typed
}
