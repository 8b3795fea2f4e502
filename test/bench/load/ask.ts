/** One request of a list and the answer that it must get: a line of JSON in the list's file. Always a POST. */
export interface Ask {
  /** Path and query. */
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly expect: Expectation
}

export type Expectation =
  /** Exactly this text. */
  | { readonly kind: 'text'; readonly text: string }
  /** A JSON object with at least these fields. */
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, unknown>> }
  /** This status, or 503, of a request beside the work that is measured: it counts in no figure. */
  | { readonly kind: 'beside'; readonly status: number }
  /** A token set whose access token no other answer of the turn has held. */
  | TokensExpected

interface TokensExpected {
  readonly kind: 'tokens'
  /** Whether the token set is `data` of the envelope of area A, or the whole answer (RFC 6749). */
  readonly enveloped: boolean
  readonly scope: string
  /** The refresh token that must come back; absent where it must be a new one. */
  readonly refreshToken?: string
  /** Whether an id_token comes with it. */
  readonly idToken?: true
}

/** What the main process asks of the load generator: one turn of one contestant. */
export interface Turn {
  /** File with the requests. */
  readonly list: string
  /** `once`: in order, none twice; the turn is over when they are used up. `random`: each drawn at random. */
  readonly order: 'once' | 'random'
  readonly port: number
  readonly connections: number
  readonly warmUpS: number
  readonly seconds: number
  /** Open loop: requests a second, whatever the answers do. Absent: each connection sends as soon as it has its answer. */
  readonly perSecond?: number | undefined
  /** 503 is an answer as well, and counted apart; what finds no free connection is not sent. */
  readonly overload: boolean
}

export interface TurnResult {
  readonly answers: number
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** The longest that an answer took, refusals included. */
  readonly slowest: number
  /** Answers that were 503, which no other figure contains. */
  readonly refused: number
  /** Some of the access tokens that were handed out, to be tried afterwards. */
  readonly tokens: readonly string[]
  /** All answers, the warm-up's included. */
  readonly answersWithWarmUp: number
  /** CPU time of the load generator itself in the measured part, seconds. */
  readonly generatorCpuS: number
}

export type GeneratorMessage =
  | { readonly kind: 'measuring' }
  | { readonly kind: 'done'; readonly result: TurnResult }
  | { readonly kind: 'failed'; readonly problem: string }
