/** How often something may be done within a window. */
export interface Rate {
  /** What is counted, such as `sign-in page`. Rates of one kind have one window and share their counts. */
  readonly kind: string
  readonly most: number
  readonly windowS: number
}

interface Counted {
  readonly uses: number
  /** Whether this use is one too many. */
  readonly exceeded: boolean
  /** Until the window ends. */
  readonly endsInMs: number
}

/**
 * Limits rates over all processes of a database. Each counts in its memory and answers at once; once a second it adds
 * its counts to those of the others, with one statement for all subjects, and reads the sums. So for a second a process does
 * not know what others have counted meanwhile. Without a database each continues with its own counts.
 */
export interface RateLimiter {
  /** Counts a use by `subject` (an address, an app_key, a PartnerId), or several at once. */
  count(rate: Rate, subject: string, uses?: number): Counted
  /** Shares what was counted last, and stops. */
  close(): Promise<void>
}
