import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SMTPServerOptions } from 'smtp-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, SECRET_KEY, type World } from '../../harness.ts'
import { shardsOf } from '../../one-table.ts'
import { SHORT_LIVED } from '../../start-options.ts'
import { until } from '../../until.ts'
import { oneMail } from './passed-run.ts'
import { postOffice } from './post-office.ts'

/** `npm run worker` as a separate process that trusts the certificate of an SMTP server, and its sudden death. */

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-smtp-'))
const file = (name: string) => join(folder, name)
const workers: ChildProcess[] = []
let world: World
beforeAll(async () => {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file('key.pem')]
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, '-out', file('cert.pem'), ...subject], {
    stdio: 'ignore',
  })
  world = await openWorld()
})
afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL')
  await world.close()
  rmSync(folder, { recursive: true })
})

function startProcess(smtpUrl: string): ChildProcess {
  const program = fileURLToPath(new URL('../../../.build/worker.js', import.meta.url))
  const settings = {
    DATABASE_URL: world.databaseUrl,
    ...shardsOf({ DATABASE_URL: world.databaseUrl }),
    SECRET_KEY,
    SMTP_URL: smtpUrl,
    NODE_EXTRA_CA_CERTS: file('cert.pem'),
    LOG_LEVEL: 'fatal',
  }
  const worker = spawn(process.execPath, [...SHORT_LIVED, program], {
    env: { PATH: process.env.PATH, ...settings },
    stdio: 'inherit',
  })
  workers.push(worker)
  return worker
}

/** Requires TLS and a password; `onMail` is called before a mail is accepted. */
const safeOffice = (smtp: SMTPServerOptions, onMail: () => Promise<void> | void = () => {}) =>
  postOffice({
    smtp: {
      ...{ key: readFileSync(file('key.pem')), cert: readFileSync(file('cert.pem')), authOptional: false },
      ...smtp,
      onAuth: ({ username, password }, _session, done) =>
        password === 'p@ss' ? done(null, { user: String(username) }) : done(new Error('no')),
    },
    onMail,
  })

it('a worker sends mail over TLS and over STARTTLS; a mail whose worker is killed is sent once, by the next worker', async () => {
  let held: Promise<void> | undefined
  let arrived = 0
  const secure = await safeOffice({ secure: true }, () => {
    arrived++
    return held
  })
  const sent = await oneMail(world)
  const first = startProcess(`smtps://gate:p%40ss@localhost:${secure.port}`)
  await until(async () => (await sent.shown()).state === 'sent')
  expect(secure.mails).toMatchObject([{ secure: true, user: 'gate', recipients: ['lin@example.com'] }])

  held = new Promise<void>(() => {})
  const { shown } = await oneMail(world, 'chen@example.com', 'Chen')
  await until(() => arrived === 2)
  first.kill('SIGKILL')
  await once(first, 'exit')
  expect(await shown()).toMatchObject({ state: 'waiting', attempts: 1, next_attempt_at: null })
  await world.pool.query('update worker_lease set ends_at = now()') // as if 30 s had passed

  const upgraded = await safeOffice({ disabledCommands: [] })
  const next = startProcess(`smtp://gate:p%40ss@localhost:${upgraded.port}`)
  await until(async () => (await shown()).state === 'sent')
  expect(upgraded.mails).toMatchObject([{ secure: true, user: 'gate', recipients: ['chen@example.com'] }])
  expect(secure.mails).toHaveLength(1)
  expect(await shown()).toMatchObject({ attempts: 2 })
  next.kill('SIGTERM')
  await once(next, 'exit')
  await secure.close()
  await upgraded.close()
})
