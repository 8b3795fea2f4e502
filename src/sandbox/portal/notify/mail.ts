import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { NodemailerError, SMTPTransportOptions } from 'nodemailer'
import type { Config } from '../../../platform/config/index.ts'
import { parseSmtpUrl } from '../../../platform/config/setting.ts'
import type { Deps } from '../../../platform/deps.ts'
import { beijingTime, utcTime } from '../../../platform/lib/time-zone.ts'
import { type Translate, translator } from '../../../platform/lib/web/locale.ts'
import { isLoopbackHost } from '../../../platform/lib/web/web-url.ts'
import { NotSent } from '../../../platform/outbound/index.ts'
import type { Notification } from './store.ts'

/** A mail for nodemailer, which prevents header injection by line breaks in names and addresses. */
export interface MailMessage {
  readonly from: string
  readonly to: { readonly name: string; readonly address: string }
  readonly subject: string
  readonly text: string
  readonly messageId: string
  readonly date: Date
  readonly headers: Readonly<Record<string, string>>
}

/** `id` becomes the Message-ID, by which receivers recognise duplicates. */
interface Bilingual extends Pick<MailMessage, 'to' | 'date'> {
  readonly id: string
  /** The time mentioned in the text. */
  readonly at: Date
  subject(t: Translate): string
  text(t: Translate, time: string): string
}

/** One mail with both languages, because the reader's is not known. */
export function bilingualMail(config: Config, { id, to, date, at, subject, text }: Bilingual): MailMessage {
  const [zh, en] = [translator('zh-CN'), translator('en')]
  const [beijing, utc] = [beijingTime(at).slice(0, 16), utcTime(at.toISOString()).slice(0, 16)]
  return {
    ...{ to, date, from: config.MAIL_FROM, subject: `${subject(zh)} / ${subject(en)}` },
    text: `${text(zh, beijing)}\n\n--------\n\n${text(en, utc)}\n`,
    messageId: `<${id}@${new URL(config.PUBLIC_URL).hostname}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

/** The same for every attempt, including Message-ID and Date. */
export function messageOf(config: Config, notification: Notification): MailMessage {
  const { notification_id: id, role, name, address, facts, created_at: date } = notification
  const values = { name, partner: facts.partnerName, run: String(facts.runNumber), url: facts.reportUrl }
  return bilingualMail(config, {
    ...{ id, to: { name, address }, date, at: facts.passedAt },
    subject: (t) => t('sandbox.mail.subject', values),
    text: (t, time) =>
      [
        t('sandbox.mail.text', { ...values, time }),
        t(`sandbox.mail.next_${role}`, values),
        t(`sandbox.mail.why_${role}`, values),
      ].join('\n\n'),
  })
}

/**
 * The socket timeout also applies after the message was sent. Giving up then may repeat a mail that was accepted (RFC
 * 5321, 4.5.3.2.6 asks for ten minutes), but waiting longer for a hanging server would block every job.
 */
const LIMITS = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 30_000, socketTimeout: 120_000 }

/** Of a whole mail: the others count while the server is silent, and it may send a byte a minute. */
const MAIL_LIMIT_MS = 300_000

/** Loaded lazily, with the first mail. */
const mailer = () => import('nodemailer')

/** Nodemailer must not fetch content from files or URLs. */
const NO_FETCHING = { disableFileAccess: true, disableUrlAccess: true }

const mailFolder = (config: Config): string => config.MAIL_FOLDER ?? join(config.DATA_DIR, 'mail')

/** The folder that mails are written to while SMTP_URL is not set; null if it is. */
export const folderOfUnsent = (config: Config): string | null =>
  config.SMTP_URL === undefined ? mailFolder(config) : null

/** Sends the mail, or writes it to a folder as `<id>.eml` while SMTP_URL is not set. Throws NotSent. */
export async function sendMail({ config }: Pick<Deps, 'config'>, id: string, message: MailMessage): Promise<void> {
  if (config.SMTP_URL === undefined) return writeMail(mailFolder(config), id, message)
  const transport = (await mailer()).createTransport(smtpOptions(config.SMTP_URL))
  try {
    await transport.sendMail({ ...message, signal: AbortSignal.timeout(MAIL_LIMIT_MS) })
  } catch (error) {
    throw asNotSent(error as NodemailerError)
  } finally {
    transport.close()
  }
}

/** STARTTLS if offered, and required with a password, so that nobody in between can strip it. */
export function smtpOptions(smtpUrl: string): SMTPTransportOptions {
  const server = parseSmtpUrl(smtpUrl)
  if (!server) throw new Error('SMTP_URL is not valid')
  const { auth, host, port, secure } = server
  const requireTLS = !secure && auth !== undefined && !isLoopbackHost(host)
  return { ...LIMITS, ...NO_FETCHING, host, port, secure, requireTLS, ...(auth ? { auth } : {}) }
}

/** One file per mail, written atomically, so it may be written again. */
async function writeMail(folder: string, id: string, message: MailMessage): Promise<void> {
  const { createTransport } = await mailer()
  const { message: bytes } = await createTransport({ ...NO_FETCHING, streamTransport: true, buffer: true }).sendMail(
    message,
  )
  const file = join(folder, `${id}.eml`)
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(`${file}.part`, bytes as Buffer, { mode: 0o600 })
    await rename(`${file}.part`, file)
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    throw new NotSent('the email could not be written', `MAIL_FOLDER: ${code ?? 'failed'} (${syscall ?? '?'})`)
  }
}

/**
 * RFC 3463: the receiver's address or mailbox, but not our own address (X.1.7, X.1.8). Without such a code it may be
 * either: many servers refuse whoever may not send in reply to RCPT TO or DATA, some by a plain 550.
 */
const ABOUT_RECEIVER = /^5\.(?:1\.(?:[0-6]|10)|2\.\d+)$/

/** Keeps only codes: a server's texts may quote addresses, our host names and the message. */
function asNotSent({ code, originalCode, command, response = '', responseCode, permanent = false }: NodemailerError) {
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1]
  const codes = [responseCode, enhanced].filter((part) => part !== undefined).join(' ')
  const detail = ['SMTP', command, code, originalCode, codes].filter((part) => part).join(' ')
  const aboutThisMail = responseCode !== undefined && (command === 'RCPT TO' || command === 'DATA')
  if (aboutThisMail) {
    const what = command === 'DATA' ? 'the mail' : 'the address'
    const verb = permanent ? 'does not accept' : 'does not accept for now'
    const outcome = !permanent ? 'failure' : ABOUT_RECEIVER.test(enhanced ?? '') ? 'refused' : 'givenUp'
    return new NotSent(`the mail server ${verb}: ${what} (${codes})`, detail, { outcome })
  }
  if (code === 'EABORT') return new NotSent('the mail server takes too long', detail)
  // Anything else is for the operator to fix, so it is retried.
  const reached = responseCode !== undefined || code === 'EAUTH' || code === 'ETLS'
  return new NotSent(reached ? 'the mail server does not let us send' : 'the mail server cannot be reached', detail)
}
