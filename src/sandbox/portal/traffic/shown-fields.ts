/**
 * What operators see of bodies without giving a reason: the fields of the contract that are about no person and open no
 * gate. Every other field is masked, one that is new or that a partner adds too. No names, texts for people, codes of
 * tickets, documents or ways to reach somebody; a value is shown only if it has the type of its field.
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
