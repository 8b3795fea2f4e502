import { createHash } from 'node:crypto'

/** 0 to 65535; leads every row about a user, so each hot statement stays on one shard (decisions, section 2). */
export const routingKeyOf = (cid: number, userId: string): number =>
  createHash('sha256').update(`${cid}:${userId}`).digest().readUInt16BE(0)
