import { mistakesIn, type Recipe } from './recipe.ts'

const FORM = 'The string to sign is METHOD, one space, path, one line feed (0x0A), Date.'

/** Mistakes in the frame of the string to sign: method, space, line feed, end. */
export const textRecipes: readonly Recipe[] = [
  ...mistakesIn('method', [
    {
      name: 'method-lower-case',
      explanation: 'The method must be signed in upper case, as POST.',
      how: ({ method }) => [method.toLowerCase(), method[0] + method.slice(1).toLowerCase()],
    },
    {
      name: 'method-wrong',
      explanation: 'The signed method is not the one that was sent.',
      how: ({ method }) => ['POST', 'GET'].filter((other) => other !== method),
    },
    {
      name: 'method-missing',
      explanation: `The method was not signed. ${FORM}`,
      how: () => [''],
    },
  ]),
  ...mistakesIn('space', [
    {
      name: 'space-missing',
      explanation: `The space between method and path is missing. ${FORM}`,
      how: () => [''],
    },
    {
      name: 'space-replaced',
      explanation: `Something other than one space was signed between method and path. ${FORM}`,
      how: () => ['\n', '  ', '\t'],
    },
  ]),
  ...mistakesIn('newline', [
    {
      name: 'newline-missing',
      explanation: `The line feed between path and Date is missing. ${FORM}`,
      how: () => [''],
    },
    {
      name: 'newline-literal',
      explanation:
        'A backslash (or slash) and the letter n were signed instead of a line feed (0x0A); in PHP and shells "\\n" needs double quotes or $\'…\'.',
      how: () => ['\\n', '/n'],
    },
    {
      name: 'newline-crlf',
      explanation: 'A carriage return and a line feed were signed instead of one line feed (0x0A).',
      how: () => ['\r\n'],
    },
    {
      name: 'newline-replaced',
      explanation: `Something other than one line feed was signed between path and Date. ${FORM}`,
      how: () => [' ', '\n\n', '\r', ','],
    },
  ]),
  ...mistakesIn('end', [
    {
      name: 'trailing-newline',
      explanation: 'A line break was signed after the Date; nothing follows it (with echo use printf or echo -n).',
      how: () => ['\n', '\r\n'],
    },
  ]),
]
