import { sha256 } from '../lib/crypto/digest.ts'

/** 0 to 65535; leads every row about a user, so each hot statement stays on one shard (decisions, section 2). */
export const routingKeyOf = (cid: number, userId: string): number => sha256(`${cid}:${userId}`).readUInt16BE(0)
