import { describe, expect, it } from 'vitest'
import { gatehouse } from '../cli-runner.ts'
import { DOCUMENTS, read, rowsAfter } from './document.ts'

/** A command of the operator's command line as a document tells to run it: the words of its name, and its options. */
interface Told {
  readonly name: readonly string[]
  readonly options: readonly string[]
}

/** `npx gatehouse partner update 7001 --encrypt-calls` is told as the command `partner update` with one option. */
function commandsIn(document: string): Told[] {
  // In a block of code a line ends a command, unless it ends with a backslash; in a text a command may go over two lines.
  const parts = document.split(/^```.*$/m).map((part, at) => part.replace(at % 2 === 0 ? /\s+/g : /\\\n\s*/g, ' '))
  const joined = parts.join('\n')
  return [...joined.matchAll(/npx gatehouse ([^`\n#]*)/g)].map(([, rest = '']) => {
    const words = rest.trim().split(/\s+/)
    const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
    const name = end < 0 ? words : words.slice(0, end)
    return { name: name.slice(0, 3), options: words.filter((word) => /^--[a-z]/.test(word)) }
  })
}

const told = DOCUMENTS.flatMap((path) => commandsIn(read(path)))
const names = [...new Set(told.map(({ name }) => name.join(' ')))].filter((name) => name !== '').sort()

describe('a command that a document names', () => {
  it('is found at all', () => expect(names.length).toBeGreaterThan(10))

  it.each(names)('gatehouse %s exists, with the options that are named', async (name) => {
    const { code, stdout } = await gatehouse({}, ...name.split(' '), '--help')
    expect(code, stdout).toBe(0)
    const usage = stdout.split('\n', 1)[0]
    expect(usage).toContain(`gatehouse ${name}`)
    const options = told.filter((one) => one.name.join(' ') === name).flatMap((one) => one.options)
    for (const option of options) expect(stdout, option).toContain(option)
  })
})

it('the daily questions of OPERATIONS name what stands on the pages of the console', () => {
  const texts = new Set(Object.values(JSON.parse(read('views/locales/en.json'))))
  const rows = rowsAfter('.github/OPERATIONS.md', 'daily questions')
  const named = rows.flatMap((row) => [...row.matchAll(/"([^"]+)"/g)].map(([, text]) => text))
  expect(named.length).toBeGreaterThan(10)
  for (const text of named) expect(texts, text).toContain(text)
})
