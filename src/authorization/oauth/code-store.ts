import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import type { RemovedBatch, RetentionBatch } from '../../platform/db/retention.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { userByKey } from '../account/index.ts'
import { grantByKey, grantedAmong, revokedAt, SignInBehindGrant } from './grant-store.ts'
import { type Issued, issuing, type NewToken } from './issue-store.ts'

const FoundCode = z.object({
  grant_id: z.string(),
  app_key: z.string(),
  redirect_uri: z.string(),
  state: z.string(),
  code_challenge: z.string().nullable(),
  expires_at: z.date(),
  used_at: z.date().nullable(),
  revoked_at: z.date().nullable(),
  user_status: z.string(),
  scopes: z.array(z.string()),
  spent: z.boolean(),
})
export type FoundCode = z.infer<typeof FoundCode>

export interface CodeExchange {
  readonly routingKey: number
  readonly codeHash: Buffer
  readonly now: Date
  readonly appKey: string
  /** What the app may ask for now; the tokens get no more than that. */
  readonly appScopes: readonly string[]
  readonly appValidFrom: Date | null
  readonly redirectUri: string
  /** Null: not compared. */
  readonly state: string | null
  /** S256 of the verifier sent; null without one, which fits only a code without a challenge. */
  readonly codeChallenge: string | null
  readonly accessToken: NewToken
  readonly refreshToken: NewToken
  /** A refresh token is issued only with this scope; null: always. */
  readonly refreshScope: string | null
}

const ASKED = (input: CodeExchange) => sql.part`
  ${input.routingKey}::int as routing_key, ${input.codeHash}::bytea as code_hash, ${input.now}::timestamptz as now,
  ${input.appKey}::text as by_app, ${input.redirectUri}::text as with_redirect_uri, ${input.state}::text as with_state,
  ${input.codeChallenge}::text as with_challenge, ${input.appScopes.join(' ')}::text as app_scopes,
  ${input.appValidFrom}::timestamptz as app_valid_from`
const ASKED_WITH_TOKENS = (input: CodeExchange) => sql.part`
  ${input.routingKey}::int as routing_key, ${input.codeHash}::bytea as code_hash, ${input.now}::timestamptz as now,
  ${input.appKey}::text as by_app, ${input.redirectUri}::text as with_redirect_uri, ${input.state}::text as with_state,
  ${input.codeChallenge}::text as with_challenge, ${input.accessToken.hash}::bytea as access_hash,
  ${input.accessToken.expiresAt}::timestamptz as access_expires_at, ${input.refreshToken.hash}::bytea as refresh_hash,
  ${input.refreshToken.expiresAt}::timestamptz as refresh_expires_at, ${input.refreshScope}::text as refresh_scope,
  ${input.appScopes.join(' ')}::text as app_scopes, ${input.appValidFrom}::timestamptz as app_valid_from`
const SCOPES = grantedAmong(sql.part`string_to_array(asked.app_scopes, ' ')`)
const GRANT = grantByKey(sql.part`asked.routing_key`, sql.part`c.grant_id`)
/** The grant, with the sign-in that it came from. */
const GRANT_WITH_SIGN_IN = sql.part`lateral (
  select routing_key, cid, user_id, scopes, created_at, allowed_at, revoked_at, auth_time, nonce, sid, acr, amr
  from user_grant
  where routing_key = asked.routing_key and grant_id = c.grant_id offset 0)`
const USER = userByKey(sql.part`asked.routing_key`, sql.part`g.cid`, sql.part`g.user_id`)
const REVOKED_AT = revokedAt(sql.part`p.valid_from`, sql.part`asked.app_valid_from`)

const NOTHING = sql.part``

