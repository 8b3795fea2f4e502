import { join } from 'node:path'
import {
  besideSignIns,
  exchangeAsks,
  forgedAsks,
  malformedAsks,
  mixedAsks,
  refreshAsks,
  rotateAsks,
  userInfoAsks,
} from './asks.ts'
import { BARE_TEXT } from './contestants/bare-answers.ts'
import { ALL_PROCESSES, type Contestant, type Name } from './contestants/contestant.ts'
import { seedNotices } from './fixtures/orders.ts'
import { APPS, type FilledWorld } from './fixtures/world.ts'
import type { Ask } from './load/ask.ts'
import { writeList } from './load/list.ts'
import { idTokenAsks, introspectAsks, standardUserInfoAsks } from './standard-asks.ts'

export const WORK_NAMES = [
  'a5',
  'half',
  'sign-ins',
  'exchange',
  'refresh',
  'rotate',
  'userinfo',
  'introspect',
  'id-token',
  'id-token-es256',
  'notices',
  'forged',
  'malformed',
  'overload',
  'mixed',
] as const
export type WorkName = (typeof WORK_NAMES)[number]

/** A workload: one kind of request. */
export interface Work {
  readonly title: string
  readonly contestants: readonly Name[]
  /** `once`: codes or tokens are used up, so every turn needs a new list. */
  readonly order: 'once' | 'random'
  readonly asks: (world: FilledWorld, name: Name, count: number) => Promise<Iterable<Ask>> | Iterable<Ask>
  /** Open loop: sent at this multiple of the rate measured for another workload, regardless of responses. */
  readonly offered?: { readonly of: WorkName; readonly times: number }
  /** The number of connections; responses may be refusals (503). */
  readonly overload?: { readonly connections: number }
  /** Each round also has a turn of A5 by Gatehouse, as `gatehouse-a5`. */
  readonly besideA5?: true
  /** Runs only if requested by an option. */
  readonly onRequest?: true
  /** The table in which each correct response leaves exactly one more row, and the condition that selects it. */
  readonly leaves?: { readonly table: string; readonly where: string }
}

/** Selects tokens issued by contestants, which live for 168 hours; those of the fixtures live for at most 167. */
const ISSUED_SINCE = `expires_at > (select created_at + interval '167 hours 10 minutes' from micro_app
                                    where app_key = '${APPS.fixed}')`

export const WORKS: Readonly<Record<WorkName, Work>> = {
  a5: {
    title: 'A5 user info, random live tokens',
    contestants: ['gatehouse', ALL_PROCESSES, 'plain', 'bare', 'oidc-provider', 'gatehouse-10k'],
    order: 'random',
    asks: userInfoAsks,
  },
  half: {
    title: 'A5 at half of its peak rate',
    contestants: ['gatehouse', 'plain', 'bare'],
    order: 'random',
    offered: { of: 'a5', times: 0.5 },
    asks: userInfoAsks,
  },
  'sign-ins': {
    title: 'A5 at half of its peak rate, and 50 sign-ins by password a second',
    contestants: ['gatehouse'],
    order: 'random',
    offered: { of: 'a5', times: 0.5 },
    asks: besideSignIns,
  },
  exchange: {
    title: 'A2 code exchange, each code once',
    contestants: ['gatehouse', ALL_PROCESSES, 'plain', 'bare', 'oidc-provider'],
    order: 'once',
    asks: exchangeAsks,
    leaves: { table: 'authorization_code', where: 'used_at is not null' },
  },
  refresh: {
    title: 'A3 refresh, policy fixed',
    contestants: ['gatehouse', ALL_PROCESSES, 'plain', 'bare', 'oidc-provider'],
    order: 'random',
    asks: refreshAsks,
    leaves: { table: 'access_token', where: ISSUED_SINCE },
  },
  rotate: {
    title: 'A3 refresh, policy rotating, each token once',
    contestants: ['gatehouse', 'plain'],
    order: 'once',
    asks: rotateAsks,
    leaves: { table: 'refresh_token', where: 'rotated_at is not null' },
  },
  userinfo: {
    title: 'userinfo, random live tokens',
    contestants: ['gatehouse', 'oidc-provider'],
    order: 'random',
    besideA5: true,
    asks: standardUserInfoAsks,
  },
  introspect: {
    title: 'introspection, random live tokens',
    contestants: ['gatehouse', ALL_PROCESSES, 'oidc-provider'],
    order: 'random',
    asks: introspectAsks,
  },
  'id-token': {
    title: 'code exchange with an id_token (RS256), each code once',
    contestants: ['gatehouse', 'oidc-provider'],
    order: 'once',
    asks: idTokenAsks('RS256'),
    leaves: { table: 'authorization_code', where: 'used_at is not null' },
  },
  'id-token-es256': {
    title: 'code exchange with an id_token (ES256), each code once',
    contestants: ['gatehouse'],
    order: 'once',
    asks: idTokenAsks('ES256'),
    leaves: { table: 'authorization_code', where: 'used_at is not null' },
  },
  notices: {
    title: 'consumption notices, signed, each once',
    contestants: ['gatehouse', ALL_PROCESSES, 'plain', 'checked'],
    order: 'once',
    asks: (world, _name, count) => seedNotices(world, count, BARE_TEXT.accepted),
    leaves: { table: 'record_change', where: `record = 'order' and cause = 'notice'` },
  },
  forged: {
    title: 'A5 refused: forged MAC',
    contestants: ['gatehouse', 'bare'],
    order: 'random',
    asks: forgedAsks,
  },
  malformed: {
    title: 'A5 refused: malformed token',
    contestants: ['gatehouse', 'bare'],
    order: 'random',
    asks: malformedAsks,
  },
  overload: {
    title: 'A3 offered at five times its peak rate',
    contestants: ['gatehouse'],
    order: 'random',
    offered: { of: 'refresh', times: 5 },
    overload: { connections: 4000 },
    asks: refreshAsks,
  },
  mixed: {
    title: 'A5 and A3, nine to one',
    contestants: ['gatehouse'],
    order: 'random',
    onRequest: true,
    asks: mixedAsks,
  },
}

/** Writes the list of requests for one turn; that of oidc-provider is written by its own process. */
export async function listFor(
  world: FilledWorld,
  name: WorkName,
  contestant: Contestant,
  count: number,
): Promise<string> {
  const work: Work = WORKS[name]
  const file = join(world.folder, `${name}-${contestant.name}.ndjson`)
  if (contestant.name === 'oidc-provider') {
    const kept = Math.min(world.tokens, 20_000)
    await contestant.prepare({ kind: name, count: work.order === 'once' ? count : kept, file })
  } else {
    await writeList(file, await work.asks(world, contestant.name, count))
  }
  return file
}
