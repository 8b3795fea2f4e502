import { existsSync, readFileSync } from 'node:fs'

const nearest = (folder: URL): URL =>
  existsSync(new URL('package.json', folder)) ? folder : nearest(new URL('..', folder))

/** The project's root, with views/ and migrations/. Searched for, since sources and build have different depths. */
export const ROOT = nearest(new URL('.', import.meta.url))

/** The texts of a file of views/locales, by key. */
export const readTexts = <Key extends string = string>(file: string): Readonly<Record<Key, string>> =>
  JSON.parse(readFileSync(new URL(`views/locales/${file}.json`, ROOT), 'utf8'))