/** The parts of the statement that issue the tokens too; with shards they are inserted afterwards. */
const ISSUED_WITH_IT = {
  asked: ASKED_WITH_TOKENS,
  found: sql.part`, asked.access_hash, asked.access_expires_at, asked.refresh_hash, asked.refresh_expires_at, asked.refresh_scope`,
  spent: sql.part`, f.routing_key, f.access_hash, f.access_expires_at, f.refresh_hash, f.refresh_expires_at,
            f.refresh_scope, f.grant_id, f.scopes`,
  tokens: sql.part`, access as (
          insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
          select routing_key, access_hash, grant_id, scopes, access_expires_at from spent
        ), refresh as (
          insert into refresh_token (routing_key, token_hash, grant_id, expires_at)
          select routing_key, refresh_hash, grant_id, refresh_expires_at from spent
          where refresh_scope is null or refresh_scope = any (scopes)
        )`,
}
const ISSUED_LATER: typeof ISSUED_WITH_IT = { asked: ASKED, found: NOTHING, spent: NOTHING, tokens: NOTHING }

/** What the grant behind a code holds, spent or not; undefined for an unknown code. */
export const scopesOfCode = (db: Db, routingKey: number, codeHash: Buffer): Promise<string[] | undefined> =>
  db.of(routingKey).maybeValue(
    FoundCode.shape.scopes,
    sql`select g.scopes from authorization_code c
        cross join ${grantByKey(sql.part`${routingKey}::int`, sql.part`c.grant_id`)} g
        where c.routing_key = ${routingKey} and c.code_hash = ${codeHash}`,
  )

const CODE_KEY = ['routing_key', 'code_hash'] as const
/** Made once, as only then are the texts of statements kept. */
const [ASKED_CODE, FOUND_CODE] = [sql.sameKey('c', 'asked', CODE_KEY), sql.sameKey('c', 'f', CODE_KEY)]

/**
 * Spends each code and issues its tokens, or changes nothing: the conditional update lets one of simultaneous exchanges win.
 * The other columns are from before the update and say why a code was not spent.
 */
function exchangesOf<Row extends FoundCode>(row: z.ZodType<Row>, grant: Fragment, more: Fragment, shown: Fragment) {
  const spending = (issued: typeof ISSUED_WITH_IT): Batched<CodeExchange, Row> => ({
    row,
    key: ({ codeHash }) => codeHash.toString('latin1'),
    duplicates: 'serialize',
    statement: (asked) =>
      sql`with found as (
          select asked.routing_key, asked.code_hash, asked.now, asked.by_app, asked.with_redirect_uri, asked.with_state,
                 asked.with_challenge, asked.ordinal${issued.found},
                 c.grant_id, c.app_key, c.redirect_uri, c.state, c.code_challenge, c.expires_at, c.used_at,
                 ${SCOPES} as scopes, ${REVOKED_AT} as revoked_at, p.status as user_status${more}
          from ${sql.rows('asked', asked, issued.asked)}
          join authorization_code c on ${ASKED_CODE}
          cross join ${grant} g
          cross join ${USER} p
        ), spent as (
          update authorization_code c set used_at = f.now
          from found f
          where ${FOUND_CODE}
            and c.used_at is null and c.expires_at > f.now and c.app_key = f.by_app
            and c.redirect_uri = f.with_redirect_uri and c.state = coalesce(f.with_state, c.state)
            and c.code_challenge is not distinct from f.with_challenge
            and f.user_status = 'active' and f.revoked_at is null and f.scopes <> '{}'
          returning f.ordinal${issued.spent}
        )${issued.tokens}
        select ordinal, grant_id, app_key, redirect_uri, state, code_challenge, expires_at, used_at, revoked_at, user_status,
               scopes${shown}, ordinal in (select ordinal from spent) as spent
        from found`,
  })
  return issuing(spending(ISSUED_WITH_IT), spending(ISSUED_LATER), tokensOf)
}

function tokensOf(asked: CodeExchange, { grant_id, scopes, spent }: FoundCode): Issued | undefined {
  if (!spent) return undefined
  const { routingKey, accessToken, refreshToken, refreshScope } = asked
  const hasRefresh = refreshScope === null || scopes.includes(refreshScope)
  return { routingKey, grantId: grant_id, scopes, access: accessToken, refresh: hasRefresh ? refreshToken : undefined }
}

const FoundWithSignIn = FoundCode.extend(SignInBehindGrant.shape)
const exchangeCode = exchangesOf(FoundCode, GRANT, NOTHING, NOTHING)
const exchangeWithSignIn = exchangesOf(
  FoundWithSignIn,
  GRANT_WITH_SIGN_IN,
  sql.part`, g.cid, g.user_id, g.auth_time, g.nonce, g.sid, g.acr, g.amr`,
  sql.part`, cid, user_id, auth_time, nonce, sid, acr, amr`,
)

