import type { GeneratorMessage, Turn } from './ask.ts'
import { type Prepared, readList } from './list.ts'
import { runTurn } from './turn.ts'

/** The load generator: a separate process that runs turns, with the same code for every contestant. */

const say = (message: GeneratorMessage): boolean | undefined => process.send?.(message)

/** Lists for random order are kept for later turns; those whose requests must not repeat are used once. */
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
