/** A POST request and its expected response: one line of JSON in the file of a list. */
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
  /** This status, or 503, for a background request, which is not measured. */
  | { readonly kind: 'beside'; readonly status: number }
  /** A token set whose access token appears in no other response of the turn. */
  | TokensExpected

interface TokensExpected {
  readonly kind: 'tokens'
  /** Whether the token set is the `data` of the envelope of area A, or the whole response (RFC 6749). */
  readonly enveloped: boolean
  readonly scope: string
  /** The refresh token that must be returned; absent if it must be a new one. */
  readonly refreshToken?: string
  /** Whether an id_token must be included. */
  readonly idToken?: true
}

/** A turn of one contestant, which the main process sends to the load generator. */
export interface Turn {
  /** File with the requests. */
  readonly list: string
  /** `once`: in order, each at most once; the turn ends when the list is used up. `random`: each drawn at random. */
  readonly order: 'once' | 'random'
  readonly port: number
  readonly connections: number
  readonly warmUpS: number
  readonly seconds: number
  /** Open loop: requests per second, regardless of responses. Absent: each connection sends again after each response. */
  readonly perSecond?: number | undefined
  /** 503 is acceptable and counted separately; requests that find no free connection are not sent. */
  readonly overload: boolean
}

export interface TurnResult {
  readonly answers: number
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** The slowest response, including refusals. */
  readonly slowest: number
  /** Responses with 503, which the other figures exclude. */
  readonly refused: number
  /** Some of the issued access tokens, to be tried afterwards. */
  readonly tokens: readonly string[]
  /** All responses, including those of the warm-up. */
  readonly answersWithWarmUp: number
  /** CPU time of the load generator in the measured part, seconds. */
  readonly generatorCpuS: number
}

export type GeneratorMessage =
  | { readonly kind: 'measuring' }
  | { readonly kind: 'done'; readonly result: TurnResult }
  | { readonly kind: 'failed'; readonly problem: string }
