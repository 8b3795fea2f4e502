/**
 * A column of secrets that are encrypted with SECRET_KEY (lib/crypto/keys.ts), as the owner of its table declares it:
 * `gatehouse reseal` re-encrypts those of an old key.
 */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** Columns that tell the rows apart; rows are gone through in their order. */
  readonly key: readonly string[]
  /** The context of a value's encryption, by the texts of its row's key. */
  readonly contextOf: (key: readonly string[]) => string
}
