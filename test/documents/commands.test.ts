import { describe, expect, it } from 'vitest'
import { gatehouse } from '../cli-runner.ts'
import { DOCUMENTS, read, rowsAfter } from './document.ts'

/** A `gatehouse` command as a document shows it: the words of its name and its options. */
interface DocumentedCommand {
  readonly name: readonly string[]
  readonly options: readonly string[]
}

/** `npx gatehouse partner update 7001 --encrypt-calls` is the command `partner update` with one option. */
function commandsIn(document: string): DocumentedCommand[] {
  // In a code block a command ends with its line unless a backslash continues it; in prose a command may wrap.
  const parts = document.split(/^```.*$/m).map((part, at) => part.replace(at % 2 === 0 ? /\s+/g : /\\\n\s*/g, ' '))
  const joined = parts.join('\n')
  return [...joined.matchAll(/npx gatehouse ([^`\n#]*)/g)].map(([, rest = '']) => {
    const words = rest.trim().split(/\s+/)
    const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
    const name = end < 0 ? words : words.slice(0, end)
    return { name: name.slice(0, 3), options: words.filter((word) => /^--[a-z]/.test(word)) }
  })
}

/** The daily questions of OPERATIONS name commands without the words that all begin with. */
const questions = rowsAfter('.github/OPERATIONS.md', 'daily questions').map((row) =>
  row.replace(/`([a-z][^`]*)`/g, '`npx gatehouse $1`'),
)
const alerts = read('src/operations/metrics/alerts.yml')
const documented = [...DOCUMENTS.map(read), alerts, ...questions].flatMap(commandsIn)
const names = [...new Set(documented.map(({ name }) => name.join(' ')))].filter((name) => name !== '').sort()

describe('the commands that documents and alerts name', () => {
  it('are found', () => expect(names.length).toBeGreaterThan(10))

  it.each(names)('gatehouse %s exists and has the documented options', async (name) => {
    const { code, stdout } = await gatehouse({}, ...name.split(' '), '--help')
    expect(code, stdout).toBe(0)
    const usage = stdout.split('\n', 1)[0]
    expect(usage).toContain(`gatehouse ${name}`)
    const options = documented.filter((one) => one.name.join(' ') === name).flatMap((one) => one.options)
    for (const option of options) expect(stdout, option).toContain(option)
  })
})
