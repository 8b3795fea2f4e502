import { parse, stringify } from 'lossless-json'

/**
 * Order ids are 64-bit integers, and JSON.parse rounds them from 2^53 on: 8985652356562370001 becomes
 * 8985652356562370000, which is another order. So integers that a number cannot hold are read as bigint, and written
 * back as plain JSON numbers.
 */
const readNumber = (text: string): number | bigint => {
  const value = Number(text)
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text)
}

/** Throws SyntaxError for text that is not JSON. */
export const readJson = (text: string): unknown => parse(text, null, readNumber)

export const writeJson = (value: object): string => stringify(value) ?? ''
