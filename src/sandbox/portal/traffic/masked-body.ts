import type { z } from 'zod'
import { date, dateTime, int64, numericText, price, smallInt, timeOfDay } from '../../../platform/lib/json/fields.ts'
import { parseLossless, prettyLossless } from '../../../platform/lib/json/lossless.ts'
import type { Detail } from '../../../platform/lib/localized-text.ts'
import { HIDDEN, maskedDescribe } from '../../../platform/lib/masked-reason.ts'
import type { FieldKind, SchemaField } from '../docs/field.ts'
import { fieldsOfMessage, type MessageName } from '../docs/reference.ts'

/**
 * The fields of bodies that operators see without giving a reason: those of the contract that are not personal and do
 * not admit anybody. All other fields are masked, including new ones and those that partners add. No names, free text,
 * ticket codes, documents or contact details; a value is shown only if it has its field's type.
 */
export const SHOWN_FIELDS: ReadonlySet<string> = new Set([
  // of every message, and of pages of lists
  ...['code', 'partnerId', 'method', 'currentPage', 'pageSize', 'totalSize', 'asyncType'],
  // ids
  ...['partnerPoiId', 'partnerDealId', 'partnerDealIds', 'mtDealId', 'orderId', 'partnerOrderId', 'refundId'],
  ...['refundSerialNo', 'rescheduleNo', 'partnerPrimaryKey', 'levelIds', 'levelNo', 'originLevelIds', 'targetLevelIds'],
  // quantities
  ...['quantity', 'orderQuantity', 'usedQuantity', 'refundedQuantity', 'refundQuantity', 'successCount', 'count'],
  ...['stock', 'maxBuyCount', 'minBuyCount', 'idLimitDays', 'idLimitCount', 'phoneLimitDays', 'phoneLimitCount'],
  ...['visitorInfoGroupSize', 'aheadMinutes', 'refundLimitMinutes', 'orderCancelTime', 'useDateMode'],
  // money
  ...['marketPrice', 'mtPrice', 'settlementPrice', 'buyPrice', 'unitPrice', 'totalPrice', 'refundPrice', 'refundFee'],
  ...['prepaidAccountBalance', 'creditAccountBalance'],
  // days and times of products, visits and calls
  ...['date', 'priceDate', 'startTime', 'endTime', 'travelDate', 'originDate', 'targetDate', 'useStartDate'],
  ...['useEndDate', 'refundTime', 'requestTime', 'responseTime', 'voucherInvalidTime', 'voucherDateBegin'],
  ...['voucherDateEnd', 'scheduleOnlineTime', 'scheduleOfflineTime'],
  ...['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
  // states and kinds
  ...['status', 'checkStatus', 'msRatioCheckStatus', 'orderStatus', 'voucherType', 'issueType', 'asyReturnVoucher'],
  ...['realNameType', 'closeType', 'rescheduleType', 'refundMessageType', 'refundType', 'refundTimeType'],
  ...['refundFeeMode', 'partlyRefund', 'visitorInfoType', 'needTicket', 'needCertificateSupplement'],
  ...['returnVoucher', 'voucherLoaders', 'aheadHoursType', 'locType'],
])

const TYPES: Readonly<Partial<Record<FieldKind, z.ZodType>>> = {
  int: smallInt(),
  stock: smallInt(),
  int64: int64(),
  digits: numericText(),
  price: price(),
  date: date(),
  datetime: dateTime(),
  time: timeOfDay(),
}

/** Contains a digit and no spaces, so it is not a name, a sentence or a mail address. */
const ID = /^(?=.*\d)[\w.:/+-]{1,64}$/

const fits = (value: unknown, { kind, values }: SchemaField): boolean => {
  if (values.length > 0) return values.some((known) => String(known) === String(value))
  if (kind === 'boolean') return typeof value === 'boolean'
  if (kind === 'id' || kind === 'text') return ID.test(String(value)) || dateTime().safeParse(value).success
  return TYPES[kind]?.safeParse(value).success ?? false
}

const isEmpty = (value: unknown): boolean => value === null || value === ''

function masked(value: unknown, field: SchemaField | undefined): unknown {
  if (Array.isArray(value)) return value.map((entry) => maskedEntry(entry, field?.list ? field : undefined))
  return maskedEntry(value, field)
}

function maskedEntry(value: unknown, field: SchemaField | undefined): unknown {
  if (Array.isArray(value)) return value.map((entry) => maskedEntry(entry, undefined))
  if (typeof value === 'object' && value !== null) return maskedFields(value, field?.fields ?? [])
  const isShown = field !== undefined && SHOWN_FIELDS.has(field.name) && fits(value, field)
  return isShown || isEmpty(value) ? value : HIDDEN
}

/** Names that are not in the contract are hidden too: they may be personal, such as document numbers as keys. */
function maskedFields(object: object, fields: readonly SchemaField[]): object {
  let unknown = 0
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      const field = fields.find((candidate) => candidate.name === name)
      return [field ? name : `(unknown ${++unknown})`, masked(value, field)]
    }),
  )
}

/** Our own responses say why a notice was refused, which is safe to show except for values from the partner. */
const withDescribe = (shown: object, given: object, reason: Detail | null): object =>
  'describe' in given ? { ...shown, describe: maskedDescribe(String(given.describe), reason) } : shown

/**
 * Indented JSON without personal data; undefined if the text is not JSON or has duplicate names, because it could
 * contain anything. Every value of a message that is not part of the contract is masked.
 */
export function maskedBody(text: string, message: MessageName | undefined): string | undefined {
  const read = parseLossless(Buffer.from(text))
  if ('problem' in read) return undefined
  const { value } = read
  const fields = message === undefined ? [] : fieldsOfMessage(message)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return prettyLossless(masked(value, undefined))
  const shown = maskedFields(value, fields)
  return prettyLossless(message?.direction === 'our-answer' ? withDescribe(shown, value, message.reason) : shown)
}
