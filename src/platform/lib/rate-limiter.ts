/** How often something may be done within a window. */
export interface Rate {
  /** What is counted, such as `sign-in page`. Rates of one kind must have one window; they share their counts. */
  readonly kind: string
  readonly most: number
  readonly windowS: number
}

/**
 * Limits rates across all processes of a database. Each counts in memory and answers at once; once a second one
 * statement for all subjects adds its counts to the shared ones and reads the sums. So a process sees others' counts up
 * to a second late. While the database is away, each continues with its own counts.
 */
export interface RateLimiter {
  /** Counts one or more uses by `subject` (an address, an app_key, a PartnerId); the window ends in `endsInMs`. */
  count(
    rate: Rate,
    subject: string,
    uses?: number,
  ): { readonly uses: number; readonly exceeded: boolean; readonly endsInMs: number }
  /** Shares the last counts and stops. */
  close(): Promise<void>
}
