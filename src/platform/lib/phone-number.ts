/** A phone number with its country code. Numbers stored without one all belong to the same country. */
export const internationalNumber = (number: string, countryCode: number): string =>
  number.startsWith('+') ? number : `+${countryCode}${number}`
