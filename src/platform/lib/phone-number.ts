/** With its country's code. Whoever keeps numbers without one means those of one country. */
export const internationalNumber = (number: string, countryCode: number): string =>
  number.startsWith('+') ? number : `+${countryCode}${number}`
