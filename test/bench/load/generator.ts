import type { GeneratorMessage, Turn } from './ask.ts'
import { type Prepared, readList } from './list.ts'
import { runTurn } from './turn.ts'

/** The load generator: a process of its own that runs the turns it is told to, the same code for every contestant. */

const say = (message: GeneratorMessage): boolean | undefined => process.send?.(message)

/** The list of tokens is asked again and again; lists of which nothing may come twice are read once. */
const kept = new Map<string, Prepared[]>()

async function listOf({ list, order }: Turn): Promise<Prepared[]> {
  const known = kept.get(list)
  if (known) return known
  const read = await readList(list)
  if (order === 'random') kept.set(list, read)
  return read
}

process.on('message', async (turn: Turn) => {
  try {
    const list = await listOf(turn)
    global.gc?.()
    const result = await runTurn(turn, list, () => say({ kind: 'measuring' }))
    say({ kind: 'done', result })
  } catch (error) {
    say({ kind: 'failed', problem: (error as Error).message })
  }
})
process.on('disconnect', () => process.exit())
