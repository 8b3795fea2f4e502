import { readOr } from './read-or.ts'

/**
 * Parses a URL, relative to `base` if given; undefined if it is not one. Used instead of `URL.canParse`, which under
 * Node 20 and 22 rejects `https://münchen.de` after some thousand calls.
 */
export const parsedUrl = (text: string, base?: string): URL | undefined => readOr(() => new URL(text, base), undefined)
