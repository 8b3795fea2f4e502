import { readFileSync } from 'node:fs'
import { validateXML } from 'xmllint-wasm'

const schema = readFileSync(new URL('./junit.xsd', import.meta.url), 'utf8')

/** The problems that xmllint finds in a JUnit file; empty for a valid one. */
export async function junitProblems(contents: string): Promise<string[]> {
  const { errors } = await validateXML({ xml: { fileName: 'junit.xml', contents }, schema: [schema] })
  return errors.map(({ message }) => message)
}
