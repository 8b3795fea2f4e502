import { existsSync } from 'node:fs'

const nearest = (folder: URL): URL =>
  existsSync(new URL('package.json', folder)) ? folder : nearest(new URL('..', folder))

/** The top level of the project, with views/ and migrations/: above the sources as above the build, whose files are fewer. */
export const ROOT = nearest(new URL('.', import.meta.url))
