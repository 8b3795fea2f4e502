import { readOr } from './read-or.ts'

/**
 * The URL that a text is, against `base` where there is one; undefined for what is none. It stands for `URL.canParse`, which
 * under Node 20 and 22 takes `https://münchen.de` for no URL once it was called some thousand times.
 */
export const parsedUrl = (text: string, base?: string): URL | undefined => readOr(() => new URL(text, base), undefined)
