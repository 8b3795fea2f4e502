export { listNotices, type ReceivedCall, type ReceivedNotice, receivedSince } from './received.ts'
export { noticeEndpoint, replayNotice } from './replay.ts'
export { findNotice, NOTICE_RETENTION, type NoticeSummary } from './store.ts'
export {
  consumeNotice,
  dealChangeNotice,
  levelPriceNotice,
  noticeFilter,
  payNotice,
  refundNotice,
  rescheduleNotice,
} from './wire.ts'
