import { z } from 'zod'

const INVISIBLE = /[\p{Cc}\p{Cs}\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]/u

/**
 * One line of text that pages show to people, trimmed: it must not contain characters that hide or reorder it. NUL,
 * which the database cannot hold, is among what is refused.
 */
export const visibleLine = (longest: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(longest)
    .refine((text) => !INVISIBLE.test(text), 'must not contain control characters or marks of text direction')
