export { listNotices, receivedSince } from './received.ts'
export { noticeEndpoint, replayNotice } from './replay.ts'
export { findNotice, NOTICE_RETENTION } from './store.ts'
export { consumeNotice, dealChangeNotice, levelPriceNotice, payNotice, refundNotice, rescheduleNotice } from './wire.ts'
