import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { action } from '../../platform/lib/action.ts'
import { rotation, type SecretRotation } from '../../platform/lib/crypto/generated-secret.ts'
import { makeAesKey, removeAesKey, setAesKey } from './aes-key.ts'
import { noSuchPartner } from './change.ts'
import { retireSecret, rotatePartnerSecret, switchSigning, type TestCallWith } from './secret.ts'
import { type OnePartner, onePartner, type ShownPartner } from './wire.ts'

export type PartnerRecord = Readonly<Partial<ShownPartner>>

export const ofPartner =
  <Output>(run: (deps: Deps, partnerId: bigint) => Promise<Output>) =>
  (deps: Deps, { partner_id }: OnePartner): Promise<Output> =>
    run(deps, partner_id)

export const changes = { role: 'editor', noSuch: noSuchPartner } as const

/** What operators do with the secrets of a partner. `testCallWith` makes the test call with a new secret. */
export const secretActions = <Given extends Deps>(testCallWith: TestCallWith<Given>) => [
  action({
    ...changes,
    route: 'POST /partners/:partner_id/rotate-secret',
    command: 'partner rotate-secret',
    input: rotation.extend(onePartner.shape),
    run: (deps: Deps, { partner_id, ...input }: OnePartner & SecretRotation) =>
      rotatePartnerSecret(deps, partner_id, input),
    once: ['client_secret'],
    onceWith: ['client_id'],
    next: ({ partner_id, secrets: [newest] }) =>
      newest?.signs
        ? undefined
        : `Our calls are signed with the old secret until: gatehouse partner switch-signing ${partner_id}`,
  }),
  action({
    ...changes,
    route: 'POST /partners/:partner_id/switch-signing',
    command: 'partner switch-signing',
    input: onePartner.extend({ untested: z.boolean().default(false) }),
    run: (deps: Given, { partner_id, untested }: OnePartner & { untested: boolean }) =>
      switchSigning(deps, partner_id, untested ? undefined : testCallWith(deps)),
    offered: ({ secrets }: PartnerRecord) => secrets?.some(({ signs, ends_at }) => !signs && ends_at === null) === true,
  }),
  action({
    ...changes,
    route: 'POST /partners/:partner_id/retire-secret',
    command: 'partner retire-secret',
    dangerous: true,
    input: onePartner,
    run: ofPartner(retireSecret),
    offered: ({ secrets }: PartnerRecord) => secrets?.some(({ ends_at }) => ends_at !== null) === true,
  }),
  action({
    ...changes,
    route: 'PUT /partners/:partner_id/aes-key',
    command: 'partner set-aes-key',
    input: setAesKey.input.extend(onePartner.shape),
    run: (deps: Deps, { partner_id, ...key }) => setAesKey(deps, partner_id, key),
  }),
  action({
    ...changes,
    route: 'POST /partners/:partner_id/make-aes-key',
    command: 'partner make-aes-key',
    input: onePartner,
    run: (deps: Deps, { partner_id }: OnePartner) => makeAesKey(deps, partner_id),
    once: ['aes_key'],
    next: ({ partner_id, aes_key, encrypts_calls }) =>
      [
        `aes_key in hex: ${Buffer.from(aes_key).toString('hex')}`,
        ...(encrypts_calls
          ? []
          : [`Our calls are not encrypted until: gatehouse partner update ${partner_id} --encrypt-calls`]),
      ].join('\n'),
  }),
  action({
    ...changes,
    route: 'DELETE /partners/:partner_id/aes-key',
    command: 'partner remove-aes-key',
    dangerous: true,
    input: onePartner,
    run: ofPartner(removeAesKey),
    offered: ({ aes_key_set_at }) => aes_key_set_at !== null,
  }),
]
