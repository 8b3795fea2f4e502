export { listNotices, type ReceivedCall, type ReceivedNotice, receivedSince } from './received.ts'
export { noticeEndpoint, replayNotice } from './replay.ts'
export { NOTICE_RETENTION } from './store.ts'
export {
  consumeNotice,
  dealChangeNotice,
  levelPriceNotice,
  noticeFilter,
  payNotice,
  refundNotice,
  rescheduleNotice,
} from './wire.ts'
