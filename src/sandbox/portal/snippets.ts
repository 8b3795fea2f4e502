import { doubleQuoted, fillTemplate, phpQuoted, type Quote, readTemplate, shellQuoted } from './code-template.ts'

/** What a snippet is filled with. Nothing of it is secret: snippets read the clientSecret from the environment. */
export type SnippetValues = Readonly<Record<'url' | 'path' | 'clientId' | 'partnerId', string>>

export interface Snippet {
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

/** How a body is encrypted and decrypted in each language; the key comes from the environment. */
export const ENCRYPTION_SNIPPETS: readonly Snippet[] = LANGUAGES.map(({ id, name }) => ({
  id,
  name,
  source: readTemplate(`snippets/aes/${id}`),
}))

/** A signed call in each language, ready to run. */
export const snippetsFor = (values: SnippetValues): Snippet[] =>
  TEMPLATES.map(({ id, name, quote, template }) => ({ id, name, source: fillTemplate(template, quote, values) }))