/** A code as it was before the exchange, and whether the exchange spent it and issued tokens. */
export type SpentCode = FoundCode & { readonly signIn?: SignInBehindGrant }

export async function spendAuthorizationCode(
  db: Db,
  exchange: CodeExchange,
  withSignIn: boolean,
): Promise<SpentCode | undefined> {
  if (!withSignIn) return exchangeCode(db, exchange)
  const found = await exchangeWithSignIn(db, exchange)
  return found && { ...found, signIn: found }
}

const MAX_FAILED_TRIES = 3

/** Counts a mismatched exchange; the last try allowed spends the code. */
export const countFailedTry = (db: Db, routingKey: number, codeHash: Buffer, now: Date) =>
  db.of(routingKey).exec(
    sql`update authorization_code
        set failed_tries = failed_tries + 1,
            used_at = case when failed_tries + 1 >= ${MAX_FAILED_TRIES} then ${now}::timestamptz end
        where routing_key = ${routingKey} and code_hash = ${codeHash} and used_at is null`,
  )

/** Whether tokens were issued for code `c`: it may also have been spent by failed tries. */
const WAS_EXCHANGED = sql.part`c.used_at is not null and c.failed_tries < ${MAX_FAILED_TRIES}`

export const wasExchanged = async (db: Db, routingKey: number, codeHash: Buffer): Promise<boolean> =>
  (await db
    .of(routingKey)
    .maybeValue(
      z.boolean(),
      sql`select ${WAS_EXCHANGED} from authorization_code c where c.routing_key = ${routingKey} and c.code_hash = ${codeHash}`,
    )) ?? false

const due = z.object({ routing_key: z.number(), code_hash: z.instanceof(Buffer), expires_at: z.date() })
const DUE_CODE = sql.sameKey('c', 'due', CODE_KEY)
const DUE = ({ routing_key, code_hash }: z.output<typeof due>) => sql.part`
  ${routing_key}::int as routing_key, ${code_hash}::bytea as code_hash`

/**
 * Deletes the oldest codes; exchanged ones leave a row in `used_code`, by which a replay is recognised. As in the purge's own
 * batches, rows are found and locked first, then deleted by key. Not one statement: Citus collects the rows of an insert
 * inside a statement first, and fails on some.
 */
export const deleteCodes = (db: Db, { before, from, limit }: RetentionBatch): Promise<RemovedBatch> =>
  db.tx(async (tx) => {
    const codes = await tx.listWithIndexPlan(
      due,
      sql`select routing_key, code_hash, expires_at from authorization_code
          where expires_at >= ${from} and expires_at < ${before}
          order by expires_at limit ${limit} for update skip locked`,
    )
    if (codes.length === 0) return { rows: 0, last: null }
    const keys = sql.rows('due', codes, DUE)
    await tx.exec(
      sql`insert into used_code (routing_key, code_hash, grant_id, used_at, expires_at)
          select c.routing_key, c.code_hash, c.grant_id, c.used_at, c.expires_at
          from ${keys} join authorization_code c on ${DUE_CODE}
          where ${WAS_EXCHANGED} on conflict (routing_key, code_hash) do nothing`,
    )
    await tx.exec(sql`delete from authorization_code c using ${keys} where ${DUE_CODE}`)
    return { rows: codes.length, last: codes.at(-1)?.expires_at ?? null }
  })

const usedCode = z.object({ grant_id: z.string(), app_key: z.string() })
export type UsedCode = z.infer<typeof usedCode>

/** A used code whose own row has been deleted (OAUTH_RETENTION). */
export const findUsedCode = (db: Db, routingKey: number, codeHash: Buffer): Promise<UsedCode | undefined> =>
  db.of(routingKey).maybe(
    usedCode,
    sql`select u.grant_id, g.app_key from used_code u
        cross join ${grantByKey(sql.part`${routingKey}::int`, sql.part`u.grant_id`)} g
        where u.routing_key = ${routingKey} and u.code_hash = ${codeHash}`,
  )
