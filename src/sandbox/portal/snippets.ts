import { readFileSync } from 'node:fs'
import { ROOT } from '../../platform/lib/root.ts'
import { shellQuoted } from '../../platform/lib/shell-quoted.ts'

/** Formats a text as a string literal, quotes included. */
type Quote = (value: string) => string

/** For languages that read JSON's escapes the same way. */
export const doubleQuoted: Quote = (value) => JSON.stringify(value)
export const phpQuoted: Quote = (value) => `'${value.replace(/['\\]/g, '\\$&')}'`

/** `name`: a .txt file below views/sandbox. */
export const readTemplate = (name: string): string => readFileSync(new URL(`views/sandbox/${name}.txt`, ROOT), 'utf8')

/** `{{name}}` in a template becomes a literal. */
export const fillTemplate = (template: string, quote: Quote, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{\{(\w+)\}\}/g, (_whole, name: string) => quote(values[name] ?? ''))

/** None of these are secret: snippets read the clientSecret from the environment. */
type SnippetValues = Readonly<Record<'url' | 'path' | 'clientId' | 'partnerId', string>>

interface Snippet {
  readonly id: string
  readonly name: string
  readonly source: string
}

const LANGUAGES: readonly { readonly id: string; readonly name: string; readonly quote: Quote }[] = [
  { id: 'curl', name: 'curl + openssl', quote: shellQuoted },
  { id: 'node', name: 'Node.js', quote: doubleQuoted },
  { id: 'python', name: 'Python', quote: doubleQuoted },
  { id: 'java', name: 'Java', quote: doubleQuoted },
  { id: 'php', name: 'PHP', quote: phpQuoted },
  { id: 'csharp', name: 'C#', quote: doubleQuoted },
  { id: 'go', name: 'Go', quote: doubleQuoted },
]

const TEMPLATES = LANGUAGES.map((language) => ({ ...language, template: readTemplate(`snippets/${language.id}`) }))

/** Encrypting and decrypting a body in each language; the key comes from the environment. */
export const ENCRYPTION_SNIPPETS: readonly Snippet[] = LANGUAGES.map(({ id, name }) => ({
  id,
  name,
  source: readTemplate(`snippets/aes/${id}`),
}))

/** A signed call in each language, ready to run. */
export const snippetsFor = (values: SnippetValues): Snippet[] =>
  TEMPLATES.map(({ id, name, quote, template }) => ({ id, name, source: fillTemplate(template, quote, values) }))
