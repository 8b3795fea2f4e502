import { readFileSync } from 'node:fs'

/** What a snippet is filled with. Nothing of it is secret: snippets read the clientSecret from the environment. */
export interface SnippetValues {
  readonly url: string
  readonly path: string
  readonly clientId: string
  /** Digits. */
  readonly partnerId: string
}

export interface Snippet {
  readonly id: string
  readonly name: string
  readonly source: string
}

type Quote = (value: string) => string

/** A literal in double quotes. What JSON escapes, these languages read in the same way. */
const doubleQuoted: Quote = (value) => JSON.stringify(value)
const shellQuoted: Quote = (value) => `'${value.replaceAll("'", "'\\''")}'`
const phpQuoted: Quote = (value) => `'${value.replace(/['\\]/g, '\\$&')}'`

const LANGUAGES: readonly { readonly id: string; readonly name: string; readonly quote: Quote }[] = [
  { id: 'curl', name: 'curl + openssl', quote: shellQuoted },
  { id: 'node', name: 'Node.js', quote: doubleQuoted },
  { id: 'python', name: 'Python', quote: doubleQuoted },
  { id: 'java', name: 'Java', quote: doubleQuoted },
  { id: 'php', name: 'PHP', quote: phpQuoted },
  { id: 'csharp', name: 'C#', quote: doubleQuoted },
  { id: 'go', name: 'Go', quote: doubleQuoted },
]

/** `{{name}}` in a template becomes a literal of its language, quotes included. */
const templateOf = (name: string): string =>
  readFileSync(new URL(`../../views/sandbox/snippets/${name}.txt`, import.meta.url), 'utf8')

const TEMPLATES = LANGUAGES.map((language) => ({ ...language, template: templateOf(language.id) }))

/** How a body is encrypted and decrypted in each language; the key comes from the environment. */
export const ENCRYPTION_SNIPPETS: readonly Snippet[] = LANGUAGES.map(({ id, name }) => ({
  id,
  name,
  source: templateOf(`aes/${id}`),
}))

/** A signed call in each language, ready to run. */
export const snippetsFor = (values: SnippetValues): Snippet[] =>
  TEMPLATES.map(({ id, name, quote, template }) => ({
    id,
    name,
    source: template.replace(/\{\{(\w+)\}\}/g, (_whole, key) => quote(values[key as keyof SnippetValues])),
  }))
