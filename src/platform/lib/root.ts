import { existsSync } from 'node:fs'

const nearest = (folder: URL): URL =>
  existsSync(new URL('package.json', folder)) ? folder : nearest(new URL('..', folder))

/** The project's root, with views/ and migrations/. Searched for, since sources and build have different depths. */
export const ROOT = nearest(new URL('.', import.meta.url))
