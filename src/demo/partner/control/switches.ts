import { refuse } from '../answer.ts'
import { type Fields, texts } from '../fields.ts'
import { MISTAKES, type Mistake, type Switches } from '../mistakes/mistakes.ts'

const isMistake = (name: string): name is Mistake => Object.hasOwn(MISTAKES, name)

export const describeMistakes = (switches: Switches): object => ({ mistakes: [...switches], known: MISTAKES })

/** Switches on the mistakes in the list, and all others off. */
export function switchMistakes(switches: Switches, input: Fields): object {
  const wanted = texts(input, 'mistakes').map((name) => (isMistake(name) ? name : refuse(400, `no mistake ${name}`)))
  switches.clear()
  for (const mistake of wanted) switches.add(mistake)
  return describeMistakes(switches)
}
